"""Whole small worlds: every coin, permutation and reward of a few rounds, against pages, twins and simulation.

Rewards are multiples of 1/16, so sums are exact in any order. Spreads are told to be small, so that within these few
rounds floors rise above 0, anchors change, and preparation ends on some branches and not on others.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from math import inf
from typing import Any, NamedTuple

import naive
import numpy as np
import pytest
from exact import History, Observations, Paged, chance_of, copied, copyable, exante, exante_by_propensity, key, rounds
from scipy.special import stdtrit

from equipoise import welfare
from equipoise.exante import GROUPS
from equipoise.instances import Instance
from equipoise.policies import ucb_hare
from equipoise.policies.contract import Policy
from equipoise.policies.explore_then_ucb import ExploreThenUCB
from equipoise.policies.nash_confidence_bound import NashConfidenceBound
from equipoise.policies.thompson import Thompson
from equipoise.policies.ucb import UCB
from equipoise.policies.ucb1 import UCB1
from equipoise.policies.ucb_hare import UCBHare
from equipoise.policies.uniform import Uniform
from equipoise.policies.welfarist_ucb import WelfaristUCB
from equipoise.result import Result
from equipoise.simulation import simulate

TWO: Observations = [[0.125, 0.125, 0.75], [0.0, 1.0]]  # means 1/3 and 1/2
EVEN: Observations = [[0.25, 1.0], [0.25, 1.0]]  # ties everywhere
SWING: Observations = [[0.25, 0.75], [-1.0, 1.0, 1.0, 1.0]]  # equal means; one reward may topple the anchor
THREE: Observations = [[0.0, 0.5], [0.0625, 0.0625, 1.25, 1.25], [0.25, 0.25, 0.25, 0.75]]  # the best in the middle


class Case(NamedTuple):
    policy: Policy
    twin: Callable[..., naive.Twin]
    given: dict[str, Any]
    law: Observations
    horizon: int
    sigma: float

    def player(self, twin: Callable[..., naive.Twin] | None = None) -> naive.Twin:
        return copyable((twin or self.twin)(len(self.law), self.horizon, self.sigma, **self.given))

    def page(self) -> Paged:
        return Paged(self.policy, len(self.law), self.horizon, self.sigma)

    def __repr__(self) -> str:
        return f"{self.policy.label}, k = {len(self.law)}, T = {self.horizon}, sigma = {self.sigma}"


def thompson(k: int, horizon: int, sigma: float) -> naive.Thompson:
    """Asked for its propensities alone."""
    return naive.Thompson(k, horizon, sigma, lambda u, i: 0.0)


# Trees that keep every history, and longer ones whose branches merge.
SHORT = [
    Case(UCBHare(delta=1.0), naive.UCBHare, {"delta": 1.0}, SWING, 10, 0.0625),
    Case(UCBHare(delta=1.0), naive.UCBHare, {"delta": 1.0}, TWO, 10, 0.03125),
    Case(UCBHare(delta=1.0), naive.UCBHare, {"delta": 1.0}, EVEN, 9, 0.03125),
    Case(UCBHare(delta=0.5), naive.UCBHare, {"delta": 0.5}, THREE, 8, 0.0625),
    Case(UCBHare(), naive.UCBHare, {}, THREE, 5, 0.5),
    Case(WelfaristUCB(p=-2), naive.WelfaristUCB, {"p": -2}, TWO, 6, 0.0078125),
    Case(WelfaristUCB(p=0), naive.WelfaristUCB, {"p": 0}, THREE, 5, 0.0078125),
    Case(ExploreThenUCB(p=-8, w=0.25), naive.ExploreThenUCB, {"p": -8, "w": 0.25}, TWO, 6, 0.5),
    Case(ExploreThenUCB(p=-6, w=0.25), naive.ExploreThenUCB, {"p": -6, "w": 0.25}, THREE, 5, 0.5),
    Case(ExploreThenUCB(p=-20, unpulled="index"), naive.ExploreThenUCB, {"p": -20, "unpulled": "index"}, THREE, 6, 0.5),
    Case(NashConfidenceBound(c=0.03125), naive.NashConfidenceBound, {"c": 0.03125}, TWO, 6, 0.5),
    Case(NashConfidenceBound(c=0.03125), naive.NashConfidenceBound, {"c": 0.03125}, THREE, 4, 0.5),
    Case(UCB(delta=1.0), naive.UCB, {"delta": 1.0}, TWO, 7, 0.125),
    Case(UCB(), naive.UCB, {}, THREE, 5, 0.125),
    Case(UCB1(), naive.UCB1, {}, TWO, 7, 0.5),
    Case(UCB1(), naive.UCB1, {}, THREE, 6, 0.25),
    Case(Uniform(), naive.Uniform, {}, TWO, 6, 0.5),
    Case(Uniform(), naive.Uniform, {}, THREE, 4, 0.5),
]
HARE = Case(UCBHare(delta=1.0), naive.UCBHare, {"delta": 1.0}, THREE, 13, 0.03125)
LONG = [
    HARE,
    Case(UCBHare(delta=1.0), naive.UCBHare, {"delta": 1.0}, TWO, 12, 0.0625),
    Case(WelfaristUCB(p=-2), naive.WelfaristUCB, {"p": -2}, THREE, 9, 0.0078125),
    Case(ExploreThenUCB(p=-6, w=0.25), naive.ExploreThenUCB, {"p": -6, "w": 0.25}, THREE, 8, 0.5),
    Case(ExploreThenUCB(p=-20, unpulled="index"), naive.ExploreThenUCB, {"p": -20, "unpulled": "index"}, THREE, 8, 0.5),
    Case(NashConfidenceBound(c=0.0625), naive.NashConfidenceBound, {"c": 0.0625}, THREE, 9, 0.5),
    Case(UCB(delta=1.0), naive.UCB, {"delta": 1.0}, THREE, 9, 0.125),
    Case(UCB1(), naive.UCB1, {}, THREE, 9, 0.5),
    Case(Uniform(), naive.Uniform, {}, THREE, 5, 0.5),
]


@pytest.mark.parametrize("case", SHORT, ids=repr)
def test_propensities_on_every_branch(case: Case) -> None:
    """A propensity is the chance of an arm given the arms and rewards so far; a history's chance is their product.

    Page and twin are enumerated apart: they have the same histories, equally likely, and both say the propensities
    that the counting of coins and permutations finds.
    """
    by_product = {(): 1.0}
    trees = (rounds(player, case.law, case.horizon) for player in (case.page(), case.player()))
    for page, twin in zip(*trees, strict=True):
        assert page.pulls == pytest.approx(twin.pulls, abs=1e-14)
        likely: dict[History, float] = defaultdict(float)
        for branch in page.before:
            likely[branch.history] += branch.chance
        assert sum(likely.values()) == pytest.approx(1.0, abs=1e-12)
        assert likely == pytest.approx(by_product, abs=1e-12)
        told = {}
        for branch in (*page.before, *twin.before):
            told[branch.history] = branch.player.probabilities()
            for arm, propensity in enumerate(told[branch.history]):
                counted = page.pulls.get((branch.history, arm), 0.0) / likely[branch.history]
                assert propensity == pytest.approx(counted, abs=1e-12), (branch.history, branch.player)
        by_product = {
            (*history, (arm, reward)): likely[history] * propensity * chance_of(reward, case.law[arm])
            for history, each in told.items()
            for arm, propensity in enumerate(each)
            if propensity > 0.0
            for reward in set(case.law[arm])
        }


def test_a_propensity_that_knows_the_coin_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chance of the round's arm given all that the state has drawn is not a propensity."""

    def knowing(p: Any, st: Any, out: Any) -> None:
        ucb_hare.fill(out, 0.0)
        if st.now.second:
            out[ucb_hare.choose(p, st, 0.0)] = 1.0  # the block's second round draws nothing
        else:
            honest(p, st, out)

    honest = ucb_hare.propensity
    monkeypatch.setattr(ucb_hare, "propensity", knowing)
    with pytest.raises(AssertionError):
        test_propensities_on_every_branch(SHORT[0])


def test_the_small_worlds_of_hare_are_not_trivial() -> None:
    """On some branches preparation has ended, and on some a block's second arm is open after its first was shown."""
    ended, open_coins, floors = set(), 0, set()
    for case in SHORT[:3]:
        for t, step in enumerate(rounds(case.page(), case.law, case.horizon)):
            floors |= {branch.player.st.now.floor > 0.0 for branch in step.before}
            ended |= {bool(branch.player.st.now.exploiting) for branch in step.before}
            open_coins += t % 2 * sum(count > 1 for count in Counter(history for history, _ in step.pulls).values())
    assert floors == ended == {True, False}
    assert open_coins > 0


@pytest.mark.parametrize("k", [2, 3])
def test_thompson_s_propensities_on_every_branch(k: int) -> None:
    """Page and twin integrate by different rules, to about 1e-9 and 1e-12."""
    law, horizon = (TWO, 6) if k == 2 else (THREE, 5)
    before = [(Paged(Thompson(), k, horizon, 0.5), thompson(k, horizon, 0.5))]
    for _ in range(horizon):
        after = {}
        for page, twin in before:
            expected = twin.probabilities()
            assert page.probabilities() == pytest.approx(expected, abs=1e-9)
            likely = [arm for arm in range(k) if expected[arm] > 0.0]
            for arm, reward in [(i, reward) for i in likely for reward in set(law[i])]:
                players = copied(page), copied(twin)
                for player in players:
                    player.update(arm, reward)
                after[key(players[0])] = players
        before = list(after.values())


# Simulation against the exact m_t.

RUNS = 200_000


@cache
def hare_simulated() -> Result:
    return simulated(HARE)


def simulated(case: Case) -> Result:
    arms = Instance.from_data(case.law)
    return simulate(arms, case.policy, horizon=case.horizon, runs=RUNS, seed=11, sigma=case.sigma, progress=False)


def largest_error(result: Result, exact: np.ndarray) -> float:
    """The largest error of the simulated m_t, in what it may be.

    That is Student's quantile, of one degree of freedom less than groups, at which all T rounds together raise a false
    alarm once in a million tables; and 1e-8 for gaps kept as integers, where a round's m_t is certain.
    """
    table = result.exante(t=range(1, len(exact) + 1))
    allowed = stdtrit(GROUPS - 1, 1.0 - 0.5e-6 / len(exact)) * table.mcse.to_numpy() + 1e-8
    return float((np.abs(table.est.to_numpy() - exact) / allowed).max())


@pytest.mark.parametrize("case", LONG, ids=repr)
def test_simulation_finds_the_exact_rewards(case: Case) -> None:
    exact = exante(case.player(), case.law, case.horizon)
    assert exante(case.page(), case.law, case.horizon) == pytest.approx(exact, abs=1e-12)
    result = simulated(case)
    assert largest_error(result, exact) <= 1.0
    agrees_in_regret(result, exact)


@pytest.mark.parametrize("k", [2, 3])
def test_simulation_finds_thompson_s_exact_rewards(k: int) -> None:
    law, horizon = (TWO, 6) if k == 2 else (THREE, 5)
    case = Case(Thompson(), thompson, {}, law, horizon, 0.5)
    exact = exante_by_propensity(case.page(), law, horizon)
    result = simulated(case)
    assert largest_error(result, exact) <= 1.0
    agrees_in_regret(result, exact)


def pmean(m: np.ndarray, p: float) -> float:
    """The definition."""
    if p == -inf:
        return float(m.min())
    return float(np.exp(np.log(m).mean()) if p == 0 else (m**p).mean() ** (1.0 / p))


def agrees_in_regret(result: Result, exact: np.ndarray) -> None:
    """Regret at several p, after 1 round, about half, and all; its false-alarm rate as above, for each p.

    The minimum of estimates has no Gaussian error where the exact minimum is taken in several rounds: there the
    plug-in is off by no more than the worst of the m_t, which `largest_error` bounds.
    """
    best, horizon = result.instance.best, len(exact)
    rounds_asked = sorted({1, (horizon + 1) // 2, horizon})
    quantile = stdtrit(GROUPS - 1, 1.0 - 0.5e-6 / len(rounds_asked))
    for p in (1.0, 0.5, 0.0, -1.0, -2.0, -20.0):
        table = result.regret(p, t=rounds_asked)
        for t, est, mcse in zip(table.t, table.est, table.mcse, strict=True):
            truth = best - pmean(exact[:t], p)
            assert truth == pytest.approx(float(welfare.regret(exact[:t], p, best)), abs=1e-12)
            assert abs(est - truth) <= quantile * mcse + 1e-8, (p, t)
    worst = stdtrit(GROUPS - 1, 1.0 - 0.5e-6 / horizon) * result.exante(t=range(1, horizon + 1)).mcse.max() + 1e-8
    for t, raw in zip(*result.regret(-inf, t=rounds_asked)[["t", "raw"]].to_numpy().T, strict=True):
        assert abs(raw - (best - pmean(exact[: int(t)], -inf))) <= worst, t


# Misreadings of the algorithm: the simulation must tell each from what it simulates.


class ScheduledFirst(naive.UCBHare):
    """The coin always shows the scheduled slot first."""

    def choose(self, u: float) -> int:
        return super().choose(u / 2)


class FloorOncePerBlock(naive.UCBHare):
    """B is not read afresh before a block's second round."""

    def safest(self) -> tuple[float, int]:
        if self.preparing and not self.at_block_boundary():
            return self.bound_before_first, self.anchor_before_first
        return super().safest()


class StopsMidBlock(naive.UCBHare):
    """The stopping rule is looked at after every round."""

    def update(self, arm: int, reward: float) -> None:
        super().update(arm, reward)
        self.preparing = self.preparing and not self.prepared()


class NeverStops(naive.UCBHare):
    """Preparation goes on."""

    def prepared(self) -> bool:
        return False


class NoAnchor(naive.UCBHare):
    """The auxiliary slot pulls the scheduled arm."""

    def safest(self) -> tuple[float, int]:
        bound, arm = super().safest()
        return (bound, arm) if self.at_block_boundary() and self.deciding else (-inf, arm)

    deciding = False

    def prepared(self) -> bool:
        self.deciding = True
        answer = super().prepared()
        self.deciding = False
        return answer


class ByLabel(naive.UCBHare):
    """Rank r is arm r: no permutation."""

    def draw_rank(self, rest: float) -> None:
        self.drawn = max(self.drawn, self.rank)


class NarrowBound(naive.UCBHare):
    """c(n) without the 2 under its root."""

    def radius(self, arm: int) -> float:
        return super().radius(arm) / 2**0.5


@pytest.mark.parametrize(
    "misread", [ScheduledFirst, FloorOncePerBlock, StopsMidBlock, NeverStops, NoAnchor, ByLabel, NarrowBound]
)
def test_simulation_is_not_a_misreading(misread: type[naive.UCBHare]) -> None:
    exact = exante(HARE.player(misread), HARE.law, HARE.horizon)
    assert largest_error(hare_simulated(), exact) > 1.0
