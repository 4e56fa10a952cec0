"""The same numbers to the last bit, whoever computes them; the engine pulls what the page says; users' own pages."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.arguments import ArgumentError
from equipoise.engines.compile import specialise
from equipoise.policies.catalogue import named
from equipoise.streams import begin, make_key

ARMS = eq.Instance.gaussian([0.0, 5.0, 9.0, 10.0, 10.0], sigma=0.5)
POLICIES = [eq.UCBHare(), eq.WelfaristUCB(p=-2), eq.ExploreThenUCB(p=-2), eq.Thompson(), eq.UCB1()]


def equal(a: eq.Result, b: eq.Result) -> bool:
    return all(x.same(y) for x, y in zip(a.tallies, b.tallies, strict=True))


@pytest.fixture(scope="module")
def reference() -> eq.Result:
    return eq.simulate(ARMS, POLICIES, horizon=3001, runs=100, seed=5, workers=1)


@pytest.mark.parametrize(("workers", "chunk"), [(1, 1), (2, None), (2, 7), (7, None), (7, 3), (2, 100), (1, 51)])
def test_workers_and_chunks_change_no_bit(reference: eq.Result, workers: int, chunk: int | None) -> None:
    again = eq.simulate(ARMS, POLICIES, horizon=3001, runs=100, seed=5, workers=workers, chunk=chunk)
    assert equal(reference, again)
    pd.testing.assert_frame_equal(reference.regret([1, -2]), again.regret([1, -2]), check_exact=True)


def test_fifty_runs_and_fifty_more_are_a_hundred(reference: eq.Result) -> None:
    late = eq.simulate(ARMS, POLICIES, horizon=3001, runs=range(50, 100), seed=5)
    early = eq.simulate(ARMS, POLICIES, horizon=3001, runs=50, seed=5)
    for merged in (early.merge(late), late.merge(early)):
        assert equal(reference, merged)
        assert merged.runs == range(100)


def test_other_policies_beside_change_no_bit(reference: eq.Result) -> None:
    alone = eq.simulate(ARMS, POLICIES[2], horizon=3001, runs=100, seed=5)
    assert alone.tallies[0].same(reference.tallies[2])


def test_seeds_reproduce_and_differ() -> None:
    def tally(seed: object) -> eq.exante.Tally:  # type: ignore[name-defined]
        return eq.simulate(ARMS, eq.Uniform(), horizon=50, runs=20, seed=seed).tallies[0]

    assert tally(3).same(tally(np.random.SeedSequence(3)))
    assert tally(np.random.default_rng(3)).same(tally(np.random.default_rng(3)))
    assert not tally(3).same(tally(4))
    assert not tally(None).same(tally(None))
    drawn = eq.simulate(ARMS, eq.Uniform(), horizon=50, runs=20)
    assert drawn.tallies[0].same(tally(drawn.seed))


def pulled_by_player(policy: eq.Policy, arms: eq.Instance, horizon: int, seed: int, run: int) -> list[int]:
    """The arms of simulated run `run`, played through a Player with that run's uniforms and rewards."""
    draw, start = specialise(arms.draw, {}), specialise(begin, {})
    stream = np.zeros(4, np.uint64)
    start(stream, make_key(seed), run)
    player = eq.Player(policy, k=arms.k, horizon=horizon, sigma=arms.sigma, seed=seed, run=run)
    pulled = []
    for _ in range(horizon):
        pulled.append(player.ask())
        player.tell(draw(arms.data, pulled[-1], stream))
    return pulled


@pytest.mark.parametrize("policy", [*POLICIES, eq.NashConfidenceBound(), eq.UCB(), eq.Uniform()], ids=lambda p: p.label)
@pytest.mark.parametrize(
    "arms",
    [ARMS, eq.Instance.bernoulli([0.5, 0.5, 0.0]), eq.Instance.gaussian([3.0]), eq.Instance.uniform([0, 80], [2, 82])],
    ids=lambda arms: arms.caption,
)
def test_the_compiled_engine_pulls_what_a_player_pulls(policy: eq.Policy, arms: eq.Instance) -> None:
    """The heap of the engine against the plain argmax of the player; compiled against interpreted."""
    horizon = 701
    result = eq.simulate(arms, policy, horizon=horizon, runs=range(3, 5), seed=8, engine="step")
    assert result.engines == ("step engine, compiled",)
    tally = result.tallies[0]
    counts, gaps = np.zeros(arms.k), np.zeros(horizon)
    for run in (3, 4):
        pulled = pulled_by_player(policy, arms, horizon, 8, run)
        counts += np.bincount(pulled, minlength=arms.k)
        gaps += arms.gaps[pulled]
    assert tally.pulls.floats().sum(axis=0).tolist() == counts.tolist()
    assert np.allclose(tally.gap_sums().sum(axis=0), gaps, rtol=1e-9, atol=1e-9 * arms.gaps.max())


def test_exante_and_welfare_come_from_the_same_sums() -> None:
    result = eq.simulate(ARMS, eq.Uniform(), horizon=400, runs=64, seed=1)
    exante = result.exante(t=list(range(1, 401)))
    assert list(exante.columns) == ["policy", "t", "est", "mcse", "lo", "hi", "n_runs"]
    table = result.regret(p=[1, 0, -1], t=[1, 7, 400])
    assert list(table.columns) == ["policy", "p", "t", "est", "raw", "mcse", "lo", "hi", "n_runs"]
    for row in table.itertuples():
        m = exante.est.to_numpy()[: row.t]
        assert row.raw == pytest.approx(float(eq.welfare.regret(m, row.p, ARMS.best)), rel=1e-9)
    w = result.welfare(p=0, t=400)
    assert (w.est + result.regret(p=0, t=400).est).tolist() == pytest.approx([ARMS.best])
    assert (w.lo <= w.est).all()
    assert (w.est <= w.hi).all()


def test_the_tables_of_pulls_and_preparation() -> None:
    result = eq.simulate(ARMS, POLICIES, horizon=2001, runs=60, seed=1)
    pulls = result.pulls()
    assert pulls.groupby("policy").mean_pulls.sum().tolist() == pytest.approx([2001.0] * len(POLICIES))
    preparation = result.preparation().set_index("policy")
    assert list(preparation.index) == ["UCB-HARE", "Welfarist-UCB(p=-2)", "Explore-Then-UCB(p=-2)"]
    hare = preparation.loc["UCB-HARE"]
    assert 5 <= hare.q05 <= hare.q50 <= hare.q95 <= 2001
    assert hare.ended == 1.0
    assert hare.sd == pytest.approx(hare.mcse * 60**0.5, rel=0.5)
    rounds = eq.ExploreThenUCB(p=-2).changes(5, 2001)[0]
    assert preparation.loc["Explore-Then-UCB(p=-2)", "q50"] >= rounds


def test_one_run_has_no_error_and_says_so() -> None:
    result = eq.simulate(ARMS, eq.UCBHare(), horizon=1, runs=1, seed=1)
    table = result.regret(p=[1, -2])
    assert np.isfinite(table.est).all()
    assert table.mcse.isna().all()
    assert result.pulls().mean_pulls.sum() == 1.0


def test_rounds_in_the_middle_of_a_cell_count_with_their_share() -> None:
    arms = eq.Instance.gaussian([0.0, 1.0], sigma=0.1)
    result = eq.simulate(arms, eq.Uniform(), horizon=100_000, runs=2, seed=1)
    t = 70_000 + 13
    cells = result.tallies[0]
    gaps = cells.gap_sums().sum(axis=0) / 2
    covered = np.clip(t - cells.edges[:-1], 0, np.diff(cells.edges))
    assert result.regret(p=1, t=t).raw[0] == pytest.approx(float((gaps * covered).sum() / t), rel=1e-12)


def test_what_policies_are_told_of_sigma_matters() -> None:
    told = eq.simulate(ARMS, eq.UCBHare(), horizon=500, runs=5, seed=1, sigma=3.0)
    assert "told σ = 3" in told.caption
    assert told.preparation()["mean"][0] > eq.simulate(ARMS, eq.UCBHare(), horizon=500, runs=5).preparation()["mean"][0]


BAD = {
    "horizon": {"horizon": 0},
    "runs": {"runs": 2.5},
    "runs is range": {"runs": range(0)},
    "seed": {"seed": -1},
    "sigma": {"sigma": 0},
    "engine": {"engine": "warp"},
    "workers": {"workers": 0},
    "chunk": {"chunk": 0},
    "policies is empty": {"policies": []},
    "policies holds 3": {"policies": [3]},
    "policies holds <class": {"policies": eq.UCBHare},
    "policies holds 'ucb'": {"policies": "ucb"},
    "policies contains UCB-HARE 2 times": {"policies": [eq.UCBHare(), eq.UCBHare()]},
    "instance": {"instance": [0.1, 0.2]},
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_named(what: str) -> None:
    arguments = {"instance": ARMS, "policies": eq.UCBHare(), "horizon": 10, "runs": 2} | BAD[what]
    with pytest.raises(ArgumentError, match=what):
        eq.simulate(**arguments)


def test_bad_questions_to_a_result_are_named() -> None:
    result = eq.simulate(ARMS, eq.UCBHare(), horizon=10, runs=2, seed=1)
    for what, ask in {
        "p is": lambda: result.regret(p="fair"),
        "p is empty": lambda: result.regret(p=[]),
        "t is 11": lambda: result.regret(p=1, t=11),
        "t is 0": lambda: result.exante(t=[0]),
        "level": lambda: result.pulls(level=95),
        "seed": lambda: result.merge(eq.simulate(ARMS, eq.UCBHare(), horizon=10, runs=range(2, 4), seed=2)),
        "runs of which": lambda: result.merge(result),
    }.items():
        with pytest.raises(ArgumentError, match=what):
            ask()


PAGE = '''
"""A user's page."""
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple
import numpy as np
import equipoise as eq
from equipoise.policies.contract import FloatPerArm, IntPerArm

ARM = 0

class Params(NamedTuple):
    k: int

NOW = np.dtype([("exploiting", np.bool_)], align=True)

class State(NamedTuple):
    n: IntPerArm
    s: FloatPerArm
    now: Any

def init(p, st):
    for i in range(p.k):
        st.n[i] = 0
        st.s[i] = 0.0
    st.now.exploiting = False

def choose(p, st, u):
    return {choice}

def update(p, st, arm, reward):
    st.n[arm] += 1
    st.s[arm] += reward

@dataclass(frozen=True)
class Mine(eq.Policy):
    name: ClassVar[str] = "Mine"

    def params(self, k, horizon, sigma):
        return Params(k)
'''


def test_a_users_page_that_numba_cannot_compile_runs_interpreted_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "slow_page.py"
    path.write_text(PAGE.replace("{choice}", "sorted({i: 0 for i in range(p.k)}, key=lambda i: -i)[-1] + eval('1')"))
    result = eq.simulate(ARMS, named(str(path)), horizon=30, runs=3, seed=1)
    assert result.engines[0].startswith("step engine, interpreted (Numba cannot compile its page")
    assert result.pulls().mean_pulls.tolist() == [0, 30, 0, 0, 0]


def test_an_edited_page_compiles_anew_and_an_unchanged_one_does_not(tmp_path: Path) -> None:
    """In processes of their own, over one cache on disk: another constant, then another rule, then the same again."""
    script = tmp_path / "play.py"
    script.write_text(
        textwrap.dedent("""
        import equipoise as eq, equipoise.streams
        from equipoise.policies.catalogue import named
        from equipoise.jobs import job_for
        arms, policy = eq.Instance.bernoulli([0.1, 0.2, 0.3]), named("my_page.py")
        result = eq.simulate(arms, policy, horizon=5, runs=2, seed=1, engine="step")
        job = job_for(arms, policy, 5, 0.5, eq.streams.make_key(1), "step")
        hits = sum(job.engine.kernel.stats.cache_hits.values())
        print(result.engines[0], "|", result.pulls().mean_pulls.tolist(), "|", hits)
        """)
    )

    def play(text: str) -> list[str]:
        (tmp_path / "my_page.py").write_text(text)
        own = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, script], cwd=tmp_path, env=own, capture_output=True, text=True, check=True
        )
        return [part.strip() for part in done.stdout.split("|")]

    page = PAGE.replace("{choice}", "ARM")
    assert play(page) == ["step engine, compiled", "[5.0, 0.0, 0.0]", "0"]
    assert play(page.replace("ARM = 0", "ARM = 1")) == ["step engine, compiled", "[0.0, 5.0, 0.0]", "0"]
    assert play(PAGE.replace("{choice}", "p.k - 1")) == ["step engine, compiled", "[0.0, 0.0, 5.0]", "0"]
    assert play(page) == ["step engine, compiled", "[5.0, 0.0, 0.0]", "1"]


def test_a_regret_that_runs_cannot_tell_has_no_error_and_no_interval() -> None:
    """A hundred runs miss a needle among 200 arms in some rounds, and the plug-in says μ⋆: that is no estimate."""
    arms = eq.instances.needle(k=200, mean=1.0)
    table = eq.simulate(arms, eq.Uniform(), horizon=1000, runs=100, seed=1).regret(p=[1, -2], t=1000).set_index("p")
    assert table.raw[-2] == 1.0
    assert table.loc[-2, ["mcse", "lo", "hi"]].isna().all()
    assert table.mcse[1] > 0
