"""Any convex outline: the laws of ``bodies``, ``geometry`` and ``rays`` for corners in general.

Those are for the Thymio, whose outline is its own mirror image: half the work.
"""

import math
from typing import Any

import numpy as np
from numpy import float32 as f32

from qed.compile import inlined
from qed.swarm.laws.bodies import (
    ahead,
    between_ends,
    contact_arm,
    face_to_face,
    farther,
    nearer_edge,
)
from qed.swarm.laws.geometry import FAR
from qed.swarm.laws.rays import clip_face, entry
from qed.swarm.robot import ROBOT, faces

CORNERS = np.array(ROBOT.body, f32)
FACES = np.array(faces(ROBOT.body), f32)  # normal and offset, from corner k to k + 1
# The edges from corner k to k + 1: from, to, normal, offset (m).
EDGES = np.concatenate([CORNERS, np.roll(CORNERS, -1, 0), FACES], 1)
COUNT = len(CORNERS)
ONE, ZERO = f32(1.0), f32(0.0)


@inlined
def support(nx: Any, ny: Any, c: Any, s: Any) -> Any:
    """Return how far a body with heading (c, s) reaches along the unit vector n (m)."""
    bx = c * nx + s * ny
    by = c * ny - s * nx
    reach = CORNERS[0, 0] * bx + CORNERS[0, 1] * by
    for k in range(1, COUNT):
        reach = max(reach, CORNERS[k, 0] * bx + CORNERS[k, 1] * by)
    return reach


@inlined
def farther_face(
    gap: Any, nx: Any, ny: Any, face_x: Any, face_y: Any, h: Any, x: Any, y: Any, c: Any, s: Any
) -> Any:
    """Compare a gap (m) and its normal with how far a body is beyond one more face."""
    other = face_x * x + face_y * y - h - support(-face_x, -face_y, c, s)
    return farther(gap, nx, ny, other, face_x, face_y)


@inlined
def beyond(dx: Any, dy: Any, c: Any, s: Any, other_c: Any, other_s: Any) -> Any:
    """Return how far a body that is (dx, dy) away is beyond the faces of this one (m).

    With it comes the normal of the face that it is farthest beyond.
    """
    turn_c = c * other_c + s * other_s
    turn_s = c * other_s - s * other_c
    x = c * dx + s * dy
    y = c * dy - s * dx
    gap, nx, ny = -FAR, ONE, ZERO
    for k in range(COUNT):
        fx, fy, h = FACES[k, 0], FACES[k, 1], FACES[k, 2]
        gap, nx, ny = farther_face(gap, nx, ny, fx, fy, h, x, y, turn_c, turn_s)
    return gap, c * nx - s * ny, s * nx + c * ny


@inlined
def separation(dx: Any, dy: Any, c: Any, s: Any, other_c: Any, other_s: Any) -> Any:
    """Return gap (m; negative: overlap) and normal from a body to one that is (dx, dy) away."""
    gap, nx, ny = beyond(dx, dy, c, s, other_c, other_s)
    other, mx, my = beyond(-dx, -dy, other_c, other_s, c, s)
    return farther(gap, nx, ny, other, -mx, -my)


@inlined
def two_farthest_corners(ux: Any, uy: Any) -> Any:
    """Return the two corners that are farthest along the unit vector u, by their numbers.

    Of each: where it lies along u and along (-uy, ux) (m), and its number.  Around a convex
    outline the way along u rises and falls once, so that the two are neighbours.
    """
    along1, across1, number1 = -FAR, ZERO, ZERO
    along2, across2, number2 = -FAR, ZERO, ZERO
    for k in range(COUNT):
        along = CORNERS[k, 0] * ux + CORNERS[k, 1] * uy
        across = CORNERS[k, 1] * ux - CORNERS[k, 0] * uy
        first = along > along1
        second = along > along2
        along2 = along1 if first else along if second else along2
        across2 = across1 if first else across if second else across2
        number2 = number1 if first else f32(k) if second else number2
        along1 = along if first else along1
        across1 = across if first else across1
        number1 = f32(k) if first else number1
    return along1, across1, number1, along2, across2, number2


@inlined
def touching_points(
    dx: Any, dy: Any, c: Any, s: Any, other_c: Any, other_s: Any, nx: Any, ny: Any, face: Any
) -> Any:
    """Return the two points where two bodies touch, as ``bodies.touching_points``."""
    fx, fy, bx, by = face_to_face(c, s, other_c, other_s, nx, ny, face)
    return between_ends(
        nx * dx + ny * dy,
        nx * dy - ny * dx,
        two_farthest_corners(fx, fy),
        two_farthest_corners(bx, by),
        face,
        ahead(nx, ny) == face,
    )


@inlined
def from_point(x: Any, y: Any, qx: Any, qy: Any, beyond: Any) -> Any:
    """Return normal, gap, arm and lever (m) to (x, y) from the nearest point q of the outline."""
    nx = x - qx
    ny = y - qy
    gap = f32(math.sqrt(nx * nx + ny * ny))
    sign = -ONE if beyond < ZERO else ONE
    scale = sign / gap if gap > f32(1e-6) else ZERO
    nx = nx * scale if gap > f32(1e-6) else ONE
    ny = ny * scale
    return nx, ny, sign * gap, nx * qx + ny * qy, nx * qy - ny * qx


@inlined
def body_point(x: Any, y: Any) -> Any:
    """Return normal, gap, arm and lever (m) from a body at the origin to the point (x, y).

    A point inside is pushed out through the face it is least behind, with a negative gap.
    """
    qx, qy, outside = FAR, FAR, -FAR
    for k in range(COUNT):
        qx, qy, outside = nearer_edge(
            x, y, qx, qy, outside, EDGES[k, 0], EDGES[k, 1], EDGES[k, 2], EDGES[k, 3],
            EDGES[k, 4], EDGES[k, 5], EDGES[k, 6],
        )  # fmt: skip
    return from_point(x, y, qx, qy, outside)


@inlined
def ray_body(ox: Any, oy: Any, dx: Any, dy: Any) -> Any:
    """Return where a ray enters the body, both in its frame (m), or FAR; blind from inside."""
    enter, leave = -FAR, FAR
    for k in range(COUNT):
        enter, leave = clip_face(
            enter, leave, FACES[k, 0], FACES[k, 1], FACES[k, 2], ox, oy, dx, dy
        )  # fmt: skip
    return entry(enter, leave)


__all__ = [
    "beyond",
    "body_point",
    "contact_arm",
    "ray_body",
    "separation",
    "touching_points",
    "two_farthest_corners",
]
