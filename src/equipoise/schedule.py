"""The harmonic schedule (paper, section "Harmonic Schedule"): the divisors, at most k, of n = 1, 2, 3, … in turn.

Rank r comes once every r integers, so its share of the blocks is 1/(r·H_k). One function steps through it, for the
UCB-HARE page and for the user's iterator, and remembers nothing but where it is.
"""

from collections.abc import Iterator

from equipoise.arguments import whole


def following(n: int, d: int, k: int) -> tuple[int, int]:
    """The entry after (n, d): the next divisor of n that is at most k, else divisor 1 of n + 1. Starts from (0, 0)."""
    for e in range(d + 1, min(n // 2, k) + 1):
        if n % e == 0:
            return n, e
    if d < n <= k:
        return n, n
    return n + 1, 1


def harmonic(k: int) -> Iterator[int]:
    """The ranks r_1, r_2, … of the harmonic schedule for k arms, without end.

    >>> from itertools import islice
    >>> list(islice(harmonic(5), 18))
    [1, 1, 2, 1, 3, 1, 2, 4, 1, 5, 1, 2, 3, 1, 1, 2, 4, 1]
    """
    return _ranks(whole("k", k))  # refused here, not at the first rank


def _ranks(k: int) -> Iterator[int]:
    n, d = 0, 0
    while True:
        n, d = following(n, d, k)
        yield d
