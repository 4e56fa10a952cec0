"""The policies by the names that the command line knows, and a user's own from a file."""

import sys
from dataclasses import fields
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from equipoise.arguments import ArgumentError, one_of
from equipoise.policies.contract import Policy
from equipoise.policies.explore_then_ucb import ExploreThenUCB
from equipoise.policies.nash_confidence_bound import NashConfidenceBound
from equipoise.policies.thompson import Thompson
from equipoise.policies.ucb import UCB
from equipoise.policies.ucb1 import UCB1
from equipoise.policies.ucb_hare import UCBHare
from equipoise.policies.uniform import Uniform
from equipoise.policies.welfarist_ucb import WelfaristUCB

POLICIES: tuple[type[Policy], ...] = (
    UCBHare,
    WelfaristUCB,
    ExploreThenUCB,
    NashConfidenceBound,
    UCB,
    UCB1,
    Thompson,
    Uniform,
)


def named(text: str) -> Policy:
    """The policy that `text` names: "ucb-hare", "welfarist-ucb:p=-2", or a file, "my_policy.py:length=20".

    >>> named("explore-then-ucb:p=-2,w=6")
    ExploreThenUCB(p=-2, w=6, scaled=False, unpulled='random')
    """
    name, _, told = text.partition(":")
    if name.endswith(".py"):
        cls = from_file(name)
    else:
        known = {cls.command(): cls for cls in POLICIES}
        cls = known[one_of("policy", name, list(known))]
    allowed = {f.name: f for f in fields(cls)}  # type: ignore[arg-type]
    arguments: dict[str, object] = {}
    for part in told.split(",") if told else ():
        key, equals, value = part.partition("=")
        if key not in allowed or not equals:
            takes = f"takes {', '.join(allowed)}" if allowed else "takes no parameters"
            raise ArgumentError(f"policy is {text!r}, but {name} {takes}; write {name}:name=value,name=value.")
        arguments[key] = literal(value)
    try:
        policy = cls(**arguments)
    except TypeError:
        missing = [f for f in allowed if f not in arguments and not hasattr(cls, f)]
        raise ArgumentError(
            f"policy is {text!r}, but {name} needs {', '.join(missing)}; write {name}:{missing[0]}=value."
        ) from None
    policy.params(2, 2, 1.0)  # a value that cannot be is refused here, by its name
    return policy


def literal(text: str) -> object:
    words: dict[str, object] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def from_file(path: str) -> type[Policy]:
    """The policy that a user's own file defines."""
    if not Path(path).is_file():
        raise ArgumentError(f"policy is {path!r}, but there is no such file; give the path of a policy's page.")
    module = load(Path(path))
    own = [x for x in vars(module).values() if isinstance(x, type) and x.__module__ == module.__name__]
    found = [cls for cls in own if issubclass(cls, Policy)]
    if len(found) != 1:
        raise ArgumentError(f"policy is {path!r}, which defines {len(found)} policies; give a file that defines one.")
    return found[0]


def load(path: Path) -> ModuleType:
    name = path.stem
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path.resolve()):
        return known
    if known is not None:
        raise ArgumentError(f"policy is {str(path)!r}, but a module {name} is loaded already; rename the file.")
    spec = spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise ArgumentError(f"policy is {str(path)!r}; give a file that Python can import.")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ArgumentError(f"policy is {str(path)!r}, which cannot be read: {error}; mend the file.") from error
    return module
