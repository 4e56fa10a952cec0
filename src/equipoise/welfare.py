"""Welfare and regret: generalized p-means of what each participant can expect.

M_p = (mean of x^p)^(1/p) for every real p, with its limits: 1 is the average, 0 the geometric mean (Nash), -inf the
minimum (Rawls), inf the maximum. Everything is computed as log(M_p/reference) from z = log(x/reference), and

    log M_p = log1p(mean of expm1(p·z)) / p,

which neither cancels near the reference nor, with sums of logarithms where these sums would leave the floating range,
overflows. Regret takes μ⋆ as the reference; from gaps μ⋆ - x it is right to rounding however small they are.

Weights are the numbers of rounds that an entry stands for; one that weighs nothing is ignored.
"""

from collections.abc import Callable
from math import inf
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from equipoise.arguments import ArgumentError, exponent, number, positive

Array: TypeAlias = npt.NDArray[np.float64]
Fold: TypeAlias = Callable[[np.ufunc, Array], Array]

NASH = 1e-30  # a p nearer to 0 changes no digit of M_p, and one beyond RAWLS none of the minimum or maximum:
RAWLS = 1e100  # logarithms of floating numbers are under 1500
SAFE = 600.0  # exp neither overflows nor underflows, with room for a sum
ROUNDING = 1e-9  # a gap may exceed μ⋆ by this part of it, as estimates do

_quiet = np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore")


@_quiet
def pmean(x: npt.ArrayLike, p: float, weights: npt.ArrayLike | None = None, axis: int = -1) -> Array:
    """M_p of the non-negative numbers `x` along `axis`."""
    p = exponent("p", p)
    values = _read("x", x, axis, least=0.0)
    counts = _weigh(weights, values, axis)
    if p < 0.0:  # from the extreme that dominates, no power exceeds 1
        extreme = np.where(counts > 0.0, values, inf).min(axis=-1, keepdims=True)
    else:
        extreme = np.where(counts > 0.0, values, 0.0).max(axis=-1, keepdims=True)
    reference = np.where(extreme > 0.0, extreme, 1.0)
    half = np.exp(0.5 * _log_means(_log_ratio(values, values - reference, reference), p, counts, _whole))
    return np.take(reference * half * half, 0, axis=-1)  # type: ignore[no-any-return]


def regret(x: npt.ArrayLike, p: float, best: float, weights: npt.ArrayLike | None = None, axis: int = -1) -> Array:
    """`best` - M_p of `x` along `axis`: the p-mean regret, where `best` is μ⋆."""
    return np.take(_regret(*_from_rewards(x, best, weights, axis), exponent("p", p), _whole), 0, axis=-1)  # type: ignore[no-any-return]


def regret_of_gaps(
    gaps: npt.ArrayLike, p: float, best: float, weights: npt.ArrayLike | None = None, axis: int = -1
) -> Array:
    """The p-mean regret of the rewards `best` - `gaps` along `axis`, exact where gaps are small."""
    return np.take(_regret(*_from_gaps(gaps, best, weights, axis), exponent("p", p), _whole), 0, axis=-1)  # type: ignore[no-any-return]


def cumulative_regret_of_gaps(
    gaps: npt.ArrayLike, p: float, best: float, weights: npt.ArrayLike | None = None
) -> Array:
    """The p-mean regret of every prefix of the last axis, in one pass; nan for a prefix without weight."""
    return _regret(*_from_gaps(gaps, best, weights, -1), exponent("p", p), _prefixes)


@_quiet
def inverse_penalty(
    x: npt.ArrayLike, q: float, best: float, weights: npt.ArrayLike | None = None, axis: int = -1
) -> Array:
    """A_T, the sum of (μ⋆/x)^q - 1 over the rounds, of the paper's Lemma inverse-conversion.

    With T rounds in all, the regret at p = -q is μ⋆·(-expm1(-log1p(A_T/T)/q)), at most μ⋆/q·A_T/T. A_T is inf where it
    leaves the floating range; the regret itself does not.
    """
    q = positive("q", q)
    z, counts, _ = _from_rewards(x, positive("best", best), weights, axis)
    return np.sum(np.where(counts > 0.0, counts * np.expm1(-q * z), 0.0), axis=-1)  # type: ignore[no-any-return]


def _whole(ufunc: np.ufunc, values: Array) -> Array:
    return ufunc.reduce(values, axis=-1, keepdims=True)  # type: ignore[no-any-return]


def _prefixes(ufunc: np.ufunc, values: Array) -> Array:
    return ufunc.accumulate(values, axis=-1)


@_quiet
def _regret(z: Array, counts: Array, best: float, p: float, fold: Fold) -> Array:
    return 0.0 - best * np.expm1(_log_means(z, p, counts, fold))


def _log_means(z: Array, p: float, counts: Array, fold: Fold) -> Array:
    """log of the p-mean of exp(z), along all of the last axis or each of its prefixes, as `fold` says."""
    size = fold(np.add, counts)
    if abs(p) >= RAWLS:
        extreme, neutral = (np.maximum, -inf) if p > 0.0 else (np.minimum, inf)
        means = fold(extreme, np.where(counts > 0.0, z, neutral))
        return np.where(size > 0.0, means, np.nan)
    z = np.where(counts > 0.0, z, 0.0)
    if abs(p) < NASH:
        return fold(np.add, counts * z) / size
    return _log_means_exp(p * z, counts, size, fold) / p


def _log_means_exp(y: Array, counts: Array, size: Array, fold: Fold) -> Array:
    """log of the mean of exp(y). Three ways to the same number, each where the ones before it lose digits."""
    growth = fold(np.add, counts * np.expm1(y)) / size
    means = np.log1p(growth)
    low = growth < -0.5
    if low.any():
        means = np.where(low, np.log(fold(np.add, counts * np.exp(y)) / size), means)
    lost = ~(np.abs(means) < SAFE)
    if lost.any():
        means = np.where(lost, fold(np.logaddexp, y + np.log(counts)) - np.log(size), means)
    return means


def _log_ratio(x: Array, difference: Array, reference: float | Array) -> Array:
    """log(x/reference), where `difference` is x - reference."""
    near = np.abs(difference) <= 0.5 * reference
    return np.where(near, np.log1p(difference / reference), np.log(x) - np.log(reference))


@_quiet
def _from_rewards(
    x: npt.ArrayLike, best: float, weights: npt.ArrayLike | None, axis: int
) -> tuple[Array, Array, float]:
    """log(x/best), the weights and `best`; zeros where `best` is 0."""
    best = _best(best)
    values = _read("x", x, axis, least=0.0)
    z = _log_ratio(values, values - best, best) if best > 0.0 else np.zeros_like(values)
    return z, _weigh(weights, values, axis), best


@_quiet
def _from_gaps(
    gaps: npt.ArrayLike, best: float, weights: npt.ArrayLike | None, axis: int
) -> tuple[Array, Array, float]:
    """As `_from_rewards`, where x is `best` - `gaps`."""
    best = _best(best)
    values = _read("gaps", gaps, axis, most=best)
    z = _log_ratio(np.maximum(best - values, 0.0), -values, best) if best > 0.0 else np.zeros_like(values)
    return z, _weigh(weights, values, axis), best


def _best(best: float) -> float:
    if number("best", best) < 0.0:
        raise ArgumentError(f"best is {best!r}; give the largest mean, a finite number of at least 0.")
    return float(best)


def _read(name: str, values: npt.ArrayLike, axis: int, least: float = -inf, most: float = inf) -> Array:
    """`values` as an array whose last axis is `axis`, all finite and from `least` to `most`, give or take rounding."""
    try:
        array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} is {values!r}; give an array of numbers.") from None
    wrong = array[~(np.isfinite(array) & (array >= least) & (array <= most * (1.0 + ROUNDING)))]
    if wrong.size:
        bounds = [f" of at least {least:g}"] * (least > -inf) + [f" of at most {most:.12g}"] * (most < inf)
        raise ArgumentError(f"{name} holds {wrong[0]}; give finite numbers{' and'.join(bounds)}.")
    if not -array.ndim <= axis < array.ndim:
        raise ArgumentError(f"axis is {axis!r}, but {name} has {array.ndim} axes; give one of them.")
    if array.shape[axis] == 0:
        raise ArgumentError(f"{name} has no numbers along axis {axis}; give at least one.")
    return np.moveaxis(array, axis, -1)


def _weigh(weights: npt.ArrayLike | None, values: Array, axis: int) -> Array:
    """The weights of `values`, of the same last axis: one for each entry along the axis, or for each entry."""
    if weights is None:
        return np.ones(values.shape[-1])
    counts = np.atleast_1d(np.asarray(weights))
    counts = _read("weights", counts, axis if counts.ndim == values.ndim else -1, least=0.0)
    if counts.shape not in (values.shape, values.shape[-1:]):
        raise ArgumentError(
            f"weights have the shape {counts.shape}; give {values.shape[-1]} along the axis, or one for every entry."
        )
    if not counts.any(axis=-1).all():
        raise ArgumentError("weights are 0 throughout; give at least one above 0.")
    return counts
