"""The same bits on threads, processes and a cluster, with a worker killed as well; what is lost, refused or stopped."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from queue import Queue
from typing import Any
from weakref import WeakSet

import distributed
import numpy as np
import psutil
import pytest
import test_simulation

import equipoise as eq
from equipoise import cli, jobs, progress, simulation
from equipoise.arguments import ArgumentError
from equipoise.exante import Tally
from equipoise.policies.catalogue import named

ARMS = eq.Instance.gaussian([3.0, 0.0, 9.0, 9.0, 5.0], sigma=2.0)
POLICIES = [eq.UCBHare(), eq.ExploreThenUCB(p=-2), eq.Thompson(), eq.Uniform()]  # leap and step
ENGINES = ("leap", "leap", "step", "step")
GENEROUS = 4.0  # seconds, for what takes one on a machine that does nothing else

PAGE = test_simulation.PAGE.replace("{choice}", "ARM")


def play(policies: Any = POLICIES, **more: Any) -> eq.Result:
    return eq.simulate(ARMS, policies, **({"horizon": 2501, "runs": 130, "seed": 5} | more))


def same(one: eq.Result, other: eq.Result) -> bool:
    return all(a.same(b) for a, b in zip(one.tallies, other.tallies, strict=True))


@pytest.fixture(scope="module")
def reference() -> eq.Result:
    result = play(workers=1)
    assert tuple(caption.partition(" ")[0] for caption in result.engines) == ENGINES
    return result


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    """Spawned as on Windows and macOS: a worker begins with nothing."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A cluster of two processes on this machine."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of one's own; modules that are loaded from it are forgotten."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


# The same bits.


@pytest.mark.parametrize("chunk", [None, 7])
def test_processes_give_the_bits_of_one_thread(reference: eq.Result, pool: Executor, chunk: int | None) -> None:
    assert same(play(executor=pool, chunk=chunk), reference)


@pytest.mark.parametrize("chunk", [None, 7])
def test_a_cluster_gives_the_bits_of_one_thread(reference: eq.Result, client: Any, chunk: int | None) -> None:
    assert same(play(executor=client.get_executor(), chunk=chunk), reference)


def test_a_users_threads_give_the_bits_of_one_thread_and_stay_open(reference: eq.Result) -> None:
    with ThreadPoolExecutor(3) as threads:
        assert same(play(executor=threads), reference)
        assert threads.submit(int, "3").result() == 3


def test_the_interpreted_and_the_step_engine_elsewhere(pool: Executor) -> None:
    asked = {"policies": eq.UCBHare(), "engine": "step", "horizon": 400}
    assert same(play(executor=pool, **asked), play(**asked))


def test_another_seed_or_a_part_counted_twice_is_noticed(reference: eq.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not same(play(seed=6), reference)
    fold = jobs.Job.fold
    monkeypatch.setattr(jobs.Job, "fold", lambda job, part: (fold(job, part), fold(job, part)))
    assert not same(play(), reference)


def test_a_worker_killed_midway_changes_nothing(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {"policies": eq.Thompson(), "horizon": 20_000, "runs": 240, "chunk": 8}
    expected = play(workers=2, **asked)
    pids = client.run(os.getpid)
    folds: list[int] = []
    fold = jobs.Job.fold

    def fold_and_kill(job: jobs.Job, part: jobs.Part) -> None:
        fold(job, part)
        folds.append(part.runs)
        if len(folds) == 5:
            os.kill(next(iter(pids.values())), signal.SIGKILL)

    monkeypatch.setattr(jobs.Job, "fold", fold_and_kill)
    assert same(play(executor=client.get_executor(), workers=2, **asked), expected)
    assert folds == [8] * 30
    client.wait_for_workers(2, timeout=30)
    assert set(client.run(os.getpid).values()) != set(pids.values())


# A user's own page and noise.


def test_a_page_on_the_path_travels(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the path of workers that start after it was put there."""
    monkeypatch.syspath_prepend(str(home))
    (home / "page_on_path.py").write_text(PAGE)
    import page_on_path  # type: ignore[import-not-found]

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as later:
        assert same(play(page_on_path.Mine(), executor=later), play(page_on_path.Mine()))


def test_a_page_in_a_file_is_read_by_workers_and_an_edited_one_is_refused(home: Path) -> None:
    path = home / "page_in_file.py"
    path.write_text(PAGE)
    policy = named(str(path))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        assert same(play(policy, executor=alone), play(policy))
        del sys.modules["page_in_file"]
        path.write_text(PAGE.replace("ARM = 0", "ARM = 1"))
        with pytest.raises(
            ArgumentError, match=r"policy is Mine, but a worker has other sources .*; give workers the same"
        ):
            play(named(str(path)), executor=alone)


def test_a_page_that_workers_cannot_find_is_named(pool: Executor, home: Path) -> None:
    path = home / "page_gone.py"
    path.write_text(PAGE)
    policy = named(str(path))
    play(policy, horizon=10)
    order = jobs.job_for(ARMS, policy, 10, 2.0, eq.streams.make_key(1)).order
    path.unlink()
    with pytest.raises(ArgumentError, match=r"policy is Mine, .*No module named 'page_gone'; put policy and noise"):
        pool.submit(jobs.play_elsewhere, order, 0, 1, "").result()


def test_noise_that_cannot_travel_is_refused(pool: Executor) -> None:
    arms = eq.Instance(ARMS.means, 2.0, lambda data, arm, stream: data.means[arm], ARMS.data, "constant")
    with pytest.raises(ArgumentError, match=r"executor has other processes.*; define policy and noise at the top"):
        eq.simulate(arms, eq.Uniform(), horizon=10, runs=2, executor=pool)


# Bounds.


class Idle(Executor):
    """Works on one task at a time, and late, so that all which is given to it piles up."""

    def __init__(self) -> None:
        self.waiting: Queue[Any] = Queue()
        self.pending, self.most, self.tasks = 0, 0, 0
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.pending += 1
        self.tasks += 1
        self.most = max(self.most, self.pending)
        self.waiting.put((future, function, arguments))
        return future

    def work(self) -> None:
        time.sleep(0.5)
        while True:
            future, function, arguments = self.waiting.get()
            try:
                result = function(*arguments)
            except Exception as error:
                self.pending -= 1
                future.set_exception(error)
            else:
                self.pending -= 1
                future.set_result(result)


@pytest.mark.parametrize(("workers", "says", "bound"), [(3, None, 6), (None, 2, 4), (None, None, 16)])
def test_few_tasks_are_in_flight_however_many_there_are(
    workers: int | None, says: int | None, bound: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = Idle()
    if says:
        idle._max_workers = says  # type: ignore[attr-defined]
    alive: WeakSet[Tally] = WeakSet()
    most = 0
    make = Tally.__init__

    def counted(tally: Tally, *arguments: Any) -> None:
        nonlocal most
        make(tally, *arguments)
        alive.add(tally)
        most = max(most, len(alive))

    monkeypatch.setattr(Tally, "__init__", counted)
    asked: dict[str, Any] = {"policies": eq.Uniform(), "horizon": 50, "runs": 60, "chunk": 1}
    play(executor=idle, workers=workers, **asked)
    assert (idle.tasks, idle.most) == (60, bound)
    assert most <= 4  # the job's, the worker's, its task's and the one before, of which it is letting go


def test_a_cluster_says_how_many_it_is(client: Any) -> None:
    assert simulation.Crew(client.get_executor(), None).size() == 2
    assert simulation.Crew(client.get_executor(), 5).size() == 5


def test_tasks_grow_with_the_workers_and_begin_small() -> None:
    job = jobs.job_for(ARMS, eq.Uniform(), 1000, 2.0, eq.streams.make_key(1))
    cut = simulation.tasks([job], range(10**9), lambda: workers, None)
    workers = 4
    assert next(cut)[2] == int(simulation.FIRST_LOOK / job.engine.guess(1000)) + 1
    job.seconds = 1e-4
    assert next(cut)[2] == pytest.approx(1e4, abs=1.5)
    workers = 10 * simulation.FOLDS
    assert next(cut)[2] == pytest.approx(1e5, abs=1.5)


# What goes wrong.


def test_a_task_that_fails_says_why_and_the_others_are_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("the page divides by zero")

    idle = Idle()
    monkeypatch.setattr(simulation, "play_elsewhere", fail)
    with pytest.raises(ZeroDivisionError, match="the page divides by zero"):
        play(executor=idle, chunk=1)
    given = [future for future, _, _ in idle.waiting.queue]
    assert all(future.cancelled() for future in given)


def test_a_lost_process_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        fold = jobs.Job.fold

        def fold_and_kill(job: jobs.Job, part: jobs.Part) -> None:
            fold(job, part)
            for process in list(pool._processes.values()):
                process.kill()

        monkeypatch.setattr(jobs.Job, "fold", fold_and_kill)
        with pytest.raises(ChildProcessError, match=r"^executor has lost a worker \(.*\); .* then run again$"):
            play(eq.Thompson(), horizon=20_000, executor=pool, chunk=5)


@pytest.mark.parametrize("executor", ["threads", 3, ThreadPoolExecutor])
def test_what_is_no_executor_is_refused(executor: Any) -> None:
    with pytest.raises(ArgumentError, match=r"executor is .*; give a concurrent.futures.Executor"):
        play(executor=executor)


# An end before the end.

LONG = """
    import equipoise as eq
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    if __name__ == "__main__":
        {executor}
        try:
            eq.simulate(eq.Instance.bernoulli([0.5, 0.6]), eq.Uniform(), horizon=10**12, runs=9, workers=1 {given})
        except KeyboardInterrupt:
            print("interrupted")
"""


def computing(process: psutil.Process) -> float:
    """The longest that one of a process and its children has computed, in seconds."""
    family = [process, *process.children(recursive=True)]
    return max(x.cpu_times().user for x in family if x.is_running())


@pytest.mark.skipif(sys.platform == "win32", reason="an interrupt is sent in another way there")
@pytest.mark.parametrize(
    ("executor", "given"),
    [("", ""), ("pool = ProcessPoolExecutor(1, mp_context=get_context('spawn'))", ", executor=pool")],
    ids=["threads", "processes"],
)
def test_ctrl_c_stops_within_a_second(executor: str, given: str, home: Path) -> None:
    """A run would take hours. As from a terminal, the signal reaches the workers too; all of them must be gone."""
    eq.simulate(eq.Instance.bernoulli([0.5, 0.6]), eq.Uniform(), horizon=9, runs=1)  # compiled, if it was not
    (home / "long.py").write_text(textwrap.dedent(LONG.format(executor=executor, given=given)))
    with subprocess.Popen(
        [sys.executable, "long.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        process = psutil.Process(child.pid)
        while computing(process) < 4.0:  # starting takes one or two
            assert child.poll() is None
            time.sleep(0.05)
        family = [process, *process.children(recursive=True)]
        start = time.perf_counter()
        os.killpg(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=60)
        psutil.wait_procs(family, timeout=GENEROUS)
        took = time.perf_counter() - start
    assert (out, took < GENEROUS) == ("interrupted\n", True), err
    assert not any(x.is_running() for x in family)


def at_work() -> int:
    return len(jobs.AT_WORK)


def test_ctrl_c_stops_the_workers_of_a_cluster(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(watch: progress.Watch, controls: Any) -> None:
        if all(client.run(at_work).values()):
            raise KeyboardInterrupt

    monkeypatch.setattr(progress.Watch, "show", interrupt)
    with pytest.raises(KeyboardInterrupt):
        play(eq.Uniform(), horizon=10**12, runs=9, executor=client.get_executor())
    start = time.perf_counter()
    while any(client.run(at_work).values()):
        assert time.perf_counter() < start + GENEROUS
        time.sleep(0.05)


def test_halting_one_crew_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, theirs = np.zeros(3, np.int64), np.zeros(3, np.int64)
    monkeypatch.setattr(jobs, "AT_WORK", {1: ("a", mine), 2: ("b", theirs)})
    monkeypatch.setattr(jobs, "HALTED", set())
    jobs.halt("a")
    assert (mine[0], theirs[0]) == (1, 0)
    order = jobs.job_for(ARMS, eq.Uniform(), 10**12, 2.0, eq.streams.make_key(1)).order
    with pytest.raises(CancelledError):  # a task that was on the way
        jobs.play_elsewhere(order, 0, 1, "a")


# The command line and the bar.


def test_the_command_plays_on_a_cluster(client: Any, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["simulate", "--horizon", "300", "--runs", "10", "--seed", "3", "--policy", "ucb-hare", "--json"]
    assert cli.main(command) == 0
    expected = capsys.readouterr().out
    assert cli.main([*command, "--dask", client.scheduler.address]) == 0
    assert capsys.readouterr() == (expected, "")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "carrier-pigeon://nest"])
def test_an_address_without_a_scheduler_is_named(
    address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "PATIENCE", 0.5)
    assert cli.main(["simulate", "--dask", address]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"equipoise: dask is '{address}', where no scheduler answers")


def test_dask_that_is_not_installed_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert cli.main(["simulate", "--dask", "tcp://127.0.0.1:1"]) == 2
    assert "install equipoise[cluster]" in capsys.readouterr().err


def test_the_bar_says_how_many_rounds_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.watching(runs=4000, horizon=10**6, wanted=True) as watch:
        watch.finished = 1000
        control = np.array([0, 200, 34_567], np.int64)
        assert watch.rounds([control, np.zeros(3, np.int64)]) == 1_200_034_567
        watch.show([control])
        shown = StringIO()
        Console(file=shown, width=100).print(watch.bar.get_renderable())
    assert "1.2e9 of 4e9 rounds" in shown.getvalue()
    assert "time left" in shown.getvalue()


def test_the_bar_reaches_all_rounds(pool: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    monkeypatch.setattr(progress.Watch, "show", lambda watch, controls: seen.append(watch.rounds(controls)))
    play(eq.Uniform(), horizon=50, runs=30, chunk=3, executor=pool)
    assert seen == sorted(seen)
    assert seen[-1] == 1500
