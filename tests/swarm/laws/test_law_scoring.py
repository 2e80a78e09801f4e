"""What tasks add up in a cycle."""

import math

import numpy as np
import pytest
from numpy import float32 as f32
from swarm.laws.plain import plain

from qed.swarm.laws import scoring
from qed.swarm.laws.scoring import FULL, faded, on_border

flock = plain(scoring.flock)


def test_faded_is_the_sum_of_a_fading_cell():
    total = 0
    for cycles in range(2501):
        assert faded(cycles) == total
        total += 2 * max(0, 1000 - cycles)


def test_faded_in_whole_values():
    assert faded(1) / FULL == 1.0
    assert faded(2) / FULL == pytest.approx(1.999)
    assert faded(1000) / FULL == pytest.approx(math.fsum(1 - 0.001 * k for k in range(1000)))
    assert faded(np.int32(2000)) == faded(np.int32(1000))


def test_flock_of_a_close_aligned_pair():
    assert flock(0.01, 0, 1, 1) == 1
    assert flock(0.01, 0, -1, -1) == 1
    assert flock(0.01, 0, 0.5, 0.5) == 0.25


def test_flock_counts_only_motion_the_same_way():
    assert flock(0.01, 0, 1, -1) == 0
    assert flock(0.01, 0, -0.3, 0.8) == 0
    assert flock(0.01, 0, 0, 1) == 0


def test_flock_counts_only_near_pairs():
    below = np.nextafter(f32(0.25), f32(0))
    assert flock(below, 0, 1, 1) == 1
    assert flock(0.25, 0, 1, 1) == 0
    assert flock(1.0, 0, 1, 1) == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_flock_fades_with_the_angle(sign):
    for degrees in range(181):
        expected = max(0.0, 1 - degrees / 90)
        assert flock(0, sign * math.radians(degrees), 1, 1) == pytest.approx(expected, abs=1e-6)


def test_flock_takes_the_smaller_angle():
    for turn in (0.3, -0.3, 1.2, 0.0):
        straight = flock(0, turn, 0.8, 0.9)
        assert straight > 0
        for around in (-2 * math.pi, 2 * math.pi):
            assert flock(0, turn + around, 0.8, 0.9) == pytest.approx(straight, abs=1e-6)


def test_border_cells():
    border = {cell for cell in range(100) if on_border(cell)}
    inner = {10 * column + row for column in range(1, 9) for row in range(1, 9)}
    assert len(border) == 36
    assert border == set(range(100)) - inner
