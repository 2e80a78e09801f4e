"""Force-limited drives and what bodies do to each other."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy import float32 as f32
from swarm.laws.plain import plain

from qed.swarm.laws import contact
from qed.swarm.laws.motion import MAX_IMPULSE

drive = plain(contact.drive)
approach = plain(contact.approach)
press = plain(contact.press)
rub = plain(contact.rub)
fixed = plain(contact.fixed)
nearer_wall = plain(contact.nearer_wall)
wall_approach = plain(contact.wall_approach)

SPEED = st.floats(-2.0, 2.0, width=32)
GRIP = st.floats(0.0, 1.0, width=32)
GAP = st.floats(float(f32(-0.2)), 0.5, width=32)
SHARE = st.sampled_from([0.25, 0.5, 1.0])
examples = settings(max_examples=300, deadline=None, derandomize=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [("FRICTION", 0.49), ("WALL_FRICTION", 0.07), ("SLOP", 0.002), ("PUSH_OUT", 0.05)],
)
def test_constants(name, value):
    assert getattr(contact, name) == f32(value)


def test_margin_time():
    assert pytest.approx(0.35) == contact.MARGIN_TIME


@examples
@given(SPEED, SPEED, SPEED, SPEED)
def test_drive_is_limited(jx, jy, wx, wy):
    ax, ay = map(float, drive(jx, jy, wx, wy))
    asked = math.hypot(jx + wx, jy + wy)
    assert math.hypot(ax, ay) <= MAX_IMPULSE * (1 + 2e-7)
    assert math.hypot(ax, ay) == pytest.approx(min(asked, float(MAX_IMPULSE)), rel=1e-6, abs=1e-12)
    assert ax * (jx + wx) + ay * (jy + wy) >= 0
    assert abs(ax * (jy + wy) - ay * (jx + wx)) <= 1e-6 * max(asked, 1e-6)


def test_drive_gives_all_that_is_asked_within_its_limit():
    assert drive(0.05, -0.1, 0.1, 0.05) == (f32(0.05) + f32(0.1), f32(-0.1) + f32(0.05))
    assert drive(0.0, 0.0, 0.2, -0.05) == (f32(0.2), f32(-0.05))


@examples
@given(GAP)
def test_approach_closes_the_gap_in_one_drive(gap):
    expected = max((gap + 0.002) / 0.16, -0.05)
    assert approach(gap) == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_approach_of_known_gaps():
    assert approach(-0.002) == 0.0
    assert approach(0.014) == pytest.approx(0.1)
    assert approach(-0.01) == pytest.approx(-0.05)
    assert approach(-1.0) == pytest.approx(-0.05)


def test_wall_out_of_reach_allows_any_speed():
    assert wall_approach(0.01, 0.035) == approach(0.01)
    assert wall_approach(-0.01, 0.0) == approach(-0.01)
    assert wall_approach(0.035, 0.035) == f32(1e9)
    assert wall_approach(0.04, 0.035) == f32(1e9)


def test_pair_shares_shrink_with_the_crowd():
    share = contact.pair_share
    assert share(1, 1) == 0.5
    for i in range(1, 20):
        for k in range(1, 20):
            assert share(i, k) == share(k, i)
            if max(i, k) > 1:
                assert share(i, k) == f32(1 / max(i, k, 4))


@pytest.mark.parametrize(
    ("at", "sign", "way"), [(0.5, -1, 0.5), (3.5, 1, 0.5), (-0.01, -1, -0.01), (4.01, 1, -0.01)]
)
def test_nearer_wall(at, sign, way):
    got_sign, got_way = nearer_wall(at, 4.0)
    assert got_sign == sign
    assert got_way == pytest.approx(way, abs=3e-7)


@examples
@given(st.floats(0.0, 2.0, width=32), SHARE, SPEED)
def test_press_only_pushes(old, share, closing):
    got = press(old, share, closing)
    assert got >= 0
    assert got == pytest.approx(max(0.0, old + share * closing), rel=1e-6, abs=3e-7)


@examples
@given(SPEED, SHARE, SPEED, GRIP)
def test_rub_is_within_the_grip(old, share, sliding, grip):
    got = rub(old, share, sliding, grip)
    assert -grip <= got <= grip
    free = old + share * sliding
    assert got == pytest.approx(max(-grip, min(free, grip)), rel=1e-6, abs=3e-7)


@examples
@given(st.floats(-100.0, 100.0, width=32))
def test_fixed_is_odd_and_cuts_towards_zero(value):
    got = int(fixed(value))
    assert int(fixed(-value)) == -got
    assert got == math.trunc(value * 2**24)


def test_fixed_and_back():
    for value in (0.0, 0.25, -0.125, 2.0**-24, -3 * 2.0**-24):
        assert f32(fixed(value)) * contact.FROM_FIXED == value


def push(start, targets, cycles, share):
    """Return the velocities of robots on a line, each against the next, after some cycles.

    The gaps stay at the slop, so that no approach is allowed.
    """
    v = np.array(start, f32)
    j = np.zeros(len(targets), f32)
    pressed = np.zeros(len(targets) - 1, f32)
    allowed = approach(-0.002)
    for _ in range(cycles):
        v[:-1] -= pressed
        v[1:] += pressed
        v += j
        for _ in range(contact.SWEEPS):
            for i, wanted in enumerate(targets):
                new, _ = drive(j[i], 0.0, f32(wanted) - v[i], 0.0)
                v[i] += new - j[i]
                j[i] = new
            closing = v[:-1] - v[1:] - allowed
            new = np.array([press(p, share, c) for p, c in zip(pressed, closing, strict=True)])
            v[:-1] -= new - pressed
            v[1:] += new - pressed
            pressed = new
    return v


@pytest.mark.parametrize("cycles", [1, 2, 20])
def test_opposed_equal_robots_stop(cycles):
    for start in ((0.1, -0.1), (0.0, 0.0)):
        assert push(start, (0.1, -0.1), cycles, 0.5) == pytest.approx([0.0, 0.0], abs=1e-6)


@pytest.mark.parametrize("cycles", [1, 2, 20])
@pytest.mark.parametrize("targets", [(0.1, -0.05), (0.03, -0.09), (0.1, 0.0)])
def test_opposed_robots_keep_the_mean_of_their_targets(targets, cycles):
    mean = sum(targets) / 2
    assert push(targets, targets, cycles, 0.5) == pytest.approx([mean, mean], abs=1e-6)


def test_opposed_robots_do_not_start_from_rest():
    assert push((0.0, 0.0), (0.1, -0.05), 20, 0.5) == pytest.approx([0.0, 0.0], abs=1e-6)


def test_robots_that_part_do_not_press():
    targets = (-0.05, 0.1)
    assert push((0.0, 0.0), targets, 5, 0.5) == pytest.approx(targets, abs=1e-7)


@pytest.mark.parametrize("start", [(0.0, 0.0, 0.0), (0.1, 0.1, -0.1)])
def test_majority_wins(start):
    assert push(start, (0.1, 0.1, -0.1), 20, 0.25) == pytest.approx([0.1] * 3, abs=0.01)
    mirrored = [-speed for speed in reversed(start)]
    assert push(mirrored, (0.1, -0.1, -0.1), 20, 0.25) == pytest.approx([-0.1] * 3, abs=0.01)
