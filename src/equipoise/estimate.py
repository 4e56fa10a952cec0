"""From groups of runs to an estimate: bias-corrected by the jackknife, with its Monte-Carlo error and interval.

The p-mean of estimated rewards is biased low for p < 1 (Jensen), by about a constant over the number of runs. The
delete-a-group jackknife removes this order. Groups may differ in size (Busing, Meijer, van der Leeden: "Delete-m
jackknife for unequal m", Statistics and Computing 9, 1999). For a mean it is the classical estimate.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from equipoise.arguments import ArgumentError, number

Array: TypeAlias = npt.NDArray[np.float64]


class Estimate(NamedTuple):
    """Numbers as a paper prints them, each of the statistic's shape; nan where the runs can't tell."""

    est: Array  # bias-corrected
    raw: Array  # plug-in
    mcse: Array  # Monte-Carlo standard error
    lo: Array
    hi: Array


def jackknife(
    total: npt.ArrayLike, leave_one_out: npt.ArrayLike, sizes: npt.ArrayLike, level: float = 0.95
) -> Estimate:
    """The estimate from the statistic of all runs, `total`, and of all but the j-th group, `leave_one_out[j]`.

    Group j has `sizes[j]` runs; one without runs is left out. With one group, or a statistic that isn't finite on some
    set of runs, the estimate is the plug-in and its error is not known.
    """
    counts = _sizes(sizes)
    raw, without = np.asarray(total, dtype=np.float64), np.asarray(leave_one_out, dtype=np.float64)
    if without.shape != (len(counts), *raw.shape):
        raise ArgumentError(
            f"leave_one_out has the shape {without.shape}; give {(len(counts), *raw.shape)}, one total for each group."
        )
    quantile = _quantile(level, int(np.count_nonzero(counts)) - 1)
    without, counts = without[counts > 0], counts[counts > 0]
    known = np.isfinite(raw) & np.isfinite(without).all(axis=0) & (len(counts) > 1)
    h = (counts.sum() / counts).reshape(-1, *(1,) * raw.ndim)
    change = np.where(known, raw, 0.0) - np.where(known, without, 0.0)
    correction = np.sum((1.0 - 1.0 / h) * change, axis=0)
    spread = np.where(h > 1.0, h - 1.0, 1.0)
    variance = np.mean((spread * change - correction) ** 2 / spread, axis=0)
    est = raw + correction
    mcse = np.where(known, np.sqrt(variance), np.nan)[()]
    return Estimate(est, raw[()], mcse, est - quantile * mcse, est + quantile * mcse)


def mean(sums: npt.ArrayLike, sizes: npt.ArrayLike, level: float = 0.95) -> Estimate:
    """The estimate of a mean over runs, from its sums over the runs of each group: `raw` needs no correction."""
    total, without = means(sums, sizes)
    return jackknife(total, without, sizes, level)


def means(sums: npt.ArrayLike, sizes: npt.ArrayLike) -> tuple[Array, Array]:
    """The mean over all runs and, for each group, over all others; with no others, all, and `jackknife` knows."""
    counts, array = _sizes(sizes), np.asarray(sums, dtype=np.float64)
    if array.ndim == 0 or len(array) != len(counts):
        raise ArgumentError(f"sums have the shape {array.shape}; give one sum for each of the {len(counts)} groups.")
    total = array.sum(axis=0)
    others = (counts.sum() - counts).reshape(-1, *(1,) * total.ndim)
    overall = total / counts.sum()
    return overall, np.where(others > 0, (total - array) / np.maximum(others, 1), overall)


def _sizes(sizes: npt.ArrayLike) -> npt.NDArray[np.int64]:
    array = np.asarray(sizes)
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array < 0).any() or not array.any():
        raise ArgumentError(f"sizes are {sizes!r}; give the whole number of runs of each group, one of them above 0.")
    return array.astype(np.int64)


def _quantile(level: float, freedom: int) -> float:
    """Student's two-sided quantile; nan without freedom."""
    if not 0.0 < number("level", level) < 1.0:
        raise ArgumentError(f"level is {level!r}; give a number between 0 and 1, such as 0.95.")
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + 0.5 * level)) if freedom > 0 else float("nan")
