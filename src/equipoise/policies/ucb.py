"""UCB pulls every arm once, in random order, then the arm of largest upper bound: UCB-HARE without its preparation.

Its width is set for the horizon, so an arm's index moves only when the arm is pulled.

Rule:
    L = log(8kT/δ)
    while an arm has not been pulled: any such arm, each with the same chance
    then: argmax_i (μ̂_i + σ√(2L/N_i))
Letters:
    N_i, N_i·μ̂_i -> n[i], s[i]     arms not pulled yet, how many -> unpulled
Source: Auer, Cesa-Bianchi, Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", Machine Learning 47, 2002,
    with the confidence width of UCB-HARE's Phase II in place of UCB1's: the field's common yardstick.
Departs from the source:
    - The width holds for all rounds at once (L in place of log t), as in UCB-HARE, so that the two can be compared.
    - The first pulls come in random order, so that no label is favoured. Ties go to the lowest arm.
Guarantee: for σ-sub-Gaussian rewards, an arm of gap Δ > 0 is pulled at most 1 + 8σ²L/Δ² times, all arms at once, with
    probability 1 − δ; so R_{T,1} = O(σ√(kL/T) + (k/T + δ)·max Δ). For p < 1 none is claimed.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from equipoise.policies.contract import FloatPerArm, IntPerArm, Policy
from equipoise.policies.steps import draw_unpulled, spread_unpulled
from equipoise.policies.ucb_hare import Params, index, log_term, margin

# The index is UCB-HARE's own.
__all__ = ["NOW", "UCB", "Params", "State", "choose", "index", "init", "margin", "propensity", "update"]


NOW = np.dtype([("exploiting", np.bool_), ("unpulled", np.int64)], align=True)


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
    return draw_unpulled(st.n, u)


def update(p: Params, st: State, arm: int, reward: float) -> None:
    st.n[arm] += 1
    st.s[arm] += reward
    now = st.now
    if now.exploiting:
        return
    if st.n[arm] == 1:
        now.unpulled -= 1
    now.exploiting = now.unpulled == 0


def propensity(p: Params, st: State, out: FloatPerArm) -> None:
    spread_unpulled(st.n, out)


@dataclass(frozen=True)
class UCB(Policy):
    """UCB for a known horizon. `delta`: the confidence level, 1/horizon unless given."""

    delta: float | None = None
    name: ClassVar[str] = "UCB"

    def params(self, k: int, horizon: int, sigma: float) -> Params:
        return Params(k, sigma, log_term(k, horizon, self.delta))
