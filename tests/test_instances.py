"""Draws against their laws, the promised proxy against the exact moment generating function, and every bad input.

Statistical tests have fixed seeds and refuse below a p-value of 1e-6, their false-alarm rate for a fresh seed; there
are some 40 of them, so all together alarm falsely once in 25,000 seeds.
"""

import pickle
from dataclasses import FrozenInstanceError
from functools import cache
from math import log
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special, stats

from equipoise import instances
from equipoise.arguments import ArgumentError
from equipoise.engines.compile import COUNTED, specialise
from equipoise.instances import Instance
from equipoise.streams import begin, make_key, normal

ALARM = 1e-6
N = 100_000


def take(data, arm, stream, out):
    for i in range(len(out)):
        out[i] = draw(data, arm, stream)  # noqa: F821 (the instance's, given when this is compiled)


@cache
def compiled(function, **given):
    return specialise(function, given, COUNTED, cache=False)


def rewards_of(instance, arm, count=N):
    stream, out = np.zeros(4, np.uint64), np.empty(count)
    compiled(begin)(stream, make_key(2026), arm)
    compiled(take, draw=instance.draw)(instance.data, arm, stream, out)
    return out


# The families, and arm by arm what SciPy says they are. No two arms alike, the best neither first nor last.

GAUSSIAN = Instance.gaussian([1.0, 0.0, 983.0, 7.0], sigma=[1.0, 0.5, 20.0, 3.0])
BERNOULLI = Instance.bernoulli([0.3, 0.0, 1.0, 0.5, 0.001])
UNIFORM = Instance.uniform([-3.0, 2.0, 0.0], [5.0, 40.0, 1e-3])
BETA = Instance.beta([2.0, 0.5, 0.01, 30.0, 1.0, 0.2], [5.0, 0.5, 0.01, 2.0, 1.0, 3.0])
TRIANGULAR = Instance.triangular([0.0, -1.0, 2.0, 0.0], [0.0, 3.0, 2.0, 4.0], [1.0, 4.0, 9.0, 4.0])
OBSERVED = Instance.from_data({"a": [1.0, 2.0, 2.0, 7.0], "b": [-1.0, 3.5], "c": [4.0], "d": [0.0] * 9 + [12.0]})

LAWS = {
    GAUSSIAN: [stats.norm(1, 1), stats.norm(0, 0.5), stats.norm(983, 20), stats.norm(7, 3)],
    UNIFORM: [stats.uniform(-3, 8), stats.uniform(2, 38), stats.uniform(0, 1e-3)],
    BETA: [stats.beta(a, b) for a, b in zip(BETA.data.a, BETA.data.b, strict=True)],
    TRIANGULAR: [stats.triang(0, 0, 1), stats.triang(0.8, -1, 5), stats.triang(0, 2, 7), stats.triang(1, 0, 4)],
    BERNOULLI: [stats.bernoulli(m) for m in BERNOULLI.means],
}
CONTINUOUS = [
    pytest.param(instance, arm, law, id=f"{instance.family}-{arm}")
    for instance, laws in LAWS.items()
    for arm, law in enumerate(laws)
    if instance is not BERNOULLI and (instance, arm) != (BETA, 2)
]
ARMS = [
    pytest.param(instance, arm, id=f"{instance.family}-{arm}")
    for instance in (*LAWS, OBSERVED)
    for arm in range(instance.k)
]


@pytest.mark.parametrize(("instance", "arm", "law"), CONTINUOUS)
def test_draws_follow_their_law(instance, arm, law):
    sample = rewards_of(instance, arm)
    assert stats.kstest(sample, law.cdf).pvalue > ALARM
    assert stats.kstest(sample + law.std() / 10.0, law.cdf).pvalue < ALARM


@pytest.mark.parametrize("arm", range(BERNOULLI.k))
def test_bernoulli_draws_are_zeros_and_ones_of_their_mean(arm):
    sample, mean = rewards_of(BERNOULLI, arm), BERNOULLI.means[arm]
    assert set(sample) <= {0.0, 1.0}
    assert stats.binomtest(int(sample.sum()), N, mean).pvalue > ALARM
    assert stats.binomtest(int(sample.sum()), N, 0.9 * mean + 0.01).pvalue < ALARM


def test_beta_draws_reach_far_into_both_ends():
    """Of a = b = 0.01 half lies below 0.5, most of that below 1e-16, and a thousandth below 1e-270."""
    sample = rewards_of(BETA, 2)
    edges = np.array([1e-270, 1e-200, 1e-100, 1e-50, 1e-16, 1e-3, 0.5, 1.0 - 1e-3, 1.0 - 1e-9])
    counts = np.bincount(np.searchsorted(edges, sample), minlength=len(edges) + 1)

    def agrees(shape):
        chances = np.diff(special.betainc(shape, shape, edges), prepend=0.0, append=1.0)
        return stats.chisquare(counts, N * chances).pvalue > ALARM

    assert agrees(0.01)
    assert not agrees(0.011)


@pytest.mark.parametrize(("a", "b"), [(1e-100, 1e-100), (1e-3, 1e-3), (1e-100, 1e100), (1e100, 1e-100), (1e100, 1e100)])
def test_beta_draws_are_numbers_at_the_extremes(a, b):
    instance = Instance.beta([a], [b])
    sample = rewards_of(instance, 0, 10_000)
    assert ((sample >= 0.0) & (sample <= 1.0)).all()
    sd = (instance.means[0] * (1.0 - instance.means[0]) / (1.0 + a + b)) ** 0.5
    assert abs(sample.mean() - instance.means[0]) <= 5.0 * sd / 100.0 + 1e-12  # 5 standard errors: 6e-7


def test_constant_arms_give_their_constant():
    assert set(rewards_of(Instance.triangular([0.1, 0.0], [0.1, 1.0], [0.1, 2.0]), 0, 100)) == {0.1}
    assert set(rewards_of(Instance.uniform([0.1, 0.0], [0.1, 1.0]), 0, 100)) == {0.1}
    assert set(rewards_of(OBSERVED, 2, 100)) == {4.0}


@pytest.mark.parametrize("arm", range(OBSERVED.k))
def test_data_are_resampled_as_often_as_they_were_observed(arm):
    begins = OBSERVED.data.begins
    observed = OBSERVED.data.rewards[begins[arm] : begins[arm + 1]]
    values, often = np.unique(observed, return_counts=True)
    sample = rewards_of(OBSERVED, arm)
    drawn, counts = np.unique(sample, return_counts=True)
    assert np.array_equal(drawn, values)
    if len(values) > 1:
        expected = N * often / often.sum()
        assert stats.chisquare(counts, expected).pvalue > ALARM
        assert stats.chisquare(np.roll(counts, 1), expected).pvalue < ALARM or np.ptp(often) == 0


# Means and proxies, from the exact laws.


@pytest.mark.parametrize("instance", LAWS, ids=lambda instance: instance.family)
def test_means_are_those_of_the_laws(instance):
    np.testing.assert_allclose(instance.means, [law.mean() for law in LAWS[instance]], rtol=1e-14, atol=1e-300)


def log_mgf(instance, arm, x):
    """log E exp(x(X − μ)), exactly or by quadrature."""
    law, mean = [np.asarray(field)[arm] for field in instance.data], instance.means[arm]
    match instance.family:
        case "Gaussian":
            return 0.5 * (x * law[1]) ** 2
        case "Bernoulli":
            return (
                np.logaddexp(log(1.0 - mean) if mean < 1 else -np.inf, (log(mean) if mean else -np.inf) + x) - x * mean
            )
        case "Uniform":
            half = abs(x) * (law[1] - law[0]) / 2.0
            return half + np.log(-np.expm1(-2.0 * half) / (2.0 * half))
        case "Beta":
            return np.log(special.hyp1f1(law[0], law[0] + law[1], x)) - x * mean
        case "Triangular":
            low, mode, high = law
            density = stats.triang((mode - low) / (high - low), low, high - low).pdf
            return np.log(integrate.quad(lambda r: np.exp(x * (r - mean)) * density(r), low, high, points=[mode])[0])
    rewards = instance.data.rewards[law[1] : instance.data.begins[arm + 1]]
    return special.logsumexp(x * (rewards - mean)) - log(len(rewards))


def breaks(instance, arm, sigma):
    """Whether E exp(λ(X − μ)) is above exp(λ²σ²/2) for a λ of the grid."""
    grid = np.logspace(-1.5, 1.3, 40) / sigma
    return any(log_mgf(instance, arm, x) > 0.5 * (x * sigma) ** 2 * (1 + 1e-9) + 1e-12 for x in (*grid, *-grid))


@pytest.mark.parametrize(("instance", "arm"), ARMS)
def test_rewards_are_sub_gaussian_with_the_stated_proxy(instance, arm):
    assert not breaks(instance, arm, instance.sigma)


@pytest.mark.parametrize("instance", [*LAWS, OBSERVED], ids=lambda instance: instance.family)
def test_a_proxy_of_less_than_half_is_too_little(instance):
    """Half would just do for a triangle: its variance is at most 2/9 of the squared proxy."""
    assert any(breaks(instance, arm, 0.45 * instance.sigma) for arm in range(instance.k))


def test_proxies_are_those_of_hoeffdings_lemma():
    assert [GAUSSIAN.sigma, BERNOULLI.sigma, UNIFORM.sigma, BETA.sigma] == [20.0, 0.5, 19.0, 0.5]
    assert [TRIANGULAR.sigma, OBSERVED.sigma] == [3.5, 6.0]


# The object.


def test_an_instance_says_what_it_is():
    assert (GAUSSIAN.k, GAUSSIAN.best, GAUSSIAN.names) == (4, 983.0, ("0", "1", "2", "3"))
    assert GAUSSIAN.gaps.tolist() == [982.0, 983.0, 0.0, 976.0]
    assert GAUSSIAN.caption == "Gaussian, k = 4, σ = 20, best mean 983"
    assert repr(GAUSSIAN) == f"Instance({GAUSSIAN.caption})"
    assert Instance.gaussian([3]).k == 1
    assert Instance.gaussian(range(3)).means.dtype == np.float64


def test_one_number_stands_for_every_arm():
    assert Instance.gaussian([1, 2], 3).data.sigmas.tolist() == [3.0, 3.0]
    assert Instance.uniform(0, [1, 2]).means.tolist() == [0.5, 1.0]
    assert Instance.triangular([1, 2], 3, 4).data.mode.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("instance", [*LAWS, OBSERVED], ids=lambda instance: instance.family)
def test_an_instance_cannot_be_changed_even_after_a_journey(instance):
    for one in (instance, pickle.loads(pickle.dumps(instance))):
        for array in (one.means, *one.data):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0
        with pytest.raises(FrozenInstanceError):
            one.sigma = 2.0
        assert (one.sigma, one.family, one.names, one.draw) == (
            instance.sigma,
            instance.family,
            instance.names,
            instance.draw,
        )
        for array, other in zip((one.means, *one.data), (instance.means, *instance.data), strict=True):
            assert np.array_equal(array, other)


def test_what_the_user_gave_stays_the_users():
    means = np.array([1.0, 2.0])
    instance = Instance.gaussian(means)
    means[0] = 9.0
    assert instance.means[0] == instance.data.means[0] == 1.0


class Clipped(NamedTuple):
    shifts: np.ndarray
    least: float


def clipped(data, arm, stream):
    return max(normal(stream), data.least) + data.shifts[arm]


def test_a_users_own_noise_is_drawn_like_ours():
    shifts = np.array([2.0, 5.0, 3.0])
    mean = stats.norm.pdf(-1.0) - stats.norm.cdf(-1.0)  # of max(Z, −1)
    law = Clipped(shifts, -1.0)
    instance = Instance(means=mean + shifts, sigma=1.0, draw=clipped, data=law, family="clipped", names=("x", "y", "z"))
    assert instance.best == mean + 5.0
    for one in (instance, pickle.loads(pickle.dumps(instance))):
        sample = rewards_of(one, 1)
        assert sample.min() == 4.0
        assert stats.binomtest(int((sample == 4.0).sum()), N, stats.norm.cdf(-1.0)).pvalue > ALARM
        assert stats.kstest(sample[sample > 4.0] - 5.0, stats.truncnorm(-1.0, np.inf).cdf).pvalue > ALARM
        assert abs(sample.mean() - one.means[1]) < 5.0 / N**0.5  # 5 standard errors and more: 6e-7
    shifts[1] = 0.0
    assert instance.data.shifts[1] == 5.0


# A user's own observations.

ROWS = [("drug", 1.0), ("placebo", 0.5), ("drug", 3.0), ("none", 0.0), ("placebo", 0.25), ("drug", 2.0)]
BY_ARM = {"drug": [1.0, 3.0, 2.0], "placebo": [0.5, 0.25], "none": [0.0]}


def written(folder, text, encoding="utf-8"):
    path = folder / "trial.csv"
    path.write_text(text, encoding=encoding)
    return path


def same(one, other):
    return one.names == other.names and all(map(np.array_equal, one.data, other.data))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_table_is_read_from_every_shape(tmp_path, encoding):
    expected = Instance.from_data(BY_ARM)
    assert expected.names == ("drug", "placebo", "none")
    assert expected.means.tolist() == [2.0, 0.375, 0.0]
    assert expected.sigma == 1.0
    text = "arm,site,reward\n" + "".join(f"{arm},Ürzig,{reward}\n" for arm, reward in ROWS)
    path = written(tmp_path, text, encoding)
    assert same(Instance.from_data(path), expected)
    assert same(Instance.from_data(str(path)), expected)
    assert same(Instance.from_data(pd.read_csv(path)), expected)
    assert same(
        Instance.from_data(pd.DataFrame({"reward": [r for _, r in ROWS], "arm": [a for a, _ in ROWS]})), expected
    )
    assert same(Instance.from_data({arm: np.array(told) for arm, told in BY_ARM.items()}), expected)


def test_rewards_may_come_in_order_of_the_arms():
    instance = Instance.from_data([[1, 3], [5], (2.5, 2.5)])
    assert instance.names == ("0", "1", "2")
    assert instance.means.tolist() == [2.0, 5.0, 2.5]
    assert same(Instance.from_data(np.array([[1.0, 2.0], [3.0, 5.0]])), Instance.from_data([[1, 2], [3, 5]]))


def test_numbered_arms_keep_their_numbers_as_names():
    table = pd.DataFrame({"arm": [3, 1, 3], "reward": [1, 2, 3]})
    assert Instance.from_data(table).names == ("3", "1")


# The named instances, in BASELINES' words.


def test_uniform_means_is_the_papers():
    arms = instances.uniform_means()
    assert np.array_equal(arms.means, np.random.default_rng(42).uniform(10, 1000, 50))
    assert (arms.k, arms.sigma**2) == (50, 400.0)
    assert instances.uniform_means(3, 0, 1, 2.0, 7).means.tolist() == np.random.default_rng(7).uniform(0, 1, 3).tolist()


def test_few_good_is_the_papers():
    arms = instances.few_good()
    assert (arms.k, arms.sigma**2) == (200, 400.0)
    assert arms.means[:5].tolist() == [200, 400, 600, 800, 1000]
    assert set(arms.means[5:]) == {10.0}
    assert instances.few_good(5).means.tolist() == [200, 400, 600, 800, 1000]


@pytest.mark.parametrize(("k", "near"), [(2, 1), (10, 1), (15, 1), (20, 2), (100, 10)])
def test_near_ties_is_the_papers(k, near):
    arms = instances.near_ties(k)
    values, counts = np.unique(arms.means, return_counts=True)
    told = dict(zip(values.tolist(), counts.tolist(), strict=True))
    assert told == {mean: count for mean, count in [(10.0, k - 1 - near), (950.0, near), (1000.0, 1)] if count}
    order = np.repeat([1000.0, 950.0, 10.0], [1, near, k - 1 - near])
    np.random.default_rng(42 + k).shuffle(order)
    assert np.array_equal(arms.means, order)
    assert (arms.k, arms.sigma**2) == (k, 1.0)


def test_needle_is_the_lower_bounds():
    arms = instances.needle(8, 3.0, sigma=2.0, arm=5)
    assert arms.means.tolist() == [0, 0, 0, 0, 0, 3, 0, 0]
    assert arms.gaps.tolist() == [3, 3, 3, 3, 3, 0, 3, 3]
    assert (arms.sigma, arms.family) == (2.0, "Gaussian")
    k, horizon, q, sigma = 12, 5000, 1.7, 3.0
    mean = instances.needle_mean(k, horizon, q, sigma)
    assert mean**2 / (2.0 * sigma**2) == pytest.approx(k**q / (2.0 * horizon), rel=1e-14)  # λ, as the proof has it


# Bad input: what is said of it, word for word from its start.


def own(**changes):
    given = {"means": [1.0], "sigma": 1.0, "draw": clipped, "data": Clipped(np.ones(1), -1.0), "family": "x"}
    return Instance(**given | changes)


MEANS = "give means of at least 0, because the p-mean needs m_t ≥ 0."
TABLE = pd.DataFrame({"arm": ["a", "b"], "reward": [1.0, 2.0]})
BAD = [
    (lambda: Instance.gaussian([]), "means is []; give a sequence of at least one number."),
    (lambda: Instance.gaussian(3.0), "means is 3.0; give a sequence, one number per arm."),
    (lambda: Instance.gaussian([[1.0], [2.0]]), "means is [[1.0], [2.0]]; give a sequence"),
    (lambda: Instance.gaussian("abc"), "means is 'abc'; give a sequence of numbers."),
    (lambda: Instance.gaussian(None), "means is None; give a sequence"),
    (lambda: Instance.gaussian([1, "x"]), "means[1] is 'x'; give a finite number."),
    (lambda: Instance.gaussian([1, float("nan")]), "means[1] is nan; give finite numbers."),
    (lambda: Instance.gaussian([1, 2, float("inf")]), "means[2] is inf; give finite numbers."),
    (lambda: Instance.gaussian([0, 3, -1]), f"means[2] is -1.0; {MEANS}"),
    (lambda: Instance.gaussian([1, 2], 0), "sigma is 0; give a finite number above 0."),
    (lambda: Instance.gaussian([1, 2], float("nan")), "sigma is nan; give a finite number above 0."),
    (lambda: Instance.gaussian([1, 2], [1, 0]), "sigma[1] is 0.0; give numbers above 0."),
    (lambda: Instance.gaussian([1, 2], [1, 2, 3]), "means has 2 numbers and sigma has 3; give one per arm in each."),
    (lambda: Instance.bernoulli([0.5, 1.5]), "means[1] is 1.5; give probabilities in [0, 1]."),
    (lambda: Instance.bernoulli([-0.5]), "means[0] is -0.5; give probabilities in [0, 1]."),
    (lambda: Instance.uniform([0, 2], [1, 1]), "low[1] is 2.0; give numbers that are not above high."),
    (lambda: Instance.uniform([0, -2], [1, 1]), f"means[1] is -0.5; {MEANS}"),
    (lambda: Instance.uniform([0, 1], [1]), "high has 1 numbers and low has 2; give one per arm in each."),
    (lambda: Instance.uniform([3, 1], [3, 1]), "sigma is 0, because the reward of every arm is a constant"),
    (lambda: Instance.beta([1, 0], [1, 1]), "a[1] is 0.0; give numbers above 0"),
    (lambda: Instance.beta([1, 1], [-2, 1]), "b[0] is -2.0; give numbers above 0"),
    (lambda: Instance.triangular([0, 0], [1, 3], [2, 2]), "mode[1] is 3.0; give numbers from low to high."),
    (lambda: Instance.triangular([0, 3], [1, 3], [2, 2]), "low[1] is 3.0; give numbers that are not above high."),
    (lambda: Instance.triangular([-9], [0], [1]), "means[0] is -2.66"),
    (lambda: own(means=[-1.0]), f"means[0] is -1.0; {MEANS}"),
    (lambda: own(sigma=-1), "sigma is -1; give a finite number above 0."),
    (lambda: own(draw="normal"), "draw is 'normal'; give a function draw(data, arm, stream)."),
    (lambda: own(data=[1.0]), "data is [1.0]; give a NamedTuple of arrays."),
    (lambda: own(names=("a", "b")), "names is ('a', 'b'); give 1 different names, one per arm."),
    (lambda: own(means=[1, 2], names=("a", "a")), "names is ('a', 'a'); give 2 different names, one per arm."),
    (lambda: Instance.from_data({}), "observations holds no arm; give each arm's rewards."),
    (lambda: Instance.from_data([]), "observations holds no arm; give each arm's rewards."),
    (
        lambda: Instance.from_data(7),
        "observations is 7; give a mapping, a sequence per arm, a DataFrame or a CSV file.",
    ),
    (lambda: Instance.from_data([1.0, 2.0]), "observations[0] is 1.0; give a sequence of at least one number."),
    (
        lambda: Instance.from_data({"a": [1], "b": []}),
        "observations['b'] is []; give a sequence of at least one number.",
    ),
    (lambda: Instance.from_data({"a": [1, None]}), "observations['a'][1] is nan; give finite numbers."),
    (lambda: Instance.from_data({"a": [1, "?"]}), "observations['a'][1] is '?'; give a finite number."),
    (lambda: Instance.from_data({"a": [-1, 0]}), f"means[0] is -0.5; {MEANS}"),
    (lambda: Instance.from_data({"a": [1, 1], "b": [2]}), "sigma is 0, because the reward of every arm is a constant"),
    (lambda: Instance.from_data({1: [1, 2], "1": [2]}), "names is ('1', '1'); give 2 different names, one per arm."),
    (lambda: Instance.from_data(TABLE[["arm"]]), "observations lacks the column 'reward'; its columns are: arm."),
    (lambda: Instance.from_data(TABLE.assign(reward=[1, None])), "reward is nan; give a finite number in row 1."),
    (lambda: Instance.from_data(TABLE.assign(arm=["a", None])), "arm is nan in row 1; give every observation an arm."),
    (lambda: Instance.from_data(TABLE[:0]), "observations holds no arm; give each arm's rewards."),
    (lambda: instances.uniform_means(0), "k is 0; give a whole number of at least 1."),
    (lambda: instances.uniform_means(low=-1), "low is -1.0 and high is 1000.0; give 0 ≤ low ≤ high."),
    (lambda: instances.uniform_means(low=2, high=1), "low is 2.0 and high is 1.0; give 0 ≤ low ≤ high."),
    (lambda: instances.uniform_means(seed=-1), "seed is -1; give a whole number of at least 0."),
    (lambda: instances.few_good(4), "k is 4; give a whole number of at least 5."),
    (lambda: instances.near_ties(1), "k is 1; give a whole number of at least 2."),
    (lambda: instances.needle(8, 0.0), "mean is 0.0; give a finite number above 0."),
    (lambda: instances.needle(8, 1.0, arm=8), "arm is 8; give a whole number of at least 0 and at most 7."),
    (lambda: instances.needle_mean(8, 0, 2.0), "horizon is 0; give a whole number of at least 1."),
    (lambda: instances.needle_mean(8, 10, 0.0), "q is 0.0; give a finite number above 0."),
    (lambda: instances.needle_mean(8, 10, 1000), "q is 1000, and k^q is above 1e308; give a smaller q."),
]


@pytest.mark.parametrize(("mistake", "sentence"), BAD, ids=[sentence[:40] for _, sentence in BAD])
def test_bad_input_is_refused_by_name_and_value(mistake, sentence):
    with pytest.raises(ArgumentError) as refusal:
        mistake()
    assert str(refusal.value).startswith(sentence)
    assert str(refusal.value).endswith(".")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("group,reward\na,1\n", "{} lacks the column 'arm'; its columns are: group, reward."),
        ("arm;reward\na;1\n", "{} lacks the column 'arm'; its columns are: arm;reward."),
        ("", "{} lacks the column 'arm'; its columns are: none."),
        ("arm,reward\na,1\nb,much\n", "reward is 'much'; give a finite number in line 3 of {}."),
        ("arm,reward\na,1\nb\n", "reward is None; give a finite number in line 3 of {}."),
        ("arm,reward\na,1\n ,2\n", "arm is '' in line 3 of {}; give every observation an arm."),
        ("arm,reward\n", "{} holds no arm; give each arm's rewards."),
    ],
)
def test_a_bad_file_is_refused_by_line(tmp_path, text, sentence):
    path = str(written(tmp_path, text))
    with pytest.raises(ArgumentError) as refusal:
        Instance.from_data(path)
    assert str(refusal.value) == sentence.format(path)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="cannot be read: No such file or directory; give a CSV file"):
        Instance.from_data(tmp_path / "none.csv")
    latin = written(tmp_path, "arm,reward\nÜ,1\n", "latin-1")
    with pytest.raises(ArgumentError, match=r"cannot be read: .*; give a CSV file"):
        Instance.from_data(latin)
