"""Figures against the tables behind them, and against what a referee objects to: hidden intervals, covered text."""

import math
import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from equipoise import figures
from equipoise.arguments import ArgumentError
from equipoise.instances import Instance
from equipoise.policies.catalogue import POLICIES
from equipoise.policies.ucb_hare import UCBHare
from equipoise.policies.uniform import Uniform
from equipoise.policies.welfarist_ucb import WelfaristUCB
from equipoise.result import Result
from equipoise.simulation import simulate

ARMS = Instance.gaussian([1.0, 5.0, 0.0, 9.0, 10.0], 1.0)  # the best is last, the worst in the middle and 0
ALL = (UCBHare(), WelfaristUCB(p=-2), WelfaristUCB(p=-0.5), Uniform())


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(ARMS, ALL, horizon=20_000, runs=40, seed=5)


@pytest.fixture(scope="module")
def short() -> Result:
    return simulate(ARMS, [UCBHare(), Uniform()], horizon=300, runs=10, seed=5)


DRAWINGS = {
    "regret": lambda result, **more: figures.regret(result, -2, **more),
    "regret of many p": lambda result, **more: figures.regret(result, [1, 0, -2], **more),
    "exante": figures.exante,
    "pulls": figures.pulls,
}


@pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS)
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_nothing_covers_text_and_nothing_is_cut_off(draw, scale, result, short):
    for given in (result, short):
        ax = draw(given, scale=scale)
        assert isinstance(ax, Axes)
        assert covered(ax.figure) == []


def covered(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts whose boxes overlap, and texts that reach over the figure's edge."""
    figure.draw_without_rendering()
    texts = [x for x in figure.findobj(Text) if x.get_visible() and x.get_text().strip() and x.get_in_layout()]
    boxes = {x: x.get_window_extent() for x in texts}
    boxes = {x: b for x, b in boxes.items() if shown(x, figure)}
    faults = [(a.get_text(), b.get_text()) for a, b in combinations(boxes, 2) if crossing(boxes[a], boxes[b])]
    frame = figure.bbox
    for x, box in boxes.items():
        if box.x0 < frame.x0 - 1 or box.x1 > frame.x1 + 1 or box.y0 < frame.y0 - 1 or box.y1 > frame.y1 + 1:
            faults.append((x.get_text(), "the edge"))
    return faults


def crossing(a, b) -> bool:
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1


def shown(text: Text, figure: Figure) -> bool:
    """Ticks beyond the limits are kept by matplotlib and not drawn."""
    for ax in figure.axes:
        for axis, (low, high), i in ((ax.xaxis, sorted(ax.get_xlim()), 0), (ax.yaxis, sorted(ax.get_ylim()), 1)):
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            for tick in ticks:
                if text is tick.label1 or text is tick.label2:
                    return text.get_visible() and low <= text.get_position()[i] <= high
    return True


def test_the_check_of_covered_text_sees_a_cover():
    figure = Figure()
    ax = figure.add_subplot()
    ax.text(0.5, 0.5, "one")
    ax.text(0.5, 0.5, "two")
    assert ("one", "two") in covered(figure)


def test_lines_and_bands_are_the_table_whole(result):
    ax = figures.regret(result, -2, raw=True)
    ax.figure.draw_without_rendering()
    table = result.regret(-2)
    low, high = ax.get_ylim()
    assert low < table.lo.min()
    assert high > table.hi.max()
    for label, rows in table.groupby("policy"):
        (line,) = [line for line in ax.lines if line.get_label() == label]
        np.testing.assert_array_equal(line.get_xdata(), rows.t)
        np.testing.assert_array_equal(line.get_ydata(), rows.est)
    bands = [band.get_paths()[0].vertices for band in ax.collections]
    assert {round(float(b[:, 1].max()), 9) for b in bands} == set(table.groupby("policy").hi.max().round(9))
    thin = [tuple(line.get_ydata()) for line in ax.lines if line.get_linewidth() < 1]
    assert thin == [tuple(rows.raw) for _, rows in table.groupby("policy", sort=False)]
    assert all(band.get_alpha() == 0.2 for band in ax.collections)


def test_pulls_are_the_table_in_the_order_of_the_means(result):
    ax = figures.pulls(result)
    assert [x.get_text() for x in ax.get_xticklabels()] == ["4", "3", "1", "0", "2"]
    rows = result.pulls().query("policy == 'UCB-HARE'").sort_values("mean_pulls", ascending=False)
    line = ax.lines[0]
    order = np.argsort(line.get_xdata())
    assert np.asarray(line.get_ydata())[order][0] == rows.mean_pulls.iloc[0]


def test_labels_say_what_is_drawn(result, short):
    ax = figures.regret(result, -2)
    assert ax.get_xscale() == "log"
    assert ax.get_yscale() == "linear"
    assert r"\mu^\star" in ax.get_ylabel()
    assert "p = −2" in ax.get_ylabel()
    assert legend(ax) == [policy.label for policy in ALL]
    caption = caption_of(ax)
    for words in (result.caption, "tuned to T and read at t ≤ T", "95 %", "corrected"):
        assert words in caption
    assert figures.regret(short, -2).get_xscale() == "linear"
    assert "UCB-HARE, p = −∞" in legend(figures.regret(result, [0, -math.inf]))
    rawls = caption_of(figures.regret(result, -math.inf))
    assert rawls.endswith("no label-symmetric policy gets below μ⋆ − mean(μ) = 5.")
    assert "90 %" in caption_of(figures.exante(result, level=0.9))


def legend(ax: Axes) -> list[str]:
    found = ax.get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


def caption_of(ax: Axes) -> str:
    return " ".join(max((text.get_text() for text in ax.texts), key=len).split())


def test_a_policy_keeps_its_colour_and_lines_differ(result):
    for ax in (figures.regret(result, [1, -2]), figures.exante(result)):
        looks = [(line.get_color(), str(line._dash_pattern)) for line in ax.lines if line.get_label()[0] != "_"]
        assert len(set(looks)) == len(looks)
        first = {line.get_label().split(",")[0]: line.get_color() for line in ax.lines}
        assert first["UCB-HARE"] == "#0072B2"
        assert first["Welfarist-UCB(p=-2)"] == first["Welfarist-UCB(p=-0.5)"] == "#D55E00"
    assert len({figures.colour_of(cls.__new__(cls)) for cls in POLICIES}) == len(POLICIES)


@dataclass(frozen=True)
class Mine(Uniform):
    name: ClassVar[str] = "Mine"


@dataclass(frozen=True)
class Yours(Uniform):
    name: ClassVar[str] = "Yours"


def test_users_policies_have_colours_of_their_own():
    assert figures.colour_of(Mine()) not in figures.COLOURS.values()
    many = tuple(type(f"Own{i}", (Uniform,), {"name": f"Own{i}"})() for i in range(12))
    styles = [style for each in figures.styles_of((Mine(), Yours(), *many)).values() for style in each]
    assert len(set(styles)) == len(styles)


def test_too_many_curves_of_one_colour_are_refused(result):
    with pytest.raises(ArgumentError, match=r"at most 6"):
        figures.regret(result, [1, 0, -1, -2])


def test_a_log_axis_says_what_it_cannot_show(result):
    table = pd.DataFrame({"est": [1.0, -0.5, 2.0], "lo": [-0.1, -0.7, 1.0], "p": [0.0] * 3})
    assert figures.hidden(table, "linear") == ""
    assert "1 estimates and the lower ends of 2 intervals" in figures.hidden(table, "log")
    ax = figures.exante(result, scale="log")
    assert ax.get_yscale() == "log"


def test_one_run_has_no_bands_and_says_so():
    alone = simulate(ARMS, UCBHare(), horizon=50, runs=1, seed=1)
    assert "no bands" in caption_of(figures.regret(alone, 0))


def test_bad_scales_are_refused(result):
    with pytest.raises(ArgumentError, match="scale is 'lag'"):
        figures.exante(result, scale="lag")


def test_axes_that_are_given_are_drawn_on(result):
    left, right = Figure(figsize=(10, 4), layout="constrained").subplots(1, 2)
    height = left.figure.get_figheight()
    assert figures.regret(result, 0, ax=left) is left
    assert figures.exante(result, ax=right) is right
    assert left.figure.get_figheight() == height
    assert "matplotlib.pyplot" not in sys.modules  # so no window, and no figure that stays open


def test_saved_figures_have_their_table_beside_them(result, tmp_path):
    table = result.regret(-2)
    paths = figures.save(figures.regret(result, -2), tmp_path / "new" / "fig.1", table)
    assert [path.name for path in paths] == ["fig.1.png", "fig.1.pdf", "fig.1.csv"]
    assert paths[0].read_bytes()[:4] == b"\x89PNG"
    assert paths[1].read_bytes()[:4] == b"%PDF"
    pd.testing.assert_frame_equal(pd.read_csv(paths[2]), table)
    before = [path.read_bytes() for path in paths]
    figures.save(figures.regret(result, -2), tmp_path / "new" / "fig.1", table)
    assert [path.read_bytes() for path in paths] == before
    (tmp_path / "file").touch()
    with pytest.raises(ArgumentError, match=r"stem is .* cannot be written"):
        figures.save(figures.regret(result, -2), tmp_path / "file" / "fig", table)
    assert sorted(path.name for path in Path(tmp_path).iterdir()) == ["file", "new"]
