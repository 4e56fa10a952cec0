"""The theory's functions: against sums and integrals, naive twins, and each other over wide ranges."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import islice
from math import ceil, erfc, exp, floor, fsum, inf, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.integrate import quad

from equipoise import theory, welfare
from equipoise.arguments import ArgumentError
from equipoise.schedule import harmonic
from equipoise.theory.bounds import reward_floor
from equipoise.theory.harmonic import tight_frontier
from equipoise.theory.information import EXACT, success_envelope

arms = some.integers(2, 3000)
horizons = some.integers(1, 10**6) | some.floats(0.0, 12.0).map(lambda x: int(10.0**x))
fairness = some.floats(0.02, 20.0)
scales = some.floats(-4.0, 4.0).map(lambda x: 10.0**x)


# Harmonic sums and the schedule.


@pytest.mark.parametrize("k", [1, 2, 3, 7, 999, 1000, 1001, 1002, 40_000])
@pytest.mark.parametrize("q", [1e-9, 0.3, 0.999999999, 1.0, 1.000000001, 2.0, 7.5, 40.0])
def test_harmonic_sums_are_the_sums(k: int, q: float) -> None:
    assert theory.harmonic_number(k) == pytest.approx(fsum(1.0 / r for r in range(1, k + 1)), rel=1e-13)
    exact = fsum((k / r) ** q for r in range(1, k + 1))
    assert theory.harmonic_penalty(k, q) == pytest.approx(exact, rel=1e-11)
    low, high = theory.harmonic_penalty_range(k, q)
    assert low <= exact * (1.0 + 1e-12)
    assert exact <= high * (1.0 + 1e-12)


def test_the_three_regimes_of_the_harmonic_penalty() -> None:
    """K_q(k) over k/(1 - q), k·log k and k^q·ζ(q) tends to 1; near q = 1 it is not 1/|q - 1| that counts."""
    k = 10**12
    assert theory.harmonic_penalty(k, 0.5) / (2.0 * k) == pytest.approx(1.0, abs=1e-5)
    assert theory.harmonic_penalty(k, 1.0) / (k * log(k)) == pytest.approx(1.0, abs=0.03)
    assert theory.harmonic_penalty(k, 2.0) / k**2.0 == pytest.approx(np.pi**2 / 6.0)
    assert theory.harmonic_penalty(k, 0.999) < 30.0 * k  # 1/(1 - q) is 1000
    assert theory.harmonic_penalty(10**6, 1000.0) == inf


@pytest.mark.parametrize("k", [1, 2, 5, 30, 64])
def test_prefixes_of_the_schedule_are_balanced(k: int) -> None:
    """Both constants, at every block; with 0 for the 1 the statement is false, so the test can see."""
    seen: Counter[int] = Counter()
    ranks, broken = np.arange(1, k + 1), False
    assert not theory.prefix_balance(k, ranks, 0).any()
    for b, r in enumerate(islice(harmonic(k), 2000), 1):
        seen[r] += 1
        counts = np.array([seen[x] for x in ranks])
        assert (counts >= theory.prefix_balance(k, ranks, b)).all()
        assert (counts >= theory.prefix_balance(k, ranks, b, tight=True)).all()
        broken |= bool((counts < b / (ranks * theory.harmonic_number(k)) - 1e-9).any())
    assert broken == (k > 1)


@pytest.mark.parametrize("k", [1, 2, 5, 30])
@pytest.mark.parametrize("n_star", [1, 2, 7, 20])
def test_the_frontier_is_reached_in_time(k: int, n_star: int) -> None:
    S = int(theory.frontier_blocks(k, n_star))
    blocks = 8 * k * S + 1
    ranks = np.array(list(islice(harmonic(k), blocks)))
    due = [int(np.flatnonzero(ranks == r)[n_star - 1]) + 1 for r in range(1, k + 1)]  # the block of the n⋆-th time
    worst = np.maximum.accumulate(due)
    assert (worst <= tight_frontier(k, n_star)).all()
    assert (tight_frontier(k, n_star) <= S * np.arange(1, k + 1)).all()
    for b in (1, 8 * S, 8 * S + 1, blocks // 2 + 1, blocks):
        a = int(theory.frontier(k, S, b))
        assert a == min(k, (b - 1) // (8 * S))
        assert a == 0 or worst[a - 1] <= b - 1
    assert 2 * blocks <= theory.preparation_window(k, S)


@given(sigma=scales, mu=scales, L=some.floats(0.1, 100.0), k=arms)
def test_critical_samples_and_what_the_2_in_the_paper_pays_for(sigma: float, mu: float, L: float, k: int) -> None:
    """n⋆ is at most x + 1, not x + 2; the 2 that the paper allows also pays for the ceiling in S."""
    x, n_star = 128.0 * (sigma / mu) ** 2 * L, theory.critical_samples(sigma, mu, L)
    assert max(x * (1.0 - 1e-12), 1.0) <= n_star <= x * (1.0 + 1e-12) + 1.0
    H = theory.harmonic_number(k)
    assert theory.frontier_blocks(k, n_star) <= H * (x + 2.0) * (1.0 + 1e-12)


# Linearisations.


@given(x=some.lists(some.floats(0.0, 1.0), min_size=1, max_size=6), p=some.floats(-30, 30), r=some.floats(-30, 30))
def test_power_means_rise(x: list[float], p: float, r: float) -> None:
    low, high = min(p, r), max(p, r)
    assert welfare.pmean(x, low) <= welfare.pmean(x, high) * (1.0 + 1e-9)
    assert theory.power_mean_gain(x, low, high) >= 0.0


@given(x=some.lists(some.floats(1e-3, 1.0), min_size=1, max_size=6), q=some.floats(0.01, 20.0), best=scales)
def test_regret_is_below_its_first_linearisation(x: list[float], q: float, best: float) -> None:
    rewards = best * np.array(x)
    penalty = welfare.inverse_penalty(rewards, q, best)
    regret = theory.regret_of_penalty(penalty, len(x), best, q)
    assert regret == pytest.approx(welfare.regret(rewards, -q, best), rel=1e-6, abs=1e-12 * best)
    assert regret <= theory.first_linearisation(penalty, len(x), best, q) * (1.0 + 1e-12)


@given(q=fairness, x=some.floats(0.0, 1.0), floor=some.floats(0.01, 0.95))
def test_the_second_linearisation(q: float, x: float, floor: float) -> None:
    x = floor + (1.0 - floor) * x
    paper, tight = theory.second_linearisation(q, floor), theory.second_linearisation(q, floor, tight=True)
    assert x**-q - 1.0 <= tight * (1.0 - x) * (1.0 + 1e-9) + 1e-12
    assert tight <= paper * (1.0 + 1e-12)
    assert floor**-q - 1.0 > 0.99 * tight * (1.0 - floor)  # at the floor it can't be less


# Information.


def naive_information(k: int, s: float) -> float:
    return s * log(k * s) + ((1.0 - s) * log(k * (1.0 - s) / (k - 1.0)) if s < 1.0 else 0.0)


@given(k=some.integers(2, 10**6), x=some.floats(0.0, 1.0))
def test_information_and_its_inverse(k: int, x: float) -> None:
    s = 1.0 / k + x * (1.0 - 1.0 / k)
    known = theory.success_information(k, s)
    assert known == pytest.approx(naive_information(k, s), rel=1e-9, abs=1e-14)
    back = theory.largest_success(k, known)
    assert back == pytest.approx(s, rel=1e-6)
    assert theory.success_information(k, back) >= known * (1.0 - 1e-9)
    assert theory.largest_success(k, 0.0) == 1.0 / k
    assert theory.largest_success(k, log(k) + x) == 1.0


def known_and_right(guess: np.ndarray) -> tuple[float, float]:
    """I(J; Ĵ) and P(Ĵ = J), where row j is the law of Ĵ given J = j, and J is uniform."""
    joint = guess / guess.sum(axis=1, keepdims=True) / len(guess)
    return float((joint * np.log(joint * len(guess) / joint.sum(axis=0))).sum()), float(np.trace(joint))


@pytest.mark.parametrize("k", [2, 3, 8])
def test_fano_converse(k: int) -> None:
    """Estimators of every kind know at least d_k of how often they are right; those that err evenly, no more."""
    rng = np.random.default_rng(k)
    for sharpness in (0.0, 0.3, 3.0, 30.0):
        for _ in range(50):
            known, right = known_and_right(rng.dirichlet(np.ones(k), size=k) + sharpness * np.eye(k))
            assert known >= theory.success_information(k, max(right, 1.0 / k)) - 1e-12
        known, right = known_and_right(np.ones((k, k)) + sharpness * np.eye(k))
        assert known == pytest.approx(theory.success_information(k, right), abs=1e-12)


@given(q=some.floats(1e-6, 50.0))
def test_the_constant_of_the_lower_bound(q: float) -> None:
    integral = quad(lambda u: u ** (-q - 1.0) * log(u), 1.0, 2.0)[0]
    expected = (1.0 - 2.0**-q) * 2.0**-q * integral
    assert theory.penalty_constant(q) == pytest.approx(expected, rel=1e-6)
    assert expected < 2.0**q - 1.0


def naive_recursion(k: int, T: int, lam: float) -> np.ndarray:
    """r_t = d_k⁻¹(I_t), I_{t+1} = I_t + λ·r_t, by bisection, round by round."""
    known, found = 0.0, np.ones(T)
    for t in range(T):
        low, high = 1.0 / k, 1.0
        if known >= log(k):
            break
        for _ in range(45):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if naive_information(k, middle) < known else (low, middle)
        found[t] = high
        known += lam * high
    return found


@pytest.mark.parametrize("k", [8, 40])
@pytest.mark.parametrize("lam", [1e-4, 0.02, 0.5, 40.0])
@pytest.mark.parametrize("q", [0.3, 1.0, 3.0])
def test_the_costs_of_the_recursion(k: int, lam: float, q: float) -> None:
    """The recursion, which spends as little as the inequalities allow, costs at least what every lemma says; the
    integral is not idle: ten times of it would be too much."""
    T = 1500
    r = naive_recursion(k, T, lam)
    cost = float((r**-q - 1.0).sum())
    paper = theory.negative_power_cost(k, q, T, lam)
    bound = power_cost(k, q, T, lam)
    assert paper <= bound.value * (1.0 + 1e-9)
    assert bound.value <= cost
    assert cost < 10.0 * bound.value or lam > 1.0 or bound.term == "horizon"


def power_cost(k: int, q: float, T: int, lam: float) -> theory.Bound:
    return theory.information_cost(
        lambda s: s**-q - 1.0, lambda s: log(s * (k - 1.0) / (1.0 - s)), lambda s: s, 1.0 / k, 0.5, T, lam
    )


@given(seed=some.integers(0, 10**6), lam=some.floats(1e-3, 3.0))
@settings(max_examples=40)
def test_information_cost_of_any_objective(seed: int, lam: float) -> None:
    """Policies that learn at any pace they may: average, Nash and a step cost; φ, ψ other than the needle's."""
    rng = np.random.default_rng(seed)
    s0, T = float(rng.uniform(0.01, 0.4)), 400
    known, s = 0.0, np.empty(T)
    for t in range(T):  # φ(s) = (s - s0)², ψ(s) = √s
        s[t] = s0 + rng.uniform(0.5, 1.0) * min(sqrt(known), 1.0 - s0)
        known += rng.uniform(0.5, 1.0) * lam * sqrt(s[t])
    s_star = float(rng.uniform(s0 + 0.01, 1.0))
    costs: list[Callable[[float], float]] = [lambda x: 1.0 - x, lambda x: -log(x), lambda x: float(x < 0.7)]
    for c in costs:
        bound = theory.information_cost(c, lambda x: 2.0 * (x - s0), sqrt, s0, s_star, T, lam)
        assert sum(c(float(x)) for x in s) >= bound.value * (1.0 - 1e-6)


def test_information_cost_says_which_term_decides() -> None:
    assert power_cost(8, 1.0, 10, 1e-6).term == "horizon"
    assert power_cost(8, 1.0, 10**6, 1.0).term == "information"


# What no policy can beat.


@pytest.mark.parametrize("k", [2, 3, 8, 100])
@pytest.mark.parametrize("mu", [0.001, 0.1, 1.0, 3.0, 10.0])
def test_no_second_guess_beats_the_envelope(k: int, mu: float) -> None:
    """After one normal reward the best guess hits the needle with chance 2Φ(μ/2)/k: exact, and within the envelope."""
    success, rounds = success_envelope(k, 2, np.array([0.5 * mu * mu]), 100)
    best = min(erfc(-mu / sqrt(8.0)) / k, 1.0)
    assert success[0, 0] == pytest.approx(1.0 / k)
    assert best <= success[0, 1] * (1.0 + 1e-12)
    assert rounds.sum() == 2.0


@pytest.mark.parametrize("k", [2, 8, 60])
@pytest.mark.parametrize("mu", [0.003, 0.05, 0.4, 4.0])
@pytest.mark.parametrize("q", [0.5, 1.0, 2.0, 30.0])
def test_leaps_in_t_err_to_one_side_and_little(k: int, mu: float, q: float) -> None:
    """Against the same recursion run round by round: never above, and by less than a hundredth of the mean below."""
    T, lam, p = 600 if mu > 0.01 else 2500, 0.5 * mu * mu, 1.0 / k
    root = p + np.sqrt(lam * np.arange(T) / (2.0 * k))
    known, r = 0.0, np.empty(T)
    for t in range(T):
        by_information = float(theory.largest_success(k, known)) if known < log(k) else 1.0
        r[t] = min(by_information, root[t])
        known += lam * (by_information if t >= EXACT else r[t])
    exact = mu * float(welfare.regret(r, -q, 1.0))
    leaped = theory.needle_regret(k, T, 1.0, mu, -q)
    assert leaped <= exact
    assert leaped >= exact - 0.01 * mu
    assert leaped >= mu * float(welfare.regret(naive_recursion(k, T, lam), -q, 1.0)) - 0.01 * mu


def test_a_trillion_rounds_are_like_a_million() -> None:
    """Where nothing happens at once, only λT counts: μ√T is the same, and so is the regret times √T."""
    million = theory.lower_bound(32, 10**6, 1.0, 2.0, sharp=True).value * 1e3
    trillion = theory.lower_bound(32, 10**12, 1.0, 2.0, sharp=True).value * 1e6
    assert trillion == pytest.approx(million, rel=0.01)


@given(k=arms, T=horizons, sigma=scales, q=fairness, mu=scales, delta=some.floats(1e-12, 1.0) | some.none())
@settings(max_examples=60)
def test_bounds_are_in_order(k: int, T: int, sigma: float, q: float, mu: float, delta: float | None) -> None:
    """lower ≤ sharp ≤ upper and tight ≤ upper at equal mu_max and μ⋆; on one needle, sharp ≤ tight."""
    sharp = theory.lower_bound(k, T, sigma, q, mu_max=mu, sharp=True)
    upper = theory.upper_bound(k, T, sigma, mu, q, delta)
    tight = theory.upper_bound(k, T, sigma, mu, q, delta, tight=True)
    assert 0.0 < sharp.value <= min(mu, upper.value)
    assert tight.value <= min(mu, upper.value)
    assert theory.needle_regret(k, T, sigma, mu, -q) <= tight.value
    assert theory.needle_regret(k, T, sigma, mu, -q) <= sharp.value * (1.0 + 2e-3) + 0.01 * mu
    if k >= 8:
        assert theory.lower_bound(k, T, sigma, q, mu_max=mu).value <= sharp.value


@given(k=some.integers(8, 3000), T=horizons, sigma=scales, q=fairness)
@settings(max_examples=25)
def test_the_sharp_bound_is_never_below_the_papers(k: int, T: int, sigma: float, q: float) -> None:
    paper, sharp = (theory.lower_bound(k, T, sigma, q, sharp=x) for x in (False, True))
    assert paper.value <= sharp.value
    needle = -np.expm1(-np.log1p(theory.penalty_constant(q)) / q)
    if q * log(k) < 300.0 and q >= 1.0:  # the theorem's own term, and the recursion beats it by far
        assert sharp.value > 3.0 * needle * sigma * sqrt(k**q / T)


@given(k=arms, T=horizons, mu=scales, p=some.floats(-20.0, 1.0) | some.sampled_from([0.0, 1.0, -inf]))
def test_the_first_participant(k: int, T: int, mu: float, p: float) -> None:
    alone = theory.first_participant_regret(k, T, mu, p)
    if p == 1.0:
        assert alone == pytest.approx(mu * (1.0 - 1.0 / k) / T, rel=1e-9)
    elif p == 0.0:
        assert alone == pytest.approx(-mu * np.expm1(-log(k) / T), rel=1e-9)
    elif p < 0.0 and -p * log(k) < 600.0:
        q = -p
        assert alone == pytest.approx(-mu * np.expm1(-np.log1p(np.expm1(q * log(k)) / T) / q), rel=1e-6)
    assert theory.first_participant_regret(k, T, 1000.0 * mu, p) == pytest.approx(1000.0 * alone)
    assert alone <= theory.needle_regret(k, T, mu / 100.0, mu, p) * (1.0 + 1e-6)


def test_without_a_bound_on_the_best_mean_regret_has_none() -> None:
    values = theory.lower_bound(8, 1000, 1.0, 2.0, mu_max=[1e2, 1e4, 1e6], sharp=True).value
    assert (values[1:] > 90.0 * values[:-1]).all()


@given(k=arms, T=horizons, sigma=scales, mu=scales)
def test_the_baseline(k: int, T: int, sigma: float, mu: float) -> None:
    C = 0.75 * (1.0 - 1.0 / k) ** 2
    assert theory.average_baseline(k, T, sigma) == pytest.approx(C * sigma * sqrt(k / T))
    capped = theory.average_baseline(k, T, sigma, mu)
    assert 0.0 < capped <= min(mu, theory.average_baseline(k, T, sigma) * (1.0 + 1e-9))


# What UCB-HARE achieves.


def by_the_lemmas(k: int, T: int, sigma: float, mu: float, q: float) -> float:
    """What the lemmas' sum gives through the first linearisation."""
    S = theory.frontier_blocks(k, theory.critical_samples(sigma, mu, theory.log_term(k, T)))
    total = theory.preparation_penalty(k, S, q) + theory.exploitation_penalty(k, T, sigma / mu, q)
    return float(theory.first_linearisation(total, T, mu, q))


@given(q=some.floats(0.05, 8.0), k=some.integers(1, 500), T=horizons, sigma=scales, mu=scales)
def test_the_theorem_is_above_its_lemmas(q: float, k: int, T: int, sigma: float, mu: float) -> None:
    lemmas = min(by_the_lemmas(k, T, sigma, mu, q), mu)
    assert theory.upper_bound(k, T, sigma, mu, q, tight=True).value <= lemmas * (1.0 + 1e-9)
    assert lemmas <= theory.upper_bound(k, T, sigma, mu, q).value * (1.0 + 1e-9)


@given(q=some.floats(0.05, 8.0), k=some.integers(1, 500), T=horizons, above=some.floats(1.0, 10.0))
def test_the_constant_of_the_theorem_is_the_proofs(q: float, k: int, T: int, above: float) -> None:
    """Where μ⋆ is above μ_0, the lemmas alone are below the theorem; just above it, they nearly are the theorem."""
    H, K = theory.harmonic_number(k), theory.harmonic_penalty(k, q)
    mu_0 = sqrt(H * K * theory.log_term(k, T) / T)
    assert by_the_lemmas(k, T, 1.0, above * mu_0, q) <= theory.upper_bound(k, T, 1.0, above * mu_0, q).value
    if T > 10**6 * H * K:
        assert by_the_lemmas(k, T, 1.0, mu_0, q) > 0.8 * theory.upper_bound(k, T, 1.0, mu_0, q).value


def test_the_upper_bound_becomes_small() -> None:
    """Of order T^(-1/2) in the end, so the tight bound is not idle."""
    few, many = (theory.upper_bound(10, T, 1.0, 1.0, 2.0, tight=True).value for T in (10**10, 10**12))
    assert many < 1e-3
    assert few / many == pytest.approx(10.0, rel=0.5)


def naive_tight_penalty(k: int, T: int, sigma: float, mu: float, q: float, delta: float) -> float:
    """The inverse penalty round by round: the floor of each round's frontier, then the chord over all shortfalls."""
    L, H = log(8.0 * k * T / delta), fsum(1.0 / r for r in range(1, k + 1))
    n_star, sure = ceil(128.0 * sigma**2 * L / mu**2), 1.0 - delta / 4.0
    due = [floor(r * n_star * H) for r in range(1, k + 1)]
    costs, left = [], 0
    for t in range(1, T + 1):
        a = sum(ceil(t / 2) - 1 >= d for d in due)
        if a < k:
            costs.append((sure * max(4.0, 3.0 * a + 1.0) / (8.0 * k)) ** -q - 1.0)
        else:
            left += 1
    m, n = ceil(32.0 * sigma**2 * L / mu**2), left / k
    bonus = 2.0 * sigma * sqrt(2.0 * L) * k * 2.0 * (sqrt(m - 1.0 + n) - sqrt(m - 1.0)) / mu
    short = sure * min(bonus, left / 2.0) + delta / 4.0 * left
    return fsum(costs) + ((sure / 2.0) ** -q - 1.0) / (1.0 - sure / 2.0) * short


@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("T", [1, 2, 301, 6000])
@pytest.mark.parametrize("mu", [0.3, 9.0, 60.0])
@pytest.mark.parametrize("q", [0.4, 3.0])
def test_the_tight_bound_is_its_naive_twin(k: int, T: int, mu: float, q: float) -> None:
    for delta in (1.0 / T, 0.3):
        tight = theory.upper_bound(k, T, 1.0, mu, q, delta, tight=True)
        naive = theory.regret_of_penalty(naive_tight_penalty(k, T, 1.0, mu, q, delta), T, mu, q)
        assert tight.value == pytest.approx(naive, rel=1e-6)


@given(k=arms, a=some.integers(0, 3000), delta=some.floats(1e-9, 1.0))
def test_the_tight_floor_is_above_the_papers(k: int, a: int, delta: float) -> None:
    a = min(a, k)
    assert theory.reward_floor(k, a) <= reward_floor(k, a, tight=True, delta=delta) <= 0.5


def test_arrays_in_arrays_out() -> None:
    upper = theory.upper_bound(np.array([[8], [16]]), [100, 1000, 10**9], 1.0, 1.0, 2.0, tight=True)
    assert upper.value.shape == upper.term.shape == (2, 3)
    assert upper.value[1, 2] == theory.upper_bound(16, 10**9, 1.0, 1.0, 2.0, tight=True).value
    lower = theory.lower_bound([8, 16], 1000, 1.0, [1.0, 3.0], sharp=True)
    assert lower.value[1] == theory.lower_bound(16, 1000, 1.0, 3.0, sharp=True).value
    assert theory.harmonic_penalty([[2], [3]], [0.5, 1.0, 2.0]).shape == (2, 3)
    assert theory.needle_regret(8, [10, 20], 1.0, 0.5, [0.0, 1.0]).shape == (2,)


def test_every_function_is_documented_and_in_the_manual() -> None:
    told = (Path(__file__).parent.parent / "docs" / "theory.md").read_text()
    public = {name for name, found in vars(theory).items() if callable(found) and not name.startswith("_")}
    assert all(theory.__dict__[name].__doc__ for name in public)
    assert public - {"Bound"} <= set(re.findall(r"`(\w+)(?:\(.*?\))?`", told))


def test_corners() -> None:
    """T = 1, where δ = 1/T is 1; one arm; σ that dwarfs the means, and the other way round."""
    assert theory.upper_bound(5, 1, 1.0, 1.0, 1.0, tight=True).value >= 1.0 - 1.0 / 5.0
    assert theory.upper_bound(1, 10, 1.0, 1.0, 1.0, tight=True).value <= 1.0
    assert theory.upper_bound(5, 10**6, 1e-9, 1.0, 1.0, tight=True).value < 0.001
    assert theory.lower_bound(8, 1, 1.0, 1.0, mu_max=1e6, sharp=True).value == pytest.approx(1e6 * (1 - 1 / 8))
    assert theory.upper_bound(8, 100, 1.0, 1.0, 1000.0, tight=True).value <= 1.0
    assert theory.lower_bound(8, 100, 1.0, 1000.0, mu_max=1.0, sharp=True).value > 0.8


BAD: list[tuple[Callable[..., Any], str]] = [
    (lambda: theory.lower_bound(5, 100, 1.0, 2.0), "k is 5, but the paper's Theorem lower-main-restated needs k ≥ 8"),
    (lambda: theory.negative_power_cost(5, 1.0, 10, 1.0), "Lemma det-cost needs k ≥ 8"),
    (lambda: theory.lower_bound(1, 100, 1.0, 2.0, sharp=True), "k is 1; give a whole number of at least 2"),
    (lambda: theory.lower_bound(8, 0, 1.0, 2.0), "T is 0"),
    (lambda: theory.lower_bound([8, 9.5], 10, 1.0, 2.0), "k is 9.5"),
    (lambda: theory.lower_bound(8, 10, 1.0, 0.0), "q is 0; give a finite number above 0"),
    (lambda: theory.lower_bound(8, 10, 1.0, "two"), "q is 'two'"),
    (lambda: theory.lower_bound(8, 10, 1.0, 1.0, mu_max=inf), "mu_max is inf"),
    (lambda: theory.lower_bound(8, 10, 1.0, 1000.0), "mu_max is inf; give a finite number above 0"),
    (lambda: theory.upper_bound(8, 10, 1.0, 1.0, 1.0, delta=0.0), r"delta is 0; give a number in \(0, 1\]"),
    (lambda: theory.upper_bound(8, 10, 1.0, 1.0, 1.0, delta=1.5), "delta is 1.5"),
    (lambda: theory.upper_bound(8, 10, -1.0, 1.0, 1.0), "sigma is -1"),
    (lambda: theory.upper_bound(10**8, 10, 1.0, 1.0, 1.0, tight=True), "k is 100000000; give at most"),
    (lambda: theory.success_information(4, 0.1), "s is 0.1; give a chance from 1/k to 1"),
    (lambda: theory.largest_success(4, -0.1), "information is -0.1"),
    (lambda: theory.prefix_balance(4, 5, 10), "r is 5; give a rank from 1 to k"),
    (lambda: theory.power_mean_gain([1.0], 1.0, 0.0), "p is 1.0, which is above r"),
    (lambda: theory.needle_regret(4, 10, 1.0, 1.0, 2.0), "p is 2.0"),
    (lambda: theory.first_participant_regret(4, 10, 1.0, 2.0), "p is 2.0"),
    (lambda: theory.second_linearisation(1.0, floor=1.0), "floor is 1.0"),
    (lambda: theory.regret_of_penalty(-1.0, 10, 1.0, 1.0), "penalty is -1.0"),
    (lambda: theory.information_cost(exp, exp, exp, 0.1, 0.5, 10, 1.0), "c rises"),
    (lambda: theory.information_cost(lambda s: 1 - s, exp, lambda s: 1 - s, 0.1, 0.5, 10, 1.0), "psi falls"),
    (lambda: theory.information_cost(lambda s: 1 - s, lambda s: -1.0, exp, 0.1, 0.5, 10, 1.0), "dphi is below 0"),
    (lambda: theory.information_cost(lambda s: 1 - s, exp, exp, 0.5, 0.5, 10, 1.0), "s_star is 0.5"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_ends_in_one_sentence(call: Callable[..., Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message) as raised:
        call()
    assert str(raised.value).count(". ") == 0
    assert str(raised.value).endswith(".")
