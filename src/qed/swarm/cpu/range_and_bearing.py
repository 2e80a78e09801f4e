"""Range and bearing: the nearest robot in sight in each of eight cones.

Occlusion is the dear part.  A pair that nothing comes near is clear; one that the inscribed
disc of another body, or an obstacle, cuts is not.  Only what lies between is tested against
the exact body, and only where it would be the nearest of its cone.
"""

from __future__ import annotations

import math
from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32

from qed.chance import draw, high_noise, low_noise
from qed.compile import loop
from qed.swarm.cpu.bits import below, index, lowest, ones, span, whole
from qed.swarm.cpu.layout import (
    COS,
    HEARS_WITHIN,
    L_RAB,
    LIVE,
    MISHEARS,
    OBSTACLES,
    ODD,
    PAIR_STRIDE,
    PLACE,
    RAB,
    RAB_FAULT,
    RAB_OFFSET,
    ROBOTS,
    S_CONE_I,
    S_CONE_K,
    S_COS_I,
    S_COS_K,
    S_DISTANCE,
    S_DOUBTS,
    S_DX,
    S_DY,
    S_HIDDEN,
    S_I,
    S_K,
    S_NEXT_X,
    S_NEXT_Y,
    S_OTHER_X,
    S_OTHER_Y,
    S_PER_SQUARE,
    S_PLACE,
    S_SIN_I,
    S_SIN_K,
    S_STATE,
    S_TRIAL,
    S_X,
    S_Y,
    SILENT,
    SIN,
    STRIDE,
    TRIAL,
    TRIALS,
    VECTOR,
    X,
    Y,
)
from qed.swarm.cpu.squeezing import squeeze
from qed.swarm.laws.bodies import ahead
from qed.swarm.laws.geometry import FAR, PI, cos_sin, off_line, one_over
from qed.swarm.laws.rays import ray_body
from qed.swarm.laws.sensing import cone, heard, misheard
from qed.swarm.robot import BODY_INNER_RADIUS, BODY_OUTER_RADIUS, CONES, OBSTACLE_RADIUS

INNER = f32(BODY_INNER_RADIUS)
INNER2 = f32(BODY_INNER_RADIUS**2)
OUTER2 = f32(BODY_OUTER_RADIUS**2)
OBSTACLE2 = f32(OBSTACLE_RADIUS**2)
ONE = f32(1.0)
CLEAR, DOUBTFUL, HIDDEN = f32(0.0), f32(1.0), f32(2.0)  # states of a pair
SENSORS = 7
RAB_PURPOSE = 8  # random bits for a misheard neighbour come after those of the sensors


@loop
def listen(b: Any, s: int, seen: int, cycle: int) -> None:
    """Fill the live cones of a segment from its pairs within hearing."""
    clear(b, s)
    seen = bearings(b, seen, b.segments[s, LIVE], b.segments[s, RAB_OFFSET] != 0)
    occlude(b, b.segments[s], seen)
    hear_all(b, s, seen, cycle)
    scale(b, s)
    if b.segments[s, ODD]:
        weaken(b, s)


@loop
def weaken(b: Any, s: int) -> None:
    """Let robots with a weak radio hear nobody beyond its reach."""
    f, a = b.f, b.a
    first, _, _, _, lanes = span(b.segments, s)
    for c in range(CONES):
        if (b.segments[s, LIVE] >> (SENSORS + c)) & 1:
            row = RAB + c * STRIDE + first
            for i in range(lanes):
                a[row + i] = ONE if a[row + i] > f[HEARS_WITHIN + first + i] else a[row + i]


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
    for h in range(listed(b, seen, CLEAR)):
        hear(b, segment, index(b.m[S_PLACE + h]), cycle)
    for h in range(listed(b, seen, DOUBTFUL)):
        settle(b, segment, index(b.m[S_PLACE + h]), cycle)


@loop
def listed(b: Any, seen: int, state: Any) -> int:
    """List the pairs in a state; return their number."""
    p, m = b.p, b.m
    found = 0
    for start in range(0, seen, VECTOR):
        inside = (1 << min(seen - start, VECTOR)) - 1
        word = below(p, S_STATE + start, state + ONE) & ~below(p, S_STATE + start, state) & inside
        if word != 0:
            squeeze(m, PLACE + start, S_PLACE + found, word)
            found += ones(word)
    return found


@loop
def bearings(b: Any, seen: int, live: int, rab_offset: bool) -> int:
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
    if rab_offset:
        return seen
    cones = i32(live >> SENSORS)
    for e in range(whole(seen)):
        useful = ((cones >> m[S_CONE_I + e]) | (cones >> m[S_CONE_K + e])) & i32(1)
        p[S_STATE + e] = f32(useful)
    kept = 0
    for start in range(0, seen, VECTOR):
        word = ~below(p, S_STATE + start, ONE) & ((1 << min(seen - start, VECTOR)) - 1)
        if word != 0:
            for row in (S_I, S_K, S_CONE_I, S_CONE_K):
                squeeze(m, row + start, row + kept, word)
            for row in (S_X, S_Y, S_DX, S_DY):
                squeeze(p, row + start, row + kept, word)
            kept += ones(word)
    return kept


@loop
def occlude(b: Any, segment: Any, seen: int) -> None:
    """Tell pairs that are clear, doubtful or hidden, with a bit for each doubtful blocker."""
    f, n, p, m = b.f, b.n, b.p, b.m
    trials = index(segment[TRIALS])
    last = index(segment[ROBOTS]) - 1
    for e in range(seen):
        m[S_TRIAL + e] = n[TRIAL + index(m[S_I + e])]
    for e in range(whole(seen)):
        square = p[S_DX + e] * p[S_DX + e] + p[S_DY + e] * p[S_DY + e]
        p[S_DISTANCE + e] = math.sqrt(square)
        p[S_PER_SQUARE + e] = one_over(square)
        m[S_DOUBTS + e] = 0
        m[S_DOUBTS + PAIR_STRIDE + e] = 0
        m[S_HIDDEN + e] = 0
    for r in range(0, last + 1, 2):  # two at a time; of an odd number the last comes twice
        one = index(r * trials)
        two = index(min(r + 1, last) * trials)
        for e in range(whole(seen)):
            trial = index(m[S_TRIAL + e])
            p[S_OTHER_X + e] = f[X + one + trial]
            p[S_OTHER_Y + e] = f[Y + one + trial]
            p[S_NEXT_X + e] = f[X + two + trial]
            p[S_NEXT_Y + e] = f[Y + two + trial]
        word = S_DOUBTS + (r >> 5) * PAIR_STRIDE
        bit1 = i32(1 << (r & 31))
        bit2 = i32(1 << (min(r + 1, last) & 31))
        step1 = i32(one)
        step2 = i32(two)
        for e in range(whole(seen)):
            off1 = off_pair(p, S_OTHER_X, S_OTHER_Y, e)
            off2 = off_pair(p, S_NEXT_X, S_NEXT_Y, e)
            from_i = i32(m[S_I + e] - m[S_TRIAL + e])
            from_k = i32(m[S_K + e] - m[S_TRIAL + e])
            off1 = FAR if step1 == from_i or step1 == from_k else off1
            off2 = FAR if step2 == from_i or step2 == from_k else off2
            m[S_HIDDEN + e] |= i32(1) if min(off1, off2) < INNER2 else i32(0)
            m[word + e] |= (bit1 if off1 < OUTER2 else i32(0)) | (bit2 if off2 < OUTER2 else i32(0))
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
    for e in range(whole(seen)):
        doubtful = (m[S_DOUBTS + e] | m[S_DOUBTS + PAIR_STRIDE + e]) != 0
        state = DOUBTFUL if doubtful else CLEAR
        p[S_STATE + e] = HIDDEN if m[S_HIDDEN + e] != 0 else state


@loop
def off_pair(p: Any, x: int, y: int, e: int) -> Any:
    """Return the squared distance (m2) of a robot from a pair's line of sight."""
    return off_line(
        p[x + e] - p[S_X + e],
        p[y + e] - p[S_Y + e],
        p[S_DX + e],
        p[S_DY + e],
        p[S_PER_SQUARE + e],
    )


@loop
def hear(b: Any, segment: Any, e: int, cycle: int) -> None:
    """Let both robots of a pair hear each other."""
    m, p = b.m, b.p
    i, k = m[S_I + e], m[S_K + e]
    if segment[RAB_OFFSET]:
        robot_i = (i - m[S_TRIAL + e]) // index(segment[TRIALS])
        robot_k = (k - m[S_TRIAL + e]) // index(segment[TRIALS])
        odd = segment[ODD] != 0
        if not (odd and b.n[RAB_FAULT + k] & SILENT):
            hear_wrong(b, i, robot_k, p[S_DX + e], p[S_DY + e], cycle)
        if not (odd and b.n[RAB_FAULT + i] & SILENT):
            hear_wrong(b, k, robot_i, -p[S_DX + e], -p[S_DY + e], cycle)
    else:
        distance = p[S_DISTANCE + e]
        nearest(b.a, m[S_CONE_I + e], i, distance)
        nearest(b.a, m[S_CONE_K + e], k, distance)


@loop
def nearest(a: Any, c: int, lane: int, distance: Any) -> None:
    """Keep the shorter distance of a cone."""
    at = index(RAB + c * STRIDE + lane)
    a[at] = min(a[at], distance)


@loop
def hear_wrong(b: Any, me: int, other: int, dx: Any, dy: Any, cycle: int) -> None:
    """Let one robot hear another, with the random offset of the ROFS fault if it has it."""
    f = b.f
    c, s = f[COS + me], f[SIN + me]
    forward, left = c * dx + s * dy, c * dy - s * dx
    if b.n[RAB_FAULT + me] & MISHEARS:
        bits = draw(b.keys[me], cycle, RAB_PURPOSE + other)
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
    if not (wins or segment[RAB_OFFSET]):
        return
    aim_x, aim_y = p[S_DX + e] / distance, p[S_DY + e] / distance
    # Who looks at whom does not depend on robots' numbers: bodies may overlap.
    eye = i
    if not ahead(aim_x, aim_y):
        eye, aim_x, aim_y = k, -aim_x, -aim_y
    word = index(m[S_DOUBTS + e]) | (index(m[S_DOUBTS + PAIR_STRIDE + e]) << 32)
    while word != 0:
        blocker = m[S_TRIAL + e] + lowest(word) * index(segment[TRIALS])
        word &= word - 1
        c, s = f[COS + blocker], f[SIN + blocker]
        dx, dy = f[X + eye] - f[X + blocker], f[Y + eye] - f[Y + blocker]
        at = ray_body(
            c * dx + s * dy,
            c * dy - s * dx,
            c * aim_x + s * aim_y,
            c * aim_y - s * aim_x,
        )
        if at < distance - INNER:
            return
    hear(b, segment, e, cycle)
