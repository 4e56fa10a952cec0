"""instance x policies x runs -> Result: tasks of about a second, for threads or an executor; sums added as they come.

Threads share a job. To another process goes its order, in bytes: a compiled engine does not travel, so the process
makes the job anew and keeps it. Back comes a tally, compressed; tallies merge to the same bits in any order.
"""

import os
import pickle
import sys
import zlib
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
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import count as counter
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, cast

import numpy as np

from equipoise import exante
from equipoise.arguments import ArgumentError, one_of, positive, whole
from equipoise.engines.assembly import ENGINES, Control, Engine, assemble
from equipoise.engines.compile import Function
from equipoise.exante import Tally, cell_edges, sheet_for
from equipoise.instances import Instance
from equipoise.policies.catalogue import load
from equipoise.policies.contract import Policy
from equipoise.progress import Watch, watching
from equipoise.result import Result
from equipoise.streams import Key, Seed, make_key, pin

RECORDER: dict[str, Function] = {"open_run": exante.open_run, "enter": exante.enter, "close_run": exante.close_run}
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


# What is played.


class Part(NamedTuple):
    """What a task returns."""

    tally: Tally
    runs: int
    seconds: float  # a run's


class Order(NamedTuple):
    """A job as it travels: what makes it, and by what to tell that it was made of the same sources."""

    content: bytes
    label: str
    file: str  # of the policy's page, where that is a user's own
    tag: str  # the kernel's name, in which a hash of all sources and versions stands; empty if it says nothing


@dataclass
class Job:
    """One policy's runs, and what is known of their cost."""

    instance: Instance
    policy: Policy
    horizon: int
    sigma: float
    key: Key
    asked: str  # the engine
    params: Any
    engine: Engine
    tally: Tally
    seconds: float = field(default=0.0)  # a run's

    def play(self, first: int, count: int, control: Control) -> Part:
        """A task: runs `first` to `first + count - 1`."""
        sheet = sheet_for(self.tally.edges, self.tally.scale.units, count)
        start = perf_counter()
        self.engine.play(first, count, self.key, self.horizon, self.params, self.instance, control, sheet)
        seconds = (perf_counter() - start) / count
        if control[0]:
            raise CancelledError
        tally = Tally(self.tally.edges, self.instance.gaps)
        tally.add(first, sheet)
        return Part(tally, count, seconds)

    def fold(self, part: Part) -> None:
        self.tally.merge(part.tally)
        self.seconds = part.seconds

    @cached_property
    def order(self) -> Order:
        try:
            content = pickle.dumps((self.instance, self.policy, self.horizon, self.sigma, self.key, self.asked))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ArgumentError(
                f"executor has other processes, to which {self.policy.label} on {self.instance!r} cannot be sent: "
                f"{error}; define policy and noise at the top of a module."
            ) from error
        homes = [thing.__module__ for thing in (type(self.policy), type(self.instance.data), self.instance.draw)]
        own = not homes[0].startswith("equipoise.")
        file = str(getattr(sys.modules[homes[0]], "__file__", None) or "") if own else ""
        scripted = "__main__" in homes  # a spawned process knows it by another name
        return Order(content, self.policy.label, file, "" if scripted else self.engine.kernel.__qualname__)


def job_for(instance: Instance, policy: Policy, horizon: int, sigma: float, key: Key, engine: str = "auto") -> Job:
    params = policy.params(instance.k, horizon, sigma)
    tally = Tally(cell_edges(horizon, policy.changes(instance.k, horizon)), instance.gaps)
    blank = sheet_for(tally.edges, tally.scale.units, 1)
    played = assemble(policy, params, instance, RECORDER, blank, engine)
    return Job(instance, policy, horizon, sigma, key, engine, params, played, tally)


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
            each = job.seconds or max(job.horizon * 2e-7, 1e-4)
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


# In another process.

AT_WORK: dict[int, tuple[str, Control]] = {}  # the tasks that this process plays for others, and for whom
HALTED: set[str] = set()  # crews for which it plays no more, though their tasks may be on the way


def play_elsewhere(order: Order, first: int, count: int, crew: str) -> bytes:
    """A task in another process; in a thread, so that an interrupt is heard while compiled code runs.

    Most of a tally is zeros and repetition: compressed, ten megabytes are often a hundred kilobytes.
    """
    job, control = opened(order), np.zeros(3, np.int64)
    AT_WORK[id(control)] = crew, control
    control[0] = crew in HALTED
    with ThreadPoolExecutor(1) as thread:
        try:
            return zlib.compress(pickle.dumps(thread.submit(job.play, first, count, control).result()), 1)
        except KeyboardInterrupt:
            halt(crew)
            raise
        finally:
            del AT_WORK[id(control)]


def received(part: Part | bytes) -> Part:
    return cast(Part, pickle.loads(zlib.decompress(part))) if isinstance(part, bytes) else part


def halt(crew: str) -> None:
    """Stops what this process plays for a crew, and what it is still to be given."""
    HALTED.add(crew)
    for name, control in list(AT_WORK.values()):
        if name == crew:
            control[0] = 1


@lru_cache(maxsize=8)
def opened(order: Order) -> Job:
    """The job of an order, made anew in this process."""
    try:
        told = unpickled(order)
    except (ImportError, AttributeError) as error:
        raise ArgumentError(
            f"policy is {order.label}, but a worker cannot import what it needs: {error}; put policy and noise into "
            "modules on the workers' PYTHONPATH."
        ) from error
    job = job_for(*told)
    if order.tag and job.engine.kernel.__qualname__ != order.tag:
        raise ArgumentError(
            f"policy is {order.label}, but a worker has other sources or versions of it; give workers the same files "
            "and the same Python, NumPy, Numba and equipoise, and start them anew."
        )
    return job


def unpickled(order: Order) -> Any:
    """An order's content; a user's page that is on no path is read from its file, where workers share the disk."""
    try:
        return pickle.loads(order.content)
    except ModuleNotFoundError:
        if not Path(order.file).is_file():
            raise
        load(Path(order.file))
        return pickle.loads(order.content)
