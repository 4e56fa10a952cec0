"""p-means and regret against sixty-digit arithmetic, their own theorems, and formulas that must fail."""

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.arguments import ArgumentError
from equipoise.welfare import cumulative_regret_of_gaps, inverse_penalty, pmean, regret, regret_of_gaps

DIGITS = 1e-12  # relative
EXPONENTS = [-1000.0, -20.0, -2.0, -1.0, -0.5, -1e-12, 0.0, 1e-12, 0.5, 1.0, 2.0, 1000.0]
REWARDS = {
    "plain": [10.0, 1000.0, 333.0, 0.25],
    "one": [7.0],
    "equal": [3.0, 3.0, 3.0],
    "close": [1.0, 1.0 - 1e-14, 1.0 - 3e-15],
    "wide": [1e-300, 1.0, 1e300],
    "tiny": [2.3e-308, 4e-306, 1e-300],
    "huge": [1e308, 1.7e308, 3e307],
    "nearly all tiny": [1e-300] * 30 + [1e300],
}
repeatable = settings(deadline=None, derandomize=True)

rewards = st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=12)
exponents = st.floats(-1000.0, 1000.0) | st.sampled_from([-inf, inf, -1e300, 1e300, 0.0, 5e-324, -5e-324])


def exact_pmean(x: list[Decimal], p: float, weights: list[int] | None = None) -> Decimal:
    """The definition, in the caller's decimal context."""
    weights = weights or [1] * len(x)
    if p == 0.0:
        return (sum(w * a.ln() for w, a in zip(weights, x, strict=True)) / sum(weights)).exp()
    power = Decimal(p)
    return (sum(w * a**power for w, a in zip(weights, x, strict=True)) / sum(weights)) ** (1 / power)


def sixty_digits() -> Context:
    return Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)


def exact_regret_of_gaps(gaps: list[float], p: float, best: float, weights: list[int] | None = None) -> float:
    with localcontext(sixty_digits()):
        x = [Decimal(best) - Decimal(gap) for gap in gaps]
        return float(Decimal(best) - exact_pmean(x, p, weights))


def naive_pmean(x: list[float], p: float) -> float:
    """The formula as one would write it: the variant that must fail."""
    with np.errstate(all="ignore"):
        return float(np.mean(np.array(x) ** p) ** (1.0 / p))


def naive_regret_of_gaps(gaps: list[float], p: float, best: float) -> float:
    return best - naive_pmean([best - gap for gap in gaps], p)


def pmean_is_exact(function: Callable[[list[float], float], float], x: list[float], p: float) -> bool:
    with localcontext(sixty_digits()):
        truth = float(exact_pmean([Decimal(a) for a in x], p))
    return function(x, p) == pytest.approx(truth, rel=DIGITS, abs=0.0)


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("x", REWARDS.values(), ids=REWARDS.keys())
def test_pmean_is_right_to_rounding(x: list[float], p: float) -> None:
    assert pmean_is_exact(pmean, x, p)


@pytest.mark.parametrize("p", EXPONENTS)
def test_a_rare_round_that_dominates_is_weighed_right(p: float) -> None:
    for x in ([1e-6, 1.0], [1.0, 1e-6]):
        with localcontext(sixty_digits()):
            truth = float(exact_pmean([Decimal(a) for a in x], p, [10**12, 1]))
        assert pmean(x, p, [10**12, 1]) == pytest.approx(truth, rel=DIGITS, abs=0.0)


def test_the_naive_pmean_is_not() -> None:
    assert pmean_is_exact(naive_pmean, REWARDS["plain"], -2.0)
    assert not pmean_is_exact(naive_pmean, REWARDS["plain"], -1000.0)
    assert not pmean_is_exact(naive_pmean, REWARDS["plain"], -1e-12)
    assert not pmean_is_exact(naive_pmean, REWARDS["wide"], 2.0)


@repeatable
@given(rewards, exponents, exponents)
def test_pmean_grows_with_p_between_minimum_and_maximum(x: list[float], p: float, other: float) -> None:
    low, high = pmean(x, min(p, other)), pmean(x, max(p, other))
    assert low <= high * (1.0 + DIGITS)
    assert min(x) <= low * (1.0 + DIGITS)
    assert high <= max(x) * (1.0 + DIGITS)


@repeatable
@given(st.lists(st.floats(1e-140, 1e140), min_size=1, max_size=12), exponents, st.floats(1e-140, 1e140))
def test_pmean_is_homogeneous(x: list[float], p: float, factor: float) -> None:
    assert pmean([factor * a for a in x], p) == pytest.approx(factor * pmean(x, p), rel=DIGITS)


@repeatable
@given(st.lists(st.tuples(st.floats(1e-9, 1e9), st.integers(0, 5)), min_size=1), st.floats(1e-9, 1e9), exponents)
def test_weights_are_repetitions(pairs: list[tuple[float, int]], last: float, p: float) -> None:
    x, weights = [a for a, _ in pairs] + [last], [w for _, w in pairs] + [1]
    repeated = pmean(np.repeat(x, weights), p)
    assert pmean(x, p, weights) == pytest.approx(repeated, rel=DIGITS)
    assert pmean(x, p, np.array(weights) / 7e5) == pytest.approx(repeated, rel=DIGITS)
    assert regret(x, p, 1e9, weights) == pytest.approx(regret(np.repeat(x, weights), p, 1e9), rel=1e-9)


def test_the_limits_are_minimum_maximum_and_geometric_mean() -> None:
    x = [4.0, 0.5, 32.0]
    assert pmean(x, -inf) == 0.5
    assert pmean(x, inf) == 32.0
    assert pmean(x, 0.0) == pytest.approx(4.0, rel=DIGITS)
    assert pmean(x, -1e300) == 0.5
    assert pmean(x, 1e300) == 32.0
    assert regret(x, -1.7e308, 1000.0) == pytest.approx(999.5, rel=DIGITS)
    for tiny in (1e-12, 1e-25, 1e-40, 5e-324):  # log M_p = mean z + p·variance of z/2 + ...: 2e-12 at the first
        assert pmean(x, tiny) == pytest.approx(4.0, rel=3.0 * tiny + DIGITS)
        assert pmean(x, -tiny) == pytest.approx(4.0, rel=3.0 * tiny + DIGITS)


def test_one_axis_gives_a_number_not_an_array() -> None:
    assert isinstance(pmean([1.0, 2.0], 0.5), float)
    assert isinstance(pmean(3.0, 0.5), float)
    assert isinstance(regret([1.0, 2.0], 0.5, 2.0), float)
    assert isinstance(regret_of_gaps([1.0, 2.0], 0.5, 2.0), float)
    assert isinstance(inverse_penalty([1.0, 2.0], 0.5, 2.0), float)


def test_a_constant_is_its_own_mean_exactly() -> None:
    assert all(pmean([0.1] * 7, p, np.arange(7)) == 0.1 for p in (*EXPONENTS, -inf, inf))


def test_a_round_without_reward_leaves_no_welfare_for_p_up_to_0() -> None:
    for p in (-inf, -1000.0, -2.0, -1e-12, 0.0):
        assert pmean([0.0, 5.0, 900.0], p) == 0.0
        assert pmean([0.0, 5.0], p, weights=[0, 3]) == pytest.approx(5.0, rel=DIGITS)
        assert regret([0.0, 5.0], p, 5.0) == 5.0
        assert regret_of_gaps([5.0, 0.0], p, 5.0) == 5.0
    assert pmean([0.0, 8.0], 0.5) == pytest.approx(2.0, rel=DIGITS)
    assert pmean([0.0, 8.0], 1.0) == pytest.approx(4.0, rel=DIGITS)
    assert pmean([0.0, 8.0], inf) == 8.0
    assert all(pmean([0.0, 0.0], p) == 0.0 for p in (*EXPONENTS, -inf, inf))


@pytest.mark.parametrize("p", [-inf, -1000.0, -2.0, 0.0, 1.0, inf])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_every_axis_is_obeyed(axis: int, p: float) -> None:
    rng = np.random.default_rng(5)
    x = rng.uniform(0.1, 9.0, (3, 4, 5))
    along = rng.integers(0, 3, x.shape[axis]) + (np.arange(x.shape[axis]) == 1)
    everywhere = rng.uniform(0.0, 1.0, x.shape)
    for weights in (None, along, everywhere):
        slices = np.moveaxis(x, axis, -1)
        of_slice = np.broadcast_to(1.0 if weights is None else weights, x.shape) if weights is not along else None
        heavy = np.broadcast_to(along, slices.shape) if of_slice is None else np.moveaxis(of_slice, axis, -1)
        for function in (lambda a, **k: pmean(a, p, **k), lambda a, **k: regret(a, p, 9.0, **k)):
            result = function(x, weights=weights, axis=axis)
            assert result.shape == slices.shape[:-1]
            for where in np.ndindex(result.shape):
                assert result[where] == pytest.approx(function(slices[where], weights=heavy[where]), rel=1e-14)


GAPS = {
    "minute": [1e-14, 3e-13, 0.0, 7e-15],
    "one minute": [0.0] * 20 + [2e-14],
    "mixed": [999.0, 500.0, 499.9, 1e-9, 0.0],
    "below zero": [-1e-3, 2.0, 5.0],
    "close to all": [1000.0 - 1e-12, 0.0],
    "all bad": [999.9, 999.0, 999.5],
    "almost underflowing": [524.7],  # at p = 1000 the power is the least floating number
}


def regret_is_exact(function: Callable[[list[float], float, float], float], gaps: list[float], p: float) -> bool:
    return function(gaps, p, 1000.0) == pytest.approx(exact_regret_of_gaps(gaps, p, 1000.0), rel=DIGITS, abs=0.0)


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("gaps", GAPS.values(), ids=GAPS.keys())
def test_regret_of_gaps_does_not_cancel(gaps: list[float], p: float) -> None:
    assert regret_is_exact(regret_of_gaps, gaps, p)


def test_the_naive_regret_cancels() -> None:
    assert regret_is_exact(naive_regret_of_gaps, GAPS["all bad"], -2.0)
    assert not regret_is_exact(naive_regret_of_gaps, GAPS["minute"], -2.0)
    assert not regret_is_exact(naive_regret_of_gaps, GAPS["all bad"], -1000.0)


@repeatable
@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=12), exponents)
def test_regret_is_what_welfare_lacks(x: list[float], p: float) -> None:
    assert regret(x, p, 1e3) == pytest.approx(1e3 - pmean(x, p), rel=1e-9, abs=1e-9)
    assert regret(x, p, 1e3) == pytest.approx(regret_of_gaps([1e3 - a for a in x], p, 1e3), rel=1e-9, abs=1e-12)


def test_the_regrets_of_the_best_arm_and_of_worthless_arms_are_0() -> None:
    for p in (*EXPONENTS, -inf, inf):
        assert regret([2.0, 2.0], p, 2.0) == 0.0
        assert regret_of_gaps([0.0, 0.0], p, 2.0) == 0.0
        assert regret([0.0, 0.0], p, 0.0) == 0.0
        assert not np.signbit(regret([2.0], p, 2.0))


def test_regret_at_1_is_the_mean_gap_and_at_minus_infinity_the_largest() -> None:
    gaps, weights = [0.5, 3.0, 1e-7], [2, 1, 10**9]
    assert regret_of_gaps(gaps, 1.0, 10.0, weights) == pytest.approx(np.average(gaps, weights=weights), rel=DIGITS)
    assert regret_of_gaps(gaps, -inf, 10.0, weights) == pytest.approx(3.0, rel=DIGITS)
    assert regret_of_gaps(gaps, -inf, 10.0, [1, 0, 1]) == pytest.approx(0.5, rel=DIGITS)


def test_estimates_slightly_above_the_best_mean_are_taken_as_they_are() -> None:
    assert regret([10.0, 10.1], -2.0, 10.0) < 0.0
    assert regret_of_gaps([10.0 + 1e-12, 0.0], -2.0, 10.0) == 10.0  # rounding, not a negative reward


PREFIX_CASES = {
    "falling": 1000.0 * (1.0 - np.linspace(1.0, 1e-6, 40) ** 3),
    "rising": 1000.0 * (1.0 - np.linspace(1e-6, 1.0, 40) ** 3),
    "minute": np.linspace(0.0, 1e-11, 40),
    "late disaster": np.r_[np.full(20, 1e-9), 1000.0 - 1e-12, np.full(19, 1e-9)],
    "late zero": np.r_[np.full(20, 3.0), 1000.0, np.full(19, 3.0)],
    "early zero": np.r_[1000.0, np.full(39, 3.0)],
}


@pytest.mark.parametrize("p", [-inf, *EXPONENTS, inf])
@pytest.mark.parametrize("gaps", PREFIX_CASES.values(), ids=PREFIX_CASES.keys())
def test_every_prefix_has_its_own_regret(gaps: np.ndarray, p: float) -> None:
    weights = np.arange(1, 41) % 7 + (np.arange(40) == 0)
    curve = cumulative_regret_of_gaps(gaps, p, 1000.0, weights)
    for end in range(1, 41):
        total = regret_of_gaps(gaps[:end], p, 1000.0, weights[:end])
        assert curve[end - 1] == pytest.approx(total, rel=1e-11, abs=0.0)


def test_prefixes_of_groups_are_those_of_each_group() -> None:
    cases = np.array(list(PREFIX_CASES.values())).reshape(2, 3, 40)
    for p in (-1000.0, -2.0, 0.0, 1.0, -inf):
        curves = cumulative_regret_of_gaps(cases, p, 1000.0)
        for where in np.ndindex(2, 3):
            assert np.array_equal(curves[where], cumulative_regret_of_gaps(cases[where], p, 1000.0))


@pytest.mark.parametrize("p", [-inf, -1000.0, -2.0, 0.0, 1.0, inf])
def test_a_prefix_without_weight_has_no_regret(p: float) -> None:
    curve = cumulative_regret_of_gaps([7.0, 1.0, 2.0], p, 10.0, [0, 0, 4])
    assert np.isnan(curve[:2]).all()
    assert curve[2] == pytest.approx(2.0, rel=DIGITS)


@repeatable
@given(st.lists(st.floats(0.1, 5.0), min_size=1, max_size=12), st.floats(0.1, 100.0))
def test_inverse_penalty_gives_regret_and_bounds_it(x: list[float], q: float) -> None:
    """Lemma inverse-conversion, and the equality that its proof begins with."""
    mean_penalty = inverse_penalty(x, q, 5.0) / len(x)
    lost = regret(x, -q, 5.0)
    assert lost == pytest.approx(-5.0 * np.expm1(-np.log1p(mean_penalty) / q), rel=1e-10)
    assert lost <= 5.0 / q * mean_penalty * (1.0 + 1e-10)


def test_inverse_penalty_sums_over_rounds() -> None:
    assert inverse_penalty([1.0, 2.0, 4.0], 2.0, 4.0) == pytest.approx(15.0 + 3.0, rel=DIGITS)
    assert inverse_penalty([1.0, 2.0, 4.0], 2.0, 4.0, [1, 10, 100]) == pytest.approx(45.0, rel=DIGITS)
    assert inverse_penalty([[1.0], [2.0]], 2.0, 4.0, axis=0) == pytest.approx([18.0], rel=DIGITS)
    assert inverse_penalty([1.0 - 1e-15], 2.0, 1.0) == pytest.approx(2.0 * (1.0 - (1.0 - 1e-15)), rel=1e-12)
    assert inverse_penalty([0.0, 4.0], 2.0, 4.0) == inf
    assert inverse_penalty([1e-3, 4.0], 1000.0, 4.0) == inf
    assert inverse_penalty([0.0, 4.0], 2.0, 4.0, weights=[0, 1]) == 0.0


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: pmean([1.0, -0.5], 1.0), "x holds -0.5; give finite numbers of at least 0."),
        (lambda: pmean([1.0, nan], 1.0), "x holds nan"),
        (lambda: pmean([1.0, inf], 1.0), "x holds inf"),
        (lambda: pmean(["many"], 1.0), "x is ['many']"),
        (lambda: pmean([], 1.0), "x has no numbers along axis -1"),
        (lambda: pmean([1.0], nan), "p is nan"),
        (lambda: pmean([1.0], 1.0, axis=1), "axis is 1, but x has 1 axes"),
        (lambda: pmean([1.0, 2.0], 1.0, weights=[1.0, -1.0]), "weights holds -1.0"),
        (lambda: pmean([1.0, 2.0], 1.0, weights=[0, 0]), "weights are 0 throughout"),
        (lambda: pmean([1.0, 2.0], 1.0, weights=[1]), "weights have the shape (1,); give 2 along the axis"),
        (lambda: regret([1.0], 1.0, -1.0), "best is -1.0"),
        (lambda: regret([1.0], 1.0, nan), "best is nan"),
        (lambda: regret_of_gaps([0.0, 11.0], 1.0, 10.0), "gaps holds 11.0; give finite numbers of at most 10."),
        (lambda: regret_of_gaps([nan], 1.0, 10.0), "gaps holds nan"),
        (lambda: cumulative_regret_of_gaps([1.0], nan, 10.0), "p is nan"),
        (lambda: inverse_penalty([1.0], 0.0, 10.0), "q is 0.0"),
        (lambda: inverse_penalty([1.0], 1.0, 0.0), "best is 0.0"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], told: str) -> None:
    with pytest.raises(ArgumentError) as error:
        call()
    assert told in str(error.value)
