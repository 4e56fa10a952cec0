"""The bounds against simulation: what is measured never contradicts what is proven, and a false bound is noticed.

`test_lemmas.py` does the same for the lemmas about UCB-HARE. Policies here treat all arms alike, so that the needle's
place does not matter and a bound for some needle is one for arm 0. Seeds are fixed. A comparison fails by chance where
an estimate is 5 standard errors off: about 3e-7 for each if errors are normal, under 1e-4 for all of this file.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.theory.information import success_envelope

ERRORS = 5.0
POLICIES = [eq.UCBHare(), eq.WelfaristUCB(p=-1), eq.Thompson(), eq.Uniform()]


class Case(NamedTuple):
    k: int
    T: int
    mu: float
    sigma: float
    runs: int


CASES = [Case(8, 200, 1.0, 1.0, 20_000), Case(8, 2001, 6.0, 2.0, 4000), Case(3, 301, 5.0, 0.2, 20_000)]
every_case = pytest.mark.parametrize("case", CASES, ids=str)
simulated: dict[Case, eq.Result] = {}


def played(case: Case) -> eq.Result:
    if case not in simulated:
        arms = eq.instances.needle(case.k, case.mu, case.sigma)
        simulated[case] = eq.simulate(arms, POLICIES, horizon=case.T, runs=case.runs, seed=5)
    return simulated[case]


def regrets(case: Case, p: float) -> pd.DataFrame:
    return played(case).regret(p=p, t=case.T)


@every_case
@pytest.mark.parametrize("p", [1.0, 0.0, -0.5, -1.0, -2.0])
def test_no_policy_beats_the_lower_bound(case: Case, p: float) -> None:
    proven = eq.theory.needle_regret(case.k, case.T, case.sigma, case.mu, p)
    first = eq.theory.first_participant_regret(case.k, case.T, case.mu, p)
    table = regrets(case, p)
    assert (table.est + ERRORS * table.mcse >= max(proven, first)).all()


@every_case
def test_a_lower_bound_that_is_false_is_noticed(case: Case) -> None:
    """Of 40 times the baseline that p = 1 gives; the constants are not so loose that anything would pass."""
    table = regrets(case, 1.0)
    best = (table.est + ERRORS * table.mcse).min()
    assert best < 40.0 * eq.theory.needle_regret(case.k, case.T, case.sigma, case.mu, 1.0)


@every_case
def test_no_policy_learns_faster_than_the_envelope(case: Case) -> None:
    lam = np.array([0.5 * (case.mu / case.sigma) ** 2])
    success = success_envelope(case.k, case.T, lam, 100).success[0]
    rounds = np.array([1, 2, 3, 5, 10, 20, 40])
    table = played(case).exante(t=rounds)
    allowed = success[table.t.to_numpy() - 1]
    slack = ERRORS * np.maximum(table.mcse / case.mu, np.sqrt(1.0 / (case.k * case.runs)))  # mcse may be 0 by chance
    assert (table.est / case.mu <= allowed + slack).all()
    if case.mu > 2.0 * case.sigma:  # and some policy exceeds half of it, so that half of it would be noticed
        assert (table.est / case.mu > 0.5 * allowed + slack).any()


@every_case
@pytest.mark.parametrize("q", [0.5, 1.0, 2.0])
def test_hare_keeps_the_tight_upper_bound(case: Case, q: float) -> None:
    proven = eq.theory.upper_bound(case.k, case.T, case.sigma, case.mu, q, tight=True)
    table = regrets(case, -q)
    assert table.policy[0] == "UCB-HARE"
    assert table.est[0] - ERRORS * table.mcse[0] <= proven.value


def test_an_upper_bound_that_is_false_is_noticed() -> None:
    """Where the bound is far below μ⋆, uniform allocation, to which it does not apply, breaks it."""
    k, T, q = 3, 400_000, 1.0
    proven = eq.theory.upper_bound(k, T, 0.2, 5.0, q, tight=True).value
    arms = eq.instances.needle(k, 5.0, 0.2)
    table = eq.simulate(arms, [eq.UCBHare(), eq.Uniform()], horizon=T, runs=50, seed=5).regret(p=-q, t=T)
    assert table.est[0] <= proven < 1.0 < table.est[1]


def test_the_tight_reward_floor_is_kept_in_every_round() -> None:
    """Preparation of HARE on a needle: m_t/μ⋆ ≥ (1 - δ/4)·max(4, 3a + 1)/(8k) at the tight frontier; not 3 times it."""
    k, T, mu, sigma, runs = 6, 800, 40.0, 1.0, 20_000
    result = eq.simulate(eq.instances.needle(k, mu, sigma), eq.UCBHare(), horizon=T, runs=runs, seed=6)
    L = eq.theory.log_term(k, T)
    ends = np.array([np.floor(r * float(eq.theory.critical_samples(sigma, mu, L)) * eq.theory.harmonic_number(k))
                     for r in range(1, k + 1)])  # fmt: skip
    table = result.exante(t=np.arange(1, 61))
    a = np.searchsorted(ends, (table.t + 1) // 2 - 1, side="right")
    floor = eq.theory.reward_floor(k, a, tight=True, delta=1.0 / T)
    slack = ERRORS * np.maximum(table.mcse / mu, np.sqrt(1.0 / (k * runs)))
    assert (table.est / mu >= floor - slack).all()
    assert (table.est / mu < 3.0 * floor - slack).any()
