"""The player against UCB-HARE's naive twin, against a loop without any player, and against itself, saved and loaded.

Nothing here is statistical: a player is deterministic in its seed, so every comparison is exact.
"""

import doctest
import importlib
import inspect
import json
import math
import pkgutil
import random
from dataclasses import MISSING, dataclass, fields
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import naive
import numpy as np
import pytest

import equipoise.player
import equipoise.policies
from equipoise.arguments import ArgumentError
from equipoise.player import Player
from equipoise.policies.contract import FloatPerArm, IntPerArm, Policy, page_of
from equipoise.policies.ucb_hare import UCBHare
from equipoise.streams import POLICY, make_key, uniform

# This module is the page of `InTurn`: a user's own, which never exploits and has none of the optional verbs.

NOW = np.dtype([("exploiting", np.bool_), ("start", np.int64), ("lowest", np.float64)])


class State(NamedTuple):
    n: IntPerArm
    s: FloatPerArm
    now: Any


def init(p: int, st: State) -> None:
    st.n[:] = 0
    st.s[:] = 0.0
    st.now.exploiting = False
    st.now.start = -1
    st.now.lowest = math.inf


def choose(p: int, st: State, u: float) -> int:
    if st.now.start < 0:
        st.now.start = int(u * p)
    return (st.now.start + int(st.n.sum())) % p


def update(p: int, st: State, arm: int, reward: float) -> None:
    st.n[arm] += 1
    st.s[arm] += reward
    st.now.lowest = min(st.now.lowest, reward)


@dataclass(frozen=True)
class InTurn(Policy):
    """The arms in turn, from one drawn at random."""

    cap: float = math.inf
    groups: tuple[str, ...] = ("a", "b")
    name: ClassVar[str] = "In turn"

    def params(self, k: int, horizon: int, sigma: float) -> int:
        return k


def make(cls: type[Policy]) -> Policy:
    """A policy with its defaults; p = -2 where there is none."""
    return cls(**{f.name: -2.0 for f in fields(cls) if f.default is MISSING})  # type: ignore[arg-type]


def our_policies() -> list[Policy]:
    names = [m.name for m in pkgutil.iter_modules(equipoise.policies.__path__, "equipoise.policies.")]
    modules = [importlib.import_module(name) for name in names]
    found = [c for m in modules for c in vars(m).values() if inspect.isclass(c) and c.__module__ == m.__name__]
    return [make(c) for c in found if issubclass(c, Policy) and c is not Policy]


OURS = our_policies()
ALL = [*OURS, InTurn()]


def label(value: object) -> str | None:
    return value.label if isinstance(value, Policy) else None


# Games: the mean of each arm, sigma and the horizon. The best arm is neither first nor last, gaps are unequal.
GAMES = {
    "reaches exploitation": ([3.0, 0.0, 40.0, 25.0, 38.0], 1.0, 121),
    "large rewards": ([300.0, 0.0, 4000.0, 2500.0, 3800.0], 100.0, 121),  # Nash Confidence Bound exploits only here
    "reaches exploitation late": ([9.0, 0.0, 6.0], 1.0, 700),
    "never certifies an arm": ([0.0, 0.1, 0.3, 0.2], 2.0, 99),
    "certifies, never exploits": ([2.0, 8.0, 3.0, 0.0, 1.0, 1.0], 3.0, 201),
    "equal arms": ([30.0] * 4, 1.0, 200),
    "one arm": ([7.0], 1.0, 40),
    "one round": ([1.0, 2.0], 1.0, 1),
    "one arm, one round": ([1.0], 1.0, 1),
    "two rounds": ([1.0, 2.0, 3.0], 0.01, 2),
}


def rewards(means: list[float], sigma: float, horizon: int, noise: int) -> list[list[float]]:
    """The reward of each arm in each round; without noise, equal arms tie."""
    generator = random.Random(noise)
    return [[mean + (generator.gauss(0.0, sigma) if noise else 0.0) for mean in means] for _ in range(horizon)]


def play(player: Player, table: list[list[float]]) -> list[int]:
    """The arms of the rest of a game."""
    begin = len(player.history)
    for row in table[begin:]:
        player.tell(row[player.ask()])
    return [arm for arm, _ in player.history[begin:]]


# ----------------------------------------------------------------------------------------------- against the naive twin


@pytest.mark.parametrize("noise", [0, 1, 2])
@pytest.mark.parametrize("game", GAMES)
def test_hare_pulls_the_arms_of_its_naive_twin(game: str, noise: int) -> None:
    means, sigma, horizon = GAMES[game]
    table = rewards(means, sigma, horizon, noise)
    player = Player(UCBHare(), len(means), horizon, sigma, seed=11, run=noise)
    twin = naive.UCBHare(len(means), horizon, sigma)
    for t, row in enumerate(table):
        assert player.propensities() == pytest.approx(twin.probabilities(), abs=1e-12)
        state = player.state
        assert state["phase"] == ("preparation" if twin.preparing else "exploitation")
        assert state["n"] == twin.n
        B, _ = twin.safest()
        if twin.preparing:
            assert state["B"] == (B if math.isfinite(B) else None)
        assert state["radii"] == [pytest.approx(twin.radius(i)) if twin.n[i] else None for i in range(len(means))]
        arm = player.ask()
        assert arm == twin.choose(uniform(make_key(11), noise, POLICY, t))
        player.tell(row[arm])
        twin.update(arm, row[arm])


def test_the_games_go_where_their_names_say() -> None:
    def phases(game: str) -> tuple[str, bool]:
        means, sigma, horizon = GAMES[game]
        player = Player(UCBHare(), len(means), horizon, sigma, seed=11, run=1)
        play(player, rewards(means, sigma, horizon, 1))
        return player.state["phase"], player.state.get("B", 0.0) > 0.0

    assert phases("reaches exploitation") == ("exploitation", False)  # where B is no more
    assert phases("reaches exploitation late") == ("exploitation", False)
    assert phases("certifies, never exploits") == ("preparation", True)
    assert phases("never certifies an arm") == ("preparation", False)


@pytest.mark.parametrize(("run", "shift"), [(1, 0), (0, 1)])
def test_the_twin_with_other_uniforms_pulls_other_arms(run: int, shift: int) -> None:
    """The broken variant of the test above: the uniforms of another run, or of the next round."""
    means, sigma, horizon = GAMES["reaches exploitation"]
    player = Player(UCBHare(), len(means), horizon, sigma, seed=11)
    twin = naive.UCBHare(len(means), horizon, sigma)
    differ = 0
    for t, row in enumerate(rewards(means, sigma, horizon, 1)):
        arm = player.ask()
        differ += arm != twin.choose(uniform(make_key(11), run, POLICY, t + shift))
        player.tell(row[arm])
        twin.update(arm, row[arm])
    assert differ > 0


# ------------------------------------------------------------------------------------------ against a loop of the verbs


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("policy", ALL, ids=label)
def test_a_player_is_a_loop_over_the_verbs(policy: Policy, game: str) -> None:
    """One state, never copied, whose scalars are a NumPy record; every index computed anew in every round."""
    means, sigma, horizon = GAMES[game]
    k, table = len(means), rewards(*GAMES[game], noise=3)
    player = Player(policy, k, horizon, sigma, seed=5, run=2)
    page = page_of(policy)
    p, st, verbs = policy.params(k, horizon, sigma), page.allocate(k), page.verbs
    verbs["init"](p, st)
    for t, row in enumerate(table):
        if st.now.exploiting:
            values = [verbs["index"](p, int(st.n[i]), float(st.s[i])) for i in range(k)]
            arm = values.index(max(values))
            assert player.propensities() == [float(i == arm) for i in range(k)]
        else:
            arm = verbs["choose"](p, st, uniform(make_key(5), 2, POLICY, t))
        assert player.ask() == arm
        player.tell(row[arm])
        verbs["update"](p, st, arm, row[arm])
    assert player.state["n"] == st.n.tolist()


# ----------------------------------------------------------------------------------------------- asking changes nothing


@pytest.mark.parametrize("policy", ALL, ids=label)
def test_asking_shows_an_arm_and_nothing_else(policy: Policy) -> None:
    means, sigma, horizon = GAMES["certifies, never exploits"]
    asked = Player(policy, len(means), horizon, sigma, seed=8)
    other = Player(policy, len(means), horizon, sigma, seed=8)
    for row in rewards(means, sigma, horizon, 4)[:60]:
        state = asked.state
        propensities = asked.propensities() if "propensity" in page_of(policy).verbs else None
        arm = asked.ask()
        assert [asked.ask() for _ in range(3)] == [arm] * 3
        assert type(arm) is int
        assert asked.state == {**state, "pending": arm}
        if propensities is not None:
            assert asked.propensities() == propensities
            assert sum(propensities) == pytest.approx(1.0, abs=1e-6)
            assert propensities[arm] > 0.0
        assert other.ask() == arm
        asked.tell(row[arm])
        other.tell(row[arm])


def test_propensities_after_the_draw_would_be_others() -> None:
    """The broken variant of the test above: a player without the copy would tell the propensities of the next round."""
    page, policy, k = page_of(UCBHare()), UCBHare(), 5
    p, st, before, after = policy.params(k, 100, 1.0), page.allocate_plain(k), np.zeros(k), np.zeros(k)
    differ = 0
    page.verbs["init"](p, st)
    for t in range(30):
        page.verbs["propensity"](p, st, before)
        arm = page.verbs["choose"](p, st, uniform(make_key(8), 0, POLICY, t))
        page.verbs["propensity"](p, st, after)
        differ += before.tolist() != after.tolist()
        page.verbs["update"](p, st, arm, 9.0)
    assert differ > 0


def test_the_first_round_pulls_every_arm_alike() -> None:
    for policy in ALL:
        if "propensity" in page_of(policy).verbs and policy.symmetric:
            assert Player(policy, 4, 50, 1.0, seed=0).propensities() == pytest.approx([0.25] * 4)


def test_the_state_is_json_and_says_the_phase() -> None:
    for policy in ALL:
        means, sigma, horizon = GAMES["reaches exploitation"]
        player = Player(policy, len(means), horizon, sigma, seed=1)
        phases = []
        for row in rewards(means, sigma, horizon, 5):
            state = json.loads(json.dumps(player.state), parse_constant=pytest.fail)
            assert state == player.state
            phases.append(state["phase"])
            player.tell(row[player.ask()])
        allowed = ["preparation", "exploitation"] if page_of(policy).exploits() else ["steady"]
        assert set(phases) <= set(allowed)
        assert sum(a != b for a, b in pairwise(phases)) <= 1
        assert state["round"] == horizon - 1 == sum(state["n"])
        for i, mean in enumerate(player.state["means"]):
            told = [reward for arm, reward in player.history if arm == i]
            assert mean == (pytest.approx(math.fsum(told) / len(told)) if told else None)


# ----------------------------------------------------------------------------------------------------- saved and loaded


def again(player: Player) -> Player:
    """The player, loaded from its text; a policy of this module must be given."""
    mine = player.policy if isinstance(player.policy, InTurn) else None
    return Player.from_json(player.to_json(), mine)


@pytest.mark.parametrize("game", ["large rewards", "equal arms", "one arm", "one arm, one round"])
@pytest.mark.parametrize("policy", ALL, ids=label)
def test_a_loaded_player_goes_on_identically_from_every_point(policy: Policy, game: str) -> None:
    means, sigma, horizon = GAMES[game]
    table = rewards(means, sigma, horizon, 6)
    player = Player(policy, len(means), horizon, sigma, seed=2**63, run=9)
    arms = play(Player(policy, len(means), horizon, sigma, seed=2**63, run=9), table)
    at_every_round = again(player)
    for t, row in enumerate(table):
        at_every_round = again(at_every_round)
        before = again(player)
        pending = player.ask()
        after = again(player)
        assert before.state["pending"] is None
        assert after.state["pending"] == pending == at_every_round.ask()
        assert after.to_json() == player.to_json()
        assert after.state == player.state
        assert after.history == player.history
        for loaded in (before, after):
            if t % 20 == 0 or horizon - t < 10:
                assert play(loaded, table) == arms[t:]
        player.tell(row[pending])
        again(at_every_round).tell(row[pending])  # a copy: the one below is not moved
        at_every_round.tell(row[pending])
        assert at_every_round.to_json() == player.to_json()


def written_again(value: Any) -> Any:
    """JSON as another program might write it again: whole floats as whole numbers."""
    if isinstance(value, dict):
        return {key: written_again(entry) for key, entry in sorted(value.items(), reverse=True)}
    if isinstance(value, list):
        return [written_again(entry) for entry in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def test_numbers_survive_to_the_last_bit_and_other_programs_may_write_them_again() -> None:
    player = Player(UCBHare(), 3, 50, 0.1 + 0.2, seed=np.random.SeedSequence(4), run=2**53)
    for reward in (0.1, 1.0, 5e-324, -1e300, 2.0, 1 / 3):
        player.ask()
        player.tell(reward)
    text = player.to_json()
    for written in (text, json.dumps(json.loads(text), indent=4), json.dumps(written_again(json.loads(text)))):
        loaded = Player.from_json(written)
        assert loaded.to_json() == text
        assert (loaded.key, loaded.run, loaded.sigma) == (player.key, player.run, player.sigma)
        assert play(loaded, [[0.5] * 3] * 50) == play(again(player), [[0.5] * 3] * 50)


def test_the_arguments_of_a_policy_survive() -> None:
    assert again(Player(UCBHare(delta=0.05), 2, 10, 1.0)).policy == UCBHare(delta=0.05)
    assert again(Player(UCBHare(delta=np.float64(0.05)), 2, 10, 1.0)).policy == UCBHare(delta=0.05)


def test_a_policy_of_ones_own_must_be_given_again() -> None:
    text = Player(InTurn(groups=("a", "c")), 2, 10, 1.0, seed=1).to_json()
    assert Player.from_json(text, InTurn(groups=("a", "c"))).policy == InTurn(groups=("a", "c"))
    for wrong in (None, InTurn(), InTurn(cap=3.0, groups=("a", "c")), UCBHare(), "in-turn"):
        with pytest.raises(ArgumentError, match=r"policy is .*; give the one that was saved, in-turn of test_player "):
            Player.from_json(text, wrong)  # type: ignore[arg-type]


def test_the_text_is_strict_json() -> None:
    for policy in ALL:
        text = Player(policy, 3, 10, 1.0, seed=0).to_json()  # B = -inf, lowest = inf
        json.loads(text, parse_constant=pytest.fail)


def test_a_damaged_text_is_refused_wherever_the_damage() -> None:
    player = Player(UCBHare(), 2, 30, 1.0, seed=3)
    play(player, [[1.25, 20.5]] * 9)
    player.ask()
    text = player.to_json()
    damaged = [text[:i] for i in range(0, len(text), 5)]
    damaged += [text[:i] + text[i + 1 :] for i in range(len(text))]
    damaged += [text[:i] + str((int(c) + 1) % 10) + text[i + 1 :] for i, c in enumerate(text) if c.isdigit()]
    refused = 0
    for other in damaged:
        try:
            loaded = Player.from_json(other)
        except ArgumentError as error:
            refused += str(error).startswith("text is ")
        else:
            assert loaded.to_json() == text  # a space was lost, or a digit beyond the last bit
    assert refused > 0.9 * len(damaged)


@pytest.mark.parametrize("text", [None, 3, b"\xff", "", "[]", "3", "{}", '{"format": 1}', "[" * 100_000, "\ud800"])
def test_what_is_no_saved_player_is_refused(text: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^text is .*; give what Player.to_json returned, unchanged\.$"):
        Player.from_json(text)


def test_a_text_of_another_format_is_refused() -> None:
    text = Player(UCBHare(), 2, 30, 1.0, seed=3).to_json()
    with pytest.raises(ArgumentError, match="not of the format 'equipoise player 1'"):
        Player.from_json(text.replace("equipoise player 1", "equipoise player 2"))


@pytest.mark.parametrize(
    "page",
    [
        {"NOW": np.dtype([("exploiting", np.bool_), ("start", np.int64)])},
        {"choose": lambda p, st, u: 1 - int(u * p)},
    ],
    ids=["another state", "another arm"],
)
def test_a_page_that_has_changed_is_refused(page: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    player = Player(InTurn(), 2, 10, 1.0, seed=1)
    player.ask()
    text = player.to_json()
    for name, value in page.items():
        monkeypatch.setitem(globals(), name, value)
    with pytest.raises(ArgumentError, match="whose page is not the one saved"):
        Player.from_json(text, InTurn())


# --------------------------------------------------------------------------------------------------------------- errors

GOOD = {"policy": UCBHare(), "k": 2, "horizon": 10, "sigma": 1.0, "seed": 0, "run": 0}
BAD = {
    "policy": [None, "ucb-hare", UCBHare],
    "k": [0, -1, 2.5, "2", None, True, math.nan],
    "horizon": [0, 2.5, None, 2**53 + 1],
    "sigma": [0.0, -1.0, math.inf, math.nan, "wide", None],
    "seed": [-1, 2.5, "seven", True],
    "run": [-1, 0.5, None, 2**53 + 1],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_a_bad_argument_is_named(name: str, value: object) -> None:
    with pytest.raises(ArgumentError, match=rf"^{name} is .*; give .*\.$"):
        Player(**{**GOOD, name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf, None, "much", [1.0], 1j, 10**400])
def test_a_bad_reward_is_refused_and_changes_nothing(reward: Any) -> None:
    player = Player(UCBHare(), 2, 10, 1.0, seed=0)
    arm = player.ask()
    text = player.to_json()
    with pytest.raises(ArgumentError, match=r"^reward is .*; give a finite number\.$"):
        player.tell(reward)
    assert player.to_json() == text
    assert player.ask() == arm
    player.tell(1.0)
    assert player.history == [(arm, 1.0)]


def test_tell_needs_an_arm_that_was_asked_for() -> None:
    player = Player(UCBHare(), 2, 10, 1.0, seed=0)
    for _ in range(2):
        text = player.to_json()
        with pytest.raises(ArgumentError, match=r"^reward is 1\.0, but no arm is waiting for one; call ask\(\)"):
            player.tell(1.0)
        assert player.to_json() == text
        player.ask()
        player.tell(3.0)


@pytest.mark.parametrize("policy", ALL, ids=label)
def test_no_round_follows_the_last(policy: Policy) -> None:
    player = Player(policy, 1, 1, 1.0, seed=0)
    assert player.ask() == 0
    player.tell(1.0)
    text = player.to_json()
    for beyond in (player.ask, player.propensities, again(player).ask):
        with pytest.raises(ArgumentError, match=r"^horizon is 1, and no round is left; .*\.$"):
            beyond()
    assert player.to_json() == text


def test_a_page_without_propensity_says_so() -> None:
    with pytest.raises(ArgumentError, match=r"^policy is InTurn\(.*\), whose page has no propensity; .*\.$"):
        Player(InTurn(), 2, 10, 1.0).propensities()


@pytest.mark.parametrize("arm", [-1, 2, 0.5, None])
def test_a_page_that_chooses_no_arm_is_refused(arm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "choose", lambda p, st, u: arm)
    with pytest.raises(ArgumentError, match=r"^what the page's choose returned is .*; give a whole number"):
        Player(InTurn(), 2, 10, 1.0).ask()


# ---------------------------------------------------------------------------------------------------------------- seeds


def test_a_player_depends_on_the_seed_and_the_run() -> None:
    def game(seed: Any, run: int = 0) -> list[int]:
        return play(Player(UCBHare(), 6, 60, 1.0, seed=seed, run=run), [[1.0] * 6] * 60)

    assert game(3) == game(np.random.SeedSequence(3)) == game(np.int64(3))
    assert game(np.random.default_rng(3)) == game(np.random.default_rng(3))
    assert len({tuple(game(seed, run)) for seed in (3, 4) for run in (0, 1)}) == 4
    assert game(None) != game(None)  # equal once in 6! · 2^30 and more


def test_the_history_is_a_copy() -> None:
    player = Player(UCBHare(), 2, 10, 1.0, seed=0)
    player.history.append((0, 1.0))
    assert player.history == []


def test_the_example() -> None:
    assert doctest.testmod(equipoise.player).failed == 0
