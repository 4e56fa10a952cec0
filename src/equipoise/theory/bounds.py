"""What no policy can beat and what UCB-HARE achieves: the paper's bounds with their constants, and sharper ones.

`p` and q = -p are as in the paper; every bound is one on the regret μ⋆ - M_{-q} at horizon T. Docs: `docs/theory.md`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise import welfare
from equipoise.arguments import ArgumentError, exponent, number
from equipoise.theory.domain import Array, Bound, confidence, largest, one_whole, positives, wholes
from equipoise.theory.harmonic import (
    critical_samples,
    harmonic_number,
    harmonic_penalty,
    log_term,
    tight_frontier,
)
from equipoise.theory.information import ROUND, needs_eight, penalty_constant, success_envelope

CELLS = 500  # of levels, while the hardest needle is looked for
FINE_CELLS = 10_000  # and for the bound itself
MOST_ARMS = 10_000_000  # that are summed one by one

ANY_POLICY = "any policy, on the worst instance of σ-sub-Gaussian arms with means from 0 to mu_max"
HARE = "UCB-HARE with this δ (1/T unless given), σ-sub-Gaussian arms, means of at least 0, μ⋆ as given"


def power_mean_gain(x: npt.ArrayLike, p: float, r: float, axis: int = -1) -> Array:
    """M_r - M_p, at least 0 for p ≤ r (paper, Lemma power-monotone), so regret falls as p rises."""
    if exponent("p", p) > exponent("r", r):
        raise ArgumentError(f"p is {p!r}, which is above r = {r!r}; give the smaller exponent first.")
    return np.maximum(welfare.pmean(x, r, axis=axis) - welfare.pmean(x, p, axis=axis), 0.0)


def regret_of_penalty(penalty: npt.ArrayLike, T: npt.ArrayLike, mu_star: npt.ArrayLike, q: npt.ArrayLike) -> Array:
    """μ⋆·(1 - (1 + A_T/T)^(-1/q)): the regret whose inverse penalty A_T is `penalty`, exactly."""
    growth = np.log1p(_at_least_zero("penalty", penalty) / wholes("T", T))
    return np.asarray(-positives("mu_star", mu_star) * np.expm1(-growth / positives("q", q)))[()]


def first_linearisation(penalty: npt.ArrayLike, T: npt.ArrayLike, mu_star: npt.ArrayLike, q: npt.ArrayLike) -> Array:
    """μ⋆/q·A_T/T, never below the regret (paper, Lemma inverse-conversion)."""
    share = _at_least_zero("penalty", penalty) / wholes("T", T)
    return np.asarray(positives("mu_star", mu_star) / positives("q", q) * share)[()]


def second_linearisation(q: npt.ArrayLike, floor: float = 0.25, tight: bool = False) -> Array:
    """C with x^-q - 1 ≤ C·(1 - x) for x from `floor` to 1: q·floor^(-q-1), which is the paper's q·4^(q+1) at its floor
    of 1/4 (Lemma lipschitz-inverse). `tight`: the least such C, the chord's slope, (floor^-q - 1)/(1 - floor)."""
    qs = positives("q", q)
    if not 0.0 < number("floor", floor) < 1.0:
        raise ArgumentError(f"floor is {floor!r}; give a number between 0 and 1.")
    with np.errstate(over="ignore"):
        steepest = np.expm1(-qs * np.log(floor)) / (1.0 - floor) if tight else qs * floor ** (-qs - 1.0)
    return np.asarray(steepest)[()]


# What no policy can beat.


def first_participant_regret(k: npt.ArrayLike, T: npt.ArrayLike, mu: npt.ArrayLike, p: float) -> Array:
    """The regret at `p` of at most 1 that the first participant alone costs any policy on some needle of mean `mu`.

    It is μ minus the p-mean of μ/k once and μ for the other T - 1, and grows with μ without limit: without a bound on
    μ⋆ the minimax regret is infinite at every such p. At p = 1 it is μ·(1 - 1/k)/T.
    """
    if exponent("p", p) > 1.0:
        raise ArgumentError(f"p is {p!r}; give a number of at most 1.")
    ks, Ts, best = np.broadcast_arrays(wholes("k", k, least=2), wholes("T", T), positives("mu", mu))
    rewards = np.stack([1.0 / ks, np.ones(ks.shape)], axis=-1)
    return np.asarray(best * welfare.regret(rewards, p, 1.0, weights=np.stack([np.ones(Ts.shape), Ts - 1.0], -1)))[()]


def average_baseline(
    k: npt.ArrayLike, T: npt.ArrayLike, sigma: npt.ArrayLike, mu_max: npt.ArrayLike | None = None
) -> Array:
    """A bound for every p of at most 1: ¾·(1 - 1/k)²·σ√(k/T), so C = 3/16 from k = 2 (paper, Proposition avg-lb-main).

    The needle of mean μ = x·σ√(k/T) costs at least μ·(1 - 1/k - x/3); x is 3/2·(1 - 1/k), or what `mu_max` allows.
    """
    ks, Ts = wholes("k", k, least=2), wholes("T", T)
    unit, share = positives("sigma", sigma) * np.sqrt(ks / Ts), 1.0 - 1.0 / ks
    x = 1.5 * share if mu_max is None else np.minimum(1.5 * share, positives("mu_max", mu_max) / unit)
    return np.asarray(x * (share - x / 3.0) * unit)[()]


def lower_bound(
    k: npt.ArrayLike,
    T: npt.ArrayLike,
    sigma: npt.ArrayLike,
    q: npt.ArrayLike,
    mu_max: npt.ArrayLike | None = None,
    sharp: bool = False,
) -> Bound:
    """What no policy can beat at p = -q, where the best mean may be up to `mu_max` (paper, Theorems lower-combined and
    lower-main-restated).

    The larger of c'_q·μ, with μ = σ√(k^q/T) or `mu_max` if that is less, and of `average_baseline`. `mu_max` is
    σ√(k^max(1,q)/T) unless given. `sharp`: the hardest needle of mean up to `mu_max`, at least as large.
    """
    ks = wholes("k", k, least=2) if sharp else needs_eight(k, "Theorem lower-main-restated")
    Ts, sigmas, qs = wholes("T", T), positives("sigma", sigma), positives("q", q)
    with np.errstate(over="ignore"):
        unit = sigmas / np.sqrt(Ts)
        most = positives("mu_max", unit * ks ** (0.5 * np.maximum(qs, 1.0)) if mu_max is None else mu_max)
        needle = np.minimum(most, unit * ks ** (0.5 * qs))
    constant = np.where(ks >= 8, -np.expm1(-np.log1p(penalty_constant(qs)) / qs), 0.0)
    terms = {"needle": constant * needle, "baseline": np.asarray(average_baseline(ks, Ts, sigmas, most))}
    conditions: tuple[str, ...] = (ANY_POLICY, "k ≥ 8, T ≥ 1, q > 0")
    if sharp:
        conditions = (ANY_POLICY, "k ≥ 2, T ≥ 1, q > 0")
        terms["recursion"] = _each(_sharpest, ks, Ts, sigmas, qs, most)
    return largest(terms, conditions)


def needle_regret(
    k: npt.ArrayLike, T: npt.ArrayLike, sigma: npt.ArrayLike, mu: npt.ArrayLike, p: float | npt.ArrayLike
) -> Array:
    """The regret at `p` of at most 1 that every policy has on some needle of mean `mu`: by the recursion, one-sided."""
    if np.any(np.asarray(p, dtype=np.float64) > 1.0):
        raise ArgumentError(f"p is {p!r}; give numbers of at most 1.")
    return np.asarray(_each(_needle_regret, wholes("k", k, least=2), wholes("T", T), positives("sigma", sigma), mu, p))[
        ()
    ]


def _needle_regret(k: float, T: float, sigma: float, mu: float, p: float) -> float:
    return float(_on_needles(int(k), T, sigma, np.array([mu]), p, FINE_CELLS)[0])


def _on_needles(k: int, T: float, sigma: float, mus: Array, p: float, cells: int) -> Array:
    """The envelope's regret for each μ: by Jensen's inequality some needle costs every policy as much."""
    lam = 0.5 * np.square(mus / sigma)
    success, rounds = success_envelope(k, T, np.maximum(lam, 1e-300), cells)
    return mus * welfare.regret(success, p, 1.0, weights=rounds) * (1.0 - ROUND)


def _sharpest(k: float, T: float, sigma: float, q: float, mu_max: float) -> float:
    """The largest of `_on_needles` over μ up to `mu_max`. Every μ gives a bound, so the search need not be perfect."""
    low = min(0.5 * mu_max, 0.1 * sigma / np.sqrt(T))
    for _ in range(3):
        mus = np.geomspace(low, mu_max, 33)
        found = _on_needles(int(k), T, sigma, mus, -q, CELLS)
        best = int(found.argmax())
        low, mu_max = mus[max(best - 1, 0)], mus[min(best + 1, 32)]
    return _needle_regret(k, T, sigma, mus[best], -q)


# What UCB-HARE achieves.


def upper_constant(q: npt.ArrayLike) -> Array:
    """The C_q of Theorem upper-main, traced through its proof: 4^q·(4352/q + 16√2); see `docs/theory.md`."""
    qs = positives("q", q)
    with np.errstate(over="ignore"):
        return np.asarray(4.0**qs * (4352.0 / qs + 16.0 * np.sqrt(2.0)))[()]


def reward_floor(k: npt.ArrayLike, a: npt.ArrayLike, tight: bool = False, delta: npt.ArrayLike = 1.0) -> Array:
    """m_t/μ⋆ at frontier `a` is at least ¼·max(1, a)/k (paper, Lemma ex-ante-reward, with its c_0 = 1/4).

    `tight`: (1 - δ/4)·max(4, 3a + 1)/(8k), which adds what the scheduled and the auxiliary slot are worth.
    """
    ks, reached = wholes("k", k), wholes("a", a, least=0)
    if not tight:
        return np.asarray(0.25 * np.maximum(1.0, reached) / ks)[()]
    sure = 1.0 - 0.25 * confidence(delta, np.asarray(1.0))
    return np.asarray(sure * np.maximum(4.0, 3.0 * reached + 1.0) / (8.0 * ks))[()]


def preparation_penalty(k: npt.ArrayLike, S: npt.ArrayLike, q: npt.ArrayLike) -> Array:
    """34·4^q·S·K_q(k): the inverse penalty of the rounds up to T_0, at most (paper, Lemma prep-penalty)."""
    with np.errstate(over="ignore"):
        return np.asarray(34.0 * 4.0 ** positives("q", q) * wholes("S", S) * harmonic_penalty(k, q))[()]


def exploitation_penalty(
    k: npt.ArrayLike, T: npt.ArrayLike, ratio: npt.ArrayLike, q: npt.ArrayLike, delta: npt.ArrayLike | None = None
) -> Array:
    """q·4^(q+1)·(4√2·(σ/μ⋆)·√(kTL) + Tδ): the inverse penalty of the rounds after T_0, at most (paper, Lemma
    phase2-cost). `ratio` is σ/μ⋆."""
    ks, Ts = wholes("k", k), wholes("T", T)
    lost = 4.0 * np.sqrt(2.0) * positives("ratio", ratio) * np.sqrt(ks * Ts * log_term(ks, Ts, delta))
    return np.asarray(second_linearisation(q) * (lost + Ts * confidence(delta, Ts)))[()]


def upper_bound(
    k: npt.ArrayLike,
    T: npt.ArrayLike,
    sigma: npt.ArrayLike,
    mu_star: npt.ArrayLike,
    q: npt.ArrayLike,
    delta: npt.ArrayLike | None = None,
    tight: bool = False,
) -> Bound:
    """What UCB-HARE achieves at p = -q: C_q·(σ√(H_k·K_q(k)·L/T) + μ⋆·H_k·K_q(k)/T + μ⋆·δ) (paper, Theorem upper-main).

    As the theorem is stated, so often above μ⋆, which no regret exceeds. `tight`: the proof's own steps, evaluated;
    never above that, nor above μ⋆.
    """
    ks, Ts, sigmas, best = wholes("k", k), wholes("T", T), positives("sigma", sigma), positives("mu_star", mu_star)
    qs, deltas = positives("q", q), confidence(delta, Ts)
    if tight:
        value, preparing = _each(_tight_upper, ks, Ts, sigmas, best, qs, deltas, outputs=2)
        parts = {"preparation": np.asarray(preparing), "exploitation": 1.0 - preparing}
        return largest(parts, (HARE, "T ≥ 1, q > 0, 0 < δ ≤ 1"), value=value)
    with np.errstate(over="ignore"):
        both = harmonic_number(ks) * harmonic_penalty(ks, qs)
        exploring = sigmas * np.sqrt(both * log_term(ks, Ts, deltas) / Ts)
        terms = {"exploration": exploring, "transient": best * both / Ts, "failure": best * deltas}
        value = upper_constant(qs) * (terms["exploration"] + terms["transient"] + terms["failure"])
    return largest(terms, (HARE, "T ≥ 1, q > 0, 0 < δ ≤ 1"), value=value)


def corollary_rate(k: npt.ArrayLike, q: npt.ArrayLike) -> Array:
    """k^(max(1, q)/2): how the regret of UCB-HARE grows with k but for logarithms, and the minimax regret too (paper,
    Corollary upper-regimes and Theorem lower-combined)."""
    return np.asarray(wholes("k", k) ** (0.5 * np.maximum(1.0, positives("q", q))))[()]


def _tight_upper(k: float, T: float, sigma: float, mu_star: float, q: float, delta: float) -> tuple[float, float]:
    """The regret of the worst rewards that the proof's steps allow, and the preparation's share in its penalty.

    Rewards are as low as the floor while the frontier grows. After that they are half of μ⋆ or more on the good event,
    and the shortfall is bounded in sum; x^-q is convex, so it costs most if every round has the floor or μ⋆.
    """
    arms = one_whole("k", k)
    if arms > MOST_ARMS:
        raise ArgumentError(f"k is {arms}; give at most {MOST_ARMS} for tight=True, or take tight=False.")
    sure, L = 1.0 - 0.25 * delta, float(log_term(k, T, delta))
    ends = np.minimum(2.0 * tight_frontier(arms, float(critical_samples(sigma, mu_star, L))), T)
    floors = np.asarray(reward_floor(arms, np.arange(arms), tight=True, delta=delta))
    left = T - ends[-1]
    pulled = max(np.ceil(32.0 * (sigma / mu_star) ** 2 * L), 1.0) - 1.0
    root = np.sqrt(pulled + left / k) + np.sqrt(pulled)
    lost = 4.0 * sigma * np.sqrt(2.0 * L) * left / (root if root > 0.0 else 1.0)  # 4σ√(2L)·k·(√(m - 1 + n) - √(m - 1))
    short = sure * min(lost / mu_star, 0.5 * left) + 0.25 * delta * left
    low = 0.5 * sure
    rounds = np.concatenate([np.diff(ends, prepend=0.0), [short / (1.0 - low), max(left - short / (1.0 - low), 0.0)]])
    rewards = np.concatenate([floors, [low, 1.0]])
    value = mu_star * float(welfare.regret(rewards, -q, 1.0, weights=rounds)) * (1.0 + ROUND)
    return min(value, mu_star), _share(rounds, rewards, q, arms)


def _share(rounds: Array, rewards: Array, q: float, first: int) -> float:
    """The share of the `first` rewards in the inverse penalty."""
    with np.errstate(divide="ignore"):
        costs = np.log(rounds) - q * np.log(rewards) + np.log(-np.expm1(q * np.log(rewards)))
    costs = np.exp(costs - costs.max())
    return float(costs[:first].sum() / costs.sum())


def _each(function: Callable[..., Any], *arguments: npt.ArrayLike, outputs: int = 1) -> Any:
    """`function` of numbers, for every entry of the arrays."""
    arrays = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in arguments))
    found = np.array([function(*(float(x) for x in row)) for row in zip(*(a.ravel() for a in arrays), strict=True)])
    shaped = found.reshape(*arrays[0].shape, outputs)
    return shaped[..., 0][()] if outputs == 1 else tuple(shaped[..., i][()] for i in range(outputs))


def _at_least_zero(name: str, value: npt.ArrayLike) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if not (array >= 0.0).all():
        raise ArgumentError(f"{name} is {value!r}; give numbers of at least 0.")
    return array
