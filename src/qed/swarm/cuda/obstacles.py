"""Contacts with obstacles on the GPU, each in its robot's lane."""

from __future__ import annotations

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda.constants import EDGE_COUNT, edge
from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.layout import (
    B_ARM,
    B_CYCLE,
    B_NX,
    B_NY,
    B_PRESS,
    B_RUB,
    B_SPEED,
    BLOCK_FIELDS,
    LANES,
)
from qed.swarm.cuda.warp import at, lowest, rolled
from qed.swarm.laws import contact as laws
from qed.swarm.laws import geometry
from qed.swarm.laws.contact import WALL_FRICTION
from qed.swarm.laws.geometry import FAR
from qed.swarm.robot import OBSTACLE_RADIUS

approach = device(laws.approach)
press = device(laws.press)
rub = device(laws.rub)
from_point = device(geometry.from_point)
nearer_edge = device(geometry.nearer_edge)

OBSTACLE = f32(OBSTACLE_RADIUS)
ZERO = f32(0.0)
ONE = f32(1.0)
NO_BLOCK = (ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)  # normal, speed, arm, impulses


@stage
def body_point(x, y):
    """Return normal, gap (m) and arm (m) from a body at the origin to the point (x, y)."""
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
    return at(mine + obstacle * i32(BLOCK_FIELDS * LANES))


@stage
def touching_obstacles(sf, x, y, c, s, reach, centres, nearby, blocks, mine, cycle):
    """Note the nearby obstacles (a bit each) that a robot may touch; return a bit for each."""
    word = i32(0)
    while nearby != 0:
        o = lowest(nearby)
        dx = sf[at(centres + o + o)] - x
        dy = sf[at(centres + o + o) + 1] - y
        if dx * dx + dy * dy < reach * reach:
            word = i32(word | (nearby & -nearby))
        nearby = i32(nearby & (nearby - i32(1)))
    # Robots take their first, their second, ... at the same time.
    rest = word
    while rest != 0:
        o = lowest(rest)
        rest = i32(rest & (rest - i32(1)))
        dx = sf[at(centres + o + o)] - x
        dy = sf[at(centres + o + o) + 1] - y
        nx, ny, gap, arm = body_point(c * dx + s * dy, c * dy - s * dx)
        b = block_place(mine, o)
        fresh = blocks[b + B_CYCLE * LANES] != f32(cycle - i32(1))
        blocks[b + B_NX * LANES] = c * nx - s * ny
        blocks[b + B_NY * LANES] = s * nx + c * ny
        blocks[b + B_SPEED * LANES] = approach(gap - OBSTACLE)
        blocks[b + B_ARM * LANES] = arm
        if fresh:
            blocks[b + B_PRESS * LANES] = ZERO
            blocks[b + B_RUB * LANES] = ZERO
        blocks[b + B_CYCLE * LANES] = f32(cycle)
    return word


@stage
def block(blocks, b):
    """Read what is noted of a robot at an obstacle: normal, speed, arm, impulses."""
    return (
        blocks[b + B_NX * LANES],
        blocks[b + B_NY * LANES],
        blocks[b + B_SPEED * LANES],
        blocks[b + B_ARM * LANES],
        blocks[b + B_PRESS * LANES],
        blocks[b + B_RUB * LANES],
    )


@stage
def note(blocks, b, found):
    """Note a robot's impulses at an obstacle."""
    blocks[b + B_PRESS * LANES] = found[4]
    blocks[b + B_RUB * LANES] = found[5]


@stage
def push_obstacle(vx, vy, turn, found):
    """Correct a robot at an obstacle; return its velocity, and what there is to note."""
    nx, ny, speed, arm, old_press, old_rub = found
    pressed = press(old_press, ONE, (vx * nx + vy * ny) - speed)
    rubbed = rub(old_rub, ONE, (vy * nx - vx * ny) + arm * turn, WALL_FRICTION * pressed)
    dp = pressed - old_press
    dr = rubbed - old_rub
    vx -= dp * nx - dr * ny
    vy -= dp * ny + dr * nx
    return vx, vy, (nx, ny, speed, arm, pressed, rubbed)


@stage
def warm_obstacle(vx, vy, found):
    """Begin with the impulses at an obstacle of the last cycle."""
    nx, ny, _, _, pressed, rubbed = found
    return vx - (pressed * nx - rubbed * ny), vy - (pressed * ny + rubbed * nx)


@stage
def warm_obstacles(vx, vy, word, blocks, mine):
    """Begin with the impulses at several obstacles."""
    while word != 0:
        vx, vy = warm_obstacle(vx, vy, block(blocks, block_place(mine, lowest(word))))
        word = i32(word & (word - i32(1)))
    return vx, vy


@stage
def push_obstacles(vx, vy, turn, word, blocks, mine):
    """Correct a robot at the obstacles it may touch, one after the other."""
    while word != 0:
        b = block_place(mine, lowest(word))
        word = i32(word & (word - i32(1)))
        vx, vy, found = push_obstacle(vx, vy, turn, block(blocks, b))
        note(blocks, b, found)
    return vx, vy
