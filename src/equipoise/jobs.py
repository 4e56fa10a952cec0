"""A task: some runs of one policy on one instance, played here or in another process, and the tally that comes back.

A compiled engine does not travel: to another process goes its order, in bytes, and the process makes the job anew and
keeps it. Tallies merge to the same bits in any order.
"""

import pickle
import sys
import zlib
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, cast

import numpy as np

from equipoise import exante
from equipoise.arguments import ArgumentError
from equipoise.engines.assembly import Control, Engine, assemble
from equipoise.engines.compile import Function
from equipoise.exante import Tally, cell_edges, sheet_for
from equipoise.instances import Instance
from equipoise.policies.catalogue import load
from equipoise.policies.contract import Policy
from equipoise.streams import Key

RECORDER: dict[str, Function] = {"open_run": exante.open_run, "enter": exante.enter, "close_run": exante.close_run}


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
