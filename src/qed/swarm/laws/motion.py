"""How wheels move a body that nothing touches."""

import math
from typing import Any

from numpy import float32 as f32

from qed.compile import inlined
from qed.swarm import robot

LAG = f32(robot.LAG)
DRIVE = f32(robot.DRIVE)
HALF = f32(0.5)
PER_WHEEL_BASE = f32(1.0 / robot.WHEEL_BASE)
# The speed that the strongest drive impulse of one sub-step gives a robot (m/s).
MAX_IMPULSE = f32(robot.MAX_FORCE * robot.LAG / robot.MASS)


@inlined
def target(left: Any, right: Any, c: Any, s: Any) -> Any:
    """Return the velocity that the wheels ask for (m/s), heading (c, s)."""
    speed = HALF * (left + right)
    return speed * c, speed * s


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
    return f32(1.0) - min(MAX_IMPULSE / math.sqrt(dx * dx + dy * dy), f32(1.0))


@inlined
def within(at: Any, side: Any) -> Any:
    """Return a place (m) kept between two walls: the last resort, if a crowd is crushed."""
    return min(max(at, f32(0.0)), side)
