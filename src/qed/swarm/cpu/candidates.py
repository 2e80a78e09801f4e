"""Which bodies may touch in this cycle: robots with robots, walls and obstacles.

Robots that may touch something are packed side by side, so that solving their contacts is
again dense work.
"""

from __future__ import annotations

from typing import Any

from numpy import float32 as f32

from qed.swarm.compile import loop
from qed.swarm.cpu.bits import below, index, lowest, span
from qed.swarm.cpu.rows import (
    C_ARM,
    C_DX,
    C_DY,
    C_I,
    C_K,
    C_NEAR,
    C_NX,
    C_NY,
    C_PAIR,
    C_PRESS,
    C_RUB,
    C_SHARE,
    C_SPEED,
    C_TURN,
    C_UX,
    C_UY,
    COS,
    L_SPEED,
    MARGIN,
    NEAR_I,
    NEAR_K,
    NEAR_PAIR,
    OBSTACLES,
    P_LANE,
    P_SUM_X,
    P_SUM_Y,
    PARTNERS,
    SCRATCH,
    SIDE,
    SIN,
    SLOT,
    STRIDE,
    TOUCHED,
    VECTOR,
    X,
    Y,
)
from qed.swarm.laws.contact import MARGIN_TIME, approach, pair_share
from qed.swarm.laws.geometry import body_point, separation
from qed.swarm.robot import BODY_OUTER_RADIUS, OBSTACLE_RADIUS

TWO_OUTER = f32(2.0 * BODY_OUTER_RADIUS)
OUTER = f32(BODY_OUTER_RADIUS)
OBSTACLE = f32(OBSTACLE_RADIUS)
MARGIN_SECONDS = f32(MARGIN_TIME)


@loop
def slot_of(n: Any, lane: int, cycle: int, slots: int) -> Any:
    """Return the packed place of a robot in contact, a new one if it has none yet."""
    if n[TOUCHED + lane] == cycle:
        return index(n[SLOT + lane]), slots
    n[TOUCHED + lane] = cycle
    n[SLOT + lane] = slots
    n[P_LANE + slots] = lane
    n[P_SUM_X + slots] = 0
    n[P_SUM_Y + slots] = 0
    n[PARTNERS + slots] = 0
    return slots, slots + 1


@loop
def touching_pairs(b: Any, near: int, cycle: int) -> Any:
    """List the near pairs that may touch; return their number and that of their robots."""
    n, p, m = b.n, b.p, b.m
    close = close_pairs(b, near)
    for e in range(close):
        dx = p[C_DX + e]
        dy = p[C_DY + e]
        gap, nx, ny = separation(dx, dy, p[C_UX + e], p[C_UY + e], p[C_PRESS + e], p[C_RUB + e])
        p[C_NX + e] = nx
        p[C_NY + e] = ny
        p[C_ARM + e] = f32(0.5) * (nx * dx + ny * dy)
        p[C_SPEED + e] = approach(gap)
        p[C_SHARE + e] = gap - p[C_TURN + e]
    touching = 0
    slots = 0
    for e in range(close):
        if p[C_SHARE + e] < f32(0.0):
            at = index(m[C_NEAR + e])
            i, slots = slot_of(n, index(m[NEAR_I + at]), cycle, slots)
            k, slots = slot_of(n, index(m[NEAR_K + at]), cycle, slots)
            pair = index(m[NEAR_PAIR + at])
            n[PARTNERS + i] += 1
            n[PARTNERS + k] += 1
            m[C_I + touching] = i
            m[C_K + touching] = k
            m[C_PAIR + touching] = pair
            p[C_NX + touching] = p[C_NX + e]
            p[C_NY + touching] = p[C_NY + e]
            p[C_ARM + touching] = p[C_ARM + e]
            p[C_SPEED + touching] = p[C_SPEED + e]
            fresh = b.met[pair] != cycle - 1
            p[C_PRESS + touching] = f32(0.0) if fresh else b.press[pair]
            p[C_RUB + touching] = f32(0.0) if fresh else b.rub[pair]
            touching += 1
    for e in range(touching):
        partners = n[PARTNERS + index(m[C_I + e])]
        p[C_SHARE + e] = pair_share(partners, n[PARTNERS + index(m[C_K + e])])
    return touching, slots


@loop
def close_pairs(b: Any, near: int) -> int:
    """List the near pairs whose circumscribed discs come close, with their headings.

    Headings and margin borrow the rows that speeds and impulses take over later.
    """
    f, p, m = b.f, b.p, b.m
    for e in range(near):
        i = index(m[NEAR_I + e])
        k = index(m[NEAR_K + e])
        p[C_DX + e] = f[X + k] - f[X + i]
        p[C_DY + e] = f[Y + k] - f[Y + i]
        p[C_TURN + e] = f[MARGIN + i]
    for e in range(near):
        reach = TWO_OUTER + p[C_TURN + e]
        square = p[C_DX + e] * p[C_DX + e] + p[C_DY + e] * p[C_DY + e]
        p[C_SHARE + e] = square - reach * reach
    close = 0
    for start in range(0, near, VECTOR):
        word = below(p, C_SHARE + start, f32(0.0)) & ((1 << min(near - start, VECTOR)) - 1)
        while word != 0:
            e = start + lowest(word)
            word &= word - 1
            i = index(m[NEAR_I + e])
            k = index(m[NEAR_K + e])
            m[C_NEAR + close] = e
            p[C_DX + close] = p[C_DX + e]
            p[C_DY + close] = p[C_DY + e]
            p[C_UX + close] = f[COS + i]
            p[C_UY + close] = f[SIN + i]
            p[C_PRESS + close] = f[COS + k]
            p[C_RUB + close] = f[SIN + k]
            p[C_TURN + close] = f[MARGIN + i]
            close += 1
    return close


@loop
def touching_walls(b: Any, lanes: int, cycle: int, slots: int) -> int:
    """Give a packed place to every robot that may touch a wall; return the new number."""
    f, n = b.f, b.n
    for i in range(lanes):
        x = f[X + i]
        y = f[Y + i]
        side = f[SIDE + i]
        room = min(min(x, side - x), min(y, side - y))
        f[SCRATCH + i] = room - (f[MARGIN + i] + OUTER)
    for start in range(0, lanes, VECTOR):
        word = below(f, SCRATCH + start, f32(0.0))
        while word != 0:
            _, slots = slot_of(n, start + lowest(word), cycle, slots)
            word &= word - 1
    return slots


@loop
def touching_obstacles(b: Any, cycle: int, slots: int) -> Any:
    """List the robots that may touch an obstacle; return the number of contacts and robots."""
    f, n = b.f, b.n
    touching = 0
    for s in range(b.segments.shape[0]):
        segment = b.segments[s]
        first, _, _, _, lanes = span(b.segments, s)
        reach = OBSTACLE + OUTER + MARGIN_SECONDS * b.limits[s, L_SPEED]
        for o in range(index(segment[OBSTACLES])):
            at_x = 2 * o * STRIDE + first
            at_y = at_x + STRIDE
            for i in range(lanes):
                dx = b.obstacles[at_x + i] - f[X + first + i]
                dy = b.obstacles[at_y + i] - f[Y + first + i]
                f[SCRATCH + i] = dx * dx + dy * dy
            for start in range(0, lanes, VECTOR):
                word = below(f, SCRATCH + start, reach * reach)
                while word != 0:
                    i = start + lowest(word)
                    word &= word - 1
                    slot, slots = slot_of(n, first + i, cycle, slots)
                    c = f[COS + first + i]
                    s_ = f[SIN + first + i]
                    dx = b.obstacles[at_x + i] - f[X + first + i]
                    dy = b.obstacles[at_y + i] - f[Y + first + i]
                    nx, ny, gap, arm = body_point(c * dx + s_ * dy, c * dy - s_ * dx)
                    place = o * STRIDE + first + i
                    fresh = b.blocked[place] != cycle - 1
                    contact = b.touching[touching]
                    contact[0] = c * nx - s_ * ny
                    contact[1] = s_ * nx + c * ny
                    contact[2] = approach(gap - OBSTACLE)
                    contact[3] = f32(0.0) if fresh else b.blocks[2 * place]
                    contact[4] = f32(0.0) if fresh else b.blocks[2 * place + 1]
                    contact[5] = arm
                    b.touched[touching, 0] = slot
                    b.touched[touching, 1] = place
                    touching += 1
    return touching, slots
