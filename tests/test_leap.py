"""A leaped run has the law of a stepped run: exactly where it can be enumerated, and by two-sample tests elsewhere.

Each statistic of a comparison is judged by a z of its means over independent runs of both engines, at LIMIT: with some
1,500 of them in this file, a false alarm has a chance below 1e-4 altogether. What they can see: a shift of 0.08
standard deviations at 10,000 runs, of 0.02 at 200,000. The broken engines below, each a line away from the right one,
are all caught.
"""

import sys
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import naive
import numpy as np
import pytest

import equipoise as eq
from equipoise import walks
from equipoise.engines import leap, step
from equipoise.engines.assembly import desk_for
from equipoise.engines.compile import specialise
from equipoise.engines.runs import play
from equipoise.policies.catalogue import load
from equipoise.policies.contract import page_of
from equipoise.policies.template import Template
from equipoise.streams import begin, make_key

LIMIT = 5.7  # P(|z| > 5.7) = 1.2e-8
WATCHED = 6  # rounds, spread over the horizon, at which the arm is noted


class Sample(NamedTuple):
    """A recorder: what is kept of every run."""

    rounds: np.ndarray
    switches: np.ndarray  # (run,)
    last: np.ndarray  # the round of the last switch
    longest: np.ndarray  # the longest stretch of one arm
    lengths: np.ndarray  # of preparation
    pulls: np.ndarray  # (run, arm)
    arms: np.ndarray  # (run, watched round)
    now: np.ndarray  # run, arm, since, next watched round


def sample_for(runs: int, k: int, horizon: int) -> Sample:
    rounds = np.unique(np.linspace(0, horizon - 1, WATCHED).astype(np.int64))
    counts = (np.zeros(runs, np.int64) for _ in range(4))
    pulls, arms = np.zeros((runs, k), np.int64), np.zeros((runs, len(rounds)), np.int64)
    return Sample(rounds, *counts, pulls, arms, np.zeros(4, np.int64))


def open_run(sample, run):
    sample.now[1] = -1
    sample.now[2] = 0
    sample.now[3] = 0


def enter(sample, t, arm):
    now = sample.now
    if arm != now[1]:
        leave(sample, t)
        if t > 0:
            sample.switches[now[0]] += 1
            sample.last[now[0]] = t
        now[1] = arm
        now[2] = t


def leave(sample, t):
    now = sample.now
    if t - now[2] > sample.longest[now[0]]:
        sample.longest[now[0]] = t - now[2]
    while now[3] < len(sample.rounds) and sample.rounds[now[3]] < t:
        sample.arms[now[0], now[3]] = now[1]
        now[3] += 1


def close_run(sample, prepared, horizon, n):
    leave(sample, horizon)
    sample.lengths[sample.now[0]] = prepared
    for i in range(len(n)):
        sample.pulls[sample.now[0], i] = n[i]
    sample.now[0] += 1


RECORDER = {"open_run": open_run, "enter": enter, "close_run": close_run}


@cache
def kernel(given: tuple[tuple[str, Any], ...]) -> Any:
    return specialise(play, dict(given), cache=False)


def sampled(
    policy: eq.Policy, arms: eq.Instance, horizon: int, runs: int, seed: int, engine: ModuleType = leap, **broken: Any
) -> Sample:
    page = page_of(policy)
    given = {"begin": begin, **page.verbs, **RECORDER, "draw": arms.draw, **arms.walk._asdict(), **broken}
    given["exploit"] = engine.exploit
    sample, control = sample_for(runs, arms.k, horizon), np.zeros(3, np.int64)
    p, state, stream = policy.params(arms.k, horizon, arms.sigma), page.allocate(arms.k), np.zeros(4, np.uint64)
    desk = desk_for(arms.k, control)
    kernel(tuple(given.items()))(0, runs, make_key(seed), horizon, p, state, arms.data, stream, desk, sample)
    assert (sample.pulls.sum(axis=1) == horizon).all()
    return sample


def statistics(sample: Sample) -> Iterator[tuple[str, np.ndarray]]:
    """Numbers of every run, whose means are compared."""
    for name in ("switches", "last", "longest", "lengths"):
        values = getattr(sample, name).astype(float)
        yield name, values
        yield f"{name} squared", values**2
        yield f"log of {name}", np.log1p(values)
    for i in range(sample.pulls.shape[1]):
        yield f"pulls of arm {i}", sample.pulls[:, i].astype(float)
        yield f"log of pulls of arm {i}", np.log(sample.pulls[:, i] + 1.0)
        for j, t in enumerate(sample.rounds):
            yield f"arm {i} in round {t}", (sample.arms[:, j] == i).astype(float)


def largest_z(one: Sample, two: Sample) -> tuple[float, str]:
    found = []
    for (name, a), (_, b) in zip(statistics(one), statistics(two), strict=True):
        spread = np.sqrt(a.var() / len(a) + b.var() / len(b))
        if a.mean() != b.mean():
            found.append((abs(a.mean() - b.mean()) / spread if spread > 0 else np.inf, name))
    return max(found, default=(0.0, "all equal"))


LEAPING = [
    eq.UCBHare(),
    eq.WelfaristUCB(p=-2),
    eq.ExploreThenUCB(p=-2),
    eq.NashConfidenceBound(c=0.3),
    eq.UCB(delta=0.5),
    Template(each=2),
]
GAUSSIAN = {
    "a gap of half a sigma": ([1.0, 1.5], 1.0, 2001),
    "equal arms": ([3.0, 3.0], 1.0, 500),
    "a huge gap": ([0.0, 900.0, 30.0], 1.0, 700),
    "seven arms, one of mean 0": ([0.0, 2.0, 1.9, 2.0, 0.5, 2.001, 1.0], 0.25, 1500),
    "one arm": ([1.0], 1.0, 33),
    "one round": ([1.0, 2.0], 1.0, 1),
    "few rounds": ([1.0, 0.2, 1.1], 0.05, 11),
}
BERNOULLI = {
    "a small gap": ([0.5, 0.55], 2001),
    "equal arms": ([0.3, 0.3], 500),
    "mean 0 and mean 1": ([0.0, 1.0, 0.5], 300),
    "all of mean 1": ([1.0, 1.0], 100),
    "rare successes": ([0.004, 0.002, 0.01], 3000),
    "seven arms": ([0.0, 0.2, 0.19, 0.2, 0.05, 0.21, 0.1], 1500),
    "few rounds": ([0.5, 0.5, 0.9], 11),
}
INSTANCES = {f"Gaussian, {name}": (eq.Instance.gaussian(m, s), t) for name, (m, s, t) in GAUSSIAN.items()}
INSTANCES |= {f"Bernoulli, {name}": (eq.Instance.bernoulli(m), t) for name, (m, t) in BERNOULLI.items()}


@pytest.mark.parametrize("policy", LEAPING, ids=lambda policy: policy.label)
def test_leap_and_step_agree_in_law(policy: eq.Policy) -> None:
    for name, (arms, horizon) in INSTANCES.items():
        runs = 10_000
        one = sampled(policy, arms, horizon, runs, 1)
        two = sampled(policy, arms, horizon, runs, 2, step)
        z, what = largest_z(one, two)
        assert z < LIMIT, f"{name}: {what}"


def test_fifty_arms_agree_in_law() -> None:
    arms, horizon = eq.instances.uniform_means(), 20_000
    one = sampled(eq.UCBHare(), arms, horizon, 4000, 1)
    two = sampled(eq.UCBHare(), arms, horizon, 4000, 2, step)
    z, what = largest_z(one, two)
    assert z < LIMIT, what


# Where the engine is most sensitive: a bound on Bernoulli arms has more to spare, and takes longer to break.
CLOSE = eq.Instance.gaussian([1.0, 1.05], 1.0)
APART = eq.Instance.bernoulli([0.2, 0.5])
DOUBTFUL = {
    "slack with the wrong sign": ("return slack > 0.0", "return slack < 0.0"),
    "the right half looked at first": (
        "            if jump == 0 or sure(data, arm, jump, slack, slacks[top], cut):",
        "            if jump == 0 or top > 0 or sure(data, arm, jump, slack, slacks[top], cut):",
    ),
    "a chance of e^-2 that will do": ("cut = log(2.0 * horizon / TOLERANCE)", "cut = 2.0"),  # with long strides
    "ends that are not looked at": ("if jump == 0:\n", "if jump == 64:\n"),
}


def long_stride(law, arm, slack):
    """So long that most stretches dip: it costs time, changes no law, and lets nothing be accepted carelessly."""
    return 64.0 * slack * slack


def close_z(engine: ModuleType, arms: eq.Instance = CLOSE, **broken: Any) -> tuple[float, str]:
    runs, horizon = (100_000, 1000) if arms is CLOSE else (200_000, 3000)
    one = sampled(eq.UCB(delta=1.0), arms, horizon, runs, 3, engine, stride=long_stride, **broken)
    return largest_z(one, reference(arms, horizon, runs))


@cache
def reference(arms: eq.Instance, horizon: int, runs: int) -> Sample:
    return sampled(eq.UCB(delta=1.0), arms, horizon, runs, 4, step)


@pytest.mark.parametrize("arms", [CLOSE, APART], ids=lambda arms: arms.family)
def test_the_right_engine_passes_the_sharp_test(arms: eq.Instance) -> None:
    z, what = close_z(leap, arms)
    assert z < LIMIT, what


@pytest.fixture
def broken_engine(tmp_path: Path) -> Iterator[Any]:
    names = []

    def make(right: str, wrong: str) -> ModuleType:
        text = Path(leap.__file__).read_text()
        assert text.count(right) == 1
        names.append("broken_leap")
        (tmp_path / "broken_leap.py").write_text(text.replace(right, wrong))
        return load(tmp_path / "broken_leap.py")

    yield make
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("how", DOUBTFUL)
@pytest.mark.parametrize("arms", [CLOSE, APART], ids=lambda arms: arms.family)
def test_a_broken_engine_is_caught(how: str, arms: eq.Instance, broken_engine: Any) -> None:
    assert close_z(broken_engine(*DOUBTFUL[how]), arms)[0] > LIMIT


def test_a_bridge_of_wrong_variance_is_caught() -> None:
    assert close_z(leap, CLOSE, midway=loose_midway)[0] > LIMIT


def loose_midway(law, arm, level, change, stream):
    """A bridge whose variance is 5 % too large."""
    middle = MIDWAY(law, arm, level, change, stream)
    return 0.5 * change + 1.0246950765959598 * (middle - 0.5 * change)


MIDWAY = walks.midway_gaussian


class Codes(NamedTuple):
    """A recorder: how often each sequence of two arms came."""

    counts: np.ndarray
    now: np.ndarray  # the arm, since, the code so far


def open_code(codes, run):
    codes.now[0] = 0
    codes.now[1] = 0
    codes.now[2] = 0


def enter_code(codes, t, arm):
    for round_before in range(codes.now[1], t):
        codes.now[2] += codes.now[0] << round_before
    codes.now[0] = arm
    codes.now[1] = t


def close_code(codes, prepared, horizon, n):
    enter_code(codes, horizon, 0)
    codes.counts[codes.now[2]] += 1


def exact_chances(twin: naive.Twin, means: list[float], horizon: int) -> np.ndarray:
    """The chance of every sequence of arms, over all orders and rewards."""
    chances = np.zeros(2**horizon)

    def follow(twin: naive.Twin, t: int, code: int, chance: float) -> None:
        if t == horizon:
            chances[code] += chance
            return
        for arm, of_arm in enumerate(twin.probabilities()):
            for reward, of_reward in ((1.0, means[arm]), (0.0, 1.0 - means[arm])):
                if of_arm * of_reward > 0.0:
                    after = deepcopy(twin)
                    after.update(arm, reward)
                    follow(after, t + 1, code | (arm << t), chance * of_arm * of_reward)

    follow(twin, 0, 0, 1.0)
    return chances


@pytest.mark.parametrize("horizon", [3, 8])
@pytest.mark.parametrize(("means", "delta"), [([0.3, 0.6], 1.0), ([0.5, 0.5], 1.0), ([0.9, 0.0], 0.1)])
def test_leaped_runs_come_as_often_as_enumeration_says(horizon: int, means: list[float], delta: float) -> None:
    """10^7 runs. Pearson's statistic is beyond its mean by 8 standard deviations with a chance below 1e-9."""
    policy, arms, runs = eq.UCB(delta=delta), eq.Instance.bernoulli(means), 10**7
    page, codes = page_of(policy), Codes(np.zeros(2**horizon, np.int64), np.zeros(3, np.int64))
    given = {"begin": begin, **page.verbs, "draw": arms.draw, **arms.walk._asdict(), "exploit": leap.exploit}
    given |= {"open_run": open_code, "enter": enter_code, "close_run": close_code}
    p, state, stream = policy.params(2, horizon, arms.sigma), page.allocate(2), np.zeros(4, np.uint64)
    desk = desk_for(2, np.zeros(3, np.int64))
    kernel(tuple(given.items()))(0, runs, make_key(9), horizon, p, state, arms.data, stream, desk, codes)
    chances = exact_chances(naive.UCB(2, horizon, arms.sigma, delta=delta), means, horizon)
    assert chances.sum() == pytest.approx(1.0)
    assert codes.counts[chances == 0.0].sum() == 0
    expected = runs * chances[chances > 0.0]
    pearson = ((codes.counts[chances > 0.0] - expected) ** 2 / expected).sum()
    freedom = len(expected) - 1
    assert pearson < freedom + 8.0 * np.sqrt(2.0 * max(freedom, 1)) + 20.0


def test_a_leap_reaches_a_trillion_rounds() -> None:
    """Regret at T = 10^12, p = 1: the pulls of the second arm are about 2σ²·2L/Δ², within a factor of 2."""
    arms = eq.Instance.gaussian([1000.0, 1001.0], 1.0)
    result = eq.simulate(arms, eq.UCB(), horizon=10**12, runs=20, seed=1, engine="leap")
    pulls = result.pulls().mean_pulls
    L = np.log(8.0 * 2 * 10**12 * 10**12)
    assert pulls.sum() == pytest.approx(10**12)
    assert 0.5 < pulls[0] / (2.0 * L) < 2.0


def test_leaped_numbers_change_no_bit_with_workers_and_chunks() -> None:
    arms = eq.instances.uniform_means()
    results = [
        eq.simulate(arms, eq.UCBHare(), horizon=10**6, runs=100, seed=5, engine="leap", workers=w, chunk=c)
        for w, c in ((1, None), (2, 7), (7, 1))
    ]
    late = eq.simulate(arms, eq.UCBHare(), horizon=10**6, runs=range(50, 100), seed=5, engine="leap")
    early = eq.simulate(arms, eq.UCBHare(), horizon=10**6, runs=50, seed=5, engine="leap")
    for other in (*results[1:], late.merge(early)):
        assert results[0].tallies[0].same(other.tallies[0])
