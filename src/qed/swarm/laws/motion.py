"""How wheels move a body that nothing touches."""

import math
from typing import Any

from numpy import float32 as f32

from qed.compile import inlined
from qed.swarm import robot
from qed.swarm.laws.geometry import at_most
from qed.swarm.robot import ROBOT

LAG = f32(robot.LAG)
DRIVE = f32(robot.DRIVE)
HALF = f32(0.5)
PER_WHEEL_BASE = f32(1.0 / ROBOT.wheel_base)
# A Thymio's drive changes its velocity by 0.22 m/s in a sub-step: two are enough for its speeds of
# up to 0.2 m/s, and no more are looked at.  Other robots may be asked for more than they can do.
MANY_IMPULSES = ROBOT.digest != robot.THYMIO.digest
# The speed that the strongest drive impulse of one sub-step gives a robot (m/s).
MAX_IMPULSE = f32(ROBOT.max_force * robot.LAG / ROBOT.mass)


@inlined
def target(left: Any, right: Any, c: Any, s: Any) -> Any:
    """Return the velocity that the wheels ask for (m/s), heading (c, s)."""
    speed = HALF * (left + right)
    return speed * c, speed * s


@inlined
def worn(wear: Any, cycles: Any) -> Any:
    """Return the part of a wheel's speed that is left after so many cycles."""
    return max(f32(1.0) - wear * f32(cycles), f32(0.0))


@inlined
def turn_rate(left: Any, right: Any) -> Any:
    """Return the turn rate that the wheels ask for (rad/s)."""
    return (right - left) * PER_WHEEL_BASE


@inlined
def turned(before: Any, after: Any) -> Any:
    """Return the change of heading in a cycle (rad) from the old and the new turn rate."""
    return LAG * before + DRIVE * after


@inlined
def excess(dx: Any, dy: Any) -> Any:
    """Return the part of a velocity change that is beyond one drive impulse (0 to 1)."""
    return f32(1.0) - at_most(MAX_IMPULSE, dx * dx + dy * dy)


@inlined
def still_missing(dx: Any, dy: Any) -> Any:
    """Return what is left of a velocity change after two and more drive impulses.

    Added up over the later sub-steps of a cycle, and what the cycle leaves (parts of the change).
    """
    impulse = MAX_IMPULSE / math.sqrt(dx * dx + dy * dy)
    late = max(f32(1.0) - f32(2.0) * impulse, f32(0.0))
    late += max(f32(1.0) - f32(3.0) * impulse, f32(0.0))
    late += max(f32(1.0) - f32(4.0) * impulse, f32(0.0))
    return late, max(f32(1.0) - f32(5.0) * impulse, f32(0.0))


@inlined
def within(at: Any, side: Any) -> Any:
    """Return a place (m) kept between two walls: the last resort, if a crowd is crushed."""
    return min(max(at, f32(0.0)), side)
