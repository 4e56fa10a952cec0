"""Figures: each function draws on one matplotlib Axes and returns it. Nothing is shown, and no global state is left.

Colour says which policy, the same in every figure; line style says which p, or which variant of the policy. Bands are
pointwise intervals and lie inside the axes whole. The caption says what was run, and how lines and bands were made.
"""

from collections import Counter
from math import inf
from os import PathLike
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple
from zlib import crc32

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from equipoise.arguments import ArgumentError, one_of
from equipoise.exante import SINGLES
from equipoise.files import drafts
from equipoise.policies.contract import Policy
from equipoise.result import Result, Rounds, exponents

# Okabe and Ito's palette, which colour-blind readers can tell apart; users' own policies take theirs from Tol's.
COLOURS = {
    "ucb-hare": "#0072B2",
    "welfarist-ucb": "#D55E00",
    "explore-then-ucb": "#009E73",
    "nash-confidence-bound": "#CC79A7",
    "ucb": "#E69F00",
    "ucb1": "#56B4E9",
    "thompson": "#000000",
    "uniform": "#8C8C8C",
}
OWN_COLOURS = ("#882255", "#332288", "#44AA99", "#AA4499", "#999933", "#661100")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (7, 2, 1.5, 2)), (0, (9, 3)), (0, (3, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")

FROM_LOG = 10_000  # the horizon from which rounds stand on a log axis
SMALL = 7.5  # points, the caption's size
GREY = "0.25"  # the caption's colour
OURS = "equipoise"  # marks axes that this module has made, whose figure may grow with its legend

BANDS = "bands: pointwise {level:.4g} % Monte-Carlo intervals (jackknife over groups of runs, Student's t)"
TUNED = "Policies are tuned to T and read at t ≤ T"


class Style(NamedTuple):
    colour: str
    turn: int  # of the line styles and markers

    @property
    def dashes(self) -> Any:
        return DASHES[self.turn]


def regret(
    result: Result,
    p: float | list[float],
    *,
    t: Rounds = None,
    level: float = 0.95,
    scale: str = "linear",
    raw: bool = False,
    notes: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """p-mean regret over rounds 1 to t against t, with its interval; `raw` adds the plug-in as a thin line.

    `scale`: of regret, "linear" or "log". `notes=False` leaves legend and caption to you, for a figure of many panels:
    `regret_caption` gives the text.
    """
    asked = exponents(p)
    table = result.regret(asked, t, level)
    ax = prepared(ax, result, scale)
    styles = styles_of(result.policies, len(asked))
    for (label, exact), rows in table.groupby(["policy", "p"], sort=False):
        style = styles[str(label)][asked.index(float(str(exact)))]
        curve(ax, rows, style, str(label) if len(asked) == 1 else f"{label}, p = {signed(exact)}")
        if raw:
            ax.plot(rows.t, seen(rows.raw, ax), color=style.colour, linestyle=style.dashes, linewidth=0.6)
    ax.set_xlabel("round t")
    ax.set_ylabel(regret_label(asked))
    if notes:
        finish(ax, regret_caption(result, table, level, scale, raw))
    return ax


def exante(
    result: Result,
    *,
    t: Rounds = None,
    level: float = 0.95,
    scale: str = "linear",
    ax: Axes | None = None,
) -> Axes:
    """What participant t can expect, m_t, against t, with its interval, under the best mean μ⋆."""
    table = result.exante(t, level)
    ax = prepared(ax, result, scale)
    styles = styles_of(result.policies)
    ax.axhline(result.instance.best, color="0.4", linewidth=0.8, linestyle=":", label="best mean μ⋆")
    for label, rows in table.groupby("policy", sort=False):
        curve(ax, rows, styles[str(label)][0], str(label))
    ax.set_xlabel("round t")
    ax.set_ylabel(r"ex-ante reward  $m_t = \mathrm{E}\,[\mu_{\,\mathrm{arm}\ t}]$")
    sentences = (f"Lines: means over runs and, beyond round {SINGLES:,}, over cells of rounds; {bands(table, level)}.",)
    finish(ax, captioned(result, TUNED + ".", *sentences, hidden(table, scale)))
    return ax


def pulls(
    result: Result,
    *,
    level: float = 0.95,
    scale: str = "linear",
    ax: Axes | None = None,
) -> Axes:
    """How many participants each arm gets, with its interval; the arms in the order of their means, best first."""
    table = result.pulls(level).rename(columns={"mean_pulls": "est"})
    order = np.argsort(-result.instance.means, kind="stable")
    place = np.argsort(order)
    ax = prepared(ax, result, scale, rounds=False)
    styles = styles_of(result.policies)
    for i, (label, rows) in enumerate(table.groupby("policy", sort=False)):
        style = styles[str(label)][0]
        x = place[rows.arm] + 0.6 * ((i + 0.5) / len(result.policies) - 0.5)
        low, high = seen(rows.lo, ax, floor(table)), seen(rows.hi, ax)
        ax.vlines(x, low, high, color=style.colour, linewidth=1.2)
        ax.plot(x, seen(rows.est, ax), MARKERS[style.turn], color=style.colour, markersize=4, label=str(label))
    if result.instance.k <= 20:
        names = [result.instance.names[arm] for arm in order]
        ax.set_xticks(range(result.instance.k), names, rotation=45 if max(map(len, names)) > 4 else 0)
    ax.set_xlabel(
        "arm, the best first" if result.instance.k <= 20 else "arms in the order of their means, the best at 0"
    )
    ax.set_ylabel("participants per run who get the arm (mean)")
    sentences = (f"Bars: {bands(table, level).removeprefix('bands: ')}.", hidden(table, scale))
    finish(ax, captioned(result, *sentences))
    return ax


def save(drawn: Axes | Figure, stem: str | PathLike[str], table: pd.DataFrame) -> list[Path]:
    """Writes the figure as `stem`.png and .pdf, and the table behind it as `stem`.csv; their paths."""
    stem = Path(stem)
    paths = [stem.with_name(stem.name + suffix) for suffix in (".png", ".pdf", ".csv")]
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
        with drafts(paths) as beside:
            for path in beside[:2]:
                write(drawn, path)
            table.to_csv(beside[2], index=False)
    except OSError as error:
        raise ArgumentError(
            f"stem is {str(stem)!r}, which cannot be written: {error.strerror}; give a folder that can be written to."
        ) from None
    return paths


def write(drawn: Axes | Figure, path: str | PathLike[str]) -> None:
    """Writes the figure in the format of the path's suffix, the same bytes every time."""
    figure = drawn.figure if isinstance(drawn, Axes) else drawn
    undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(Path(path).suffix)
    with matplotlib.rc_context({"pdf.fonttype": 42, "svg.hashsalt": "equipoise"}):
        figure.savefig(path, dpi=200, bbox_inches="tight", metadata=undated)  # type: ignore[union-attr]


# Who looks like what.


def colour_of(policy: Policy) -> str:
    """The colour of the policy's class, the same in every figure."""
    name = type(policy).command()
    return COLOURS.get(name) or OWN_COLOURS[crc32(name.encode()) % len(OWN_COLOURS)]


def styles_of(policies: tuple[Policy, ...], each: int = 1) -> dict[str, list[Style]]:
    """`each` styles for every policy, by its label: curves of one colour differ in their lines."""
    drawn: Counter[str] = Counter()
    styles: dict[str, list[Style]] = {}
    for policy in policies:
        colour = colour_of(policy)
        styles[policy.label] = [Style(colour, drawn[colour] + i) for i in range(each)]
        drawn[colour] += each
        if drawn[colour] > len(DASHES):
            raise ArgumentError(
                f"{policy.name} has {drawn[colour]} curves in one figure; give at most {len(DASHES)}, such as fewer p."
            )
    return styles


# What every figure does.


def prepared(ax: Axes | None, result: Result, scale: str, rounds: bool = True) -> Axes:
    """The axes to draw on, new ones where none are given, with their scales."""
    one_of("scale", scale, ("linear", "log"))
    if ax is None:
        ax = Figure(figsize=(6.4, 4.8), layout="constrained").add_subplot(label=OURS)
    if rounds and result.horizon >= FROM_LOG:
        ax.set_xscale("log")
    ax.set_yscale(scale)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="0.92", linewidth=0.6)
    ax.set_axisbelow(True)
    return ax


def curve(ax: Axes, rows: pd.DataFrame, style: Style, label: str) -> None:
    """An estimate against t, and its band; the band of a log axis goes down to the least value that can be shown."""
    ax.fill_between(
        rows.t, seen(rows.lo, ax, floor(rows)), seen(rows.hi, ax), color=style.colour, alpha=0.2, linewidth=0
    )
    ax.plot(rows.t, seen(rows.est, ax), color=style.colour, linestyle=style.dashes, linewidth=1.5, label=label)


def seen(values: pd.Series, ax: Axes, instead: float = np.nan) -> Any:
    """The values as the axis can show them: on a log axis, `instead` of those that are not above 0."""
    array = values.to_numpy(float)
    return np.where(array <= 0.0, instead, array) if ax.get_yscale() == "log" else array


def floor(table: pd.DataFrame) -> float:
    """A tenth of the least estimate above 0."""
    return float(table.est.where(table.est > 0.0).min()) / 10.0


def finish(ax: Axes, caption: str) -> None:
    """The legend above the axes and the caption below them, where neither can cover a curve."""
    names = ax.get_legend_handles_labels()[1]
    columns = max(1, min(3, int(inches(ax) / (0.065 * max(map(len, names)) + 0.5))))
    legend(ax, ncols=columns, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.3)
    if ax.get_label() == OURS:
        rows = -(-len(names) // columns)
        ax.figure.set_figheight(4.2 + 0.2 * rows)  # type: ignore[union-attr]
    ax.annotate(
        wrapped(caption, inches(ax)),
        xy=(0.0, 0.0),
        xycoords=("axes fraction", ax.xaxis.label),
        xytext=(0.0, -6.0),
        textcoords="offset points",
        ha="left",
        va="top",
        fontsize=SMALL,
        color=GREY,
        annotation_clip=False,
    )


def legend(on: Axes | Figure, **place: Any) -> None:
    on.legend(frameon=False, fontsize="small", **place)


def inches(ax: Axes) -> float:
    """The width of the axes."""
    return float(ax.bbox.width / ax.figure.dpi)


def wrapped(caption: str, width: float) -> str:
    """The caption in lines of `width` inches."""
    return fill(caption, max(30, int(width * 72.0 / (0.5 * SMALL))))


# What captions and labels say.


def signed(p: object) -> str:
    """p as printed, with a minus sign and not a hyphen."""
    return f"{p:g}".replace("inf", "∞").replace("-", "−")


def regret_label(p: list[float]) -> str:
    """The definition of regret at time t, for one p or for any."""
    means = {
        -inf: r"\min_{s\leq t}\,m_s",
        inf: r"\max_{s\leq t}\,m_s",
        0.0: r"(\Pi_{s\leq t}\,m_s)^{1/t}",
        1.0: r"\Sigma_{s\leq t}\,m_s/t",
    }
    general = r"(\Sigma_{s\leq t}\,m_s^{\,p}/t)^{1/p}"
    mean = means.get(p[0], general) if len(p) == 1 else general
    which = f",  p = {signed(p[0])}" if len(p) == 1 else ""
    return rf"regret  $\mu^\star - {mean}${which}"


def regret_caption(
    result: Result, table: pd.DataFrame, level: float = 0.95, scale: str = "linear", raw: bool = False
) -> str:
    """What a regret figure of this table must say beneath it."""
    lines = "Lines: regret of the ex-ante rewards m_t, corrected for the plug-in's bias by the jackknife"
    thin = (
        "; thin lines: the plug-in, uncorrected (where the two part widely, runs are too few for both)" if raw else ""
    )
    symmetric = all(policy.symmetric for policy in result.policies)
    first = result.instance.best - float(result.instance.means.mean())
    rawls = "At p = −∞ a minimum over noisy rounds has no reliable correction or interval"
    rawls += f", and no label-symmetric policy gets below μ⋆ − mean(μ) = {first:.4g}." if symmetric else "."
    return captioned(
        result,
        f"{TUNED}.",
        f"{lines}{thin}; {bands(table, level)}.",
        rawls if (table.p == -inf).any() else "",
        hidden(table, scale),
    )


def captioned(result: Result, *sentences: str) -> str:
    return " ".join((f"{result.caption}.", *filter(None, sentences)))


def bands(table: pd.DataFrame, level: float) -> str:
    unknown = int(table.lo.isna().sum())
    if unknown == len(table):
        return "no bands, because so few runs cannot tell their error"
    missing = f"; {unknown} of {len(table)} points have none, because the runs cannot tell" if unknown else ""
    return BANDS.format(level=100.0 * level) + missing


def hidden(table: pd.DataFrame, scale: str) -> str:
    """What a log axis cannot show."""
    if scale != "log":
        return ""
    points, lows = int((table.est <= 0.0).sum()), int((table.lo <= 0.0).sum())
    lost = [f"{points} estimates"] if points else []
    lost += [f"the lower ends of {lows} intervals"] if lows else []
    return f"A log axis cannot show {' and '.join(lost)} at or below 0." if lost else ""


def panels(count: int, width: float = 7.2, height: float = 3.6) -> list[Axes]:
    """Axes side by side in one figure of a page's width."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return list(figure.subplots(1, count, squeeze=False)[0])


def caption_panels(figure: Figure, caption: str) -> None:
    """One caption below all panels."""
    text = wrapped(caption, figure.get_figwidth())
    figure.supxlabel(text, x=0.01, ha="left", fontsize=SMALL, color=GREY)
