"""The games on which a policy is checked, and the loop that plays them, interpreted and compiled.

A game fixes all luck beforehand: the uniform of every round, and the reward of every arm in every round. So the arms
pulled so far say all that could be observed, and any two plays can be compared.
"""
# ruff: noqa: F821 (names that `specialise` fills in are declared without a value, as in engines/step.py)

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, product
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.streams import published

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

ALMOST_ONE = 1.0 - 2.0**-53
EDGES = (0.0, 0.5, ALMOST_ONE)  # uniforms at which an interval may be one too long or too short


@dataclass(frozen=True, eq=False)
class Game:
    """k arms, `horizon` rounds, and the luck of one run or of many."""

    kind: str
    k: int
    sigma: float
    rewards: Floats  # (arm, round)
    uniforms: Floats  # (run, round)

    @property
    def horizon(self) -> int:
        return int(self.rewards.shape[1])

    @property
    def short(self) -> bool:
        """Whether every round can be looked at in every way: a page's propensity may be slow."""
        return self.horizon <= 7

    def __str__(self) -> str:
        return f"k={self.k}, horizon={self.horizon}, sigma={self.sigma}, rewards that are {self.kind}"


def make_game(kind: str, k: int, horizon: int, sigma: float, seed: int) -> Game:
    """One run, in which a tenth of the uniforms is an edge."""
    luck = published(seed)
    uniforms = np.where(luck.random(horizon) < 0.1, luck.choice(EDGES, horizon), luck.random(horizon))
    return Game(kind, k, sigma, rewards_of(kind, k, horizon, luck), uniforms[None, :])


def make_law_game(kind: str, k: int, horizon: int, sigma: float, runs: int, seed: int) -> Game:
    """Many runs on one table of rewards; for laws that do not mind how arms are called, one without ties."""
    luck = published(seed)
    return Game(kind, k, sigma, rewards_of(kind, k, horizon, luck), luck.random((runs, horizon)))


def relabelled(game: Game, labels: tuple[int, ...], seed: int) -> Game:
    """The game in which arm i is called labels[i], with luck of its own."""
    rewards = np.empty_like(game.rewards)
    rewards[list(labels)] = game.rewards
    return Game(game.kind, game.k, game.sigma, rewards, published(seed).random(game.uniforms.shape))


def rewards_of(kind: str, k: int, horizon: int, luck: np.random.Generator) -> Floats:
    """The best arm is neither the first nor the last, where there are others; gaps are unequal."""
    means = (np.arange(k) * 5 % 7)[:, None] + np.ones((1, horizon))
    if kind == "close":
        return luck.normal(0.2 + 0.004 * means, 0.05)
    if kind == "two-valued":
        return np.where(luck.random((k, horizon)) < 0.5, 0.0, 1.0)
    if kind == "zero for one arm":
        return np.where(np.arange(k)[:, None] == k // 2, 0.0, luck.normal(means, 0.25))
    if kind == "zero":
        return np.zeros((k, horizon))
    if kind == "tied":
        return np.floor(means / 2.0) / 4.0
    if kind == "negative":
        return luck.normal(means - 4.0, 3.0)
    if kind == "huge":
        return 1e12 * luck.random((k, horizon))
    return luck.normal(means, 0.25)


SHAPES = ((1, 1), (1, 7), (2, 1), (2, 2), (2, 33), (3, 3), (3, 7), (3, 64), (4, 21), (5, 4), (5, 61), (8, 45))
KINDS = ("spread", "close", "two-valued", "zero for one arm", "tied", "negative", "zero", "huge")
SIGMAS = (0.01, 1.0, 0.01, 20.0, 1e-6)


def make_games(rounds: int = 4) -> tuple[Game, ...]:
    """Every shape so many times, and every kind with every sigma."""
    rewards = cycle(product(KINDS, SIGMAS))
    return tuple(
        make_game(kind, k, horizon, sigma, seed)
        for seed, ((k, horizon), (kind, sigma)) in enumerate(zip(SHAPES * rounds, rewards, strict=False))
    )


def make_law_games(runs: int) -> tuple[Game, ...]:
    """Games so short that every past comes often; in the close ones a bound falls while a coin is not yet shown."""
    shapes = (("spread", 3, 12, 0.01), ("close", 3, 13, 0.015), ("spread", 2, 9, 1.0), ("close", 4, 11, 0.01))
    return tuple(make_law_game(*shape, runs, 99 + i) for i, shape in enumerate(shapes))


# What the page gives; `specialise` puts its verbs in place of these.
init: Callable[..., None]
choose: Callable[..., int]
update: Callable[..., None]
propensity: Callable[..., None]
index: Callable[..., float]
margin: Callable[..., float]


def play(p: Any, st: Any, uniforms: Floats, rewards: Floats, arms: Ints, chances: Floats) -> None:
    """Plays every run into `arms`, and the first of them, as far as there is room, into `chances` (run, round, arm)."""
    for run in range(uniforms.shape[0]):
        init(p, st)
        for t in range(uniforms.shape[1]):
            if run < chances.shape[0]:
                foresee(p, st, chances[run, t])
            arm = leader(p, st) if st.now.exploiting else choose(p, st, uniforms[run, t])
            arms[run, t] = arm
            if arm < 0 or arm >= rewards.shape[0]:
                return
            update(p, st, arm, rewards[arm, t])


def leader(p: Any, st: Any) -> int:
    """What engines pull in exploitation: the arm of largest index, the lowest of equals."""
    best = 0
    largest = index(p, st.n[0], st.s[0])
    for i in range(1, len(st.n)):
        value = index(p, st.n[i], st.s[i])
        if value > largest:
            best = i
            largest = value
    return best


def foresee(p: Any, st: Any, out: Floats) -> None:
    if st.now.exploiting:
        for i in range(len(out)):
            out[i] = 0.0
        out[leader(p, st)] = 1.0
    else:
        propensity(p, st, out)


def measure(p: Any, n: Ints, s: Floats, indices: Floats, margins: Floats) -> None:
    """The index of every (n, s), and the margin of every (n, index)."""
    for i in range(len(n)):
        indices[i] = index(p, n[i], s[i])
        margins[i] = margin(p, n[i], indices[i])


def absent(p: Any, st: Any, out: Any) -> None:
    """The propensity of a page that has none."""


def nothing(p: Any, n: int, x: float) -> float:
    """The index or margin of a page that has none."""
    return 0.0
