"""Time cells and integer sums: exact against naive loops, whatever the order, within bounds at any horizon."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise import exante, welfare
from equipoise.exante import GROUPS, PARTS, SINGLES, Tally, Wide, cell_edges, close_run, enter, open_run, sheet_for

HORIZONS = st.one_of(st.integers(1, 40), st.integers(SINGLES - 2, SINGLES + 9), st.integers(5000, 20_000))


@given(horizon=st.integers(1, 10**12), changes=st.lists(st.integers(-5, 10**7), max_size=3))
@settings(max_examples=200, deadline=None)
def test_cells_cover_every_round_once_and_are_narrow(horizon: int, changes: list[int]) -> None:
    edges = cell_edges(horizon, changes)
    assert edges[0] == 0
    assert edges[-1] == horizon
    widths = np.diff(edges)
    assert (widths > 0).all()
    assert (widths[edges[:-1] < SINGLES] == 1).all()
    assert (widths * PARTS <= np.maximum(edges[:-1], SINGLES)).all()
    assert set(changes) & set(range(1, min(horizon, 10**6))) <= set(edges.tolist())


@st.composite
def traces(draw: st.DrawFn) -> tuple[int, int, np.ndarray, list[list[tuple[int, int]]]]:
    """A horizon, a first run, the gaps of a few arms, and runs as (first round, arm)."""
    horizon = draw(HORIZONS)
    k = draw(st.integers(1, 4))
    gaps = np.array(draw(st.lists(st.sampled_from([0.0, 1e-9, 0.25, 1 / 3, 1.0]), min_size=k, max_size=k)))
    runs = []
    for _ in range(draw(st.integers(1, 70))):
        rounds = sorted(draw(st.sets(st.integers(1, max(horizon - 1, 1)), max_size=5)) | {0})
        runs.append([(t, draw(st.integers(0, k - 1))) for t in rounds if t < horizon])
    return horizon, draw(st.integers(0, 130)), gaps, runs


@given(traces())
@settings(max_examples=150, deadline=None)
def test_a_tally_is_the_exact_integral_of_its_runs(drawn: tuple) -> None:
    horizon, first, gaps, runs = drawn
    tally = Tally(cell_edges(horizon, [horizon // 3]), gaps)
    sheet = sheet_for(tally.edges, tally.scale.units, len(runs))
    expected = np.zeros((GROUPS, horizon), object)
    lengths = []
    for r, run in enumerate(runs):
        open_run(sheet, first + r)
        pulls = np.zeros(len(gaps), np.int64)
        for (t, arm), end in zip(run, [t for t, _ in run[1:]] + [horizon], strict=True):
            enter(sheet, t, arm)
            pulls[arm] += end - t
            expected[(first + r) % GROUPS, t:end] += int(tally.scale.units[arm])
        lengths.append(run[-1][0])
        close_run(sheet, lengths[-1], horizon, pulls)
    tally.add(first, sheet)
    found = tally.gaps.high.astype(object) * 2**32 + tally.gaps.low
    assert (found == np.add.reduceat(expected, tally.edges[:-1], axis=1)).all()
    assert tally.pulls.floats().sum() == len(runs) * horizon
    assert tally.lengths.floats().sum() == sum(lengths)
    assert tally.squares == sum(x * x for x in lengths)
    assert tally.endings.sum() == tally.runs.sum() == len(runs)


@given(st.lists(st.lists(st.integers(-(2**62), 2**62), min_size=3, max_size=3), min_size=1, max_size=20), st.randoms())
@settings(max_examples=200, deadline=None)
def test_wide_sums_are_exact_in_any_order(rows: list[list[int]], shuffle: object) -> None:
    one, two, three = Wide(1, 3), Wide(1, 3), Wide(1, 3)
    for row in rows:
        one.add(np.array([0]), np.array([row]))
    shuffled = list(rows)
    shuffle.shuffle(shuffled)  # type: ignore[attr-defined]
    for i, row in enumerate(shuffled):
        (two if i % 2 else three).add(np.array([0]), np.array([row]))
    two.merge(three)
    assert np.array_equal(one.high, two.high)
    assert np.array_equal(one.low, two.low)
    assert ((one.low >= 0) & (one.low < 2**32)).all()
    assert [int(h) * 2**32 + int(w) for h, w in zip(one.high[0], one.low[0], strict=True)] == [
        sum(column) for column in zip(*rows, strict=True)
    ]


@pytest.mark.parametrize("horizon", [1, 2, 2048, 2049, 10**4, 10**6, 10**9, 10**12])
def test_a_task_cannot_overflow_and_gaps_are_quantised_finely(horizon: int) -> None:
    gaps = np.array([0.0, 1.0, 1 / 3, 983.7])
    edges = cell_edges(horizon)
    scale = exante.scale_of(gaps, edges)
    runs_of_a_group = -(-scale.most_runs // GROUPS)
    assert scale.most_runs >= 1
    assert runs_of_a_group * int(scale.units.max()) * int(np.diff(edges).max()) < 2**63
    assert (np.abs(scale.units * scale.quantum - gaps) <= 2.0**-31 * gaps.max()).all()


def test_equal_arms_have_no_gap_and_no_trouble() -> None:
    scale = exante.scale_of(np.zeros(3), cell_edges(10))
    assert scale.units.tolist() == [0, 0, 0]
    assert scale.quantum > 0


CURVES = {
    "regret falls like 1/t": lambda t: 1.0 - 0.99 / (1.0 + t / 300.0),
    "like the root of 1/t": lambda t: 1.0 - 0.9 / np.sqrt(1.0 + t),
    "a step at the change": lambda t: np.where(t < 7001, 0.02, 0.98),
}


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("p", [1.0, 0.0, -0.5, -2.0, -20.0])
def test_cells_cost_less_than_a_second_order_term(curve: str, p: float) -> None:
    """docs/design.md: within a cell m varies by a factor of 1 ± 2^-11 at most, if m_t moves no faster than t does.

    So E m^p over the cell differs from (E m)^p by a factor of at most 1 + |p(p − 1)|/2 · 2^-22 (variance at most the
    squared half-range); the regret by as much of the welfare at most.
    """
    horizon = 200_000
    m = CURVES[curve](np.arange(horizon, dtype=float))
    edges = cell_edges(horizon, [7001])
    in_cells = np.add.reduceat(m, edges[:-1]) / np.diff(edges)
    exact = float(welfare.regret_of_gaps(1.0 - m, p, 1.0))
    cells = float(welfare.regret_of_gaps(1.0 - in_cells, p, 1.0, weights=np.diff(edges)))
    bound = abs(p - 1.0) / 2.0 * 2.0**-22 * (1.0 - exact)
    assert abs(cells - exact) <= bound + 1e-13


def test_a_step_inside_a_cell_breaks_that_bound() -> None:
    """The negative control: a change of rule in the middle of a wide cell that is not split there."""
    horizon = 200_000
    m = np.where(np.arange(horizon) < 150_050, 0.02, 0.98)
    edges = cell_edges(horizon)
    in_cells = np.add.reduceat(m, edges[:-1]) / np.diff(edges)
    p = -20.0
    exact = float(welfare.regret_of_gaps(1.0 - m, p, 1.0))
    cells = float(welfare.regret_of_gaps(1.0 - in_cells, p, 1.0, weights=np.diff(edges)))
    assert abs(cells - exact) > abs(p - 1.0) / 2.0 * 2.0**-22 * (1.0 - exact)


def test_gap_sums_are_per_round_and_per_group() -> None:
    gaps = np.array([0.0, 0.5])
    tally = Tally(cell_edges(10), gaps)
    sheet = sheet_for(tally.edges, tally.scale.units, 3)
    for r in range(3):
        open_run(sheet, r)
        enter(sheet, 0, 1)
        enter(sheet, 4 + r, 0)
        close_run(sheet, 4, 10, np.array([6 - r, 4 + r]))
    tally.add(0, sheet)
    sums = tally.gap_sums()
    assert sums[:, 3].tolist() == [0.5] * 3 + [0.0] * (GROUPS - 3)
    assert Fraction(float(sums.sum())) == Fraction(1, 2) * (4 + 5 + 6)
