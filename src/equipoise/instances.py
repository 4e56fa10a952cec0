"""Instances: the true reward law of every arm, from a family, from a user's own data or noise, or from the paper.

Means are at least 0, because the p-mean needs m_t ≥ 0; single rewards may be negative. A user's own noise is made by
the means by which `rewards.py` makes ours, and is as good:

    from equipoise.streams import normal

    class Skewed(NamedTuple):
        shifts: np.ndarray

    def draw(data, arm, stream):
        return max(normal(stream), -1.0) + data.shifts[arm]

    Instance(means=..., sigma=1.0, draw=draw, data=Skewed(shifts), family="skewed")
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from math import sqrt
from os import PathLike
from reprlib import repr as short
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise import rewards
from equipoise.arguments import ArgumentError, number, positive, whole
from equipoise.rewards import Floats
from equipoise.streams import Stream, published
from equipoise.walks import BERNOULLI_WALK, GAUSSIAN_WALK, Walk

Draw = Callable[[Any, int, Stream], float]


@dataclass(frozen=True, eq=False, repr=False)
class Instance:
    """The true reward law of every arm.

    `sigma` is a sub-Gaussian proxy of every arm: E exp(λ(X − μ)) ≤ exp(λ²σ²/2). `draw(data, arm, stream)` gives a
    reward; it is compiled, and takes its luck from `stream` by `streams.normal` and `streams.random`. Arrays are
    copied and cannot be written to.
    """

    means: Floats
    sigma: float
    draw: Draw
    data: Any
    family: str
    names: tuple[str, ...] = ()
    walk: Walk | None = None

    def __post_init__(self) -> None:
        (means,) = per_arm(means=self.means)
        demand(means >= 0.0, "means", means, "give means of at least 0, because the p-mean needs m_t ≥ 0")
        if not callable(self.draw):
            raise ArgumentError(f"draw is {short(self.draw)}; give a function draw(data, arm, stream).")
        if not isinstance(self.data, tuple) or not hasattr(self.data, "_fields"):
            raise ArgumentError(f"data is {short(self.data)}; give a NamedTuple of arrays.")
        settled = {
            "means": frozen(means),
            "sigma": positive("sigma", self.sigma),
            "data": type(self.data)(*(frozen(x) if isinstance(x, np.ndarray) else x for x in self.data)),
            "names": distinct(self.names or range(len(means)), len(means)),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as a call of the constructor, because NumPy's pickles forget that an array is read-only."""
        return type(self), tuple(getattr(self, f.name) for f in fields(self))

    def __repr__(self) -> str:
        return f"Instance({self.caption})"

    @property
    def k(self) -> int:
        return len(self.means)

    @property
    def best(self) -> float:
        """μ⋆."""
        return float(self.means.max())

    @property
    def gaps(self) -> Floats:
        """μ⋆ − μ of each arm."""
        return self.best - self.means

    @property
    def caption(self) -> str:
        """One line for a figure."""
        return f"{self.family}, k = {self.k}, σ = {self.sigma:.4g}, best mean {self.best:.4g}"

    @classmethod
    def gaussian(cls, means: npt.ArrayLike, sigma: npt.ArrayLike = 1.0) -> "Instance":
        """Normal rewards of standard deviation `sigma`: one number, or one per arm."""
        means, sigmas = per_arm(means=means, sigma=positive("sigma", sigma) if np.isscalar(sigma) else sigma)
        demand(sigmas > 0.0, "sigma", sigmas, "give numbers above 0")
        law = rewards.GaussianLaw(means, sigmas)
        return cls(means, float(sigmas.max()), rewards.draw_gaussian, law, "Gaussian", walk=GAUSSIAN_WALK)

    @classmethod
    def bernoulli(cls, means: npt.ArrayLike) -> "Instance":
        """Rewards 0 and 1; σ = 1/2."""
        (means,) = per_arm(means=means)
        demand((means >= 0.0) & (means <= 1.0), "means", means, "give probabilities in [0, 1]")
        return cls(means, 0.5, rewards.draw_bernoulli, rewards.BernoulliLaw(means), "Bernoulli", walk=BERNOULLI_WALK)

    @classmethod
    def uniform(cls, low: npt.ArrayLike, high: npt.ArrayLike) -> "Instance":
        """Uniform rewards in [low, high]; σ = (high − low)/2."""
        low, high = per_arm(low=low, high=high)
        demand(low <= high, "low", low, "give numbers that are not above high")
        law = rewards.UniformLaw(low, high)
        return cls(low + (high - low) / 2.0, half_range(low, high), rewards.draw_uniform, law, "Uniform")

    @classmethod
    def beta(cls, a: npt.ArrayLike, b: npt.ArrayLike) -> "Instance":
        """Beta rewards in [0, 1], of mean a/(a + b); σ = 1/2."""
        a, b = per_arm(a=a, b=b)
        for name, shape in (("a", a), ("b", b)):
            demand((shape >= 1e-100) & (shape <= 1e100), name, shape, "give numbers above 0, from 1e-100 to 1e100")
        return cls(a / (a + b), 0.5, rewards.draw_beta, rewards.BetaLaw(a, b), "Beta")

    @classmethod
    def triangular(cls, low: npt.ArrayLike, mode: npt.ArrayLike, high: npt.ArrayLike) -> "Instance":
        """Triangular rewards in [low, high], likeliest near `mode`; σ = (high − low)/2."""
        low, mode, high = per_arm(low=low, mode=mode, high=high)
        demand(low <= high, "low", low, "give numbers that are not above high")
        demand((low <= mode) & (mode <= high), "mode", mode, "give numbers from low to high")
        means = low + ((mode - low) + (high - low)) / 3.0
        law = rewards.TriangularLaw(low, mode, high)
        return cls(means, half_range(low, high), rewards.draw_triangular, law, "Triangular")

    @classmethod
    def from_data(cls, observations: Any) -> "Instance":
        """Rewards resampled, with replacement, from those observed; σ = (largest − smallest)/2.

        `observations`: a mapping from arms to rewards; a sequence with the rewards of each arm; a table such as a
        DataFrame with columns `arm` and `reward`, or the path of one in CSV, whose arms come as they first appear.
        """
        arms = {arm: floats(f"observations[{arm!r}]", told) for arm, told in by_arm(observations).items()}
        each = list(arms.values())
        means = np.array([x.mean() for x in each])
        sigma = half_range(np.array([x.min() for x in each]), np.array([x.max() for x in each]))
        law = rewards.ObservedLaw(np.concatenate(each), np.cumsum([0, *map(len, each)], dtype=np.int64))
        return cls(means, sigma, rewards.draw_observed, law, "Resampled data", tuple(map(str, arms)))


# The named instances.


def uniform_means(k: int = 50, low: float = 10, high: float = 1000, sigma: float = 20.0, seed: int = 42) -> Instance:
    """Gaussian arms with means drawn from U[low, high]; by default the paper's Experiments A and B."""
    low, high = number("low", low), number("high", high)
    if not 0.0 <= low <= high:
        raise ArgumentError(f"low is {low} and high is {high}; give 0 ≤ low ≤ high.")
    return Instance.gaussian(published(whole("seed", seed, 0)).uniform(low, high, whole("k", k)), sigma)


def few_good(k: int = 200, sigma: float = 20.0) -> Instance:
    """Five Gaussian arms of means 200, 400, 600, 800, 1000 before k − 5 of mean 10: the paper's Experiment C."""
    return Instance.gaussian([200, 400, 600, 800, 1000] + [10] * (whole("k", k, 5) - 5), sigma)


def near_ties(k: int = 100, sigma: float = 1.0, seed: int = 42) -> Instance:
    """A Gaussian arm of mean 1000, k/10 (at least one) of 950, the others 10, shuffled: the paper's Experiment D.

    The shuffle is NumPy's `default_rng(seed + k)`, as in the authors' code.
    """
    k = whole("k", k, 2)
    near = max(1, k // 10)
    means = np.array([1000.0] + [950.0] * near + [10.0] * (k - 1 - near))
    published(whole("seed", seed, 0) + k).shuffle(means)
    return Instance.gaussian(means, sigma)


def needle(k: int, mean: float, sigma: float = 1.0, arm: int = 0) -> Instance:
    """ν^(j) with j = `arm`, counted from 0: one Gaussian arm of mean μ, the others 0.

    The instances behind the paper's lower bound (Theorem lower-main-restated); `needle_mean` gives its μ.
    """
    k = whole("k", k)
    means = np.zeros(k)
    means[whole("arm", arm, 0, k - 1)] = positive("mean", mean)
    return Instance.gaussian(means, sigma)


def needle_mean(k: int, horizon: int, q: float, sigma: float = 1.0) -> float:
    """μ = σ√(k^q/T): the needle that T rounds can just not find (proof of Theorem lower-main-restated)."""
    try:
        power = float(whole("k", k)) ** positive("q", q)
    except OverflowError:
        raise ArgumentError(f"q is {q!r}, and k^q is above 1e308; give a smaller q.") from None
    return positive("sigma", sigma) * sqrt(power / whole("horizon", horizon))


# What users may give, made into arrays.


def floats(name: str, value: object) -> Floats:
    """`value` as a new array of finite numbers, at least one."""
    try:
        array = np.array(value, np.float64)
    except (TypeError, ValueError):
        array = np.array([number(f"{name}[{i}]", x) for i, x in enumerate(listed(name, value))])
    if array.ndim != 1 or len(array) == 0:
        raise ArgumentError(f"{name} is {short(value)}; give a sequence of at least one number.")
    demand(np.isfinite(array), name, array, "give finite numbers")
    return array


def listed(name: str, value: object) -> list[object]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise ArgumentError(f"{name} is {short(value)}; give a sequence of numbers.")
    return list(value)


def per_arm(**told: object) -> tuple[Floats, ...]:
    """The arguments as arrays of one length; beside a sequence, a single number stands for every arm."""
    numbers = {name for name, value in told.items() if np.isscalar(value) and not isinstance(value, str)}
    arrays = {name: floats(name, value) for name, value in told.items() if name not in numbers}
    if not arrays:
        raise ArgumentError(
            f"{next(iter(told))} is {next(iter(told.values()))!r}; give a sequence, one number per arm."
        )
    lengths = {name: len(array) for name, array in arrays.items()}
    k = max(lengths.values())
    for name, length in lengths.items():
        if length != k:
            longest = max(lengths, key=lambda other: lengths[other])
            raise ArgumentError(f"{name} has {length} numbers and {longest} has {k}; give one per arm in each.")
    return tuple(np.full(k, number(name, told[name])) if name in numbers else arrays[name] for name in told)


def demand(holds: npt.NDArray[np.bool_], name: str, values: Floats, remedy: str) -> None:
    """Refuses `values` where one of them fails, naming the first."""
    if not holds.all():
        first = int(holds.argmin())
        raise ArgumentError(f"{name}[{first}] is {values[first]}; {remedy}.")


def half_range(low: Floats, high: Floats) -> float:
    """The proxy of rewards in [low, high] by Hoeffding's lemma, the largest over the arms."""
    sigma = float((high - low).max()) / 2.0
    if sigma == 0.0:
        raise ArgumentError(
            "sigma is 0, because the reward of every arm is a constant, and policies need one above 0; "
            "let an arm vary, or use Instance.gaussian with a small sigma."
        )
    return sigma


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy that cannot be written to."""
    copy = np.array(array, order="C")
    copy.flags.writeable = False
    return copy


def distinct(names: Iterable[object], k: int) -> tuple[str, ...]:
    result = tuple(map(str, names))
    if len(result) != k or len(set(result)) != k:
        raise ArgumentError(f"names is {short(result)}; give {k} different names, one per arm.")
    return result


# Observations.


def by_arm(observations: Any) -> Mapping[object, Any]:
    """The rewards of each arm, from whatever `Instance.from_data` takes."""
    if isinstance(observations, Mapping):
        arms = observations
    elif isinstance(observations, str | PathLike):
        arms = grouped(read_table(observations))
    elif hasattr(observations, "columns"):
        has_columns("observations", observations.columns)
        pairs = zip(observations["arm"], observations["reward"], strict=True)
        arms = grouped((f"row {i}", *pair) for i, pair in enumerate(pairs))
    elif isinstance(observations, Sequence | np.ndarray):
        arms = dict(enumerate(observations))
    else:
        raise ArgumentError(
            f"observations is {short(observations)}; give a mapping, a sequence per arm, a DataFrame or a CSV file."
        )
    if not arms:
        given = observations if isinstance(observations, str | PathLike) else "observations"
        raise ArgumentError(f"{given} holds no arm; give each arm's rewards.")
    return arms


def grouped(rows: Iterable[tuple[str, object, object]]) -> dict[object, list[float]]:
    """(place, arm, reward) by arm."""
    arms: dict[object, list[float]] = {}
    for place, arm, reward in rows:
        if str(arm).strip() == "" or (not isinstance(arm, str) and str(arm) in ("None", "nan", "<NA>")):
            raise ArgumentError(f"arm is {arm!r} in {place}; give every observation an arm.")
        arms.setdefault(arm, []).append(number("reward", reward, f"a finite number in {place}"))
    return arms


def read_table(path: str | PathLike[str]) -> Iterator[tuple[str, object, object]]:
    """The rows of a CSV file with columns arm and reward."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file, skipinitialspace=True)
            has_columns(str(path), rows.fieldnames or ())
            for row in rows:
                yield f"line {rows.line_num} of {path}", row["arm"], row["reward"]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArgumentError(
            f"observations is {str(path)!r}, which cannot be read: {reason}; give a CSV file."
        ) from None


def has_columns(name: str, columns: Iterable[object]) -> None:
    present = list(columns)
    for column in ("arm", "reward"):
        if column not in present:
            there = ", ".join(map(str, present)) or "none"
            raise ArgumentError(f"{name} lacks the column {column!r}; its columns are: {there}.")
