"""The pages beside their naive twins, and what must be true of any page: its law, its index, its docstring."""

import ast
import importlib
import inspect
import itertools
import math
import pkgutil
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.special import ndtri
from scipy.stats import chi2

import equipoise.policies
from equipoise.arguments import ArgumentError
from equipoise.engines.compile import specialise
from equipoise.policies import (
    explore_then_ucb,
    nash_confidence_bound,
    steps,
    thompson,
    ucb1,
    ucb_hare,
    welfarist_ucb,
)
from equipoise.policies.contract import PARTS, Policy, now_of, page_of, sections
from equipoise.policies.explore_then_ucb import ExploreThenUCB
from equipoise.policies.nash_confidence_bound import NashConfidenceBound
from equipoise.policies.template import Template
from equipoise.policies.thompson import Thompson
from equipoise.policies.ucb import UCB
from equipoise.policies.ucb1 import UCB1
from equipoise.policies.ucb_hare import UCBHare
from equipoise.policies.uniform import Uniform
from equipoise.policies.welfarist_ucb import WelfaristUCB

ALMOST_ONE = 1.0 - 2.0**-53


class TemplateTwin(naive.Twin):
    """Every arm `each` times, in a fresh random order every k rounds, then the largest mean."""

    def __init__(self, k: int, horizon: int, sigma: float, each: int = 1) -> None:
        super().__init__(k, horizon, sigma)
        self.each = each
        self.rest = self.arms()

    def index(self, arm: int) -> float:
        return self.s[arm] / self.n[arm]

    def exploring(self) -> bool:
        return sum(self.n) < self.k * self.each

    def choose(self, u: float) -> int:
        if not self.exploring():
            return self.best()
        place = int(u * len(self.rest))
        arm = self.rest[place]
        self.rest[place] = self.rest[0]  # the arm that Fisher and Yates would have swapped away
        self.rest = self.rest[1:]
        self.shown = [*getattr(self, "shown", []), arm]
        if not self.rest:
            self.rest, self.shown = self.shown, []
        return arm

    def probabilities(self) -> list[float]:
        return naive.spread(self.rest if self.exploring() else [self.best()], self.k)


def thompson_twin(k: int, horizon: int, sigma: float) -> naive.Thompson:
    return naive.Thompson(k, horizon, sigma, lambda u, i: steps.normal_quantile(steps.spread(u, i)))


class Case(NamedTuple):
    policy: Policy
    twin: Callable[..., naive.Twin]
    given: dict[str, Any]

    def __repr__(self) -> str:
        return self.policy.label


CASES = [
    Case(UCBHare(), naive.UCBHare, {}),
    Case(UCBHare(delta=0.5), naive.UCBHare, {"delta": 0.5}),
    Case(WelfaristUCB(p=-2), naive.WelfaristUCB, {"p": -2}),
    Case(WelfaristUCB(p=0.5), naive.WelfaristUCB, {"p": 0.5}),
    Case(ExploreThenUCB(p=-2), naive.ExploreThenUCB, {"p": -2}),
    Case(ExploreThenUCB(p=-4, w=6.0, scaled=True), naive.ExploreThenUCB, {"p": -4, "w": 6.0, "scaled": True}),
    Case(ExploreThenUCB(p=-20, unpulled="index"), naive.ExploreThenUCB, {"p": -20, "unpulled": "index"}),
    Case(ExploreThenUCB(p=0), naive.ExploreThenUCB, {"p": 0}),
    Case(ExploreThenUCB(p=0.25), naive.ExploreThenUCB, {"p": 0.25}),
    Case(NashConfidenceBound(), naive.NashConfidenceBound, {}),
    Case(NashConfidenceBound(c=0.05), naive.NashConfidenceBound, {"c": 0.05}),
    Case(UCB(), naive.UCB, {}),
    Case(UCB(delta=0.1), naive.UCB, {"delta": 0.1}),
    Case(UCB1(), naive.UCB1, {}),
    Case(Thompson(), thompson_twin, {}),
    Case(Uniform(), naive.Uniform, {}),
    Case(Template(), TemplateTwin, {}),
    Case(Template(each=3), TemplateTwin, {"each": 3}),
]
POLICIES = sorted({type(case.policy) for case in CASES}, key=lambda policy: policy.__name__)
INDEXED = [case for case in CASES if page_of(case.policy).exploits()]


def mean_of(kind: str, arm: int, luck: random.Random) -> float:
    """A reward of an arm. The kinds cover ties, an arm of mean 0, sums that fall, and numbers of any size."""
    if kind == "two-valued":
        return float(luck.random() < 0.5)
    if kind == "zero":
        return 0.0
    if kind == "huge":
        return 1e12 * luck.random()
    if kind == "negative":
        return luck.gauss(-2.0 + arm, 3.0)
    if kind == "exact":
        return (arm * 5 % 7) / 8.0
    return luck.gauss(arm * 5 % 7 + 1.0, 0.25)


class Game(NamedTuple):
    """Where and with what luck a policy is played."""

    k: int
    horizon: int
    sigma: float
    kind: str
    seed: int

    def uniforms(self) -> Iterator[float]:
        """The uniform of each round; the ends of [0, 1) and the coin's edge come often."""
        luck = random.Random(self.seed)
        edges = (0.0, 0.5, ALMOST_ONE)
        for _ in range(self.horizon):
            yield luck.choice(edges) if luck.random() < 0.1 else luck.random()


games = some.builds(
    Game,
    k=some.sampled_from((1, 2, 3, 4, 5, 8)),
    horizon=some.one_of(some.integers(1, 12), some.integers(30, 75)),
    sigma=some.sampled_from((1e-6, 0.01, 0.3, 20.0)),
    kind=some.sampled_from(("near", "two-valued", "zero", "huge", "negative", "exact")),
    seed=some.integers(0, 2**32),
)


def fresh_state(policy: Policy, k: int) -> Any:
    """A state that has been used before: `init` must set all of it."""
    st = page_of(policy).allocate_plain(k)
    for array in st[:-1]:
        array.fill(3)
    for name in vars(st.now):
        setattr(st.now, name, type(getattr(st.now, name))(1))
    return st


def leader(index: Callable[..., float], p: Any, st: Any) -> int:
    """What engines do in exploitation: the arm of largest index, the lowest of them."""
    return naive.argmax([float(index(p, int(n), float(s))) for n, s in zip(st.n, st.s, strict=True)])


def snapshot(policy: Policy, st: Any) -> tuple[Any, ...]:
    """All of a state but n and s."""
    return (now_of(page_of(policy), st), *(array.tolist() for array in st[2:-1]))


def play(case: Case, game: Game, quadrature: bool = False) -> int:
    """Plays a page beside its twin; returns how many rounds were exploited. Thompson's twin is slow to integrate."""
    policy, k = case.policy, game.k
    verbs, p = page_of(policy).verbs, policy.params(k, game.horizon, game.sigma)
    twin, st, luck = case.twin(k, game.horizon, game.sigma, **case.given), fresh_state(policy, k), random.Random(1)
    verbs["init"](p, st)
    out, exploited = np.full(k, 9.0), 0
    for t, u in enumerate(game.uniforms()):
        kept = None
        if st.now.exploiting:
            exploited += 1
            assert st.n.min() > 0
            arm = leader(verbs["index"], p, st)
            kept = snapshot(policy, st)
            assert twin.probabilities() == naive.spread([arm], k)
        else:
            if quadrature or not (isinstance(policy, Thompson) and st.now.unpulled == 0):
                verbs["propensity"](p, st, out)
                assert out == pytest.approx(twin.probabilities(), abs=1e-9), (t, game)
            arm = verbs["choose"](p, st, u)
        assert arm == twin.choose(u), (t, game)
        reward = mean_of(game.kind, arm, luck)
        verbs["update"](p, st, arm, reward)
        twin.update(arm, reward)
        assert kept is None or kept == snapshot(policy, st), "update does more in exploitation than to add"
    assert st.n.tolist() == twin.n
    assert st.s.tolist() == twin.s
    return exploited


def play_games(case: Case, count: int) -> int:
    """The number of games, of `count`, in which the policy exploits."""
    exploiting = 0

    @settings(max_examples=count, deadline=None, derandomize=True, database=None)
    @given(game=games)
    def each(game: Game) -> None:
        nonlocal exploiting
        exploiting += play(case, game) > 0

    each()
    return exploiting


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_page_and_twin_pull_the_same_arms(case: Case) -> None:
    exploiting = play_games(case, 120)
    assert exploiting >= 12 or not page_of(case.policy).exploits()


MUTANTS = {
    "HARE certifies with a bound of another width": (ucb_hare, "radius", lambda p, n: p.sigma * math.sqrt(p.L / n), 0),
    "Welfarist-UCB drops the second term": (welfarist_ucb, "earned", lambda p, n, s: s / n > 0.0, 2),
    "Explore-Then-UCB explores one round more": (
        explore_then_ucb,
        "exploration_rounds",
        lambda k, horizon, p: naive.ExploreThenUCB(k, horizon, 1.0, p).exploration_rounds() + 1,
        5,
    ),
    "NCB takes the root of the mean only": (
        nash_confidence_bound,
        "index",
        lambda p, n, s: s / n + p.beta * math.sqrt(max(s / n, 0.0)),
        10,
    ),
    "UCB1 counts rounds from 0": (ucb1, "log", lambda t: math.log(max(t - 1, 1)), 13),
    "Thompson draws with the same luck for all arms": (thompson, "spread", lambda u, i: steps.spread(u, 0), 14),
    "an unpulled arm is missed": (nash_confidence_bound, "draw_unpulled", lambda n, u: int(np.argmax(n == 0)), 10),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_twins_notice_a_mutant(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, function, mutant, case = MUTANTS[name]
    monkeypatch.setattr(module, function, mutant)
    with pytest.raises(AssertionError):
        play_games(CASES[case], 120)


@pytest.mark.parametrize("seed", range(6))
def test_thompson_s_propensity_beside_scipy(seed: int) -> None:
    kind = ("near", "two-valued", "zero", "huge", "negative", "exact")[seed]
    play(CASES[14], Game(k=1 + seed % 4, horizon=9, sigma=0.3 if seed % 2 else 20.0, kind=kind, seed=seed), True)


def thompson_propensity(n: list[int], mean: list[float], sigma: float) -> np.ndarray:
    k, policy = len(n), Thompson()
    st, out = fresh_state(policy, k), np.zeros(k)
    thompson.init(thompson.Params(k, sigma), st)
    st.n[:], st.s[:], st.now.unpulled = n, np.multiply(n, mean), 0
    thompson.propensity(thompson.Params(k, sigma), st, out)
    return out


def test_thompson_s_propensity_where_it_is_known() -> None:
    assert thompson_propensity([7], [-3.0], 2.0) == pytest.approx([1.0])
    assert thompson_propensity([3] * 200, [1.0] * 200, 1.0) == pytest.approx(np.full(200, 1 / 200), abs=1e-12)
    assert thompson_propensity([1, 1, 4], [1e10, 1e10, 0.0], 1e-300) == pytest.approx([0.5, 0.5, 0.0])
    for n, gap in (((1, 1), 0.5), ((10**12, 1), -2.0), ((1, 10**12), 3.0), ((5, 10**4), 0.001), ((2, 3), 40.0)):
        z = gap / math.sqrt(1 / n[0] + 1 / n[1])  # two arms: the difference of two normals
        expected = math.erfc(-z / math.sqrt(2.0)) / 2
        assert thompson_propensity(list(n), [gap, 0.0], 1.0)[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("spread_of_pulls", [1, 10, 10**6])
def test_thompson_s_propensity_of_200_arms(spread_of_pulls: int) -> None:
    """Against the composite rule of 20 nodes over panels that break at every quarter of every deviation."""
    rng = np.random.default_rng(5)
    k, n = 200, np.random.default_rng(6).integers(1, 1 + spread_of_pulls, 200)
    mean = rng.normal(size=k) / math.sqrt(spread_of_pulls)
    deviation = 1.0 / np.sqrt(n)
    ends = np.unique(mean[:, None] + deviation[:, None] * np.linspace(-9.0, 9.0, 73))
    ends = ends[ends >= (mean - 9.0 * deviation).max()]
    nodes, weights = np.polynomial.legendre.leggauss(20)
    expected, half = np.zeros(k), np.diff(ends)[:, None] / 2
    for x, w in zip((ends[:-1, None] + half * (1 + nodes)), half * weights, strict=True):
        z = (x[:, None] - mean) / deviation
        below = np.vectorize(math.erfc)(-z / math.sqrt(2.0)) / 2 if False else erfc_half(z)
        density = np.exp(-z * z / 2) / deviation / math.sqrt(2 * math.pi)
        expected += w @ (below.prod(axis=1, keepdims=True) / below * density)
    assert thompson_propensity(n.tolist(), mean.tolist(), 1.0) == pytest.approx(expected, abs=1e-9)
