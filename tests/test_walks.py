"""Walks against SciPy's laws, exact enumeration and the chance of a dip, computed exactly.

Statistical tests have fixed seeds and refuse below a p-value of 1e-6, their false-alarm rate for a fresh seed; each
stands beside a broken variant that it refuses.
"""

# ruff: noqa: F821  (what is sampled, and the walk's verbs, are names that `specialise` fills in)

from functools import cache
from math import exp, fsum, inf, log
from types import FunctionType

import numpy as np
import pytest
from scipy import stats

from equipoise import samplers
from equipoise.engines.compile import COUNTED, specialise
from equipoise.rewards import BernoulliLaw, GaussianLaw
from equipoise.samplers import BITS, by_rejection, hat, relative, rise
from equipoise.streams import begin, make_key
from equipoise.walks import BERNOULLI_WALK, GAUSSIAN_WALK, LOG_2, ROOT, SIZE, sure_bernoulli

ALARM = 1e-6
DRAWS = 500_000


@cache
def compiled(function, **given):
    return specialise(function, given, COUNTED, cache=False)


def swapped(function, **names):
    """A broken variant: the function with other things behind some of the names it uses."""
    return FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)


def nothing(z, d):
    return 0.0


def even(n, p, m, d):
    return 0.0


def started(run):
    stream = np.zeros(4, np.uint64)
    compiled(begin)(stream, make_key(2024), run)
    return stream


def fits(sample, law):
    return stats.kstest(sample, law.cdf).pvalue > ALARM


def counts_fit(counts, law):
    """Chi-square over the values that are likely and the two tails; over some fifty stretches where they are many."""
    low, high = (int(law.ppf(q)) for q in (2e-5, 1.0 - 2e-5))
    edges = np.unique(np.linspace(low, high, min(high - low + 1, 50)).astype(np.int64))  # cells end with these
    chances = np.diff([0.0, *law.cdf(edges), 1.0])
    seen = np.bincount(np.searchsorted(edges, counts), minlength=len(chances))
    return judge(seen, chances)


def judge(seen, chances):
    possible = chances > 1e-12
    if seen[~possible].any():
        return False
    if possible.sum() == 1:
        return True
    expected = chances[possible] / chances[possible].sum() * seen.sum()
    return stats.chisquare(seen[possible], expected).pvalue > ALARM


# The samplers.


def take_binomial(n, p, stream, out):
    for i in range(len(out)):
        out[i] = binomial(n, p, stream)


def take_fair(n, stream, out):
    for i in range(len(out)):
        out[i] = binomial_half(n, stream)


def take_half(level, successes, stream, out):
    for i in range(len(out)):
        out[i] = half_of(level, successes, stream)


def drawn(take, *arguments, size=DRAWS, **other):
    """Counts by a sampler, or by a broken one given for its name."""
    out = np.empty(size, np.int64)
    given = {name: other.get(name, getattr(samplers, name)) for name in ("binomial", "binomial_half", "half_of")}
    compiled(take, **given)(*arguments, started(hash(arguments) % 2**31), out)
    return out


COINS = [
    (1, 0.3), (1, 0.0), (7, 1.0), (1 << 40, 0.0), (2, 0.5), (8, 0.9), (16, 0.5), (32, 0.3), (64, 0.156), (64, 0.157),
    (256, 0.04), (1024, 0.99), (1 << 20, 0.3), (1 << 20, 9.5e-6), (1 << 40, 0.3), (1 << 40, 0.5), (1 << 40, 1e-9),
    (1 << 40, 1e-12), (1 << 40, 1.0 - 1e-9), (1 << 40, 1e-300),
]  # fmt: skip


@pytest.mark.parametrize(("n", "p"), COINS)
def test_binomial_has_its_law(n, p):
    assert counts_fit(drawn(take_binomial, n, p), stats.binom(n, p))


@pytest.mark.parametrize(("n", "p"), [(64, 0.3), (1 << 20, 0.3), (1 << 40, 0.3), (1 << 40, 1e-9)])
def test_a_binomial_that_is_not_its_law_is_refused(n, p):
    unweighed = swapped(samplers.binomial, by_rejection=swapped(by_rejection, relative=even))
    assert not counts_fit(drawn(take_binomial, n, p, binomial=unweighed), stats.binom(n, p))
    off = p + 0.02 * (p * (1.0 - p) / n) ** 0.5  # the mean, by two hundredths of a standard deviation
    assert not counts_fit(drawn(take_binomial, n, p), stats.binom(n, off))


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 129, BITS - 1, BITS, BITS + 1, 5000])
def test_fair_coins_have_their_law(n):
    sample = drawn(take_fair, n)
    assert counts_fit(sample, stats.binom(n, 0.5))
    assert not counts_fit(sample, stats.binom(n + 1, 0.5))


SHUFFLES = [(level, s) for level in (1, 2, 3) for s in range((1 << level) + 1)] + [
    (5, 16), (6, 11), (8, 128), (8, 200), (10, 3), (10, 1020), (12, 2048), (20, 1 << 19), (20, 300_000), (20, 900_001),
]  # fmt: skip


@pytest.mark.parametrize(("level", "successes"), SHUFFLES)
def test_successes_in_the_first_half_are_hypergeometric(level, successes):
    size = 1 << level
    assert counts_fit(drawn(take_half, level, successes), stats.hypergeom(size, successes, size // 2))


def test_successes_in_the_first_half_of_very_many():
    """The law is symmetric, so at 2^40 it is normal up to relative errors of 1e-11; with few successes, binomial."""
    n = 1 << 40
    for successes in (n // 2, 3 * n // 8, n - n // 10):
        spread = (successes / n * (1 - successes / n) * n / 4) ** 0.5
        z = (drawn(take_half, 40, successes) - successes / 2) / spread
        assert fits(z, stats.norm)
        assert not fits(1.03 * z, stats.norm)
    assert counts_fit(drawn(take_half, 40, 1000), stats.binom(1000, 0.5))


def test_halves_that_are_not_hypergeometric_are_refused():
    def upside_down(level, successes, stream):
        return half_of(level, min(successes, 2**level - successes), stream)

    unweighed = swapped(samplers.half_of, rise=nothing)
    for broken, level, successes in [(unweighed, 2, 2), (unweighed, 8, 200), (unweighed, 20, 300_000)]:
        law = stats.hypergeom(1 << level, successes, 1 << (level - 1))
        assert not counts_fit(drawn(take_half, level, successes, half_of=broken), law)
    flipped = swapped(upside_down, half_of=samplers.half_of)
    assert not counts_fit(drawn(take_half, 5, 20, half_of=flipped), stats.hypergeom(32, 20, 16))


def test_seven_halves_in_ten_are_kept():
    """The chance to keep one is the binomial chance of the middle over the hypergeometric."""
    for level in range(1, 11):
        half = 1 << (level - 1)
        rare = np.arange(half + 1)
        kept = stats.binom.pmf(rare // 2, rare, 0.5) / stats.hypergeom.pmf(rare // 2, 2 * half, rare, half)
        assert kept.min() > 0.7
        assert kept.max() < 1.0 + 1e-9


def rise_by_sum(z, d):
    """log of (z(z + 1)…(z + d − 1))/z^d, factor by factor."""
    if d >= 0:
        return fsum(np.log1p(np.arange(d) / z))
    return -fsum(np.log1p(-np.arange(1, -d + 1) / z))


@pytest.mark.parametrize("z", [1, 2, 14, 15, 16, 17, 40, 1000, 1 << 20, 1 << 30, 1 << 39, 1 << 40])
def test_ratios_of_factorials_lose_nothing(z):
    """Six standard deviations of a fair coin and, where the sum is short, to the ends."""
    far = int(3 * (2 * z) ** 0.5)
    for d in {0, 1, -1, z // 5, z // 4, z // 3, 2 * z, -z // 3, 1 - z, far, -far}:
        if 1 - z <= d and abs(d) <= far + 100:
            assert rise(z, d) == pytest.approx(rise_by_sum(z, d), rel=2e-14, abs=1e-12)


@pytest.mark.parametrize("p", [0.5, 0.4, 0.2, 0.05, 1e-3, 1e-6])
@pytest.mark.parametrize("mean", [10, 10.3, 11, 14, 20, 50, 300, 1e4, 1e6])
def test_rejection_is_exact_where_it_is_used(mean, p):
    """Hörmann's constants are fitted: the hat is nowhere too low, and what is kept unseen would have been kept."""
    n = int(np.ceil(mean / p))
    (a, b, alpha, v_r), m = hat(n, p), int((n + 1) * p)
    u = np.linspace(-0.5, 0.5, 4002)[1:-1]
    us = 0.5 - np.abs(u)
    k = np.floor((2.0 * a / us + b) * u + n * p + 0.5)
    chance = [exp(relative(n, p, m, int(x) - m)) if 0 <= x <= n else 0.0 for x in k]
    accepted = chance * (a / us**2 + b) / alpha
    assert accepted.max() < 1.0
    assert accepted[us >= 0.07].min() > v_r
    if n < 10**6:  # beyond, SciPy's own logarithms lose digits
        likely = (k >= 0) & (k <= n) & (accepted > 1e-3)
        law = stats.binom(n, p)
        np.testing.assert_allclose(np.array(chance)[likely], law.pmf(k[likely]) / law.pmf(m), rtol=1e-9)


# The walks: what is drawn is the law of single rewards, summed.

GAUSSIAN = GaussianLaw(np.array([-3.0, 5e8]), np.array([2.0, 0.5]))
BERNOULLI = BernoulliLaw(np.array([0.0, 0.3, 0.7, 1.0]))


def take_halves(law, arm, level, stream, first, second):
    for i in range(len(first)):
        change = ahead(law, arm, level, stream)
        first[i] = midway(law, arm, level, change, stream)
        second[i] = change - first[i]


def halves(walk, law, arm, level, size=DRAWS):
    first, second = np.empty(size), np.empty(size)
    run = compiled(take_halves, ahead=walk.ahead, midway=walk.midway)
    run(law, arm, level, started(level), first, second)
    return first, second


def are_halves(walk, arm, level):
    """Whether both halves are normal and independent: so are their difference, their sum, one of them and a mixture."""
    scale = GAUSSIAN.sigmas[arm] * SIZE[level - 1] ** 0.5
    x, y = (half / scale for half in halves(walk, GAUSSIAN, arm, level, 400_000))
    return all(fits(z, stats.norm) for z in ((x - y) / 2**0.5, (x + y) / 2**0.5, x, 0.6 * x - 0.8 * y))


@pytest.mark.parametrize(("arm", "level"), [(0, 1), (1, 2), (1, 17), (0, 40)])
def test_gaussian_halves_are_independent_sums_of_noise(arm, level):
    assert are_halves(GAUSSIAN_WALK, arm, level)
    for off in (0.95, 1.05):
        wrong = swapped(GAUSSIAN_WALK.midway, ROOT=ROOT * off**0.5)  # the bridge's variance, by 5 %
        assert not are_halves(GAUSSIAN_WALK._replace(midway=wrong), arm, level)


def test_bases_leave_noise_and_whole_numbers():
    assert [GAUSSIAN_WALK.base(GAUSSIAN, arm) for arm in (0, 1)] == [-3.0, 5e8]
    assert [BERNOULLI_WALK.base(BERNOULLI, arm) for arm in range(4)] == [0.0] * 4


def unfold(law, arm, level, stream, seen):
    """Counts how often 2^level rewards come in each order, by halving down to single rewards."""
    changes = np.empty(1 << level)
    for _ in range(DRAWS):
        changes[0] = ahead(law, arm, level, stream)
        for depth in range(level):
            for i in range((1 << depth) - 1, -1, -1):
                change = changes[i]
                changes[2 * i] = midway(law, arm, level - depth, change, stream)
                changes[2 * i + 1] = change - changes[2 * i]
        order = 0
        for i in range(1 << level):
            order = 2 * order + int(changes[i])
        seen[order] += 1


@pytest.mark.parametrize("arm", [0, 1, 2, 3])
def test_a_bernoulli_walk_cut_to_single_rewards_shows_every_order_with_its_chance(arm):
    def orders(walk):
        seen = np.zeros(256, np.int64)
        compiled(unfold, ahead=walk.ahead, midway=walk.midway)(BERNOULLI, arm, 3, started(arm), seen)
        return seen

    p = BERNOULLI.means[arm]
    ones = np.array([order.bit_count() for order in range(256)])
    chances = p**ones * (1.0 - p) ** (8 - ones)
    assert judge(orders(BERNOULLI_WALK), chances)
    if 0.0 < p < 1.0:
        unweighed = swapped(BERNOULLI_WALK.midway, half_of=swapped(samplers.half_of, rise=nothing))
        assert not judge(orders(BERNOULLI_WALK._replace(midway=unweighed)), chances)


@pytest.mark.parametrize("level", [1, 5, 40])
def test_bernoulli_halves_are_independent_binomials(level):
    x, y = halves(BERNOULLI_WALK, BERNOULLI, 1, level)
    law = stats.binom(1 << (level - 1), 0.3)
    assert counts_fit(x, law)
    assert counts_fit(y, law)
    # Independent: a board of four by four.
    edges = law.ppf([0.25, 0.5, 0.75])
    seen = np.bincount(4 * np.searchsorted(edges, x) + np.searchsorted(edges, y), minlength=16)
    sides = np.diff([0.0, *law.cdf(edges), 1.0])
    assert judge(seen, np.outer(sides, sides).ravel())
    tied = np.bincount(4 * np.searchsorted(edges, x) + np.searchsorted(edges, x), minlength=16)
    assert not judge(tied, np.outer(sides, sides).ravel())


# Whether a stretch is sure: the bounds of docs/leap.md.

LEVELS = range(1, 8)


@cache
def worst_dip(level, a0, a1):
    """The largest chance, over the number of successes S, that an order of S ones and l − S zeros touches the chord.

    chances[S, x] is the chance of x successes so far and no touch; what touches is taken out and summed.
    """
    size = 1 << level
    successes = np.arange(size + 1)[:, None]
    x = np.arange(size + 1)[None, :]
    chances = np.zeros((size + 1, size + 1))
    chances[:, 0] = 1.0
    touched = np.zeros(size + 1)
    for m in range(1, size):
        up = chances * np.clip(successes - x, 0, None) / (size - m + 1)
        chances = chances * np.clip(size - successes - (m - 1 - x), 0, None) / (size - m + 1)
        chances[:, 1:] += up[:, :-1]
        above = a0 + (a1 - a0) * m / size + x - successes * m / size
        touched += np.where(above <= 1e-12, chances, 0.0).sum(axis=1)
        chances[above <= 1e-12] = 0.0
    return float(touched.max())


def slacks(level):
    """Slacks from a touch to where hardly a dip is left, whole and not."""
    size = 1 << level
    return [x for x in (0.0, 0.01, 0.5, 1.0, 1.3, 2.0, 3.7, 6.0, 9.5, 14.2, 22.0, 33.3, 64.0) if x <= size]


def dips_too_likely(sure):
    """The (level, a0, a1, cut) at which a stretch is called sure, yet dips with a chance above exp(−cut)."""
    law = BernoulliLaw(np.array([0.5]))
    return [
        (level, a0, a1, cut)
        for level in LEVELS
        for a0 in slacks(level)
        for a1 in slacks(level)
        for cut in (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
        if sure(law, 0, level, a0, a1, cut) and worst_dip(level, a0, a1) > exp(-cut)
    ]


def test_a_sure_bernoulli_stretch_dips_no_more_often_than_it_may():
    assert dips_too_likely(sure_bernoulli) == []


def test_sure_is_not_said_too_rarely():
    """Each part of the bound is used, and away from the ends it is worth its while: the cut is true within 1 + 40 %."""
    law = BernoulliLaw(np.array([0.5]))
    assert worst_dip(3, 2.1, 2.1) == 0.0
    assert sure_bernoulli(law, 0, 3, 2.1, 2.1, inf)
    for a in (9.5, 14.2):
        cut = -log(worst_dip(7, a, a))
        assert sure_bernoulli(law, 0, 7, a, a, cut / 1.4 - 1.0)


def test_bounds_that_are_too_generous_are_refused():
    def sixteen(law, arm, level, a0, a1, cut):  # in place of 8
        return sure_bernoulli(law, arm, level, a0, a1, (cut - LOG_2) / 2.0)

    def one_side(law, arm, level, a0, a1, cut):  # nothing but the end is looked at
        return a1 > 0.0 and a0 > 0.0 and (a1 > cut or sure_bernoulli(law, arm, level, a0, a1, cut))

    shorter = swapped(sure_bernoulli, SIZE=SIZE / 2.0)
    for broken in (sixteen, one_side, shorter):
        assert dips_too_likely(broken)


def test_the_proven_bound_is_at_least_twice_the_chance_of_a_dip():
    """What docs/leap.md says of 2·exp(−8·a0·a1/(l + 2)), on its own, down to l = 2."""
    for level in LEVELS:
        for a0 in slacks(level):
            for a1 in slacks(level):
                bound = 2.0 * exp(-8.0 * a0 * a1 / (SIZE[level] + 2.0))
                assert worst_dip(level, a0, a1) <= bound / 2.0 * (1.0 + 1e-9)


def test_the_exact_dips_are_those_of_all_orders():
    """The recursion against counting, at l = 8."""
    a0, a1, often = 1.3, 0.6, [[0, 0] for _ in range(9)]
    for order in range(256):
        path = np.cumsum([int(bit) for bit in f"{order:08b}"])
        m = np.arange(1, 8)
        dips = np.any(a0 + (a1 - a0) * m / 8 + path[:7] - path[7] * m / 8 <= 0)
        often[path[7]][0] += dips
        often[path[7]][1] += 1
    assert worst_dip(3, a0, a1) == pytest.approx(max(dips / orders for dips, orders in often))


def test_a_bernoulli_arm_without_luck_walks_along_the_chord():
    for arm in (0, 3):
        assert BERNOULLI_WALK.sure(BERNOULLI, arm, 40, 0.0, 1e-9, inf)
        assert not BERNOULLI_WALK.sure(BERNOULLI, arm, 1, 5.0, 0.0, 1.0)
        assert not BERNOULLI_WALK.sure(BERNOULLI, arm, 1, 5.0, -1.0, 1.0)


@pytest.mark.parametrize("walk", [GAUSSIAN_WALK, BERNOULLI_WALK])
def test_a_stretch_with_an_end_under_the_boundary_is_never_sure(walk):
    law = GaussianLaw(np.array([0.0]), np.array([0.5])) if walk is GAUSSIAN_WALK else BernoulliLaw(np.array([0.3]))
    for level in range(41):
        for a0 in (0.0, 1e-9, 1.0, 1e13):
            assert not walk.sure(law, 0, level, a0, 0.0, 1.0)
            assert not walk.sure(law, 0, level, a0, -1e-9, 1.0)
            assert not walk.sure(law, 0, level, a0, -1e13, 1.0)
            assert not walk.sure(law, 0, level, -1e-4, a0, 1.0)
            assert not walk.sure(law, 0, level, -1e-4, -a0, 1.0)


def bridges(level, sigma, runs, rng):
    """The inner points of Gaussian walks from 0 to 0."""
    steps = sigma * rng.standard_normal((runs, 1 << level))
    return np.cumsum(steps - steps.mean(axis=1, keepdims=True), axis=1)[:, :-1]


@pytest.mark.parametrize(
    ("level", "a0", "a1"), [(1, 1.0, 1.0), (3, 2.0, 5.0), (5, 8.0, 4.0), (6, 9.0, 9.0), (6, 0.5, 30.0)]
)
def test_a_sure_gaussian_stretch_dips_no_more_often_than_it_may(level, a0, a1):
    law = GAUSSIAN
    cut = 2.0 * a0 * a1 / (SIZE[level] * law.sigmas[0] ** 2)
    assert GAUSSIAN_WALK.sure(law, 0, level, a0, a1, cut * (1.0 - 1e-9))
    assert not GAUSSIAN_WALK.sure(law, 0, level, a0, a1, cut * (1.0 + 1e-9))
    share = np.arange(1, 1 << level) / SIZE[level]
    path = bridges(level, law.sigmas[0], 100_000, np.random.default_rng(level))
    dips = int(np.any(a0 * (1.0 - share) + a1 * share + path <= 0.0, axis=1).sum())

    def allowed(cut):
        return stats.binomtest(dips, len(path), exp(-cut), alternative="greater").pvalue > ALARM

    assert allowed(cut)
    # The walk is seen at whole rounds only, as if it began 0.58 σ higher (Siegmund); with that the bound is the chance.
    low = 2.0 * (a0 + 0.65 * law.sigmas[0]) * (a1 + 0.65 * law.sigmas[0]) / (SIZE[level] * law.sigmas[0] ** 2)
    assert not allowed(1.1 * low + 0.1)


@pytest.mark.parametrize(("walk", "law"), [(GAUSSIAN_WALK, GAUSSIAN), (BERNOULLI_WALK, BernoulliLaw(np.array([0.3])))])
def test_a_stride_at_one_height_is_short_enough_to_have_a_chance(walk, law):
    for slack in (40.0, 999.0, 1e5):
        level = int(np.log2(walk.stride(law, 0, slack)))
        assert walk.sure(law, 0, level, slack, slack, 7.0 - LOG_2)
