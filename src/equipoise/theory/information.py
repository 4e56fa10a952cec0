"""The information that fairness costs: Fano's converse, the information-cost inequality, the best envelope.

In a "needle" instance one arm has the mean μ and all others 0. The chance s_t of pulling it in round t, over a uniform
choice of the needle, is bound by the information I_t that the history has of it: d_k(s_t) ≤ I_t, and a round adds at
most λ·s_t, with λ = μ²/(2σ²) (paper, section "Our Lower Bound and Proof"). Docs: `docs/theory.md`.
"""

from collections.abc import Callable
from math import exp, log
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.integrate import quad
from scipy.special import gammainc, spence

from equipoise.arguments import ArgumentError, number, positive
from equipoise.theory.domain import Array, Bound, between, largest, positives, wholes

Curve: TypeAlias = Callable[[float], float]

EXACT = 48  # rounds of the recursion that are run one by one
NEWTON = 30  # steps at most; each ends on the safe side of the inverse
ROUND = 1e-9  # what rounding may cost of a bound


class Envelope(NamedTuple):
    """Success chances that no policy exceeds, and for how many rounds each of them stands, along the last axis."""

    success: Array
    rounds: Array


def success_information(k: npt.ArrayLike, s: npt.ArrayLike) -> Array:
    """d_k(s) = kl(s‖1/k): what one must know of the needle to hit it with chance `s` (paper, Lemma fano-converse)."""
    ks = wholes("k", k, least=2)
    return _divergence(ks, between("s", s, (1.0 - 1e-15) / ks, 1.0, "a chance from 1/k to 1"))[()]


def largest_success(k: npt.ArrayLike, information: npt.ArrayLike) -> Array:
    """The inverse of d_k: no guess hits with a larger chance on so much information (paper, Lemma success-info).

    Newton's method on a convex function from the right: never below the true inverse, but for rounding.
    """
    ks = wholes("k", k, least=2)
    return _inverse(ks, between("information", information, 0.0, np.inf, "a finite number of at least 0"))[()]


def information_gain(mu: npt.ArrayLike, sigma: npt.ArrayLike, s: npt.ArrayLike) -> Array:
    """λ·s with λ = μ²/(2σ²): what a round adds to the information, at most (paper, Lemma info-gain)."""
    chance = between("s", s, 0.0, 1.0, "a chance from 0 to 1")
    return np.asarray(0.5 * np.square(positives("mu", mu) / positives("sigma", sigma)) * chance)[()]


def information_cost(c: Curve, dphi: Curve, psi: Curve, s0: float, s_star: float, T: float, lam: float) -> Bound:
    """What T rounds cost at least, for any objective: the least of c(s⋆)·T and 1/λ times the integral of c·φ'/ψ from
    s0 to s⋆ (paper, Lemma info-cost).

    `c` is what a round costs at success chance s, `dphi` the slope of the information φ that s takes, `psi`·λ the
    most that a round adds. Quadrature, less its own estimate of its error.
    """
    s0, s_star, lam = positive("s0", s0), positive("s_star", s_star), positive("lam", lam)
    if not s0 < s_star <= 1.0:
        raise ArgumentError(f"s_star is {s_star!r}; give a number above s0 = {s0!r} and at most 1.")
    rounds = positive("T", number("T", T))
    _check_curves(c, dphi, psi, s0, s_star)

    def integrand(z: float) -> float:
        s = min(exp(z), s_star)
        return c(s) * dphi(s) / psi(s) * s

    whole, error = quad(integrand, log(s0), log(s_star), limit=200, epsrel=1e-10)
    terms = {"horizon": np.asarray(-c(s_star) * rounds), "information": np.asarray(-max(whole - error, 0.0) / lam)}
    bound = largest(terms, ("c falls and is at least 0, φ rises from φ(s0) = 0, ψ is above 0 and does not fall",))
    return Bound(-bound.value, bound.term, bound.conditions)


def penalty_constant(q: npt.ArrayLike) -> Array:
    """c_q = (1 - 2^-q)·2^-q·I_q, where I_q is the integral of u^(-q-1)·log u from 1 to 2 (paper, Corollary neg-power).

    The paper's other candidate, 2^q - 1, is never the smaller. I_q = (1 - 2^-q·(1 + q·log 2))/q².
    """
    qs = positives("q", q)
    return (-np.expm1(-qs * np.log(2.0)) * 2.0**-qs * gammainc(2.0, qs * np.log(2.0)) / qs**2)[()]  # type: ignore[no-any-return]


def negative_power_cost(k: npt.ArrayLike, q: npt.ArrayLike, T: npt.ArrayLike, lam: npt.ArrayLike) -> Array:
    """c_q·min(T, k^q/λ): the sum of r_t^-q - 1 over T rounds, at least (paper, Lemma det-cost). Needs k ≥ 8."""
    ks, qs, Ts = needs_eight(k, "Lemma det-cost"), positives("q", q), wholes("T", T)
    log_other = np.minimum(qs * np.log(ks) - np.log(positives("lam", lam)), np.log(Ts))
    return np.asarray(penalty_constant(qs) * np.exp(log_other))[()]


def needs_eight(k: npt.ArrayLike, statement: str) -> Array:
    """k as the statements about 4/k ≤ 1/2 need it."""
    ks = wholes("k", k, least=2)
    if (ks < 8).any():
        raise ArgumentError(
            f"k is {ks[ks < 8].flat[0]:g}, but the paper's {statement} needs k ≥ 8; "
            "give more arms, or use lower_bound(…, sharp=True) or average_baseline, which hold from k = 2."
        )
    return ks


def success_envelope(k: int, T: float, lam: Array, cells: int) -> Envelope:
    """Chances that s_1, …, s_T can't exceed, whatever the policy, for each λ of a column.

    The first rounds are r_t = min(d_k⁻¹(I_t), 1/k + √(λ(t - 1)/2k)), I_{t+1} = I_t + λ·r_t. From then on the level s is
    passed no earlier than by the flow dI/dt = λ·d_k⁻¹(I), which the recursion never overtakes, and no earlier than the
    root reaches it; a cell of levels is given its upper end. So every error is on one side.
    """
    ones = int(min(EXACT, T))
    success = np.empty((len(lam), ones))
    known = np.zeros(len(lam))
    for t in range(ones):
        success[:, t] = np.minimum(_inverse(np.asarray(float(k)), known), 1.0 / k + np.sqrt(lam * (t / (2.0 * k))))
        known += lam * success[:, t]
    levels = np.geomspace(1.0 / k, 1.0, cells + 1)
    start = _flow_time(k, _inverse(np.asarray(float(k)), known))[:, None]
    by_flow = (np.maximum(_flow_time(k, levels), start) - start) / lam[:, None]
    by_root = 2.0 * k * np.square(levels - 1.0 / k) / lam[:, None] - ones
    passed = np.clip(np.maximum(by_flow, by_root), 0.0, T - ones)
    rest = T - ones - passed[:, -1:]
    upper = np.broadcast_to(np.append(levels[1:], 1.0), (len(lam), cells + 1))
    rounds = [np.ones_like(success), np.diff(passed, axis=1), rest]
    return Envelope(np.minimum(np.hstack([success, upper]), 1.0), np.hstack(rounds))


def _flow_time(k: int, s: Array) -> Array:
    """λ times the time in which the flow dI/dt = λ·d_k⁻¹(I) reaches success `s`: the integral of d_k'(s)/s."""
    p = 1.0 / k
    ratio = np.log(np.maximum(s, p) / p)
    dilogarithms = spence(1.0 - s) - spence(1.0 - p)
    return np.asarray(np.maximum(0.5 * ratio * ratio + dilogarithms + np.log1p(-p) * ratio, 0.0))


def _divergence(k: Array, s: Array) -> Array:
    x = np.maximum(k * s - 1.0, 0.0)
    return np.asarray((_bend(x) + (k - 1.0) * _bend(-np.minimum(x / (k - 1.0), 1.0))) / k)


def _bend(x: Array) -> Array:
    """(1 + x)·log(1 + x) - x, by its series where that would cancel."""
    small = np.abs(x) < 0.02
    y = np.where(small, x, 0.0)
    series = np.zeros_like(y)
    for n in range(10, 1, -1):
        series = 1.0 / (n * (n - 1.0)) - y * series
    inner = np.maximum(1.0 + x, 0.0)
    return np.where(small, y * y * series, inner * np.log(np.where(inner > 0.0, inner, 1.0)) - x)


def _inverse(k: Array, information: Array) -> Array:
    """d_k⁻¹, 1 from log k on. kl(s‖p) ≥ (s - p)²/2s gives a start to the right of it."""
    p = 1.0 / k
    start = p + information + np.sqrt(information * information + 2.0 * p * information)
    s = np.asarray(np.minimum(start, 1.0 - 1e-16))
    for _ in range(NEWTON):
        slope = np.log(s * (k - 1.0) / (1.0 - s))
        step = np.where(slope > 0.0, (_divergence(k, s) - information) / np.where(slope > 0.0, slope, 1.0), 0.0)
        before, s = s, np.clip(s - step, p, 1.0 - 1e-16)
        if (np.abs(s - before) <= 1e-14 * s).all():
            break
    return np.where(information >= np.log(k) * (1.0 - 1e-15), 1.0, np.where(information > 0.0, s, p))


def _check_curves(c: Curve, dphi: Curve, psi: Curve, s0: float, s_star: float) -> None:
    """Fails where the curves break the inequality's conditions, as far as a grid shows it."""
    grid = np.geomspace(s0, s_star, 201)
    grid[[0, -1]] = s0, s_star
    costs, slopes, rates = (np.array([float(f(s)) for s in grid]) for f in (c, dphi, psi))
    slack = 1e-9 * (1.0 + np.abs(costs[:-1]))
    if costs.min() < 0.0 or (np.diff(costs) > slack).any():
        raise ArgumentError("c rises or is below 0 between s0 and s_star; give a cost that falls and is at least 0.")
    if slopes.min() < 0.0:
        raise ArgumentError("dphi is below 0 between s0 and s_star; give the slope of a φ that rises.")
    if rates.min() <= 0.0 or (np.diff(rates) < -1e-9 * rates[:-1]).any():
        raise ArgumentError("psi falls or is not above 0 between s0 and s_star; give a rate that does not fall.")
