"""What stands behind a compiled engine is what was asked for, and its cache on disk knows one from another."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.arguments import ArgumentError
from equipoise.engines.compile import fingerprint, specialise

FAMILIES = """
    import numpy as np
    from typing import NamedTuple

    class Law(NamedTuple):
        means: np.ndarray

    def draw_low(law, arm, stream):
        return 1.0 - arm

    def draw_high(law, arm, stream):
        return 0.0 + arm

    either = (lambda law, arm, stream: 1.0 - arm, lambda law, arm, stream: 0.0 + arm)
"""

PLAY = """
    import sys
    import numpy as np
    import equipoise as eq
    import families
    draw = eval(sys.argv[1])
    arms = eq.Instance(np.ones(2), 0.01, draw, families.Law(np.ones(2)), "mine")
    result = eq.simulate(arms, eq.UCB(), horizon=100, runs=1, seed=1)
    print(result.engines[0], result.pulls().mean_pulls.tolist())
"""


def test_two_families_in_one_file_are_told_apart_on_disk(tmp_path: Path) -> None:
    """In processes of their own, over one cache: functions by name, and two on one line that differ in code alone."""
    (tmp_path / "families.py").write_text(textwrap.dedent(FAMILIES))
    (tmp_path / "play.py").write_text(textwrap.dedent(PLAY))
    answers = {}
    for draw in ("families.draw_low", "families.draw_high", "families.either[0]", "families.either[1]"):
        command = [sys.executable, "play.py", draw]
        own = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, check=True)
        answers[draw] = done.stdout.strip().rpartition(" [")[2]
    first, second = "99.0, 1.0]", "1.0, 99.0]"
    assert list(answers.values()) == [first, second, first, second]


def constant_one(x: float) -> float:
    return x + ONE


ONE = 1.0


def test_a_constant_and_a_type_are_part_of_the_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    tag, cacheable = fingerprint(constant_one, {}, ())  # type: ignore[arg-type]
    assert cacheable
    assert fingerprint(constant_one, {}, (Path,))[0] != tag  # type: ignore[arg-type]
    monkeypatch.setattr(sys.modules[__name__], "ONE", 2.0)
    assert fingerprint(constant_one, {}, ())[0] != tag  # type: ignore[arg-type]


def outer(x: float) -> float:
    return helper(x) + given_here(x)  # noqa: F821


def helper(x: float) -> float:
    return other(x)


def other(x: float) -> float:
    return 10.0 * x


def test_what_is_given_fills_open_names_alone() -> None:
    """A page's own `other` stays, though the engine is given one of that name."""
    filled = specialise(outer, {"given_here": abs, "other": str})
    assert filled(-1.0) == -9.0


def test_a_leap_that_cannot_be_says_why() -> None:
    beta = eq.Instance.beta([1.0, 2.0], [2.0, 1.0])
    for arms, policy, why in (
        (beta, eq.UCBHare(), "no exact walk is known for Beta rewards"),
        (eq.Instance.gaussian([1.0, 2.0]), eq.Thompson(), "Thompson has no index"),
    ):
        with pytest.raises(ArgumentError, match=why):
            eq.simulate(arms, policy, horizon=10, runs=1, engine="leap")
        result = eq.simulate(arms, policy, horizon=10, runs=1)
        assert result.engines[0].startswith("step engine, compiled (")
        assert why in result.engines[0]
        assert eq.simulate(arms, policy, horizon=10, runs=1, engine="step").engines == ("step engine, compiled",)
    assert eq.simulate(eq.Instance.bernoulli([0.5]), eq.UCB(), horizon=10, runs=1).engines == ("leap engine, compiled",)
