"""Which bodies may touch in this cycle: robots with robots, walls and obstacles.

Robots that may touch something are packed side by side, so that solving their contacts is
again dense work.
"""

from __future__ import annotations

import math
from typing import Any

from numpy import float32 as f32

from qed.swarm.compile import loop
from qed.swarm.cpu.bits import below, index, lowest, span
from qed.swarm.cpu.rows import (
    COS,
    L_A,
    L_B,
    L_C,
    L_DX,
    L_DY,
    L_E,
    L_F,
    L_G,
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
    TOUCH_I,
    TOUCH_K,
    TOUCH_PAIR,
    TOUCHED,
    VECTOR,
    X,
    Y,
)
from qed.swarm.laws.contact import MARGIN_TIME, RADIUS, approach
from qed.swarm.laws.geometry import body_point
from qed.swarm.robot import BODY_OUTER_RADIUS, OBSTACLE_RADIUS

TWO_RADII = f32(2.0) * RADIUS
OUTER = f32(BODY_OUTER_RADIUS)
OBSTACLE = f32(OBSTACLE_RADIUS)
MARGIN_SECONDS = f32(MARGIN_TIME)


@loop
def slot_of(n: Any, lane: int, cycle: int, slots: int) -> Any:
    """Return the packed place of a robot in contact, a new one if it has none yet."""
    if n[TOUCHED + lane] == cycle:
        return n[SLOT + lane], slots
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
    f, n, p, m = b.f, b.n, b.p, b.m
    for e in range(near):
        i = index(m[NEAR_I + e])
        k = index(m[NEAR_K + e])
        p[L_DX + e] = f[X + k] - f[X + i]
        p[L_DY + e] = f[Y + k] - f[Y + i]
        p[L_A + e] = f[MARGIN + i]
    for e in range(near):
        reach = TWO_RADII + p[L_A + e]
        p[L_B + e] = p[L_DX + e] * p[L_DX + e] + p[L_DY + e] * p[L_DY + e] - reach * reach
    touching = 0
    slots = 0
    for start in range(0, near, VECTOR):
        word = below(p, L_B + start, f32(0.0)) & ((1 << min(near - start, VECTOR)) - 1)
        while word != 0:
            e = start + lowest(word)
            word &= word - 1
            i, slots = slot_of(n, m[NEAR_I + e], cycle, slots)
            k, slots = slot_of(n, m[NEAR_K + e], cycle, slots)
            n[PARTNERS + i] += 1
            n[PARTNERS + k] += 1
            pair = index(m[NEAR_PAIR + e])
            m[TOUCH_I + touching] = i
            m[TOUCH_K + touching] = k
            m[TOUCH_PAIR + touching] = pair
            p[L_DX + touching] = p[L_DX + e]
            p[L_DY + touching] = p[L_DY + e]
            fresh = b.met[pair] != cycle - 1
            p[L_F + touching] = f32(0.0) if fresh else b.press[pair]
            p[L_G + touching] = f32(0.0) if fresh else b.rub[pair]
            touching += 1
    for e in range(touching):
        alone = n[PARTNERS + m[TOUCH_I + e]] + n[PARTNERS + m[TOUCH_K + e]] == 2
        p[L_E + e] = f32(0.5) if alone else f32(0.25)
    for e in range(touching):
        d = max(math.sqrt(p[L_DX + e] * p[L_DX + e] + p[L_DY + e] * p[L_DY + e]), f32(1e-6))
        p[L_A + e] = p[L_DX + e] / d
        p[L_B + e] = p[L_DY + e] / d
        p[L_C + e] = approach(d - TWO_RADII)
    return touching, slots


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
