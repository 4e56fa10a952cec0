"""Template pulls every arm `each` times, in random orders, then the arm of largest mean: a page to copy.

Copy this file beside your own code, rename `Template`, and change what you need: your page is then as good as any of
ours. These first paragraphs say what the policy does, for a reader who has never met it; five parts follow, and a test
parses them. `contract.py` says what a page may and must define; `check_policy` tests yours.

Rule:
    rounds 1 to k·each: a fresh random order of the arms every k rounds
    then: argmax_i μ̂_i
Letters:
    N_i, N_i·μ̂_i -> n[i], s[i]     the current order -> order     rounds played -> played
Source: the paper, and the algorithm, equation or theorem in it; here folklore ("explore, then commit").
Departs from the source: whatever a reader of the source would not expect, as a list; or "nothing". Here:
    - The means go on moving after the exploration, where the textbook commits to one arm for good.
Guarantee: the bound and its conditions, or "none". Here, with two arms of gap Δ and σ-sub-Gaussian rewards: the better
    one leads when the exploration ends with probability at least 1 − exp(−each·Δ²/(4σ²)).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from equipoise.arguments import whole
from equipoise.policies.contract import FloatPerArm, IntPerArm, Policy
from equipoise.policies.steps import draw_next, spread_rest


class Params(NamedTuple):
    """Numbers that stay fixed during a run. They may come from k, horizon, sigma and the policy's arguments."""

    k: int
    rounds: int


# The scalars of the state, by name. `exploiting` must be there; a page that never exploits leaves it False.
NOW = np.dtype([("exploiting", np.bool_), ("played", np.int64)], align=True)


class State(NamedTuple):
    """Arrays over the arms, of which `n` and `s` must be there, and `now`. Engines allocate them."""

    n: IntPerArm
    s: FloatPerArm
    order: IntPerArm
    now: Any


def init(p: Params, st: State) -> None:
    """Sets everything: a state may have been used before."""
    for i in range(p.k):
        st.n[i] = 0
        st.s[i] = 0.0
        st.order[i] = i
    st.now.exploiting = False
    st.now.played = 0


def choose(p: Params, st: State, u: float) -> int:
    """The arm of the next round. u is all the randomness of this round; `steps.spread` makes more of it."""
    return draw_next(st.order, st.now.played % p.k, u)


def update(p: Params, st: State, arm: int, reward: float) -> None:
    """Takes the reward in. While exploiting, a page adds to n and s, and that is all."""
    st.n[arm] += 1
    st.s[arm] += reward
    if st.now.exploiting:
        return
    st.now.played += 1
    st.now.exploiting = st.now.played == p.rounds  # every arm has been pulled by then, as it must


def propensity(p: Params, st: State, out: FloatPerArm) -> None:
    """The chance of each arm in the next round, given what could be observed so far. Optional."""
    spread_rest(st.order, st.now.played % p.k, out)


def index(p: Params, n: int, s: float) -> float:
    """What exploitation maximises, of an arm with n pulls and sum s. Optional: without it, asked every round."""
    return s / n


def margin(p: Params, n: int, v: float) -> float:
    """n·v less the sum at which an arm with n pulls has the index v; concave in n. Optional: with it, engines leap."""
    return 0.0


def info(p: Params, st: State) -> dict[str, Any]:
    """What a person may want to see beyond the numbers of the state. Optional; interpreted only."""
    return {"exploration": int(p.rounds)}


@dataclass(frozen=True)
class Template(Policy):
    """What users name. It stores its arguments and nothing else; `params` validates them.

    `each`: how often every arm is pulled before the means decide.
    """

    each: int = 1
    name: ClassVar[str] = "Template"

    def params(self, k: int, horizon: int, sigma: float) -> Params:
        return Params(k, k * whole("each", self.each))
