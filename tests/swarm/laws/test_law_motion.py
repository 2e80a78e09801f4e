"""Free motion, as section 1.4 of the facts gives it."""

import math

import numpy as np
import pytest
from numpy import float32 as f32
from swarm.laws.plain import plain

from qed.swarm import robot
from qed.swarm.laws import contact, geometry, motion

MAX_IMPULSE = 1.5 * 0.04 / 0.27

target = plain(motion.target)
turn_rate = plain(motion.turn_rate)
turned = plain(motion.turned)
excess = plain(motion.excess)
within = plain(motion.within)
cos_sin = plain(geometry.cos_sin)
wrap = plain(geometry.wrap)


def drive(commands, angle=0.0):
    """Yield the poses of a robot that starts at rest and follows wheel commands by the laws."""
    x = y = vx = vy = turn = f32(0.0)
    angle = f32(angle)
    for left, right in commands:
        tx, ty = target(left, right, *cos_sin(angle))
        x = x + motion.LAG * vx + motion.DRIVE * tx
        y = y + motion.LAG * vy + motion.DRIVE * ty
        new_turn = turn_rate(left, right)
        angle = wrap(angle + turned(turn, new_turn))
        vx, vy, turn = tx, ty, new_turn
        yield float(x), float(y), float(angle)


def expected(commands, angle=0.0):
    """Yield the same in double precision, from the formulas."""
    place, velocity, turn = np.zeros(2), np.zeros(2), 0.0
    for left, right in commands:
        new = (left + right) / 2 * np.array([math.cos(angle), math.sin(angle)])
        place = place + 0.04 * velocity + 0.16 * new
        new_turn = (right - left) / 0.08
        angle += 0.04 * turn + 0.16 * new_turn
        velocity, turn = new, new_turn
        yield (*place, math.remainder(angle, 2 * math.pi))


def same_pose(got, wanted):
    x, y, angle = got
    assert (x, y) == pytest.approx(wanted[:2], abs=2e-6)
    assert math.remainder(angle - wanted[2], 2 * math.pi) == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("angle", [0.0, 1.0, -2.5, math.pi])
@pytest.mark.parametrize("speed", [0.05, 0.1, -0.1])
def test_straight_on_lags_by_a_sub_step(speed, angle):
    for cycle, (x, y, heading) in enumerate(drive([(speed, speed)] * 30, angle), start=1):
        way = speed * (0.2 * cycle - 0.04)
        assert (x, y) == pytest.approx((way * math.cos(angle), way * math.sin(angle)), abs=2e-6)
        assert heading == f32(angle)


@pytest.mark.parametrize("speed", [0.02, 0.1, -0.1])
def test_spin_lags_by_a_sub_step(speed):
    for cycle, pose in enumerate(drive([(-speed, speed)] * 30), start=1):
        same_pose(pose, (0.0, 0.0, speed / 0.04 * (0.2 * cycle - 0.04)))


@pytest.mark.parametrize("wheels", [(0.1, 0.05), (0.02, 0.1), (-0.1, -0.06), (0.0, 0.1)])
def test_arc(wheels):
    commands = [wheels] * 60
    for got, wanted in zip(drive(commands), expected(commands), strict=True):
        same_pose(got, wanted)


def test_changing_commands():
    commands = np.random.default_rng(3).uniform(-0.1, 0.1, (100, 2))
    for got, wanted in zip(drive(commands, 0.7), expected(commands, 0.7), strict=True):
        same_pose(got, wanted)


def test_arc_turns_about_a_point_beside_the_robot():
    *_, (x, y, angle) = drive([(0.05, 0.1)] * 10)
    middle = 0.08 / 2 * (0.1 + 0.05) / (0.1 - 0.05)
    assert math.hypot(x, y - middle) == pytest.approx(middle, rel=0.1)
    assert angle == pytest.approx(0.05 / 0.08 * 1.96, abs=1e-6)


def test_top_turn_rate():
    assert math.degrees(turn_rate(-0.1, 0.1)) == pytest.approx(143.24, abs=0.01)
    assert turn_rate(0.1, -0.1) == -turn_rate(-0.1, 0.1)
    assert turn_rate(0.1, 0.1) == 0.0


def test_target_is_the_mean_of_the_wheels_along_the_heading():
    assert target(0.1, 0.1, 0.6, 0.8) == pytest.approx((0.06, 0.08))
    assert target(0.1, 0.0, 0.0, -1.0) == pytest.approx((0.0, -0.05))
    assert target(0.1, -0.1, 0.6, 0.8) == (0.0, 0.0)


def test_one_impulse():
    assert pytest.approx(MAX_IMPULSE, rel=1e-6) == motion.MAX_IMPULSE


@pytest.mark.parametrize("angle", [0.0, 0.4, 2.0, -3.0])
def test_no_excess_within_an_impulse(angle):
    for size in (0.0, 0.1, 0.2, 0.2222):
        assert excess(size * math.cos(angle), size * math.sin(angle)) == 0.0


@pytest.mark.parametrize("angle", [0.0, 0.4, 2.0, -3.0])
@pytest.mark.parametrize("size", [0.23, 0.3, 0.4, 0.8])
def test_excess_leaves_one_impulse(angle, size):
    part = excess(size * math.cos(angle), size * math.sin(angle))
    assert 0.0 < part < 1.0
    assert (1 - part) * size == pytest.approx(MAX_IMPULSE, rel=1e-6)


def in_substeps(old, new):
    """Return the way (m) of a cycle in which a drive changes a velocity, step by step."""
    way, velocity, impulse = np.zeros(2), np.array(old), (0.0, 0.0)
    for _ in range(robot.SUBSTEPS):
        way += robot.LAG * velocity
        velocity = velocity + impulse
        error = np.subtract(new, velocity)
        given = np.array(plain(contact.limit_drive)(*impulse, *error), float)
        velocity, impulse = velocity + given - impulse, given
    return way


@pytest.mark.parametrize("change", [0.05, 0.2, 0.25, 0.4, 0.44])
@pytest.mark.parametrize("angle", [0.0, 0.7, 3.0])
def test_a_glide_is_its_sub_steps_up_to_two_impulses(angle, change):
    old = np.array([0.1, -0.03])
    step = change * np.array([math.cos(angle), math.sin(angle)])
    part = float(excess(*step))
    glide = robot.LAG * (old - part * step) + robot.DRIVE * (old + step)
    assert glide == pytest.approx(in_substeps(old, old + step), abs=1e-8)


def test_a_cycle_is_five_sub_steps():
    assert robot.SUBSTEPS == 5
    assert pytest.approx(robot.CYCLE) == robot.SUBSTEPS * robot.LAG


def test_within_keeps_a_place_between_the_walls():
    for at, kept in ((-0.01, 0.0), (0.0, 0.0), (0.3, 0.3), (4.0, 4.0), (4.01, 4.0)):
        assert within(at, 4.0) == f32(kept)
