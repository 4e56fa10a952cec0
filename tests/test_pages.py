"""The pages beside their naive twins, and what must be true of any page: its law, its index, its docstring."""

import ast
import importlib
import inspect
import itertools
import json
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
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

import equipoise.policies
from equipoise.arguments import ArgumentError
from equipoise.engines.compile import PLAIN, specialise
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
        self.shown: list[int] = []
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
        self.rest[place] = self.rest[0]  # as Fisher and Yates swap them
        self.rest = self.rest[1:]
        self.shown.append(arm)
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


def reward_of(kind: str, arm: int, luck: random.Random) -> float:
    """A reward of an arm. The kinds cover ties, an arm of mean 0, sums that fall, and numbers of any size."""
    if kind == "two-valued":
        return float(luck.random() < 0.5)
    if kind == "zero":
        return 0.0
    if kind == "huge":
        return 1e12 * luck.random()
    if kind == "negative":
        return luck.gauss(-2.0 + arm, 3.0)
    if kind == "close":
        return luck.gauss(0.2 + 0.004 * (arm * 5 % 7), 0.05)
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
    kind=some.sampled_from(("near", "two-valued", "zero", "huge", "negative", "close", "exact")),
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
    twin, st, luck = (
        case.twin(k, game.horizon, game.sigma, **case.given),
        fresh_state(policy, k),
        random.Random(~game.seed),
    )
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
        reward = reward_of(game.kind, arm, luck)
        verbs["update"](p, st, arm, reward)
        twin.update(arm, reward)
        assert kept is None or kept == snapshot(policy, st), "update does more in exploitation than to add"
    assert st.n.tolist() == twin.n
    assert st.s.tolist() == twin.s
    return exploited


def play_games(case: Case, count: int) -> int:
    """The number of games, of `count`, in which the policy exploits."""
    exploiting = 0

    @settings(max_examples=count, deadline=None, derandomize=True, database=None, report_multiple_bugs=False)
    @given(game=games)
    def each(game: Game) -> None:
        nonlocal exploiting
        exploiting += play(case, game) > 0

    each()
    return exploiting


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_page_and_twin_pull_the_same_arms(case: Case) -> None:
    exploiting = play_games(case, 300)
    assert exploiting >= 10 or not page_of(case.policy).exploits()


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
        play_games(CASES[case], 300)


@pytest.mark.parametrize("seed", range(6))
def test_thompson_s_propensity_beside_scipy(seed: int) -> None:
    kind = ("near", "two-valued", "zero", "huge", "negative", "close", "exact")[seed]
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


def integrated(n: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """P(largest draw), sigma = 1, by 20 nodes on panels that break at every quarter of every deviation."""
    deviation = 1.0 / np.sqrt(n)
    ends = np.unique(mean[:, None] + deviation[:, None] * np.linspace(-9.0, 9.0, 73))
    ends = ends[ends >= (mean - 9.0 * deviation).max()]
    nodes, weights = np.polynomial.legendre.leggauss(20)
    result, half = np.zeros(len(n)), np.diff(ends)[:, None] / 2
    for x, weight in zip(ends[:-1, None] + half * (1 + nodes), half * weights, strict=True):
        z = (x[:, None] - mean) / deviation
        density = np.exp(-z * z / 2) / deviation / math.sqrt(2 * math.pi)
        result += weight @ (ndtr(z).prod(axis=1, keepdims=True) / ndtr(z) * density)
    return result


@pytest.mark.parametrize(("k", "most", "ahead"), [(200, 1, 0.0), (200, 1, 1.8), (80, 10, 0.5), (80, 10**6, 0.0)])
def test_thompson_s_propensity_of_many_arms(k: int, most: int, ahead: float) -> None:
    """Many alike and one ahead of them are the hardest: the largest of the others is the sharpest belief of all."""
    rng = np.random.default_rng(5)
    n = rng.integers(1, 1 + most, k)
    mean = rng.normal(size=k) / math.sqrt(most) * (ahead == 0.0)
    mean[k // 3] += ahead
    said = thompson_propensity(n.tolist(), mean.tolist(), 1.0)
    assert said == pytest.approx(integrated(n, mean), abs=1e-10)


# The law of the pulls. Every uniform is a cell of a grid on which all arms and coins are equally likely, so the chance
# of an arm given a history is a ratio of counts: what `propensity` says must be that, whatever the twin says.

SIXTHS = [(i + 0.5) / 6 for i in range(6)]
TWELFTHS = [(i + 0.5) / 12 for i in range(12)]

LAWS = [
    (UCBHare(), [TWELFTHS, [0.3], TWELFTHS, [0.3], TWELFTHS, [0.3]], 0.05),
    (UCBHare(), [TWELFTHS, [0.3], TWELFTHS, [0.3], TWELFTHS, [0.3]], 50.0),
    (WelfaristUCB(p=-2), [SIXTHS] * 5, 1.0),
    (WelfaristUCB(p=-2), [SIXTHS] * 5, 1e-3),
    (ExploreThenUCB(p=-9), [SIXTHS] * 5, 1.0),
    (ExploreThenUCB(p=-20), [SIXTHS] * 5, 1.0),
    (ExploreThenUCB(p=-20, unpulled="index"), [SIXTHS] * 5, 1.0),
    (NashConfidenceBound(c=0.05), [SIXTHS] * 5, 1.0),
    (UCB(), [SIXTHS] * 5, 1.0),
    (UCB1(), [SIXTHS] * 5, 1.0),
    (Uniform(), [SIXTHS] * 4, 1.0),
    (Template(), [SIXTHS] * 5, 1.0),
    (Template(each=2), [SIXTHS] * 5, 1.0),
]


def law(policy: Policy, grids: list[list[float]], sigma: float) -> Iterator[tuple[tuple[int, ...], Any, int]]:
    """For all uniforms of the grids: the arms so far, what `propensity` says of the next arm, and that arm."""
    verbs, p = page_of(policy).verbs, policy.params(3, len(grids), sigma)
    st = fresh_state(policy, 3)
    for uniforms in itertools.product(*grids):
        verbs["init"](p, st)
        arms: tuple[int, ...] = ()
        for u in uniforms:
            out = np.zeros(3)
            if st.now.exploiting:
                break
            verbs["propensity"](p, st, out)
            arm = verbs["choose"](p, st, u)
            yield arms, out, arm
            verbs["update"](p, st, arm, (4.0, -1.0, 2.5)[arm])
            arms = (*arms, arm)


@pytest.mark.parametrize(("policy", "grids", "sigma"), LAWS, ids=lambda x: x.label if isinstance(x, Policy) else "")
def test_propensity_is_the_law_of_the_next_arm(policy: Policy, grids: list[list[float]], sigma: float) -> None:
    counts: dict[tuple[int, ...], Counter[int]] = {}
    said: dict[tuple[int, ...], np.ndarray] = {}
    for arms, out, arm in law(policy, grids, sigma):
        counts.setdefault(arms, Counter())[arm] += 1
        assert said.setdefault(arms, out) == pytest.approx(out), "something that nobody could observe shows"
    for arms, counter in counts.items():
        observed = [counter[arm] / counter.total() for arm in range(3)]
        assert said[arms] == pytest.approx(observed, abs=1e-12), arms


def thompson_misfit(sigma_said: float) -> float:
    """Pearson's statistic of 20,000 draws with sigma = 1 against the propensity for another sigma."""
    st, out = fresh_state(Thompson(), 4), np.zeros(4)
    p = thompson.Params(4, 1.0)
    thompson.init(p, st)
    st.n[:], st.s[:], st.now.unpulled = (4, 9, 1, 2), (4.0, 9.9, 0.2, -1.0), 0
    luck = random.Random(11)
    pulls = Counter(thompson.choose(p, st, luck.random()) for _ in range(20_000))
    thompson.propensity(thompson.Params(4, sigma_said), st, out)
    return sum((pulls[i] - 20_000 * out[i]) ** 2 / (20_000 * out[i]) for i in range(4))


def test_thompson_draws_by_its_propensity() -> None:
    """False alarms: 1e-9 (Pearson's test, three degrees of freedom). It sees that sigma is off by a tenth."""
    limit = chi2.isf(1e-9, 3)
    assert thompson_misfit(1.0) < limit
    assert thompson_misfit(1.1) > limit


# Indices and margins.


@pytest.mark.parametrize("case", INDEXED, ids=repr)
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    k=some.integers(1, 300),
    horizon=some.sampled_from((1, 2, 100, 10**6, 10**12)),
    sigma=some.sampled_from((1e-3, 1.0, 20.0)),
    n=some.sampled_from((1, 2, 3, 17, 10**3, 10**7, 10**12)),
    step=some.sampled_from((1, 2, 5, 1000, 10**9)),
    v=some.one_of(some.just(0.0), some.floats(-1e3, 1e3, allow_subnormal=False), some.floats(1e-6, 1e-3)),
)
def test_the_margin_inverts_the_index_and_is_concave(
    case: Case, k: int, horizon: int, sigma: float, n: int, step: int, v: float
) -> None:
    verbs, p = page_of(case.policy).verbs, case.policy.params(k, horizon, sigma)
    index, margin = verbs["index"], verbs["margin"]
    s = n * v - margin(p, n, v)
    slack = 1e-9 * (abs(s) + n * abs(v)) + 1e-12
    assert index(p, n, s - slack) < v < index(p, n, s + slack)
    left, middle, right = (margin(p, m, v) for m in (n, n + step, n + 2 * step))
    assert middle >= (left + right) / 2 - 1e-12 * (abs(left) + abs(middle) + abs(right))


def test_the_margin_of_nash_confidence_bound_is_that_of_the_printed_threshold() -> None:
    p = NashConfidenceBound().params(5, 1000, 1.0)
    beta = 2 * 3.0 * math.sqrt(2 * math.log(1000))
    for n, v in ((1, 0.3), (40, 0.9), (10**6, 0.5), (3, 1000.0)):
        printed = v * n + beta**2 / 2 - beta / 2 * math.sqrt(beta**2 + 4 * v * n)
        assert n * v - nash_confidence_bound.margin(p, n, v) == pytest.approx(printed, rel=1e-9)
    for mean in (0.0, 0.2, 0.9):
        printed = mean + 2 * 3.0 * math.sqrt(2 * mean * math.log(1000) / 17)
        assert nash_confidence_bound.index(p, 17, 17 * mean) == pytest.approx(printed)
    assert nash_confidence_bound.index(p, 4, -8.0) == -2.0


@pytest.mark.parametrize(("p", "T_tilde"), [(-0.5, 22364), (-2, 1189), (-20, 0)])
def test_explore_then_ucb_s_exploration_in_setting_a(p: float, T_tilde: int) -> None:
    """16·√(10^6·log 10^6 / 50^|p|), rounded down: 16·√(13815510.56 / 50^|p|)."""
    assert ExploreThenUCB(p).params(50, 10**6, 20.0).exploration == T_tilde
    assert ExploreThenUCB(p).changes(50, 10**6) == ((T_tilde,) if T_tilde else ())


def test_explore_then_ucb_s_exploration_at_its_edges() -> None:
    assert ExploreThenUCB(0.0).changes(4, 10) == ()  # 16·√(10·4·log 10/log 4) is over 10: capped, so nothing changes
    assert ExploreThenUCB(1.0).params(1, 10, 1.0).exploration == 0
    assert ExploreThenUCB(-1e5).params(7, 10**6, 1.0).exploration == 0
    assert not ExploreThenUCB(-20, unpulled="index").symmetric
    assert all(case.policy.symmetric for case in CASES if "index" not in case.policy.label)


# What pages share.


def test_draw_next_makes_every_order_equally_likely() -> None:
    """All 12^4 quadruples of uniforms on a grid of twelfths, each step from whatever order was left before."""
    for begin in ([0, 1, 2, 3], [2, 0, 3, 1]):
        orders: Counter[tuple[int, ...]] = Counter()
        for uniforms in itertools.product(TWELFTHS, repeat=4):
            order = np.array(begin)
            drawn = [steps.draw_next(order, i, u) for i, u in enumerate(uniforms)]
            assert drawn == order.tolist()
            orders[tuple(drawn)] += 1
        assert len(orders) == 24
        assert set(orders.values()) == {12**4 // 24}


def test_draw_next_at_the_ends_of_the_unit_interval() -> None:
    for k in (1, 2, 3, 5, 7, 10, 49, 1000, 2**20 + 1):
        order = np.arange(k)
        assert steps.draw_next(order, 0, ALMOST_ONE) == k - 1
        assert steps.draw_next(order, k - 1, ALMOST_ONE) == order[k - 1]
        assert int(ALMOST_ONE * k) == k - 1


def test_draw_unpulled_is_uniform_over_the_unpulled() -> None:
    n = np.array([0, 2, 0, 0, 1])
    assert Counter(steps.draw_unpulled(n, u) for u in TWELFTHS) == {0: 4, 2: 4, 3: 4}
    assert steps.draw_unpulled(n, 0.0) == 0
    assert steps.draw_unpulled(n, ALMOST_ONE) == 3
    assert steps.draw_unpulled(np.array([1, 2]), 0.5) == -1


def test_spread_and_quantile_give_the_same_bits_compiled() -> None:
    spread, quantile = specialise(steps.spread, {}), specialise(steps.normal_quantile, {})
    luck = random.Random(2)
    for u in (0.0, 0.5, ALMOST_ONE, 2.0**-53, *(luck.random() for _ in range(300))):
        for i in (0, 1, 199, 2**31):
            further = steps.spread(u, i)
            assert 0.0 < further < 1.0
            assert spread(u, i) == further
            assert quantile(further) == steps.normal_quantile(further)


def test_the_further_uniforms_never_touch_the_ends() -> None:
    assert steps.middle(0, 0) == 2.0**-53
    assert steps.middle(2**32 - 1, 2**32 - 1) == ALMOST_ONE
    assert math.isfinite(steps.normal_quantile(steps.middle(2**32 - 1, 2**32 - 1)))


def uneven(spread: Callable[[float, int], float]) -> float:
    """Pearson's statistic of 8 x 8 cells for the pairs (spread(u, i), spread(u, i + 1)), u on a fine grid."""
    cells = Counter(
        (int(8 * spread(j / 4096, i)), int(8 * spread(j / 4096, i + 1))) for j in range(4096) for i in (0, 1)
    )
    return sum((cells[a, b] - 128) ** 2 / 128 for a in range(8) for b in range(8))


def test_the_further_uniforms_are_uniform_and_independent() -> None:
    """False alarms: 1e-9 (63 degrees of freedom). A rotation by the arm's number, in place of a hash, is seen."""
    limit = chi2.isf(1e-9, 63)
    assert uneven(steps.spread) < limit
    assert uneven(lambda u, i: (u + 0.618034 * i) % 1.0) > limit


def test_normal_quantile_beside_scipy() -> None:
    u = np.concatenate(
        [np.linspace(0, 1, 4001)[1:-1], 10.0 ** -np.arange(3.0, 17.0), 1 - 10.0 ** -np.arange(3.0, 16.0)]
    )
    ours = np.array([steps.normal_quantile(float(x)) for x in u])
    np.testing.assert_allclose(ours, ndtri(u), rtol=1e-14, atol=1e-16)


# Pages compiled.


def game(p: Any, st: Any, uniforms: Any, rewards: Any, arms: Any, chances: Any) -> None:
    """The preparation of a run on given luck; `init`, `choose` and the others are the page's, filled in below."""
    init(p, st)  # noqa: F821
    for t in range(len(uniforms)):
        if st.now.exploiting:
            arms[t:] = -1
            return
        propensity(p, st, chances[t])  # noqa: F821
        arms[t] = choose(p, st, uniforms[t])  # noqa: F821
        update(p, st, arms[t], rewards[t, arms[t]])  # noqa: F821


COMPILED = [UCBHare(), WelfaristUCB(-2), ExploreThenUCB(-2), NashConfidenceBound(0.05), UCB(), UCB1(), Thompson()]


@pytest.mark.parametrize("policy", [*COMPILED, Uniform(), Template(2)], ids=lambda policy: policy.name)
def test_a_page_pulls_the_same_arms_compiled(policy: Policy) -> None:
    page, k, rounds = page_of(policy), 6, 60
    verbs = {name: page.verbs[name] for name in ("init", "choose", "update", "propensity")}
    engines = (
        (specialise(game, verbs, PLAIN), page.allocate_plain(k)),
        (specialise(game, verbs), page.allocate(k)),
    )
    rng = np.random.default_rng(3)
    for sigma in (0.02, 1.0):
        p, uniforms = policy.params(k, rounds, sigma), rng.random(rounds)
        rewards = rng.normal(np.arange(k) % 4, sigma, (rounds, k))
        results = []
        for run, state in engines:
            arms, chances = np.zeros(rounds, np.int64), np.zeros((rounds, k))
            run(p, state, uniforms, rewards, arms, chances)
            results.append((arms.tolist(), state.n.tolist(), state.s.tolist(), chances))
        assert results[0][:3] == results[1][:3]
        np.testing.assert_allclose(results[0][3], results[1][3], rtol=0, atol=1e-12)


# What a page says of itself, and what it refuses.


def test_every_page_has_a_case() -> None:
    package = equipoise.policies
    names = {f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__)}
    pages = {name for name in names if hasattr(importlib.import_module(name), "choose")}
    assert pages == {policy.__module__ for policy in POLICIES}


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
def test_a_page_has_six_parts_and_fits_on_a_page(policy: type[Policy]) -> None:
    parts = sections(policy)
    assert list(parts) == ["What", *PARTS]
    assert all(parts.values())
    module = importlib.import_module(policy.__module__)
    lines = inspect.getsource(module).splitlines()
    assert len(lines) <= 220
    assert 2 * len((module.__doc__ or "").splitlines()) <= len(lines)
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 40, node.name


def test_names() -> None:
    assert [policy.command() for policy in POLICIES] == [
        "explore-then-ucb",
        "nash-confidence-bound",
        "template",
        "thompson",
        "ucb",
        "ucb1",
        "ucb-hare",
        "uniform",
        "welfarist-ucb",
    ]
    assert WelfaristUCB(p=-2).label == "Welfarist-UCB(p=-2)"
    assert ExploreThenUCB(-20, unpulled="index").label == "Explore-Then-UCB(p=-20, unpulled=index)"
    assert UCB().label == "UCB"


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_info_is_ready_for_json(case: Case) -> None:
    verbs, p = page_of(case.policy).verbs, case.policy.params(3, 20, 0.1)
    st = fresh_state(case.policy, 3)
    verbs["init"](p, st)
    for arm in (2, 0, 1):
        if "info" in verbs:
            json.dumps(verbs["info"](p, st), allow_nan=True)
        verbs["update"](p, st, arm, 1.5)


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (WelfaristUCB(-math.inf), "p is -inf; give a finite number of at most 1."),
        (WelfaristUCB(1.5), "p is 1.5; give a finite number of at most 1."),
        (ExploreThenUCB(math.nan), "p is nan; give a finite number of at most 1."),
        (ExploreThenUCB("fair"), "p is 'fair'; give a finite number of at most 1."),  # type: ignore[arg-type]
        (ExploreThenUCB(-2, w=0.0), "w is 0.0; give a finite number above 0."),
        (ExploreThenUCB(-2, scaled="no"), "scaled is 'no'; give True or False."),  # type: ignore[arg-type]
        (
            ExploreThenUCB(-2, unpulled="indx"),
            "unpulled is 'indx'; did you mean 'index'? choose one of random, index.",
        ),
        (NashConfidenceBound(c=-3.0), "c is -3.0; give a finite number above 0."),
        (UCB(delta=0.0), "delta is 0.0; give a number in (0, 1]."),
        (Template(each=0), "each is 0; give a whole number of at least 1."),
    ],
)
def test_a_policy_refuses_what_it_cannot_use(policy: Policy, told: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        policy.params(5, 100, 1.0)
    assert str(caught.value) == told
