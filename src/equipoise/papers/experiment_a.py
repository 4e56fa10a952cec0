"""Experiment A of "Price of Fairness in Bandits": UCB-HARE, which does not know p, against policies tuned to each p.

Fifty Gaussian arms, one million rounds, fifty runs; regret at p = −0.5, −2 and −20. One simulation of UCB-HARE serves
all three. Explore-Then-UCB is drawn as published, pulling the arms that its exploration missed by index. At p = −20
it explores not at all, and so sweeps through the arms in a fixed order: participant t can expect the mean of arm t,
whoever has that label. The table shows it in random order as well, which is the fair comparison.
"""

from dataclasses import replace
from os import PathLike
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from equipoise import figures, instances
from equipoise.policies.contract import Policy
from equipoise.policies.explore_then_ucb import ExploreThenUCB
from equipoise.policies.ucb_hare import UCBHare
from equipoise.policies.welfarist_ucb import WelfaristUCB
from equipoise.result import Result, checkpoints
from equipoise.simulation import simulate
from equipoise.streams import Seed

EXPONENTS = (-0.5, -2, -20)
HORIZON = 1_000_000
RUNS = 50
SEED = 42
FIRST = 100  # the round from which regret is drawn

MISSED = (
    "Explore-Then-UCB pulls the arms that its exploration missed by index, as published; at p = −20 it explores not "
    "at all, and its curve tells where the poor arms stand. The table has it in random order too."
)


def run(
    runs: int = RUNS,
    seed: Seed = SEED,
    horizon: int = HORIZON,
    workers: int | None = None,
    progress: bool | None = None,
) -> Result:
    """All ten policies on the paper's instance."""
    policies = [UCBHare(), *(policy for p in EXPONENTS for policy in (*published(p), at_random(p)))]
    arms = instances.uniform_means()
    return simulate(arms, policies, horizon=horizon, runs=runs, seed=seed, workers=workers, progress=progress)


def published(p: float) -> tuple[Policy, ...]:
    """The policies tuned to p, as the paper draws them."""
    return WelfaristUCB(p=p), ExploreThenUCB(p=p, unpulled="index")


def at_random(p: float) -> Policy:
    return ExploreThenUCB(p=p)


def part(result: Result, policies: tuple[Policy, ...]) -> Result:
    """The result of some of its policies."""
    kept = [i for i, policy in enumerate(result.policies) if policy in policies]
    return replace(
        result,
        policies=tuple(result.policies[i] for i in kept),
        engines=tuple(result.engines[i] for i in kept),
        tallies=tuple(result.tallies[i] for i in kept),
    )


def table(result: Result, t: int | list[int] | None = None, level: float = 0.95) -> pd.DataFrame:
    """The regret of UCB-HARE and of the policies tuned to p, for each p; at the horizon unless `t` says otherwise."""
    rounds = [result.horizon] if t is None else t
    parts = [part(result, (UCBHare(), *published(p), at_random(p))).regret(p, rounds, level) for p in EXPONENTS]
    return pd.concat(parts, ignore_index=True)


def drawn_rounds(result: Result) -> list[int]:
    spaced = checkpoints(result.horizon)
    return [int(t) for t in spaced if t >= min(FIRST, result.horizon)]


def figure(result: Result, level: float = 0.95) -> Figure:
    """Three panels, one for each p: log x, linear y, from round 100 on, as in the paper, and with intervals."""
    rounds = drawn_rounds(result)
    axes = figures.panels(len(EXPONENTS))
    for ax, p in zip(axes, EXPONENTS, strict=True):
        shown = part(result, (UCBHare(), *published(p)))
        figures.regret(shown, p, t=rounds, level=level, raw=True, notes=False, ax=ax)
        ax.set_title(f"p = {figures.signed(p)}")
        ax.set_ylabel("")
    axes[0].set_ylabel(figures.regret_label(list(EXPONENTS)))
    drawn = axes[0].figure
    assert isinstance(drawn, Figure)
    names = ("UCB-HARE", "Welfarist-UCB(p)", "Explore-Then-UCB(p), missed arms by index")
    figures.legend(
        drawn, handles=axes[0].get_legend_handles_labels()[0], labels=names, ncols=3, loc="outside upper center"
    )
    caption = figures.regret_caption(result, table(result, rounds, level), level, raw=True)
    figures.caption_panels(drawn, f"{caption} {MISSED}")
    return drawn


def save(result: Result, out: str | PathLike[str]) -> list[Path]:
    """The figure as PNG and PDF in the folder `out`, and the table of its curves as CSV."""
    return figures.save(figure(result), Path(out) / "experiment-a", table(result, drawn_rounds(result)))
