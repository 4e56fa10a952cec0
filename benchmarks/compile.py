"""python benchmarks/compile.py: what inlining and leaving references uncounted are worth, in nanoseconds a round.

UCB-HARE, 50 Gaussian arms, step engine, one core. Rewards so noisy that preparation never ends, and the paper's setting
A, which is nearly all exploitation. All variants take turns, several times; the best of each counts.
"""

import time

import numba
import numpy as np

import equipoise as eq
from equipoise.engines import step
from equipoise.engines.assembly import desk_for
from equipoise.engines.compile import COUNTED, LEAN, Target, specialise
from equipoise.engines.runs import play
from equipoise.exante import cell_edges, sheet_for
from equipoise.jobs import RECORDER
from equipoise.policies.contract import page_of
from equipoise.streams import begin, make_key

called = numba.njit(nogil=True)
TARGETS = {
    "inlined, not counted (as shipped)": LEAN,
    "inlined, counted": COUNTED,
    "called, counted": Target("called", called, called),
}
HORIZON = 200_000
ROUNDS = 5


def seconds(kernel, policy: eq.Policy, arms: eq.Instance) -> float:
    page, sheet = page_of(policy), sheet_for(cell_edges(HORIZON), np.zeros(arms.k, np.int64), 10)
    p, desk = policy.params(arms.k, HORIZON, arms.sigma), desk_for(arms.k, np.zeros(3, np.int64))
    state, stream = page.allocate(arms.k), np.zeros(4, np.uint64)
    start = time.perf_counter()
    kernel(0, 10, make_key(1), HORIZON, p, state, arms.data, stream, desk, sheet)
    return (time.perf_counter() - start) / 10


if __name__ == "__main__":
    policy, arms = eq.UCBHare(), eq.instances.uniform_means()
    phases = {"preparation": eq.Instance.gaussian(arms.means, 1e6), "exploitation": arms}
    given = {**page_of(policy).verbs, **RECORDER, "begin": begin, "draw": arms.draw, "exploit": step.exploit}
    kernels = {name: specialise(play, given, target, cache=False) for name, target in TARGETS.items()}
    best: dict[tuple[str, str], float] = {}
    for _ in range(ROUNDS):
        for name, kernel in kernels.items():
            for phase, instance in phases.items():
                took = seconds(kernel, policy, instance)
                best[name, phase] = min(took, best.get((name, phase), took))
    print("| variant | preparation | exploitation |\n|---|---|---|")
    for name in kernels:
        print(f"| {name} | {' | '.join(f'{best[name, phase] / HORIZON * 1e9:.1f}' for phase in phases)} |")
