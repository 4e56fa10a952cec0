"""Whether this installation gives the right numbers, how fast, and what it is made of."""

import os
import platform
from collections.abc import Iterator
from importlib import metadata
from math import hypot
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import equipoise
from equipoise.engines.compile import specialise
from equipoise.instances import Instance, uniform_means
from equipoise.jobs import job_for
from equipoise.player import Player
from equipoise.policies.contract import Policy
from equipoise.policies.explore_then_ucb import ExploreThenUCB
from equipoise.policies.thompson import Thompson
from equipoise.policies.ucb_hare import UCBHare
from equipoise.policies.welfarist_ucb import WelfaristUCB
from equipoise.simulation import cores, simulate
from equipoise.streams import begin, make_key

PACKAGES = ("numpy", "numba", "llvmlite", "scipy", "pandas", "matplotlib", "typer", "rich")

# UCB-HARE's regret at p = −2 after t rounds of the paper's Experiment A, known from 10^6 runs.
KNOWN = {100: 283.4, 1000: 129.8, 10_000: 16.07, 1_000_000: 0.168}
KNOWN_ERROR = 0.003  # relative, at most: their rounding and their own Monte-Carlo error
COMPARED = (UCBHare(), WelfaristUCB(p=-2), ExploreThenUCB(p=-2), Thompson())  # compiled against interpreted
STRICTNESS = 5.0  # standard errors: with another seed a sound installation would fail about once in 10^5
RUNS = 1000
SEED = 1


class Check(NamedTuple):
    name: str
    passed: bool
    found: str


def examine(runs: int = RUNS) -> dict[str, Any]:
    """All there is to say: versions, cores, cache, checks, speed in rounds a second."""
    cache = cache_folder()
    started = perf_counter()
    checks = list(compiled_as_interpreted())
    simulate(uniform_means(), UCBHare(), horizon=100, runs=1, seed=SEED, progress=False)  # compiles
    clock = perf_counter()
    checks += known_regrets(runs)
    speed = runs * max(KNOWN) / (perf_counter() - clock)
    checks += known_regrets(runs // 4, "step")
    return {
        "versions": versions(),
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": cores(),
        "cache": {"folder": cache, "writable": cache is not None and os.access(cache, os.W_OK)},
        "checks": [check._asdict() for check in checks],
        "rounds_per_second": speed,
        "seconds": perf_counter() - started,
        "passed": all(check.passed for check in checks),
    }


def versions() -> dict[str, str]:
    found = {"equipoise": equipoise.__version__, "python": platform.python_version()}
    return found | {package: metadata.version(package) for package in PACKAGES}


def cache_folder() -> str | None:
    """Where Numba keeps what it has compiled for this package; None where it keeps nothing."""
    kernel = job_for(uniform_means(), UCBHare(), 1, 1.0, make_key(SEED)).engine.kernel
    stats = getattr(kernel, "stats", None)
    return str(Path(stats.cache_path)) if stats is not None and stats.cache_path else None


def known_regrets(runs: int, engine: str = "leap") -> Iterator[Check]:
    """UCB-HARE in Experiment A against what a million runs gave."""
    told = {"horizon": max(KNOWN), "seed": SEED, "progress": False}
    result = simulate(uniform_means(), UCBHare(), runs=runs, engine=engine, **told)  # type: ignore[arg-type]
    table = result.regret(-2, t=list(KNOWN))
    for t, est, mcse in zip(table.t, table.est, table.mcse, strict=True):
        known = KNOWN[int(t)]
        far = abs(est - known) / hypot(mcse, KNOWN_ERROR * known)
        found = f"{est:.4g}, known {known:.4g}, {far:.1f} standard errors apart"
        yield Check(f"regret of UCB-HARE at p = -2, t = {t:,}, {engine} engine", bool(far < STRICTNESS), found)


def compiled_as_interpreted(horizon: int = 600) -> Iterator[Check]:
    """The policies pull the same arms compiled, in a simulation, and interpreted, by a player."""
    arms = Instance.gaussian([4.0, 9.0, 1.0, 10.0], 1.0)
    for policy in COMPARED:
        result = simulate(arms, policy, horizon=horizon, runs=1, seed=SEED, engine="step", progress=False)
        compiled = result.exante(t=range(1, horizon + 1)).est.to_numpy()
        interpreted = arms.means[pulled_by_player(policy, arms, horizon)]
        same = int((abs(compiled - interpreted) < 1e-6).sum())
        found = f"{same} of {horizon} arms equal; {result.engines[0]}"
        yield Check(f"{policy.label} compiled = interpreted", same == horizon, found)


def pulled_by_player(policy: Policy, arms: Instance, horizon: int) -> list[int]:
    """The arms of run 0, by a player who meets the simulation's rewards."""
    player = Player(policy, k=arms.k, horizon=horizon, sigma=arms.sigma, seed=SEED)
    stream = np.zeros(4, np.uint64)
    specialise(begin, {})(stream, make_key(SEED), 0)
    draw = specialise(arms.draw, {})
    for _ in range(horizon):
        player.tell(draw(arms.data, player.ask(), stream))
    return [arm for arm, _ in player.history]


def report(found: dict[str, Any]) -> str:
    """For the screen."""
    cache = found["cache"]
    kept = f"{cache['folder']} ({'writable' if cache['writable'] else 'not writable: every start compiles anew'})"
    lines = [
        *(f"{name:<12}{version}" for name, version in found["versions"].items()),
        f"{'machine':<12}{found['machine']}, {found['cores']} cores",
        f"{'cache':<12}{kept if cache['folder'] else 'none: every start compiles anew'}",
        f"{'speed':<12}{found['rounds_per_second'] / 1e6:,.0f} million rounds a second, leaped (UCB-HARE, 50 arms)",
        "",
        *(
            f"{'ok    ' if check['passed'] else 'FAILED'}  {check['name']}: {check['found']}"
            for check in found["checks"]
        ),
        "",
        f"{'All checks passed' if found['passed'] else 'A check has FAILED'}, in {found['seconds']:.1f} s.",
    ]
    return "\n".join(lines)
