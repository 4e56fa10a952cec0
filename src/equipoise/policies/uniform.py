"""Uniform pulls any arm, each with the same chance, in every round: the yardstick that never learns.

Rule:
    round t pulls arm i with probability 1/k
Letters: none beyond k.
Source: folklore.
Departs from the source: nothing.
Guarantee: m_t = mean(μ) in every round, so R_{T,p} = μ⋆ − mean(μ) for every p and every T, exactly.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from equipoise.policies.contract import FloatPerArm, IntPerArm, Policy
from equipoise.policies.steps import fill


class Params(NamedTuple):
    k: int


NOW = np.dtype([("exploiting", np.bool_)], align=True)  # never: this page is asked in every round


class State(NamedTuple):
    n: IntPerArm
    s: FloatPerArm
    now: Any


def init(p: Params, st: State) -> None:
    for i in range(p.k):
        st.n[i] = 0
        st.s[i] = 0.0
    st.now.exploiting = False


def choose(p: Params, st: State, u: float) -> int:
    return int(u * p.k)


def update(p: Params, st: State, arm: int, reward: float) -> None:
    st.n[arm] += 1
    st.s[arm] += reward


def propensity(p: Params, st: State, out: FloatPerArm) -> None:
    fill(out, 1.0 / p.k)


@dataclass(frozen=True)
class Uniform(Policy):
    """Any arm, at random, in every round."""

    name: ClassVar[str] = "Uniform"

    def params(self, k: int, horizon: int, sigma: float) -> Params:
        return Params(k)
