"""What the behavioural descriptors look at, robot by robot."""

from __future__ import annotations

import math
from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32

from qed.compile import law
from qed.swarm import robot
from qed.swarm.laws.geometry import wrap

FINE_CELL = 0.11  # m, a Thymio's length
PER_FINE_CELL = f32(1.0 / FINE_CELL)
# The turn of a cycle (rad) for each m/s of speed: the wheels opposed.
PER_FULL_TURN = f32(robot.WHEEL_BASE / (2.0 * robot.CYCLE))
HALF_SPEED = f32(0.05)  # m/s, border of SPIRIT's wheel bins, right-closed


def fine_side(side: float) -> int:
    """Return the number of fine cells along a side (m) of the arena."""
    return math.ceil(side / FINE_CELL - 1e-9)


@law
def turn_feature(turn: Any, per_speed: Any) -> Any:
    """Return SDBC's turning feature of a robot from its turn in a cycle (rad)."""
    return f32(0.5) + f32(0.5) * wrap(turn) * PER_FULL_TURN * per_speed


@law
def midpoint_distances(x: Any, y: Any, side: Any) -> Any:
    """Return the mean distance (m) of a point to the middles of the four walls."""
    half = f32(0.5) * side
    across_x = (x - half) * (x - half)
    across_y = (y - half) * (y - half)
    top = f32(math.sqrt(across_x + (side - y) * (side - y)))
    bottom = f32(math.sqrt(across_x + y * y))
    right = f32(math.sqrt(across_y + (side - x) * (side - x)))
    left = f32(math.sqrt(across_y + x * x))
    return f32(0.25) * ((top + bottom) + (right + left))


@law
def wheel_bin(speed: Any) -> Any:
    """Return SPIRIT's bin of a wheel speed (m/s)."""
    bin_ = i32(1) if speed > -HALF_SPEED else i32(0)
    bin_ += i32(1) if speed > f32(0.0) else i32(0)
    return bin_ + (i32(1) if speed > HALF_SPEED else i32(0))


@law
def action(left: Any, right: Any) -> Any:
    """Return SPIRIT's action index of two wheel speeds (m/s)."""
    return i32(4) * wheel_bin(left) + wheel_bin(right)
