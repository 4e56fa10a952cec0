"""What a page is: the verbs a policy's module defines, and the frozen dataclass by which users name it.

A page is one module of plain Python over plain numbers and arrays. It defines

- `Params`, a NamedTuple of numbers that stay fixed during a run, and `NOW`, a NumPy structured dtype: the scalars of
  a state, by name;
- `State`, a NamedTuple of arrays over the arms (`IntPerArm`, `FloatPerArm`) and `now`, one record of `NOW`. Two arrays
  are common to all pages: `n`, the pulls of each arm, and `s`, the sums of their rewards. Engines allocate them;
- `init(p, st)`: the state before the first round, whatever the state held;
- `choose(p, st, u) -> arm`: asked once a round, with one uniform u of [0, 1), until `st.now.exploiting`. It may draw
  into the state. From then on engines pull the arm of largest `index`, ties to the lowest arm; a page that never
  exploits in this sense is asked every round. `exploiting` implies that every arm has been pulled;
- `update(p, st, arm, reward)`: adds to `n` and `s`, and while exploiting does nothing else.

and, where it can,

- `propensity(p, st, out)`: the probability of each arm in the next round, given the arms and rewards observed so far.
  What the state has drawn and not yet shown is integrated out. In exploitation engines know it already;
- `index(p, n, s)`: what exploitation maximises, of an arm with n pulls and sum s;
- `margin(p, n, v)`: n·v less the sum at which an arm with n pulls has the index v, concave in n. So n·v − margin
  inverts `index`, which must rise with s; with it, engines leap. It leaves n·v out, which is large and cancels;
- `info(p, st)`: a dict for a person to read, beyond the state's own numbers. Never compiled.

A page calls functions of its own, of `steps.py`, and of rooms below, by name. All are compiled with it, so no value is
divided by zero and no integer may leave 63 bits and a sign.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from types import ModuleType, SimpleNamespace
from typing import Annotated, Any, ClassVar, TypeAlias, get_type_hints

import numpy as np
import numpy.typing as npt

from equipoise.arguments import ArgumentError

IntPerArm: TypeAlias = Annotated[npt.NDArray[np.int64], np.int64]
FloatPerArm: TypeAlias = Annotated[npt.NDArray[np.float64], np.float64]

REQUIRED = ("init", "choose", "update")
OPTIONAL = ("propensity", "index", "margin", "info")
PARTS = ("Rule", "Letters", "Source", "Departs from the source", "Guarantee")


class Policy:
    """The object users name: subclasses are frozen dataclasses that store their arguments and nothing else."""

    name: ClassVar[str]  # as the source writes it

    def params(self, k: int, horizon: int, sigma: float) -> Any:
        """The page's `Params` for k arms, `horizon` rounds and sub-Gaussian rewards of proxy `sigma`."""
        raise NotImplementedError

    def changes(self, k: int, horizon: int) -> tuple[int, ...]:
        """Rounds, counted from 0, from which the rule is another one by the clock; time cells split there."""
        return ()

    @property
    def symmetric(self) -> bool:
        """Whether relabelling the arms relabels the law of the pulls (rewards without ties)."""
        return True

    @property
    def label(self) -> str:
        """The name, with the arguments that differ from their defaults."""
        told = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]  # type: ignore[arg-type]
        return f"{self.name}({', '.join(f'{k}={v}' for k, v in told)})" if told else self.name

    @classmethod
    def command(cls) -> str:
        """The class name in kebab-case: `UCBHare` is `ucb-hare` on the command line."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", cls.__name__).lower()


@dataclass(frozen=True)
class Page:
    """A policy's module, read: its verbs, its state's arrays, its record."""

    module: ModuleType
    verbs: dict[str, Callable[..., Any]]
    state: type[Any]
    now: np.dtype[np.void]

    def exploits(self) -> bool:
        return "index" in self.verbs

    def arrays(self) -> dict[str, type[Any]]:
        """The state's arrays over the arms, in order, and their dtypes."""
        hints = get_type_hints(self.state, include_extras=True)
        return {name: hints[name].__metadata__[0] for name in self.state._fields if name != "now"}

    def allocate(self, k: int) -> Any:
        """A state for compiled code: its `now` is a NumPy record."""
        return self._fill(k, np.recarray(1, self.now)[0])

    def allocate_plain(self, k: int) -> Any:
        """A state for interpreted code: its `now` is a namespace of Python numbers, faster to read than a record."""
        zeros = {name: self.now[name].type().item() for name in self.now.names or ()}
        return self._fill(k, SimpleNamespace(**zeros))

    def _fill(self, k: int, now: Any) -> Any:
        arrays = {name: np.zeros(k, dtype) for name, dtype in self.arrays().items()}
        return self.state(**{name: now if name == "now" else arrays[name] for name in self.state._fields})


def now_of(page: Page, state: Any) -> dict[str, Any]:
    """The scalars of a state, by name, as Python numbers."""
    return {name: np.asarray(getattr(state.now, name)).item() for name in page.now.names or ()}


def page_of(policy: Policy) -> Page:
    """The page behind a policy: the module of its class, or of the nearest base class whose module has the verbs."""
    if not isinstance(policy, Policy):
        raise ArgumentError(
            f"policy is {policy!r}; give a policy such as UCBHare(), or a subclass of equipoise.Policy."
        )
    for cls in type(policy).__mro__:
        module = sys.modules.get(cls.__module__)
        if module is not None and all(hasattr(module, verb) for verb in (*REQUIRED, "State", "NOW")):
            verbs = {v: getattr(module, v) for v in (*REQUIRED, *OPTIONAL) if hasattr(module, v)}
            return Page(module, verbs, module.State, module.NOW)
    missing = [v for v in (*REQUIRED, "State", "NOW") if not hasattr(sys.modules[type(policy).__module__], v)]
    raise ArgumentError(
        f"policy is {policy!r}, but its module {type(policy).__module__} lacks {', '.join(missing)}; "
        "define them beside the class, as equipoise/policies/template.py does."
    )


def sections(policy: type[Policy]) -> dict[str, str]:
    """The six parts of the docstring of the policy's module: "What" and those of PARTS."""
    document = sys.modules[policy.__module__].__doc__ or ""
    pattern = r"^({}):".format("|".join(PARTS))
    pieces = re.split(pattern, document, flags=re.MULTILINE)
    return dict(zip(("What", *pieces[1::2]), (p.strip() for p in pieces[::2]), strict=True))
