"""Whole-number laws of the compiled loops."""

import numba
import numpy as np
import pytest

from qed.swarm.cpu.bits import below, index, lowest, ones, round_up, span
from qed.swarm.cpu.layout import VECTOR, SegmentFields


@numba.njit
def compiled_below(row, at, limit):
    return below(row, at, limit)


@numba.njit
def compiled_lowest(word):
    return lowest(word)


@numba.njit
def compiled_ones(word):
    return ones(word)


@pytest.mark.parametrize("value", [0, 1, 12345, 2**31 - 1])
@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.uint32])
def test_index_is_the_number_itself(value, kind):
    assert index(kind(value)) == value


def test_span_names_the_fields_of_a_segment():
    rows = np.arange(3 * len(SegmentFields._fields), dtype=np.int32).reshape(3, -1)
    for s in range(3):
        segment = SegmentFields(*rows[s])
        expected = (segment.first, segment.robots, segment.trials, segment.size, segment.padded)
        assert span(rows, s) == expected


def test_below_sets_the_bits_of_smaller_numbers():
    row = np.random.default_rng(10).uniform(-1, 1, 64).astype(np.float32)
    row[::7] = 0
    for at in range(64 - VECTOR):
        word = below(row, at, np.float32(0))
        assert [bool(word >> b & 1) for b in range(VECTOR)] == list(row[at : at + VECTOR] < 0)
        assert compiled_below(row, at, np.float32(0)) == word


def test_nan_is_not_below():
    row = np.full(VECTOR, np.nan, np.float32)
    assert below(row, 0, np.float32(1)) == compiled_below(row, 0, np.float32(1)) == 0


def test_lowest_bit():
    for bit in range(63):
        for word in (1 << bit, (1 << bit) | (1 << 62), (2**62 - 1) >> bit << bit or 1 << 62):
            expected = next(b for b in range(63) if word >> b & 1)
            assert lowest(word) == compiled_lowest(word) == expected


def test_ones_counts_bits():
    for word in (0, 1, 0b1011, (1 << 16) - 1, 1 << 62):
        assert ones(word) == compiled_ones(word) == bin(word).count("1")


def test_whole_rounds_up_to_vectors():
    for length in range(4 * VECTOR):
        assert 0 <= round_up(length) - length < VECTOR
        assert round_up(length) % VECTOR == 0
