"""Bad input ends here: one sentence that names the argument, its value and the remedy."""

import math
import operator
from collections.abc import Sequence
from difflib import get_close_matches


class ArgumentError(ValueError):
    """An argument that cannot be used; the message says which, its value, and what would do."""


def whole(name: str, value: object, least: int = 1, most: int | None = None) -> int:
    """`value` as an int that is at least `least` (and at most `most`)."""
    wanted = f"a whole number of at least {least}" + (f" and at most {most}" if most is not None else "")
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        if not (isinstance(value, float) and value.is_integer()):
            raise ArgumentError(f"{name} is {value!r}; give {wanted}.") from None
        number = int(value)
    if isinstance(value, bool) or number < least or (most is not None and number > most):
        raise ArgumentError(f"{name} is {value!r}; give {wanted}.")
    return number


def number(name: str, value: object, wanted: str = "a finite number") -> float:
    """`value` as a finite float."""
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name} is {value!r}; give {wanted}.") from None
    if not math.isfinite(result):
        raise ArgumentError(f"{name} is {value!r}; give {wanted}.")
    return result


def positive(name: str, value: object) -> float:
    """`value` as a finite float above 0."""
    result = number(name, value, "a finite number above 0")
    if result <= 0.0:
        raise ArgumentError(f"{name} is {value!r}; give a finite number above 0.")
    return result


def probability(name: str, value: object) -> float:
    """`value` as a float in (0, 1]."""
    result = number(name, value, "a number in (0, 1]")
    if not 0.0 < result <= 1.0:
        raise ArgumentError(f"{name} is {value!r}; give a number in (0, 1].")
    return result


def exponent(name: str, value: object) -> float:
    """`value` as a p of a p-mean: any real number, -inf or inf."""
    wanted = "a number (1 average, 0 Nash, -inf Rawls)"
    if isinstance(value, bool):
        raise ArgumentError(f"{name} is {value!r}; give {wanted}.")
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name} is {value!r}; give {wanted}.") from None
    if math.isnan(result):
        raise ArgumentError(f"{name} is {value!r}; give {wanted}.")
    return result


def tuned_exponent(p: object) -> float:
    """The p that a policy is tuned to: finite, for formulas that need |p|, and at most 1, the plain average."""
    result = number("p", p, "a finite number of at most 1")
    if result > 1.0:
        raise ArgumentError(f"p is {p!r}; give a finite number of at most 1.")
    return result


def one_of(name: str, value: object, choices: Sequence[str]) -> str:
    """`value`, where it is one of `choices`; else the error names the nearest."""
    if value in choices:
        return str(value)
    near = get_close_matches(str(value), choices, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ArgumentError(f"{name} is {value!r}; {hint}choose one of {', '.join(choices)}.")
