"""Counts drawn at once: heads among up to 2^40 throws of a coin, and how many of them fell in the first half.

Both are exact. A count is drawn from a law that is easy and kept with a chance that makes it right, and that chance is
computed as the logarithm of a ratio to the likeliest count, from differences that never cancel: log-factorials of
2^40 would leave no digit of it. All luck comes from `stream`.
"""

from math import exp, floor, lgamma, log, log1p, pi, sqrt

import numpy as np

from equipoise.streams import Stream, next_word, random

FEW = 10.0  # expected heads below which counting up from none is quickest
FARTHEST = 110  # a count not reached once in 10^70 where FEW are expected: the uniform was used up by rounding
BITS = 256  # fair coins that are cheaper thrown one by one, as bits of words


def binomial(n: int, p: float, stream: Stream) -> int:
    """The heads among n throws of a coin that shows them with chance p."""
    rare = min(p, 1.0 - p)
    count = by_inversion(n, rare, stream) if n * rare < FEW else by_rejection(n, rare, stream)
    return count if p <= 0.5 else n - count


def by_inversion(n: int, p: float, stream: Stream) -> int:
    """Takes the chances of 0, 1, 2, … heads off a uniform until it is used up."""
    none, odds = exp(n * log1p(-p)), p / (1.0 - p)
    while True:
        count, chance, u = 0, none, random(stream)
        while u >= chance and count < FARTHEST:
            u -= chance
            count += 1
            chance *= (n - count + 1) * odds / count
        if count < FARTHEST:
            return count


def by_rejection(n: int, p: float, stream: Stream) -> int:
    """Hörmann's BTRS, for p ≤ 1/2 and np ≥ 10, in his letters: "The generation of binomial random variates", 1993."""
    a, b, alpha, v_r = hat(n, p)
    m = int((n + 1) * p)
    while True:
        u, v = random(stream) - 0.5, 1.0 - random(stream)
        us = 0.5 - abs(u) + 2.0**-54  # never 0
        k = floor((2.0 * a / us + b) * u + n * p + 0.5)
        if us >= 0.07 and v <= v_r:
            return int(k)
        if 0.0 <= k <= n and log(v * alpha / (a / (us * us) + b)) <= relative(n, p, m, int(k) - m):
            return int(k)


def hat(n: int, p: float) -> tuple[float, float, float, float]:
    """a, b, α and v_r, fitted so that the chance to keep k, (a/us² + b)/α times that of k over that of m, is at most 1,
    and above v_r where us ≥ 0.07.
    """
    spq = sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spq
    a = -0.0873 + 0.0248 * b + 0.01 * p
    return a, b, (2.83 + 5.1 / b) * spq, 0.92 - 4.2 / b


def relative(n: int, p: float, m: int, d: int) -> float:
    """The logarithm of the chance of m + d heads over that of m, for m next to np."""
    q = 1.0 - p
    odds = log1p((n * p - m + p - q) / ((m + 1) * q))  # log of p/q·(n − m + 1)/(m + 1), a ratio near 1
    return d * odds - rise(m + 1, d) - rise(n - m + 1, -d)


def binomial_half(n: int, stream: Stream) -> int:
    """The heads among n throws of a fair coin."""
    if n > BITS:
        return by_rejection(n, 0.5, stream)
    count = 0
    while n > 0:
        word = next_word(stream)
        if n < 64:
            word >>= np.uint64(64 - n)
        while word != np.uint64(0):
            word &= word - np.uint64(1)
            count += 1
        n -= 64
    return count


def half_of(level: int, successes: int, stream: Stream) -> int:
    """How many of the `successes` among 2^level places, all arrangements equally likely, lie in the first half.

    Of successes S ≤ h = 2^(level − 1), x lie there with a chance proportional to C(S, x)/((h − x)!·(h − S + x)!): that
    of x heads among S throws, kept with a chance that is largest in the middle. For S > h the failures are counted.
    """
    half = 1 << (level - 1)
    rare = min(successes, 2 * half - successes)
    middle = rare // 2
    left, right = half - middle + 1, half - rare + middle + 1
    tilt = log1p((left - right) / right)
    while True:
        count = binomial_half(rare, stream)
        d = count - middle
        if log(1.0 - random(stream)) <= d * tilt - rise(left, -d) - rise(right, d):
            return count if successes <= half else half - count


def rise(z: int, d: int) -> float:
    """log(Γ(z + d)/Γ(z)) − d·log z for whole z ≥ 1 and z + d ≥ 1, by Stirling's formula for both."""
    x = d / z
    return z * convex(x) - 0.5 * log1p(x) + stirling(z + d) - stirling(z)


def convex(x: float) -> float:
    """(1 + x)·log(1 + x) − x; near 0 by the series of log(1 + x) = 2·artanh(x/(2 + x)), whose first terms cancel."""
    if abs(x) > 0.25:
        return (1.0 + x) * log1p(x) - x
    v = x / (2.0 + x)
    w = v * v
    series = 1 / 9 + w * (1 / 11 + w * (1 / 13 + w * (1 / 15 + w * (1 / 17 + w / 19))))
    return x * (v + (1.0 + v) * w * (1 / 3 + w * (1 / 5 + w * (1 / 7 + w * series))))


def stirling(z: int) -> float:
    """What Stirling's formula leaves of log Γ(z), for whole z ≥ 1."""
    if z < len(SMALL):
        return SMALL[z]  # type: ignore[no-any-return]
    w = 1.0 / (float(z) * float(z))
    return (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w / 1680))) / z


SMALL = np.array([0.0, *(lgamma(z) - (z - 0.5) * log(z) + z - 0.5 * log(2.0 * pi) for z in range(1, 16))])
