"""Which bodies may touch in this cycle: robots with robots, walls and obstacles.

Robots that may touch something are packed side by side, so that solving their contacts is
again dense work.  They lie in six stretches: those that may touch nothing but an x wall; those
that may touch others (robots or obstacles) or two walls: at an x wall only, at both, at a y wall
only; then those that may touch nothing but a y wall; then those that may touch others only.  So
each kind of wall concerns one row of stretches.  Stretches are whole vectors: the robot that is
nowhere fills them up.
"""

from __future__ import annotations

from typing import Any

from numpy import float32 as f32

from qed.compile import loop
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import below, index, lowest, ones, span, whole
from qed.swarm.cpu.squeezing import squeeze
from qed.swarm.laws.contact import MARGIN_TIME
from qed.swarm.robot import BODY_OUTER_RADIUS, OBSTACLE_RADIUS

ZERO = f32(0.0)
TWO = f32(2.0)
TWO_OUTER = f32(2.0 * BODY_OUTER_RADIUS)
OUTER = f32(BODY_OUTER_RADIUS)
REACH = f32(OBSTACLE_RADIUS + BODY_OUTER_RADIUS)
MARGIN_SECONDS = f32(MARGIN_TIME)
YES = f32(-1.0)


@loop
def near_walls(b: Any, lanes: int) -> None:
    """Note which robots may touch an x wall, and which a y wall."""
    f = b.f
    for i in range(lanes):
        side = f[L.SIDE + i]
        reach = f[L.MARGIN + i] + OUTER
        f[L.AT_X_WALL + i] = min(f[L.X + i], side - f[L.X + i]) - reach
        f[L.AT_Y_WALL + i] = min(f[L.Y + i], side - f[L.Y + i]) - reach


@loop
def near_robots(b: Any, near: int, cycle: int) -> int:
    """List the near pairs that may touch, by their lanes; return their number."""
    f, p, m = b.f, b.p, b.m
    for e in range(near):
        i = index(m[L.NEAR_I + e])
        k = index(m[L.NEAR_K + e])
        p[L.T_DX + e] = f[L.X + k] - f[L.X + i]
        p[L.T_DY + e] = f[L.Y + k] - f[L.Y + i]
        p[L.T_GAP + e] = TWO_OUTER + TWO * f[L.MARGIN + i]
    for e in range(whole(near)):
        reach = p[L.T_GAP + e]
        square = p[L.T_DX + e] * p[L.T_DX + e] + p[L.T_DY + e] * p[L.T_DY + e]
        p[L.T_GAP + e] = square - reach * reach
    pairs = 0
    for start in range(0, near, L.VECTOR):
        word = below(p, L.T_GAP + start, ZERO) & ((1 << min(near - start, L.VECTOR)) - 1)
        if word != 0:
            squeeze(m, L.NEAR_I + start, L.C_I + pairs, word)
            squeeze(m, L.NEAR_K + start, L.C_K + pairs, word)
            squeeze(m, L.NEAR_PAIR + start, L.C_PAIR + pairs, word)
            pairs += ones(word)
    for e in range(pairs):
        f[L.AT_OTHERS + index(m[L.C_I + e])] = YES
        f[L.AT_OTHERS + index(m[L.C_K + e])] = YES
        pair = index(m[L.C_PAIR + e])
        fresh = b.met[pair] != cycle - 1
        for j in range(4):
            p[L.C_KEPT + 4 * e + j] = ZERO if fresh else b.presses[pair, j]
    return pairs


@loop
def near_obstacles(b: Any, cycle: int) -> int:
    """List the robots that may touch an obstacle, by their lanes; return their number."""
    f = b.f
    contacts = 0
    for s in range(b.segments.shape[0]):
        segment = b.segments[s]
        first, _, _, _, lanes = span(b.segments, s)
        reach = REACH + MARGIN_SECONDS * b.limits[s, L.L_SPEED]
        for o in range(index(segment[L.OBSTACLES])):
            at_x = 2 * o * L.STRIDE + first
            at_y = at_x + L.STRIDE
            for i in range(lanes):
                dx = b.obstacles[at_x + i] - f[L.X + first + i]
                dy = b.obstacles[at_y + i] - f[L.Y + first + i]
                f[L.SCRATCH + i] = dx * dx + dy * dy
            for start in range(0, lanes, L.VECTOR):
                word = below(f, L.SCRATCH + start, reach * reach)
                while word != 0:
                    i = start + lowest(word)
                    word &= word - 1
                    place = o * L.STRIDE + first + i
                    fresh = b.blocked[place] != cycle - 1
                    contact = b.touching[contacts]
                    contact[L.O_X] = b.obstacles[at_x + i]
                    contact[L.O_Y] = b.obstacles[at_y + i]
                    contact[L.O_PRESS] = ZERO if fresh else b.blocks[2 * place]
                    contact[L.O_RUB] = ZERO if fresh else b.blocks[2 * place + 1]
                    f[L.AT_OTHERS + first + i] = YES
                    b.touched[contacts, 0] = first + i
                    b.touched[contacts, 1] = place
                    contacts += 1
    return contacts


@loop
def places(b: Any, lanes: int, pairs: int, obstacles: int) -> Any:
    """Give every robot that may touch something a place; return where the stretches end.

    The robots of pairs and at obstacles are told by their places from now on.
    """
    f, n, m = b.f, b.n, b.m
    slots = 0
    stops = (0, 0, 0, 0, 0, 0)
    for stretch in range(6):
        for start in range(0, lanes, L.VECTOR):
            x = below(f, L.AT_X_WALL + start, ZERO)
            y = below(f, L.AT_Y_WALL + start, ZERO)
            others = below(f, L.AT_OTHERS + start, ZERO)
            if stretch == 0:
                word = ~others & x & ~y
            elif stretch == 1:
                word = others & x & ~y
            elif stretch == 2:
                word = x & y
            elif stretch == 3:
                word = others & y & ~x
            elif stretch == 4:
                word = ~others & y & ~x
            else:
                word = others & ~x & ~y
            while word != 0:
                i = start + lowest(word)
                word &= word - 1
                n[L.SLOT + i] = slots
                n[L.P_LANE + slots] = i
                slots += 1
        stop = whole(slots)
        for e in range(slots, stop):
            n[L.P_LANE + e] = L.NOWHERE
        slots = stop
        stops = (stops[1], stops[2], stops[3], stops[4], stops[5], slots)
    for e in range(pairs):
        i = index(m[L.C_I + e])
        k = index(m[L.C_K + e])
        f[L.AT_OTHERS + i] = ZERO
        f[L.AT_OTHERS + k] = ZERO
        m[L.C_I + e] = n[L.SLOT + i]
        m[L.C_K + e] = n[L.SLOT + k]
    for e in range(obstacles):
        i = index(b.touched[e, 0])
        f[L.AT_OTHERS + i] = ZERO
        b.touched[e, 0] = n[L.SLOT + i]
    return stops
