"""The whole contract of a policy, clause by clause."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from equipoise.arguments import ArgumentError
from equipoise.policies.contract import Policy, page_of
from equipoise.testing import clauses
from equipoise.testing.bench import RUNS, Bench, BreachError
from equipoise.testing.games import Game, make_games, make_law_games

Clause = Callable[[Bench, Game], None]

# In the order in which they are looked at: a later one may rely on the earlier.
CLAUSES: tuple[Clause, ...] = (
    clauses.documented,
    clauses.arguments,
    clauses.init,
    clauses.arms,
    clauses.exploiting,
    clauses.sums,
    clauses.one_uniform,
    clauses.alone,
    clauses.copies,
    clauses.info,
    clauses.index,
    clauses.inverse,
    clauses.concave,
    clauses.propensity,
    clauses.compiled,
    clauses.observed,
    clauses.frequencies,
    clauses.symmetric,
)
STATISTICAL = (clauses.observed, clauses.frequencies, clauses.symmetric)
NEEDS = {
    clauses.info: "info",
    clauses.index: "index",
    clauses.inverse: "margin",
    clauses.concave: "margin",
    clauses.propensity: "propensity",
    clauses.observed: "propensity",
    clauses.frequencies: "propensity",
}


class ContractError(AssertionError):
    """A policy breaks its contract; the message says which clause, where, and what was found."""

    def __init__(self, policy: Policy, clause: str, game: Game, found: str) -> None:
        super().__init__(f"{policy!r} breaks the clause {clause!r} ({game}): {found}.")
        self.clause = clause


@dataclass(frozen=True)
class Report:
    """What was checked: the clauses with the number of games each was held to, and those left out, with the reason."""

    policy: Policy
    checked: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        left = "; ".join(f"{clause} ({why})" for clause, why in self.skipped.items())
        return f"{self.policy.label} keeps {len(self.checked)} clauses" + (f"; not checked: {left}." if left else ".")


def check_policy(policy: Policy, *, docs: bool = False) -> Report:
    """Holds `policy` to the contract of `equipoise.policies.contract`, on fixed games: the same verdict every time.

    The first clause that is broken ends it with a `ContractError`. The games have 1 to 8 arms and 1 to 64 rounds, odd
    and even, with ties, an arm of mean 0, and rewards of any sign and size. Three clauses look at thousands of runs; a
    correct policy fails them with a chance below 1e-7.

    - `docs`: whether the module's docstring must have the six parts that this package's own pages have.

    A page that Numba cannot compile is held to all but `compiled`; the report says so.
    """
    page = page_of(policy)
    if "margin" in page.verbs and "index" not in page.verbs:
        raise ArgumentError(f"policy is {policy!r}, whose page has a margin and no index; define index beside it.")
    bench, report = Bench(policy, page), Report(policy)
    for clause in CLAUSES:
        why = reason_to_skip(bench, clause, docs)
        if why:
            report.skipped[clause.__name__] = why
            continue
        chosen = games_of(clause)
        for game in chosen:
            hold(bench, clause, game)
        report.checked[clause.__name__] = len(chosen)
    return report


def hold(bench: Bench, clause: Clause, game: Game) -> None:
    try:
        clause(bench, game)
    except BreachError as breach:
        raise ContractError(bench.policy, clause.__name__, game, str(breach)) from None
    except Exception as error:
        found = f"{type(error).__name__} was raised: {error}"
        raise ContractError(bench.policy, clause.__name__, game, found) from error


def reason_to_skip(bench: Bench, clause: Clause, docs: bool) -> str:
    if clause is clauses.documented and not docs:
        return "docs=True was not asked for"
    if clause in NEEDS and not bench.has(NEEDS[clause]):
        return f"the page has no {NEEDS[clause]}"
    if clause is clauses.compiled:
        return bench.why_plain
    if clause is clauses.symmetric and not bench.policy.symmetric:
        return "the policy does not claim to be"
    return ""


@cache
def games_of(clause: Clause) -> tuple[Game, ...]:
    if clause is clauses.documented:
        return all_games()[:1]
    return law_games() if clause in STATISTICAL else all_games()


@cache
def all_games() -> tuple[Game, ...]:
    return make_games()


@cache
def law_games() -> tuple[Game, ...]:
    return make_law_games(RUNS)
