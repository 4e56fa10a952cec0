"""What the commands print and where they write: tables and JSON with digits limited by the error, and safe outputs."""

import json
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite, isnan
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from equipoise.arguments import ArgumentError
from equipoise.files import can_write

if TYPE_CHECKING:
    import pandas as pd

    from equipoise.result import Result

ROUGH = 0.25  # a correction of bias by more than this share of the estimate says that the runs are too few
NOTE = "* the correction exceeds a quarter of the estimate: too few runs for either number, whatever the interval says"


def measured(est: float, mcse: float) -> str:
    """An estimate and its error, to two significant digits of the error.

    >>> measured(0.168034, 0.001712), measured(12345.6, 234.5), measured(3.0, 0.0), measured(1.234e-9, 2.5e-11)
    ('0.1680 ± 0.0017', '12350 ± 230', '3 ± 0', '1.234e-09 ± 2.5e-11')
    """
    if isnan(est):
        return "unknown"
    if not isfinite(mcse) or mcse == 0.0:
        return f"{est:.6g} ± {'0' if mcse == 0.0 else 'unknown'}"
    last = exponent_of(mcse) - 1
    return f"{rounded(est, last)} ± {rounded(mcse, last)}"


def interval(lo: float, hi: float, mcse: float) -> str:
    """The interval's ends, to the digits of `measured`."""
    if not isfinite(mcse):
        return "unknown"
    last = exponent_of(mcse) - 1 if mcse > 0.0 else exponent_of(lo) - 5
    return f"{rounded(lo, last)} to {rounded(hi, last)}"


def rounded(value: float, last: int) -> str:
    """The value to the digit that stands for 10^last."""
    top = max(exponent_of(value), last)
    if -5 < top < 9:
        return f"{round(value, -last):.{max(0, -last)}f}"
    return f"{value:.{top - last}e}"


def exponent_of(value: float) -> int:
    """The power of ten of the first digit, after rounding to two."""
    return int(f"{value:.1e}".partition("e")[2])


def regrets(rows: "pd.DataFrame") -> str:
    """A table of regrets for the screen."""
    entries = records(rows)
    lines = [
        {
            "policy": row["policy"],
            "p": f"{row['p']:g}",
            "t": f"{row['t']:,}",
            "regret": measured(row["est"], row["mcse"]) + (" *" if rough(row) else ""),
            "95 % interval": interval(row["lo"], row["hi"], row["mcse"]),
            "plug-in": f"{row['raw']:.4g}",
        }
        for row in entries
    ]
    return aligned(lines) + (f"\n{NOTE}" if any(map(rough, entries)) else "")


def shown(result: "Result", table: "pd.DataFrame", as_data: bool, files: Sequence[Path] = ()) -> str:
    """A simulation's regrets with all that says where they come from: for the screen, or as JSON."""
    written = [str(path) for path in files]
    if not as_data:
        return "\n".join([regrets(table), "", f"{result.caption}; --seed {result.seed}", *written])
    about = {"caption": result.caption, "seed": result.seed, "policies": [policy.label for policy in result.policies]}
    return as_json(about | ({"files": written} if written else {}) | {"rows": records(table)})


def rough(row: Mapping[str, Any]) -> bool:
    """Whether the correction of the bias is so large that neither number is to be trusted."""
    return bool(abs(row["raw"] - row["est"]) > ROUGH * abs(row["est"]))


def aligned(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows of equal keys as a table, the first column to the left, the others to the right."""
    names = list(rows[0])
    widths = [max(len(name), *(len(row[name]) for row in rows)) for name in names]
    lines = [names, ["-" * width for width in widths], *([row[name] for name in names] for row in rows)]
    return "\n".join(
        "  ".join(x.rjust(w) if i else x.ljust(w) for i, (x, w) in enumerate(zip(line, widths, strict=True))).rstrip()
        for line in lines
    )


def described(policy: Mapping[str, Any]) -> str:
    """A policy's entry in the list of policies."""
    parameters = ", ".join(policy["parameters"])
    parts = [policy["what"], f"Source: {policy['source']}", f"Guarantee: {policy['guarantee']}"]
    body = [fill(part, 100, initial_indent="  ", subsequent_indent="  ") for part in parts]
    return "\n".join([policy["name"] + (f"  ({parameters})" if parameters else ""), *body])


def as_json(value: object) -> str:
    """JSON that every reader takes: null where there is no number, and "inf" in quotes."""
    return json.dumps(plain(value), ensure_ascii=False, indent=2, allow_nan=False)


def plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): plain(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    if isinstance(value, float) and not isfinite(value):
        return None if isnan(value) else str(value)
    return value


def records(rows: "pd.DataFrame") -> list[dict[str, Any]]:
    return [{str(key): x for key, x in row.items()} for row in rows.to_dict("records")]


def file_target(name: str, path: str | None, suffixes: Sequence[str]) -> Path | None:
    """The path of a file that can be written, which is found out before any work is done; None where none is given."""
    if path is None:
        return None
    wanted = Path(path)
    if wanted.suffix.lower() not in suffixes:
        raise ArgumentError(f"{name} is {path!r}; give a file whose name ends in {' or '.join(suffixes)}.")
    if wanted.is_dir() or not can_write(wanted.parent):
        raise ArgumentError(
            f"{name} is {path!r}, which cannot be written; give a file in a folder that you can write to."
        )
    return wanted


def folder_target(name: str, path: str) -> Path:
    """The path of a folder that can be written to, or made."""
    wanted = Path(path)
    there = wanted.absolute()
    while not there.exists():
        there = there.parent
    if not there.is_dir() or not can_write(there):
        raise ArgumentError(f"{name} is {path!r}, which cannot be written to; give a folder that you can write to.")
    return wanted


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C waits while files are written, so that it leaves all of them or none."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
