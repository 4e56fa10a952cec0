"""A progress bar with the rounds so far and the time left, on standard error, and only where somebody is looking."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

PATIENCE = 1.0  # seconds of work before a bar is worth showing


class Watch:
    """How far the work is. A running task's control holds its runs done and the rounds of the run at hand; that of a
    task in another process stays at nought, so there the bar moves by tasks."""

    def __init__(self, runs: int, horizon: int, wanted: bool) -> None:
        self.runs = runs
        self.horizon = horizon
        self.wanted = wanted
        self.finished = 0  # runs
        self.start = perf_counter()
        self.bar: Any = None

    def rounds(self, controls: list[npt.NDArray[np.int64]]) -> int:
        """Rounds simulated so far."""
        return self.finished * self.horizon + sum(int(c[1]) * self.horizon + int(c[2]) for c in controls)

    def show(self, controls: list[npt.NDArray[np.int64]]) -> None:
        if not self.wanted or perf_counter() - self.start < PATIENCE:
            return
        if self.bar is None:
            self.open()
        done = self.rounds(controls)
        self.bar.update(0, completed=float(done), so_far=short(done))

    def open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        total = self.runs * self.horizon
        told = TextColumn("{task.fields[so_far]} of " + f"{short(total)} rounds")
        columns = (BarColumn(), told, TextColumn("time left"), TimeRemainingColumn())
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.bar.add_task("", total=total, so_far="0")
        self.bar.start()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


def short(rounds: int) -> str:
    """A number of rounds in few signs.

    >>> short(4000), short(1_234_567_890), short(4 * 10**9)
    ('4,000', '1.2e9', '4e9')
    """
    if rounds < 10**6:
        return f"{rounds:,}"
    digits, _, power = f"{rounds:.1e}".partition("e")
    return f"{digits.removesuffix('.0')}e{int(power)}"


@contextmanager
def watching(runs: int, horizon: int, wanted: bool | None) -> Iterator[Watch]:
    watch = Watch(runs, horizon, sys.stderr.isatty() if wanted is None else wanted)
    try:
        yield watch
    finally:
        watch.close()
