"""A page, a reward family and a recorder, put together into an engine that plays runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.core.errors import NumbaError

from equipoise.engines import step
from equipoise.engines.compile import Function, plain, specialise
from equipoise.instances import Instance
from equipoise.policies.contract import Page, Policy, page_of
from equipoise.streams import Key, begin

Control = npt.NDArray[np.int64]  # stop?, runs done by this task, rounds done of the run at hand


class Desk(NamedTuple):
    """An engine's own workspace."""

    heap: npt.NDArray[np.int64]
    value: npt.NDArray[np.float64]
    control: Control


@dataclass(frozen=True)
class Engine:
    """What plays a policy on an instance; `why` says why it is interpreted, where it is."""

    kernel: Function
    page: Page
    compiled: bool
    why: str = ""

    @property
    def caption(self) -> str:
        return "step engine, compiled" if self.compiled else f"step engine, interpreted ({self.why})"

    def play(
        self, first: int, count: int, key: Key, horizon: int, p: Any, instance: Instance, control: Control, record: Any
    ) -> None:
        """Plays runs `first` to `first + count - 1` into `record`; ends early, leaving it useless, if told to stop."""
        k = instance.k
        state = self.page.allocate(k) if self.compiled else self.page.allocate_plain(k)
        desk = Desk(np.zeros(k, np.int64), np.zeros(k), control)
        stream = np.zeros(4, np.uint64)
        self.kernel(first, count, key, horizon, p, state, instance.data, stream, desk, record)


def assemble(policy: Policy, p: Any, instance: Instance, recorder: Mapping[str, Function], blank: Any) -> Engine:
    """The engine for a policy with its `p` on this instance, compiled if Numba can. `blank`: a record for no runs."""
    page = page_of(policy)
    verbs = (*page.verbs.items(), *recorder.items(), ("draw", instance.draw))
    engine = Engine(specialised(verbs, True), page, True)
    try:
        engine.play(0, 0, Key(0, 0), 1, p, instance, np.zeros(3, np.int64), blank)
    except Exception as error:  # no run was played: it is the compilation that failed
        return Engine(specialised(verbs, False), page, False, reason(error))
    return engine


@cache
def specialised(verbs: tuple[tuple[str, Function], ...], compiled: bool) -> Function:
    given: dict[str, Any] = {"begin": begin, "index": never, **dict(verbs)}
    if compiled:
        return specialise(step.play, given)  # type: ignore[arg-type]
    luck = {"begin": specialise(begin, {}), "draw": specialise(given["draw"], {})}  # type: ignore[arg-type]
    return specialise(step.play, {**given, **luck}, plain, plain)  # type: ignore[arg-type]


def never(p: Any, n: int, s: float) -> float:
    """The index of a page that has none, and so never exploits."""
    return 0.0


def reason(error: Exception) -> str:
    """The first line of a compiler's message that says something."""
    kind = "Numba cannot compile its page" if isinstance(error, NumbaError) else type(error).__name__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return ": ".join([kind, *lines[1:2]] if len(lines) > 1 else [kind, *lines])
