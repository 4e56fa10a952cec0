"""A run: preparation, in which the page is asked every round, then exploitation, as the engine does it."""

from collections.abc import Callable
from typing import Any

from equipoise.streams import POLICY, Key, Stream, uniform

# What the streams, the page, the reward family, the recorder and the engine give; compile.py fills it in.
begin: Callable[..., None]
init: Callable[..., None]
choose: Callable[..., int]
update: Callable[..., None]
draw: Callable[..., float]
open_run: Callable[..., None]
enter: Callable[..., None]
close_run: Callable[..., None]
exploit: Callable[..., None]


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
        desk.control[2] = t
        arm = choose(p, st, uniform(key, run, POLICY, t))
        enter(record, t, arm)
        update(p, st, arm, draw(data, arm, stream))
        t += 1
    return t
