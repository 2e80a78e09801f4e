"""Contacts with obstacles on the GPU, each in its robot's lane."""

from __future__ import annotations

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda import layout as L
from qed.swarm.cuda.constants import EDGE_COUNT, edge
from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.warp import at, lowest, rolled
from qed.swarm.laws import bodies
from qed.swarm.laws import contact as laws
from qed.swarm.laws.geometry import FAR
from qed.swarm.robot import BODY_OUTER_RADIUS, OBSTACLE_RADIUS

hold = device(laws.hold)
share = device(laws.share)
torque = device(laws.torque)
from_point = device(bodies.from_point)
nearer_edge = device(bodies.nearer_edge)

OBSTACLE = f32(OBSTACLE_RADIUS)
REACH = f32(OBSTACLE_RADIUS + BODY_OUTER_RADIUS)
ZERO = f32(0.0)
NO_BLOCK = (ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)  # normal, arm, lever, shares, impulses


@stage
def body_point(x, y):
    """Return normal, gap, arm and lever (m) from a body at the origin to the point (x, y)."""
    ax = abs(x)
    qx = qy = FAR
    outside = -FAR
    e = i32(0)
    while e < i32(EDGE_COUNT):
        e = rolled(e)
        qx, qy, outside = nearer_edge(ax, y, qx, qy, outside, *edge(e))
        e = i32(e + i32(1))
    return from_point(x, y, qx, qy, outside)


@stage
def block_place(mine, obstacle):
    """Return where it is noted how a robot stands at an obstacle."""
    return at(mine + i32(2 * L.WALL_FIELDS * L.LANES) + obstacle * i32(L.BLOCK_FIELDS * L.LANES))


@stage
def within_reach(sf, x, y, reach, centres, nearby):
    """Return those of some obstacles (a bit each) whose centres are within reach (m)."""
    word = i32(0)
    while nearby != 0:
        o = lowest(nearby)
        dx = sf[at(centres + o + o)] - x
        dy = sf[at(centres + o + o) + 1] - y
        if dx * dx + dy * dy < reach * reach:
            word = i32(word | (nearby & -nearby))
        nearby = i32(nearby & (nearby - i32(1)))
    return word


@stage
def touching_obstacles(sf, pose, centres, rest, blocks, mine, step):
    """Note the obstacles (a bit each) that a robot touches in a sub-step; return their bits."""
    x, y, c, s = pose
    word = i32(0)
    while rest != 0:
        o = lowest(rest)
        bit = i32(rest & -rest)
        rest = i32(rest & (rest - i32(1)))
        dx = sf[at(centres + o + o)] - x
        dy = sf[at(centres + o + o) + 1] - y
        nx, ny, gap, arm, lever = body_point(c * dx + s * dy, c * dy - s * dx)
        if gap < OBSTACLE:
            word = i32(word | bit)
            b = block_place(mine, o)
            fresh = blocks[b + L.B_STEP * L.LANES] != step - f32(1.0)
            blocks[b + L.B_NX * L.LANES] = c * nx - s * ny
            blocks[b + L.B_NY * L.LANES] = s * nx + c * ny
            blocks[b + L.B_ARM * L.LANES] = arm
            blocks[b + L.B_LEVER * L.LANES] = lever
            blocks[b + L.B_NORMAL_SHARE * L.LANES] = share(lever)
            blocks[b + L.B_TANGENT_SHARE * L.LANES] = share(arm)
            if fresh:
                blocks[b + L.B_PRESS * L.LANES] = ZERO
                blocks[b + L.B_RUB * L.LANES] = ZERO
            blocks[b + L.B_STEP * L.LANES] = step
    return word


@stage
def block(blocks, b):
    """Read what is noted of a robot at an obstacle: normal, arm, lever, shares, impulses."""
    return (
        blocks[b + L.B_NX * L.LANES],
        blocks[b + L.B_NY * L.LANES],
        blocks[b + L.B_ARM * L.LANES],
        blocks[b + L.B_LEVER * L.LANES],
        blocks[b + L.B_NORMAL_SHARE * L.LANES],
        blocks[b + L.B_TANGENT_SHARE * L.LANES],
        blocks[b + L.B_PRESS * L.LANES],
        blocks[b + L.B_RUB * L.LANES],
    )


@stage
def note(blocks, b, found):
    """Note a robot's impulses at an obstacle."""
    blocks[b + L.B_PRESS * L.LANES] = found[6]
    blocks[b + L.B_RUB * L.LANES] = found[7]


@stage
def hold_at(vx, vy, spin, found):
    """Let an obstacle hold a robot; return its motion, and what there is to note."""
    nx, ny, arm, lever, normal_share, tangent_share, pressed, rubbed = found
    vn, vt, spin, pressed, rubbed = hold(
        vx * nx + vy * ny,
        vy * nx - vx * ny,
        spin,
        arm,
        lever,
        pressed,
        rubbed,
        normal_share,
        tangent_share,
    )
    found = (nx, ny, arm, lever, normal_share, tangent_share, pressed, rubbed)
    return vn * nx - vt * ny, vn * ny + vt * nx, spin, found


@stage
def warm_obstacle(vx, vy, spin, found):
    """Begin with the impulses at an obstacle of the last sub-step."""
    nx, ny, arm, lever, _, _, pressed, rubbed = found
    return (
        vx - (pressed * nx - rubbed * ny),
        vy - (pressed * ny + rubbed * nx),
        spin - torque(arm, lever, pressed, rubbed),
    )


@stage
def warm_obstacles(vx, vy, spin, word, blocks, mine):
    """Begin with the impulses at several obstacles."""
    while word != 0:
        found = block(blocks, block_place(mine, lowest(word)))
        vx, vy, spin = warm_obstacle(vx, vy, spin, found)
        word = i32(word & (word - i32(1)))
    return vx, vy, spin


@stage
def hold_at_obstacles(vx, vy, spin, word, blocks, mine):
    """Let several obstacles hold a robot, one after the other."""
    while word != 0:
        b = block_place(mine, lowest(word))
        word = i32(word & (word - i32(1)))
        vx, vy, spin, found = hold_at(vx, vy, spin, block(blocks, b))
        note(blocks, b, found)
    return vx, vy, spin
