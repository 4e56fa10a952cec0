"""UCB-HARE explores the arms by harmonic rank, each risky pull paired with one of a certified anchor, then plays UCB.

Preparation goes in blocks of two rounds. A fair coin says which round is the scheduled slot; it pulls the arm of the
block's rank. The other, the auxiliary slot, pulls the anchor: the arm of largest lower bound, where that is positive.

Rule:
    L = log(8kT/δ), c(n) = σ√(2L/n), B = max_i (μ̂_i − c(N_i))
    block b: the scheduled slot pulls π(r_b); the auxiliary slot argmax_i (μ̂_i − c(N_i)) if B > 0, else π(r_b)
    preparation ends at the first even round with B > 0 and min_i N_i ≥ 32σ²L/B²; from then on argmax_i (μ̂_i + c(N_i))
Letters:
    N_i, N_i·μ̂_i -> n[i], s[i]     π -> order, drawn as far as `drawn`     r_b -> rank, a divisor of `integer`
    μ̂_i − c(N_i) -> low[i]          B -> floor, attained by anchor           θ_b -> scheduled_first
Source: Sarkar, Dutta, Ray Chowdhury, "Price of Fairness in Bandits: A Tight Minimax Characterization", Algorithm 1,
    equation (stop-condition), section "Harmonic Schedule".
Departs from the source:
    - π is drawn as its ranks are met, which has the same law: rank r first comes at n = r.
    - δ is 1/T unless given, as in the paper's Theorem intro-upper and its authors' code.
    - Ties, which the paper leaves open, go to the lowest arm.
Guarantee: for means ≥ 0 and σ-sub-Gaussian rewards, R_{T,−q} ≤ C_q·(σ√(H_k·K_q(k)·L/T) + μ⋆·H_k·K_q(k)/T + μ⋆·δ)
    for every q > 0 at once (Theorem upper-main).
"""

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from equipoise.arguments import probability
from equipoise.policies.contract import FloatPerArm, IntPerArm, Policy
from equipoise.policies.steps import draw_next, fill, spread_unpulled
from equipoise.schedule import following


class Params(NamedTuple):
    k: int
    sigma: float
    L: float


NOW = np.dtype(
    [
        ("exploiting", np.bool_),  # Phase II has begun
        ("integer", np.int64),  # the n whose divisors are being listed
        ("rank", np.int64),  # r_b
        ("drawn", np.int64),  # ranks 1..drawn of π are drawn
        ("second", np.bool_),  # the block's second round is due
        ("scheduled_first", np.bool_),  # θ_b
        ("coin_shown", np.bool_),  # the block's first arm tells θ_b
        ("anchor", np.int64),
        ("floor", np.float64),  # B
    ],
    align=True,
)


class State(NamedTuple):
    n: IntPerArm
    s: FloatPerArm
    order: IntPerArm  # rank r is arm order[r - 1]
    low: FloatPerArm  # μ̂_i − c(N_i); −inf where an arm has not been pulled
    now: Any


def init(p: Params, st: State) -> None:
    for i in range(p.k):
        st.n[i] = 0
        st.s[i] = 0.0
        st.order[i] = i
        st.low[i] = -inf
    now = st.now
    now.exploiting = False
    now.integer = 0
    now.rank = 0
    now.drawn = 0
    now.second = False
    now.scheduled_first = False
    now.coin_shown = False
    now.anchor = -1
    now.floor = -inf


def choose(p: Params, st: State, u: float) -> int:
    now = st.now
    if not now.second:
        begin_block(p, st, u)
    if now.second != now.scheduled_first or now.floor <= 0.0:  # lines 9 and 10
        return int(st.order[now.rank - 1])
    return int(now.anchor)  # line 12


def update(p: Params, st: State, arm: int, reward: float) -> None:
    st.n[arm] += 1
    st.s[arm] += reward
    now = st.now
    if now.exploiting:
        return
    move_floor(p, st, arm)
    now.second = not now.second
    if not now.second:
        now.exploiting = prepared(p, st)


def begin_block(p: Params, st: State, u: float) -> None:
    """Line 6 and the next rank, drawn with what the coin leaves of u if it is new."""
    now = st.now
    now.scheduled_first = u < 0.5
    now.integer, now.rank = following(now.integer, now.rank, p.k)
    if now.rank > now.drawn:
        draw_next(st.order, now.drawn, 2.0 * u if u < 0.5 else 2.0 * u - 1.0)
        now.drawn = now.rank
    now.coin_shown = now.floor > 0.0 and st.order[now.rank - 1] != now.anchor


def radius(p: Params, n: int) -> float:
    """c(n), line 2."""
    return p.sigma * sqrt(2.0 * p.L / n)


def move_floor(p: Params, st: State, arm: int) -> None:
    """B after a pull of `arm`: no other bound has moved, so all are looked at only if the anchor's fell."""
    now = st.now
    low = float(st.s[arm] / st.n[arm] - radius(p, st.n[arm]))
    st.low[arm] = low
    if arm != now.anchor or low >= now.floor:
        if low > now.floor or (low == now.floor and arm < now.anchor):
            now.floor = low
            now.anchor = arm
        return
    now.floor = -inf
    for i in range(p.k):
        if st.low[i] > now.floor:
            now.floor = st.low[i]
            now.anchor = i


def prepared(p: Params, st: State) -> bool:
    """Equation (stop-condition). The last rank is pulled least, so it nearly always answers alone."""
    B = st.now.floor
    if B <= 0.0 or st.now.drawn < p.k or short(p, st, st.order[p.k - 1], B):
        return False
    for i in range(p.k):
        if short(p, st, i, B):
            return False
    return True


def short(p: Params, st: State, i: int, B: float) -> bool:
    """N_i < 32σ²L/B²."""
    return bool(st.n[i] * (B * B) < 32.0 * p.sigma * p.sigma * p.L)


def propensity(p: Params, st: State, out: FloatPerArm) -> None:
    now = st.now
    rank = now.rank
    scheduled = 1.0
    if not now.second:
        _, rank = following(now.integer, now.rank, p.k)
    if now.floor > 0.0:
        scheduled = 0.5
        if now.second and now.coin_shown:
            scheduled = 0.0 if now.scheduled_first else 1.0
    arm = -1 if rank > now.drawn else int(st.order[rank - 1])
    if arm < 0 or st.n[arm] == 0:  # not shown yet: any arm that has not been pulled
        spread_unpulled(st.n, out)
    else:
        fill(out, 0.0)
        out[arm] = 1.0
    for i in range(p.k):
        out[i] *= scheduled
    if scheduled < 1.0:
        out[now.anchor] += 1.0 - scheduled


def index(p: Params, n: int, s: float) -> float:
    return s / n + radius(p, n)


def margin(p: Params, n: int, v: float) -> float:
    return p.sigma * sqrt(2.0 * p.L * n)


def info(p: Params, st: State) -> dict[str, Any]:
    ranks = {"ranks": [int(arm) for arm in st.order[: st.now.drawn] if st.n[arm] > 0]}
    if st.now.exploiting:
        return ranks
    anchor = int(st.now.anchor) if st.now.anchor >= 0 else None
    return {"block": int(st.n.sum()) // 2 + 1, **ranks, "anchor": anchor, "B": float(st.now.floor)}


def log_term(k: int, horizon: int, delta: float | None) -> float:
    """L."""
    return log(8.0 * k * horizon / (1.0 / horizon if delta is None else probability("delta", delta)))


@dataclass(frozen=True)
class UCBHare(Policy):
    """UCB-HARE, the paper's Algorithm 1. `delta`: the confidence level, 1/horizon unless given."""

    delta: float | None = None
    name: ClassVar[str] = "UCB-HARE"

    def params(self, k: int, horizon: int, sigma: float) -> Params:
        return Params(k, sigma, log_term(k, horizon, self.delta))
