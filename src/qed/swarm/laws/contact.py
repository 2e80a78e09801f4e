"""Contacts between force-limited drives and bodies, in sub-steps of 0.04 s.

In each sub-step bodies move first, then it is found what they touch, then velocities are solved
by some iterations of impulses: all contacts, then every robot's drive.  Nothing pushes an
overlap apart: a contact only stops what closes in, so an overlap stays as the sub-step left it.

Impulses are divided by the robots' mass, so they are velocities (m/s).  A contact has a unit
normal n towards the other body and a tangent (-ny, nx); it pushes with ``press`` along the
normal and rubs with ``rub`` along the tangent.  The point that is touched lies ``arm`` along the
normal and ``lever`` along the tangent from the robot's centre (m).

A contact turns a robot within an iteration; at its end the gear, far stronger, has turned it
back to the rate its wheels ask for.  So headings follow the wheels alone, but a contact off the
centre takes more iterations to stop a robot.
"""

from __future__ import annotations

import math
from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32

from qed.compile import law
from qed.swarm import robot
from qed.swarm.laws.motion import MAX_IMPULSE

ITERATIONS = 5  # of a sub-step
FRICTION = f32(0.49)  # between robots
WALL_FRICTION = f32(0.07)  # with walls and obstacles
EASE = f32(robot.MASS / robot.MOMENT)  # how easily an impulse turns a robot (1/m2)
MARGIN_TIME = 1.5 * robot.CYCLE  # s of full speed; what is farther off is not met in a cycle

TO_FIXED = f32(2.0**24)  # sums of impulses are integers, so that their order does not matter
FROM_FIXED = f32(2.0**-24)


def margin(max_speed: float) -> float:
    """Return how far (m) from a body's circumscribed disc a cycle may bring it into touch.

    Robots that others push may be faster than their wheels, but hardly by more than half.
    """
    return MARGIN_TIME * max_speed


def near_radius(proximity_range: float, max_speed: float) -> float:
    """Return how near (m) robots must be to see each other, or to touch in the next cycle."""
    seen = proximity_range + robot.SENSOR_REACH + robot.BODY_OUTER_RADIUS
    return max(seen, 2.0 * robot.BODY_OUTER_RADIUS + 2.0 * margin(max_speed))


@law
def drive(jx: Any, jy: Any, wx: Any, wy: Any) -> Any:
    """Return the drive's impulse j after it tried to correct the velocity error w (m/s)."""
    ax = jx + wx
    ay = jy + wy
    kept = min(MAX_IMPULSE / math.sqrt(ax * ax + ay * ay), f32(1.0))
    return ax * kept, ay * kept


@law
def pulled(
    vx: Any, vy: Any, spin: Any, jx: Any, jy: Any, gear: Any, tx: Any, ty: Any, turn: Any
) -> Any:
    """Let a drive pull towards the velocity t, and the gear towards the turn rate (rad/s).

    Returns the velocity, and the impulses of both; the spin is the turn rate then.
    """
    ax, ay = drive(jx, jy, tx - vx, ty - vy)
    return vx + (ax - jx), vy + (ay - jy), ax, ay, gear + (turn - spin)


@law
def share(lever: Any) -> Any:
    """Return the part of a speed that an impulse at this lever (m) of one robot corrects.

    The rest becomes spin, which the gear takes back.
    """
    return f32(1.0) / (f32(1.0) + EASE * (lever * lever))


@law
def pair_share(lever_i: Any, lever_k: Any) -> Any:
    """Return the part of the speed between two robots that an impulse at these levers corrects."""
    return f32(1.0) / (f32(2.0) + EASE * (lever_i * lever_i + lever_k * lever_k))


@law
def patience(partners_i: Any, partners_k: Any) -> Any:
    """Return the part of its correction that a pair of robots takes at once.

    Robots with more than two partners correct less, since all pairs are corrected from the same
    velocities and their corrections add up.
    """
    most = max(partners_i, partners_k)
    return f32(1.0) if most <= 2 else f32(2.0) / f32(most)


@law
def press(old: Any, share: Any, closing: Any) -> Any:
    """Return the normal impulse (m/s) after a correction of the closing speed (m/s)."""
    return max(f32(0.0), old + share * closing)


@law
def rub(old: Any, share: Any, sliding: Any, grip: Any) -> Any:
    """Return the tangential impulse (m/s), at most ``grip`` either way."""
    return min(max(old + share * sliding, -grip), grip)


@law
def hold(
    vn: Any, vt: Any, spin: Any, arm: Any, lever: Any,
    pressed: Any, rubbed: Any, normal_share: Any, tangent_share: Any,
) -> Any:  # fmt: skip
    """Let something fixed hold a robot that touches it; return its motion and the impulses.

    Its velocity (vn, vt) is along normal and tangent (m/s), its spin in rad/s.
    """
    new_press = press(pressed, normal_share, vn - spin * lever)
    new_rub = rub(rubbed, tangent_share, vt + spin * arm, WALL_FRICTION * new_press)
    dp = new_press - pressed
    dr = new_rub - rubbed
    return vn - dp, vt - dr, spin - torque(arm, lever, dp, dr), new_press, new_rub


@law
def spinning(spin_i: Any, spin_k: Any, arm_i: Any, lever_i: Any, arm_k: Any, lever_k: Any) -> Any:
    """Return how fast the spins (rad/s) of two robots let a point close in and slide (m/s)."""
    return spin_k * lever_k - spin_i * lever_i, spin_i * arm_i - spin_k * arm_k


@law
def coupling(
    arm_i: Any, lever_i: Any, arm_k: Any, lever_k: Any,
    other_arm_i: Any, other_lever_i: Any, other_arm_k: Any, other_lever_k: Any,
) -> Any:  # fmt: skip
    """Return what impulses at one point of two robots take from the speeds at another point.

    Of the closing speed what a press and what a rub takes, then of the sliding speed.
    """
    return (
        f32(2.0) + EASE * (lever_i * other_lever_i + lever_k * other_lever_k),
        -EASE * (arm_i * other_lever_i + arm_k * other_lever_k),
        -EASE * (lever_i * other_arm_i + lever_k * other_arm_k),
        f32(2.0) + EASE * (arm_i * other_arm_i + arm_k * other_arm_k),
    )


@law
def push(
    closing: Any, sliding: Any, pressed: Any, rubbed: Any, normal_share: Any, tangent_share: Any
) -> Any:
    """Let two robots push each other at a point with these speeds; return the impulses."""
    new_press = press(pressed, normal_share, closing)
    return new_press, rub(rubbed, tangent_share, sliding, FRICTION * new_press)


@law
def torque(arm: Any, lever: Any, pressed: Any, rubbed: Any) -> Any:
    """Return the spin (rad/s) that these impulses take from a robot."""
    return EASE * (arm * rubbed - lever * pressed)


@law
def fixed(value: Any) -> Any:
    """Return an impulse as a whole number of 2^-24 m/s."""
    return i32(value * TO_FIXED)


@law
def nearer_wall(at: Any, side: Any) -> Any:
    """Return the sign of the axis towards the nearer of two walls, and the way to it (m)."""
    beyond = side - at
    return (f32(1.0), beyond) if beyond < at else (f32(-1.0), at)


@law
def remembered(corner: Any, first: Any, second: Any, one: Any, two: Any) -> Any:
    """Return the impulse that a corner had: one of two that are kept by their corners, or none.

    A negative number is no corner.
    """
    other = two if corner == second else f32(0.0)
    found = one if corner == first else other
    return found if corner >= f32(0.0) else f32(0.0)
