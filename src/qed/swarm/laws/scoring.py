"""What a task or a descriptor adds up in a cycle."""

from __future__ import annotations

import math
from typing import Any

from numpy import float32 as f32

from qed.compile import law
from qed.swarm.laws.geometry import wrap

FLOCK_RANGE = f32(0.5)  # m, in every environment
PER_RIGHT_ANGLE = f32(2.0 / math.pi)
GRID = 10  # patrolling cells along a side
CELL_LIFE = 1000  # cycles until an unvisited cell has lost all its value
FULL = 2 * CELL_LIFE  # a fresh cell's value for one cycle, as a whole number


@law
def flock(square: Any, turn: Any, speed_i: Any, speed_k: Any) -> Any:
    """Return what a pair adds to flocking: near, aligned, and moving the same way.

    ``square`` is the squared distance (m2), ``turn`` the difference of headings (rad), the
    speeds are fractions of the top speed along the own heading.
    """
    apart = min(abs(wrap(turn)) * PER_RIGHT_ANGLE, f32(1.0))
    gain = (f32(1.0) - apart) * max(speed_i * speed_k, f32(0.0))
    return gain if square < FLOCK_RANGE * FLOCK_RANGE else f32(0.0)


@law
def faded(cycles: Any) -> Any:
    """Return the summed value of a cell that was visited once and then left, in 1/2000.

    It is worth 1 in the cycle of the visit and loses 0.001 a cycle: 1 + 0.999 + 0.998 + ...,
    ``cycles`` terms at most a thousand of which are above zero.
    """
    terms = min(cycles, CELL_LIFE)
    return terms * (FULL + 1 - terms)


@law
def on_border(cell: Any) -> Any:
    """Tell whether a patrolling cell touches a wall."""
    column = cell // GRID
    row = cell - column * GRID
    return column == 0 or column == GRID - 1 or row == 0 or row == GRID - 1
