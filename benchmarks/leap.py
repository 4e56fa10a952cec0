"""python benchmarks/leap.py: whole runs by leaps, beside the plain loop of the step benchmark.

Setting A with 50 arms. Everything is compiled beforehand and the best of several repeats counts. A run's time includes
its share of the sums in time cells. The plain loop does one run of 10⁶ rounds.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from plain import plain, vectorised

import equipoise as eq

HORIZON = 1_000_000
REPEATS = 5
RUNS = 500
EXPONENTS = (-0.5, -2.0, -20.0)  # of Experiment A
ARMS = eq.instances.uniform_means()


def best(call: Callable[[], object], repeats: int = REPEATS) -> float:
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def leaped(arms: eq.Instance, policy: eq.Policy, horizon: int = HORIZON, runs: int = RUNS) -> float:
    """Seconds a run, in one process on one core."""
    play = partial(eq.simulate, arms, policy, horizon=horizon, runs=runs, seed=1, workers=1, engine="leap")
    return best(partial(play, progress=False), 3) / runs


def looped(loops: object, name: str, told: tuple[float, ...]) -> float:
    """Seconds of the plain loop's run."""
    m, rng = np.zeros(HORIZON), np.random.default_rng(1)
    return best(partial(getattr(loops, name), ARMS.means, ARMS.sigma, HORIZON, rng, m, *told), 3)


def pairs(p: float) -> list[tuple[eq.Policy, str, tuple[float, ...]]]:
    return [(eq.WelfaristUCB(p=p), "welfarist_ucb", (p,)), (eq.ExploreThenUCB(p=p), "explore_then_ucb", (p,))]


def against_the_loop() -> None:
    print("| policy | plain loop, ms | vectorised | leap, ms | plain / leap | T = 10⁹, ms | T = 10¹², ms |")
    print("|---|---|---|---|---|---|---|")
    for policy, name, told in [(eq.UCBHare(), "ucb_hare", ()), *pairs(-2.0)]:
        slow, vector = looped(plain, name, told), looped(vectorised, name, told)
        fast, *far = (leaped(ARMS, policy, t, runs) for t, runs in ((HORIZON, RUNS), (10**9, 200), (10**12, 40)))
        loops, times = f"{slow * 1e3:.0f} | {vector * 1e3:.0f}", " | ".join(f"{s * 1e3:.3f}" for s in far)
        print(f"| {policy.label} | {loops} | {fast * 1e3:.3f} | {slow / fast:.0f} | {times} |", flush=True)


def hard_cases() -> None:
    print("\n| UCB-HARE, T = 10⁶ | ms a run |\n|---|---|")
    needle = np.zeros(256)
    needle[100] = 5.0
    for name, arms in (
        ("two equal best arms of 50", eq.Instance.gaussian([*ARMS.means, ARMS.means.max()], ARMS.sigma)),
        ("k = 1000", eq.instances.uniform_means(k=1000)),
        ("a needle, μ = 5σ, k = 256", eq.Instance.gaussian(needle, 1.0)),
        ("Bernoulli, 0.3 and 0.31", eq.Instance.bernoulli([0.3, 0.31])),
    ):
        print(f"| {name} | {leaped(arms, eq.UCBHare(), runs=50) * 1e3:.3f} |", flush=True)


def experiment_a() -> None:
    """`equipoise paper`, figure and all, beside 50 plain runs of each policy, of which one is timed."""
    cores = len(os.sched_getaffinity(0))
    slow = looped(plain, "ucb_hare", ())
    for p in EXPONENTS:
        (_, welfarist, told), (_, explore, _) = pairs(p)
        slow += looped(plain, welfarist, told) + 2.0 * looped(plain, explore, told)  # missed arms in both orders
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "equipoise.cli", "paper", "--out", out]
        fast = best(partial(subprocess.run, command, check=True, capture_output=True))
    loops = 50.0 * slow / cores
    print(f"\nExperiment A, 50 runs, {cores} cores: {fast:.2f} s", end="; ")
    print(f"the plain loops: {loops:.0f} s, {loops / fast:.0f} times as long")


def two_cores() -> None:
    play = partial(eq.simulate, ARMS, eq.UCBHare(), horizon=HORIZON, runs=8000, seed=1, progress=False)
    one, two = (best(partial(play, workers=workers), 3) for workers in (1, 2))
    print(f"\ntwo cores do {one / two:.2f} times what one does")


def memory() -> None:
    """What further runs and a longer horizon add to the peak of a process that has simulated a run."""
    for horizon in (HORIZON, 10**12):
        play = partial(eq.simulate, ARMS, eq.UCBHare(), horizon=horizon, seed=1, workers=1, progress=False)
        play(runs=100)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        play(runs=2000)
        added = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(f"T = {horizon:.0e}: 2,000 runs add {added:.0f} MB to what 100 take")


if __name__ == "__main__":
    memory()
    against_the_loop()
    hard_cases()
    two_cores()
    experiment_a()
