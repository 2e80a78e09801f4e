"""Contacts with walls on the GPU, in a robot's lane: an x wall and a y wall, two corners of each.

A wall's frame has its normal and its tangent as axes; ``wall`` is a tuple of its sign and, for each
corner, what the law ``hold`` needs of it.
"""

from __future__ import annotations

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.warp import at
from qed.swarm.laws import contact as laws
from qed.swarm.laws import geometry
from qed.swarm.robot import BODY_OUTER_RADIUS

hold = device(laws.hold)
nearer_wall = device(laws.nearer_wall)
remembered = device(laws.remembered)
share = device(laws.share)
torque = device(laws.torque)
two_farthest_corners = device(geometry.two_farthest_corners)

OUTER = f32(BODY_OUTER_RADIUS + 1e-6)  # no corner is farther off
ZERO = f32(0.0)
NO_CORNER = f32(-1.0)
# Corner number, press, rub, arm, lever, shares.
NO_POINT = (NO_CORNER, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)


@stage
def point(touches, number, arm, lever, old1, old2):
    """Return a corner at a wall with what it remembers of the last sub-step."""
    number = number if touches else NO_CORNER
    return (
        number,
        remembered(number, old1[0], old2[0], old1[1], old2[1]),
        remembered(number, old1[0], old2[0], old1[2], old2[2]),
        arm,
        lever,
        share(lever) if touches else ZERO,
        share(arm) if touches else ZERO,
    )


@stage
def touching_wall(place, side, c, s, is_x, one, two):
    """Return the sign of the nearer wall on an axis, and the corners that are inside it."""
    sign, room = nearer_wall(place, side)
    new_one = new_two = NO_POINT
    if room < OUTER:
        c = sign * c
        s = sign * s
        ux = c if is_x else s
        uy = -s if is_x else c
        arm1, lever1, number1, arm2, lever2, number2 = two_farthest_corners(ux, uy)
        new_one = point(room < arm1, number1, arm1, lever1, one, two)
        new_two = point(room < arm2, number2, arm2, lever2, one, two)
    return sign, new_one, new_two


@stage
def in_frame(vx, vy, sign, is_x):
    """Return a velocity along the normal and the tangent of a wall."""
    return sign * (vx if is_x else vy), (sign * vy if is_x else -sign * vx)


@stage
def from_frame(vn, vt, sign, is_x):
    """Return a velocity along normal and tangent of a wall as one along x and y."""
    return (sign * vn if is_x else -sign * vt), (sign * vt if is_x else sign * vn)


@stage
def warm_wall(vx, vy, spin, sign, is_x, one, two):
    """Begin with the impulses of the last sub-step."""
    spin -= torque(one[3], one[4], one[1], one[2]) + torque(two[3], two[4], two[1], two[2])
    vn, vt = in_frame(vx, vy, sign, is_x)
    vx, vy = from_frame(vn - (one[1] + two[1]), vt - (one[2] + two[2]), sign, is_x)
    return vx, vy, spin


@stage
def hold_corner(vn, vt, spin, one):
    """Let a wall hold a corner that is inside it."""
    number, pressed, rubbed, arm, lever, normal_share, tangent_share = one
    vn, vt, spin, pressed, rubbed = hold(
        vn, vt, spin, arm, lever, pressed, rubbed, normal_share, tangent_share
    )
    return vn, vt, spin, (number, pressed, rubbed, arm, lever, normal_share, tangent_share)


@stage
def hold_corners(vx, vy, spin, sign, is_x, one, two):
    """Let a wall hold the corners that are inside it, one after the other.

    A corner that is not inside has no shares and no impulses, so that nothing happens to it.
    """
    vn, vt = in_frame(vx, vy, sign, is_x)
    vn, vt, spin, one = hold_corner(vn, vt, spin, one)
    vn, vt, spin, two = hold_corner(vn, vt, spin, two)
    vx, vy = from_frame(vn, vt, sign, is_x)
    return vx, vy, spin, one, two


@stage
def recall(blocks, place, cycle):
    """Return two corners with the impulses that they kept in the last cycle, if they did."""
    fresh = blocks[place + 6 * L.LANES] != f32(cycle - i32(1))
    one = (
        NO_CORNER if fresh else blocks[place],
        blocks[place + L.LANES],
        blocks[place + 2 * L.LANES],
        ZERO,
        ZERO,
        ZERO,
        ZERO,
    )
    two = (
        NO_CORNER if fresh else blocks[place + 3 * L.LANES],
        blocks[place + 4 * L.LANES],
        blocks[place + 5 * L.LANES],
        ZERO,
        ZERO,
        ZERO,
        ZERO,
    )
    return one, two


@stage
def keep(blocks, place, one, two, cycle):
    """Keep the impulses of two corners for the next cycle."""
    for k in range(3):
        blocks[place + k * L.LANES] = one[k]
        blocks[place + (3 + k) * L.LANES] = two[k]
    blocks[place + 6 * L.LANES] = f32(cycle)


@stage
def wall_place(mine, axis):
    """Return where it is kept how a robot stands at an x wall (0) or at a y wall (1)."""
    return at(mine + i32(axis) * i32(L.WALL_FIELDS * L.LANES))
