"""Range and bearing: the nearest robot in sight in each of eight cones.

Pairs in doubt (``occlusion.py``) are tested against the exact body, and only where they would be
the nearest of a cone.
"""

import math
from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32

from qed.chance import draw, high_noise, low_noise
from qed.compile import loop
from qed.controller.inputs import FIRST_RAB
from qed.swarm import environment_row as E
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import below, index, lowest, ones, round_up, span, squeeze
from qed.swarm.cpu.gather import gather_four, gather_two, pad
from qed.swarm.cpu.occlusion import INNER2, OUTER2, blocker, crowded, list_crowd, occlude, way
from qed.swarm.environment import MAX_ROBOTS
from qed.swarm.laws.bodies import ahead
from qed.swarm.laws.geometry import FAR, PI, cos_sin, one_over
from qed.swarm.laws.outline import ray_body
from qed.swarm.laws.sensing import CONES, RAB_PURPOSE, cone, heard, misheard
from qed.swarm.robot import ROBOT

INNER = f32(ROBOT.inner_radius)
ONE = f32(1.0)
ZERO = f32(0.0)
FARTHER = f32(2.0) * FAR


@loop
def listen(b: Any, s: int, seen: int, cycle: int) -> None:
    """Fill the live cones of a segment from its pairs within hearing."""
    clear(b, s)
    crowd = crowded(b, s, seen)
    if crowd:
        seen = list_crowd(b, s)
    seen = bearings(b, s, seen)
    if not crowd:
        occlude(b, s, seen)
    hear_all(b, s, seen, cycle)
    scale(b, s)


@loop
def clear(b: Any, s: int) -> None:
    """Set the live cones to nobody: their range (m).

    Of those that only others of a team read nobody is nearer than what they hold.
    """
    n, a = b.n, b.a
    first, _, _, _, lanes = span(b.segments, s)
    limit = b.limits[s, E.RAB]
    for c in range(CONES):
        if (b.segments[s, L.LIVE] >> (FIRST_RAB + c)) & 1:
            row = L.RAB + c * L.STRIDE + first
            if b.segments[s, L.NETWORK_COUNT] == 1:
                for i in range(lanes):
                    a[row + i] = limit
            else:
                for i in range(lanes):
                    read = (n[L.READS + first + i] >> (FIRST_RAB + c)) & 1 != 0
                    a[row + i] = limit if read else ZERO


@loop
def scale(b: Any, s: int) -> None:
    """Turn the live cones' distances (m) into what the network reads.

    Robots with a weak radio hear nobody beyond its reach; 1 is as far as others hear, and as
    nobody.
    """
    f, a = b.f, b.a
    first, _, _, _, lanes = span(b.segments, s)
    per_range = f32(1.0) / b.limits[s, E.RAB]
    for c in range(CONES):
        if (b.segments[s, L.LIVE] >> (FIRST_RAB + c)) & 1:
            row = L.RAB + c * L.STRIDE + first
            for i in range(lanes):
                reading = heard(a[row + i], per_range)
                a[row + i] = ONE if reading > f[L.HEARS_WITHIN + first + i] else reading


@loop
def hear_all(b: Any, s: int, seen: int, cycle: int) -> None:
    """Let the pairs in sight hear each other: first the clear ones, then those in doubt."""
    for h in range(listed(b, seen, OUTER2, FARTHER)):
        hear(b, s, index(b.m[L.S_PLACE + h]), cycle)
    settle(b, s, listed(b, seen, INNER2, OUTER2), cycle)


@loop
def listed(b: Any, seen: int, least: Any, limit: Any) -> int:
    """List the pairs whose blockers are so far (m2) off their line; return their number."""
    p, m = b.p, b.m
    found = 0
    for start in range(0, seen, L.VECTOR):
        inside = (1 << min(seen - start, L.VECTOR)) - 1
        word = below(p, L.S_OFF + start, limit) & ~below(p, L.S_OFF + start, least) & inside
        if word != 0:
            squeeze(m, L.PLACE + start, L.S_PLACE + found, word)
            found += ones(word)
    return found


@loop
def bearings(b: Any, s: int, seen: int) -> int:
    """Find distance and cones of each pair, and keep the pairs that a live cone sees."""
    f, p, m = b.f, b.p, b.m
    place = b.segments[s, L.FIRST]
    pad(m, L.S_I, seen, place)
    pad(m, L.S_K, seen, place)
    for at in range(0, seen, L.VECTOR):
        gather_four(f, L.POSES, m, L.S_I + at, p, L.S_X + at, L.PAIR_STRIDE)
        gather_four(f, L.POSES, m, L.S_K + at, p, L.S_OTHER_X + at, L.PAIR_STRIDE)
    for e in range(round_up(seen)):
        dx = p[L.S_OTHER_X + e] - p[L.S_X + e]
        dy = p[L.S_OTHER_Y + e] - p[L.S_Y + e]
        c = p[L.S_COS_I + e]
        s_ = p[L.S_SIN_I + e]
        m[L.S_CONE_I + e] = cone(c * dx + s_ * dy, c * dy - s_ * dx)
        c = p[L.S_COS_K + e]
        s_ = p[L.S_SIN_K + e]
        m[L.S_CONE_K + e] = cone(-(c * dx + s_ * dy), s_ * dx - c * dy)
        p[L.S_DX + e] = dx
        p[L.S_DY + e] = dy
    if b.segments[s, L.RAB_OFFSET] == 0:
        wanted(b, s, seen)
        seen = useful(p, m, seen, place)
    for e in range(round_up(seen)):
        square = p[L.S_DX + e] * p[L.S_DX + e] + p[L.S_DY + e] * p[L.S_DY + e]
        p[L.S_DISTANCE + e] = math.sqrt(square)
        p[L.S_PER_SQUARE + e] = one_over(square)
    return seen


@loop
def wanted(b: Any, s: int, seen: int) -> None:
    """Mark the pairs of which one reads the cone that the other is in."""
    n, p, m = b.n, b.p, b.m
    if b.segments[s, L.NETWORK_COUNT] == 1:
        cones = i32(b.segments[s, L.LIVE] >> FIRST_RAB)
        for e in range(round_up(seen)):
            either = ((cones >> m[L.S_CONE_I + e]) | (cones >> m[L.S_CONE_K + e])) & i32(1)
            p[L.S_DISTANCE + e] = f32(either)
    else:
        for e in range(seen):
            cones_i = n[L.READS + index(m[L.S_I + e])] >> i32(FIRST_RAB)
            cones_k = n[L.READS + index(m[L.S_K + e])] >> i32(FIRST_RAB)
            either = ((cones_i >> m[L.S_CONE_I + e]) | (cones_k >> m[L.S_CONE_K + e])) & i32(1)
            p[L.S_DISTANCE + e] = f32(either)


@loop
def useful(p: Any, m: Any, seen: int, place: int) -> int:
    """Keep the marked pairs; return their number."""
    kept = 0
    for start in range(0, seen, L.VECTOR):
        word = ~below(p, L.S_DISTANCE + start, ONE) & ((1 << min(seen - start, L.VECTOR)) - 1)
        if word != 0:
            for row in (L.S_I, L.S_K, L.S_CONE_I, L.S_CONE_K, L.S_DOUBTS, L.S_MORE_DOUBTS):
                squeeze(m, row + start, row + kept, word)
            for row in (L.S_X, L.S_Y, L.S_DX, L.S_DY, L.S_OFF):
                squeeze(p, row + start, row + kept, word)
            kept += ones(word)
    pad(m, L.S_I, kept, place)
    pad(m, L.S_K, kept, place)
    return kept


@loop
def hear(b: Any, s: int, e: int, cycle: int) -> None:
    """Let both robots of a pair hear each other."""
    n, m, p = b.n, b.m, b.p
    segment = b.segments[s]
    i, k = m[L.S_I + e], m[L.S_K + e]
    if segment[L.RAB_OFFSET]:
        robot_i = (i - n[L.TRIAL + i]) // index(segment[L.TRIALS])
        robot_k = (k - n[L.TRIAL + k]) // index(segment[L.TRIALS])
        if not n[L.RAB_FAULT + k] & L.SILENT:
            hear_wrong(b, i, robot_k, p[L.S_DX + e], p[L.S_DY + e], cycle)
        if not n[L.RAB_FAULT + i] & L.SILENT:
            hear_wrong(b, k, robot_i, -p[L.S_DX + e], -p[L.S_DY + e], cycle)
    else:
        distance = p[L.S_DISTANCE + e]
        nearest(b.a, m[L.S_CONE_I + e], i, distance)
        nearest(b.a, m[L.S_CONE_K + e], k, distance)


@loop
def nearest(a: Any, c: int, lane: int, distance: Any) -> None:
    """Keep the shorter distance of a cone."""
    at = index(L.RAB + c * L.STRIDE + lane)
    a[at] = min(a[at], distance)


@loop
def hear_wrong(b: Any, me: int, other: int, dx: Any, dy: Any, cycle: int) -> None:
    """Let one robot hear another, with the random offset of the ROFS fault if it has it."""
    f = b.f
    c, s = f[L.COS + me], f[L.SIN + me]
    forward, left = c * dx + s * dy, c * dy - s * dx
    if b.n[L.RAB_FAULT + me] & L.MISHEARS:
        bits = draw(b.keys[me], cycle, RAB_PURPOSE + other)
        turn_c, turn_s = cos_sin(PI * high_noise(bits))
        forward, left = misheard(forward, left, low_noise(bits), turn_c, turn_s)
    nearest(b.a, cone(forward, left), me, math.sqrt(forward * forward + left * left))


@loop
def settle(b: Any, s: int, doubts: int, cycle: int) -> None:
    """Test pairs in doubt against the exact bodies, if it matters, and hear those in sight.

    They are taken by so many as have room in the list of bodies.
    """
    m, p = b.m, b.p
    pairs = doubts if b.segments[s, L.RAB_OFFSET] else that_win(b, doubts)
    first = 0
    while first < pairs:
        bodies = 0
        stop = first
        while stop < pairs and bodies <= L.PAIRS - MAX_ROBOTS:
            bodies = between(b, s, index(m[L.S_PLACE + stop]), bodies)
            stop += 1
        look_past(b, bodies)
        for v in range(bodies):
            if p[L.V_WAY + v] < p[L.V_DISTANCE + v] - INNER:
                p[L.S_OFF + index(m[L.V_PAIR + v])] = ZERO
        for h in range(first, stop):
            e = index(m[L.S_PLACE + h])
            if p[L.S_OFF + e] > ZERO:
                hear(b, s, e, cycle)
        first = stop


@loop
def that_win(b: Any, doubts: int) -> int:
    """Keep the listed pairs that would be the nearest of a cone so far; return their number."""
    a, p, m = b.a, b.p, b.m
    found = 0
    for h in range(doubts):
        e = index(m[L.S_PLACE + h])
        distance = p[L.S_DISTANCE + e]
        one = a[index(L.RAB + m[L.S_CONE_I + e] * L.STRIDE + m[L.S_I + e])]
        other = a[index(L.RAB + m[L.S_CONE_K + e] * L.STRIDE + m[L.S_K + e])]
        # Every second one wins, more or less: no branch, which would be guessed wrong as often.
        m[L.S_PLACE + found] = e
        found += 1 if distance < max(one, other) else 0
    return found


@loop
def between(b: Any, s: int, e: int, bodies: int) -> int:
    """List the bodies that may hide a pair; return how many are listed now."""
    m = b.m
    first, _, trials, size, _ = span(b.segments, s)
    i, k = index(m[L.S_I + e]), index(m[L.S_K + e])
    there = way(i, k, size)
    word = index(m[L.S_DOUBTS + e]) | (index(m[L.S_MORE_DOUBTS + e]) << 32)
    while word != 0:
        at = i + blocker(lowest(word), there, trials)
        m[L.V_LANE + bodies] = at - size if at >= first + size else at
        m[L.V_PAIR + bodies] = e
        bodies += 1
        word &= word - 1
    return bodies


@loop
def look_past(b: Any, bodies: int) -> None:
    """Find where the lines of sight of pairs meet the listed bodies."""
    f, p, m = b.f, b.p, b.m
    pad(m, L.V_LANE, bodies, L.NOWHERE)
    for at in range(0, bodies, L.VECTOR):
        gather_four(f, L.POSES, m, L.V_LANE + at, p, L.V_X + at, L.PAIR_STRIDE)
    for v in range(bodies):
        e = index(m[L.V_PAIR + v])
        dx, dy, distance = p[L.S_DX + e], p[L.S_DY + e], p[L.S_DISTANCE + e]
        p[L.V_DX + v] = dx
        p[L.V_DY + v] = dy
        p[L.V_DISTANCE + v] = distance
        # Who looks at whom does not depend on robots' numbers: bodies may overlap.
        m[L.V_LANE + v] = m[(L.S_I if ahead(dx / distance, dy / distance) else L.S_K) + e]
    for at in range(0, bodies, L.VECTOR):
        gather_two(f, L.POSES, 4, m, L.V_LANE + at, p, L.V_EYE_X + at, L.V_EYE_Y + at)
    for v in range(round_up(bodies)):
        aim_x, aim_y = p[L.V_DX + v] / p[L.V_DISTANCE + v], p[L.V_DY + v] / p[L.V_DISTANCE + v]
        forth = ahead(aim_x, aim_y)
        aim_x = aim_x if forth else -aim_x
        aim_y = aim_y if forth else -aim_y
        dx = p[L.V_EYE_X + v] - p[L.V_X + v]
        dy = p[L.V_EYE_Y + v] - p[L.V_Y + v]
        c, s = p[L.V_COS + v], p[L.V_SIN + v]
        p[L.V_WAY + v] = ray_body(
            c * dx + s * dy, c * dy - s * dx, c * aim_x + s * aim_y, c * aim_y - s * aim_x
        )
