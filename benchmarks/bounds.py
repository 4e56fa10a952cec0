"""python benchmarks/bounds.py: how sharp the bounds of `equipoise.theory` are, and how near policies come to them."""

import numpy as np

import equipoise as eq
from equipoise import theory

RUNS = 2000


def spread(ratios: list[float]) -> str:
    return f"{min(ratios):.0f} to {max(ratios):.0f}"


def main() -> None:
    over_paper, within, beyond = [], [], []
    for k in (8, 16, 32, 64, 128):
        for T in (10**4, 10**6):
            for q in (1, 2):
                sharp = float(theory.lower_bound(k, T, 1.0, q, sharp=True).value)
                constant = 1.0 - (1.0 + float(theory.penalty_constant(q))) ** (-1.0 / q)  # c'_q
                over_paper.append(sharp / (constant * np.sqrt(k**q / T)))
                for found, most in ((within, np.sqrt(k**q / T)), (beyond, 100.0)):
                    means = np.geomspace(1e-4, most, 300)
                    found.append(float(theory.upper_bound(k, T, 1.0, means, q, tight=True).value.max()) / sharp)
    print(f"sharp bound / c'_q·μ: {spread(over_paper)}")
    print(f"largest tight upper bound for μ⋆ up to mu_max / sharp bound: {min(within):.1f} to {max(within):.1f}")
    print(f"largest tight upper bound for μ⋆ up to 100σ / sharp bound: {spread(beyond)}")
    k, T = 16, 10**4
    for q in (1, 2):
        mu = float(np.sqrt(k**q / T))
        bound = float(theory.needle_regret(k, T, 1.0, mu, -q))
        result = eq.simulate(eq.instances.needle(k, mu), [eq.Thompson(), eq.Uniform()], horizon=T, runs=RUNS, seed=1)
        for row in result.regret(p=-q, t=T).itertuples():
            print(f"q = {q}, {row.policy}: {row.est / bound:.2f} ± {row.mcse / bound:.2f} times needle_regret")


if __name__ == "__main__":
    main()
