"""Exploitation round by round: the reference, and what plays every page and every family of rewards.

Only the index of the pulled arm moves, so while the leader leads a round costs one reward, one index and one
comparison, whatever k.
"""

from collections.abc import Callable
from math import inf
from typing import Any

from equipoise.engines.heap import build_heap, runner_up, sink
from equipoise.streams import Stream

# What the page, the reward family and the recorder give; compile.py fills it in.
index: Callable[..., float]
draw: Callable[..., float]
enter: Callable[..., None]

BLOCK = 1 << 20  # rounds after which the engine looks up: is it to stop?


def exploit(t: int, horizon: int, p: Any, st: Any, data: Any, stream: Stream, desk: Any, record: Any) -> None:
    """The rounds from t on, each to the arm of largest index."""
    heap, value = desk.heap, desk.value
    if t < horizon:
        build_heap(p, st, heap, value)
    while t < horizon and desk.control[0] == 0:
        desk.control[2] = t
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
