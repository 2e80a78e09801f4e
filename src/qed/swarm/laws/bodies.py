"""How bodies meet: the gap between them, its normal, and the points that touch."""

import math
from typing import Any

from numpy import float32 as f32

from qed.compile import inlined
from qed.swarm.laws import geometry as G
from qed.swarm.laws.geometry import ONE, ZERO, support, support_beside, two_farthest_corners, unit


@inlined
def farther(gap: Any, nx: Any, ny: Any, other: Any, other_x: Any, other_y: Any) -> Any:
    """Return the larger of two gaps with its normal; the first of equals."""
    wins = other > gap
    return other if wins else gap, other_x if wins else nx, other_y if wins else ny


@inlined
def farther_face(
    gap: Any, nx: Any, ny: Any, face_x: Any, face_y: Any, h: Any, x: Any, y: Any, c: Any, s: Any
) -> Any:
    """Compare a gap (m) and its normal with how far a body is beyond one more face."""
    other = face_x * x + face_y * y - h - support(-face_x, -face_y, c, s)
    return farther(gap, nx, ny, other, face_x, face_y)


@inlined
def two_faces(
    gap: Any, nx: Any, ny: Any, face_x: Any, face_y: Any, h: Any, x: Any, y: Any, c: Any, s: Any
) -> Any:  # fmt: skip
    """Compare a gap (m) and its normal with how far a body is beyond a face and its mirror image.

    As ``farther_face`` for each, to the bit, with the products that they share made once.
    """
    across, along = face_x * x, face_y * y
    cx, cy, sx, sy = c * face_x, c * face_y, s * face_x, s * face_y
    other = across + along - h - support_beside(abs(cx + sy), sx - cy)
    gap, nx, ny = farther(gap, nx, ny, other, face_x, face_y)
    other = along - across - h - support_beside(abs(cx - sy), -(cy + sx))
    return farther(gap, nx, ny, other, -face_x, face_y)


@inlined
def faces(x: Any, y: Any, c: Any, s: Any) -> Any:
    """Return how far a body at (x, y), heading (c, s), is beyond the faces of one at 0.

    All in the frame of the body at the origin: the largest signed distance (m) over its nine
    faces, and that face's normal.
    """
    gap = x - G.X0 - support_beside(abs(c), s)
    gap, nx, ny = farther(gap, ONE, ZERO, -x - G.X0 - support_beside(abs(c), -s), -ONE, ZERO)
    gap, nx, ny = farther(gap, nx, ny, G.Y0 - y - support_beside(abs(s), c), ZERO, -ONE)
    gap, nx, ny = two_faces(gap, nx, ny, G.NX1, G.NY1, G.H1, x, y, c, s)
    gap, nx, ny = two_faces(gap, nx, ny, G.NX2, G.NY2, G.H2, x, y, c, s)
    return two_faces(gap, nx, ny, G.NX3, G.NY3, G.H3, x, y, c, s)


@inlined
def beyond(dx: Any, dy: Any, c: Any, s: Any, other_c: Any, other_s: Any) -> Any:
    """Return how far a body that is (dx, dy) away is beyond the faces of this one (m).

    With it comes the normal of the face that it is farthest beyond.
    """
    turn_c = c * other_c + s * other_s
    turn_s = c * other_s - s * other_c
    gap, nx, ny = faces(c * dx + s * dy, c * dy - s * dx, turn_c, turn_s)
    return gap, c * nx - s * ny, s * nx + c * ny


@inlined
def separation(dx: Any, dy: Any, c: Any, s: Any, other_c: Any, other_s: Any) -> Any:
    """Return gap (m; negative: overlap) and normal from a body to one that is (dx, dy) away.

    Convex bodies are apart exactly if a face of one has the other beyond it; the face with
    the largest gap, of either body, gives the normal, which points to the other body.
    """
    gap, nx, ny = beyond(dx, dy, c, s, other_c, other_s)
    other, mx, my = beyond(-dx, -dy, other_c, other_s, c, s)
    return farther(gap, nx, ny, other, -mx, -my)


@inlined
def ahead(x: Any, y: Any) -> Any:
    """Tell on which side of a fixed line a vector points: of two opposite ones, one is ahead.

    What has no order of its own gets one that does not depend on which robot is the first.
    """
    return G.LEAN * x + y > f32(0.0)


@inlined
def first_face(gap: Any, other: Any, dx: Any, dy: Any) -> Any:
    """Return whether a face of the first body gives the normal to a second one (dx, dy) away.

    The second is ``gap`` beyond the first's faces, which is ``other`` beyond the second's (m).
    """
    return other < gap or (other == gap and ahead(dx, dy))


@inlined
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


@inlined
def face_to_face(c: Any, s: Any, other_c: Any, other_s: Any, nx: Any, ny: Any, face: Any) -> Any:
    """Return a face's normal in the frame of its body, and its opposite in the other's frame.

    The normal n points from the first body to the second; ``face`` tells whether the face is the
    first body's.
    """
    fx = c * nx + s * ny
    fy = c * ny - s * nx
    kx = other_c * nx + other_s * ny
    ky = other_c * ny - other_s * nx
    return (fx if face else -kx, fy if face else -ky, -kx if face else fx, -ky if face else fy)


@inlined
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
    slope = (p2 - p1) / (way if abs(way) > G.SHORT else G.SHORT)
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


@inlined
def on_edge(x: Any, y: Any, ax: Any, ay: Any, bx: Any, by: Any) -> Any:
    """Return the point of the edge from a to b that is nearest to (x, y) (m)."""
    ex = bx - ax
    ey = by - ay
    along = unit(((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey))
    return ax + along * ex, ay + along * ey


@inlined
def nearer(x: Any, y: Any, px: Any, py: Any, qx: Any, qy: Any) -> Any:
    """Return the one of the points p and q that is nearer to (x, y)."""
    dp = (px - x) * (px - x) + (py - y) * (py - y)
    dq = (qx - x) * (qx - x) + (qy - y) * (qy - y)
    return (qx, qy) if dq < dp else (px, py)


@inlined
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


@inlined
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


@inlined
def contact_arm(arm: Any, depth: Any) -> Any:
    """Return the arm of a corner's contact (m), however deep inside it is (m)."""
    return arm


@inlined
def body_point(x: Any, y: Any) -> Any:
    """Return normal, gap, arm and lever (m) from a body at the origin to the point (x, y).

    The normal points from the body's nearest point to (x, y); arm and lever are how far that
    point lies from the origin along the normal and along the tangent.  A point inside the body is
    pushed out through the face it is least behind, with a negative gap.
    """
    ax = abs(x)
    qx, qy, outside = nearer_edge(ax, y, G.FAR, G.FAR, -G.FAR, *G.EDGE0)
    qx, qy, outside = nearer_edge(ax, y, qx, qy, outside, *G.EDGE1)
    qx, qy, outside = nearer_edge(ax, y, qx, qy, outside, *G.EDGE2)
    qx, qy, outside = nearer_edge(ax, y, qx, qy, outside, *G.EDGE3)
    qx, qy, outside = nearer_edge(ax, y, qx, qy, outside, *G.EDGE4)
    return from_point(x, y, qx, qy, outside)
