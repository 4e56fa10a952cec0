"""Makes an engine out of its source, a page, a reward family and a recorder: interpreted, or compiled for the CPU.

An engine is plain Python that calls `init`, `choose`, `index`, `draw` … by name, and leaves these names open.
`specialise` rebuilds it over a copy of its module's globals in which they are the page's, the family's and the
recorder's, and compiles all that they call in turn. Another target is another pair of decorators:
`numba.cuda.jit(device=True)` takes the same pages.

Numba's cache on disk looks only at the file of the function itself and keeps functions of one name in one place, so a
hash of every source and every constant that was reached stands in the name of the compiled engine. An edited page
thus compiles anew, and an engine that was compiled before starts at once.
"""

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np

Function = Callable[..., Any]
Given = Mapping[str, Function]


class Target(NamedTuple):
    """Decorators: of what an engine calls, and of the engine, which may stand in a cache on disk."""

    name: str
    callee: Function
    engine: Function


def numba_target(name: str, **options: Any) -> Target:
    """All that an engine calls is compiled into it: exploitation is 3 times faster than with calls."""
    callee = numba.njit(nogil=True, forceinline=True, **options)
    return Target(name, callee, numba.njit(nogil=True, cache=True, **options))


def as_it_is(function: Function) -> Function:
    return function


# LEAN counts no references to arrays: a round of preparation is 4 times faster. What allocates needs COUNTED.
LEAN = numba_target("lean", _nrt=False)
COUNTED = numba_target("counted")
PLAIN = Target("plain", as_it_is, as_it_is)


def specialise(
    entry: Any, given: Given, target: Target = LEAN, types: Sequence[type] = (), cache: bool = True
) -> Function:
    """`entry` with what is `given` for the names that are left open, for a target.

    `types` are those of its arguments that modules define: they are part of what a cached engine must fit.
    """
    tag, cacheable = fingerprint(entry, given, types)
    done: dict[FunctionType, Function] = {}

    def build(function: FunctionType, decorate: Function) -> Function:
        if function not in done:
            space = dict(function.__globals__)
            copy = FunctionType(
                function.__code__, space, function.__name__, function.__defaults__, function.__closure__
            )
            copy.__module__, copy.__qualname__ = function.__module__, f"{function.__qualname__}_{target.name}_{tag}"
            done[function] = decorate(copy)  # compiled at its first call, when `space` is complete
            for name, callee in called(function, given):
                space[name] = build(callee, target.callee) if isinstance(callee, FunctionType) else callee
        return done[function]

    return build(entry, target.engine if cache and cacheable else target.callee)


def called(function: FunctionType, given: Given) -> Iterator[tuple[str, Any]]:
    """The names of globals in a function's code, with what stands behind them: `given` fills in what is left open."""
    for name in function.__code__.co_names:
        if name in function.__globals__:
            yield name, function.__globals__[name]
        elif name in given:
            yield name, given[name]


def fingerprint(entry: FunctionType, given: Given, types: Sequence[type]) -> tuple[str, bool]:
    """A hash of all sources and constants that `entry` reaches, and whether they can be told apart by it."""
    modules = {kind.__module__ for kind in types}
    constants = {f"{kind.__module__}.{kind.__qualname__}" for kind in types}
    seen: set[FunctionType] = set()
    waiting = [entry]
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        modules.add(function.__module__)
        if function.__closure__:
            return "", False
        for name, value in called(function, given):
            value = getattr(value, "py_func", value)
            if isinstance(value, FunctionType):
                waiting.append(value)
                code = value.__code__
                constants.add(
                    f"{function.__module__}.{name}={value.__qualname__}:{code.co_firstlineno}:{code.co_code!r}"
                )
            elif isinstance(value, type):
                modules.add(value.__module__)
            elif isinstance(value, np.ndarray):
                constants.add(f"{function.__module__}.{name}={hashlib.sha256(value.tobytes()).hexdigest()}")
            elif not (isinstance(value, ModuleType) or callable(value)):
                constants.add(f"{function.__module__}.{name}={value!r}")
    sources = {name: source(name) for name in sorted(modules)}
    content = repr((sources, sorted(constants), numba.__version__, np.__version__))
    return hashlib.sha256(content.encode()).hexdigest()[:16], None not in sources.values() and "__main__" not in modules


def source(module: str) -> str | None:
    """A module's text; None where there is no file to read it from."""
    try:
        return inspect.getsource(sys.modules[module])
    except (KeyError, OSError, TypeError):
        return "" if module == "builtins" else None
