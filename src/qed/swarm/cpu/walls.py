"""Robots at walls: each touches at most one x wall and one y wall, with two corners each.

``wall`` is where the rows of one of the two begin.  Its frame is told by the rows of the
velocity along the normal and along the tangent, and by the tangent's sign on its axis.
"""

from __future__ import annotations

from typing import Any

from numpy import float32 as f32

from qed.compile import loop
from qed.swarm.cpu.bits import index, whole
from qed.swarm.cpu.layout import (
    ARM,
    CORNER,
    FIRST_CORNER,
    LEVER,
    NORMAL_SHARE,
    P_COS,
    P_GEAR,
    P_JX,
    P_JY,
    P_LANE,
    P_SIDE,
    P_SIN,
    P_SPIN,
    P_TURN,
    P_TX,
    P_TY,
    P_VX,
    P_VY,
    P_WALL_X,
    P_WALL_Y,
    P_X,
    P_Y,
    PRESS,
    RUB,
    SECOND_CORNER,
    SIGN,
    STRIDE,
    TANGENT_SHARE,
)
from qed.swarm.laws.contact import hold, nearer_wall, pulled, remembered, share, torque
from qed.swarm.laws.geometry import two_farthest_corners

ZERO = f32(0.0)
ONE = f32(1.0)
# Place, direction of the normal, and velocities along normal and tangent.
X_AXES = (P_X, ONE, ZERO, P_VX, P_VY)
Y_AXES = (P_Y, ZERO, ONE, P_VY, P_VX)
NO_CORNER = f32(-1.0)


@loop
def recall_corners(
    f: Any, n: Any, wall: int, kept: int, walled: int, first: int, stop: int, cycle: int
) -> None:
    """Lay out the impulses that walls kept in the last cycle, if robots were near them then."""
    begin = index(first)
    for k in range(index(stop - first)):
        e = begin + k
        i = index(n[P_LANE + e])
        fresh = n[walled + i] != cycle - 1
        n[walled + i] = cycle
        for which in range(2):
            here = wall + FIRST_CORNER + which * (SECOND_CORNER - FIRST_CORNER) + e
            there = kept + which * 3 * STRIDE + i
            f[here + CORNER] = NO_CORNER if fresh else f[there]
            f[here + PRESS] = f[there + STRIDE]
            f[here + RUB] = f[there + 2 * STRIDE]


@loop
def keep_corners(f: Any, n: Any, wall: int, kept: int, first: int, stop: int) -> None:
    """Keep the impulses of walls for the next cycle."""
    begin = index(first)
    for k in range(index(stop - first)):
        e = begin + k
        i = index(n[P_LANE + e])
        for which in range(2):
            here = wall + FIRST_CORNER + which * (SECOND_CORNER - FIRST_CORNER) + e
            there = kept + which * 3 * STRIDE + i
            f[there] = f[here + CORNER]
            f[there + STRIDE] = f[here + PRESS]
            f[there + 2 * STRIDE] = f[here + RUB]


@loop
def touch_walls(f: Any, wall: int, axes: Any, tangent_sign: Any, first: int, stop: int) -> None:
    """Find the corners that are inside the wall, and begin with their last sub-step's impulses."""
    one = wall + FIRST_CORNER
    two = wall + SECOND_CORNER
    place, along, across, normal, tangent = axes
    begin = index(first)
    for k in range(whole(stop - first)):
        e = begin + k
        sign, room = nearer_wall(f[place + e], f[P_SIDE + e])
        c = sign * f[P_COS + e]
        s = sign * f[P_SIN + e]
        ux = c * along + s * across
        uy = c * across - s * along
        arm1, lever1, corner1, arm2, lever2, corner2 = two_farthest_corners(ux, uy)
        in1 = room < arm1
        in2 = room < arm2
        corner1 = corner1 if in1 else NO_CORNER
        corner2 = corner2 if in2 else NO_CORNER
        old1 = f[one + CORNER + e]
        old2 = f[two + CORNER + e]
        press1 = remembered(corner1, old1, old2, f[one + PRESS + e], f[two + PRESS + e])
        press2 = remembered(corner2, old1, old2, f[one + PRESS + e], f[two + PRESS + e])
        rub1 = remembered(corner1, old1, old2, f[one + RUB + e], f[two + RUB + e])
        rub2 = remembered(corner2, old1, old2, f[one + RUB + e], f[two + RUB + e])
        f[wall + SIGN + e] = sign
        f[one + CORNER + e] = corner1
        f[two + CORNER + e] = corner2
        f[one + PRESS + e] = press1
        f[two + PRESS + e] = press2
        f[one + RUB + e] = rub1
        f[two + RUB + e] = rub2
        f[one + ARM + e] = arm1
        f[two + ARM + e] = arm2
        f[one + LEVER + e] = lever1
        f[two + LEVER + e] = lever2
        f[one + NORMAL_SHARE + e] = share(lever1) if in1 else ZERO
        f[two + NORMAL_SHARE + e] = share(lever2) if in2 else ZERO
        f[one + TANGENT_SHARE + e] = share(arm1) if in1 else ZERO
        f[two + TANGENT_SHARE + e] = share(arm2) if in2 else ZERO
        f[normal + e] -= sign * (press1 + press2)
        f[tangent + e] -= sign * tangent_sign * (rub1 + rub2)
        f[P_SPIN + e] -= torque(arm1, lever1, press1, rub1) + torque(arm2, lever2, press2, rub2)


@loop
def held(f: Any, wall: int, normal: int, tangent: int, tangent_sign: Any, e: int) -> Any:
    """Let a wall hold the corners inside it, one after the other; return motion and spin."""
    one = wall + FIRST_CORNER + e
    two = wall + SECOND_CORNER + e
    sign = f[wall + SIGN + e]
    cross = sign * tangent_sign
    vn, vt, spin, pressed, rubbed = hold(
        sign * f[normal + e],
        cross * f[tangent + e],
        f[P_SPIN + e],
        f[one + ARM],
        f[one + LEVER],
        f[one + PRESS],
        f[one + RUB],
        f[one + NORMAL_SHARE],
        f[one + TANGENT_SHARE],
    )
    f[one + PRESS] = pressed
    f[one + RUB] = rubbed
    vn, vt, spin, pressed, rubbed = hold(
        vn,
        vt,
        spin,
        f[two + ARM],
        f[two + LEVER],
        f[two + PRESS],
        f[two + RUB],
        f[two + NORMAL_SHARE],
        f[two + TANGENT_SHARE],
    )
    f[two + PRESS] = pressed
    f[two + RUB] = rubbed
    return sign * vn, cross * vt, spin


@loop
def hold_at_x_wall(f: Any, first: int, stop: int) -> None:
    """Let x walls hold robots that are also at y walls."""
    begin = index(first)
    for k in range(whole(stop - first)):
        e = begin + k
        vx, vy, spin = held(f, P_WALL_X, P_VX, P_VY, ONE, e)
        f[P_VX + e] = vx
        f[P_VY + e] = vy
        f[P_SPIN + e] = spin


@loop
def hold_at_x_wall_and_pull(f: Any, first: int, stop: int) -> None:
    """Let x walls hold robots, then let their drives pull."""
    begin = index(first)
    for k in range(whole(stop - first)):
        e = begin + k
        vx, vy, spin = held(f, P_WALL_X, P_VX, P_VY, ONE, e)
        pull_one(f, vx, vy, spin, e)


@loop
def hold_at_y_wall_and_pull(f: Any, first: int, stop: int) -> None:
    """Let y walls hold robots, then let their drives pull."""
    begin = index(first)
    for k in range(whole(stop - first)):
        e = begin + k
        vy, vx, spin = held(f, P_WALL_Y, P_VY, P_VX, -ONE, e)
        pull_one(f, vx, vy, spin, e)


@loop
def pull(f: Any, first: int, stop: int) -> None:
    """Let the drives of robots at no wall pull."""
    begin = index(first)
    for k in range(whole(stop - first)):
        e = begin + k
        pull_one(f, f[P_VX + e], f[P_VY + e], f[P_SPIN + e], e)


@loop
def pull_one(f: Any, vx: Any, vy: Any, spin: Any, e: int) -> None:
    """Let a drive pull towards its target with the force it has, and the gear turn it back."""
    turn = f[P_TURN + e]
    vx, vy, jx, jy, gear = pulled(
        vx, vy, spin, f[P_JX + e], f[P_JY + e], f[P_GEAR + e], f[P_TX + e], f[P_TY + e], turn
    )
    f[P_VX + e] = vx
    f[P_VY + e] = vy
    f[P_JX + e] = jx
    f[P_JY + e] = jy
    f[P_GEAR + e] = gear
    f[P_SPIN + e] = turn
