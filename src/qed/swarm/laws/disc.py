"""A round robot: how it meets others, walls and obstacles, in one point each.

As the original simulator has it, the point that is touched lies in the middle of the overlap.
"""

import math
from typing import Any

from numpy import float32 as f32

from qed.compile import inlined
from qed.swarm.laws.rays import ray_disc
from qed.swarm.robot import ROBOT

RADIUS = f32(ROBOT.outer_radius)
HALF, ONE, ZERO = f32(0.5), f32(1.0), f32(0.0)
SHORT = f32(1e-6)  # m


@inlined
def unit_vector(x: Any, y: Any) -> Any:
    """Return the length of a vector (m) and its direction, ahead if it has none."""
    length = f32(math.sqrt(x * x + y * y))
    scale = ONE / length if length > SHORT else ZERO
    return length, x * scale if length > SHORT else ONE, y * scale


@inlined
def beyond(dx: Any, dy: Any, c: Any, s: Any, other_c: Any, other_s: Any) -> Any:
    """Return gap (m; negative: overlap) and normal to a robot that is (dx, dy) away."""
    distance, nx, ny = unit_vector(dx, dy)
    return distance - (RADIUS + RADIUS), nx, ny


separation = beyond


@inlined
def touching_points(
    dx: Any, dy: Any, c: Any, s: Any, other_c: Any, other_s: Any, nx: Any, ny: Any, face: Any
) -> Any:
    """Return where two robots touch, as ``bodies.touching_points``: the second point is apart."""
    half = HALF * (nx * dx + ny * dy)
    gap = half + half - (RADIUS + RADIUS)
    return half, ZERO, -half, ZERO, gap, half, ZERO, -half, ZERO, ONE


@inlined
def two_farthest_corners(ux: Any, uy: Any) -> Any:
    """Return the farthest point along the unit vector u as corner 0; there is no second one."""
    return RADIUS, ZERO, ZERO, -ONE, ZERO, ONE


@inlined
def contact_arm(arm: Any, depth: Any) -> Any:
    """Return the arm of a contact (m) with something fixed that is so deep inside (m)."""
    return arm - HALF * depth


@inlined
def body_point(x: Any, y: Any) -> Any:
    """Return normal, gap, arm and lever (m) from a robot at the origin to the point (x, y)."""
    distance, nx, ny = unit_vector(x, y)
    return nx, ny, distance - RADIUS, RADIUS, ZERO


@inlined
def ray_body(ox: Any, oy: Any, dx: Any, dy: Any) -> Any:
    """Return where a ray enters a robot at the origin (m), or FAR; blind from inside."""
    return ray_disc(ox, oy, dx, dy, RADIUS)
