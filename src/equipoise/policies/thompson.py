"""Thompson draws a mean for every arm from what is believed of it, and pulls the arm of largest draw.

Rewards are taken for Gaussian with known σ, and the prior is flat, so each arm must be pulled once before it can be
believed anything of. Beliefs move in every round, so each round draws for all arms.

Rule:
    while an arm has not been pulled: any such arm, each with the same chance
    then: argmax_i θ_i with θ_i ~ N(μ̂_i, σ²/N_i), independent
Letters:
    N_i, N_i·μ̂_i -> n[i], s[i]     arms not pulled yet, how many -> unpulled
Source: Thompson, "On the likelihood that one unknown probability exceeds another in view of the evidence of two
    samples", Biometrika 25, 1933; for Gaussian rewards as in Korda, Kaufmann, Munos, "Thompson Sampling for
    1-Dimensional Exponential Family Bandits", NeurIPS 2013, whose Jeffreys prior is here the flat one.
Departs from the source:
    - The first pulls come in random order, so that no label is favoured.
    - The draws of a round are the round's one uniform, hashed with each arm's number.
Guarantee: for Gaussian rewards of standard deviation σ, T·R_{T,1}/log T tends to Σ 2σ²/Δ_i over the arms of gap
    Δ_i > 0, the least that is possible (Korda, Kaufmann, Munos, Theorem 1). For p < 1 none is claimed. The propensity
    is exact to 1e-9 for up to 10,000 arms.
"""

from dataclasses import dataclass
from math import erfc, exp, inf, pi, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from equipoise.policies.contract import FloatPerArm, IntPerArm, Policy
from equipoise.policies.steps import draw_unpulled, fill, normal_quantile, spread, spread_unpulled

# The rule of Gauss and Legendre with eight nodes on [-1, 1]: the positive nodes and their weights.
NODES = (0.18343464249564980, 0.52553240991632899, 0.79666647741362674, 0.96028985649753623)
WEIGHTS = (0.36268378337836198, 0.31370664587788729, 0.22238103445337447, 0.10122853629037626)

REACH = 8.0  # deviations beyond which a belief counts as nothing; what is lost is 1e-15 an arm
PANEL = 0.5  # width of a panel, in the least deviation of the beliefs that reach into it


class Params(NamedTuple):
    k: int
    sigma: float


NOW = np.dtype(
    [
        ("exploiting", np.bool_),  # never: this page is asked in every round
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
    st.now.unpulled = p.k


def choose(p: Params, st: State, u: float) -> int:
    if st.now.unpulled > 0:
        return draw_unpulled(st.n, u)
    best = 0
    largest = -inf
    for i in range(p.k):
        draw = st.s[i] / st.n[i] + p.sigma / sqrt(st.n[i]) * normal_quantile(spread(u, i))
        if draw > largest:
            best = i
            largest = draw
    return best


def update(p: Params, st: State, arm: int, reward: float) -> None:
    st.n[arm] += 1
    st.s[arm] += reward
    if st.n[arm] == 1:
        st.now.unpulled -= 1


def propensity(p: Params, st: State, out: FloatPerArm) -> None:
    """P(i has the largest draw), the integral of i's density times all others' distribution functions.

    Lengths are in units of σ, from the largest mean. One walk over panels serves all arms: each as wide as the sharpest
    belief that reaches into it allows, from where the last belief begins to where none goes on.
    """
    if st.now.unpulled > 0:
        spread_unpulled(st.n, out)
        return
    top = -inf
    for i in range(p.k):
        top = max(top, st.s[i] / st.n[i])
    x = -inf
    end = -inf
    for i in range(p.k):
        x = max(x, center(p, st, top, i) - REACH / sqrt(st.n[i]))
        end = max(end, center(p, st, top, i) + REACH / sqrt(st.n[i]))
    fill(out, 0.0)
    while x < end:
        half = 0.5 * min(panel(p, st, top, x), end - x)
        for j in range(len(NODES)):
            add_node(p, st, top, x + half * (1.0 - NODES[j]), half * WEIGHTS[j], out)
            add_node(p, st, top, x + half * (1.0 + NODES[j]), half * WEIGHTS[j], out)
        x += 2.0 * half
    normalise(out)


def panel(p: Params, st: State, top: float, x: float) -> float:
    """How far the integrand is smooth from x on: no belief ahead is sharper, or begins earlier."""
    width = inf
    for i in range(p.k):
        deviation = 1.0 / sqrt(st.n[i])
        ahead = center(p, st, top, i) - x
        if ahead > -REACH * deviation:
            width = min(width, max(PANEL * deviation, ahead - REACH * deviation))
    return width


def add_node(p: Params, st: State, top: float, x: float, weight: float, out: FloatPerArm) -> None:
    """Adds weight · φ_i(x) · Π_{j≠i} Φ_j(x) to every arm i, as F(x)·φ_i(x)/Φ_i(x) with F the product of all Φ."""
    F = 1.0
    for i in range(p.k):
        z = score(p, st, top, x, i)
        if z < REACH:
            F *= 0.5 * erfc(-z / sqrt(2.0))
    for i in range(p.k):
        z = score(p, st, top, x, i)
        if z < REACH:
            density = exp(-0.5 * z * z) * sqrt(st.n[i] / (2.0 * pi))
            out[i] += weight * F * density / (0.5 * erfc(-z / sqrt(2.0)))


def center(p: Params, st: State, top: float, i: int) -> float:
    """The middle of the belief of arm i; −∞ where σ is too small for the distance to be a number."""
    return float(st.s[i] / st.n[i] - top) / p.sigma


def score(p: Params, st: State, top: float, x: float, i: int) -> float:
    """Where x stands in the belief of arm i, in its deviations; never below −REACH in the walk, but for rounding."""
    return (x - center(p, st, top, i)) * sqrt(st.n[i])


def normalise(out: FloatPerArm) -> None:
    total = 0.0
    for i in range(len(out)):
        total += out[i]
    for i in range(len(out)):
        out[i] /= total


@dataclass(frozen=True)
class Thompson(Policy):
    """Thompson sampling for Gaussian rewards of known sigma, from a flat prior."""

    name: ClassVar[str] = "Thompson"

    def params(self, k: int, horizon: int, sigma: float) -> Params:
        return Params(k, sigma)
