"""Who leads, and who would lead next: the arms in a heap by index, ties to the lower arm.

The leader is the root, the runner-up the better of the root's two children. When the leader's index falls, it sinks in
O(log k).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Arms = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]

index: Callable[..., float]  # the page's; compile.py fills it in


def build_heap(p: Any, st: Any, heap: Arms, value: Values) -> None:
    for i in range(len(heap)):
        heap[i] = i
        value[i] = index(p, st.n[i], st.s[i])
    for position in range(len(heap) // 2 - 1, -1, -1):
        sink(heap, value, position)


def before(value: Values, i: int, j: int) -> bool:
    """Whether arm i stands before arm j."""
    return bool(value[i] > value[j] or (value[i] == value[j] and i < j))


def runner_up(heap: Arms, value: Values) -> int:
    """The arm that would lead without the leader; -1 where it is alone."""
    if len(heap) == 1:
        return -1
    return int(heap[2] if len(heap) > 2 and before(value, heap[2], heap[1]) else heap[1])


def sink(heap: Arms, value: Values, position: int) -> None:
    """Moves the arm at `position` down to where neither child stands before it."""
    arm = heap[position]
    child = 2 * position + 1
    while child < len(heap):
        if child + 1 < len(heap) and before(value, heap[child + 1], heap[child]):
            child += 1
        if not before(value, heap[child], arm):
            break
        heap[position] = heap[child]
        position, child = child, 2 * child + 1
    heap[position] = arm
