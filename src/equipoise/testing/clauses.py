"""The clauses of the contract: each a function of a bench and a game that raises `BreachError` where it does not hold.

Rounds are counted from 1 in what they say. All but two, `frequencies` and `symmetric`, are exact; those are judged
as in `laws.py`, with a false-alarm rate of at most FALSE_ALARM on a game.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import permutations
from math import isfinite, log
from typing import Any

import numpy as np

from equipoise.player import plain
from equipoise.policies.contract import PARTS, sections
from equipoise.testing.bench import GARBAGE, Bench, BreachError, Turn, copied
from equipoise.testing.games import Floats, Game, Ints, relabelled
from equipoise.testing.laws import evidence_against, evidence_of_difference

FALSE_ALARM = 1e-8  # of a statistical clause on one game
TOLERANCE = 1e-9  # of a propensity


def arguments(bench: Bench, game: Game) -> None:
    """The policy is a frozen dataclass, equal by its arguments; `params` are numbers that follow from them alone."""
    if not is_dataclass(bench.policy) or not bench.policy.__dataclass_params__.frozen:
        raise BreachError("its class is no frozen dataclass; decorate it with @dataclass(frozen=True)")
    policy: Any = bench.policy
    names = {field.name for field in fields(policy)}
    if more := getattr(policy, "__dict__", {}).keys() - names:
        raise BreachError(f"the policy holds {', '.join(sorted(more))} beside its arguments")
    twin = replace(policy)
    if twin != policy or hash(twin) != hash(policy):
        raise BreachError("two policies of the same arguments are not equal")
    p, again = bench.params(game), twin.params(game.k, game.horizon, game.sigma)
    if not (isinstance(p, tuple) and hasattr(p, "_fields")) or not all(map(is_number, p)):
        raise BreachError(f"params returned {p!r}, not a NamedTuple of numbers")
    if repr(p) != repr(again):
        raise BreachError(f"params returned {p!r}, and then {again!r}")
    changes = policy.changes(game.k, game.horizon)
    if not isinstance(changes, tuple) or not all(isinstance(t, int) and t >= 0 for t in changes):
        raise BreachError(f"changes returned {changes!r}, not a tuple of rounds")


def is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number | np.bool_)


def init(bench: Bench, game: Game) -> None:
    """`init` sets all of a state, whatever it held."""
    p, verb = bench.params(game), bench.page.verbs["init"]
    states = [bench.used(game.k, garbage) for garbage in GARBAGE]
    for state in states:
        verb(p, state)
    if forgotten := bench.differing(*states):
        raise BreachError(f"init leaves {', '.join(forgotten)} as the state had it")


def arms(bench: Bench, game: Game) -> None:
    """`choose` returns an int from 0 to k - 1."""
    bench.turns(game)


def exploiting(bench: Bench, game: Game) -> None:
    """No page exploits without an index or before every arm has been pulled; exploitation never ends, and `update`
    then adds to n and s and does nothing else."""
    for turn in bench.turns(game):
        if turn.after.now.exploiting and not bench.may_exploit(turn.after):
            lack = f"the pulls are {turn.after.n.tolist()}" if bench.has("index") else "the page has no index"
            raise BreachError(f"after round {turn.t + 1} the page exploits, but {lack}")
        more = set(bench.differing(turn.chosen, turn.after)) - {"n", "s"}
        if turn.before.now.exploiting and more:
            raise BreachError(f"in round {turn.t + 1}, while exploiting, update changed {', '.join(sorted(more))}")


def sums(bench: Bench, game: Game) -> None:
    """`n` and `s` are the pulls and the sums of rewards of every arm, in every round, and nothing else moves them."""
    n, s = np.zeros(game.k, np.int64), np.zeros(game.k)
    for turn in bench.turns(game):
        for when, state in (("before", turn.before), ("when choosing in", turn.chosen), ("after", turn.after)):
            if when == "after":
                n[turn.arm] += 1
                s[turn.arm] += game.rewards[turn.arm, turn.t]
            if state.n.tolist() != n.tolist() or state.s.tolist() != s.tolist():
                held = f"n={state.n.tolist()} and s={state.s.tolist()}, not {n.tolist()} and {s.tolist()}"
                raise BreachError(f"{when} round {turn.t + 1} the state holds {held}")


def one_uniform(bench: Bench, game: Game) -> None:
    """The round's uniform is all the luck there is: the same uniforms and rewards give the same arms, and nobody else's
    generator is touched."""
    before = generators()
    again = bench.run(game, compiled=False).arms[0]
    if generators() != before:
        raise BreachError("a generator was drawn from; use the round's u, and steps.spread for more of it")
    agree(bench.turns(game), again, "played again with the same uniforms and rewards")


def generators() -> tuple[Any, ...]:
    """Where Python's and NumPy's own generators stand."""
    state: Any = np.random.get_state()  # noqa: NPY002 (it is watched, not used)
    return random.getstate(), bytes(state[1]), *state[2:]


def agree(turns: tuple[Turn, ...], arms: Any, how: str) -> None:
    for turn, arm in zip(turns, arms, strict=True):
        if turn.arm != arm:
            raise BreachError(f"{how}, the page pulled arm {arm} in round {turn.t + 1} instead of {turn.arm}")


def alone(bench: Bench, game: Game) -> None:
    """Two runs played in turns go as each does alone: nothing is kept outside their states."""
    p, turns = bench.params(game), bench.turns(game)
    state, other = bench.used(game.k), bench.used(game.k)
    for x in (state, other):
        bench.page.verbs["init"](p, x)
    pulled = []
    for turn in turns:
        pulled.append(advance(bench, p, state, turn.u, game, turn.t))
        advance(bench, p, other, 1.0 - 2.0**-53 - turn.u, game, turn.t)
    agree(turns, pulled, "played in turns with another run")


def copies(bench: Bench, game: Game) -> None:
    """A state that is copied goes on as the original does, from any round, with the choice and the state the same."""
    p, turns = bench.params(game), bench.turns(game)
    for turn in turns:
        state = copied(turn.before)
        arm = bench.ask(p, state, turn.u)
        differing = bench.differing(state, turn.chosen)
        if arm != turn.arm or differing:
            other = f"left another {', '.join(differing)}" if differing else f"chose arm {arm} instead of {turn.arm}"
            raise BreachError(f"asked again in a copy of the state, round {turn.t + 1} {other}")
    for start in {len(turns) // 2, len(turns) - 1}:
        state = copied(turns[start].before)
        gone_on = [advance(bench, p, state, turn.u, game, turn.t) for turn in turns[start:]]
        agree(turns[start:], gone_on, f"gone on from a copy of the state before round {start + 1}")


def advance(bench: Bench, p: Any, state: Any, u: float, game: Game, t: int) -> int:
    arm = bench.ask(p, state, u)
    bench.page.verbs["update"](p, state, arm, float(game.rewards[arm, t]))
    return arm


def info(bench: Bench, game: Game) -> None:
    """`info` is a dict that JSON can hold, and leaves the state alone."""
    for turn in bench.turns(game)[:: max(1, game.horizon // 5)]:
        state = copied(turn.after)
        found = bench.page.verbs["info"](bench.params(game), state)
        if not isinstance(found, dict) or bench.differing(state, turn.after):
            raise BreachError(f"after round {turn.t + 1} info returned {found!r} or changed the state")
        try:
            json.dumps(plain(found, lambda x: None))
        except (TypeError, ValueError):
            raise BreachError(f"after round {turn.t + 1} info returned {found!r}, which JSON cannot hold") from None


PULLS = (1, 2, 3, 7, 50, 1000, 10**6)
MEANS = (-1.5, 0.0, 1e-3, 0.25, 3.0, 1e4)


def grid(game: Game) -> tuple[Ints, Floats]:
    """Pulls and sums at which an index is looked at, in units of 1 and of sigma."""
    pairs = [(n, n * mean * unit) for n in PULLS for mean in MEANS for unit in (1.0, game.sigma)]
    return np.array([n for n, _ in pairs], np.int64), np.array([s for _, s in pairs])


def index(bench: Bench, game: Game) -> None:
    """An index is a finite number."""
    n, s = grid(game)
    for a, b, value in zip(n, s, bench.measure(game, n, s, compiled=False)[0], strict=True):
        if not isfinite(value):
            raise BreachError(f"the index of {a} pulls and the sum {b} is {value}")


def inverse(bench: Bench, game: Game) -> None:
    """n·v − `margin` is the inverse of `index` in s."""
    n, s = grid(game)
    indices, margins = bench.measure(game, n, s, compiled=False)
    for a, b, v, found in zip(n.tolist(), s.tolist(), indices.tolist(), margins.tolist(), strict=True):
        if not abs(a * v - found - b) <= 1e-9 * (abs(b) + abs(a * v)):
            raise BreachError(
                f"{a} pulls and the sum {b} have the index {v}, but n·v − margin there is {a * v - found}"
            )


def concave(bench: Bench, game: Game) -> None:
    """`margin` is concave in n."""
    p, verb = bench.params(game), bench.page.verbs["margin"]
    for v in sorted(set(bench.measure(game, *grid(game), compiled=False)[0].tolist())):
        for n in PULLS:
            for step in (1, n):
                left, middle, right = (float(verb(p, n + i * step, v)) for i in (0, 1, 2))
                if not 2.0 * middle >= left + right - 1e-13 * (abs(left) + 2.0 * abs(middle) + abs(right)):
                    held = f"{left}, {middle} and {right} at {n}, {n + step} and {n + 2 * step} pulls"
                    raise BreachError(f"the margin at the index {v} is {held}, which is not concave")


def propensity(bench: Bench, game: Game) -> None:
    """Propensities are at least 0, sum to 1, are written whatever `out` held, leave the state alone, and give every arm
    that is pulled a chance."""
    p, verb = bench.params(game), bench.page.verbs["propensity"]
    for turn in bench.turns(game):
        if turn.before.now.exploiting or not (game.short or turn.t == 9):
            continue
        first, second = np.full(game.k, 9.0), np.full(game.k, np.nan)
        for out in (first, second):
            state = copied(turn.before)
            verb(p, state, out)
            if changed := bench.differing(state, turn.before):
                raise BreachError(f"before round {turn.t + 1} propensity changed {', '.join(changed)}")
        if first.tolist() != second.tolist():
            raise BreachError(f"before round {turn.t + 1} propensity wrote {second.tolist()}, which is not all of out")
        chances_hold(first, turn.t, turn.arm)


def chances_hold(chances: Floats, t: int, arm: int) -> None:
    if not (np.all(chances >= 0.0) and abs(chances.sum() - 1.0) <= TOLERANCE):
        raise BreachError(f"before round {t + 1} the propensities are {chances.tolist()}, with sum {chances.sum()}")
    if chances[arm] == 0.0:
        raise BreachError(f"round {t + 1} pulled arm {arm}, but the propensities are {chances.tolist()}")


def compiled(bench: Bench, game: Game) -> None:
    """The compiled page pulls the same arms as the interpreted one and gives the same numbers, to the last bit."""
    watched = int(bench.has("propensity"))
    fast, slow = bench.run(game, watched=watched), bench.run(game, watched=watched * game.short, compiled=False)
    agree(bench.turns(game), fast.arms[0], "compiled")
    if differing := bench.differing(slow.state, fast.state):
        a, b = bench.contents(slow.state), bench.contents(fast.state)
        held = "; ".join(f"{name} is {a[name]}, and compiled {b[name]}" for name in differing)
        raise BreachError(f"after the last round {held}")
    for turn, chances in zip(bench.turns(game), fast.chances[:1].reshape(-1, game.k), strict=False):
        chances_hold(chances, turn.t, turn.arm)
        if len(slow.chances) and slow.chances[0, turn.t].tolist() != chances.tolist():
            both = f"{slow.chances[0, turn.t].tolist()}, and compiled {chances.tolist()}"
            raise BreachError(f"before round {turn.t + 1} the propensities are {both}")
    if bench.has("index"):
        tables = (bench.measure(game, *grid(game), compiled=way) for way in (False, True))
        if len({repr([x.tolist() for x in table]) for table in tables}) == 2:
            raise BreachError("index or margin gives other numbers compiled")


def before_each_round(arms: Ints, k: int) -> Ints:
    """The arms before each round, (run, round), as one number."""
    codes = np.zeros_like(arms)
    for t in range(1, arms.shape[1]):
        codes[:, t] = codes[:, t - 1] * k + arms[:, t - 1]
    return codes


def observed(bench: Bench, game: Game) -> None:
    """Propensities follow from the arms and rewards observed so far, and not from what has been drawn and not shown."""
    seen = bench.law(game)
    pasts = before_each_round(seen.arms, game.k)
    for t in range(game.horizon):
        first: dict[int, Floats] = {}
        for past, chances in zip(pasts[:, t].tolist(), seen.chances[:, t], strict=False):
            if np.abs(first.setdefault(past, chances) - chances).max() > 2.0 * TOLERANCE:
                both = f"{first[past].tolist()} and {chances.tolist()}"
                raise BreachError(f"before round {t + 1}, after the same arms and rewards, the propensities are {both}")


def frequencies(bench: Bench, game: Game) -> None:
    """Propensities agree with frequencies: after each past of t arms, of which there are k^t, those of the next arm.

    A correct policy fails with a chance of at most FALSE_ALARM: each past gets its share, 1/(horizon·k^t), of it. Of
    20,000 runs, 0.6 in place of a chance of 1/2 is noticed where a fifth of them comes by.
    """
    seen = bench.law(game)
    pasts = before_each_round(seen.arms, game.k)
    for t in range(game.horizon):
        bar = log(game.horizon / FALSE_ALARM) + t * log(game.k)
        known = dict(zip(pasts[:, t].tolist(), seen.chances[:, t], strict=False))
        for past, chances in known.items():
            counts = np.bincount(seen.arms[pasts[:, t] == past, t], minlength=game.k)
            if evidence_against(counts, chances + TOLERANCE) > bar:
                told = f"of {counts.sum()} runs alike so far, round {t + 1} pulled the arms {counts.tolist()} times"
                raise BreachError(f"{told}, but the propensities are {chances.tolist()}")


def symmetric(bench: Bench, game: Game) -> None:
    """Relabelling the arms relabels the law of the pulls: of the arms of any two rounds in a row, and of all pulls.

    A correct policy fails with a chance of at most FALSE_ALARM, shared by all comparisons. Of two times 20,000 runs,
    a frequency of about a half that is off by an eighth is noticed.
    """
    labellings = tuple(permutations(range(game.k)))[1:]
    labellings = labellings[:: -(-len(labellings) // 5)]
    here = bench.law(game).arms
    for seed, labels in enumerate(labellings):
        there = bench.many(relabelled(game, labels, seed)).arms
        back = np.argsort(labels)[there]
        bar = log(len(labellings) * game.horizon / FALSE_ALARM)
        for (name, a), (_, b) in zip(features(here, game.k), features(back, game.k), strict=True):
            if evidence_of_difference(a, b) > bar:
                told = f"with the arms called {list(labels)}, {name} came another number of times"
                raise BreachError(f"{told}: {a.tolist()} and {b.tolist()}")


def features(arms: Ints, k: int) -> Iterator[tuple[str, Ints]]:
    """How often every pair of arms came in two rounds in a row, and all numbers of pulls at the end."""
    horizon = arms.shape[1]
    for t in range(1, horizon):
        pairs = np.bincount(arms[:, t - 1] * k + arms[:, t], minlength=k * k)
        yield f"the pairs of arms of rounds {t} and {t + 1}", pairs
    pulls = sum(np.sum(arms == i, axis=1) * (horizon + 1) ** i for i in range(k - 1))
    yield "the pulls of all arms", np.bincount(pulls, minlength=(horizon + 1) ** (k - 1))


def documented(bench: Bench, game: Game) -> None:
    """The docstring of the policy's module has its six parts, in order, and none is empty."""
    parts = sections(type(bench.policy))
    if tuple(parts) != ("What", *PARTS) or not all(parts.values()):
        raise BreachError(f"the docstring has the parts {', '.join(parts)}; give what it does, then {', '.join(PARTS)}")
