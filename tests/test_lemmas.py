"""The paper's lemmas about UCB-HARE, watched run by run as they are stated.

A lemma "on the good event" is a statement about every run in which no confidence interval has failed: it must hold in
each, without a false alarm. A lemma about a probability or an expectation is tested at a stated false-alarm rate.
Beside each stands a policy, or a constant, that breaks it.
"""

from collections.abc import Callable, Iterator
from functools import cache
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import stdtrit
from scipy.stats import binom

from equipoise.engines.assembly import specialised
from equipoise.engines.compile import COUNTED, specialise
from equipoise.exante import GROUPS
from equipoise.instances import Instance, needle
from equipoise.policies import ucb_hare
from equipoise.policies.contract import page_of
from equipoise.policies.ucb_hare import UCBHare, choose, index, init, radius, update
from equipoise.result import Result
from equipoise.simulation import simulate
from equipoise.streams import POLICY, begin, make_key, uniform
from equipoise.welfare import inverse_penalty

# What is watched in a run, a column each.
STRAYED = 0  # a mean that was seen lies outside its interval: the good event fails
TAU = 1  # rounds of preparation
ENDED = 2  # preparation ended by the horizon
FLOOR = 3  # B at its end
FEWEST = 4  # pulls, of the arm with fewest, at its end
LOWEST = 5  # mean of the arms pulled in Phase II
CERTIFIED = 6  # once the best arm had n_star pulls there was an anchor in every round, of this mean or more
BEHIND = 7  # blocks at whose start an arm within the frontier had fewer than n_star pulls
COLUMNS = 8


class World(NamedTuple):
    """An instance and how HARE is played on it."""

    name: str
    arms: Instance
    horizon: int
    delta: float

    def __repr__(self) -> str:
        return self.name

    def runs(self) -> int:
        return 1_200_000 // self.horizon

    def params(self, told: float = 1.0) -> Any:
        return UCBHare(self.delta).params(self.arms.k, self.horizon, self.arms.sigma * told)


class Facts(NamedTuple):
    """The quantities of the paper's section "Proof of Upper Bound"."""

    best: int
    means: np.ndarray
    n_star: int
    S: int


def facts(world: World) -> Facts:
    arms, H_k = world.arms, sum(1.0 / r for r in range(1, world.arms.k + 1))
    n_star = max(ceil(128.0 * arms.sigma**2 * world.params().L / arms.best**2), 1)
    return Facts(int(arms.means.argmax()), arms.means, n_star, ceil(H_k * n_star))


draw: Callable[..., float]  # the instance's; `specialise` puts it here


def play(runs: int, key: Any, horizon: int, p: Any, st: Any, data: Any, stream: Any, known: Facts, seen: Any) -> None:
    """Runs as the step engine plays them, with a witness."""
    for run in range(runs):
        begin(stream, key, run)
        init(p, st)
        row = seen[run]
        row[TAU], row[LOWEST], row[CERTIFIED] = horizon, known.means.max(), known.means.max()
        for t in range(horizon):
            if st.now.exploiting:
                arm = leader(p, st)
                row[LOWEST] = min(row[LOWEST], known.means[arm])
            else:
                if t % 2 == 0:
                    row[BEHIND] += behind(p, st, t // 2 + 1, known)
                arm = choose(p, st, uniform(key, run, POLICY, t))
                if st.n[known.best] >= known.n_star:
                    mean = known.means[st.now.anchor] if st.now.floor > 0.0 else -1.0
                    row[CERTIFIED] = min(row[CERTIFIED], mean)
            was_exploiting = st.now.exploiting
            update(p, st, arm, draw(data, arm, stream))  # noqa: F821
            if abs(st.s[arm] / st.n[arm] - known.means[arm]) > radius(p, st.n[arm]):
                row[STRAYED] = 1.0
            if st.now.exploiting and not was_exploiting:
                row[TAU], row[ENDED], row[FLOOR], row[FEWEST] = t + 1, 1.0, st.now.floor, st.n.min()


def leader(p: Any, st: Any) -> int:
    best = 0
    for i in range(1, p.k):
        if index(p, st.n[i], st.s[i]) > index(p, st.n[best], st.s[best]):
            best = i
    return best


def behind(p: Any, st: Any, block: int, known: Facts) -> int:
    """Whether, at the start of this block, an arm of a rank up to a_b lacks n_star pulls."""
    frontier = min(p.k, (block - 1) // (8 * known.S))
    for rank in range(frontier):
        if st.n[st.order[rank]] < known.n_star:
            return 1
    return 0


def watch(world: World, told: float = 1.0, **claimed: Any) -> np.ndarray:
    """Watched runs, a row each; `told`: what HARE is told of the spread, as a multiple of the truth; `claimed`: other
    facts than the paper's."""
    arms, page = world.arms, page_of(UCBHare())
    state, stream, known = page.allocate(arms.k), np.zeros(4, np.uint64), facts(world)._replace(**claimed)
    seen = np.zeros((world.runs(), COLUMNS))
    kernel = specialise(play, {"draw": arms.draw}, COUNTED)
    kernel(len(seen), make_key(3), world.horizon, world.params(told), state, arms.data, stream, known, seen)
    return seen


WORLDS = [
    World("unequal gaps, best in the middle", Instance.gaussian([0.3, 0.9, 0.0, 1.0, 0.45], 0.05), 1501, 1.0),
    World("needle", needle(6, 1.0, 0.05, arm=4), 3000, 1.0),
    World("wide rewards", Instance.gaussian([0.2, 1.0, 0.6], 0.4), 60_000, 1.0),
    World("coins", Instance.bernoulli([0.9, 0.1]), 40_000, 0.2),
    World("spreads differ", Instance.gaussian([5.0, 1.0, 4.0, 0.0], [0.1, 0.4, 0.3, 0.02]), 2000, 0.5),
    World("one arm", Instance.gaussian([2.0], 0.3), 601, 1.0),
]
each_world = pytest.mark.parametrize("world", WORLDS, ids=repr)


@cache
def unharmed(world: World) -> np.ndarray:
    """The runs of the world as it is."""
    return watch(world)


def good(seen: np.ndarray) -> np.ndarray:
    """The runs in which the good event holds, as far as they have seen; the lemmas' proofs need no more of it."""
    kept = seen[seen[:, STRAYED] == 0.0]
    assert len(kept) > 0
    return kept


@each_world
def test_the_witness_sees_what_is_simulated(world: World) -> None:
    lengths, runs = unharmed(world)[:, TAU], world.runs()
    result = simulate(world.arms, UCBHare(world.delta), horizon=world.horizon, runs=runs, seed=3, progress=False)
    row = result.preparation().iloc[0]
    assert row["mean"] == pytest.approx(lengths.mean(), rel=1e-12)
    assert row.sd == pytest.approx(lengths.std(ddof=1), rel=1e-9)


# lem:upper-good: the good event fails with a chance of at most δ/4.


def too_often(failures: int, runs: int, chance: float) -> bool:
    """More failures than a chance of at most `chance` gives, but for one false alarm in a million."""
    return bool(failures > binom.ppf(1.0 - 1e-6, runs, chance))


@each_world
def test_concentration(world: World) -> None:
    strayed = unharmed(world)[:, STRAYED]
    assert not too_often(int(strayed.sum()), len(strayed), world.delta / 4.0)


def test_concentration_fails_with_half_the_spread() -> None:
    world = WORLDS[0]
    strayed = watch(world, told=0.4)[:, STRAYED]
    assert too_often(int(strayed.sum()), len(strayed), world.delta / 4.0)


# lem:certification and lem:critical-rank.


@each_world
def test_an_anchor_is_good_once_the_best_arm_is_known(world: World) -> None:
    """lem:certification: on the good event, n_star pulls of the best arm certify an anchor of mean ≥ ¾μ⋆."""
    assert good(unharmed(world))[:, CERTIFIED].min() >= 0.75 * world.arms.best


def test_fewer_pulls_certify_nothing() -> None:
    """One pull in place of n_star: its radius exceeds μ⋆, and there is no anchor."""
    world = WORLDS[2]
    assert radius(world.params(), 1) > world.arms.best
    seen = watch(world, n_star=1)
    assert good(seen)[:, CERTIFIED].min() < 0.0


@each_world
def test_the_frontier_expands(world: World) -> None:
    """lem:critical-rank: when block b starts, every arm of a rank up to a_b has n_star pulls, whatever the rewards."""
    assert unharmed(world)[:, BEHIND].max() == 0


def unending(p: Any, st: Any) -> bool:
    return False


def test_the_frontier_expands_to_all_arms(monkeypatch: pytest.MonkeyPatch) -> None:
    """HARE stops preparing before the frontier reaches most arms, so it is kept from stopping. Anchors stay good."""
    monkeypatch.setattr(ucb_hare, "prepared", unending)
    for world in WORLDS[:2]:
        assert world.horizon // 2 >= 8 * world.arms.k * facts(world).S + 1
        seen = watch(world)
        assert seen[:, BEHIND].max() == 0
        assert good(seen)[:, CERTIFIED].min() >= 0.75 * world.arms.best


def squares(n: int, d: int, k: int) -> tuple[int, int]:
    """A schedule that neglects high ranks: r comes in 1/r² of the integers."""
    for e in range(d + 1, k + 1):
        if n % (e * e) == 0:
            return n, e
    return n + 1, 1


def test_the_frontier_needs_the_harmonic_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ucb_hare, "prepared", unending)
    monkeypatch.setattr(ucb_hare, "following", squares)
    world = World("forty arms", Instance.gaussian(np.linspace(0.1, 1.0, 40), 0.04), 12_000, 1.0)
    assert world.horizon // 2 >= 8 * world.arms.k * facts(world).S + 1
    assert watch(world)[:, BEHIND].min() > 0


# lem:prep-ends.


def window(world: World) -> int:
    """T_0."""
    return 18 * world.arms.k * facts(world).S


@each_world
def test_preparation_ends_in_its_window(world: World) -> None:
    """lem:prep-ends: on the good event τ ≤ T_0 = 18kS. Every world's horizon is longer than T_0."""
    seen, T_0 = good(unharmed(world)), window(world)
    assert world.horizon > T_0
    assert seen[:, ENDED].all()
    assert seen[:, TAU].max() <= T_0
    assert (seen[:, TAU] % 2 == 0).all()


def demanding(p: Any, st: Any, i: int, B: float) -> bool:
    """As if the stopping rule said 3200 for 32: as B ≤ μ⋆, every arm then needs 25·n_star pulls."""
    return bool(st.n[i] * (B * B) < 3200.0 * p.sigma * p.sigma * p.L)


@pytest.mark.parametrize("world", WORLDS[:2], ids=repr)
def test_preparation_does_not_end_if_asked_for_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last rank comes every k integers, about 2k·H_k rounds: 25·n_star pulls take about 50kS of them."""
    monkeypatch.setattr(ucb_hare, "short", demanding)
    seen = watch(world)
    assert good(seen)[:, TAU].min() > window(world)


# lem:phase2-safe.


@each_world
def test_phase_two_is_safe(world: World) -> None:
    """On the good event: B_τ ≥ ⅔μ⋆; every arm has 32σ²L/μ⋆² pulls; and every arm pulled then has a mean ≥ ½μ⋆."""
    best, seen = world.arms.best, good(unharmed(world))
    p = world.params()
    ended = seen[seen[:, ENDED] == 1.0]
    assert ended[:, FLOOR].min() >= 2.0 * best / 3.0
    assert ended[:, FEWEST].min() >= 32.0 * p.sigma**2 * p.L / best**2 * (1.0 - 1e-12)
    assert ended[:, LOWEST].min() >= best / 2.0


def hasty(p: Any, st: Any, i: int, B: float) -> bool:
    """As if one pull of every arm were enough."""
    return bool(st.n[i] < 1)


def test_phase_two_is_not_safe_if_it_comes_too_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ucb_hare, "short", hasty)
    world = WORLDS[2]
    seen = good(watch(world))
    assert seen[:, LOWEST].min() < world.arms.best / 2.0
    assert seen[:, FLOOR].min() < 2.0 * world.arms.best / 3.0


# lem:ex-ante-reward and lem:prep-penalty, of the m_t that simulation estimates.


def estimated(world: World, runs: int = 20_000) -> Result:
    return simulate(world.arms, UCBHare(world.delta), horizon=world.horizon, runs=runs, seed=4, progress=False)


def sinks(world: World, result: Result, c_0: float = 0.25) -> bool:
    """Whether some m_t lies under c_0·μ⋆·max(1, a_b)/k by more than one false alarm in a million, for all T, allows.

    A cell's mean is asked for the floor of a round before its first: a cell is at most a 1/1024 of its first round.
    """
    t = np.arange(1, world.horizon + 1)
    if world.horizon > 5000:
        t = np.unique(np.rint(np.geomspace(1, world.horizon, 5000)).astype(int))
    block = -(-(t - t // 1024) // 2)
    frontier = np.minimum(world.arms.k, (block - 1) // (8 * facts(world).S))
    assert frontier[-1] == world.arms.k
    floor = c_0 * world.arms.best * np.maximum(1, frontier) / world.arms.k
    table = result.exante(t=t.tolist())
    allowed = stdtrit(GROUPS - 1, 1.0 - 1e-6 / len(t)) * table.mcse.to_numpy()
    return bool((table.est.to_numpy() + allowed < floor).any())


@each_world
def test_the_reward_floor(world: World) -> None:
    """lem:ex-ante-reward with its c_0 = 1/4: m_t ≥ ¼μ⋆·max(1/k, a_b/k), b = ⌈t/2⌉, for every t ≤ T."""
    runs = min(20_000, 200_000_000 // world.horizon)
    assert not sinks(world, estimated(world, runs))


NEEDLE = WORLDS[1]  # m_1 = μ⋆/k, exactly


@pytest.fixture
def mutate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, Callable[..., Any]], None]]:
    """Puts another function into HARE's page for a test, and lets engines be made anew."""

    def put(name: str, function: Callable[..., Any]) -> None:
        specialised.cache_clear()
        monkeypatch.setattr(ucb_hare, name, function)

    yield put
    specialised.cache_clear()


def in_order(order: Any, drawn: int, u: float) -> int:
    """No permutation: rank r is arm r."""
    return int(order[drawn])


def no_anchor(p: Any, st: Any, arm: int) -> None:
    """Nothing is ever certified."""


def test_the_reward_floor_is_no_higher_than_one() -> None:
    assert sinks(NEEDLE, estimated(NEEDLE), c_0=1.5)


@pytest.mark.parametrize(("name", "function"), [("draw_next", in_order), ("move_floor", no_anchor)])
def test_the_reward_floor_needs(
    name: str, function: Callable[..., Any], mutate: Callable[[str, Callable[..., Any]], None]
) -> None:
    """Without the permutation, m_1 is the mean of a label: 0. Without an anchor, m_t stays at μ⋆/6 while the floor
    rises to μ⋆/4."""
    mutate(name, function)
    assert sinks(NEEDLE, estimated(NEEDLE, 4000))


def penalty(world: World, q: float) -> tuple[float, float]:
    """The inverse penalty of the rounds up to T_0, and the bound of lem:prep-penalty on it."""
    k, T_0 = world.arms.k, window(world)
    m = estimated(world).exante(t=range(1, T_0 + 1)).est.to_numpy()
    K_q = sum((k / r) ** q for r in range(1, k + 1))
    bound = 34.0 * 4.0**q * facts(world).S * K_q
    return float(inverse_penalty(np.maximum(m, 0.0), q, world.arms.best)), bound


@pytest.mark.parametrize("world", WORLDS[:2], ids=repr)
def test_the_preparation_penalty(world: World) -> None:
    """Far from the bound; the estimate is biased up (Jensen), so no allowance is made."""
    for q in (0.5, 1.0, 2.0, 5.0):
        found, bound = penalty(world, q)
        assert 0.0 < found < bound


def test_the_preparation_penalty_needs_the_permutation(
    mutate: Callable[[str, Callable[..., Any]], None],
) -> None:
    mutate("draw_next", in_order)
    found, bound = penalty(NEEDLE, 2.0)
    assert found > bound
