"""Walks: how the sum of many rewards of one arm is drawn at once, and cut in halves, for the leaping engine.

The engine keeps an arm's *position*: the sum of its rewards less `base` for each pull. A walk gives it five verbs,
plain Python that Numba compiles, over the law of `rewards.py`:

- `base(law, arm)`: what is taken out of the sum for each pull;
- `ahead(law, arm, level, stream)`: the change of the position over the next 2^level pulls;
- `midway(law, arm, level, change, stream)`: the change over the first half of them, given that over all;
- `sure(law, arm, level, a0, a1, cut)`: whether a walk that begins a0 above a convex boundary and is a1 above it
  2^level pulls later was above it in between, up to a chance of exp(−cut); never if it ends at or under the boundary,
  or begins under it. docs/leap.md proves the bounds;
- `stride(law, arm, slack)`: how many pulls are worth trying at once, that far above the boundary. Only speed depends
  on it.

Other families have no walk and are played step by step.
"""

from collections.abc import Callable
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from equipoise.rewards import BernoulliLaw, GaussianLaw
from equipoise.samplers import binomial, half_of
from equipoise.streams import Stream, normal

SIZE = 2.0 ** np.arange(64)  # of a level: its pulls
ROOT = 2.0 ** (np.arange(64) / 2.0)


class Walk(NamedTuple):
    base: Callable[[Any, int], float]
    ahead: Callable[[Any, int, int, Stream], float]
    midway: Callable[[Any, int, int, float, Stream], float]
    sure: Callable[[Any, int, int, float, float, float], bool]
    stride: Callable[[Any, int, float], float]


# Gaussian: the position is pure noise, so it resolves single pulls however many there were.


def base_gaussian(law: GaussianLaw, arm: int) -> float:
    return law.means[arm]  # type: ignore[no-any-return]


def ahead_gaussian(law: GaussianLaw, arm: int, level: int, stream: Stream) -> float:
    return law.sigmas[arm] * ROOT[level] * normal(stream)  # type: ignore[no-any-return]


def midway_gaussian(law: GaussianLaw, arm: int, level: int, change: float, stream: Stream) -> float:
    return 0.5 * (change + law.sigmas[arm] * ROOT[level] * normal(stream))  # type: ignore[no-any-return]


def sure_gaussian(law: GaussianLaw, arm: int, level: int, a0: float, a1: float, cut: float) -> bool:
    """A Brownian bridge falls to the chord with chance exp(−2·a0·a1/(l·σ²)); the walk is part of one."""
    return a1 > 0.0 and 2.0 * a0 * a1 > cut * SIZE[level] * law.sigmas[arm] * law.sigmas[arm]


def stride_gaussian(law: GaussianLaw, arm: int, slack: float) -> float:
    x = slack / law.sigmas[arm]
    return 0.25 * x * x  # type: ignore[no-any-return]


# Bernoulli: the position is the number of successes, a whole number.


def base_bernoulli(law: BernoulliLaw, arm: int) -> float:
    return 0.0


def ahead_bernoulli(law: BernoulliLaw, arm: int, level: int, stream: Stream) -> float:
    return float(binomial(1 << level, law.means[arm], stream))


def midway_bernoulli(law: BernoulliLaw, arm: int, level: int, change: float, stream: Stream) -> float:
    return float(half_of(level, int(change), stream))


def sure_bernoulli(law: BernoulliLaw, arm: int, level: int, a0: float, a1: float, cut: float) -> bool:
    """Either no arrangement of the successes falls to the chord, or less than 2·exp(−8·a0·a1/(l + 2)) of them do."""
    if a0 < 0.0 or a1 <= 0.0:
        return False
    if law.means[arm] == 0.0 or law.means[arm] == 1.0:
        return True
    product, size = a0 * a1, SIZE[level]
    if a0 + a1 + 2.0 * sqrt(product) > size:
        return True
    return level >= 3 and 8.0 * product > (cut + LOG_2) * (size + 2.0)


def stride_bernoulli(law: BernoulliLaw, arm: int, slack: float) -> float:
    return slack * slack


LOG_2 = log(2.0)

GAUSSIAN_WALK = Walk(base_gaussian, ahead_gaussian, midway_gaussian, sure_gaussian, stride_gaussian)
BERNOULLI_WALK = Walk(base_bernoulli, ahead_bernoulli, midway_bernoulli, sure_bernoulli, stride_bernoulli)
