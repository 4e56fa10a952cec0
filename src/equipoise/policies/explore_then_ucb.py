"""Explore-Then-UCB pulls uniformly random arms for a number of rounds fixed beforehand, then plays UCB.

The number depends on k, T and the exponent p that the policy is tuned to, never on the rewards.

Rule:
    T̃ = 16√(T·log T / k^|p|) for p < 0, 16√(T·k·log T / log k) for p = 0, 16√(T·k^p·log T / log k) for 0 < p ≤ 1;
        rounded down, at most T
    Phase I, T̃ rounds: any arm, each with the same chance
    Phase II: argmax_i (μ̂_i + w√(log T / N_i)); an unpulled arm first
Letters:
    N_i, N_i·μ̂_i -> n[i], s[i]     T̃ -> exploration     rounds played -> played     w (or w·σ) -> w
    arms not pulled yet, how many -> unpulled
Source: Krishna, John, Barik, Tan, "p-Mean Regret for Stochastic Bandits", AAAI 2025.
Departs from the source:
    - T̃ is rounded down and capped at T; with k = 1 and p ≥ 0, where it would divide by log 1, it is 0.
    - w is 4, as in UCB-HARE's authors' experiments; the source's own run w = 6.
    - `scaled=True` multiplies the width by σ; the source has rewards in [0, 1] and no σ.
    - Arms that Phase I has missed come in random order; `unpulled="index"` takes them by index, as published. There
      an arm's label decides who gets it, and at strong p < 0 that order is most of the regret.
    - Ties go to the lowest arm. p must be finite and at most 1.
Guarantee: for rewards in [0, 1], R_{T,p} is Õ(√(k/T^(1/(2|p|)))) for p ≤ −1, Õ(√(k^1.5/T^0.5)) for −1 < p < 0 and
    Õ(√(k/T)) for 0 ≤ p ≤ 1, for the p that it is tuned to. Its authors' code refuses p < −⌊log T / (2·log k) + 1⌋,
    where T̃ leaves too little to explore: such a p lies outside the guarantee, and runs here all the same.
"""

from dataclasses import dataclass
from math import floor, log, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from equipoise.arguments import ArgumentError, one_of, positive, tuned_exponent
from equipoise.policies.contract import FloatPerArm, IntPerArm, Policy
from equipoise.policies.steps import draw_unpulled, fill, spread_unpulled


class Params(NamedTuple):
    k: int
    exploration: int
    w: float
    log_T: float
    by_index: bool


NOW = np.dtype(
    [
        ("exploiting", np.bool_),  # Phase II has begun, and every arm has been pulled
        ("played", np.int64),  # rounds, as far as the end of preparation
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
    st.now.played = 0
    st.now.unpulled = p.k


def choose(p: Params, st: State, u: float) -> int:
    if st.now.played < p.exploration:
        return int(u * p.k)
    return draw_unpulled(st.n, 0.0 if p.by_index else u)  # of u = 0 it makes the lowest


def update(p: Params, st: State, arm: int, reward: float) -> None:
    st.n[arm] += 1
    st.s[arm] += reward
    now = st.now
    if now.exploiting:
        return
    now.played += 1
    if st.n[arm] == 1:
        now.unpulled -= 1
    now.exploiting = now.played >= p.exploration and now.unpulled == 0


def propensity(p: Params, st: State, out: FloatPerArm) -> None:
    if st.now.played < p.exploration:
        fill(out, 1.0 / p.k)
    elif p.by_index:
        fill(out, 0.0)
        out[draw_unpulled(st.n, 0.0)] = 1.0
    else:
        spread_unpulled(st.n, out)


def index(p: Params, n: int, s: float) -> float:
    return s / n + p.w * sqrt(p.log_T / n)


def margin(p: Params, n: int, v: float) -> float:
    return p.w * sqrt(p.log_T * n)


def info(p: Params, st: State) -> dict[str, Any]:
    return {"exploration": int(p.exploration)}


def exploration_rounds(k: int, horizon: int, p: float) -> int:
    """T̃. For p < 0 the power is taken of 1/k, which may run down to 0 but never over."""
    if p < 0.0:
        length = 16.0 * sqrt(horizon * log(horizon) * float(k) ** p)
    elif k == 1:
        length = 0.0
    else:
        length = 16.0 * sqrt(horizon * k ** (p if p > 0.0 else 1.0) * log(horizon) / log(k))
    return min(horizon, floor(length))


@dataclass(frozen=True)
class ExploreThenUCB(Policy):
    """Explore-Then-UCB. `p`: the exponent that it is tuned to; `w`: the width; `scaled`: the width times sigma;
    `unpulled`: the order, "random" or "index", of arms that the exploration has missed."""

    p: float
    w: float = 4.0
    scaled: bool = False
    unpulled: str = "random"
    name: ClassVar[str] = "Explore-Then-UCB"

    def params(self, k: int, horizon: int, sigma: float) -> Params:
        if not isinstance(self.scaled, bool):
            raise ArgumentError(f"scaled is {self.scaled!r}; give True or False.")
        w = positive("w", self.w) * (sigma if self.scaled else 1.0)
        by_index = one_of("unpulled", self.unpulled, ("random", "index")) == "index"
        return Params(k, exploration_rounds(k, horizon, tuned_exponent(self.p)), w, log(horizon), by_index)

    def changes(self, k: int, horizon: int) -> tuple[int, ...]:
        end = exploration_rounds(k, horizon, tuned_exponent(self.p))
        return (end,) if 0 < end < horizon else ()

    @property
    def symmetric(self) -> bool:
        return self.unpulled != "index"
