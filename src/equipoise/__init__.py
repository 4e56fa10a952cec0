"""equipoise: fair sequential allocation. It counts what each participant can expect, not only the total.

>>> import equipoise as eq
>>> arms = eq.Instance.bernoulli([0.3, 0.5, 0.7])
>>> result = eq.simulate(arms, [eq.UCBHare(), eq.Uniform()], horizon=500, runs=100, seed=1)
>>> result.regret(p=[1, 0, -2], t=500).policy.tolist()
['UCB-HARE', 'UCB-HARE', 'UCB-HARE', 'Uniform', 'Uniform', 'Uniform']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equipoise import figures as figures
    from equipoise import instances as instances
    from equipoise import schedule as schedule
    from equipoise import testing as testing
    from equipoise import theory as theory
    from equipoise import welfare as welfare
    from equipoise.arguments import ArgumentError as ArgumentError
    from equipoise.instances import Instance as Instance
    from equipoise.player import Player as Player
    from equipoise.policies.contract import Policy as Policy
    from equipoise.policies.explore_then_ucb import ExploreThenUCB as ExploreThenUCB
    from equipoise.policies.nash_confidence_bound import NashConfidenceBound as NashConfidenceBound
    from equipoise.policies.thompson import Thompson as Thompson
    from equipoise.policies.ucb import UCB as UCB
    from equipoise.policies.ucb1 import UCB1 as UCB1
    from equipoise.policies.ucb_hare import UCBHare as UCBHare
    from equipoise.policies.uniform import Uniform as Uniform
    from equipoise.policies.welfarist_ucb import WelfaristUCB as WelfaristUCB
    from equipoise.result import Result as Result
    from equipoise.simulation import simulate as simulate

__version__ = "0.1.0"

# The public names and the rooms they live in; a room is opened when a name of it is first used, so `import` is quick.
ROOMS = {
    "figures": "figures",
    "instances": "instances",
    "schedule": "schedule",
    "testing": "testing",
    "theory": "theory",
    "welfare": "welfare",
    "ArgumentError": "arguments",
    "Instance": "instances",
    "Player": "player",
    "Policy": "policies.contract",
    "ExploreThenUCB": "policies.explore_then_ucb",
    "NashConfidenceBound": "policies.nash_confidence_bound",
    "Result": "result",
    "Thompson": "policies.thompson",
    "UCB": "policies.ucb",
    "UCB1": "policies.ucb1",
    "UCBHare": "policies.ucb_hare",
    "Uniform": "policies.uniform",
    "WelfaristUCB": "policies.welfarist_ucb",
    "simulate": "simulation",
}

__all__ = sorted(ROOMS)


def __getattr__(name: str) -> Any:
    if name not in ROOMS:
        raise AttributeError(f"module 'equipoise' has no attribute {name!r}")
    module = import_module(f"equipoise.{ROOMS[name]}")
    found = module if ROOMS[name] == name else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
