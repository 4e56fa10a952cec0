"""The contract suite: our pages keep it, and pages that break one clause each are told so, by its name."""

import doctest
import itertools
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from test_pages import CASES, Case

import equipoise.testing
from equipoise.arguments import ArgumentError
from equipoise.policies import template, ucb_hare
from equipoise.policies.catalogue import POLICIES, from_file
from equipoise.policies.contract import Policy, page_of
from equipoise.policies.ucb_hare import UCBHare
from equipoise.testing import (
    ContractError,
    assert_frequencies,
    assert_same_frequencies,
    assert_same_law,
    check_policy,
)
from equipoise.testing.bench import Bench
from equipoise.testing.contract import CLAUSES, all_games, law_games
from equipoise.testing.games import KINDS, SIGMAS

NAMES = [clause.__name__ for clause in CLAUSES]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_our_pages_keep_the_contract(case: Case) -> None:
    report = check_policy(case.policy, docs=True)
    verbs = page_of(case.policy).verbs
    left = {"index", "inverse", "concave"} if "index" not in verbs else set()
    left |= {"info"} - verbs.keys() | ({"symmetric"} if not case.policy.symmetric else set())
    assert report.skipped.keys() == left
    assert report.checked.keys() == set(NAMES) - left


def test_every_policy_is_held_to_it() -> None:
    assert set(POLICIES) <= {type(case.policy) for case in CASES}


def test_the_games_leave_the_comfortable_corner() -> None:
    games = all_games()
    assert {1, 2, 3, 8} <= {game.k for game in games}
    assert {1, 2, 3} <= {game.horizon for game in games}
    assert any(game.horizon % 2 and game.horizon > 30 for game in games)
    assert {(game.kind, game.sigma) for game in games} == set(itertools.product(KINDS, SIGMAS))
    assert all(len({game.kind for game in games if game.k == k}) >= 4 for k in (1, 2, 3, 5))
    bench = Bench(UCBHare(), page_of(UCBHare()))
    exploited = [game for game in games if bench.turns(game)[-1].after.now.exploiting]
    assert len({game.kind for game in exploited}) >= 4
    chances = {round(x, 3) for game in law_games() for x in bench.law(game).chances.ravel().tolist()}
    assert {0.0, 0.167, 0.25, 0.333, 0.5, 1.0} <= chances  # coins and orders, shown and not shown


# Pages that break one clause each, made from a right one by replacing parts of its text.


class Broken(NamedTuple):
    clause: str
    changes: dict[str, str]
    source: str = template.__file__


CHOICE = "return draw_next(st.order, st.now.played % p.k, u)"
ADDING = "    st.now.played += 1\n"
ENDING = "st.now.exploiting = st.now.played == p.rounds"
RETURN = "    if st.now.exploiting:\n        return\n"
CHANCES = "spread_rest(st.order, st.now.played % p.k, out)"
SETTING = "    st.now.played = 0\n"
SCALARS = '("played", np.int64)]'
ONE_HOT = "for i in range(p.k):\n        out[i] = 1.0 if i == st.order[st.now.played % p.k] else 0.0"
UNWRITTEN = "for r in range(st.now.played % p.k, p.k):\n        out[st.order[r]] = 1.0 / (p.k - st.now.played % p.k)"
FAVOUR = """
    if st.now.played == 0:
        for i in range(p.k):
            out[i] = ((i + 1) / p.k) ** (1 / 1.2) - (i / p.k) ** (1 / 1.2)"""


def luck(u: str) -> dict[str, str]:
    """The page takes `u` for the round's uniform."""
    return {CHOICE: CHOICE.replace(" u)", f" {u})")}


def beside(made: str) -> dict[str, str]:
    """The page's module holds something beside the state."""
    return {"def init(": f"{made}\n\n\ndef init("}


def extra(first: int) -> dict[str, str]:
    """The state has one more integer."""
    return {SCALARS: SCALARS.replace("]", ', ("extra", np.int64)]'), SETTING: f"{SETTING}    st.now.extra = {first}\n"}


BROKEN = {
    "a class that is not frozen": Broken("arguments", {"@dataclass(frozen=True)": "@dataclass"}),
    "params that are no numbers": Broken("arguments", {'k * whole("each", self.each)': "str(k * self.each)"}),
    "params that change": Broken(
        "arguments", {'k * whole("each"': 'CALLS.append(k) or len(CALLS) * whole("each"'} | beside("CALLS = []")
    ),
    "an init that forgets a scalar": Broken("init", {SETTING: ""}),
    "an init that forgets an array": Broken("init", {"st.order[i] = i": "st.order[i] = max(i, st.order[i])"}),
    "an arm that is a float": Broken("arms", {CHOICE: CHOICE.replace("return", "return 1.0 *")}),
    "an arm that is not there": Broken("arms", {CHOICE: CHOICE.replace("return", "return 1 +")}),
    "exploiting before all arms are pulled": Broken("exploiting", {ENDING: ENDING.replace("p.rounds", "1")}),
    "exploiting, and then no more": Broken("exploiting", {RETURN: ""}),
    "exploiting, and still counting": Broken("exploiting", {RETURN: "", ENDING: ENDING.replace("==", ">=")}),
    "exploiting without an index": Broken(
        "exploiting", {"def index(": "def no_index(", "def margin(": "def no_margin("}
    ),
    "sums that hold the last reward": Broken("sums", {"st.s[arm] += reward": "st.s[arm] = reward"}),
    "pulls that count twice": Broken("sums", {"st.n[arm] += 1": "st.n[arm] += 2"}),
    "two uniforms a round": Broken("one_uniform", luck("np.random.random()")),
    "a second uniform from Python": Broken("one_uniform", luck("random.random()") | beside("import random")),
    "a generator of its own": Broken("one_uniform", luck("LUCK.random()") | beside("LUCK = np.random.default_rng(1)")),
    "a memory beside the state": Broken(
        "one_uniform",
        luck("u / (1 + len(SEEN) % 7)") | {ADDING: f"{ADDING}    SEEN.append(arm)\n"} | beside("SEEN = []"),
    ),
    "a memory beside the state that init clears": Broken(
        "alone",
        luck("u / (1 + len(SEEN))")
        | {ADDING: f"{ADDING}    SEEN.append(arm)\n", SETTING: f"{SETTING}    SEEN.clear()\n"}
        | beside("SEEN = []"),
    ),
    "a memory beside each state": Broken(
        "copies",
        luck("u / (1 + SEEN.get(id(st.n), 0))")
        | {ADDING: f"{ADDING}    SEEN[id(st.n)] += 1\n", SETTING: f"{SETTING}    SEEN[id(st.n)] = 0\n"}
        | beside("SEEN = {}"),
    ),
    "an info that no JSON can hold": Broken("info", {"int(p.rounds)": "{1, 2}"}),
    "an info that changes the state": Broken("info", {"int(p.rounds)": "st.n.fill(0)"}),
    "an index that is not finite": Broken("index", {"return s / n": "return s / n if n < 10**6 else np.inf"}),
    "a margin that is shifted": Broken("inverse", {"return 0.0": "return 1e-6"}),
    "a margin that is convex": Broken(
        "concave", {"return s / n": "return s / n - 0.1 / n**0.5", "return 0.0": "return -0.1 * n**0.5"}
    ),
    "propensities that sum to more": Broken("propensity", {CHANCES: f"{CHANCES}\n    out[0] += 0.125"}),
    "propensities below 0": Broken("propensity", {CHANCES: f"{CHANCES}\n    out[0] += 1.0\n    out[p.k - 1] -= 1.0"}),
    "propensities that are not all written": Broken("propensity", {CHANCES: UNWRITTEN}),
    "a propensity that draws": Broken("propensity", {CHANCES: f"{CHANCES}\n    draw_next(st.order, 0, 0.9)"}),
    "an arm pulled that has no chance": Broken("propensity", {CHANCES: ONE_HOT}),
    "integers that overflow compiled": Broken(
        "compiled",
        extra(1) | luck("(st.now.extra % 1000) / 1000") | {ADDING: f"{ADDING}    st.now.extra *= 3037000493\n"},
    ),
    "numbers that the record cuts off": Broken(
        "compiled", extra(0) | {ADDING: f"{ADDING}    st.now.extra = st.now.played / 2\n"}
    ),
    "a propensity that tells HARE's coin": Broken(
        "observed", {"if now.second and now.coin_shown:": "if now.second:"}, ucb_hare.__file__
    ),
    "a biased coin": Broken(
        "frequencies", {"now.scheduled_first = u < 0.5": "now.scheduled_first = u < 0.6"}, ucb_hare.__file__
    ),
    "arms in the order of their labels": Broken("symmetric", luck("0.0") | {CHANCES: ONE_HOT}),
    "a first arm that favours some labels": Broken(
        "symmetric", luck("u**1.2 if st.now.played == 0 else u") | {CHANCES: CHANCES + FAVOUR}
    ),
}


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "own_page.py"
    sys.modules.pop("own_page", None)


def own(page: Path, changes: dict[str, str], source: str = template.__file__) -> Policy:
    text = Path(source).read_text()
    for right, wrong in changes.items():
        assert text.count(right) == 1, right
        text = text.replace(right, wrong)
    page.write_text(text)
    return from_file(str(page))()


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_page_is_told_which_clause_it_breaks(name: str, page: Path) -> None:
    broken = BROKEN[name]
    policy = own(page, broken.changes, broken.source)
    with pytest.raises(ContractError) as told:
        check_policy(policy, docs=True)
    assert told.value.clause == broken.clause, told.value
    assert "was raised" not in str(told.value)
    assert str(told.value).count("\n") == 0


def test_every_clause_has_been_seen_to_fail() -> None:
    assert {broken.clause for broken in BROKEN.values()} == set(NAMES) - {"documented"}


def test_a_docstring_without_its_parts_is_told(page: Path) -> None:
    policy = own(page, {"Guarantee:": "Guaranteed:"})
    with pytest.raises(ContractError, match="documented"):
        check_policy(policy, docs=True)


def test_an_error_in_a_page_is_told_with_its_clause(page: Path) -> None:
    with pytest.raises(ContractError, match="ZeroDivisionError was raised") as told:
        check_policy(own(page, {CHOICE: "return 1 // 0"}))
    assert told.value.clause == "arms"


def test_a_page_that_is_not_symmetric_may_say_so(page: Path) -> None:
    swept = luck("0.0") | {CHANCES: ONE_HOT}
    says_so = "    @property\n    def symmetric(self) -> bool:\n        return False\n\n    def params("
    report = check_policy(own(page, {**swept, "    def params(": says_so}))
    assert "symmetric" in report.skipped


PLAIN = {CHOICE: "sorted(st.order.tolist(), key=lambda arm: str(arm))\n    " + CHOICE}


def test_a_page_that_numba_cannot_compile_is_held_to_all_else(page: Path) -> None:
    report = check_policy(own(page, PLAIN))
    assert report.skipped.keys() == {"documented", "compiled"}
    assert "Numba" in report.skipped["compiled"]
    assert "Numba" in str(report)


def test_its_frequencies_too(page: Path) -> None:
    with pytest.raises(ContractError) as told:
        check_policy(own(page, {CHOICE: PLAIN[CHOICE].replace(" u)", " u * u)")}))
    assert told.value.clause == "frequencies"


def test_a_page_may_be_as_small_as_can_be(page: Path) -> None:
    verbs = ("propensity", "index", "margin", "info")
    small = {f"def {verb}(": f"def no_{verb}(" for verb in verbs} | {ENDING: ENDING.replace("p.rounds", "-1")}
    report = check_policy(own(page, small))
    kept = {
        "arguments",
        "init",
        "arms",
        "exploiting",
        "sums",
        "one_uniform",
        "alone",
        "copies",
        "compiled",
        "symmetric",
    }
    assert report.checked.keys() == kept


def test_a_margin_needs_an_index(page: Path) -> None:
    with pytest.raises(ArgumentError, match="define index"):
        check_policy(own(page, {"def index(": "def no_index("}))


def test_what_has_no_page_is_refused() -> None:
    with pytest.raises(ArgumentError, match="policy is 3"):
        check_policy(3)  # type: ignore[arg-type]


# The statistical assertions. Their false-alarm rates are theorems; here they are summed over all that can happen.


def fails(call: Callable[..., None], *arguments: object, **options: float) -> bool:
    try:
        call(*arguments, **options)
    except AssertionError:
        return True
    return False


def outcomes(n: int, cells: int) -> Iterator[tuple[int, ...]]:
    return (c for c in itertools.product(range(n + 1), repeat=cells) if sum(c) == n)


def chance(counts: tuple[int, ...], p: tuple[float, ...]) -> float:
    ways = math.factorial(sum(counts)) / math.prod(map(math.factorial, counts))
    return ways * math.prod(x**c for x, c in zip(p, counts, strict=True))


LAWS = [(0.5, 0.5), (0.02, 0.98), (1.0, 0.0), (1 / 3, 1 / 3, 1 / 3), (0.7, 0.25, 0.05), (0.01, 0.0, 0.99)]


@pytest.mark.parametrize("p", LAWS)
@pytest.mark.parametrize("false_alarm", [0.5, 0.1, 0.01])
def test_the_false_alarm_rate_of_frequencies(p: tuple[float, ...], false_alarm: float) -> None:
    for n in (1, 5, 12):
        alarms = [chance(c, p) for c in outcomes(n, len(p)) if fails(assert_frequencies, c, p, false_alarm=false_alarm)]
        assert math.fsum(alarms) <= false_alarm


@pytest.mark.parametrize("p", LAWS)
def test_the_false_alarm_rate_of_same_frequencies(p: tuple[float, ...]) -> None:
    for n, m in ((6, 6), (3, 9)):
        alarms = [
            chance(a, p) * chance(b, p)
            for a in outcomes(n, len(p))
            for b in outcomes(m, len(p))
            if fails(assert_same_frequencies, a, b, false_alarm=0.3)
        ]
        assert math.fsum(alarms) <= 0.3


@pytest.mark.parametrize("values", [range(14), [0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3]], ids=["distinct", "ties"])
def test_the_false_alarm_rate_of_same_law(values: list[int]) -> None:
    """Given the values of both samples, every way to deal them out is as likely as any other."""
    alarms = ways = 0
    for dealt in itertools.combinations(range(14), 6):
        a = [values[i] for i in dealt]
        b = [values[i] for i in range(14) if i not in dealt]
        ways += 1
        alarms += fails(assert_same_law, a, b, false_alarm=0.9)
    assert alarms <= 0.9 * ways


# The seeds are fixed. What must pass would fail with a chance of 1e-9; what must fail is far beyond chance.
def test_what_the_assertions_see() -> None:
    rng = np.random.default_rng(8)
    right, wrong = rng.multinomial(2000, [0.5, 0.3, 0.2]), rng.multinomial(2000, [0.4, 0.4, 0.2])
    assert_frequencies(right, [0.5, 0.3, 0.2])
    with pytest.raises(AssertionError, match=r"at most once in 10\^\d+"):
        assert_frequencies(wrong, [0.5, 0.3, 0.2])
    with pytest.raises(AssertionError, match="never"):
        assert_frequencies([5, 1], [1.0, 0.0])
    assert_same_frequencies(right, rng.multinomial(2000, [0.5, 0.3, 0.2]))
    with pytest.raises(AssertionError, match="under one law"):
        assert_same_frequencies(rng.multinomial(9000, [0.5, 0.3, 0.2]), rng.multinomial(9000, [0.4, 0.4, 0.2]))
    assert_same_law(rng.normal(size=900), rng.normal(size=1100))
    with pytest.raises(AssertionError, match="apart"):
        assert_same_law(rng.normal(size=900), rng.normal(0.8, 1.0, size=1100))
    assert fails(assert_same_law, [0] * 200, [1] * 200)


def test_slack_forgives_what_is_not_known_better() -> None:
    counts = [10_000, 1]
    assert fails(assert_frequencies, counts, [1.0, 0.0])
    assert not fails(assert_frequencies, counts, [1.0, 0.0], slack=1e-6)


@pytest.mark.parametrize(
    ("call", "arguments", "named"),
    [
        (assert_frequencies, ([1, -1], [0.5, 0.5]), "counts"),
        (assert_frequencies, ([1.5], [1.0]), "counts"),
        (assert_frequencies, ([1, 2], [0.5, 0.4]), "probabilities"),
        (assert_frequencies, ([1, 2], [1.0]), "probabilities"),
        (assert_same_frequencies, ([1, 2], [1]), "counts_b"),
        (assert_same_law, ([], [1]), "samples_a"),
        (assert_same_law, ([1.0], [math.nan]), "samples_b"),
    ],
)
def test_bad_input_is_named(call: Callable[..., None], arguments: tuple[list[float], ...], named: str) -> None:
    with pytest.raises(ArgumentError, match=named):
        call(*arguments)
    with pytest.raises(ArgumentError, match="false_alarm"):
        assert_frequencies([1, 1], [0.5, 0.5], false_alarm=0.0)


def test_the_example_in_the_docstring() -> None:
    results = doctest.testmod(equipoise.testing)
    assert results.attempted
    assert not results.failed
