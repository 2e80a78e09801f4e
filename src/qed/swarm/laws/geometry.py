"""Angles, lines, and the Thymio's body polygon."""

import math
from typing import Any

import numpy as np
from numpy import float32 as f32

from qed.compile import inlined
from qed.swarm.robot import THYMIO

FAR = f32(1e9)  # m; what a ray that meets nothing returns
NEXT_TO_NOTHING = f32(1e-12)  # m2
SHORT = f32(1e-6)  # m
LEAN = f32(0.618)  # of the line that `ahead` looks across: no direction that robots have often
PI = f32(math.pi)
TWO_PI = f32(2.0 * math.pi)

# The Thymio's body is its own mirror image: the corners with x >= 0 describe it.
HALF_BODY = tuple(corner for corner in THYMIO.body if corner[0] >= 0.0)
# The half body's vertices, from the rear corner to the tip of the nose.
(X0, Y0), (X1, Y1), (X2, Y2), (X3, Y3), (_, Y4) = ((f32(x), f32(y)) for x, y in HALF_BODY)


def _edge(a: int, b: int) -> tuple[f32, f32, f32]:
    """Return outward normal and offset of the edge between two vertices of the half body."""
    (ax, ay), (bx, by) = HALF_BODY[a], HALF_BODY[b]
    length = math.hypot(bx - ax, by - ay)
    nx, ny = (by - ay) / length, (ax - bx) / length
    return f32(nx), f32(ny), f32(nx * ax + ny * ay)


# The three slanted edges on each side of the nose.
NX1, NY1, H1 = _edge(1, 2)
NX2, NY2, H2 = _edge(2, 3)
NX3, NY3, H3 = _edge(3, 4)
# All nine faces: outward normal and offset (m).
FACES = np.array(
    [
        (1.0, 0.0, X0),
        (-1.0, 0.0, X0),
        (0.0, -1.0, -Y0),
        (NX1, NY1, H1),
        (-NX1, NY1, H1),
        (NX2, NY2, H2),
        (-NX2, NY2, H2),
        (NX3, NY3, H3),
        (-NX3, NY3, H3),
    ],
    f32,
)
ZERO = f32(0.0)
ONE = f32(1.0)
# The edges of the half body from the middle of the rear to the tip: from, to, normal, offset (m).
EDGE0 = (ZERO, Y0, X0, Y0, ZERO, -ONE, -Y0)
EDGE1 = (X0, Y0, X1, Y1, ONE, ZERO, X0)
EDGE2 = (X1, Y1, X2, Y2, NX1, NY1, H1)
EDGE3 = (X2, Y2, X3, Y3, NX2, NY2, H2)
EDGE4 = (X3, Y3, ZERO, Y4, NX3, NY3, H3)
EDGES = np.array([EDGE0, EDGE1, EDGE2, EDGE3, EDGE4], f32)


@inlined
def unit(value: Any) -> Any:
    """Return a number that is at least 0 and at most 1."""
    return min(max(value, f32(0.0)), f32(1.0))


@inlined
def at_most(most: Any, square: Any) -> Any:
    """Return the part of a vector, given its squared length, that is no longer than ``most``."""
    return min(most / math.sqrt(square), f32(1.0))


@inlined
def wrap(angle: Any) -> Any:
    """Bring an angle that is off by at most one turn to [-pi, pi] (rad)."""
    turned = angle - TWO_PI if angle > PI else angle
    return turned + TWO_PI if turned < -PI else turned


@inlined
def cos_sin(angle: Any) -> Any:
    """Return cosine and sine of an angle in [-pi, pi] (rad), by its half angle.

    Taylor series of the half angle, at most pi/2, and double-angle formulas; of the two for
    the cosine the one that loses less.  To 3e-7.
    """
    h = f32(0.5) * angle
    q = h * h
    s = f32(-2.5052108e-8) * q + f32(2.7557319e-6)
    s = s * q + f32(-1.9841270e-4)
    s = s * q + f32(8.3333333e-3)
    s = s * q + f32(-1.6666667e-1)
    s = h + h * (s * q)
    c = f32(2.0876757e-9) * q + f32(-2.7557319e-7)
    c = c * q + f32(2.4801587e-5)
    c = c * q + f32(-1.3888889e-3)
    c = c * q + f32(4.1666667e-2)
    c = f32(1.0) + q * (c * q - f32(0.5))
    cc = c * c
    ss = s * s
    cosine = f32(2.0) * cc - f32(1.0) if cc < ss else f32(1.0) - f32(2.0) * ss
    return cosine, f32(2.0) * (s * c)


@inlined
def support(nx: Any, ny: Any, c: Any, s: Any) -> Any:
    """Return how far a body with heading (c, s) reaches along the unit vector n (m)."""
    return support_beside(abs(c * nx + s * ny), c * ny - s * nx)


@inlined
def support_beside(bx: Any, by: Any) -> Any:
    """Return how far the body reaches along (bx, by), a unit vector in its frame, bx >= 0 (m)."""
    reach = X0 * bx + max(Y0 * by, Y1 * by)  # X1 is X0: the same, to the bit, as of both corners
    reach = max(reach, X2 * bx + Y2 * by)
    reach = max(reach, X3 * bx + Y3 * by)
    return max(reach, Y4 * by)


@inlined
def two_farthest_corners(ux: Any, uy: Any) -> Any:
    """Return the two corners that are farthest along the unit vector u, by their numbers.

    Of each: where it lies along u and along (-uy, ux) (m), and its number: corners are counted
    from the rear left over the tip, 4, to the rear right, 8.  The two are neighbours.  As u
    turns to the right and back from the tip, one corner after the other takes the place of the
    one two before it: 6 of 4, 7 of 5, 8 of 6, and at last 0 of 7.
    """
    mx = abs(ux)
    along7 = X1 * mx + Y1 * uy
    along6 = X2 * mx + Y2 * uy
    past4 = along6 >= Y4 * uy
    past5 = along7 >= X3 * mx + Y3 * uy
    past6 = X0 * mx + Y0 * uy >= along6
    past7 = Y0 * uy - X0 * mx > along7
    x1 = X0 if past7 else X1 if past6 else X2 if past5 else X3 if past4 else ZERO
    y1 = Y0 if past7 else Y1 if past6 else Y2 if past5 else Y3 if past4 else Y4
    x2 = -X0 if past7 else X0 if past6 else X1 if past5 else X2 if past4 else X3
    y2 = Y0 if past6 else Y1 if past5 else Y2 if past4 else Y3
    number = f32(7.0) if past6 else f32(6.0) if past5 else f32(5.0) if past4 else f32(4.0)
    mirrored = ux < f32(0.0)
    side = f32(-1.0) if mirrored else f32(1.0)
    number = f32(7.0) - number if mirrored else number
    # The rear corners are the first and the last.
    swapped = mirrored != past7
    along1 = x1 * mx + y1 * uy
    along2 = x2 * mx + y2 * uy
    across1 = side * (y1 * mx - x1 * uy)
    across2 = side * (y2 * mx - x2 * uy)
    return (
        along2 if swapped else along1,
        across2 if swapped else across1,
        f32(0.0) if past7 else number,
        along1 if swapped else along2,
        across1 if swapped else across2,
        f32(8.0) if past7 else number + f32(1.0),
    )


@inlined
def one_over(square: Any) -> Any:
    """Return one over a squared length (1/m2), finite also if two robots are at one place."""
    return f32(1.0) / max(square, NEXT_TO_NOTHING)


@inlined
def off_line(px: Any, py: Any, dx: Any, dy: Any, per_square: Any) -> Any:
    """Return the squared distance (m2) of point p to the segment from the origin to d.

    ``per_square`` is one over the squared length of d (1/m2).
    """
    along = unit((px * dx + py * dy) * per_square)
    ex = px - along * dx
    ey = py - along * dy
    return ex * ex + ey * ey
