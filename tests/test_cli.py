"""The command line: the same numbers as the Python API, and one sentence for whatever cannot be."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from math import inf, nan
from pathlib import Path

import pandas as pd
import pytest
import typer

from equipoise import __version__, cli, doctor, simulation, terminal
from equipoise.instances import Instance
from equipoise.policies.catalogue import POLICIES
from equipoise.policies.ucb_hare import UCBHare
from equipoise.policies.uniform import Uniform
from equipoise.policies.welfarist_ucb import WelfaristUCB

QUICK = ("simulate", "--horizon", "300", "--runs", "10", "--seed", "3", "--policy", "ucb-hare", "--policy", "uniform")
ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    def call(*arguments: str) -> tuple[int, str, str]:
        code = cli.main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return call


def rows_of(text: str) -> pd.DataFrame:
    return pd.DataFrame(json.loads(text)["rows"])


# The same numbers as the Python API.


def test_the_command_is_the_call(run):
    code, out, err = run(
        *QUICK, "--means", "0.2, 1,3", "--sigma", "2", "--p", "-2,1", "--p", "0", "--t", "7,300", "--json"
    )
    arms = Instance.gaussian([0.2, 1, 3], 2.0)
    result = simulation.simulate(arms, [UCBHare(), Uniform()], horizon=300, runs=10, seed=3)
    expected = result.regret([-2, 1, 0], t=[7, 300])
    pd.testing.assert_frame_equal(rows_of(out), expected, check_exact=True)
    assert (code, err) == (0, "")
    assert json.loads(out)["caption"] == result.caption
    assert json.loads(out)["policies"] == ["UCB-HARE", "Uniform"]


def test_every_other_option_arrives(run):
    code, out, _ = run(
        "simulate", "--means", "0.9,0.1", "--family", "bernoulli", "--told-sigma", "1.5",
        "--policy", "welfarist-ucb:p=-3", "--p", "-inf", "--horizon", "2e2", "--runs", "8", "--seed", "0",
        "--workers", "1", "--engine", "step", "--json",
    )  # fmt: skip
    arms = Instance.bernoulli([0.9, 0.1])
    expected = simulation.simulate(arms, WelfaristUCB(p=-3), horizon=200, runs=8, seed=0, sigma=1.5)
    rows = rows_of(out)
    assert code == 0
    assert rows.p.tolist() == ["-inf"]
    assert rows.est.tolist() == expected.regret(-inf, t=200).est.tolist()


def test_means_and_data_come_from_files(run):
    Path("means.csv").write_text("name,mean\nnew,5\nold,4\n")
    Path("data.csv").write_text("arm,reward\nx,1\nx,2\ny,5\ny,6\n")
    named = replace(Instance.gaussian([5, 4], 1.0), names=("new", "old"))
    for flag, file, arms in (
        ("--means-file", "means.csv", named),
        ("--data", "data.csv", Instance.from_data("data.csv")),
    ):
        code, out, _ = run(*QUICK, flag, file, "--json")
        expected = simulation.simulate(arms, [UCBHare(), Uniform()], horizon=300, runs=10, seed=3)
        assert code == 0
        assert json.loads(out)["caption"] == expected.caption
        pd.testing.assert_frame_equal(
            rows_of(out), expected.regret([1, 0, -2], t=300), check_exact=True, check_dtype=False
        )


def test_a_users_own_page_is_as_good(run):
    page = (ROOT / "src/equipoise/policies/template.py").read_text()
    Path("my_page_for_the_cli.py").write_text(page)
    code, out, _ = run("simulate", "--policy", "my_page_for_the_cli.py", "--horizon", "50", "--runs", "4", "--json")
    assert code == 0
    assert len(json.loads(out)["policies"]) == 1


def test_files_hold_the_table_and_the_figure(run):
    code, out, _ = run(*QUICK, "--t", "curve", "--csv", "a.csv", "--figure", "a.png", "--json")
    assert code == 0
    pd.testing.assert_frame_equal(pd.read_csv("a.csv"), rows_of(out), check_dtype=False)
    assert Path("a.png").read_bytes()[:4] == b"\x89PNG"
    assert rows_of(out).t.nunique() > 20


def test_a_seed_that_is_not_given_is_printed(run):
    again = [*QUICK[:5], "--policy", "uniform", "--json"]
    first = json.loads(run(*again)[1])
    second = json.loads(run(*again, "--seed", str(first["seed"]))[1])
    other = json.loads(run(*again)[1])
    assert first == second
    assert other["rows"] != first["rows"]


def test_the_screen_shows_numbers_with_their_errors(run):
    code, out, err = run(*QUICK)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["policy", "p", "t"]
    assert sum("±" in line for line in lines) == 6
    assert lines[-1].endswith("--seed 3")


# Bad input ends in one sentence, with exit code 2, before anything is written.

WRONG = {
    "empty means": (["--means", ","], "means is []"),
    "an empty word": (["--means", ""], "means is []"),
    "t an empty word": (["--t", ""], "t is ''"),
    "means not finite": (["--means", "1,inf"], "means[1] is inf"),
    "means that are no numbers": (["--means", "1,two"], "means[1] is 'two'"),
    "negative means": (["--means", "-1,2"], "means[0] is -1.0"),
    "probabilities above 1": (["--means", "0.5,2", "--family", "bernoulli"], "means[1] is 2.0"),
    "sigma 0": (["--sigma", "0"], "sigma is '0'"),
    "sigma negative": (["--sigma", "-1"], "sigma is '-1'"),
    "sigma without a meaning": (["--means", "0,1", "--family", "bernoulli", "--sigma", "1"], "sigma is '1'"),
    "told sigma": (["--told-sigma", "none"], "sigma is 'none'"),
    "horizon 0": (["--horizon", "0"], "horizon is 0"),
    "horizon not whole": (["--horizon", "10.5"], "horizon is 10.5"),
    "horizon infinite": (["--horizon", "inf"], "horizon is inf"),
    "runs 0": (["--runs", "0"], "runs is 0"),
    "runs not whole": (["--runs", "many"], "runs is 'many'"),
    "workers": (["--workers", "0"], "workers is 0"),
    "seed": (["--seed", "-3"], "seed is -3"),
    "engine": (["--engine", "stepp"], "engine is 'stepp'; did you mean 'step'?"),
    "family": (["--family", "gausian"], "family is 'gausian'; did you mean 'gaussian'?"),
    "family that means do not settle": (["--family", "beta"], "family is 'beta'"),
    "t beyond the horizon": (["--horizon", "100", "--t", "101"], "t is 101"),
    "unknown policy": (["--policy", "ucb-hair"], "policy is 'ucb-hair'; did you mean 'ucb-hare'?"),
    "parameter that the policy lacks": (
        ["--policy", "ucb-hare:p=2"],
        "policy is 'ucb-hare:p=2', but ucb-hare takes delta",
    ),
    "parameter that the policy needs": (["--policy", "welfarist-ucb"], "welfarist-ucb needs p"),
    "policy's file": (["--policy", "nowhere.py"], "'nowhere.py', but there is no such file"),
    "policy twice": (["--policy", "uniform", "--policy", "uniform"], "policies contains Uniform 2 times"),
    "p not a number": (["--p", "1,x"], "p is 'x'"),
    "p nan": (["--p", "nan"], "p is 'nan'"),
    "p empty": (["--p", ""], "p is empty"),
    "two instances": (["--means", "1", "--data", "d.csv"], "means is '1' beside data"),
    "no such means": (["--means-file", "no.csv"], "'no.csv', which cannot be read: No such file"),
    "no such data": (["--data", "no.csv"], "'no.csv', which cannot be read: No such file"),
    "means without their column": (["--means-file", "lacks.csv"], "lacks the column 'mean'; its columns are: a, b."),
    "data without their column": (["--data", "lacks.csv"], "lacks the column 'arm'; its columns are: a, b."),
    "means without rows": (["--means-file", "none.csv"], "means is []"),
    "means with a hole": (["--means-file", "hole.csv"], "means[1] is"),
    "names that repeat": (["--means-file", "names.csv"], "names is"),
    "data beside a family": (["--data", "lacks.csv", "--family", "gaussian"], "family is 'gaussian'"),
    "csv in a file": (["--csv", "file/a.csv"], "csv is 'file/a.csv', which cannot be written"),
    "csv nowhere": (["--csv", "no/a.csv"], "csv is 'no/a.csv', which cannot be written"),
    "csv of another kind": (["--csv", "a.txt"], "csv is 'a.txt'"),
    "figure in a file": (["--figure", "file/a.png"], "figure is 'file/a.png', which cannot be written"),
    "figure of another kind": (["--figure", "a.gif"], "figure is 'a.gif'"),
    "figure of too many curves": (["--figure", "a.png", "--p", "1,0,-1,-2,-3,-4,-5"], "give at most 6"),
    "unknown option": (["--run", "3"], "--run"),
    "option without its value": (["--runs"], "--runs"),
    "extra argument": (["more"], "more"),
}


@pytest.mark.parametrize(("arguments", "words"), WRONG.values(), ids=WRONG)
def test_bad_input_to_simulate(arguments, words, run, monkeypatch):
    refused(["simulate", "--csv", "out.csv", *arguments], words, run, monkeypatch)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["paper", "--figure", "z"], "figure is 'z'"),
        (["paper", "--runs", "0"], "runs is 0"),
        (["paper", "--out", "file/results"], "out is 'file/results', which cannot be written to"),
        (["paper", "--out", "file"], "out is 'file', which cannot be written to"),
        (["simulat"], "simulat"),
        (["policies", "ucb"], "ucb"),
    ],
)
def test_bad_input_elsewhere(arguments, words, run, monkeypatch):
    refused(arguments, words, run, monkeypatch)


def refused(arguments, words, run, monkeypatch):
    Path("file").touch()
    Path("lacks.csv").write_text("a,b\n1,2\n")
    Path("none.csv").write_text("mean\n")
    Path("hole.csv").write_text("name,mean\nx,1\ny\n")
    Path("names.csv").write_text("name,mean\nx,1\nx,2\n")
    before = sorted(Path().iterdir())
    monkeypatch.setattr(simulation, "work_through", lambda *_: pytest.fail("something was simulated"))
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.startswith("equipoise: ")
    assert err.endswith(".\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert sorted(Path().iterdir()) == before


def test_a_bug_is_not_taken_for_bad_input(run, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(simulation, "simulate", broken)
    with pytest.raises(ZeroDivisionError):
        run(*QUICK)


def test_a_full_disk_is_said_in_one_line(run, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "a.csv")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    code, out, err = run(*QUICK, "--csv", "a.csv")
    assert (code, out) == (1, "")
    assert err == "equipoise: [Errno 28] No space left on device: 'a.csv'.\n"


# Help, version and lists.


def options():
    command = typer.main.get_command(cli.app)
    for name, sub in [("", command), *command.commands.items()]:
        for option in sub.params:
            yield name, option


def test_help_tells_all(run):
    command = typer.main.get_command(cli.app)
    code, out, _ = run("--help")
    assert code == 0
    assert set(command.commands) == {"simulate", "policies", "doctor", "paper"}
    for name, sub in command.commands.items():
        assert f"\n  {name} " in out
        assert sub.help
        code, text, err = run(name, "--help")
        assert (code, err) == (0, "")
        assert "--json" in text
        for owner, option in options():
            if owner == name:
                assert option.help, option.name
                assert option.opts[0] in text
                assert option.opts[0].startswith("--")


def test_version(run):
    assert run("--version") == (0, f"equipoise {__version__}\n", "")


def test_policies_are_listed_with_source_and_guarantee(run):
    code, out, _ = run("policies", "--json")
    listed = json.loads(out)
    assert code == 0
    assert [entry["name"] for entry in listed] == [cls.command() for cls in POLICIES]
    assert all(entry["what"] and entry["source"] and entry["guarantee"] for entry in listed)
    assert listed[2]["parameters"] == ["p", "w", "scaled", "unpulled"]
    text = run("policies")[1]
    assert all(f"{cls.command()}" in text for cls in POLICIES)
    assert "Algorithm 1" in text
    assert max(map(len, text.splitlines())) <= 100


# The doctor.


def test_the_doctor_finds_this_installation_sound(run, monkeypatch):
    """Fixed seed: no false alarm. With other seeds the regrets, correlated, fail less than once in 10^4."""
    examine = doctor.examine
    monkeypatch.setattr(doctor, "examine", lambda: examine(runs=80))
    code, out, err = run("doctor", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["passed"]
    assert len(found["checks"]) == 2 * len(doctor.KNOWN) + len(doctor.COMPARED)  # both engines
    assert found["versions"]["equipoise"] == __version__
    assert found["rounds_per_second"] > 0
    assert found["cache"]["writable"] == os.access(found["cache"]["folder"], os.W_OK)


def test_the_doctor_notices_wrong_numbers(monkeypatch):
    """The broken twins: a policy that is told another sigma, and a player who pulls other arms."""
    simulate = doctor.simulate
    monkeypatch.setattr(doctor, "simulate", lambda *a, **b: simulate(*a, **b, sigma=30.0))
    assert not all(check.passed for check in doctor.known_regrets(20, "step"))
    monkeypatch.setattr(doctor, "SEED", 2)
    monkeypatch.setattr(doctor, "simulate", lambda *a, **b: simulate(*a, **{**b, "seed": 1}))
    assert not any(check.passed for check in doctor.compiled_as_interpreted())


def test_a_failed_check_is_exit_code_1(run, monkeypatch):
    sick = {
        "versions": {}, "machine": "m", "cores": 1, "cache": {"folder": None, "writable": False},
        "rounds_per_second": 1e6,
        "seconds": 1.0, "passed": False,
        "checks": [{"name": "sum", "passed": False, "found": "3, known 2"}],
    }  # fmt: skip
    monkeypatch.setattr(doctor, "examine", lambda: sick)
    code, out, _ = run("doctor")
    assert code == 1
    assert "FAILED  sum: 3, known 2" in out
    assert run("doctor", "--json")[0] == 1


# What the screen shows.


@pytest.mark.parametrize(
    ("est", "mcse", "shown"),
    [
        (0.168034, 0.001712, "0.1680 ± 0.0017"),
        (0.1680, 0.0996, "0.17 ± 0.10"),
        (12345.6, 234.5, "12350 ± 230"),
        (-3.21, 25.0, "-3 ± 25"),
        (0.0, 0.25, "0.00 ± 0.25"),
        (869.397135, 0.0, "869.397 ± 0"),
        (nan, nan, "unknown"),
        (1.5, nan, "1.5 ± unknown"),
        (1.234e-9, 2.5e-11, "1.234e-09 ± 2.5e-11"),
    ],
)
def test_digits_are_limited_by_the_error(est, mcse, shown):
    assert terminal.measured(est, mcse) == shown


def test_intervals_have_the_digits_of_their_estimate():
    assert terminal.interval(0.16412, 0.17234, 0.0017) == "0.1641 to 0.1723"
    assert terminal.interval(2.0, 2.0, 0.0) == "2.00000 to 2.00000"
    assert terminal.interval(nan, nan, nan) == "unknown"


def test_json_is_json():
    assert json.loads(terminal.as_json({"a": [nan, inf, -inf, 1.5, "μ"]})) == {"a": [None, "inf", "-inf", 1.5, "μ"]}


def test_rough_estimates_are_marked():
    row = {"policy": "x", "p": -20.0, "t": 9, "est": 3.6, "raw": 11.2, "mcse": 2.6, "lo": -1.6, "hi": 8.8}
    assert "3.6 ± 2.6 *" in terminal.regrets(pd.DataFrame([row]))
    assert "*" not in terminal.regrets(pd.DataFrame([row | {"raw": 3.7}]))


# As a process.


def process(*arguments: str, **more) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "equipoise.cli", *arguments], stdout=-1, stderr=-1, text=True, **more
    )


def test_help_comes_at_once_because_rooms_are_opened_late():
    """Time is the machine's to give, so modules are counted: none of the heavy ones is imported."""
    code = (
        "import sys; from equipoise.cli import main; main(['--help']);"
        "sys.exit(any(m in sys.modules for m in ('numpy', 'numba', 'pandas', 'matplotlib', 'scipy', 'rich')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_ends_in_one_line(run):
    assert run("simulate", "--horizon", "9", "--runs", "1", "--policy", "uniform")[0] == 0  # compiled, if it was not
    with process("simulate", "--horizon", "1e9", "--runs", "1000", "--policy", "uniform", "--csv", "a.csv") as child:
        before = child_seconds(child.pid)
        while child_seconds(child.pid) < before + 3.0 and child.poll() is None:
            time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert (out, err) == ("", "equipoise: interrupted; nothing was written.\n")
    assert not Path("a.csv").exists()


def child_seconds(pid: int) -> float:
    """Seconds of computing: starting takes about one of them, and the simulation would take many."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_process_says_what_main_says():
    with process("simulate", "--runs", "0") as child:
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (2, "")
    assert err == "equipoise: runs is 0; give a whole number of at least 1.\n"
