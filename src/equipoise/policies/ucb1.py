"""UCB1 pulls every arm once, in random order, then the arm of largest upper bound, whose width grows with the clock.

It does not know the horizon. All indices move in every round, so each round looks at all arms.

Rule:
    while an arm has not been pulled: any such arm, each with the same chance
    then, in round t: argmax_i (μ̂_i + σ√(2·log t / N_i))
Letters:
    N_i, N_i·μ̂_i -> n[i], s[i]     t, from 1, the round being chosen -> t
    arms not pulled yet, how many -> unpulled
Source: Auer, Cesa-Bianchi, Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", Machine Learning 47, 2002,
    figure 1.
Departs from the source:
    - The width is multiplied by σ; the source has rewards in [0, 1] and no σ (σ = 1 here).
    - t is the round being chosen, one more than the source's count of the pulls done.
    - The first pulls come in random order, so that no label is favoured. Ties go to the lowest arm.
Guarantee: for rewards in [0, 1] and σ = 1 (twice their proxy), R_{T,1} ≤ (8·Σ log T/Δ_i + (1 + π²/3)·Σ Δ_i)/T up to
    the two shifts above (Theorem 1). With σ the proxy itself the width is half of that, and its proof does not carry
    over. For p < 1 none is claimed.
"""

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from equipoise.policies.contract import FloatPerArm, IntPerArm, Policy
from equipoise.policies.steps import draw_unpulled, fill, spread_unpulled


class Params(NamedTuple):
    k: int
    sigma: float


NOW = np.dtype(
    [
        ("exploiting", np.bool_),  # never: this page is asked in every round
        ("unpulled", np.int64),
        ("t", np.int64),  # the next round, from 1
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
    st.now.t = 1


def choose(p: Params, st: State, u: float) -> int:
    return draw_unpulled(st.n, u) if st.now.unpulled > 0 else leader(p, st)


def update(p: Params, st: State, arm: int, reward: float) -> None:
    st.n[arm] += 1
    st.s[arm] += reward
    now = st.now
    if st.n[arm] == 1:
        now.unpulled -= 1
    now.t += 1


def leader(p: Params, st: State) -> int:
    best = 0
    largest = -inf
    spell = 2.0 * log(st.now.t)
    for i in range(p.k):
        bound = st.s[i] / st.n[i] + p.sigma * sqrt(spell / st.n[i])
        if bound > largest:
            best = i
            largest = bound
    return best


def propensity(p: Params, st: State, out: FloatPerArm) -> None:
    if st.now.unpulled > 0:
        spread_unpulled(st.n, out)
    else:
        fill(out, 0.0)
        out[leader(p, st)] = 1.0


@dataclass(frozen=True)
class UCB1(Policy):
    """UCB1 of Auer, Cesa-Bianchi and Fischer, its width scaled by sigma."""

    name: ClassVar[str] = "UCB1"

    def params(self, k: int, horizon: int, sigma: float) -> Params:
        return Params(k, sigma)
