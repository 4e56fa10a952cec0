"""Exploitation by leaps: the whole stretch in which the leader keeps its lead, in a few draws, with the law of `step`.

The leader, with n pulls and sum s, leads until its index falls below v, the runner-up's: until its *slack*, s less the
sum at which its index is v, is negative. A leap draws the slack 2^level pulls ahead. If, given both ends, the chance
of a dip below 0 in between is under TOLERANCE/(2T), the leap stands. Else the walk's middle is drawn, given both ends,
and the left half looked at first, down to single pulls, which are looked at exactly. docs/leap.md proves it.

Sums are kept as the walk's position, s less `base` for each pull, and the slack as position + n·(base − v) + margin, so
that nothing of the size of a sum of 10^12 rewards is subtracted from another.
"""

from collections.abc import Callable
from math import log
from typing import Any

from equipoise.engines.heap import build_heap, runner_up, sink
from equipoise.streams import Stream

# What the page, the family's walk and the recorder give; compile.py fills it in.
index: Callable[..., float]
margin: Callable[..., float]
base: Callable[..., float]
ahead: Callable[..., float]
midway: Callable[..., float]
sure: Callable[..., bool]
stride: Callable[..., float]
enter: Callable[..., None]

TOLERANCE = 1e-12  # the total variation between a leaped and a stepped run
ROUNDING = 1e-15  # of a slack, against its largest part: within it, the index itself decides


def exploit(t: int, horizon: int, p: Any, st: Any, data: Any, stream: Stream, desk: Any, record: Any) -> None:
    """The rounds from t on, each to the arm of largest index."""
    heap, value, position = desk.heap, desk.value, desk.position
    cut = log(2.0 * horizon / TOLERANCE)
    if t < horizon:
        build_heap(p, st, heap, value)
        for i in range(len(heap)):
            position[i] = st.s[i] - st.n[i] * base(data, i)
    while t < horizon and desk.control[0] == 0:
        desk.control[2] = t
        arm, rival = heap[0], runner_up(heap, value)
        enter(record, t, arm)
        if rival < 0:
            st.n[arm] += horizon - t
            return
        t += lead(arm, rival, horizon - t, cut, p, st, data, stream, desk)
        st.s[arm] = position[arm] + st.n[arm] * base(data, arm)
        value[arm] = index(p, st.n[arm], st.s[arm])
        sink(heap, value, 0)


def lead(arm: int, rival: int, most: int, cut: float, p: Any, st: Any, data: Any, stream: Stream, desk: Any) -> int:
    """Pulls the leader until it falls behind, or `most` times; returns how often.

    A stack holds points of the walk that are drawn but not yet reached, the nearest on top: how many pulls after the
    one before, the position, and the slack there.
    """
    levels, points, slacks = desk.levels, desk.points, desk.slacks
    v = desk.value[rival]
    drift = base(data, arm) - v
    n, x = st.n[arm], desk.position[arm]
    end = n + most
    slack = x + n * drift + margin(p, n, v)
    leading = True
    level = 0
    while leading and n < end:
        level = fitting(level, min(stride(data, arm, slack), float(end - n)))
        top = 0
        levels[0] = level
        points[0] = x + ahead(data, arm, level, stream)
        slacks[0] = points[0] + (n + (1 << level)) * drift + margin(p, n + (1 << level), v)
        while leading and top >= 0:
            jump = levels[top]
            if jump == 0 or sure(data, arm, jump, slack, slacks[top], cut):
                n += 1 << jump
                x, slack = points[top], slacks[top]
                top -= 1
                if jump == 0:
                    leading = ahead_still(arm, rival, v, n, x, slack, drift, p, data)
            else:
                middle = n + (1 << (jump - 1))
                levels[top] = levels[top + 1] = jump - 1
                points[top + 1] = x + midway(data, arm, jump, points[top] - x, stream)
                slacks[top + 1] = points[top + 1] + middle * drift + margin(p, middle, v)
                top += 1
    pulls = n - st.n[arm]
    st.n[arm], desk.position[arm] = n, x
    return int(pulls)


def fitting(level: int, pulls: float) -> int:
    """The largest level whose 2^level is at most `pulls` (at least 0), looked for from `level` on."""
    while (1 << (level + 1)) <= pulls:
        level += 1
    while level > 0 and (1 << level) > pulls:
        level -= 1
    return level


def ahead_still(
    arm: int, rival: int, v: float, n: int, x: float, slack: float, drift: float, p: Any, data: Any
) -> bool:
    """Whether the leader leads after a pull: by the slack's sign, or by the index where that is a tie to rounding."""
    if abs(slack) > ROUNDING * (abs(x) + abs(n * drift)):
        return slack > 0.0
    now = index(p, n, x + n * base(data, arm))
    return bool(now > v or (now == v and arm < rival))
