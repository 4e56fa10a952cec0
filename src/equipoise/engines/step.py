"""The reference engine: every run round by round.

A round of preparation asks the page. A round of exploitation moves one index, that of the pulled arm, so the arms stand
in a heap by index: the leader is its root, the runner-up the better of the root's two children, and while the leader
leads a round costs one reward, one index and one comparison, whatever k. When it falls behind, it sinks in O(log k).
"""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy.typing as npt

from equipoise.streams import POLICY, Key, Stream, uniform

# What the streams, the page, the reward family and the recorder give; compile.py fills it in.
begin: Callable[..., None]
init: Callable[..., None]
choose: Callable[..., int]
update: Callable[..., None]
index: Callable[..., float]
draw: Callable[..., float]
open_run: Callable[..., None]
enter: Callable[..., None]
close_run: Callable[..., None]

BLOCK = 1 << 20  # rounds after which an engine looks up: is it to stop?


def play(
    first: int, count: int, key: Key, horizon: int, p: Any, st: Any, data: Any, stream: Stream, desk: Any, record: Any
) -> None:
    """Runs `first` to `first + count - 1`, each from its own streams, into `record`."""
    for run in range(first, first + count):
        begin(stream, key, run)
        open_run(record, run)
        init(p, st)
        desk.control[1] = run - first
        prepared = prepare(run, key, horizon, p, st, data, stream, desk, record)
        exploit(prepared, horizon, p, st, data, stream, desk, record)
        if desk.control[0] != 0:
            return
        close_run(record, prepared, horizon, st.n)


def prepare(
    run: int, key: Key, horizon: int, p: Any, st: Any, data: Any, stream: Stream, desk: Any, record: Any
) -> int:
    """The rounds in which the page is asked; returns how many they were."""
    t = 0
    while t < horizon and not st.now.exploiting and desk.control[0] == 0:
        arm = choose(p, st, uniform(key, run, POLICY, t))
        enter(record, t, arm)
        update(p, st, arm, draw(data, arm, stream))
        t += 1
    return t


def exploit(t: int, horizon: int, p: Any, st: Any, data: Any, stream: Stream, desk: Any, record: Any) -> None:
    """The rounds from t on, each to the arm of largest index."""
    heap, value = desk.heap, desk.value
    if t < horizon:
        build_heap(p, st, heap, value)
    while t < horizon and desk.control[0] == 0:
        arm = heap[0]
        rival = runner_up(heap, value)
        bar = value[rival] if rival >= 0 else -inf
        enter(record, t, arm)
        n, s, v = st.n[arm], st.s[arm], value[arm]
        for _ in range(min(horizon - t, BLOCK)):
            s += draw(data, arm, stream)
            n += 1
            t += 1
            v = index(p, n, s)
            if v <= bar and (v < bar or rival < arm):
                break
        st.n[arm], st.s[arm], value[arm] = n, s, v
        sink(heap, value, 0)


def build_heap(p: Any, st: Any, heap: npt.NDArray[Any], value: npt.NDArray[Any]) -> None:
    for i in range(len(heap)):
        heap[i] = i
        value[i] = index(p, st.n[i], st.s[i])
    for position in range(len(heap) // 2 - 1, -1, -1):
        sink(heap, value, position)


def ahead(value: npt.NDArray[Any], i: int, j: int) -> bool:
    """Whether arm i stands before arm j: by index, ties to the lower arm."""
    return bool(value[i] > value[j] or (value[i] == value[j] and i < j))


def runner_up(heap: npt.NDArray[Any], value: npt.NDArray[Any]) -> int:
    """The arm that would lead without the leader; -1 where it is alone."""
    if len(heap) == 1:
        return -1
    return int(heap[2] if len(heap) > 2 and ahead(value, heap[2], heap[1]) else heap[1])


def sink(heap: npt.NDArray[Any], value: npt.NDArray[Any], position: int) -> None:
    """Moves the arm at `position` down to where neither child stands before it."""
    arm = heap[position]
    child = 2 * position + 1
    while child < len(heap):
        if child + 1 < len(heap) and ahead(value, heap[child + 1], heap[child]):
            child += 1
        if not ahead(value, heap[child], arm):
            break
        heap[position] = heap[child]
        position, child = child, 2 * child + 1
    heap[position] = arm
