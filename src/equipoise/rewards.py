"""The reward families: the law of every arm as a NamedTuple of arrays, and how one reward is drawn from it.

`draw(law, arm, stream)` is plain Python that Numba compiles with all it calls; it takes its luck from `stream` alone.
A user's own family is written the same way.
"""

from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.streams import Stream, normal, random

Floats = npt.NDArray[np.float64]


class GaussianLaw(NamedTuple):
    means: Floats
    sigmas: Floats


def draw_gaussian(law: GaussianLaw, arm: int, stream: Stream) -> float:
    return law.means[arm] + law.sigmas[arm] * normal(stream)  # type: ignore[no-any-return]


class BernoulliLaw(NamedTuple):
    means: Floats


def draw_bernoulli(law: BernoulliLaw, arm: int, stream: Stream) -> float:
    return 1.0 if random(stream) < law.means[arm] else 0.0


class UniformLaw(NamedTuple):
    low: Floats
    high: Floats


def draw_uniform(law: UniformLaw, arm: int, stream: Stream) -> float:
    return law.low[arm] + (law.high[arm] - law.low[arm]) * random(stream)  # type: ignore[no-any-return]


class TriangularLaw(NamedTuple):
    low: Floats
    mode: Floats
    high: Floats


def draw_triangular(law: TriangularLaw, arm: int, stream: Stream) -> float:
    """The inverse of the distribution function. Nothing is divided, so low, mode and high may coincide."""
    low, mode, high = law.low[arm], law.mode[arm], law.high[arm]
    u = random(stream)
    if u * (high - low) < mode - low:
        return low + sqrt(u * (high - low) * (mode - low))  # type: ignore[no-any-return]
    return high - sqrt((1.0 - u) * (high - low) * (high - mode))  # type: ignore[no-any-return]


class BetaLaw(NamedTuple):
    a: Floats
    b: Floats


def draw_beta(law: BetaLaw, arm: int, stream: Stream) -> float:
    """X/(X + Y) of two gammas, by the difference of their logarithms: for small a and b both may be below 1e-308."""
    difference = log_gamma_variate(law.a[arm], stream) - log_gamma_variate(law.b[arm], stream)
    if difference > 0.0:
        return 1.0 / (1.0 + exp(-difference))
    ratio = exp(difference)
    return ratio / (1.0 + ratio)


def log_gamma_variate(a: float, stream: Stream) -> float:
    """The logarithm of a gamma variate of shape a, scale 1.

    Marsaglia and Tsang, "A simple method for generating gamma variables", 2000; for a < 1, theirs of a + 1 times
    U^(1/a).
    """
    boost = 0.0
    if a < 1.0:
        boost = log(1.0 - random(stream)) / a
        a += 1.0
    d = a - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    while True:
        x = normal(stream)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            if log(1.0 - random(stream)) < 0.5 * x * x + d * (1.0 - v + log(v)):
                return boost + log(d * v)


class ObservedLaw(NamedTuple):
    """The observed rewards of arm i are rewards[begins[i]:begins[i + 1]]."""

    rewards: Floats
    begins: npt.NDArray[np.int64]


def draw_observed(law: ObservedLaw, arm: int, stream: Stream) -> float:
    count = law.begins[arm + 1] - law.begins[arm]
    return law.rewards[law.begins[arm] + int(random(stream) * count)]  # type: ignore[no-any-return]
