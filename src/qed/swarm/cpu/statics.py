"""Contacts with what stands still, walls and obstacles, and the drives that work against them.

A robot touches at most one x wall and one y wall, with two corners each, and each obstacle with one
point.  Contacts are solved one after the other for each robot (``laws/contact.py``): obstacles, the
x wall, the y wall, the drive.  Those at walls are rows of packed robots; those at obstacles are
few, so they are a list and scalar.

``wall`` is where the rows of one of the two walls begin.  Its frame is given by the rows of the
velocity along the normal and along the tangent, and by the tangent's sign on its axis.  Corners are
kept by their numbers, since the two that are farthest inside change as a body turns: an impulse
goes on with its corner.
"""

from typing import Any

from numpy import float32 as f32

from qed.compile import loop
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import index, round_up
from qed.swarm.cpu.gather import gather_four, scatter_four
from qed.swarm.laws import contact
from qed.swarm.laws.outline import body_point, contact_arm, two_farthest_corners

ZERO = f32(0.0)
ONE = f32(1.0)
# Place, direction of the normal, and velocities along normal and tangent.
X_AXES = (L.P_X, ONE, ZERO, L.P_VX, L.P_VY)
Y_AXES = (L.P_Y, ZERO, ONE, L.P_VY, L.P_VX)
NO_CORNER = f32(-1.0)
FIRST_CORNER, SECOND_CORNER = L.FIRST_CORNER, L.SECOND_CORNER  # as numbers: see ``motion.py``


@loop
def recall_corners(
    f: Any, n: Any, wall: int, kept: int, walled: int, first: int, stop: int, cycle: int
) -> None:
    """Lay out the impulses that walls kept in the last cycle, if robots were near them then."""
    one, two = wall + FIRST_CORNER, wall + SECOND_CORNER
    for at in range(index(first), index(stop), L.VECTOR):
        gather_four(f, kept, n, L.P_LANE + at, f, one + at, L.STRIDE)
        gather_four(f, kept + 4 * L.STRIDE, n, L.P_LANE + at, f, two + at, L.STRIDE)
    for e in range(index(first), index(stop)):
        i = index(n[L.P_LANE + e])
        fresh = n[walled + i] != cycle - 1
        n[walled + i] = cycle
        f[one + e] = NO_CORNER if fresh else f[one + e]
        f[two + e] = NO_CORNER if fresh else f[two + e]


@loop
def store_corners(f: Any, n: Any, wall: int, kept: int, first: int, stop: int) -> None:
    """Keep the impulses of walls for the next cycle."""
    for at in range(index(first), index(stop), L.VECTOR):
        one, two = wall + FIRST_CORNER + at, wall + SECOND_CORNER + at
        scatter_four(f, kept, n, L.P_LANE + at, f, one, L.STRIDE)
        scatter_four(f, kept + 4 * L.STRIDE, n, L.P_LANE + at, f, two, L.STRIDE)


@loop
def touch_walls(f: Any, wall: int, axes: Any, tangent_sign: Any, first: int, stop: int) -> None:
    """Find the corners that are inside the wall, and begin with their last sub-step's impulses."""
    one = wall + L.FIRST_CORNER
    two = wall + L.SECOND_CORNER
    place, along, across, normal, tangent = axes
    begin = index(first)
    for k in range(round_up(stop - first)):
        e = begin + k
        sign, room = contact.nearer_wall(f[place + e], f[L.P_SIDE + e])
        c = sign * f[L.P_COS + e]
        s = sign * f[L.P_SIN + e]
        ux = c * along + s * across
        uy = c * across - s * along
        arm1, lever1, corner1, arm2, lever2, corner2 = two_farthest_corners(ux, uy)
        corners = f[one + L.CORNER + e], f[two + L.CORNER + e]
        pns = f[one + L.NORMAL_IMPULSE + e], f[two + L.NORMAL_IMPULSE + e]
        pts = f[one + L.TANGENT_IMPULSE + e], f[two + L.TANGENT_IMPULSE + e]
        f[wall + L.SIGN + e] = sign
        arm1, pn1, pt1 = touch_corner(f, one + e, room, (arm1, lever1, corner1), corners, pns, pts)
        arm2, pn2, pt2 = touch_corner(f, two + e, room, (arm2, lever2, corner2), corners, pns, pts)
        f[normal + e] -= sign * (pn1 + pn2)
        f[tangent + e] -= sign * tangent_sign * (pt1 + pt2)
        f[L.P_SPIN + e] -= contact.angular_impulse(arm1, lever1, pn1, pt1) + (
            contact.angular_impulse(arm2, lever2, pn2, pt2)
        )


@loop
def touch_corner(f: Any, at: int, room: Any, corner: Any, corners: Any, pns: Any, pts: Any) -> Any:
    """Write a corner's contact; return its arm, and its impulses of the last sub-step.

    A corner that is not inside has no masses and no impulses, so that nothing happens to it.
    """
    arm, lever, number = corner
    inside = room < arm
    arm = contact_arm(arm, arm - room)
    number = number if inside else NO_CORNER
    pn = contact.remembered(number, corners[0], corners[1], pns[0], pns[1])
    pt = contact.remembered(number, corners[0], corners[1], pts[0], pts[1])
    f[at + L.CORNER] = number
    f[at + L.NORMAL_IMPULSE] = pn
    f[at + L.TANGENT_IMPULSE] = pt
    f[at + L.ARM] = arm
    f[at + L.LEVER] = lever
    f[at + L.NORMAL_MASS] = contact.effective_mass(lever) if inside else ZERO
    f[at + L.TANGENT_MASS] = contact.effective_mass(arm) if inside else ZERO
    return arm, pn, pt


@loop
def solve_corner(f: Any, at: int, vn: Any, vt: Any, spin: Any) -> Any:
    """Solve a corner's contact; return motion and spin."""
    vn, vt, spin, pn, pt = contact.solve_contact(
        vn,
        vt,
        spin,
        f[at + L.ARM],
        f[at + L.LEVER],
        f[at + L.NORMAL_IMPULSE],
        f[at + L.TANGENT_IMPULSE],
        f[at + L.NORMAL_MASS],
        f[at + L.TANGENT_MASS],
    )
    f[at + L.NORMAL_IMPULSE] = pn
    f[at + L.TANGENT_IMPULSE] = pt
    return vn, vt, spin


@loop
def solve_corners(f: Any, wall: int, normal: int, tangent: int, tangent_sign: Any, e: int) -> Any:
    """Solve both corners at a wall, one after the other; return motion and spin."""
    sign = f[wall + L.SIGN + e]
    cross = sign * tangent_sign
    vn, vt, spin = sign * f[normal + e], cross * f[tangent + e], f[L.P_SPIN + e]
    vn, vt, spin = solve_corner(f, wall + L.FIRST_CORNER + e, vn, vt, spin)
    vn, vt, spin = solve_corner(f, wall + L.SECOND_CORNER + e, vn, vt, spin)
    return sign * vn, cross * vt, spin


@loop
def solve_x_walls(f: Any, first: int, stop: int) -> None:
    """Solve the x walls of robots that are also at y walls."""
    begin = index(first)
    for k in range(round_up(stop - first)):
        e = begin + k
        vx, vy, spin = solve_corners(f, L.P_WALL_X, L.P_VX, L.P_VY, ONE, e)
        f[L.P_VX + e] = vx
        f[L.P_VY + e] = vy
        f[L.P_SPIN + e] = spin


@loop
def solve_x_walls_and_drives(f: Any, first: int, stop: int) -> None:
    """Solve the x walls of robots, then their drives."""
    begin = index(first)
    for k in range(round_up(stop - first)):
        e = begin + k
        vx, vy, spin = solve_corners(f, L.P_WALL_X, L.P_VX, L.P_VY, ONE, e)
        solve_drive(f, vx, vy, spin, e)


@loop
def solve_y_walls_and_drives(f: Any, first: int, stop: int) -> None:
    """Solve the y walls of robots, then their drives."""
    begin = index(first)
    for k in range(round_up(stop - first)):
        e = begin + k
        vy, vx, spin = solve_corners(f, L.P_WALL_Y, L.P_VY, L.P_VX, -ONE, e)
        solve_drive(f, vx, vy, spin, e)


@loop
def solve_drives(f: Any, first: int, stop: int) -> None:
    """Solve the drives of robots at no wall."""
    begin = index(first)
    for k in range(round_up(stop - first)):
        e = begin + k
        solve_drive(f, f[L.P_VX + e], f[L.P_VY + e], f[L.P_SPIN + e], e)


@loop
def solve_free_drives(f: Any, first: int, stop: int) -> None:
    """Solve the drives of robots that nothing has turned since the last iteration.

    Their angular drives are solved already.
    """
    begin = index(first)
    for k in range(round_up(stop - first)):
        e = begin + k
        vx, vy = f[L.P_VX + e], f[L.P_VY + e]
        jx, jy = f[L.P_JX + e], f[L.P_JY + e]
        new_x, new_y = contact.limit_drive(jx, jy, f[L.P_TX + e] - vx, f[L.P_TY + e] - vy)
        f[L.P_VX + e] = vx + (new_x - jx)
        f[L.P_VY + e] = vy + (new_y - jy)
        f[L.P_JX + e] = new_x
        f[L.P_JY + e] = new_y


@loop
def solve_drive(f: Any, vx: Any, vy: Any, spin: Any, e: int) -> None:
    """Solve a robot's drive and angular drive, which end an iteration."""
    turn = f[L.P_TURN + e]
    vx, vy, jx, jy, angular_drive = contact.solve_drive(
        vx,
        vy,
        spin,
        f[L.P_JX + e],
        f[L.P_JY + e],
        f[L.P_ANGULAR_DRIVE + e],
        f[L.P_TX + e],
        f[L.P_TY + e],
        turn,
    )
    f[L.P_VX + e] = vx
    f[L.P_VY + e] = vy
    f[L.P_JX + e] = jx
    f[L.P_JY + e] = jy
    f[L.P_ANGULAR_DRIVE + e] = angular_drive
    f[L.P_SPIN + e] = turn


@loop
def touch_obstacles(b: Any, contacts: int) -> None:
    """Find the contacts that touch, and begin with the impulses of the last sub-step.

    The others forget their impulses.
    """
    f = b.f
    for e in range(contacts):
        i = b.obstacle_places[e, 0]
        one = b.obstacle_contacts[e]
        dx = one[L.O_X] - f[L.P_X + i]
        dy = one[L.O_Y] - f[L.P_Y + i]
        touches = False
        if dx * dx + dy * dy < one[L.O_REACH] * one[L.O_REACH]:
            c = f[L.P_COS + i]
            s = f[L.P_SIN + i]
            nx, ny, gap, arm, lever = body_point(c * dx + s * dy, c * dy - s * dx)
            touches = gap < one[L.O_RADIUS]
            if touches:
                arm = contact_arm(arm, one[L.O_RADIUS] - gap)
                one[L.O_NX] = c * nx - s * ny
                one[L.O_NY] = s * nx + c * ny
                one[L.O_ARM] = arm
                one[L.O_LEVER] = lever
                one[L.O_NORMAL_MASS] = contact.effective_mass(lever)
                one[L.O_TANGENT_MASS] = contact.effective_mass(arm)
        if not touches:
            one[L.O_NORMAL_MASS] = ZERO
            one[L.O_NORMAL_IMPULSE] = ZERO
            one[L.O_TANGENT_IMPULSE] = ZERO
    for e in range(contacts):
        one = b.obstacle_contacts[e]
        if one[L.O_NORMAL_MASS] > ZERO:
            i = b.obstacle_places[e, 0]
            nx, ny = one[L.O_NX], one[L.O_NY]
            pn, pt = one[L.O_NORMAL_IMPULSE], one[L.O_TANGENT_IMPULSE]
            f[L.P_VX + i] -= pn * nx - pt * ny
            f[L.P_VY + i] -= pn * ny + pt * nx
            f[L.P_SPIN + i] -= contact.angular_impulse(one[L.O_ARM], one[L.O_LEVER], pn, pt)


@loop
def solve_obstacles(b: Any, contacts: int) -> None:
    """Solve the contacts with obstacles that touch."""
    f = b.f
    for e in range(contacts):
        one = b.obstacle_contacts[e]
        if one[L.O_NORMAL_MASS] > ZERO:
            i = b.obstacle_places[e, 0]
            nx, ny = one[L.O_NX], one[L.O_NY]
            vx, vy = f[L.P_VX + i], f[L.P_VY + i]
            vn, vt, spin, pn, pt = contact.solve_contact(
                vx * nx + vy * ny,
                vy * nx - vx * ny,
                f[L.P_SPIN + i],
                one[L.O_ARM],
                one[L.O_LEVER],
                one[L.O_NORMAL_IMPULSE],
                one[L.O_TANGENT_IMPULSE],
                one[L.O_NORMAL_MASS],
                one[L.O_TANGENT_MASS],
            )
            f[L.P_VX + i] = vn * nx - vt * ny
            f[L.P_VY + i] = vn * ny + vt * nx
            f[L.P_SPIN + i] = spin
            one[L.O_NORMAL_IMPULSE] = pn
            one[L.O_TANGENT_IMPULSE] = pt
