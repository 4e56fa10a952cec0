"""Randomness against its published values, NumPy's generators and the laws it claims.

Statistical tests have fixed seeds and refuse below a p-value of 1e-6, their false-alarm rate for a fresh seed.
"""

from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import stats

from equipoise.arguments import ArgumentError
from equipoise.engines.compile import COUNTED, specialise
from equipoise.streams import (
    POLICY,
    REWARDS,
    TAIL,
    WORD,
    begin,
    make_key,
    next_word,
    normal,
    philox,
    pin,
    published,
    random,
    uniform,
    unit,
)

ALARM = 1e-6
KEY = make_key(7)


@cache
def compiled(function):
    return specialise(function, {}, COUNTED, cache=False)


def take_words(stream, out):
    for i in range(len(out)):
        out[i] = next_word(stream)


def take_uniforms(stream, out):
    for i in range(len(out)):
        out[i] = random(stream)


def take_normals(stream, out):
    for i in range(len(out)):
        out[i] = normal(stream)


def take_starts(key, out):
    stream = np.empty(4, np.uint64)
    for run in range(len(out)):
        begin(stream, key, run)
        out[run] = random(stream)


def started(run, key=KEY):
    stream = np.zeros(4, np.uint64)
    compiled(begin)(stream, key, run)
    return stream


def fits(sample, law):
    return stats.kstest(sample, law.cdf).pvalue > ALARM


# Philox: counter, key, words, as Random123 publishes them (kat_vectors, philox4x32-10).
PUBLISHED = [
    ("00000000 00000000 00000000 00000000 00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words(text):
    return tuple(int(word, 16) for word in text.split())


@pytest.mark.parametrize(("given", "expected"), PUBLISHED)
def test_philox_gives_its_published_words(given, expected):
    assert philox(*words(given)) == words(expected)
    assert compiled(philox)(*words(given)) == words(expected)


def test_philox_gives_the_same_bits_interpreted_and_compiled():
    for given in published(1).integers(0, 2**32, (500, 6)).tolist():
        assert philox(*given) == compiled(philox)(*given)


CORNERS = {
    "t": [0, 1, WORD, WORD + 1, 2**55, 2**56 - 1],
    "run": [0, 1, WORD, WORD + 1, 2**40],
    "purpose": [POLICY, REWARDS, 255],
}


def corner_values(of):
    return [of(KEY, run, purpose, t) for t, run, purpose in product(*CORNERS.values())]


def test_uniforms_are_the_same_interpreted_and_compiled_and_lie_in_the_unit_interval():
    values = corner_values(uniform)
    assert values == corner_values(compiled(uniform))
    assert all(0.0 <= u < 1.0 for u in values)
    assert unit(0, 0) == 0.0
    assert unit(WORD, WORD) == 1.0 - 2.0**-53


def test_runs_rounds_and_purposes_never_share_a_uniform():
    def short_of_bits(key, run, purpose, t):
        return uniform(key, run & WORD, purpose, t & WORD)

    values = corner_values(uniform)
    assert len(set(values)) == len(values)
    assert len(set(corner_values(short_of_bits))) < len(values)


def test_uniforms_of_a_run_and_of_a_round_are_uniform():
    of = compiled(uniform)
    by_round = np.array([of(KEY, 3, POLICY, t) for t in range(50_000)])
    by_run = np.array([of(KEY, run, POLICY, 5) for run in range(50_000)])
    for sample in (by_round, by_run):
        assert fits(sample, stats.uniform)
        assert not fits(0.97 * sample, stats.uniform)
    # Successive uniforms are independent: pairs on a 16 x 16 board.
    pairs = np.histogram2d(by_round[::2], by_round[1::2], bins=16, range=[[0, 1], [0, 1]])[0]
    assert stats.chisquare(pairs.ravel()).pvalue > ALARM


def numpy_twin(seed):
    """NumPy's SFC64 and a stream in the same state."""
    bits = np.random.SFC64(seed)
    return bits, bits.state["state"]["state"].copy()


def test_words_are_those_of_numpys_sfc64():
    bits, stream = numpy_twin(11)
    out = np.empty(100_000, np.uint64)
    compiled(take_words)(stream, out)
    assert np.array_equal(out, bits.random_raw(len(out)))
    assert np.array_equal(stream, bits.state["state"]["state"])


def test_uniforms_are_those_of_numpys_sfc64():
    bits, stream = numpy_twin(12)
    out = np.empty(100_000)
    compiled(take_uniforms)(stream, out)
    assert np.array_equal(out, np.random.Generator(bits).random(len(out)))


def test_normals_are_those_of_numpys_ziggurat():
    bits, stream = numpy_twin(13)
    out = np.empty(1_000_000)
    compiled(take_normals)(stream, out)
    # The recursion leaves rounding of some 1e-14 in the low levels of the table; every decision is the same.
    np.testing.assert_allclose(out, np.random.Generator(bits).standard_normal(len(out)), rtol=1e-13, atol=0)
    assert np.array_equal(stream, bits.state["state"]["state"])


def test_normals_are_normal_in_body_and_tail():
    sample = np.empty(4_000_000)
    compiled(take_normals)(started(0), sample)

    def tail_is_right(z):
        far = np.abs(z) > TAIL  # some thousand of them
        count = stats.binomtest(int(far.sum()), len(z), 2.0 * stats.norm.sf(TAIL)).pvalue
        sides = stats.binomtest(int((z[far] > 0).sum()), int(far.sum()), 0.5).pvalue if far.any() else 1.0
        return min(count, sides) > ALARM and fits(np.abs(z[far]), stats.truncnorm(TAIL, np.inf))

    assert fits(sample, stats.norm)
    assert not fits(1.01 * sample, stats.norm)
    assert tail_is_right(sample)
    assert not tail_is_right(sample[np.abs(sample) < TAIL + 0.5])


@pytest.mark.parametrize("run", [*range(20), 2**33 + 5])
def test_a_stream_begins_as_sfc64_is_seeded(run):
    """In Python's integers, which cannot overflow; compiled ones must not where they are signed."""
    key = make_key(99)
    x, y = (philox(i, REWARDS << 24, run & WORD, run >> 32, *key) for i in (0, 1))
    a, b, c, counter = x[0] << 32 | x[1], x[2] << 32 | x[3], y[0] << 32 | y[1], 1
    most = 2**64 - 1
    for _ in range(12):
        word = (a + b + counter) & most
        a, b, c = b ^ b >> 11, (c + (c << 3)) & most, ((c << 24 | c >> 40) + word) & most
        counter += 1
    assert started(run, key).tolist() == [a, b, c, counter]


def test_runs_have_streams_of_their_own():
    starts = np.empty(100_000)
    compiled(take_starts)(KEY, starts)
    assert len(np.unique(starts)) == len(starts)
    assert fits(starts, stats.uniform)
    pairs = np.histogram2d(starts[::2], starts[1::2], bins=16, range=[[0, 1], [0, 1]])[0]
    assert stats.chisquare(pairs.ravel()).pvalue > ALARM
    assert not np.array_equal(started(0), started(2**32))
    assert not np.array_equal(started(0), started(0, make_key(8)))


def test_a_seed_is_pinned_to_what_can_be_used_again():
    sequence = np.random.SeedSequence(5)
    assert pin(5) == 5
    assert type(pin(np.int64(5))) is int
    assert pin(sequence) is sequence
    assert make_key(5) == make_key(sequence) == make_key(sequence) == make_key(np.int64(5))
    assert pin(published(1)) == pin(published(1))
    assert make_key(pin(published(1))) == make_key(published(1))
    generator = published(1)
    assert pin(generator) != pin(generator)
    assert isinstance(pin(None), int)
    assert pin(None) != pin(None)


def test_keys_are_two_words_and_differ():
    keys = {make_key(seed) for seed in range(1000)} | {make_key(s) for s in np.random.SeedSequence(0).spawn(1000)}
    assert len(keys) == 2000
    assert all(0 <= word <= WORD for key in keys for word in key)
    assert make_key(2**100) != make_key(2**100 + 1)


@pytest.mark.parametrize("seed", [-1, 1.5, 2.0, True, "7", [1, 2]])
def test_a_bad_seed_is_refused_by_value(seed):
    with pytest.raises(ArgumentError, match=r"^seed is .*; give a whole number of at least 0") as refusal:
        make_key(seed)
    assert repr(seed) in str(refusal.value)


def test_published_is_the_authors_generator():
    assert np.array_equal(published(42).uniform(10, 1000, 50), np.random.default_rng(42).uniform(10, 1000, 50))
