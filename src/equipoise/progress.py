"""A progress bar with the time left, on standard error, and only where somebody is looking."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

PATIENCE = 1.0  # seconds of work before a bar is worth showing


class Watch:
    """How far the work is, in runs. A running task's control holds its runs done and the rounds of the run at hand."""

    def __init__(self, runs: int, horizon: int, wanted: bool) -> None:
        self.runs = runs
        self.horizon = horizon
        self.wanted = wanted
        self.finished = 0
        self.start = perf_counter()
        self.bar: Any = None

    def show(self, controls: list[npt.NDArray[np.int64]]) -> None:
        if not self.wanted or perf_counter() - self.start < PATIENCE:
            return
        if self.bar is None:
            self.open()
        done = self.finished + sum(control[1] + control[2] / self.horizon for control in controls)
        self.bar.update(0, completed=float(done))

    def open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (BarColumn(), TaskProgressColumn(), TextColumn("time left"), TimeRemainingColumn())
        self.bar = Progress(TextColumn("{task.description}"), *columns, console=Console(stderr=True), transient=True)
        self.bar.add_task(f"{self.runs:,} runs of {self.horizon:,} rounds", total=self.runs)
        self.bar.start()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


@contextmanager
def watching(runs: int, horizon: int, wanted: bool | None) -> Iterator[Watch]:
    watch = Watch(runs, horizon, sys.stderr.isatty() if wanted is None else wanted)
    try:
        yield watch
    finally:
        watch.close()
