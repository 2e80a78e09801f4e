"""Range and bearing: the nearest robot in sight in each of eight cones.

Occlusion is the dear part.  A pair that nothing comes near is clear; one that the inscribed
disc of another body, or an obstacle, cuts is not.  Only what lies between is tested against
the exact body, and only where it would be the nearest of its cone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.compile import loop
from qed.swarm.cpu.bits import index, lowest, span, whole
from qed.swarm.cpu.rows import (
    COS,
    DEAF,
    FAULTY_EAR,
    L_RAB,
    LIVE,
    OBSTACLES,
    RAB,
    ROBOTS,
    S_CONE_I,
    S_CONE_K,
    S_COS_I,
    S_COS_K,
    S_DISTANCE,
    S_DX,
    S_DY,
    S_HIDDEN,
    S_I,
    S_K,
    S_OTHER_X,
    S_OTHER_Y,
    S_PER_SQUARE,
    S_SIN_I,
    S_SIN_K,
    S_TRIAL,
    S_X,
    S_Y,
    SIN,
    STRIDE,
    TRIAL,
    TRIALS,
    X,
    Y,
)
from qed.swarm.laws.chance import draw, high_noise, low_noise
from qed.swarm.laws.geometry import PI, cos_sin, off_line, one_over, ray_body
from qed.swarm.laws.sensing import cone, heard, misheard
from qed.swarm.robot import BODY_INNER_RADIUS, BODY_OUTER_RADIUS, CONES, OBSTACLE_RADIUS

INNER = f32(BODY_INNER_RADIUS)
INNER2 = f32(BODY_INNER_RADIUS**2)
OUTER2 = f32(BODY_OUTER_RADIUS**2)
OBSTACLE2 = f32(OBSTACLE_RADIUS**2)
SENSORS = 7
EAR_PURPOSE = 8  # random bits for a misheard neighbour come after those of the sensors


@loop
def listen(b: Any, s: int, seen: int, cycle: int) -> None:
    """Fill the live cones of a segment from its pairs within hearing."""
    clear(b, s)
    seen = bearings(b, seen, b.segments[s, LIVE], b.segments[s, DEAF] != 0)
    occlude(b, b.segments[s], seen)
    hear_all(b, s, seen, cycle)
    scale(b, s)


@loop
def clear(b: Any, s: int) -> None:
    """Set the live cones to nobody: their range (m)."""
    a = b.a
    first, _, _, _, lanes = span(b.segments, s)
    limit = b.limits[s, L_RAB]
    for c in range(CONES):
        if (b.segments[s, LIVE] >> (SENSORS + c)) & 1:
            for i in range(lanes):
                a[RAB + c * STRIDE + first + i] = limit


@loop
def scale(b: Any, s: int) -> None:
    """Turn the live cones' distances (m) into what the network is told."""
    a = b.a
    first, _, _, _, lanes = span(b.segments, s)
    per_range = f32(1.0) / b.limits[s, L_RAB]
    for c in range(CONES):
        if (b.segments[s, LIVE] >> (SENSORS + c)) & 1:
            for i in range(lanes):
                row = RAB + c * STRIDE + first
                a[row + i] = heard(a[row + i], per_range)


@loop
def hear_all(b: Any, s: int, seen: int, cycle: int) -> None:
    """Let the pairs in sight hear each other: first the clear ones, then the doubtful."""
    segment = b.segments[s]
    for e in range(seen):
        if b.m[S_HIDDEN + e] == 0 and b.doubts[e] == 0:
            hear(b, segment, e, cycle)
    for e in range(seen):
        if b.m[S_HIDDEN + e] == 0 and b.doubts[e] != 0:
            settle(b, segment, e, cycle)


@loop
def bearings(b: Any, seen: int, live: int, deaf: bool) -> int:
    """Find distance and cones of each pair, and keep the pairs that a live cone sees."""
    f, p, m = b.f, b.p, b.m
    for e in range(seen):
        i = index(m[S_I + e])
        k = index(m[S_K + e])
        p[S_X + e] = f[X + i]
        p[S_Y + e] = f[Y + i]
        p[S_OTHER_X + e] = f[X + k]
        p[S_OTHER_Y + e] = f[Y + k]
        p[S_COS_I + e] = f[COS + i]
        p[S_SIN_I + e] = f[SIN + i]
        p[S_COS_K + e] = f[COS + k]
        p[S_SIN_K + e] = f[SIN + k]
    for e in range(whole(seen)):
        dx = p[S_OTHER_X + e] - p[S_X + e]
        dy = p[S_OTHER_Y + e] - p[S_Y + e]
        c = p[S_COS_I + e]
        s = p[S_SIN_I + e]
        m[S_CONE_I + e] = cone(c * dx + s * dy, c * dy - s * dx)
        c = p[S_COS_K + e]
        s = p[S_SIN_K + e]
        m[S_CONE_K + e] = cone(-(c * dx + s * dy), s * dx - c * dy)
        p[S_DX + e] = dx
        p[S_DY + e] = dy
    if deaf:
        return seen
    cones = live >> SENSORS
    kept = 0
    for e in range(seen):
        useful = ((cones >> m[S_CONE_I + e]) | (cones >> m[S_CONE_K + e])) & 1
        m[S_I + kept] = m[S_I + e]
        m[S_K + kept] = m[S_K + e]
        m[S_CONE_I + kept] = m[S_CONE_I + e]
        m[S_CONE_K + kept] = m[S_CONE_K + e]
        p[S_X + kept] = p[S_X + e]
        p[S_Y + kept] = p[S_Y + e]
        p[S_DX + kept] = p[S_DX + e]
        p[S_DY + kept] = p[S_DY + e]
        kept += useful
    return kept


@loop
def occlude(b: Any, segment: Any, seen: int) -> None:
    """Mark the pairs that are surely hidden, and note a bit for each doubtful blocker."""
    f, n, p, m, doubts = b.f, b.n, b.p, b.m, b.doubts
    trials = index(segment[TRIALS])
    for e in range(seen):
        m[S_TRIAL + e] = n[TRIAL + index(m[S_I + e])]
    for e in range(whole(seen)):
        square = p[S_DX + e] * p[S_DX + e] + p[S_DY + e] * p[S_DY + e]
        p[S_DISTANCE + e] = math.sqrt(square)
        p[S_PER_SQUARE + e] = one_over(square)
        doubts[e] = 0
        m[S_HIDDEN + e] = 0
    for r in range(index(segment[ROBOTS])):
        bit = np.int64(1) << r
        step = index(r * trials)
        for e in range(whole(seen)):
            lane = index(m[S_TRIAL + e]) + step
            p[S_OTHER_X + e] = f[X + lane]
            p[S_OTHER_Y + e] = f[Y + lane]
        for e in range(whole(seen)):
            off = off_line(
                p[S_OTHER_X + e] - p[S_X + e],
                p[S_OTHER_Y + e] - p[S_Y + e],
                p[S_DX + e],
                p[S_DY + e],
                p[S_PER_SQUARE + e],
            )
            lane = index(m[S_TRIAL + e]) + step
            self = lane == m[S_I + e] or lane == m[S_K + e]
            m[S_HIDDEN + e] |= i32(0) if self or off >= INNER2 else i32(1)
            doubts[e] |= np.int64(0) if self or off >= OUTER2 else bit
    for o in range(index(segment[OBSTACLES])):
        at = 2 * o * STRIDE
        for e in range(whole(seen)):
            off = off_line(
                b.obstacles[at + index(m[S_I + e])] - p[S_X + e],
                b.obstacles[at + STRIDE + index(m[S_I + e])] - p[S_Y + e],
                p[S_DX + e],
                p[S_DY + e],
                p[S_PER_SQUARE + e],
            )
            m[S_HIDDEN + e] |= i32(1) if off < OBSTACLE2 else i32(0)


@loop
def hear(b: Any, segment: Any, e: int, cycle: int) -> None:
    """Let both robots of a pair hear each other."""
    m, p = b.m, b.p
    i, k = m[S_I + e], m[S_K + e]
    if segment[DEAF]:
        robot_i = (i - m[S_TRIAL + e]) // index(segment[TRIALS])
        robot_k = (k - m[S_TRIAL + e]) // index(segment[TRIALS])
        hear_wrong(b, i, robot_k, p[S_DX + e], p[S_DY + e], cycle)
        hear_wrong(b, k, robot_i, -p[S_DX + e], -p[S_DY + e], cycle)
    else:
        distance = p[S_DISTANCE + e]
        nearest(b.a, m[S_CONE_I + e], i, distance)
        nearest(b.a, m[S_CONE_K + e], k, distance)


@loop
def nearest(a: Any, c: int, lane: int, distance: Any) -> None:
    """Keep the shorter distance of a cone."""
    at = RAB + c * STRIDE + lane
    if distance < a[at]:
        a[at] = distance


@loop
def hear_wrong(b: Any, me: int, other: int, dx: Any, dy: Any, cycle: int) -> None:
    """Let one robot hear another, with the random offset of the ROFS fault if it has it."""
    f = b.f
    c, s = f[COS + me], f[SIN + me]
    forward, left = c * dx + s * dy, c * dy - s * dx
    if b.n[FAULTY_EAR + me]:
        bits = draw(b.keys[me], cycle, EAR_PURPOSE + other)
        turn_c, turn_s = cos_sin(PI * high_noise(bits))
        forward, left = misheard(forward, left, low_noise(bits), turn_c, turn_s)
    nearest(b.a, cone(forward, left), me, math.sqrt(forward * forward + left * left))


@loop
def settle(b: Any, segment: Any, e: int, cycle: int) -> None:
    """Test a doubtful pair against the exact bodies, if it matters, and hear it if clear."""
    f, a, p, m = b.f, b.a, b.p, b.m
    i, k = m[S_I + e], m[S_K + e]
    distance = p[S_DISTANCE + e]
    wins = (
        distance < a[RAB + m[S_CONE_I + e] * STRIDE + i]
        or distance < a[RAB + m[S_CONE_K + e] * STRIDE + k]
    )
    if not (wins or segment[DEAF]):
        return
    aim_x, aim_y = p[S_DX + e] / distance, p[S_DY + e] / distance
    word = b.doubts[e]
    while word != 0:
        blocker = m[S_TRIAL + e] + lowest(word) * index(segment[TRIALS])
        word &= word - 1
        c, s = f[COS + blocker], f[SIN + blocker]
        dx, dy = f[X + i] - f[X + blocker], f[Y + i] - f[Y + blocker]
        at = ray_body(
            c * dx + s * dy,
            c * dy - s * dx,
            c * aim_x + s * aim_y,
            c * aim_y - s * aim_x,
        )
        if at < distance - INNER:
            return
    hear(b, segment, e, cycle)
