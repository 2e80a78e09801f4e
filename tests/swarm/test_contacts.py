"""What contacts do in the engine, in cases that paper and pencil solve."""

from __future__ import annotations

import math

import numpy as np
import pytest

import qed

SIDE = 4.0
STEP = 0.04  # s, of physics
FRONT = 0.055  # m, from a robot's middle to its front


def ahead(poses, speed=0.1, seconds=20.0):
    """Return the trace of robots that drive straight ahead, whatever they meet."""
    full = qed.Controller([], [9.0, 9.0])
    env = qed.Environment(robots=len(poses), max_speed=speed)
    return qed.trace(full, env, seconds=seconds, start=qed.Start(poses), noise=0.0)


def last_speeds(trace):
    """Return the velocity of each robot over the last second (m/s)."""
    return np.stack([at[-1].astype(float) - at[-6] for at in (trace.x, trace.y)], -1)


def left_over(gap, closing):
    """Return the overlap (m) in the sub-step that first finds one, at some closing speed."""
    steps = math.floor(gap / (STEP * closing)) + 1
    return steps * STEP * closing - gap


@pytest.mark.parametrize("gap", [0.0301, 0.0319, 0.0327, 0.0338])
@pytest.mark.parametrize("speed", [0.1, 0.2])
def test_a_wall_stops_a_robot_in_the_sub_step_that_finds_it_inside(speed, gap):
    trace = ahead([(SIDE - FRONT - gap, 2.0, 0.0)], speed)
    overlap = trace.x[-1, 0] + FRONT - SIDE
    assert overlap == pytest.approx(left_over(gap, speed), abs=2e-5)
    assert last_speeds(trace) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("angle", [20, 45, 70, -45])
def test_a_robot_slides_along_a_wall_slowed_by_friction(angle):
    tn, tt = 0.1 * math.cos(math.radians(angle)), 0.1 * math.sin(math.radians(angle))
    trace = ahead([(3.9, 2.0, math.radians(angle))], seconds=10.0)
    slowed = tt - math.copysign(0.07 * tn, tt)
    assert last_speeds(trace)[0] == pytest.approx((0.0, slowed), abs=1e-5)


def test_a_robot_inside_a_wall_that_drives_along_it_is_neither_slowed_nor_pushed_out():
    inside = SIDE - 0.052  # its side is 1 mm inside
    trace = ahead([(inside, 2.0, math.pi / 2)], seconds=10.0)
    assert trace.x[-1, 0] == pytest.approx(inside, abs=1e-5)
    assert last_speeds(trace)[0] == pytest.approx((0.0, 0.1), abs=1e-5)


@pytest.mark.parametrize("gap", [0.0301, 0.0327, 0.035])
def test_two_opposed_robots_stop_each_other(gap):
    trace = ahead([(2.0 - FRONT - gap, 2.0, 0.0), (2.0 + FRONT + gap, 2.0, math.pi)])
    overlap = 2 * FRONT - (trace.x[-1, 1] - trace.x[-1, 0])
    assert overlap == pytest.approx(left_over(2 * gap, 0.2), abs=2e-5)
    assert trace.x[-1].mean() == pytest.approx(2.0, abs=1e-6)
    assert last_speeds(trace) == pytest.approx(0.0, abs=1e-5)


def test_two_push_one():
    trace = ahead([(1.69, 2.0, 0.0), (1.8, 2.0, 0.0), (2.0, 2.0, math.pi)], seconds=15.0)
    assert last_speeds(trace) == pytest.approx(np.tile([0.1, 0.0], (3, 1)), abs=1e-4)


def test_an_obstacle_stops_a_robot():
    trace = qed.trace(
        qed.Controller([], [9.0, 9.0]),
        qed.Environment(robots=1, obstacles=1),
        seconds=10.0,
        start=qed.Start([(1.7, 2.0, 0.0)], [(2.0, 2.0)]),
        noise=0.0,
    )
    overlap = trace.x[-1, 0] + FRONT - (2.0 - 0.15)
    assert overlap == pytest.approx(left_over(0.095, 0.1), abs=2e-5)
    assert last_speeds(trace) == pytest.approx(0.0, abs=1e-6)
