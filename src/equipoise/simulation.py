"""instance x policies x runs -> Result: tasks of about a second, on threads or an executor, added as they come."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from itertools import count as counter
from typing import Any

import numpy as np

from equipoise.arguments import ArgumentError, one_of, positive, whole
from equipoise.engines.assembly import ENGINES, Control
from equipoise.instances import Instance
from equipoise.jobs import Job, halt, job_for, play_elsewhere, received
from equipoise.policies.contract import Policy
from equipoise.progress import Watch, watching
from equipoise.result import Result
from equipoise.streams import Seed, make_key, pin

LONGEST = 10**12  # rounds; beyond, the integer sums of a single run could overflow
SECONDS = 1.0  # a task's length, about
FIRST_LOOK = 0.05  # that of tasks of which nothing is known yet, by a guess
FOLDS = 32  # tallies that are added in a second at most: beyond so many workers, tasks are longer
UNKNOWN = 8  # workers of an executor that does not say how many it has


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
    executor: Executor | None = None,
    progress: bool | None = None,
) -> Result:
    """Plays `runs` runs of `horizon` rounds of each policy on `instance`.

    The numbers depend on instance, policies, horizon, runs, seed and sigma alone, to the last bit.

    - `runs`: how many, or a `range` of them such as range(200, 400): results of disjoint ranges merge.
    - `sigma`: what the policies are told of the rewards' spread; the instance's own unless given.
    - `engine`: "step" plays round by round, "leap" whole stretches of exploitation at once, with the same law;
      "auto" leaps wherever page and rewards allow it.
    - `workers`: threads, one per core unless given. `chunk`: runs per task, about a second's worth unless given.
    - `executor`: plays instead of threads: any `concurrent.futures.Executor`, such as a process pool or Dask's
      `client.get_executor()`. `workers` is then how many tasks it plays at once, where it does not say so itself.
      Twice as many are in flight. It is not shut down.
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
    chunk = None if chunk is None else whole("chunk", chunk)
    pinned = pin(seed)
    crew = Crew(executor, None if workers is None else whole("workers", workers))
    jobs = [job_for(instance, policy, horizon, told, make_key(pinned), engine) for policy in chosen]
    with watching(len(wanted) * len(jobs), horizon, progress) as watch:
        work_through(jobs, wanted, crew, chunk, watch)
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
    chosen = tuple(policies) if isinstance(policies, list | tuple) else (policies,)
    if not chosen:
        raise ArgumentError("policies is empty; give at least one, such as UCBHare().")
    for policy in chosen:
        if not isinstance(policy, Policy):
            raise ArgumentError(f"policies holds {policy!r}; give policies such as UCBHare(), with brackets.")
    labels = [policy.label for policy in chosen]
    for label in labels:
        if labels.count(label) > 1:
            raise ArgumentError(f"policies contains {label} {labels.count(label)} times; give each policy once.")
    return chosen


# What is played.


def work_through(jobs: list[Job], runs: range, crew: "Crew", chunk: int | None, watch: Watch) -> None:
    """Plays all runs of all jobs, with at most two tasks a worker in flight, or done and not yet added."""
    waiting = tasks(jobs, runs, crew.size, chunk)
    flying: dict[Future[Any], tuple[Job, Control]] = {}
    try:
        with losses_told():
            while True:
                while len(flying) < 2 * crew.size() and (task := next(waiting, None)) is not None:
                    job, first, count = task
                    control = np.zeros(3, np.int64)
                    flying[crew.submit(job, first, count, control)] = job, control
                if not flying:
                    return
                done, _ = wait(flying, timeout=0.1, return_when=FIRST_COMPLETED)
                while done:
                    future = done.pop()
                    part = received(future.result())
                    flying.pop(future)[0].fold(part)
                    watch.finished += part.runs
                watch.show([control for _, control in flying.values()])
    finally:
        crew.leave(flying, [control for _, control in flying.values()])


def tasks(jobs: list[Job], runs: range, size: Callable[[], int], chunk: int | None) -> Iterator[tuple[Job, int, int]]:
    """Cuts the runs into tasks of about SECONDS each, as far as is known when a task is asked for."""
    for job in jobs:
        first = runs.start
        while first < runs.stop:
            left, workers = runs.stop - first, size()
            length = max(SECONDS, workers / FOLDS) if job.seconds else FIRST_LOOK
            each = job.seconds or job.engine.guess(job.horizon)
            share = max(-(-left // (2 * workers)), int(FIRST_LOOK / each) + 1)  # some for everybody, to the end
            count = min(chunk or min(int(length / each) + 1, share), left, job.tally.scale.most_runs)
            yield job, first, count
            first += count


@contextmanager
def losses_told() -> Iterator[None]:
    """Says in a sentence that workers were lost, whatever the executor calls it."""
    try:
        yield
    except Exception as error:
        if isinstance(error, BrokenExecutor | CancelledError) or type(error).__name__ == "KilledWorker":
            why = str(error).rstrip(".") or "its task was cancelled"
            raise ChildProcessError(
                f"executor has lost a worker ({why}); see that workers have memory enough, then run again"
            ) from error
        raise


# Who plays.


CREWS = counter(1)


class Crew:
    """Those who play: threads of our own, a user's threads, or the processes behind an executor."""

    def __init__(self, executor: Executor | None, workers: int | None) -> None:
        if not isinstance(executor, Executor | None):
            raise ArgumentError(
                f"executor is {executor!r}; give a concurrent.futures.Executor, such as ProcessPoolExecutor() or "
                "Dask's client.get_executor()."
            )
        self.own = executor is None
        self.workers = cores() if self.own and workers is None else workers
        self.executor = ThreadPoolExecutor(self.workers) if executor is None else executor
        self.here = isinstance(self.executor, ThreadPoolExecutor)
        self.client: Any = getattr(self.executor, "_client", None)  # Dask's
        self.name = f"{getattr(self.client, 'id', '')} {os.getpid()} {next(CREWS)}"  # as nobody else is called

    def size(self) -> int:
        """How many tasks are played at once, as far as is known. On a cluster that may change."""
        if self.workers is not None:
            return self.workers
        if self.client is not None:
            return sum(self.client.ncores().values()) or UNKNOWN
        return getattr(self.executor, "_max_workers", None) or UNKNOWN

    def submit(self, job: Job, first: int, count: int, control: Control) -> Future[Any]:
        if self.here:
            return self.executor.submit(job.play, first, count, control)
        return self.executor.submit(play_elsewhere, job.order, first, count, self.name)

    def leave(self, futures: Iterable[Future[Any]], controls: list[Control]) -> None:
        """Stops what is still in flight."""
        for future, control in zip(futures, controls, strict=True):
            control[0] = 1
            future.cancel()
        if controls and self.client is not None and self.client.status == "running":
            self.client.run(halt, self.name, on_error="ignore")
        if self.own:
            self.executor.shutdown()
