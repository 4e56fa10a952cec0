"""instance x policies x runs -> Result: tasks of about a second, on threads, their sums added as they come."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from equipoise import exante
from equipoise.arguments import ArgumentError, one_of, positive, whole
from equipoise.engines.assembly import ENGINES, Control, Engine, assemble
from equipoise.engines.compile import Function
from equipoise.exante import Sheet, Tally, cell_edges, sheet_for
from equipoise.instances import Instance
from equipoise.policies.contract import Policy
from equipoise.progress import Watch, watching
from equipoise.result import Result
from equipoise.streams import Key, Seed, make_key, pin

RECORDER: dict[str, Function] = {"open_run": exante.open_run, "enter": exante.enter, "close_run": exante.close_run}
LONGEST = 10**12  # rounds; beyond, the integer sums of a single run could overflow
SECONDS = 1.0  # a task's length, about


def simulate(
    instance: Instance,
    policies: Policy | Sequence[Policy],
    *,
    horizon: int = 10_000,
    runs: int | range = 200,
    seed: Seed = None,
    sigma: float | None = None,
    engine: str = "auto",
    workers: int | None = None,
    chunk: int | None = None,
    progress: bool | None = None,
) -> Result:
    """Plays `runs` runs of `horizon` rounds of each policy on `instance`.

    The numbers depend on instance, policies, horizon, runs, seed and sigma alone, to the last bit.

    - `runs`: how many, or a `range` of them such as range(200, 400): results of disjoint ranges merge.
    - `sigma`: what the policies are told of the rewards' spread; the instance's own unless given.
    - `engine`: "step" plays round by round, "leap" whole stretches of exploitation at once, with the same law;
      "auto" leaps wherever page and rewards allow it.
    - `workers`: threads, one per core unless given. `chunk`: runs per task, about a second's worth unless given.
    - `progress`: a bar on standard error; None shows one at a terminal if it takes long.
    """
    if not isinstance(instance, Instance):
        raise ArgumentError(f"instance is {instance!r}; give an Instance, such as Instance.bernoulli([0.3, 0.5]).")
    chosen = distinct(policies)
    horizon = whole("horizon", horizon, 1, LONGEST)
    wanted = runs if isinstance(runs, range) else range(whole("runs", runs))
    if len(wanted) == 0 or wanted.step != 1 or wanted.start < 0:
        raise ArgumentError(f"runs is {runs!r}; give a whole number of at least 1, or a range of runs in steps of 1.")
    told = instance.sigma if sigma is None else positive("sigma", sigma)
    one_of("engine", engine, ENGINES)
    workers = whole("workers", workers) if workers is not None else cores()
    pinned = pin(seed)
    jobs = [job_for(instance, policy, horizon, told, make_key(pinned), engine) for policy in chosen]
    with watching(len(wanted) * len(jobs), horizon, progress) as watch:
        work_through(jobs, wanted, workers, chunk if chunk is None else whole("chunk", chunk), watch)
    return Result(
        instance=instance,
        policies=chosen,
        horizon=horizon,
        runs=wanted,
        seed=pinned,
        sigma=told,
        engines=tuple(job.engine.caption for job in jobs),
        tallies=tuple(job.tally for job in jobs),
    )


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def distinct(policies: Policy | Sequence[Policy]) -> tuple[Policy, ...]:
    """The policies as a tuple, no two of one label."""
    chosen = (policies,) if isinstance(policies, Policy) else tuple(policies)
    if not chosen:
        raise ArgumentError("policies is empty; give at least one, such as UCBHare().")
    for policy in chosen:
        if not isinstance(policy, Policy):
            raise ArgumentError(f"policies contains {policy!r}; give policies such as UCBHare().")
    labels = [policy.label for policy in chosen]
    for label in labels:
        if labels.count(label) > 1:
            raise ArgumentError(f"policies contains {label} {labels.count(label)} times; give each policy once.")
    return chosen


@dataclass
class Job:
    """One policy's runs, and what is known of their cost."""

    instance: Instance
    horizon: int
    key: Key
    params: Any
    engine: Engine
    tally: Tally
    seconds: float = field(default=0.0)  # a run's

    def task(self, first: int, count: int, control: Control) -> tuple["Job", int, Sheet, float]:
        start = perf_counter()
        sheet = sheet_for(self.tally.edges, self.tally.scale.units, count)
        self.engine.play(first, count, self.key, self.horizon, self.params, self.instance, control, sheet)
        return self, first, sheet, (perf_counter() - start) / count


def job_for(instance: Instance, policy: Policy, horizon: int, sigma: float, key: Key, engine: str = "auto") -> Job:
    params = policy.params(instance.k, horizon, sigma)
    tally = Tally(cell_edges(horizon, policy.changes(instance.k, horizon)), instance.gaps)
    blank = sheet_for(tally.edges, tally.scale.units, 1)
    played = assemble(policy, params, instance, RECORDER, blank, engine)
    return Job(instance, horizon, key, params, played, tally)


def work_through(jobs: list[Job], runs: range, workers: int, chunk: int | None, watch: Watch) -> None:
    """Plays all runs of all jobs, with at most two tasks a worker in flight."""
    waiting = tasks(jobs, runs, workers, chunk)
    flying: dict[Future[tuple[Job, int, Sheet, float]], Control] = {}
    pool = ThreadPoolExecutor(workers)
    try:
        while True:
            while len(flying) < workers + 1 and (task := next(waiting, None)) is not None:
                job, first, count = task
                control = np.zeros(3, np.int64)
                flying[pool.submit(job.task, first, count, control)] = control
            if not flying:
                return
            done, _ = wait(flying, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in done:
                job, first, sheet, job.seconds = future.result()
                job.tally.add(first, sheet)
                watch.finished += len(sheet.lengths)
                del flying[future]
            watch.show(list(flying.values()))
    finally:
        for control in flying.values():
            control[0] = 1
        pool.shutdown(cancel_futures=True)


def tasks(jobs: list[Job], runs: range, workers: int, chunk: int | None) -> Iterator[tuple[Job, int, int]]:
    """Cuts the runs into tasks of about SECONDS each, as far as is known when a task is asked for."""
    for job in jobs:
        first, most = runs.start, job.tally.scale.most_runs
        while first < runs.stop:
            left = runs.stop - first
            guess = job.seconds or max(job.horizon * 2e-7, 1e-4)
            size = chunk or min(int(SECONDS / guess) + 1, max(-(-left // (2 * workers)), int(0.05 / guess) + 1))
            size = min(size, left, most)
            yield job, first, size
            first += size
