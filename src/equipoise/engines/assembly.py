"""A page, a reward family and a recorder, put together into an engine that plays runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.core.errors import NumbaError

from equipoise.arguments import ArgumentError, one_of
from equipoise.engines import leap, step
from equipoise.engines.compile import COUNTED, LEAN, PLAIN, Function, Target, specialise
from equipoise.engines.runs import play
from equipoise.instances import Instance
from equipoise.policies.contract import Page, Policy, page_of
from equipoise.streams import Key, begin

ENGINES = ("auto", "step", "leap")

Control = npt.NDArray[np.int64]  # stop?, runs done by this task, rounds done of the run at hand
Verbs = tuple[tuple[str, Function], ...]


class Desk(NamedTuple):
    """An engine's own workspace."""

    heap: npt.NDArray[np.int64]  # arms
    value: npt.NDArray[np.float64]  # their indices
    position: npt.NDArray[np.float64]  # their walks
    levels: npt.NDArray[np.int64]  # a stack of points drawn, not yet reached
    points: npt.NDArray[np.float64]
    slacks: npt.NDArray[np.float64]
    control: Control


def desk_for(k: int, control: Control) -> Desk:
    return Desk(
        np.zeros(k, np.int64), np.zeros(k), np.zeros(k), np.zeros(64, np.int64), np.zeros(64), np.zeros(64), control
    )


@dataclass(frozen=True)
class Engine:
    """What plays a policy on an instance. `name` is "step" or "leap"; `why` says why it is no faster."""

    name: str
    kernel: Function
    page: Page
    compiled: bool
    why: str = ""

    @property
    def caption(self) -> str:
        manner = "compiled" if self.compiled else "interpreted"
        return f"{self.name} engine, {manner}" + (f" ({self.why})" if self.why else "")

    def guess(self, horizon: int) -> float:
        """About how many seconds a run takes, before one has been timed."""
        if not self.compiled:
            return 1e-5 * horizon
        return 1e-3 if self.name == "leap" else 1e-8 * horizon + 1e-5

    def play(
        self, first: int, count: int, key: Key, horizon: int, p: Any, instance: Instance, control: Control, record: Any
    ) -> None:
        """Plays runs `first` to `first + count - 1` into `record`; ends early, leaving it useless, if told to stop."""
        k = instance.k
        state = self.page.allocate(k) if self.compiled else self.page.allocate_plain(k)
        stream = np.zeros(4, np.uint64)
        self.kernel(first, count, key, horizon, p, state, instance.data, stream, desk_for(k, control), record)


def assemble(
    policy: Policy, p: Any, instance: Instance, recorder: Mapping[str, Function], blank: Any, engine: str = "auto"
) -> Engine:
    """The engine for a policy with its `p` on this instance, compiled if Numba can. `blank`: a record for no runs."""
    page = page_of(policy)
    obstacle = no_leap(policy, page, instance)
    if one_of("engine", engine, ENGINES) == "leap" and obstacle:
        raise ArgumentError(f'engine is "leap", but {obstacle}; give "auto" or "step".')
    name = "step" if engine == "step" or obstacle else "leap"
    walk = instance.walk._asdict() if instance.walk and name == "leap" else {}
    verbs = (*page.verbs.items(), *recorder.items(), ("draw", instance.draw), *walk.items())
    types = (type(p), page.state, type(instance.data), type(blank))
    failed = ""
    for target in (LEAN, COUNTED):
        kernel = specialised(name, verbs, types, target)
        compiled = Engine(name, kernel, page, True, obstacle if engine == "auto" else "")
        try:
            compiled.play(0, 0, Key(0, 0), 1, p, instance, np.zeros(3, np.int64), blank)
        except Exception as error:  # no run was played: it is the compilation that failed
            failed = reason(error)
        else:
            return compiled
    return Engine(name, specialised(name, verbs, types, PLAIN), page, False, failed)


def no_leap(policy: Policy, page: Page, instance: Instance) -> str:
    """Why this policy cannot leap on this instance; empty where it can."""
    if "margin" not in page.verbs or "index" not in page.verbs:
        return f"{policy.label} has no index that rests on an arm's own pulls and sum"
    if instance.walk is None:
        return f"no exact walk is known for {instance.family} rewards"
    return ""


@cache
def specialised(name: str, verbs: Verbs, types: tuple[type, ...], target: Target) -> Function:
    exploit = leap.exploit if name == "leap" else step.exploit
    given: dict[str, Any] = {"begin": begin, "index": never, "exploit": exploit, **dict(verbs)}
    if target is not PLAIN:
        return specialise(play, given, target, types)
    luck = ("begin", "draw", "ahead", "midway")  # what works on the stream's words is compiled in any case
    given |= {verb: specialise(given[verb], {}) for verb in luck if verb in given}
    return specialise(play, given, PLAIN)


def never(p: Any, n: int, s: float) -> float:
    """The index of a page that has none, and so never exploits."""
    return 0.0


def reason(error: Exception) -> str:
    """The first line of a compiler's message that says something."""
    kind = "Numba cannot compile its page" if isinstance(error, NumbaError) else type(error).__name__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return ": ".join([kind, *lines[1:2]] if len(lines) > 1 else [kind, *lines])
