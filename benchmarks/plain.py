"""The plain loops that speed is compared with: what a careful user writes with Numba, every index in every round.

`vectorised` are the same loops under error_model="numpy", where Numba need not check for a division by zero and LLVM
turns the loop over the arms into vector instructions: as fast as a loop that computes every index can be.

They use NumPy's generator (its ziggurat, 64-bit words), keep each arm's pulls and sum, and record the regret's input,
the mean of the arm pulled, summed over runs per round.
"""

from math import inf, log, sqrt
from types import SimpleNamespace

import numpy as np
from numba import njit


def ucb_hare(means, sigma, horizon, rng, m):
    k = len(means)
    L = log(8.0 * k * horizon * horizon)
    n, s, v = np.zeros(k, np.int64), np.zeros(k), np.zeros(k)
    order = rng.permutation(k)
    integer, rank, t, exploiting = 1, 1, 0, False
    first = False
    while t < horizon:
        if exploiting:
            for i in range(k):
                v[i] = s[i] / n[i] + sigma * sqrt(2.0 * L / n[i])
            arm = np.argmax(v)
        else:
            B, anchor = -inf, 0
            for i in range(k):
                low = s[i] / n[i] - sigma * sqrt(2.0 * L / n[i]) if n[i] > 0 else -inf
                if low > B:
                    B, anchor = low, i
            if t % 2 == 0:
                if B > 0.0 and n.min() * B * B >= 32.0 * sigma * sigma * L:
                    exploiting = True
                    continue
                first = rng.random() < 0.5
            arm = order[rank - 1] if (t % 2 == 0) == first or B <= 0.0 else anchor
            if t % 2 == 1:
                rank += 1
                while rank <= min(integer, k) and integer % rank != 0:
                    rank += 1
                if rank > min(integer, k):
                    integer += 1
                    rank = 1
        s[arm] += means[arm] + sigma * rng.standard_normal()
        n[arm] += 1
        m[t] += means[arm]
        t += 1


def welfarist_ucb(means, sigma, horizon, rng, m, p):
    k = len(means)
    logT = log(float(horizon))
    pa = 1.0 if p >= -1.0 else p
    n, s, v = np.zeros(k, np.int64), np.zeros(k), np.zeros(k)
    order = rng.permutation(k)
    exploring = True
    for t in range(horizon):
        if exploring or n.min() == 0:
            if t % k == 0:
                order = rng.permutation(k)
            arm = order[t % k]
        else:
            for i in range(k):
                v[i] = s[i] / n[i] + 2.0 * sigma * sqrt(2.0 * logT / n[i])
            arm = np.argmax(v)
        s[arm] += means[arm] + sigma * rng.standard_normal()
        n[arm] += 1
        m[t] += means[arm]
        if exploring:
            for i in range(k):
                if n[i] > 0:
                    mean = s[i] / n[i]
                    w = 2.0 * sigma * sqrt(2.0 * logT / n[i])
                    if mean > w and n[i] * mean >= 800.0 * pa * pa * sigma * sigma * logT / (mean - w) + 2.0 * sqrt(
                        2.0 * n[i] * sigma * sigma * logT
                    ):
                        exploring = False


def explore_then_ucb(means, sigma, horizon, rng, m, p):
    k = len(means)
    logT = log(float(horizon))
    rounds = min(horizon, int(16.0 * sqrt(horizon * logT * k**p)))
    n, s, v = np.zeros(k, np.int64), np.zeros(k), np.zeros(k)
    for t in range(horizon):
        if t < rounds:
            arm = rng.integers(0, k)
        elif t < rounds + k and n.min() == 0:
            arm = np.argmin(n)
        else:
            for i in range(k):
                v[i] = s[i] / n[i] + 4.0 * sqrt(logT / n[i])
            arm = np.argmax(v)
        s[arm] += means[arm] + sigma * rng.standard_normal()
        n[arm] += 1
        m[t] += means[arm]


loops = {f.__name__: f for f in (ucb_hare, welfarist_ucb, explore_then_ucb)}
plain = SimpleNamespace(**{name: njit(f) for name, f in loops.items()})
vectorised = SimpleNamespace(**{name: njit(f, error_model="numpy") for name, f in loops.items()})
