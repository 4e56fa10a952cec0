"""Harmonic sums and the harmonic schedule: how often a rank is scheduled, and when the preparation must end.

The letters are the paper's (section "Harmonic Schedule" and "Proof of Upper Bound"). Every function takes arrays.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import psi

from equipoise.theory.domain import Array, between, confidence, positives, wholes

HEAD = 1000.0  # so many terms of a sum are added one by one; the others by Euler and Maclaurin


class Range(NamedTuple):
    """Numbers between which a quantity lies."""

    low: Array
    high: Array


def harmonic_number(k: npt.ArrayLike) -> Array:
    """H_k = 1 + 1/2 + … + 1/k."""
    return np.asarray(psi(wholes("k", k) + 1.0) + np.euler_gamma)[()]


def harmonic_penalty(k: npt.ArrayLike, q: npt.ArrayLike) -> Array:
    """K_q(k), the sum of (k/r)^q over the ranks r = 1, …, k (paper, Fact harmonic-penalty); inf beyond the floats."""
    ks, qs = np.broadcast_arrays(wholes("k", k), positives("q", q))
    with np.errstate(over="ignore"):
        return (ks**qs * _power_sum(ks, qs))[()]  # type: ignore[no-any-return]


def harmonic_penalty_range(k: npt.ArrayLike, q: npt.ArrayLike) -> Range:
    """Integrals that K_q(k) lies between, from the proof of Fact harmonic-penalty, with its three regimes.

    k^q times the integral of x^-q, from 1 to k + 1 and from 1 to k and one more: for q < 1 of order k/(1 - q), for
    q = 1 of order k·log k, and for q > 1 of order k^q·q/(q - 1). At a finite k the regimes pass into each other: near
    q = 1 it is log k, not 1/|q - 1|, that counts.
    """
    ks, qs = np.broadcast_arrays(wholes("k", k), positives("q", q))
    with np.errstate(over="ignore"):
        power = ks**qs
        return Range((power * _integral(np.log1p(ks), qs))[()], (power * (1.0 + _integral(np.log(ks), qs)))[()])


def prefix_balance(k: npt.ArrayLike, r: npt.ArrayLike, b: npt.ArrayLike, tight: bool = False) -> Array:
    """How often rank `r` has been scheduled by the end of block `b`, at least: b/(r·H_k) - 2 (paper, Lemma
    prefix-balance), or 0 where that is negative. `tight`: with the 1 that the proof gives, for the paper's 2."""
    ks, blocks = wholes("k", k), wholes("b", b, least=0)
    ranks = between("r", wholes("r", r), 1, ks, "a rank from 1 to k")
    return np.maximum(blocks / (ranks * harmonic_number(ks)) - (1.0 if tight else 2.0), 0.0)[()]


def log_term(k: npt.ArrayLike, T: npt.ArrayLike, delta: npt.ArrayLike | None = None) -> Array:
    """L = log(8kT/δ), where δ is 1/T unless given (paper, Algorithm 1)."""
    ks, Ts = wholes("k", k), wholes("T", T)
    return (np.log(8.0) + np.log(ks) + np.log(Ts) - np.log(confidence(delta, Ts)))[()]  # type: ignore[no-any-return]


def critical_samples(sigma: npt.ArrayLike, mu_star: npt.ArrayLike, L: npt.ArrayLike) -> Array:
    """n⋆ = ⌈128σ²L/μ⋆²⌉: with so many pulls the best arm certifies an anchor of 3μ⋆/4 (paper, Lemma certification)."""
    ratio = positives("sigma", sigma) / positives("mu_star", mu_star)
    return np.maximum(np.ceil(128.0 * ratio * ratio * positives("L", L)), 1.0)[()]


def frontier_blocks(k: npt.ArrayLike, n_star: npt.ArrayLike) -> Array:
    """S = ⌈H_k·n⋆⌉: the frontier moves by a rank every 8S blocks (paper, Lemma critical-rank)."""
    return np.ceil(harmonic_number(k) * wholes("n_star", n_star))[()]


def frontier(k: npt.ArrayLike, S: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """a_b = min(k, ⌊(b - 1)/8S⌋): ranks up to a_b have n⋆ pulls as block b starts (paper, Lemma critical-rank)."""
    return np.minimum(wholes("k", k), np.floor((wholes("b", b) - 1.0) / (8.0 * wholes("S", S))))[()]


def preparation_window(k: npt.ArrayLike, S: npt.ArrayLike) -> Array:
    """T_0 = 18kS: on the good event the preparation has ended by then (paper, Lemma prep-ends), if T lets it."""
    return np.asarray(18.0 * wholes("k", k) * wholes("S", S))[()]


def tight_frontier(k: int, n_star: float) -> Array:
    """The blocks by whose end all ranks up to r = 1, …, k have been scheduled n⋆ times, at most: ⌊r·n⋆·H_k⌋.

    Rank r comes for the n⋆-th time at the integer r·n⋆, and the divisors of integers up to n fill at most n·H_k blocks.
    So the frontier moves by a rank every n⋆·H_k blocks, not 8S, and on the good event the preparation ends with the
    last of them.
    """
    return np.floor(np.arange(1.0, k + 1.0) * (n_star * float(harmonic_number(k)) * (1.0 + 1e-14)))


def _power_sum(k: Array, q: Array) -> Array:
    """The sum of j^-q over j = 1, …, k."""
    head = np.minimum(k, HEAD)
    j = np.arange(1.0, HEAD + 1.0)
    first = np.where(j <= head[..., None], j ** -q[..., None], 0.0).sum(axis=-1)
    at_head, at_end = head**-q, k**-q
    curve = q / 12.0 * (at_head / head - at_end / k)
    curve -= q * (q + 1.0) * (q + 2.0) / 720.0 * (at_head / head**3 - at_end / k**3)
    middle = head * at_head * _integral(np.log(k / head), q)
    return np.asarray(first + middle + 0.5 * (at_end - at_head) + curve)


def _integral(log_end: Array, q: Array) -> Array:
    """The integral of x^-q from 1 to the number whose logarithm is given; without a jump at q = 1."""
    power = (1.0 - q) * log_end
    near = np.abs(power) < 1e-12
    return np.where(near, log_end, np.expm1(power) / np.where(near, 1.0, 1.0 - q))
