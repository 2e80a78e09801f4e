"""Rays that meet bodies, discs and walls."""

import math
from typing import Any

from numpy import float32 as f32

from qed.compile import inlined
from qed.swarm.laws import geometry as G


@inlined
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


@inlined
def clip_face(
    enter: Any, leave: Any, nx: Any, ny: Any, h: Any, ox: Any, oy: Any, dx: Any, dy: Any
) -> Any:
    """Cut a ray's stay behind a face with normal n and offset h (m)."""
    return clip(enter, leave, h - nx * ox - ny * oy, nx * dx + ny * dy)


@inlined
def entry(enter: Any, leave: Any) -> Any:
    """Return where a ray enters (m), or FAR; one that starts inside does not see the body."""
    return enter if f32(0.0) <= enter <= leave else G.FAR


@inlined
def ray_body(ox: Any, oy: Any, dx: Any, dy: Any) -> Any:
    """Return where a ray enters the body, both in the body's frame (m), or FAR.

    A ray that starts inside the body does not see it.
    """
    enter, leave = clip(-G.FAR, G.FAR, G.X0 - ox, dx)
    enter, leave = clip(enter, leave, G.X0 + ox, -dx)
    enter, leave = clip(enter, leave, oy - G.Y0, -dy)
    enter, leave = clip_face(enter, leave, G.NX1, G.NY1, G.H1, ox, oy, dx, dy)
    enter, leave = clip_face(enter, leave, -G.NX1, G.NY1, G.H1, ox, oy, dx, dy)
    enter, leave = clip_face(enter, leave, G.NX2, G.NY2, G.H2, ox, oy, dx, dy)
    enter, leave = clip_face(enter, leave, -G.NX2, G.NY2, G.H2, ox, oy, dx, dy)
    enter, leave = clip_face(enter, leave, G.NX3, G.NY3, G.H3, ox, oy, dx, dy)
    enter, leave = clip_face(enter, leave, -G.NX3, G.NY3, G.H3, ox, oy, dx, dy)
    return entry(enter, leave)


@inlined
def ray_disc(ox: Any, oy: Any, dx: Any, dy: Any, radius: Any) -> Any:
    """Return where a ray enters a disc at the origin (m), or FAR; blind from inside."""
    middle = ox * dx + oy * dy
    square = middle * middle - (ox * ox + oy * oy - radius * radius)
    at = -middle - math.sqrt(max(square, f32(0.0)))
    return at if square >= f32(0.0) and at >= f32(0.0) else G.FAR


@inlined
def ray_wall(at: Any, direction: Any, side: Any) -> Any:
    """Return the way of a ray to the wall ahead on one axis (m), or FAR; blind from inside."""
    room = side - at if direction > f32(0.0) else -at
    way = room / direction
    return way if way >= f32(0.0) else G.FAR
