"""Angles, the body polygon, and rays that meet bodies."""

from __future__ import annotations

import math
from typing import Any

from numpy import float32 as f32

from qed.swarm.compile import law
from qed.swarm.robot import HALF_BODY

FAR = f32(1e9)  # m; what a ray that meets nothing returns
NEXT_TO_NOTHING = f32(1e-12)  # m2
PI = f32(math.pi)
TWO_PI = f32(2.0 * math.pi)

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


@law
def wrap(angle: Any) -> Any:
    """Bring an angle that is off by at most one turn to [-pi, pi] (rad)."""
    turned = angle - TWO_PI if angle > PI else angle
    return turned + TWO_PI if turned < -PI else turned


@law
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


@law
def support(nx: Any, ny: Any, c: Any, s: Any) -> Any:
    """Return how far a body with heading (c, s) reaches along the unit vector n (m)."""
    bx = abs(c * nx + s * ny)
    by = c * ny - s * nx
    reach = max(X0 * bx + Y0 * by, X1 * bx + Y1 * by)
    reach = max(reach, X2 * bx + Y2 * by)
    reach = max(reach, X3 * bx + Y3 * by)
    return max(reach, Y4 * by)


@law
def clip(enter: Any, leave: Any, room: Any, speed: Any) -> Any:
    """Cut a ray's stay in a half plane: ``room`` to its border, ``speed`` towards it.

    A ray along the border (speed 0) stays for ever or never: infinities say so, if the zero
    is the positive one.
    """
    speed = speed + f32(0.0)
    at = room / speed
    later = at if speed < f32(0.0) and at > enter else enter
    sooner = at if speed >= f32(0.0) and at < leave else leave
    return later, sooner


@law
def ray_body(ox: Any, oy: Any, dx: Any, dy: Any) -> Any:
    """Return where a ray enters the body, both in the body's frame (m), or FAR.

    A ray that starts inside the body does not see it.
    """
    enter, leave = clip(-FAR, FAR, X0 - ox, dx)
    enter, leave = clip(enter, leave, X0 + ox, -dx)
    enter, leave = clip(enter, leave, oy - Y0, -dy)
    enter, leave = clip(enter, leave, H1 - NX1 * ox - NY1 * oy, NX1 * dx + NY1 * dy)
    enter, leave = clip(enter, leave, H1 + NX1 * ox - NY1 * oy, NY1 * dy - NX1 * dx)
    enter, leave = clip(enter, leave, H2 - NX2 * ox - NY2 * oy, NX2 * dx + NY2 * dy)
    enter, leave = clip(enter, leave, H2 + NX2 * ox - NY2 * oy, NY2 * dy - NX2 * dx)
    enter, leave = clip(enter, leave, H3 - NX3 * ox - NY3 * oy, NX3 * dx + NY3 * dy)
    enter, leave = clip(enter, leave, H3 + NX3 * ox - NY3 * oy, NY3 * dy - NX3 * dx)
    return enter if f32(0.0) <= enter <= leave else FAR


@law
def ray_disc(ox: Any, oy: Any, dx: Any, dy: Any, radius: Any) -> Any:
    """Return where a ray enters a disc at the origin (m), or FAR; blind from inside."""
    middle = ox * dx + oy * dy
    square = middle * middle - (ox * ox + oy * oy - radius * radius)
    at = -middle - math.sqrt(max(square, f32(0.0)))
    return at if square >= f32(0.0) and at >= f32(0.0) else FAR


@law
def ray_wall(at: Any, direction: Any, side: Any) -> Any:
    """Return the way of a ray to the wall ahead on one axis (m), or FAR; blind from inside."""
    room = side - at if direction > f32(0.0) else -at
    way = room / direction
    return way if way >= f32(0.0) else FAR


@law
def one_over(square: Any) -> Any:
    """Return one over a squared length (1/m2), finite also if two robots are at one place."""
    return f32(1.0) / max(square, NEXT_TO_NOTHING)


@law
def off_line(px: Any, py: Any, dx: Any, dy: Any, per_square: Any) -> Any:
    """Return the squared distance (m2) of point p to the segment from the origin to d.

    ``per_square`` is one over the squared length of d (1/m2).
    """
    along = (px * dx + py * dy) * per_square
    along = min(max(along, f32(0.0)), f32(1.0))
    ex = px - along * dx
    ey = py - along * dy
    return ex * ex + ey * ey


@law
def farther(gap: Any, nx: Any, ny: Any, other: Any, other_x: Any, other_y: Any) -> Any:
    """Return the larger of two gaps with its normal; the first of equals."""
    wins = other > gap
    return other if wins else gap, other_x if wins else nx, other_y if wins else ny


@law
def faces(x: Any, y: Any, c: Any, s: Any) -> Any:
    """Return how far a body at (x, y), heading (c, s), is beyond the faces of one at 0.

    All in the frame of the body at the origin: the largest signed distance (m) over its nine
    faces, and that face's normal.
    """
    one = f32(1.0)
    zero = f32(0.0)
    gap = x - X0 - support(-one, zero, c, s)
    gap, nx, ny = farther(gap, one, zero, -x - X0 - support(one, zero, c, s), -one, zero)
    gap, nx, ny = farther(gap, nx, ny, Y0 - y - support(zero, one, c, s), zero, -one)
    other = NX1 * x + NY1 * y - H1 - support(-NX1, -NY1, c, s)
    gap, nx, ny = farther(gap, nx, ny, other, NX1, NY1)
    other = NY1 * y - NX1 * x - H1 - support(NX1, -NY1, c, s)
    gap, nx, ny = farther(gap, nx, ny, other, -NX1, NY1)
    other = NX2 * x + NY2 * y - H2 - support(-NX2, -NY2, c, s)
    gap, nx, ny = farther(gap, nx, ny, other, NX2, NY2)
    other = NY2 * y - NX2 * x - H2 - support(NX2, -NY2, c, s)
    gap, nx, ny = farther(gap, nx, ny, other, -NX2, NY2)
    other = NX3 * x + NY3 * y - H3 - support(-NX3, -NY3, c, s)
    gap, nx, ny = farther(gap, nx, ny, other, NX3, NY3)
    other = NY3 * y - NX3 * x - H3 - support(NX3, -NY3, c, s)
    return farther(gap, nx, ny, other, -NX3, NY3)


@law
def beyond(dx: Any, dy: Any, c: Any, s: Any, other_c: Any, other_s: Any) -> Any:
    """Return how far a body that is (dx, dy) away is beyond the faces of this one (m).

    With it comes the normal of the face that it is farthest beyond.
    """
    turn_c = c * other_c + s * other_s
    turn_s = c * other_s - s * other_c
    gap, nx, ny = faces(c * dx + s * dy, c * dy - s * dx, turn_c, turn_s)
    return gap, c * nx - s * ny, s * nx + c * ny


@law
def separation(dx: Any, dy: Any, c: Any, s: Any, other_c: Any, other_s: Any) -> Any:
    """Return gap (m; negative: overlap) and normal from a body to one that is (dx, dy) away.

    Convex bodies are apart exactly if a face of one has the other beyond it; the face with
    the largest gap, of either body, gives the normal, which points to the other body.
    """
    gap, nx, ny = beyond(dx, dy, c, s, other_c, other_s)
    other, mx, my = beyond(-dx, -dy, other_c, other_s, c, s)
    return farther(gap, nx, ny, other, -mx, -my)


@law
def on_edge(x: Any, y: Any, ax: Any, ay: Any, bx: Any, by: Any) -> Any:
    """Return the point of the edge from a to b that is nearest to (x, y) (m)."""
    ex = bx - ax
    ey = by - ay
    along = ((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey)
    along = min(max(along, f32(0.0)), f32(1.0))
    return ax + along * ex, ay + along * ey


@law
def nearer(x: Any, y: Any, px: Any, py: Any, qx: Any, qy: Any) -> Any:
    """Return the one of the points p and q that is nearer to (x, y)."""
    dp = (px - x) * (px - x) + (py - y) * (py - y)
    dq = (qx - x) * (qx - x) + (qy - y) * (qy - y)
    return (qx, qy) if dq < dp else (px, py)


@law
def body_point(x: Any, y: Any) -> Any:
    """Return normal, gap (m) and arm (m) from a body at the origin to the point (x, y).

    The normal points from the body's nearest point to (x, y); the arm is how far that point
    lies from the origin along the normal.  A point inside the body is pushed out through the
    face it is least behind, with a negative gap.
    """
    ax = abs(x)
    qx, qy = on_edge(ax, y, f32(0.0), Y0, X0, Y0)
    px, py = on_edge(ax, y, X0, Y0, X1, Y1)
    qx, qy = nearer(ax, y, qx, qy, px, py)
    px, py = on_edge(ax, y, X1, Y1, X2, Y2)
    qx, qy = nearer(ax, y, qx, qy, px, py)
    px, py = on_edge(ax, y, X2, Y2, X3, Y3)
    qx, qy = nearer(ax, y, qx, qy, px, py)
    px, py = on_edge(ax, y, X3, Y3, f32(0.0), Y4)
    qx, qy = nearer(ax, y, qx, qy, px, py)
    nx = ax - qx
    ny = y - qy
    gap = math.sqrt(nx * nx + ny * ny)
    inside = max(max(ax - X0, Y0 - y), NX1 * ax + NY1 * y - H1)
    inside = max(max(inside, NX2 * ax + NY2 * y - H2), NX3 * ax + NY3 * y - H3)
    sign = f32(-1.0) if inside < f32(0.0) else f32(1.0)
    scale = sign / gap if gap > f32(1e-6) else f32(0.0)
    nx = nx * scale if gap > f32(1e-6) else f32(1.0)
    ny = ny * scale
    arm = nx * qx + ny * qy
    return (-nx if x < f32(0.0) else nx), ny, sign * gap, arm
