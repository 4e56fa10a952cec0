"""The harmonic schedule: what the paper shows, states and proves of it, and the page's way through it."""

from fractions import Fraction
from itertools import islice
from math import lcm

import numpy as np
import pytest

from equipoise.arguments import ArgumentError
from equipoise.schedule import following, harmonic


def listing(k: int, integers: range) -> list[int]:
    """The divisors, at most k, of each integer in turn: the definition."""
    return [d for n in integers for d in range(1, k + 1) if n % d == 0]


def harmonic_number(k: int) -> Fraction:
    return sum((Fraction(1, r) for r in range(1, k + 1)), Fraction(0))


def test_the_paper_s_figure_for_five_arms() -> None:
    """fig:harmonic-sequence, n = 1 to 10."""
    figure = [[1], [1, 2], [1, 3], [1, 2, 4], [1, 5], [1, 2, 3], [1], [1, 2, 4], [1, 3], [1, 2, 5]]
    flat = [rank for ranks in figure for rank in ranks]
    assert list(islice(harmonic(5), len(flat))) == flat


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6, 7, 12, 30, 97, 300])
def test_it_lists_the_divisors_of_every_integer(k: int) -> None:
    expected = listing(k, range(1, 3 * k + 20))
    assert list(islice(harmonic(k), len(expected))) == expected


@pytest.mark.parametrize("k", range(1, 11))
def test_rank_r_comes_once_every_r_integers(k: int) -> None:
    """Over lcm(1..k) integers rank r comes lcm/r times: a share of 1/(r·H_k) of the blocks, exactly."""
    period = lcm(*range(1, k + 1))
    blocks = harmonic_number(k) * period
    assert blocks.denominator == 1
    ranks = list(islice(harmonic(k), 2 * int(blocks)))
    for half in (ranks[: int(blocks)], ranks[int(blocks) :]):
        for r in range(1, k + 1):
            assert Fraction(half.count(r), len(half)) == 1 / (r * harmonic_number(k))


def test_new_ranks_come_in_order() -> None:
    """Rank r is first met at n = r, so a permutation can be drawn as its ranks come."""
    for k in (1, 2, 5, 64):
        first_met = list(dict.fromkeys(islice(harmonic(k), k * k + 1)))
        assert first_met == list(range(1, k + 1))


def shortfall(ranks: np.ndarray, k: int) -> float:
    """The largest b/(r·H_k) − N_r(b) over all ranks and all b up to the last: met just before a rank comes again."""
    worst, H_k = 0.0, float(harmonic_number(k))
    for r in range(1, k + 1):
        seen = np.flatnonzero(ranks == r)  # block s + 1 for each s
        ends = np.append(seen, len(ranks))  # so many blocks, with 0, 1, 2 … pulls in them
        worst = max(worst, float((ends / (r * H_k) - np.arange(len(ends))).max()))
    return worst


def prefix(k: int, integers: int) -> np.ndarray:
    return np.array(list(islice(harmonic(k), sum(integers // r for r in range(1, k + 1)))))


def test_prefix_balance() -> None:
    """lem:prefix-balance: N_r(b) ≥ b/(r·H_k) − 2 for all r and b. (−1 would do: b ≤ n_b·H_k, and rank r has come in
    every r-th integer before n_b.)"""
    for k in range(1, 301):
        assert shortfall(prefix(k, 2 * k + 10), k) <= 1.0
    assert shortfall(prefix(12, 5000), 12) <= 1.0


def test_prefix_balance_can_fail() -> None:
    """No schedule could do with half a pull less, and pulling the ranks in turn fails the paper's bound."""
    assert shortfall(prefix(100, 210), 100) > 0.5
    assert shortfall(np.arange(1000) % 10 + 1, 10) > 2.0


@pytest.mark.parametrize("n", [1, 59, 10**12 - 2, 2**40])
@pytest.mark.parametrize("k", [1, 2, 5, 64, 300])
def test_two_integers_are_all_that_it_remembers(n: int, k: int) -> None:
    """It may be entered at any place, however far, and goes on as the definition does."""
    place, found = (n, max(listing(k, range(n, n + 1)))), []
    expected = [(m, d) for m in range(n + 1, n + 7) for d in listing(k, range(m, m + 1))]
    for _ in expected:
        place = following(*place, k)
        found.append(place)
    assert found == expected


def test_it_begins_at_one() -> None:
    assert following(0, 0, 1) == following(0, 0, 9) == (1, 1)


@pytest.mark.parametrize("k", [0, -3, 2.5, True, "3", None, float("nan"), float("inf")])
def test_a_number_of_arms_that_cannot_be(k: object) -> None:
    with pytest.raises(ArgumentError, match=r"k is .*; give a whole number of at least 1"):
        harmonic(k)  # type: ignore[arg-type]
