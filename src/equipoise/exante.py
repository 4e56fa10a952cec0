"""Traces to m_t, the ex-ante rewards: sums over runs in time cells, per group of runs, in bounded memory.

**Cells.** Single rounds up to SINGLES, then PARTS cells to every doubling of t, so a cell is at most a 1/PARTS of its
first round; cells also end where a policy's rule changes by the clock, and at the horizon. A run adds the exact
integral of its gap μ⋆ − μ over each cell, so a cell's mean is the exact mean of its rounds' estimates.

**Integers.** Sums must not depend on the order in which runs are added, so gaps are whole multiples of a quantum (2^-30
of the largest gap, or finer), rounds are whole, and sums are kept in two words of 32 and 63 bits. Equal bits, whatever
the workers, the chunks, the order.

**Groups.** Run r belongs to group r mod GROUPS, for the jackknife of `estimate.py`.
"""

from collections.abc import Iterable
from math import floor, log2
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

SINGLES = 2048
PARTS = 1024
GROUPS = 50

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def cell_edges(horizon: int, changes: Iterable[int] = ()) -> Ints:
    """The first rounds of the cells, counted from 0, and the horizon."""
    pieces = [np.arange(min(SINGLES, horizon) + 1, dtype=np.int64)]
    start = SINGLES
    while start < horizon:
        pieces.append(start + np.arange(1, PARTS + 1, dtype=np.int64) * (start // PARTS))
        start *= 2
    pieces.append(np.array([horizon, *(t for t in changes if 0 < t < horizon)], dtype=np.int64))
    edges = np.unique(np.concatenate(pieces))
    return edges[edges <= horizon]


class Scale(NamedTuple):
    """How gaps become integers: in units of `quantum`; a task of more than `most_runs` runs could overflow."""

    units: Ints  # the gap of each arm
    quantum: float
    most_runs: int


def scale_of(gaps: Floats, edges: Ints) -> Scale:
    width = int(np.diff(edges).max())
    room = floor(log2(width)) + 1
    bits = min(max(52 - room, 30), 44)
    quantum = float(gaps.max()) * 2.0**-bits if gaps.max() > 0 else 1.0
    return Scale(np.rint(gaps / quantum).astype(np.int64), quantum, GROUPS * 2 ** (61 - bits - room))


# The recorder: what an engine calls while it runs.


class Sheet(NamedTuple):
    """Where a task writes. The gap's level over a run is a step function: cell c of group g gets, at a step by d in
    round t, d·(edges[c + 1] − t) in `part`, and every later cell d for each of its rounds, by `jump[c + 1]`."""

    edges: Ints
    units: Ints
    jump: Ints  # (group, cell)
    part: Ints  # (group, cell)
    pulls: Ints  # (group, arm)
    lengths: Ints  # of preparation, run by run
    now: Ints  # group, cell, level, runs so far


def sheet_for(edges: Ints, units: Ints, runs: int) -> Sheet:
    """An empty sheet for a task of `runs` runs in a row; its row j is their group j, counted from the task's first."""
    rows = min(GROUPS, runs)
    jump, part = np.zeros((rows, len(edges)), np.int64), np.zeros((rows, len(edges)), np.int64)
    pulls, lengths = np.zeros((rows, len(units)), np.int64), np.zeros(runs, np.int64)
    return Sheet(edges, units, jump, part, pulls, lengths, np.zeros(4, np.int64))


def open_run(sheet: Sheet, run: int) -> None:
    sheet.now[0] = sheet.now[3] % len(sheet.pulls)
    sheet.now[1] = 0
    sheet.now[2] = 0


def enter(sheet: Sheet, t: int, arm: int) -> None:
    """From round t on, `arm` is pulled."""
    change = sheet.units[arm] - sheet.now[2]
    if change != 0:
        cell = sheet.now[1]
        while sheet.edges[cell + 1] <= t:
            cell += 1
        group = sheet.now[0]
        sheet.jump[group, cell + 1] += change
        sheet.part[group, cell] += change * (sheet.edges[cell + 1] - t)
        sheet.now[1] = cell
        sheet.now[2] += change


def close_run(sheet: Sheet, prepared: int, horizon: int, n: Ints) -> None:
    """The run ends; it `prepared` for so many rounds and pulled arm i n[i] times."""
    for i in range(len(n)):
        sheet.pulls[sheet.now[0], i] += n[i]
    sheet.lengths[sheet.now[3]] = prepared
    sheet.now[3] += 1


# What tasks add up to.


class Wide:
    """An array of integers below 2^94 in two words, so that sums neither round nor overflow."""

    def __init__(self, *shape: int) -> None:
        self.high = np.zeros(shape, np.int64)
        self.low = np.zeros(shape, np.int64)  # 0 ≤ low < 2^32

    def add(self, row: Ints | int, values: Ints) -> None:
        """Adds `values` to the rows given, each of them named once."""
        low = self.low[row] + (values & 0xFFFFFFFF)
        self.high[row] += (values >> 32) + (low >> 32)
        self.low[row] = low & 0xFFFFFFFF

    def merge(self, other: "Wide") -> None:
        self.high += other.high
        self.add(np.arange(len(self.low)), other.low)

    def floats(self) -> Floats:
        return np.asarray(self.high * 2.0**32 + self.low, np.float64)


class Tally:
    """All that is kept of the runs of one policy on one instance, whatever their number. Tallies merge."""

    def __init__(self, edges: Ints, gaps: Floats) -> None:
        self.edges = edges
        self.scale = scale_of(gaps, edges)
        self.runs = np.zeros(GROUPS, np.int64)
        self.gaps = Wide(GROUPS, len(edges) - 1)  # sums over runs and rounds of a cell, in quanta
        self.pulls = Wide(GROUPS, len(gaps))
        self.lengths = Wide(GROUPS, 1)  # of preparation
        self.squares = 0  # of those lengths
        self.endings = np.zeros(len(edges), np.int64)  # runs whose preparation lasted a number of rounds in this cell

    def add(self, first: int, sheet: Sheet) -> None:
        """Adds a task's sheet, of the runs from `first` on."""
        rows = (first + np.arange(len(sheet.pulls))) % GROUPS
        levels = np.cumsum(sheet.jump[:, :-1], axis=1)
        self.gaps.add(rows, levels * np.diff(self.edges) + sheet.part[:, :-1])
        self.pulls.add(rows, sheet.pulls)
        groups = (first + np.arange(len(sheet.lengths))) % GROUPS
        self.runs += np.bincount(groups, minlength=GROUPS)
        lengths = np.zeros((GROUPS, 1), np.int64)
        np.add.at(lengths[:, 0], groups, sheet.lengths)
        self.lengths.add(np.arange(GROUPS), lengths)
        high, low = sheet.lengths >> 20, sheet.lengths & 0xFFFFF  # so that no product overflows
        self.squares += (int(high @ high) << 40) + (int(high @ low) << 21) + int(low @ low)
        self.endings += np.bincount(self.cell_of(sheet.lengths), minlength=len(self.edges))

    def merge(self, other: "Tally") -> None:
        self.runs += other.runs
        self.gaps.merge(other.gaps)
        self.pulls.merge(other.pulls)
        self.lengths.merge(other.lengths)
        self.squares += other.squares
        self.endings += other.endings

    def gap_sums(self) -> Floats:
        """For each group and cell, the gap of one of the cell's rounds, summed over the group's runs."""
        return self.gaps.floats() * (self.scale.quantum / np.diff(self.edges))

    def cell_of(self, t: npt.NDArray[np.int64]) -> Ints:
        """The cells that hold the rounds t, counted from 0."""
        return np.searchsorted(self.edges, t, side="right") - 1

    def same(self, other: "Tally") -> bool:
        """Whether two tallies are equal to the last bit."""
        return (
            np.array_equal(self.edges, other.edges)
            and np.array_equal(self.runs, other.runs)
            and all(
                np.array_equal(getattr(a, word), getattr(b, word))
                for a, b in ((self.gaps, other.gaps), (self.pulls, other.pulls), (self.lengths, other.lengths))
                for word in ("high", "low")
            )
            and self.squares == other.squares
            and np.array_equal(self.endings, other.endings)
        )
