"""python benchmarks/step.py: the step engine against the plain loop, side by side in one process, on one core.

Gaussian arms, means drawn once from U[10, 1000], σ = 20, T = 10⁶. Both sides are compiled before the clock starts; each
is timed in turn, several times, and the best of each counts. The engine's time includes its sums in time cells.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from plain import plain, vectorised

import equipoise as eq

HORIZON = 1_000_000
ROUNDS = 5


def best_of(*calls: Callable[[], object]) -> list[float]:
    """The shortest time of each call, all taking turns."""
    times = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, seen in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            seen.append(time.perf_counter() - start)
    return [min(seen) for seen in times]


def compare(k: int) -> None:
    arms = eq.instances.uniform_means(k=k)
    runs = 40
    for policy, name, told in (
        (eq.UCBHare(), "ucb_hare", ()),
        (eq.WelfaristUCB(p=-2), "welfarist_ucb", (-2.0,)),
        (eq.ExploreThenUCB(p=-2), "explore_then_ucb", (-2.0,)),
    ):
        m, rng = np.zeros(HORIZON), np.random.default_rng(1)
        calls = (
            partial(getattr(plain, name), arms.means, arms.sigma, HORIZON, rng, m, *told),
            partial(getattr(vectorised, name), arms.means, arms.sigma, HORIZON, rng, m, *told),
            partial(
                eq.simulate, arms, policy, horizon=HORIZON, runs=runs, seed=1, engine="step", workers=1, chunk=runs
            ),
        )
        for call in calls:
            call()
        slow, vector, fast = best_of(*calls)
        fast /= runs
        times = " | ".join(f"{seconds * 1e9 / HORIZON:.2f}" for seconds in (slow, vector, fast))
        print(f"| {k} | {policy.label} | {times} | {slow / fast:.0f} | {vector / fast:.0f} |", flush=True)


def memory() -> None:
    """What 1,000 runs of T = 10⁶ add to the peak of a process that has simulated one."""
    arms = eq.instances.uniform_means()
    eq.simulate(arms, eq.UCBHare(), horizon=HORIZON, runs=1, seed=1, engine="step")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    eq.simulate(arms, eq.UCBHare(), horizon=HORIZON, runs=1000, seed=1, engine="step")
    print(f"\n1,000 runs add {(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024:.0f} MB")


def start(*arguments: str) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "equipoise.cli", *arguments], check=True, capture_output=True)
    return time.perf_counter() - begun


if __name__ == "__main__":
    memory()
    print("\n| k | policy | plain loop, ns a round | vectorised | step engine | plain / step | vectorised / step |")
    print("|---|---|---|---|---|---|---|")
    for k in (10, 50, 200):
        compare(k)
    start("simulate")
    print(f"\nsecond start to the table of `equipoise simulate`: {min(start('simulate') for _ in range(5)):.2f} s")
    print(f"`equipoise --help`: {min(start('--help') for _ in range(5)):.2f} s")
