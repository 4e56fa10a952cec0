"""One policy, one round at a time: `ask` for an arm, `tell` its reward. Interpreted, so there is no pause to compile.

A player with seed s and run r meets the policy's randomness of simulated run r: round t has its own uniform, a pure
function of (s, r, t). A page's `choose` may draw what it does not show at once (a coin, the next rank), so it draws
into a copy of the state, which becomes the player's own when the reward is told. What the player says of itself
(`state`, `propensities`) therefore rests on the arms and rewards told so far, also while an arm is pending.
"""

import json
from collections.abc import Callable
from copy import copy
from dataclasses import fields
from hashlib import sha256
from importlib import import_module
from math import isfinite
from typing import Any, Self

import numpy as np

from equipoise.arguments import ArgumentError, number, positive, whole
from equipoise.policies.contract import Policy, now_of, page_of
from equipoise.streams import POLICY, Key, Seed, make_key, uniform

FORMAT = "equipoise player 1"


class Player:
    """Plays `policy` for `horizon` rounds with `k` arms and rewards of sub-Gaussian proxy `sigma`.

    >>> from equipoise.policies.ucb_hare import UCBHare
    >>> player = Player(UCBHare(), k=2, horizon=100, sigma=1.0, seed=3)
    >>> for participant in range(100):
    ...     arm = player.ask()
    ...     player.tell((0.2, 0.9)[arm])
    >>> player.state["round"], sum(player.state["n"])
    (100, 100)
    """

    def __init__(self, policy: Policy, k: int, horizon: int, sigma: float, seed: Seed = None, run: int = 0) -> None:
        self._page = page_of(policy)
        self.policy = policy
        self.k = whole("k", k)
        self.horizon = whole("horizon", horizon, 1, 2**53)
        self.sigma = positive("sigma", sigma)
        self.key = make_key(seed)
        self.run = whole("run", run, 0, 2**53)  # as far as every reader of JSON keeps whole numbers
        self._params = policy.params(self.k, self.horizon, self.sigma)
        self._state = self._page.allocate_plain(self.k)
        self._page.verbs["init"](self._params, self._state)
        self._history: list[tuple[int, float]] = []
        self._pending: tuple[int, Any] | None = None  # the arm asked for, and the state in which it was chosen
        self._indices: list[float] = []  # of all arms, once exploitation has begun

    @property
    def history(self) -> list[tuple[int, float]]:
        """The arm and the reward of every round told so far."""
        return self._history.copy()

    def ask(self) -> int:
        """The arm of the next round: the same one until its reward is told."""
        if self._pending is None:
            self._pending = self._next()
        return self._pending[0]

    def tell(self, reward: float) -> None:
        """The reward of the arm asked for."""
        if self._pending is None:
            raise ArgumentError(f"reward is {reward!r}, but no arm is waiting for one; call ask() first.")
        value = number("reward", reward)
        arm, state = self._pending
        self._page.verbs["update"](self._params, state, arm, value)
        self._state, self._pending = state, None
        self._history.append((arm, value))
        if self._indices:
            self._indices[arm] = self._index(arm)

    def propensities(self) -> list[float]:
        """The probability of each arm in the next round, given the arms and rewards told so far."""
        self._need_a_round()
        out = np.zeros(self.k)
        if self._state.now.exploiting:
            out[self._leader()] = 1.0
        elif "propensity" in self._page.verbs:
            self._page.verbs["propensity"](self._params, self._state, out)
        else:
            raise ArgumentError(f"policy is {self.policy!r}, whose page has no propensity; define it beside choose.")
        return out.tolist()

    @property
    def state(self) -> dict[str, Any]:
        """What a person may want to see, ready for JSON; None stands where there is no finite number.

        `round` counts the rounds told; `phase` is "steady" where the policy's rule knows no phases.
        """
        n, s = self._state.n.tolist(), self._state.s.tolist()
        means = [s[i] / n[i] if n[i] else None for i in range(self.k)]
        exploits = self._page.exploits()
        phase = "exploitation" if self._state.now.exploiting else "preparation"
        seen = {
            "policy": self.policy.label,
            "horizon": self.horizon,
            "round": len(self._history),
            "phase": phase if exploits else "steady",
            "pending": None if self._pending is None else self._pending[0],
            "n": n,
            "means": means,
            "radii": [self._index(i) - m if exploits and m is not None else None for i, m in enumerate(means)],
        }
        if "info" in self._page.verbs:
            seen = seen | self._page.verbs["info"](self._params, self._state) | seen  # the player's own words stand
        return plain(seen, lambda x: None)  # type: ignore[no-any-return]

    def to_json(self) -> str:
        """All that `from_json` needs to go on identically: every number is kept to its last bit."""
        saved = {
            "format": FORMAT,
            "module": type(self.policy).__module__,
            **told(self.policy),
            "k": self.k,
            "horizon": self.horizon,
            "sigma": self.sigma,
            "key": self.key,
            "run": self.run,
            "pending": None if self._pending is None else self._pending[0],
            "arrays": {name: getattr(self._state, name) for name in self._page.arrays()},
            "now": now_of(self._page, self._state),
            "history": self._history,
        }
        text = write(saved)
        return f'{text[:-1]}, "digest": "{digest(text)}"}}'

    @classmethod
    def from_json(cls, text: str, policy: Policy | None = None) -> Self:
        """The player that `to_json` wrote. A policy of your own must be given again, with the same arguments."""
        saved = read(text)
        policy = saved_policy(saved, policy)
        player = cls(policy, saved["k"], saved["horizon"], saved["sigma"], 0, saved["run"])
        player.key = Key(*map(int, saved["key"]))
        player._restore(saved)
        if saved["pending"] is not None and player.ask() != saved["pending"]:
            raise changed(policy)
        return player

    def _restore(self, saved: dict[str, Any]) -> None:
        page, state = self._page, self._state
        if saved["arrays"].keys() != page.arrays().keys() or set(saved["now"]) != set(page.now.names or ()):
            raise changed(self.policy)
        for name, values in saved["arrays"].items():
            getattr(state, name)[:] = values
        for name, value in saved["now"].items():
            setattr(state.now, name, page.now[name].type(value).item())
        self._history = [(int(arm), float(reward)) for arm, reward in saved["history"]]

    def _need_a_round(self) -> None:
        if len(self._history) == self.horizon:
            raise ArgumentError(f"horizon is {self.horizon}, and no round is left; play a Player with a longer one.")

    def _next(self) -> tuple[int, Any]:
        """The arm of the next round, and the state in which it is chosen."""
        self._need_a_round()
        if self._state.now.exploiting:
            return self._leader(), self._state
        state = self._page.state(*map(copy, self._state))
        u = uniform(self.key, self.run, POLICY, len(self._history))
        arm = self._page.verbs["choose"](self._params, state, u)
        return whole("what the page's choose returned", arm, 0, self.k - 1), state

    def _leader(self) -> int:
        """The arm of largest index, the lowest of equals. Only a pulled arm's index moves, so the others are kept."""
        if not self._indices:
            self._indices = [self._index(i) for i in range(self.k)]
        return self._indices.index(max(self._indices))

    def _index(self, i: int) -> float:
        n, s = self._state.n.item(i), self._state.s.item(i)
        return float(self._page.verbs["index"](self._params, n, s))


def plain(value: Any, unusual: Callable[[float], Any]) -> Any:
    """`value` in Python's own numbers, lists and dicts; inf and nan, which JSON cannot say, as `unusual` has them."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: plain(entry, unusual) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry, unusual) for entry in value]
    return unusual(value) if isinstance(value, float) and not isfinite(value) else value


def write(value: Any) -> str:
    """JSON from which `meaning` has every number back to its last bit, inf and nan too."""
    return json.dumps(plain(value, lambda x: {"float": repr(x)}), default=repr)


def meaning(text: str) -> Any:
    return json.loads(text, object_hook=lambda entry: float(entry["float"]) if entry.keys() == {"float"} else entry)


def digest(text: str) -> str:
    """A fingerprint of a JSON text that looks past spaces, the order of keys, and 1 against 1.0."""
    numbers = json.loads(text, parse_int=float)
    return sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()[:16]


def read(text: str) -> dict[str, Any]:
    """What `to_json` wrote, if `text` still is that."""
    remedy = "give what Player.to_json returned, unchanged."
    try:
        saved = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise ArgumentError(f"text is {text!r:.60}, which is not JSON; {remedy}") from None
    if not isinstance(saved, dict) or saved.get("format") != FORMAT:
        raise ArgumentError(f"text is {text!r:.60}, not of the format {FORMAT!r}; {remedy}")
    mark = saved.pop("digest", None)
    rest = json.dumps(saved)
    if mark != digest(rest):
        raise ArgumentError(f"text is {text!r:.60}, whose digest {mark!r} does not match; {remedy}")
    return meaning(rest)  # type: ignore[no-any-return]


def told(policy: Policy) -> dict[str, Any]:
    """A policy as the command line names it, and its arguments."""
    return {"policy": policy.command(), "arguments": {f.name: getattr(policy, f.name) for f in fields(policy)}}  # type: ignore[arg-type]


def saved_policy(saved: dict[str, Any], policy: Policy | None) -> Policy:
    """The policy of a saved player: `policy` if it is the same, else one of our own made again."""
    name, arguments, module = saved["policy"], saved["arguments"], saved["module"]
    if policy is None:
        policy = our_own(name, module, arguments)
    wanted = {"policy": name, "arguments": arguments}
    if not isinstance(policy, Policy) or meaning(write(told(policy))) != wanted:
        raise ArgumentError(f"policy is {policy!r}; give the one that was saved, {name} of {module} with {arguments}.")
    return policy


def our_own(name: str, module: str, arguments: dict[str, Any]) -> Policy | None:
    """The policy of this package that has this name in this module; None where there is none (any more)."""
    if not module.startswith("equipoise.policies."):
        return None
    try:
        classes = [c for c in vars(import_module(module)).values() if isinstance(c, type) and issubclass(c, Policy)]
        return next((c(**arguments) for c in classes if c.command() == name), None)
    except (ImportError, TypeError):
        return None


def changed(policy: Policy) -> ArgumentError:
    return ArgumentError(f"policy is {policy!r}, whose page is not the one saved; load it with that one.")
