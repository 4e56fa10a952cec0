"""Experiment A: the paper's setting, its policies, and the table and figure that come of it."""

from math import sqrt

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from equipoise import cli
from equipoise.instances import Instance
from equipoise.papers import experiment_a
from equipoise.policies.explore_then_ucb import ExploreThenUCB
from equipoise.policies.ucb_hare import UCBHare
from equipoise.policies.welfarist_ucb import WelfaristUCB
from equipoise.result import Result
from equipoise.simulation import simulate


@pytest.fixture(scope="module")
def result() -> Result:
    return experiment_a.run(runs=20, horizon=20_000, seed=1)


def test_the_setting_is_the_papers(result):
    means = np.random.default_rng(42).uniform(10, 1000, 50)
    np.testing.assert_array_equal(result.instance.means, means)
    assert result.instance.sigma == sqrt(400)
    assert (experiment_a.HORIZON, experiment_a.RUNS, experiment_a.EXPONENTS) == (10**6, 50, (-0.5, -2, -20))
    tuned = {policy for p in (-0.5, -2, -20) for policy in (WelfaristUCB(p=p), ExploreThenUCB(p=p, unpulled="index"))}
    assert {UCBHare()} | tuned | {ExploreThenUCB(p=p) for p in (-0.5, -2, -20)} == set(result.policies)


def test_the_table_is_the_policies_own_regret(result):
    """Each p has UCB-HARE and the policies tuned to it, with the numbers of a simulation of their own."""
    table = experiment_a.table(result)
    assert table.groupby("p", sort=False).size().to_dict() == {-0.5: 4, -2.0: 4, -20.0: 4}
    alone = simulate(result.instance, [UCBHare(), ExploreThenUCB(p=-2)], horizon=20_000, runs=20, seed=1)
    ours = table[(table.p == -2) & table.policy.isin(["UCB-HARE", "Explore-Then-UCB(p=-2)"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(ours, alone.regret(-2, t=20_000))


def test_a_sweep_by_index_gives_round_t_the_mean_of_arm_t():
    """At p = −20 and T = 10^6 nothing is explored, so 50 rounds by index are the p-mean of the means, exactly."""
    result = experiment_a.run(runs=2, seed=3)
    table = experiment_a.table(result, t=[50]).set_index(["policy", "p"])
    means = result.instance.means
    welfare = means.min() * np.mean((means / means.min()) ** -20.0) ** (-1 / 20)
    found = table.loc[("Explore-Then-UCB(p=-20, unpulled=index)", -20.0)]
    assert found.est == pytest.approx(result.instance.best - welfare, rel=1e-9)
    assert found.mcse == pytest.approx(0.0, abs=1e-9)
    assert table.loc[("Explore-Then-UCB(p=-20)", -20.0)].raw != pytest.approx(found.raw, rel=1e-3)


def test_the_figure_has_the_papers_panels(result):
    drawn = experiment_a.figure(result)
    panels = [ax for ax in drawn.axes if isinstance(ax, Axes)]
    assert [ax.get_title() for ax in panels] == ["p = −0.5", "p = −2", "p = −20"]
    for ax, p in zip(panels, experiment_a.EXPONENTS, strict=True):
        table = experiment_a.table(result, experiment_a.drawn_rounds(result)).query("p == @p")
        table = table[table.policy != f"Explore-Then-UCB(p={p})"]
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
        assert {line.get_label() for line in ax.lines if line.get_label()[0] != "_"} == set(table.policy)
        assert min(line.get_xdata()[0] for line in ax.lines) == 100
        low, high = ax.get_ylim()
        assert low < min(table.lo.min(), table.raw.min())
        assert high > max(table.hi.max(), table.raw.max())
    (legend,) = drawn.legends
    assert [text.get_text().partition("(")[0] for text in legend.get_texts()] == [
        "UCB-HARE",
        "Welfarist-UCB",
        "Explore-Then-UCB",
    ]
    assert result.caption in " ".join(drawn.get_supxlabel().split())


def test_the_command_leaves_figure_and_curves(tmp_path, capsys):
    out = tmp_path / "deep" / "results"
    code = cli.main(["paper", "--runs", "4", "--horizon", "1e4", "--seed", "1", "--out", str(out)])
    said = capsys.readouterr()
    assert (code, said.err) == (0, "")
    assert sorted(path.name for path in out.iterdir()) == [f"experiment-a.{x}" for x in ("csv", "pdf", "png")]
    assert said.out.count("±") == 12
    expected = experiment_a.run(runs=4, horizon=10_000, seed=1)
    curves = experiment_a.table(expected, experiment_a.drawn_rounds(expected))
    pd.testing.assert_frame_equal(pd.read_csv(out / "experiment-a.csv"), curves)


def test_one_round_can_be_drawn():
    """The shortest horizon: nothing before round 100 is drawn, unless there is nothing else."""
    arms = experiment_a.run(runs=2, horizon=1, seed=1)
    assert isinstance(arms.instance, Instance)
    assert experiment_a.drawn_rounds(arms) == [1]
    assert len(experiment_a.figure(arms).axes) == 3
