"""What descriptors look at, robot by robot."""

import itertools
import math

import numpy as np
import pytest
from numpy import float32 as f32
from swarm.laws.plain import plain

from qed.swarm.laws import scoring

turn_feature = plain(scoring.turn_feature)
midpoint_distances = plain(scoring.midpoint_distances)
wheel_bin = plain(scoring.wheel_bin)
action = plain(scoring.action)

MIDDLES = (-0.075, -0.025, 0.025, 0.075)


@pytest.mark.parametrize(("border", "bin_"), [(-0.05, 0), (0.0, 1), (-0.0, 1), (0.05, 2)])
def test_wheel_bins_are_right_closed(border, bin_):
    border = f32(border)
    assert wheel_bin(border) == bin_
    assert wheel_bin(np.nextafter(border, f32(1))) == bin_ + 1
    assert wheel_bin(np.nextafter(border, f32(-1))) == bin_


def test_wheel_bins():
    assert [wheel_bin(speed) for speed in MIDDLES] == [0, 1, 2, 3]
    assert [wheel_bin(speed) for speed in (-0.2, -0.1, 0.1, 0.2)] == [0, 0, 3, 3]


def test_action_puts_the_left_wheel_first():
    for left, right in itertools.product(range(4), repeat=2):
        assert action(MIDDLES[left], MIDDLES[right]) == 4 * left + right


@pytest.mark.parametrize("top", [0.05, 0.1, 0.15, 0.2])
def test_turn_feature_is_relative_to_opposed_wheels(top):
    full = 2 * 0.2 * top / 0.08
    for part in np.linspace(-1, 1, 21):
        expected = 0.5 + 0.5 * part
        assert turn_feature(part * full, 1 / top) == pytest.approx(expected, abs=2e-7)


def test_turn_feature_takes_the_shorter_turn():
    for turn in (0.4, -0.4, 0.1):
        straight = turn_feature(turn, 10)
        for around in (-2 * math.pi, 2 * math.pi):
            assert turn_feature(turn + around, 10) == pytest.approx(straight, abs=2e-6)


@pytest.mark.parametrize("side", [2.0, 4.0, 5.0])
def test_midpoint_distances(side):
    middles = [(side / 2, side), (side / 2, 0), (side, side / 2), (0, side / 2)]
    for x, y in np.random.default_rng(9).uniform(0, side, (500, 2)):
        expected = np.mean([math.dist((x, y), middle) for middle in middles])
        assert midpoint_distances(x, y, side) == pytest.approx(expected, rel=3e-7)


def test_midpoint_distances_are_least_in_the_centre():
    assert midpoint_distances(2, 2, 4) == 2.0
    assert midpoint_distances(0, 0, 4) == pytest.approx(1 + math.sqrt(5))
