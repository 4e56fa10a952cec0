"""What a simulation found, as tidy tables: one row a number, each with its Monte-Carlo error."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log10, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from equipoise import welfare
from equipoise.arguments import ArgumentError, exponent, whole
from equipoise.estimate import Estimate, jackknife, mean, means
from equipoise.exante import Tally
from equipoise.instances import Instance
from equipoise.policies.contract import Policy, page_of
from equipoise.streams import Seed, make_key

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Rounds = int | Sequence[int] | None

PER_DECADE = 10
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False)
class Result:
    """The runs of several policies on one instance. Rounds t count from 1: t = 100 is the hundredth participant.

    `engines` says for each policy what played it and, where that was not the fastest engine, why.
    """

    instance: Instance
    policies: tuple[Policy, ...]
    horizon: int
    runs: range
    seed: Seed
    sigma: float
    engines: tuple[str, ...]
    tallies: tuple[Tally, ...]

    @property
    def caption(self) -> str:
        """One line that says what was run."""
        told = "" if self.sigma == self.instance.sigma else f" (policies told σ = {self.sigma:.4g})"
        return f"{self.instance.caption}{told}, T = {self.horizon:,}, {len(self.runs):,} runs, {self.played}"

    @property
    def played(self) -> str:
        """Which engine played, and whom where there are several."""
        played: dict[str, list[str]] = {}
        for policy, engine in zip(self.policies, self.engines, strict=True):
            played.setdefault(engine.partition(" (")[0], []).append(policy.label)
        if len(played) == 1:
            return next(iter(played))
        return "; ".join(f"{engine}: {', '.join(labels)}" for engine, labels in played.items())

    def regret(self, p: float | Sequence[float], t: Rounds = None, level: float = 0.95) -> pd.DataFrame:
        """p-mean regret over rounds 1 to t of the policies as tuned to the horizon: μ⋆ − M_p of the ex-ante rewards.

        Columns policy, p, t, est (bias-corrected), raw (plug-in), mcse, lo, hi, n_runs. `t`: log-spaced unless given.
        """
        rounds = self.rounds(t)
        rows = []
        for policy, tally in self:
            for exact in exponents(p):
                estimate = regret_estimate(tally, exact, self.instance.best, rounds, level)
                rows.append(self.rows(estimate, policy=policy.label, p=exact, t=rounds))
        return pd.concat(rows, ignore_index=True)

    def welfare(self, p: float | Sequence[float], t: Rounds = None, level: float = 0.95) -> pd.DataFrame:
        """The p-mean of the ex-ante rewards of rounds 1 to t; columns as for `regret`."""
        table = self.regret(p, t, level)
        best = self.instance.best
        return table.assign(est=best - table.est, raw=best - table.raw, lo=best - table.hi, hi=best - table.lo)

    def exante(self, t: Rounds = None, level: float = 0.95) -> pd.DataFrame:
        """What participant t can expect, E[μ of the arm pulled]: the mean over its cell of rounds, over the runs.

        An error of 0 says that all runs agree, not that the value is known.
        Columns policy, t, est, mcse, lo, hi, n_runs.
        """
        rounds = self.rounds(t)
        rows = []
        for policy, tally in self:
            gap = mean(tally.gap_sums()[:, tally.cell_of(rounds - 1)], tally.runs, level)
            best = self.instance.best
            found = Estimate(best - gap.est, best - gap.raw, gap.mcse, best - gap.hi, best - gap.lo)
            rows.append(self.rows(found, policy=policy.label, t=rounds).drop(columns="raw"))
        return pd.concat(rows, ignore_index=True)

    def pulls(self, level: float = 0.95) -> pd.DataFrame:
        """How many participants each arm gets: policy, arm, name, mean_pulls, mcse, lo, hi, n_runs."""
        rows = []
        for policy, tally in self:
            found = mean(tally.pulls.floats(), tally.runs, level)
            arms = np.arange(self.instance.k)
            table = self.rows(found, policy=policy.label, arm=arms, name=self.instance.names)
            rows.append(table.drop(columns="raw").rename(columns={"est": "mean_pulls"}))
        return pd.concat(rows, ignore_index=True)

    def preparation(self, level: float = 0.95) -> pd.DataFrame:
        """The length of preparation in rounds, of the policies that have one.

        `ended`: the share of runs in which it ended before the horizon; in the others it counts as the horizon.
        Quantiles are exact below 2,048 rounds, and to a thousandth beyond.
        """
        rows = []
        for policy, tally in self:
            if not page_of(policy).exploits():
                continue
            found = mean(tally.lengths.floats()[:, 0], tally.runs, level)
            total = sum(
                int(h) * 2**32 + int(w) for h, w in zip(tally.lengths.high.flat, tally.lengths.low.flat, strict=True)
            )
            n = len(self.runs)
            spread = sqrt((tally.squares * n - total * total) / (n * (n - 1))) if n > 1 else np.nan
            ended = 1.0 - tally.endings[-1] / n
            row = {"policy": policy.label, "ended": ended, "mean": found.est, "mcse": found.mcse, "sd": spread}
            rows.append(row | dict(quantiles(tally)) | {"n_runs": n})
        columns = ["policy", "ended", "mean", "mcse", "sd", *(name for name, _ in quantiles(None)), "n_runs"]
        return pd.DataFrame(rows, columns=columns)

    def merge(self, other: "Result") -> "Result":
        """Both results' runs together, to the last bit what one simulation of all of them gives."""
        for name, mine, theirs in (
            ("instance", identity(self.instance), identity(other.instance)),
            ("policies", self.policies, other.policies),
            ("horizon", self.horizon, other.horizon),
            ("seed", make_key(self.seed), make_key(other.seed)),
            ("sigma", self.sigma, other.sigma),
        ):
            if mine != theirs:
                raise ArgumentError(f"other has another {name}; merge results that differ in their runs alone.")
        early, late = sorted((self, other), key=lambda result: result.runs.start)
        if early.runs.stop != late.runs.start:
            raise ArgumentError(
                f"other has {other.runs}, this has {self.runs}; merge runs of which one follows the other."
            )
        tallies = []
        for first, second in zip(early.tallies, late.tallies, strict=True):
            tally = Tally(first.edges, self.instance.gaps)
            tally.merge(first)
            tally.merge(second)
            tallies.append(tally)
        return replace(early, runs=range(early.runs.start, late.runs.stop), tallies=tuple(tallies))

    def __iter__(self) -> Iterator[tuple[Policy, Tally]]:
        return zip(self.policies, self.tallies, strict=True)

    def rounds(self, t: Rounds) -> Ints:
        """The rounds asked for; log-spaced ones, and the horizon, where none are."""
        if t is None:
            return checkpoints(self.horizon)
        asked = [t] if np.ndim(t) == 0 else list(t)  # type: ignore[arg-type]
        if not asked:
            raise ArgumentError("t is empty; give at least one round.")
        return np.array([whole("t", one, 1, self.horizon) for one in asked], np.int64)

    def rows(self, estimate: Estimate, **keys: Any) -> pd.DataFrame:
        return pd.DataFrame(keys | estimate._asdict() | {"n_runs": len(self.runs)})


def checkpoints(horizon: int) -> Ints:
    """Rounds from 1 to the horizon, PER_DECADE of them to a decade."""
    count = int(PER_DECADE * log10(horizon)) + 1
    spaced = np.rint(10.0 ** (np.arange(count) / PER_DECADE)).astype(np.int64)
    return np.unique(np.append(spaced, horizon))


def exponents(p: float | Sequence[float]) -> list[float]:
    asked = [p] if np.ndim(p) == 0 else list(p)  # type: ignore[arg-type]
    if not asked:
        raise ArgumentError("p is empty; give at least one exponent.")
    return [exponent("p", one) for one in asked]


def regret_estimate(tally: Tally, p: float, best: float, rounds: Ints, level: float) -> Estimate:
    """Regret over the first t rounds, for each t: the cells are cut at those t, a part counting as its cell's mean."""
    edges = np.union1d(tally.edges[tally.edges < rounds.max()], rounds)
    cells, ends = tally.cell_of(edges[:-1]), np.searchsorted(edges, rounds) - 1
    total, without = means(tally.gap_sums()[:, cells], tally.runs)
    raw, *curves = (
        welfare.cumulative_regret_of_gaps(gaps, p, best, np.diff(edges))[..., ends] for gaps in (total, without)
    )
    blind = (p <= 0.0) & (raw >= best)  # in some round no run pulled an arm of positive mean: the error is not known
    return jackknife(raw, np.where(blind, np.nan, curves[0]), tally.runs, level)


def quantiles(tally: Tally | None) -> Iterator[tuple[str, float]]:
    """Names and values of the quantiles of preparation's length."""
    for q in QUANTILES:
        value = np.nan
        if tally is not None:
            counts = np.cumsum(tally.endings)
            cell = int(np.searchsorted(counts, q * counts[-1]))
            width = tally.edges[cell + 1] - tally.edges[cell] if cell + 1 < len(tally.edges) else 1
            value = float(tally.edges[cell] + (width - 1) / 2)
        yield f"q{100 * q:02.0f}", value


def identity(instance: Instance) -> tuple[Any, ...]:
    """What makes an instance this one, in a form that compares."""
    data = tuple(x.tobytes() if isinstance(x, np.ndarray) else x for x in instance.data)
    return instance.family, instance.sigma, instance.means.tobytes(), data, instance.draw
