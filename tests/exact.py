"""Exact enumeration: every coin, permutation and reward of a few rounds, each with its probability.

Nothing is drawn. A round's uniform is any of `cells` equally likely values, the middles of equal cells of [0, 1); with
2·k! cells these are all that a policy of k arms can tell apart, if it cuts [0, 1) into equal parts. An arm's reward is
any of a few observed ones, as in `Instance.from_data`.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import islice
from math import factorial
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol

import naive
import numpy as np

from equipoise.policies.contract import Policy, page_of

Observations = Sequence[Sequence[float]]  # the equally likely rewards of each arm
History = tuple[tuple[int, float], ...]  # arms and rewards


class Player(Protocol):
    """A naive twin, or a page that is asked and told like one."""

    def choose(self, u: float) -> int: ...
    def update(self, arm: int, reward: float) -> None: ...
    def probabilities(self) -> Sequence[float]: ...


class Paged:
    """A page as a player."""

    def __init__(self, policy: Policy, k: int, horizon: int, sigma: float) -> None:
        page = page_of(policy)
        self.verbs = page.verbs
        self.p = policy.params(k, horizon, sigma)
        self.st = page.allocate_plain(k)
        self.verbs["init"](self.p, self.st)

    def leader(self) -> int:
        return naive.argmax([self.verbs["index"](self.p, n, s) for n, s in zip(self.st.n, self.st.s, strict=True)])

    def choose(self, u: float) -> int:
        return self.leader() if self.st.now.exploiting else int(self.verbs["choose"](self.p, self.st, u))

    def update(self, arm: int, reward: float) -> None:
        self.verbs["update"](self.p, self.st, arm, reward)

    def probabilities(self) -> list[float]:
        if self.st.now.exploiting:
            return naive.spread([self.leader()], len(self.st.n))
        out = np.full(len(self.st.n), np.nan)
        self.verbs["propensity"](self.p, self.st, out)
        return out.tolist()

    def copied(self) -> "Paged":
        other = copy(self)
        other.st = type(self.st)(*(array.copy() for array in self.st[:-1]), SimpleNamespace(**vars(self.st.now)))
        return other

    def key(self) -> tuple[Any, ...]:
        return (*(tuple(array.tolist()) for array in self.st[:-1]), *vars(self.st.now).values())


def copyable(twin: naive.Twin) -> naive.Twin:
    """A twin that can be copied: HARE's unending schedule cannot."""
    if isinstance(twin, naive.UCBHare):
        twin.schedule = iter(list(islice(naive.harmonic_schedule(twin.k), 1, twin.horizon + 2)))
    return twin


def copied(player: Player) -> Player:
    """A player that goes its own way from here."""
    if isinstance(player, Paged):
        return player.copied()
    other = copy(player)
    for name, value in vars(player).items():
        if isinstance(value, list | Iterator):
            setattr(other, name, copy(value))
    return other


def key(player: Player) -> tuple[Any, ...]:
    """All that a player remembers. A schedule's place follows from the number of rounds."""
    if isinstance(player, Paged):
        return player.key()
    kept = (value for value in vars(player).values() if not isinstance(value, Iterator))
    return tuple(tuple(value) if isinstance(value, list) else value for value in kept)


class Branch(NamedTuple):
    """A player as it stands before a round, and how likely that is."""

    chance: float
    history: History
    player: Player


class Round(NamedTuple):
    """All that can happen in a round: who stands before it, and how likely it is that an arm follows a history."""

    before: list[Branch]
    pulls: dict[tuple[History, int], float]


def rounds(player: Player, law: Observations, horizon: int, forget: bool = False) -> Iterator[Round]:
    """Every round of the tree of all coins, permutations and rewards.

    With `forget`, branches merge that remember the same, whatever their histories; these are then empty.
    """
    cells = 2 * factorial(len(law))
    before = [Branch(1.0, (), player)]
    for _ in range(horizon):
        pulls: dict[tuple[History, int], float] = defaultdict(float)
        after: dict[Any, Branch] = {}
        for branch in before:
            for chance, arm, chooser in choices(branch, cells):
                pulls[branch.history, arm] += chance
                for reward in sorted(set(law[arm])):
                    told = copied(chooser)
                    told.update(arm, reward)
                    history = () if forget else (*branch.history, (arm, reward))
                    likely = chance * chance_of(reward, law[arm])
                    merge(after, Branch(likely, history, told))
        yield Round(before, dict(pulls))
        before = list(after.values())


def choices(branch: Branch, cells: int) -> Iterator[tuple[float, int, Player]]:
    """What the round's uniform may lead to: chance, arm, and the player that has chosen it; equal outcomes merged."""
    outcomes: dict[Any, tuple[float, int, Player]] = {}
    for cell in range(cells):
        chooser = copied(branch.player)
        arm = chooser.choose((cell + 0.5) / cells)
        mark = (arm, key(chooser))
        so_far = outcomes[mark][0] if mark in outcomes else 0.0
        outcomes[mark] = (so_far + branch.chance / cells, arm, chooser)
    yield from outcomes.values()


def chance_of(reward: float, observed: Sequence[float]) -> float:
    return observed.count(reward) / len(observed)


def merge(branches: dict[Any, Branch], branch: Branch) -> None:
    mark = (branch.history, key(branch.player))
    so_far = branches[mark].chance if mark in branches else 0.0
    branches[mark] = branch._replace(chance=so_far + branch.chance)


def exante(player: Player, law: Observations, horizon: int) -> np.ndarray:
    """m_1 to m_T, exactly."""
    means = [float(np.mean(observed)) for observed in law]
    tree = rounds(player, law, horizon, forget=True)
    return np.array([sum(chance * means[arm] for (_, arm), chance in step.pulls.items()) for step in tree])


def exante_by_propensity(player: Player, law: Observations, horizon: int) -> np.ndarray:
    """m_1 to m_T of a player without hidden draws: the branches are its `probabilities`."""
    means = [float(np.mean(observed)) for observed in law]
    before, rewards = [Branch(1.0, (), player)], []
    for _ in range(horizon):
        after: dict[Any, Branch] = {}
        expected = 0.0
        for branch in before:
            for arm, propensity in enumerate(branch.player.probabilities()):
                expected += branch.chance * propensity * means[arm]
                for reward in set(law[arm]) if propensity > 0.0 else ():
                    told = copied(branch.player)
                    told.update(arm, reward)
                    likely = branch.chance * propensity * chance_of(reward, law[arm])
                    merge(after, Branch(likely, (), told))
        rewards.append(expected)
        before = list(after.values())
    return np.array(rewards)
