"""Contacts between force-limited drives and bodies.

Impulses are divided by the robots' mass, so they are velocities (m/s).  A contact has a unit
normal n towards the other body and a tangent (-ny, nx); it pushes with ``press`` along the
normal and rubs with ``rub`` along the tangent.
"""

from __future__ import annotations

import math
from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm import robot
from qed.swarm.compile import law
from qed.swarm.laws.motion import MAX_IMPULSE

SWEEPS = 8
SLOP = f32(0.002)  # m, overlap that is left alone
PUSH_OUT = f32(0.05)  # m/s, fastest separation of an overlap
PER_DRIVE = f32(1.0 / robot.DRIVE)
FRICTION = f32(0.49)  # between robots
WALL_FRICTION = f32(0.07)  # with walls and obstacles
MARGIN_TIME = 0.35  # s; a contact is looked at if it may be met in this time

TO_FIXED = f32(2.0**24)  # sums of impulses are integers, so that their order does not matter
FROM_FIXED = f32(2.0**-24)


def near_radius(proximity_range: float, max_speed: float) -> float:
    """Return how near (m) robots must be to see each other, or to touch in the next cycle.

    Contacts are looked for after the lag, in which two robots can come closer.
    """
    seen = proximity_range + robot.SENSOR_REACH + robot.BODY_OUTER_RADIUS
    margin = (MARGIN_TIME + 4.0 * robot.LAG) * max_speed + 0.005
    return max(seen, 2.0 * robot.BODY_OUTER_RADIUS + margin)


@law
def drive(jx: Any, jy: Any, wx: Any, wy: Any) -> Any:
    """Return the drive's impulse j after it tried to correct the velocity error w (m/s)."""
    ax = jx + wx
    ay = jy + wy
    kept = min(MAX_IMPULSE / math.sqrt(ax * ax + ay * ay), f32(1.0))
    return ax * kept, ay * kept


@law
def approach(gap: Any) -> Any:
    """Return the fastest approach (m/s) that a gap (m, negative: overlap) allows."""
    return max((gap + SLOP) * PER_DRIVE, -PUSH_OUT)


@law
def pair_share(partners_i: Any, partners_k: Any) -> Any:
    """Return the part of a velocity error that a pair of robots corrects at once.

    Equal masses take half each.  Robots with other partners correct less, since all pairs are
    corrected from the same velocities and their corrections add up.
    """
    most = max(partners_i, partners_k)
    return f32(0.5) if most == 1 else f32(1.0) / f32(max(most, 4))


@law
def press(old: Any, share: Any, closing: Any) -> Any:
    """Return the normal impulse (m/s) after a correction of the closing speed (m/s)."""
    return max(f32(0.0), old + share * closing)


@law
def rub(old: Any, share: Any, sliding: Any, grip: Any) -> Any:
    """Return the tangential impulse (m/s), at most ``grip`` either way."""
    return min(max(old + share * sliding, -grip), grip)


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
def wall_approach(gap: Any, margin: Any) -> Any:
    """Return the fastest approach (m/s) to a wall; no limit if it is out of reach."""
    return approach(gap) if gap < margin else f32(1e9)
