"""Robots at walls: each touches at most one x wall and one y wall, with two corners each.

``wall`` is where the rows of one of the two begin.  Its frame is told by the rows of the
velocity along the normal and along the tangent, and by the tangent's sign on its axis.
"""

from __future__ import annotations

from typing import Any

from numpy import float32 as f32

from qed.swarm.compile import loop
from qed.swarm.cpu.bits import index
from qed.swarm.cpu.rows import (
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
    PRESS,
    RUB,
    SECOND_CORNER,
    SIGN,
    STRIDE,
    TANGENT_SHARE,
)
from qed.swarm.laws.contact import hold, nearer_wall, pulled, remembered, share, torque
from qed.swarm.laws.geometry import two_farthest_corners

WALL_X = (P_VX, P_VY, P_JX, P_JY, P_TX, P_TY)
WALL_Y = (P_VY, P_VX, P_JY, P_JX, P_TY, P_TX)
ZERO = f32(0.0)
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
def touching_walls(
    f: Any, wall: int, place: int, along: Any, across: Any, first: int, stop: int
) -> None:
    """Find the corners that are inside the wall, and what they keep of the last sub-step.

    The wall's normal is ``along`` x or ``across`` it: one of them is 1, the other 0.
    """
    one = wall + FIRST_CORNER
    two = wall + SECOND_CORNER
    begin = index(first)
    for k in range(index(stop - first)):
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
        press1 = f[one + PRESS + e]
        press2 = f[two + PRESS + e]
        rub1 = f[one + RUB + e]
        rub2 = f[two + RUB + e]
        f[one + CORNER + e] = corner1
        f[two + CORNER + e] = corner2
        f[one + PRESS + e] = remembered(corner1, old1, old2, press1, press2)
        f[two + PRESS + e] = remembered(corner2, old1, old2, press1, press2)
        f[one + RUB + e] = remembered(corner1, old1, old2, rub1, rub2)
        f[two + RUB + e] = remembered(corner2, old1, old2, rub1, rub2)
        f[one + ARM + e] = arm1
        f[two + ARM + e] = arm2
        f[one + LEVER + e] = lever1
        f[two + LEVER + e] = lever2
        f[one + NORMAL_SHARE + e] = share(lever1) if in1 else ZERO
        f[two + NORMAL_SHARE + e] = share(lever2) if in2 else ZERO
        f[one + TANGENT_SHARE + e] = share(arm1) if in1 else ZERO
        f[two + TANGENT_SHARE + e] = share(arm2) if in2 else ZERO
        f[wall + SIGN + e] = sign


@loop
def warm_walls(
    f: Any, wall: int, normal: int, tangent: int, tangent_sign: Any, first: int, stop: int
) -> None:
    """Begin with the impulses of the last sub-step."""
    one = wall + FIRST_CORNER
    two = wall + SECOND_CORNER
    begin = index(first)
    for k in range(index(stop - first)):
        e = begin + k
        sign = f[wall + SIGN + e]
        press1 = f[one + PRESS + e]
        press2 = f[two + PRESS + e]
        rub1 = f[one + RUB + e]
        rub2 = f[two + RUB + e]
        f[normal + e] -= sign * (press1 + press2)
        f[tangent + e] -= sign * tangent_sign * (rub1 + rub2)
        f[P_SPIN + e] -= torque(f[one + ARM + e], f[one + LEVER + e], press1, rub1) + torque(
            f[two + ARM + e], f[two + LEVER + e], press2, rub2
        )


@loop
def hold_at_walls(
    f: Any, wall: int, normal: int, tangent: int, tangent_sign: Any, first: int, stop: int
) -> None:
    """Let walls hold the corners that are inside them, one after the other."""
    one = wall + FIRST_CORNER
    two = wall + SECOND_CORNER
    begin = index(first)
    for k in range(index(stop - first)):
        e = begin + k
        sign = f[wall + SIGN + e]
        cross = sign * tangent_sign
        vn, vt, spin, pressed, rubbed = hold(
            sign * f[normal + e],
            cross * f[tangent + e],
            f[P_SPIN + e],
            f[one + ARM + e],
            f[one + LEVER + e],
            f[one + PRESS + e],
            f[one + RUB + e],
            f[one + NORMAL_SHARE + e],
            f[one + TANGENT_SHARE + e],
        )
        f[one + PRESS + e] = pressed
        f[one + RUB + e] = rubbed
        vn, vt, spin, pressed, rubbed = hold(
            vn,
            vt,
            spin,
            f[two + ARM + e],
            f[two + LEVER + e],
            f[two + PRESS + e],
            f[two + RUB + e],
            f[two + NORMAL_SHARE + e],
            f[two + TANGENT_SHARE + e],
        )
        f[two + PRESS + e] = pressed
        f[two + RUB + e] = rubbed
        f[normal + e] = sign * vn
        f[tangent + e] = cross * vt
        f[P_SPIN + e] = spin


@loop
def alone_at_wall(f: Any, wall: int, axes: Any, tangent_sign: Any, first: int, stop: int) -> None:
    """Solve robots that touch nothing but this wall: all iterations of a sub-step in one go."""
    one = wall + FIRST_CORNER
    two = wall + SECOND_CORNER
    normal, tangent, drive_normal, drive_tangent, target_normal, target_tangent = axes
    begin = index(first)
    for k in range(index(stop - first)):
        e = begin + k
        sign = f[wall + SIGN + e]
        cross = sign * tangent_sign
        turn = f[P_TURN + e]
        tn = sign * f[target_normal + e]
        tt = cross * f[target_tangent + e]
        jn = sign * f[drive_normal + e]
        jt = cross * f[drive_tangent + e]
        gear = f[P_GEAR + e]
        p1 = f[one + PRESS + e]
        r1 = f[one + RUB + e]
        p2 = f[two + PRESS + e]
        r2 = f[two + RUB + e]
        a1 = f[one + ARM + e]
        l1 = f[one + LEVER + e]
        a2 = f[two + ARM + e]
        l2 = f[two + LEVER + e]
        n1 = f[one + NORMAL_SHARE + e]
        t1 = f[one + TANGENT_SHARE + e]
        n2 = f[two + NORMAL_SHARE + e]
        t2 = f[two + TANGENT_SHARE + e]
        vn = sign * f[normal + e] - (p1 + p2)
        vt = cross * f[tangent + e] - (r1 + r2)
        spin = f[P_SPIN + e] - (torque(a1, l1, p1, r1) + torque(a2, l2, p2, r2))
        vn, vt, spin, p1, r1 = hold(vn, vt, spin, a1, l1, p1, r1, n1, t1)
        vn, vt, spin, p2, r2 = hold(vn, vt, spin, a2, l2, p2, r2, n2, t2)
        vn, vt, jn, jt, gear = pulled(vn, vt, spin, jn, jt, gear, tn, tt, turn)
        vn, vt, spin, p1, r1 = hold(vn, vt, turn, a1, l1, p1, r1, n1, t1)
        vn, vt, spin, p2, r2 = hold(vn, vt, spin, a2, l2, p2, r2, n2, t2)
        vn, vt, jn, jt, gear = pulled(vn, vt, spin, jn, jt, gear, tn, tt, turn)
        vn, vt, spin, p1, r1 = hold(vn, vt, turn, a1, l1, p1, r1, n1, t1)
        vn, vt, spin, p2, r2 = hold(vn, vt, spin, a2, l2, p2, r2, n2, t2)
        vn, vt, jn, jt, gear = pulled(vn, vt, spin, jn, jt, gear, tn, tt, turn)
        vn, vt, spin, p1, r1 = hold(vn, vt, turn, a1, l1, p1, r1, n1, t1)
        vn, vt, spin, p2, r2 = hold(vn, vt, spin, a2, l2, p2, r2, n2, t2)
        vn, vt, jn, jt, gear = pulled(vn, vt, spin, jn, jt, gear, tn, tt, turn)
        vn, vt, spin, p1, r1 = hold(vn, vt, turn, a1, l1, p1, r1, n1, t1)
        vn, vt, spin, p2, r2 = hold(vn, vt, spin, a2, l2, p2, r2, n2, t2)
        vn, vt, jn, jt, gear = pulled(vn, vt, spin, jn, jt, gear, tn, tt, turn)
        f[normal + e] = sign * vn
        f[tangent + e] = cross * vt
        f[drive_normal + e] = sign * jn
        f[drive_tangent + e] = cross * jt
        f[P_GEAR + e] = gear
        f[one + PRESS + e] = p1
        f[one + RUB + e] = r1
        f[two + PRESS + e] = p2
        f[two + RUB + e] = r2
