"""A policy on the bench: its page, played interpreted and compiled, and what was seen of every game."""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from equipoise.engines.assembly import reason
from equipoise.engines.compile import PLAIN, Function, specialise
from equipoise.policies.contract import Page, Policy, now_of
from equipoise.testing import games
from equipoise.testing.games import Floats, Game, Ints

GARBAGE = (3, -2)  # what a state may hold before `init`
WATCHED = 400  # runs of a law game whose propensities are recorded, if the page is compiled; else a tenth
RUNS, PLAIN_RUNS = 20_000, 2_000  # of a law game


class BreachError(Exception):
    """A clause does not hold; the message says what was found."""


class Turn(NamedTuple):
    """One round: the state before it, the arm, the state in which it was chosen, and the state after."""

    t: int
    u: float
    before: Any
    arm: int
    chosen: Any
    after: Any


class Play(NamedTuple):
    arms: Ints  # (run, round)
    chances: Floats  # (run, round, arm)
    state: Any  # of the last run


@dataclass(frozen=True, eq=False)
class Bench:
    policy: Policy
    page: Page
    played: dict[Game, tuple[Turn, ...]] = field(default_factory=dict)
    laws: dict[Game, Play] = field(default_factory=dict)

    @cached_property
    def arrays(self) -> tuple[str, ...]:
        return tuple(self.page.arrays())

    def has(self, verb: str) -> bool:
        return verb in self.page.verbs

    def params(self, game: Game) -> Any:
        return self.policy.params(game.k, game.horizon, game.sigma)

    @cached_property
    def why_plain(self) -> str:
        """Why the page is not compiled; "" if it is."""
        game = games.make_game("spread", 2, 2, 1.0, 0)
        try:
            self.run(game, runs=0)
            if self.has("index"):
                self.measure(game, [], [])
        except Exception as error:  # no round was played: it is the compilation that failed
            return reason(error)
        return ""

    def parts(self, game: Game) -> tuple[Any, ...]:
        """The verbs, and the types that the page defines."""
        return tuple(self.page.verbs.items()), (type(self.params(game)), self.page.state)

    def run(self, game: Game, runs: int | None = None, watched: int = 0, compiled: bool = True) -> Play:
        """Plays the game's runs without a look between the rounds."""
        uniforms = game.uniforms[:runs]
        arms = np.full(uniforms.shape, -1, np.int64)
        chances = np.full((watched, game.horizon, game.k), np.nan)
        state = self.page.allocate(game.k) if compiled else self.used(game.k)
        engine = kernel("play", *self.parts(game), compiled)
        engine(self.params(game), state, uniforms, game.rewards, arms, chances)
        return Play(arms, chances, state)

    def measure(self, game: Game, n: Any, s: Any, compiled: bool = True) -> tuple[Floats, Floats]:
        """The index of each n and s, and the margin of each n and index."""
        indices, margins = np.zeros(len(n)), np.zeros(len(n))
        engine = kernel("measure", *self.parts(game), compiled)
        engine(self.params(game), np.asarray(n, np.int64), np.asarray(s, np.float64), indices, margins)
        return indices, margins

    def law(self, game: Game) -> Play:
        """Many runs, the first of them with their propensities."""
        if game not in self.laws:
            self.laws[game] = self.many(game, WATCHED if self.has("propensity") else 0)
        return self.laws[game]

    def many(self, game: Game, watched: int = 0) -> Play:
        """Many runs; fewer if the page is not compiled."""
        if self.why_plain:
            seen = self.run(game, PLAIN_RUNS, watched // 10, compiled=False)
        else:
            seen = self.run(game, RUNS, watched)
        if seen.arms.min() < 0 or seen.arms.max() >= game.k:
            raise BreachError(f"in one of many runs choose returned an arm that is not from 0 to {game.k - 1}")
        return seen

    def turns(self, game: Game) -> tuple[Turn, ...]:
        """The game's run, interpreted, round by round; it ends where the page may not be asked any more."""
        if game not in self.played:
            self.played[game] = tuple(self.walk(game))
        return self.played[game]

    def walk(self, game: Game) -> Iterator[Turn]:
        p, state = self.params(game), self.used(game.k)
        self.page.verbs["init"](p, state)
        for t, u in enumerate(game.uniforms[0].tolist()):
            if state.now.exploiting and not self.may_exploit(state):
                return
            before = copied(state)
            arm = self.ask(p, state, u)
            if isinstance(arm, bool) or not isinstance(arm, int | np.integer) or not 0 <= arm < game.k:
                raise BreachError(f"in round {t + 1} choose returned {arm!r}, not an int from 0 to {game.k - 1}")
            chosen = copied(state)
            self.page.verbs["update"](p, state, arm, float(game.rewards[arm, t]))
            yield Turn(t, u, before, arm, chosen, copied(state))

    def may_exploit(self, state: Any) -> bool:
        return self.has("index") and state.n.min() > 0

    def ask(self, p: Any, state: Any, u: float) -> int:
        if state.now.exploiting:
            return kernel("leader", tuple(self.page.verbs.items()), (), False)(p, state)  # type: ignore[no-any-return]
        return self.page.verbs["choose"](p, state, u)  # type: ignore[no-any-return]

    def used(self, k: int, garbage: int = GARBAGE[0]) -> Any:
        """A state for interpreted code that holds what another run might have left."""
        state = self.page.allocate_plain(k)
        for name in self.arrays:
            getattr(state, name).fill(garbage)
        for name, value in vars(state.now).items():
            setattr(state.now, name, type(value)(garbage > 0 if isinstance(value, bool) else garbage))
        return state

    def contents(self, state: Any) -> dict[str, str]:
        """All that a state holds, by name, in digits that tell any two values apart."""
        kept = {name: repr(getattr(state, name).tolist()) for name in self.arrays}
        return kept | {name: repr(self.typed(name, value)) for name, value in now_of(self.page, state).items()}

    def typed(self, name: str, value: Any) -> Any:
        """A scalar in the type that the record has for it, if that loses nothing: 0 and 0.0 are one number."""
        same = type(self.page.now[name].type().item())(value)
        return same if same == value else value

    def differing(self, a: Any, b: Any) -> list[str]:
        """The names of what differs between two states."""
        held, other = self.contents(a), self.contents(b)
        return [name for name in held if held[name] != other[name]]


def copied(state: Any) -> Any:
    return type(state)(*map(copy, state))


@cache
def kernel(
    entry: str, verbs: tuple[tuple[str, Callable[..., Any]], ...], types: tuple[type, ...], compiled: bool
) -> Function:
    """A function of games.py with a page's verbs in it."""
    given = {"propensity": games.absent, "index": games.nothing, "margin": games.nothing, **dict(verbs)}
    function = getattr(games, entry)
    if not compiled:
        return specialise(function, given, PLAIN)
    return specialise(function, given, types=types)
