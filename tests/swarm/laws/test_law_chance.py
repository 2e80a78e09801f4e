"""Randomness by counter: uniform, and unrelated from one use to the next."""

import math

import numpy as np
import pytest

from qed.chance import draw, fold, high_noise, low_noise, mix

DRAWS = 200_000
BINS = 256
# A chi-square of 255 degrees of freedom has mean 255 and standard deviation 22.6.
CHI_SQUARE = (130, 380)
KEY = np.uint32(0xC0FFEE)
CYCLES = np.arange(1, DRAWS + 1)
HALF_WORDS = np.arange(2**16, dtype=np.uint32)


def unmix(word):
    """Undo mix: its steps are shifts, which undo themselves, and odd factors."""
    h = np.asarray(word, np.uint64)
    low = np.uint64(0xFFFFFFFF)
    h ^= h >> np.uint64(16)
    h = (h * np.uint64(pow(0x846CA68B, -1, 2**32))) & low
    h ^= (h >> np.uint64(15)) ^ (h >> np.uint64(30))
    h = (h * np.uint64(pow(0x7FEB352D, -1, 2**32))) & low
    return (h ^ (h >> np.uint64(16))).astype(np.uint32)


def chi_square(values, bins=BINS):
    counts = np.bincount(values, minlength=bins)
    expected = len(values) / bins
    return float(((counts - expected) ** 2 / expected).sum())


def uncorrelated(one, two):
    size = len(one)
    return abs(np.corrcoef(one.astype(float), two.astype(float))[0, 1]) < 4.5 / math.sqrt(size)


STREAMS = {
    "cycles": draw(KEY, CYCLES, 0),
    "purposes": draw(KEY, np.arange(DRAWS) // 128, np.arange(DRAWS) % 128),
    "keys": draw(np.arange(DRAWS, dtype=np.uint32), 7, 3),
    "folded keys": draw(fold(1, np.arange(DRAWS)), 7, 3),
}


@pytest.mark.parametrize("start", [0, 2**31 - 500_000, 2**32 - 1_000_000])
def test_mix_is_one_to_one(start):
    words = np.arange(start, start + 1_000_000, dtype=np.uint32)
    mixed = mix(words)
    assert mixed.dtype == np.uint32
    assert len(np.unique(mixed)) == len(words)
    assert (unmix(mixed) == words).all()


def test_mix_spreads_every_bit():
    words = np.random.default_rng(8).integers(0, 2**32, 20_000, dtype=np.uint32)
    for bit in range(32):
        changed = mix(words) ^ mix(words ^ np.uint32(1 << bit))
        share = ((changed[:, None] >> np.arange(32, dtype=np.uint32)) & np.uint32(1)).mean(axis=0)
        assert np.abs(share - 0.5).max() < 0.03


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("shift", [0, 8, 16, 24])
def test_draws_are_uniform(stream, shift):
    octets = (STREAMS[stream] >> np.uint32(shift)) & np.uint32(0xFF)
    low, high = CHI_SQUARE
    assert low < chi_square(octets) < high


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("lag", [1, 2, 3, 128])
def test_neighbours_are_unrelated(stream, lag):
    bits = STREAMS[stream]
    assert uncorrelated(bits[:-lag], bits[lag:])


@pytest.mark.parametrize("stream", STREAMS)
def test_pairs_of_neighbours_are_uniform(stream):
    nibbles = STREAMS[stream] >> np.uint32(28)
    low, high = CHI_SQUARE
    assert low < chi_square(16 * nibbles[:-1:2] + nibbles[1::2]) < high


def test_draws_of_neighbouring_keys_and_purposes_are_unrelated():
    first = draw(KEY, CYCLES, 0)
    for key, purpose in ((KEY, 2), (KEY, 8), (KEY, 127), (KEY + np.uint32(1), 0)):
        assert uncorrelated(first, draw(key, CYCLES, purpose))


def test_draw_depends_on_all_it_is_for():
    one = draw(KEY, 5, 6)
    assert draw(KEY, 5, 6) == one
    assert len({int(one), *(int(draw(*to)) for to in ((KEY, 6, 6), (KEY, 5, 7), (1, 5, 6)))}) == 4


def test_purposes_of_a_cycle_do_not_meet_the_next_cycle():
    cycles, purposes = np.meshgrid(np.arange(2001), np.arange(128))
    assert len(np.unique(draw(KEY, cycles, purposes))) == cycles.size


@pytest.mark.parametrize(
    ("noise", "bits"), [(low_noise, HALF_WORDS), (high_noise, HALF_WORDS << np.uint32(16))]
)
def test_noise_of_all_half_words(noise, bits):
    values = noise(bits)
    assert values.dtype == np.float32
    values = values.astype(float)
    assert -1 < values.min() < -0.9999
    assert 0.9999 < values.max() < 1
    assert values.mean() == 0
    assert values.var() == pytest.approx(1 / 3, abs=1e-8)
    assert len(np.unique(values)) == 2**16


def test_noise_takes_one_half_of_the_word():
    assert low_noise(np.uint32(0xABCD1234)) == low_noise(np.uint32(0x00001234))
    assert high_noise(np.uint32(0xABCD1234)) == high_noise(np.uint32(0xABCD0000))
    assert low_noise(np.uint32(0xABCD1234)) == high_noise(np.uint32(0x12340000))


@pytest.mark.parametrize("stream", STREAMS)
def test_noise_of_draws(stream):
    low, high = (noise(STREAMS[stream]).astype(float) for noise in (low_noise, high_noise))
    for values in (low, high):
        assert np.abs(values).max() < 1
        assert values.mean() == pytest.approx(0, abs=4.5 / math.sqrt(3 * DRAWS))
        assert values.var() == pytest.approx(1 / 3, abs=0.004)
    assert abs(np.corrcoef(low, high)[0, 1]) < 4.5 / math.sqrt(DRAWS)


def test_fold_of_arrays_is_fold_of_each():
    rows, columns = np.arange(3)[:, None], np.arange(4)
    keys = fold(9, rows, columns)
    assert keys.shape == (3, 4)
    assert keys.dtype == np.uint32
    for row in range(3):
        for column in range(4):
            assert keys[row, column] == fold(9, row, column)


def test_fold_tells_words_apart():
    words = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (2**32,), (2**32 + 1,), (2**63 - 1,)]
    assert len({int(fold(*each)) for each in words}) == len(words)


def test_folded_keys_hardly_collide():
    keys = fold(3, np.arange(300)[:, None], np.arange(300))
    # 90000 words of 32 bits are expected to collide once.
    assert keys.size - len(np.unique(keys)) < 8
