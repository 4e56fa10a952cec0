"""What the statements of the theory share: how arguments are read, arrays or not, and what a bound looks like."""

import operator
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from equipoise.arguments import ArgumentError

Array: TypeAlias = npt.NDArray[np.float64]


class Bound(NamedTuple):
    """A bound, the term that decides it (one for each value), and the conditions on which it holds."""

    value: Array
    term: npt.NDArray[np.str_]
    conditions: tuple[str, ...]


def largest(terms: dict[str, Array], conditions: tuple[str, ...], value: Array | None = None) -> Bound:
    """The bound that the largest of `terms` decides; its value is that term's unless `value` is given."""
    stacked = np.stack(np.broadcast_arrays(*terms.values()))
    decides = np.asarray(np.array(list(terms))[stacked.argmax(axis=0)])
    return Bound(np.asarray(stacked.max(axis=0) if value is None else value)[()], decides[()], conditions)


def numbers(name: str, value: npt.ArrayLike, wanted: str = "finite numbers") -> Array:
    """`value` as an array of finite floats."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name} is {value!r}; give {wanted}.") from None
    return _all(name, array, np.isfinite(array), wanted)


def wholes(name: str, value: npt.ArrayLike, least: int = 1) -> Array:
    """`value` as an array of whole numbers of at least `least`; floats, which are exact up to 2^53."""
    wanted = f"a whole number of at least {least}"
    array = numbers(name, value, wanted)
    return _all(name, array, (array >= least) & (array == np.floor(array)), wanted)


def positives(name: str, value: npt.ArrayLike) -> Array:
    """`value` as an array of finite numbers above 0."""
    array = numbers(name, value, "a finite number above 0")
    return _all(name, array, array > 0.0, "a finite number above 0")


def between(name: str, value: npt.ArrayLike, low: Array | float, high: Array | float, wanted: str) -> Array:
    """`value` as an array of numbers from `low` to `high`, which `wanted` puts into words."""
    array = numbers(name, value, wanted)
    return _all(name, array, (array >= low) & (array <= high), wanted)


def confidence(delta: npt.ArrayLike | None, T: Array) -> Array:
    """δ, 1/T unless given: in (0, 1]."""
    if delta is None:
        return np.asarray(1.0 / T)
    array = numbers("delta", delta, "a number in (0, 1]")
    return _all("delta", array, (array > 0.0) & (array <= 1.0), "a number in (0, 1]")


def one_whole(name: str, value: object, least: int = 1) -> int:
    """`value` as one int, for what can't be done for arrays at once."""
    array = wholes(name, value, least)  # type: ignore[arg-type]
    if array.ndim:
        raise ArgumentError(f"{name} is {value!r}; give one whole number of at least {least}.")
    return operator.index(int(array))


def _all(name: str, array: Array, right: npt.NDArray[np.bool_], wanted: str) -> Array:
    right = np.broadcast_to(right, np.broadcast_shapes(right.shape, array.shape))
    if not right.all():
        wrong = np.broadcast_to(array, right.shape)[~right]
        raise ArgumentError(f"{name} is {wrong[0]:.12g}; give {wanted}.")
    return array
