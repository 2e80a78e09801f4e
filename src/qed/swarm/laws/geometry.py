"""Angles, the body polygon, and rays that meet bodies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import float32 as f32

from qed.compile import law
from qed.swarm.robot import HALF_BODY

FAR = f32(1e9)  # m; what a ray that meets nothing returns
NEXT_TO_NOTHING = f32(1e-12)  # m2
SHORT = f32(1e-6)  # m
LEAN = f32(0.618)  # of the line that `ahead` looks across: no direction that robots have often
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


@law
def unit(value: Any) -> Any:
    """Return a number that is at least 0 and at most 1."""
    return min(max(value, f32(0.0)), f32(1.0))


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
def clip_face(
    enter: Any, leave: Any, nx: Any, ny: Any, h: Any, ox: Any, oy: Any, dx: Any, dy: Any
) -> Any:
    """Cut a ray's stay behind a face with normal n and offset h (m)."""
    return clip(enter, leave, h - nx * ox - ny * oy, nx * dx + ny * dy)


@law
def entry(enter: Any, leave: Any) -> Any:
    """Return where a ray enters (m), or FAR; one that starts inside does not see the body."""
    return enter if f32(0.0) <= enter <= leave else FAR


@law
def ray_body(ox: Any, oy: Any, dx: Any, dy: Any) -> Any:
    """Return where a ray enters the body, both in the body's frame (m), or FAR.

    A ray that starts inside the body does not see it.
    """
    enter, leave = clip(-FAR, FAR, X0 - ox, dx)
    enter, leave = clip(enter, leave, X0 + ox, -dx)
    enter, leave = clip(enter, leave, oy - Y0, -dy)
    enter, leave = clip_face(enter, leave, NX1, NY1, H1, ox, oy, dx, dy)
    enter, leave = clip_face(enter, leave, -NX1, NY1, H1, ox, oy, dx, dy)
    enter, leave = clip_face(enter, leave, NX2, NY2, H2, ox, oy, dx, dy)
    enter, leave = clip_face(enter, leave, -NX2, NY2, H2, ox, oy, dx, dy)
    enter, leave = clip_face(enter, leave, NX3, NY3, H3, ox, oy, dx, dy)
    enter, leave = clip_face(enter, leave, -NX3, NY3, H3, ox, oy, dx, dy)
    return entry(enter, leave)


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
    along = unit((px * dx + py * dy) * per_square)
    ex = px - along * dx
    ey = py - along * dy
    return ex * ex + ey * ey


@law
def farther(gap: Any, nx: Any, ny: Any, other: Any, other_x: Any, other_y: Any) -> Any:
    """Return the larger of two gaps with its normal; the first of equals."""
    wins = other > gap
    return other if wins else gap, other_x if wins else nx, other_y if wins else ny


@law
def farther_face(
    gap: Any, nx: Any, ny: Any, face_x: Any, face_y: Any, h: Any, x: Any, y: Any, c: Any, s: Any
) -> Any:
    """Compare a gap (m) and its normal with how far a body is beyond one more face."""
    other = face_x * x + face_y * y - h - support(-face_x, -face_y, c, s)
    return farther(gap, nx, ny, other, face_x, face_y)


@law
def faces(x: Any, y: Any, c: Any, s: Any) -> Any:
    """Return how far a body at (x, y), heading (c, s), is beyond the faces of one at 0.

    All in the frame of the body at the origin: the largest signed distance (m) over its nine
    faces, and that face's normal.
    """
    gap = x - X0 - support(-ONE, ZERO, c, s)
    gap, nx, ny = farther(gap, ONE, ZERO, -x - X0 - support(ONE, ZERO, c, s), -ONE, ZERO)
    gap, nx, ny = farther(gap, nx, ny, Y0 - y - support(ZERO, ONE, c, s), ZERO, -ONE)
    gap, nx, ny = farther_face(gap, nx, ny, NX1, NY1, H1, x, y, c, s)
    gap, nx, ny = farther_face(gap, nx, ny, -NX1, NY1, H1, x, y, c, s)
    gap, nx, ny = farther_face(gap, nx, ny, NX2, NY2, H2, x, y, c, s)
    gap, nx, ny = farther_face(gap, nx, ny, -NX2, NY2, H2, x, y, c, s)
    gap, nx, ny = farther_face(gap, nx, ny, NX3, NY3, H3, x, y, c, s)
    return farther_face(gap, nx, ny, -NX3, NY3, H3, x, y, c, s)


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
def ahead(x: Any, y: Any) -> Any:
    """Tell on which side of a fixed line a vector points: of two opposite ones, one is ahead.

    What has no order of its own gets one that does not depend on which robot is the first.
    """
    return LEAN * x + y > f32(0.0)


@law
def first_face(gap: Any, other: Any, dx: Any, dy: Any) -> Any:
    """Tell whether a face of the first body gives the normal to a second one (dx, dy) away.

    The second is ``gap`` beyond the first's faces, which is ``other`` beyond the second's (m).
    """
    return other < gap or (other == gap and ahead(dx, dy))


@law
def touching_points(
    dx: Any, dy: Any, c: Any, s: Any, other_c: Any, other_s: Any, nx: Any, ny: Any, face: Any
) -> Any:
    """Return the two points where a body touches one that is (dx, dy) away, by their levers.

    Of each: its arm along the normal n and its lever along (-ny, nx) (m) from the body, then from
    the other one, and how far it is from the face that gave the normal (m; negative: behind).
    ``face`` tells whether that is the first body's.  Which point is the first does not depend on
    which body is: they follow each other along a fixed side of the normal's line.
    """
    fx, fy, bx, by = face_to_face(c, s, other_c, other_s, nx, ny, face)
    return between_ends(
        nx * dx + ny * dy,
        nx * dy - ny * dx,
        two_farthest_corners(fx, fy),
        two_farthest_corners(bx, by),
        face,
        ahead(nx, ny) == face,
    )


@law
def face_to_face(c: Any, s: Any, other_c: Any, other_s: Any, nx: Any, ny: Any, face: Any) -> Any:
    """Return a face's normal in the frame of its body, and its opposite in the other's frame.

    The normal n points from the first body to the second; ``face`` tells whether the face is the
    first body's.
    """
    fx = c * nx + s * ny
    fy = c * ny - s * nx
    kx = other_c * nx + other_s * ny
    ky = other_c * ny - other_s * nx
    return (
        fx if face else -kx,
        fy if face else -ky,
        -kx if face else fx,
        -ky if face else fy,
    )


@law
def between_ends(along: Any, across: Any, ends: Any, corners: Any, face: Any, rising: Any) -> Any:
    """Return the points of ``touching_points`` from the face's two ends and the other's corners.

    The points are the other body's two corners next to the face, or where the edge between them
    leaves the face's ends, in rising or falling order along the face.  The second body is
    ``along`` the normal and ``across`` it (m).
    """
    height, end1, _, _, end2, _ = ends
    arm1, lever1, _, arm2, lever2, _ = corners
    p1, q1 = along - arm1, across - lever1
    p2, q2 = along - arm2, across - lever2
    low = max(min(end1, end2), min(q1, q2))
    high = min(max(end1, end2), max(q1, q2))
    way = q2 - q1
    slope = (p2 - p1) / (way if abs(way) > SHORT else SHORT)
    r1 = min(max(q1, low), high)
    r2 = min(max(q2, low), high)
    p1 = p1 + (r1 - q1) * slope
    p2 = p2 + (r2 - q2) * slope
    swap = r2 < r1 if rising else r1 < r2
    a1 = p2 if swap else p1
    b1 = r2 if swap else r1
    a2 = p1 if swap else p2
    b2 = r1 if swap else r2
    return (
        a1 if face else along - a1,
        b1 if face else across - b1,
        a1 - along if face else -a1,
        b1 - across if face else -b1,
        a1 - height,
        a2 if face else along - a2,
        b2 if face else across - b2,
        a2 - along if face else -a2,
        b2 - across if face else -b2,
        a2 - height,
    )


@law
def on_edge(x: Any, y: Any, ax: Any, ay: Any, bx: Any, by: Any) -> Any:
    """Return the point of the edge from a to b that is nearest to (x, y) (m)."""
    ex = bx - ax
    ey = by - ay
    along = unit(((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey))
    return ax + along * ex, ay + along * ey


@law
def nearer(x: Any, y: Any, px: Any, py: Any, qx: Any, qy: Any) -> Any:
    """Return the one of the points p and q that is nearer to (x, y)."""
    dp = (px - x) * (px - x) + (py - y) * (py - y)
    dq = (qx - x) * (qx - x) + (qy - y) * (qy - y)
    return (qx, qy) if dq < dp else (px, py)


@law
def nearer_edge(
    x: Any, y: Any, qx: Any, qy: Any, beyond: Any,
    ax: Any, ay: Any, bx: Any, by: Any, nx: Any, ny: Any, h: Any,
) -> Any:  # fmt: skip
    """Compare the nearest point q so far with that of one more edge, from a to b.

    ``beyond`` is how far (x, y) is beyond the faces, the largest so far (m); the edge's face has
    the normal n and the offset h (m).
    """
    px, py = on_edge(x, y, ax, ay, bx, by)
    qx, qy = nearer(x, y, qx, qy, px, py)
    return qx, qy, max(beyond, nx * x + ny * y - h)


@law
def from_point(x: Any, y: Any, qx: Any, qy: Any, beyond: Any) -> Any:
    """Return normal, gap, arm and lever (m) to (x, y) from the point q next to (|x|, y)."""
    nx = abs(x) - qx
    ny = y - qy
    gap = math.sqrt(nx * nx + ny * ny)
    sign = f32(-1.0) if beyond < f32(0.0) else f32(1.0)
    scale = sign / gap if gap > f32(1e-6) else f32(0.0)
    nx = nx * scale if gap > f32(1e-6) else f32(1.0)
    ny = ny * scale
    arm = nx * qx + ny * qy
    lever = nx * qy - ny * qx
    mirrored = x < f32(0.0)
    return (-nx if mirrored else nx), ny, sign * gap, arm, (-lever if mirrored else lever)


@law
def body_point(x: Any, y: Any) -> Any:
    """Return normal, gap, arm and lever (m) from a body at the origin to the point (x, y).

    The normal points from the body's nearest point to (x, y); arm and lever are how far that
    point lies from the origin along the normal and along the tangent.  A point inside the body is
    pushed out through the face it is least behind, with a negative gap.
    """
    ax = abs(x)
    qx, qy, outside = nearer_edge(ax, y, FAR, FAR, -FAR, *EDGE0)
    qx, qy, outside = nearer_edge(ax, y, qx, qy, outside, *EDGE1)
    qx, qy, outside = nearer_edge(ax, y, qx, qy, outside, *EDGE2)
    qx, qy, outside = nearer_edge(ax, y, qx, qy, outside, *EDGE3)
    qx, qy, outside = nearer_edge(ax, y, qx, qy, outside, *EDGE4)
    return from_point(x, y, qx, qy, outside)
