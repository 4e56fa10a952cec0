"""Statistical assertions whose false-alarm rate is a theorem, for samples of any size.

Frequencies are judged by betting against them: `log_mixture` is a fixed probability of the observations, made without
knowing them, and by Markov's inequality such a probability exceeds the true one 1/α-fold with a chance of at most α.
Where the truth is unknown but common to two samples, its likeliest value stands for it, which only helps the null
(Wasserman, Ramdas, Balakrishnan: "Universal inference", 2020). Nothing is asymptotic, no cell is too small.
"""

from math import inf, isfinite, lgamma, log, sqrt

import numpy as np
import numpy.typing as npt

from equipoise.arguments import ArgumentError, probability

FALSE_ALARM = 1e-9


def assert_frequencies(
    counts: npt.ArrayLike, probabilities: npt.ArrayLike, *, false_alarm: float = FALSE_ALARM, slack: float = 0.0
) -> None:
    """Fails if independent draws that fell `counts` times into each cell do not have these `probabilities`.

    True probabilities, or such as differ from the true ones by at most `slack`, fail with a chance of at most
    `false_alarm`. Of N draws into c cells it sees a total variation δ once 2Nδ² is about
    log(1/false_alarm) + c/2·log N.
    """
    seen, expected = whole_counts("counts", counts), np.asarray(probabilities, np.float64)
    if seen.shape != expected.shape or np.any(expected < 0.0) or abs(expected.sum() - 1.0) > 1e-6:
        raise ArgumentError(f"probabilities is {expected.tolist()!r}; give one for each of the counts, with sum 1.")
    evidence = evidence_against(seen, expected + slack)
    if evidence >= -log(probability("false_alarm", false_alarm)):
        raise AssertionError(
            f"counts are {seen.tolist()}, but probabilities {expected.tolist()} expect "
            f"{np.round(seen.sum() * expected, 1).tolist()}; by chance as far off at most once in {once_in(evidence)}."
        )


def assert_same_frequencies(
    counts_a: npt.ArrayLike, counts_b: npt.ArrayLike, *, false_alarm: float = FALSE_ALARM
) -> None:
    """Fails if two samples of independent draws do not have the same unknown probabilities of their cells.

    Samples of one law fail with a chance of at most `false_alarm`. Of two times N draws into c cells it sees a total
    variation δ between the laws once Nδ² is about log(1/false_alarm) + c·log N. Cells must not be made from the counts.
    """
    a, b = whole_counts("counts_a", counts_a), whole_counts("counts_b", counts_b)
    if a.shape != b.shape:
        raise ArgumentError(f"counts_b has {len(b)} cells and counts_a {len(a)}; give counts of the same cells.")
    evidence = evidence_of_difference(a, b)
    if evidence >= -log(probability("false_alarm", false_alarm)):
        raise AssertionError(
            f"counts are {a.tolist()} and {b.tolist()}; under one law as far apart at most once in {once_in(evidence)}."
        )


def assert_same_law(samples_a: npt.ArrayLike, samples_b: npt.ArrayLike, *, false_alarm: float = FALSE_ALARM) -> None:
    """Fails if two samples of independent real numbers, ties or not, do not come from one distribution.

    Samples of one law fail with a chance of at most `false_alarm` (each strays from its law by no more than Dvoretzky,
    Kiefer, Wolfowitz and Massart allow). Of two times N numbers it all but surely sees distribution functions that
    are 4·√(log(4/false_alarm)/2N) apart.
    """
    a, b = np.sort(np.ravel(samples_a)), np.sort(np.ravel(samples_b))
    for name, sample in (("samples_a", a), ("samples_b", b)):
        if len(sample) == 0 or np.any(np.isnan(sample)):
            raise ArgumentError(f"{name} holds {len(sample)} numbers; give at least one, and no nan.")
    points = np.concatenate([a, b])
    below = [np.searchsorted(sample, points, side="right") / len(sample) for sample in (a, b)]
    distance = float(np.abs(below[0] - below[1]).max())
    allowed = sqrt(log(4.0 / probability("false_alarm", false_alarm)) / 2.0) * (len(a) ** -0.5 + len(b) ** -0.5)
    if distance > allowed:
        raise AssertionError(
            f"the distribution functions are {distance:.4g} apart, more than the {allowed:.4g} that chance allows "
            f"samples of {len(a)} and {len(b)}."
        )


def evidence_against(counts: npt.NDArray[np.int64], probabilities: npt.NDArray[np.float64]) -> float:
    """The logarithm of a bet on the counts' draws that is fair if they have these probabilities."""
    drawn = counts > 0
    if np.any(probabilities[drawn] <= 0.0):
        return inf
    return log_mixture(counts) - float(counts[drawn] @ np.log(probabilities[drawn]))


def evidence_of_difference(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> float:
    """The logarithm of a bet on both samples' draws that is fair or worse whatever their common probabilities."""
    both = a + b
    both = both[both > 0]
    return log_mixture(a) + log_mixture(b) - float(both @ np.log(both / both.sum())) if len(both) else 0.0


def log_mixture(counts: npt.NDArray[np.int64]) -> float:
    """log P(these draws, in their order), the cells' probabilities drawn from Dirichlet(1/2, …, 1/2)."""
    cells, drawn = len(counts), counts[counts > 0].tolist()
    return lgamma(cells / 2) - lgamma(sum(drawn) + cells / 2) + sum(lgamma(c + 0.5) - lgamma(0.5) for c in drawn)


def once_in(evidence: float) -> str:
    return f"10^{evidence / log(10):.0f}" if isfinite(evidence) else "never"


def whole_counts(name: str, value: npt.ArrayLike) -> npt.NDArray[np.int64]:
    counts = np.asarray(value)
    if counts.ndim != 1 or counts.size == 0 or np.any(counts < 0) or np.any(counts != np.floor(counts)):
        raise ArgumentError(f"{name} is {value!r}; give a list of whole numbers of at least 0.")
    return counts.astype(np.int64)
