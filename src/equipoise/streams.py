"""Randomness: the only file that turns a seed into random numbers.

Run r of a simulation depends on the seed and on r, on nothing else: not on workers, chunks, order or what ran
before. Two generators, both published and both checked in the tests against their published values:

- What a policy draws in round t is `uniform(key, run, POLICY, t)`: Philox4x32-10, a pure function of its
  arguments (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011). So any round can be
  replayed alone, live or simulated.
- Rewards come faster from a sequential stream per run: SFC64 (Doty-Humphrey, PractRand; NumPy's `SFC64`), with
  Marsaglia and Tsang's ziggurat of 256 levels for normals, as in NumPy.

Philox is written so that no integer leaves 63 bits and a sign, where compiled arithmetic would be undefined, and gives
the same bits interpreted and compiled. The sequential stream is 64-bit unsigned arithmetic and is always compiled.
"""

from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from equipoise.arguments import ArgumentError

Seed = int | np.random.SeedSequence | np.random.Generator | None
Stream = npt.NDArray[np.uint64]  # the four words of an SFC64

POLICY = 0
REWARDS = 1

WORD = 0xFFFFFFFF


class Key(NamedTuple):
    """A seed as the generators use it: two words of 32 bits."""

    low: int
    high: int


def pin(seed: Seed) -> int | np.random.SeedSequence:
    """A seed that can be written down and used again: fresh entropy for None, a draw from a Generator."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(2, np.uint64)[0])
    if isinstance(seed, np.random.Generator):
        return int.from_bytes(seed.bytes(8), "little")
    if isinstance(seed, np.random.SeedSequence):
        return seed
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0:
        return int(seed)
    raise ArgumentError(f"seed is {seed!r}; give a whole number of at least 0, a SeedSequence or a Generator.")


def make_key(seed: Seed) -> Key:
    pinned = pin(seed)
    sequence = pinned if isinstance(pinned, np.random.SeedSequence) else np.random.SeedSequence(pinned)
    low, high = sequence.generate_state(2)
    return Key(int(low), int(high))


def published(seed: int) -> np.random.Generator:
    """The generator with which the papers' authors drew their instances."""
    return np.random.default_rng(seed)


def philox(c0: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> tuple[int, int, int, int]:
    """Philox4x32-10: four words of 32 bits from a counter of four and a key of two."""
    for _ in range(10):
        x = (0xD2511F53 - 2**32) * c0  # 2^32·c0 less than the product, so it fits 63 bits and a sign
        y = (0xCD9E8D57 - 2**32) * c2
        c0, c2 = ((y >> 32) + c2) ^ c1 ^ k0, ((x >> 32) + c0) ^ c3 ^ k1
        c1 = y & WORD
        c3 = x & WORD
        k0 = (k0 + 0x9E3779B9) & WORD
        k1 = (k1 + 0xBB67AE85) & WORD
    return c0, c1, c2, c3


def unit(high: int, low: int) -> float:
    """A number in [0, 1) with 53 bits from two words."""
    return ((high << 21) | (low >> 11)) * 2.0**-53


def uniform(key: Key, run: int, purpose: int, t: int) -> float:
    """The uniform of round t of this run: a pure function of its arguments. t counts from 0, below 2^56."""
    x = philox(t & WORD, (t >> 32) | (purpose << 24), run & WORD, run >> 32, key.low, key.high)
    return unit(x[0], x[1])


def begin(stream: Stream, key: Key, run: int) -> None:
    """Sets the run's reward stream to its start: three words from Philox, a counter, and SFC64's twelve rounds."""
    a, b, c, d = philox(0, REWARDS << 24, run & WORD, run >> 32, key.low, key.high)
    e, f, _, _ = philox(1, REWARDS << 24, run & WORD, run >> 32, key.low, key.high)
    stream[0] = (np.uint64(a) << np.uint64(32)) | np.uint64(b)
    stream[1] = (np.uint64(c) << np.uint64(32)) | np.uint64(d)
    stream[2] = (np.uint64(e) << np.uint64(32)) | np.uint64(f)
    stream[3] = np.uint64(1)
    for _ in range(12):
        next_word(stream)


def next_word(stream: Stream) -> np.uint64:
    a, b, c, counter = stream[0], stream[1], stream[2], stream[3]
    word = a + b + counter
    stream[0] = b ^ (b >> np.uint64(11))
    stream[1] = c + (c << np.uint64(3))
    stream[2] = ((c << np.uint64(24)) | (c >> np.uint64(40))) + word
    stream[3] = counter + np.uint64(1)
    return word  # type: ignore[no-any-return]


def random(stream: Stream) -> float:
    """A uniform in [0, 1) from the sequential stream."""
    return np.int64(next_word(stream) >> np.uint64(11)) * 2.0**-53


# The ziggurat of 256 levels: where its tail begins, and the area of a level (Marsaglia and Tsang, 2000).
TAIL = 3.6541528853610088
AREA = 0.0049286732339746519


def _ziggurat() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """For each level: the 52-bit integer below which it is accepted at once, its width a unit, its density."""
    inside, width, density = np.zeros(256, np.int64), np.zeros(256), np.zeros(256)
    x = previous = TAIL
    base = AREA / exp(-0.5 * x * x)
    inside[0] = int(x / base * 2.0**52)
    width[0], width[255] = base * 2.0**-52, x * 2.0**-52
    density[0], density[255] = 1.0, exp(-0.5 * x * x)
    for i in range(254, 0, -1):
        x = sqrt(-2.0 * log(AREA / x + exp(-0.5 * x * x)))
        inside[i + 1] = int(x / previous * 2.0**52)
        previous = x
        density[i] = exp(-0.5 * x * x)
        width[i] = x * 2.0**-52
    return inside, width, density


INSIDE, WIDTH, DENSITY = _ziggurat()


def normal(stream: Stream) -> float:
    """A standard normal from the sequential stream."""
    while True:
        word = next_word(stream)
        level = np.int64(word & np.uint64(255))
        bits = np.int64((word >> np.uint64(9)) & np.uint64(0xFFFFFFFFFFFFF))
        x = bits * WIDTH[level]
        if (word >> np.uint64(8)) & np.uint64(1):
            x = -x
        if bits < INSIDE[level]:
            return x  # type: ignore[no-any-return]
        if level == 0:
            x = tail(stream)
            return -x if (bits >> 8) & 1 else x
        if (DENSITY[level - 1] - DENSITY[level]) * random(stream) + DENSITY[level] < exp(-0.5 * x * x):
            return x  # type: ignore[no-any-return]


def tail(stream: Stream) -> float:
    """A normal beyond TAIL, by Marsaglia's exponential rejection."""
    while True:
        x = -log(1.0 - random(stream)) / TAIL
        y = -log(1.0 - random(stream))
        if 2.0 * y > x * x:
            return TAIL + x
