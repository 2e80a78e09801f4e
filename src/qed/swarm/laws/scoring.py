"""What a task or a descriptor adds up in a cycle, robot by robot."""

import math
from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32

from qed.compile import inlined
from qed.swarm.laws.geometry import wrap
from qed.swarm.robot import CYCLE, ROBOT

FLOCK_RANGE = f32(0.5)  # m, in every environment
PER_RIGHT_ANGLE = f32(2.0 / math.pi)
GRID = 10  # patrolling cells along a side
CELL_LIFE = 1000  # cycles until an unvisited cell has lost all its value
FULL = 2 * CELL_LIFE  # a fresh cell's value for one cycle, as a whole number
FINE_CELL = 0.11  # m, a Thymio's length
PER_FINE_CELL = f32(1.0 / FINE_CELL)
# The turn of a cycle (rad) for each m/s of speed: the wheels opposed.
PER_FULL_TURN = f32(ROBOT.wheel_base / (2.0 * CYCLE))
HALF_SPEED = f32(0.5 * ROBOT.max_speed)  # m/s, border of SPIRIT's wheel bins, right-closed


@inlined
def flock(square: Any, turn: Any, speed_i: Any, speed_k: Any) -> Any:
    """Return what a pair adds to flocking: near, aligned, and moving the same way.

    ``square`` is the squared distance (m2), ``turn`` the difference of headings (rad), the
    speeds are fractions of the top speed along the own heading.
    """
    apart = min(abs(wrap(turn)) * PER_RIGHT_ANGLE, f32(1.0))
    gain = (f32(1.0) - apart) * max(speed_i * speed_k, f32(0.0))
    return gain if square < FLOCK_RANGE * FLOCK_RANGE else f32(0.0)


@inlined
def faded(cycles: Any) -> Any:
    """Return the summed value of a cell that was visited once and then left, in 1/2000.

    It is worth 1 in the cycle of the visit and loses 0.001 a cycle: 1 + 0.999 + 0.998 + ...,
    ``cycles`` terms at most a thousand of which are above zero.
    """
    terms = min(cycles, CELL_LIFE)
    return terms * (FULL + 1 - terms)


@inlined
def on_border(cell: Any) -> Any:
    """Return whether a patrolling cell touches a wall."""
    column = cell // GRID
    row = cell - column * GRID
    return column == 0 or column == GRID - 1 or row == 0 or row == GRID - 1


def fine_side(side: float) -> int:
    """Return the number of fine cells along a side (m) of the arena."""
    return math.ceil(side / FINE_CELL - 1e-9)


@inlined
def turn_feature(turn: Any, per_speed: Any) -> Any:
    """Return SDBC's turning feature of a robot from its turn in a cycle (rad)."""
    return f32(0.5) + f32(0.5) * wrap(turn) * PER_FULL_TURN * per_speed


@inlined
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


@inlined
def wheel_bin(speed: Any) -> Any:
    """Return SPIRIT's bin of a wheel speed (m/s)."""
    bin_ = i32(1) if speed > -HALF_SPEED else i32(0)
    bin_ += i32(1) if speed > f32(0.0) else i32(0)
    return bin_ + (i32(1) if speed > HALF_SPEED else i32(0))


@inlined
def action(left: Any, right: Any) -> Any:
    """Return SPIRIT's action index of two wheel speeds (m/s)."""
    return i32(4) * wheel_bin(left) + wheel_bin(right)
