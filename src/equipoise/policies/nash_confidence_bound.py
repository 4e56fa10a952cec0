"""Nash Confidence Bound explores uniformly until one arm has gathered enough, then plays a bound made for Nash regret.

Its width shrinks with the mean: an arm of small mean is known better, in the relative terms that a geometric mean asks
for.

Rule:
    Phase I: any arm, each with the same chance, until max_i N_i·μ̂_i > 420·c²·log T
    Phase II: argmax_i (μ̂_i + 2c√(2·μ̂_i·log T / N_i)); an unpulled arm first, any with the same chance
Letters:
    N_i, N_i·μ̂_i -> n[i], s[i]     420·c²·log T -> enough     2c√(2·log T) -> beta
    Phase I goes on -> exploring    arms not pulled yet, how many -> unpulled
Source: Barman, Khan, Maiti, Sawarni, "Fairness and Welfare Quantification for Regret in Multi-Armed Bandits", AAAI
    2023: the version that stops its Phase I by the rewards, not by the clock.
Departs from the source:
    - A negative mean counts as 0 under the root; the source has rewards in [0, 1].
    - Arms that Phase I has missed come first, in random order. Ties go to the lowest arm.
    - Phase I ends for good, even where negative rewards bring the largest sum down again.
Guarantee: for rewards in [0, 1] and T large enough, Nash regret R_{T,0} = O(√(k·log T / T)). It knows no σ, and for
    p < 0 none is claimed.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from equipoise.arguments import positive
from equipoise.policies.contract import FloatPerArm, IntPerArm, Policy
from equipoise.policies.steps import draw_unpulled, fill, spread_unpulled


class Params(NamedTuple):
    k: int
    enough: float
    beta: float


NOW = np.dtype(
    [
        ("exploiting", np.bool_),  # Phase II has begun, and every arm has been pulled
        ("exploring", np.bool_),
        ("unpulled", np.int64),
    ],
    align=True,
)


class State(NamedTuple):
    n: IntPerArm
    s: FloatPerArm
    now: Any


def init(p: Params, st: State) -> None:
    for i in range(p.k):
        st.n[i] = 0
        st.s[i] = 0.0
    st.now.exploiting = False
    st.now.exploring = True
    st.now.unpulled = p.k


def choose(p: Params, st: State, u: float) -> int:
    return int(u * p.k) if st.now.exploring else draw_unpulled(st.n, u)


def update(p: Params, st: State, arm: int, reward: float) -> None:
    st.n[arm] += 1
    st.s[arm] += reward
    now = st.now
    if now.exploiting:
        return
    if st.n[arm] == 1:
        now.unpulled -= 1
    if st.s[arm] > p.enough:  # no other sum has moved
        now.exploring = False
    now.exploiting = not now.exploring and now.unpulled == 0


def propensity(p: Params, st: State, out: FloatPerArm) -> None:
    if st.now.exploring:
        fill(out, 1.0 / p.k)
    else:
        spread_unpulled(st.n, out)


def index(p: Params, n: int, s: float) -> float:
    """μ̂ + 2c√(2·μ̂·log T / n), with the pulls taken out of the root."""
    return (s + p.beta * sqrt(max(s, 0.0))) / n


def margin(p: Params, n: int, v: float) -> float:
    """βx for the positive root of x² + βx = vn: the square of that root is the sum whose index is v."""
    return 2.0 * p.beta * v * n / (p.beta + sqrt(p.beta * p.beta + 4.0 * v * n)) if v > 0.0 else 0.0


def info(p: Params, st: State) -> dict[str, Any]:
    return {"exploring": bool(st.now.exploring), "largest_sum": float(st.s.max()), "enough": float(p.enough)}


@dataclass(frozen=True)
class NashConfidenceBound(Policy):
    """Nash Confidence Bound, for rewards that are not negative. `c`: the source's constant, in both phases."""

    c: float = 3.0
    name: ClassVar[str] = "Nash Confidence Bound"

    def params(self, k: int, horizon: int, sigma: float) -> Params:
        c, log_T = positive("c", self.c), log(horizon)
        return Params(k, 420.0 * c * c * log_T, 2.0 * c * sqrt(2.0 * log_T))
