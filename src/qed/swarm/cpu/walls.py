"""Robots at walls: each touches at most one x wall and one y wall, with two corners each.

``wall`` is where the rows of one of the two begin.  Its frame is told by the rows of the
velocity along the normal and along the tangent, and by the tangent's sign on its axis.
"""

from __future__ import annotations

from typing import Any

from numpy import float32 as f32

from qed.compile import loop
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import index, whole
from qed.swarm.laws.contact import hold, nearer_wall, pulled, remembered, share, torque
from qed.swarm.laws.geometry import two_farthest_corners

ZERO = f32(0.0)
ONE = f32(1.0)
# Place, direction of the normal, and velocities along normal and tangent.
X_AXES = (L.P_X, ONE, ZERO, L.P_VX, L.P_VY)
Y_AXES = (L.P_Y, ZERO, ONE, L.P_VY, L.P_VX)
NO_CORNER = f32(-1.0)


@loop
def recall_corners(
    f: Any, n: Any, wall: int, kept: int, walled: int, first: int, stop: int, cycle: int
) -> None:
    """Lay out the impulses that walls kept in the last cycle, if robots were near them then."""
    begin = index(first)
    for k in range(index(stop - first)):
        e = begin + k
        i = index(n[L.P_LANE + e])
        fresh = n[walled + i] != cycle - 1
        n[walled + i] = cycle
        for which in range(2):
            here = wall + L.FIRST_CORNER + which * (L.SECOND_CORNER - L.FIRST_CORNER) + e
            there = kept + which * 3 * L.STRIDE + i
            f[here + L.CORNER] = NO_CORNER if fresh else f[there]
            f[here + L.PRESS] = f[there + L.STRIDE]
            f[here + L.RUB] = f[there + 2 * L.STRIDE]


@loop
def keep_corners(f: Any, n: Any, wall: int, kept: int, first: int, stop: int) -> None:
    """Keep the impulses of walls for the next cycle."""
    begin = index(first)
    for k in range(index(stop - first)):
        e = begin + k
        i = index(n[L.P_LANE + e])
        for which in range(2):
            here = wall + L.FIRST_CORNER + which * (L.SECOND_CORNER - L.FIRST_CORNER) + e
            there = kept + which * 3 * L.STRIDE + i
            f[there] = f[here + L.CORNER]
            f[there + L.STRIDE] = f[here + L.PRESS]
            f[there + 2 * L.STRIDE] = f[here + L.RUB]


@loop
def touch_walls(f: Any, wall: int, axes: Any, tangent_sign: Any, first: int, stop: int) -> None:
    """Find the corners that are inside the wall, and begin with their last sub-step's impulses."""
    one = wall + L.FIRST_CORNER
    two = wall + L.SECOND_CORNER
    place, along, across, normal, tangent = axes
    begin = index(first)
    for k in range(whole(stop - first)):
        e = begin + k
        sign, room = nearer_wall(f[place + e], f[L.P_SIDE + e])
        c = sign * f[L.P_COS + e]
        s = sign * f[L.P_SIN + e]
        ux = c * along + s * across
        uy = c * across - s * along
        arm1, lever1, corner1, arm2, lever2, corner2 = two_farthest_corners(ux, uy)
        in1 = room < arm1
        in2 = room < arm2
        corner1 = corner1 if in1 else NO_CORNER
        corner2 = corner2 if in2 else NO_CORNER
        old1 = f[one + L.CORNER + e]
        old2 = f[two + L.CORNER + e]
        press1 = remembered(corner1, old1, old2, f[one + L.PRESS + e], f[two + L.PRESS + e])
        press2 = remembered(corner2, old1, old2, f[one + L.PRESS + e], f[two + L.PRESS + e])
        rub1 = remembered(corner1, old1, old2, f[one + L.RUB + e], f[two + L.RUB + e])
        rub2 = remembered(corner2, old1, old2, f[one + L.RUB + e], f[two + L.RUB + e])
        f[wall + L.SIGN + e] = sign
        f[one + L.CORNER + e] = corner1
        f[two + L.CORNER + e] = corner2
        f[one + L.PRESS + e] = press1
        f[two + L.PRESS + e] = press2
        f[one + L.RUB + e] = rub1
        f[two + L.RUB + e] = rub2
        f[one + L.ARM + e] = arm1
        f[two + L.ARM + e] = arm2
        f[one + L.LEVER + e] = lever1
        f[two + L.LEVER + e] = lever2
        f[one + L.NORMAL_SHARE + e] = share(lever1) if in1 else ZERO
        f[two + L.NORMAL_SHARE + e] = share(lever2) if in2 else ZERO
        f[one + L.TANGENT_SHARE + e] = share(arm1) if in1 else ZERO
        f[two + L.TANGENT_SHARE + e] = share(arm2) if in2 else ZERO
        f[normal + e] -= sign * (press1 + press2)
        f[tangent + e] -= sign * tangent_sign * (rub1 + rub2)
        f[L.P_SPIN + e] -= torque(arm1, lever1, press1, rub1) + torque(arm2, lever2, press2, rub2)


@loop
def held(f: Any, wall: int, normal: int, tangent: int, tangent_sign: Any, e: int) -> Any:
    """Let a wall hold the corners inside it, one after the other; return motion and spin."""
    one = wall + L.FIRST_CORNER + e
    two = wall + L.SECOND_CORNER + e
    sign = f[wall + L.SIGN + e]
    cross = sign * tangent_sign
    vn, vt, spin, pressed, rubbed = hold(
        sign * f[normal + e],
        cross * f[tangent + e],
        f[L.P_SPIN + e],
        f[one + L.ARM],
        f[one + L.LEVER],
        f[one + L.PRESS],
        f[one + L.RUB],
        f[one + L.NORMAL_SHARE],
        f[one + L.TANGENT_SHARE],
    )
    f[one + L.PRESS] = pressed
    f[one + L.RUB] = rubbed
    vn, vt, spin, pressed, rubbed = hold(
        vn,
        vt,
        spin,
        f[two + L.ARM],
        f[two + L.LEVER],
        f[two + L.PRESS],
        f[two + L.RUB],
        f[two + L.NORMAL_SHARE],
        f[two + L.TANGENT_SHARE],
    )
    f[two + L.PRESS] = pressed
    f[two + L.RUB] = rubbed
    return sign * vn, cross * vt, spin


@loop
def hold_at_x_wall(f: Any, first: int, stop: int) -> None:
    """Let x walls hold robots that are also at y walls."""
    begin = index(first)
    for k in range(whole(stop - first)):
        e = begin + k
        vx, vy, spin = held(f, L.P_WALL_X, L.P_VX, L.P_VY, ONE, e)
        f[L.P_VX + e] = vx
        f[L.P_VY + e] = vy
        f[L.P_SPIN + e] = spin


@loop
def hold_at_x_wall_and_pull(f: Any, first: int, stop: int) -> None:
    """Let x walls hold robots, then let their drives pull."""
    begin = index(first)
    for k in range(whole(stop - first)):
        e = begin + k
        vx, vy, spin = held(f, L.P_WALL_X, L.P_VX, L.P_VY, ONE, e)
        pull_one(f, vx, vy, spin, e)


@loop
def hold_at_y_wall_and_pull(f: Any, first: int, stop: int) -> None:
    """Let y walls hold robots, then let their drives pull."""
    begin = index(first)
    for k in range(whole(stop - first)):
        e = begin + k
        vy, vx, spin = held(f, L.P_WALL_Y, L.P_VY, L.P_VX, -ONE, e)
        pull_one(f, vx, vy, spin, e)


@loop
def pull(f: Any, first: int, stop: int) -> None:
    """Let the drives of robots at no wall pull."""
    begin = index(first)
    for k in range(whole(stop - first)):
        e = begin + k
        pull_one(f, f[L.P_VX + e], f[L.P_VY + e], f[L.P_SPIN + e], e)


@loop
def pull_one(f: Any, vx: Any, vy: Any, spin: Any, e: int) -> None:
    """Let a drive pull towards its target with the force it has, and the gear turn it back."""
    turn = f[L.P_TURN + e]
    vx, vy, jx, jy, gear = pulled(
        vx,
        vy,
        spin,
        f[L.P_JX + e],
        f[L.P_JY + e],
        f[L.P_GEAR + e],
        f[L.P_TX + e],
        f[L.P_TY + e],
        turn,
    )
    f[L.P_VX + e] = vx
    f[L.P_VY + e] = vy
    f[L.P_JX + e] = jx
    f[L.P_JY + e] = jy
    f[L.P_GEAR + e] = gear
    f[L.P_SPIN + e] = turn
