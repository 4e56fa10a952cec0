"""Welfarist-UCB pulls the arms in turn, in fresh random orders, until one has surely earned enough, then plays UCB.

Its first phase is uniform whatever the rewards: it ends as soon as one arm is known to be good, and how good that is
grows with the exponent p that the policy is tuned to.

Rule:
    c = 2, p_a = 1 if p ≥ −1 else p, w_i = c√(2σ²·log T / N_i)
    Phase I: a fresh random order of the arms every k rounds, as long as every pulled arm has
        μ̂_i ≤ w_i  or  N_i·μ̂_i < 200·c²·p_a²·σ²·log T / (μ̂_i − w_i) + c√(2·N_i·σ²·log T)
    Phase II: argmax_i (μ̂_i + w_i); an unpulled arm first
Letters:
    N_i, N_i·μ̂_i -> n[i], s[i]     w_i -> width     c -> C     the current order -> order, shown as far as `shown`
    Phase I goes on -> exploring    arms not pulled yet, how many -> unpulled
Source: Sarkar, Pandey, Ray Chowdhury, "Revisiting Social Welfare in Bandits: UCB is (Nearly) All You Need", 2025.
Departs from the source:
    - An order is drawn arm by arm as its rounds come, which has the same law.
    - If Phase I ends within the first order, that order is finished: an unpulled arm first, in random order.
    - Ties go to the lowest arm. p must be finite and at most 1.
Guarantee: for means ≥ 0 and σ-sub-Gaussian rewards, R_{T,−q} = Õ_q(σ·k^((q+1)/2)/√T) for the q = −p > 0 that it is
    tuned to (as "Price of Fairness in Bandits" states it, Table "rates"). Phase I may last until T.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from equipoise.arguments import tuned_exponent
from equipoise.policies.contract import FloatPerArm, IntPerArm, Policy
from equipoise.policies.steps import draw_next, spread_rest

C = 2.0


class Params(NamedTuple):
    k: int
    sigma: float
    log_T: float
    p_a: float


NOW = np.dtype(
    [
        ("exploiting", np.bool_),  # Phase II has begun, and every arm has been pulled
        ("exploring", np.bool_),
        ("shown", np.int64),  # arms of the current order that have been pulled
        ("unpulled", np.int64),
    ],
    align=True,
)


class State(NamedTuple):
    n: IntPerArm
    s: FloatPerArm
    order: IntPerArm
    now: Any


def init(p: Params, st: State) -> None:
    for i in range(p.k):
        st.n[i] = 0
        st.s[i] = 0.0
        st.order[i] = i
    st.now.exploiting = False
    st.now.exploring = True
    st.now.shown = 0
    st.now.unpulled = p.k


def choose(p: Params, st: State, u: float) -> int:
    return draw_next(st.order, st.now.shown, u)


def update(p: Params, st: State, arm: int, reward: float) -> None:
    st.n[arm] += 1
    st.s[arm] += reward
    now = st.now
    if now.exploiting:
        return
    now.shown = now.shown + 1 if now.shown + 1 < p.k else 0
    if st.n[arm] == 1:
        now.unpulled -= 1
    if now.exploring and earned(p, st.n[arm], st.s[arm]):  # no other arm has moved
        now.exploring = False
    now.exploiting = not now.exploring and now.unpulled == 0


def width(p: Params, n: int) -> float:
    """w."""
    return C * p.sigma * sqrt(2.0 * p.log_T / n)


def earned(p: Params, n: int, s: float) -> bool:
    """An arm of n pulls and sum s breaks both conditions of Phase I."""
    mean = float(s / n)
    w = width(p, n)
    if mean <= w:
        return False
    noise = p.sigma * p.sigma * p.log_T
    return bool(n * mean >= 200.0 * C * C * p.p_a * p.p_a * noise / (mean - w) + C * sqrt(2.0 * n * noise))


def propensity(p: Params, st: State, out: FloatPerArm) -> None:
    spread_rest(st.order, st.now.shown, out)


def index(p: Params, n: int, s: float) -> float:
    return s / n + width(p, n)


def margin(p: Params, n: int, v: float) -> float:
    return C * p.sigma * sqrt(2.0 * p.log_T * n)


def info(p: Params, st: State) -> dict[str, Any]:
    shown = [int(arm) for arm in st.order[: st.now.shown]]
    return {"exploring": bool(st.now.exploring), "order": int(st.n.sum()) // p.k + 1, "shown": shown}


@dataclass(frozen=True)
class WelfaristUCB(Policy):
    """Welfarist-UCB. `p`: the exponent of the p-mean that it is tuned to."""

    p: float
    name: ClassVar[str] = "Welfarist-UCB"

    def params(self, k: int, horizon: int, sigma: float) -> Params:
        p = tuned_exponent(self.p)
        return Params(k, sigma, log(horizon), 1.0 if p >= -1.0 else p)
