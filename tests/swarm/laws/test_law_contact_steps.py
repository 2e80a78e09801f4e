"""What the laws of contact come to over many sub-steps, in cases that paper and pencil solve."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy import float32 as f32
from swarm.laws.plain import plain

from qed.swarm.laws import contact

limit_drive = plain(contact.limit_drive)
solve_drive = plain(contact.solve_drive)
effective_mass = plain(contact.effective_mass)
pair_effective_mass = plain(contact.pair_effective_mass)
normal_impulse = plain(contact.normal_impulse)
solve_contact = plain(contact.solve_contact)
angular_impulse = plain(contact.angular_impulse)


def in_line(start, targets, substeps):
    """Return the speeds of robots in a line, each against the next, after every sub-step.

    They touch at their middles, so nothing turns them.
    """
    v = np.array(start, f32)
    j = np.zeros(len(targets), f32)
    pn = np.zeros(len(targets) - 1, f32)
    partners = [1, *[2] * (len(targets) - 2), 1]
    parts = [
        pair_effective_mass(0.0, 0.0) * contact.relaxation(i, k) for i, k in pairwise(partners)
    ]
    seen = []
    for _ in range(substeps):
        v += j
        v[:-1] -= pn
        v[1:] += pn
        for _ in range(contact.ITERATIONS):
            closing = v[:-1] - v[1:]
            new = np.array(list(map(normal_impulse, pn, parts, closing)))
            v[:-1] -= new - pn
            v[1:] += new - pn
            pn = new
            for i, wanted in enumerate(targets):
                given, _ = limit_drive(j[i], 0.0, f32(wanted) - v[i], 0.0)
                v[i] += given - j[i]
                j[i] = given
        seen.append(v.copy())
    return np.array(seen)


@pytest.mark.parametrize("start", [(0.1, -0.1), (0.0, 0.0)])
def test_opposed_equal_robots_stop_at_once(start):
    assert np.abs(in_line(start, (0.1, -0.1), 50)).max() < 1e-6


@pytest.mark.parametrize("targets", [(0.1, -0.05), (0.03, -0.09), (0.1, 0.0)])
def test_drives_of_equal_strength_leave_the_mean_of_what_robots_ask_for(targets):
    mean = sum(targets) / 2
    assert in_line(targets, targets, 50)[2:] == pytest.approx(mean, abs=1e-6)


def test_opposed_robots_do_not_start_from_rest():
    assert np.abs(in_line((0.0, 0.0), (0.1, -0.05), 50)).max() < 1e-6


def test_robots_that_part_do_not_press():
    targets = (-0.05, 0.1)
    assert in_line((0.0, 0.0), targets, 5) == pytest.approx(np.tile(targets, (5, 1)), abs=1e-7)


@pytest.mark.parametrize("start", [(0.0, 0.0, 0.0), (0.1, 0.1, -0.1)])
def test_majority_wins(start):
    speeds = in_line(start, (0.1, 0.1, -0.1), 20)
    assert speeds[-1] == pytest.approx([0.1] * 3, abs=1e-4)
    mirrored = in_line([-speed for speed in reversed(start)], (0.1, -0.1, -0.1), 20)
    assert mirrored == pytest.approx(-speeds[:, ::-1], abs=1e-6)


def at_wall(target, turn, points, substeps):
    """Return normal and tangential speed of a robot after some sub-steps at a wall.

    The points (arm, lever) stay inside it.
    """
    vn = vt = jn = jt = angular_drive = f32(0.0)
    kept = [(f32(0.0), f32(0.0))] * len(points)
    masses = [(effective_mass(lever), effective_mass(arm)) for arm, lever in points]
    for _ in range(substeps):
        vn, vt, spin = vn + jn, vt + jt, f32(turn) + angular_drive
        for (arm, lever), (pn, pt) in zip(points, kept, strict=True):
            vn, vt = vn - pn, vt - pt
            spin = spin - angular_impulse(arm, lever, pn, pt)
        for _ in range(contact.ITERATIONS):
            for n, (arm, lever) in enumerate(points):
                vn, vt, spin, *impulses = solve_contact(
                    vn, vt, spin, arm, lever, *kept[n], *masses[n]
                )
                kept[n] = tuple(impulses)
            vn, vt, jn, jt, angular_drive = solve_drive(
                vn, vt, spin, jn, jt, angular_drive, *target, turn
            )
            spin = f32(turn)
    return float(vn), float(vt)


CORNERS = {
    "a corner": [(0.07, 0.02)],
    "a side": [(0.055, -0.053), (0.055, 0.033)],
    "the rear": [(0.053, -0.055), (0.053, 0.055)],
}


@pytest.mark.parametrize("points", CORNERS.values(), ids=CORNERS)
@pytest.mark.parametrize("angle", [20, 45, 70, -45])
def test_a_robot_slides_along_a_wall_slowed_by_friction(angle, points):
    tn, tt = 0.1 * math.cos(math.radians(angle)), 0.1 * math.sin(math.radians(angle))
    vn, vt = at_wall((tn, tt), 0.0, points, 200)
    assert vn == pytest.approx(0.0, abs=1e-5)
    # Friction takes 0.07 of the normal impulse, and the drive, at its limit, pulls along its error.
    assert vt == pytest.approx(tt - math.copysign(0.07 * tn, tt), abs=1e-4)


@pytest.mark.parametrize("points", CORNERS.values(), ids=CORNERS)
def test_a_robot_that_faces_a_wall_is_stuck(points):
    vn, vt = at_wall((0.1, 0.0), 0.0, points, 200)
    assert (vn, vt) == pytest.approx((0.0, 0.0), abs=1e-5)


def test_a_robot_that_turns_at_a_wall_is_pushed_away():
    # The corner goes into the wall as the robot turns, so the wall pushes the robot as fast.
    vn, _ = at_wall((0.0, 0.0), -2.0, [(0.055, 0.03)], 200)
    assert vn == pytest.approx(-2.0 * 0.03, abs=1e-3)
