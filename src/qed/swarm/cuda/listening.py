"""Range and bearing on the GPU: the pairs within hearing, 32 at a time."""

from __future__ import annotations

import math

from numpy import float32 as f32
from numpy import int32 as i32
from numpy import uint32 as u32

from qed.swarm.cuda.device import stage
from qed.swarm.cuda.layout import (
    CENTRES,
    COS,
    DOUBTED,
    DOUBTS,
    F_DEAF,
    FIRST,
    LANES,
    RAB,
    SIN,
    X,
    Y,
)
from qed.swarm.cuda.sensing import (
    behind_obstacle,
    between,
    cone,
    hear_wrong,
    one_over,
    seen_past,
    shorten,
)
from qed.swarm.cuda.warp import at, ballot, count, together
from qed.swarm.laws.sensing import SENSORS


@stage
def apart(sf, m, o):
    """Return the way from one robot to another (m), and its square (m2)."""
    dx = sf[X + o] - sf[X + m]
    dy = sf[Y + o] - sf[Y + m]
    return dx, dy, dx * dx + dy * dy


@stage
def hear(si, base, i, k, cone_i, cone_k, distance):
    """Let both robots of a pair hear each other."""
    shorten(si, RAB + at(cone_i * i32(LANES)) + at(base + i), distance)
    shorten(si, RAB + at(cone_k * i32(LANES)) + at(base + k), distance)


@stage
def hear_either(sf, si, base, i, k, cone_i, cone_k, distance, deaf, cycle):
    """Let both robots of a pair hear each other, each as well as it can."""
    first_place, keys, faults, first_fault = deaf
    for side in range(2):
        me = i if side == 0 else k
        other = k if side == 0 else i
        m = at(base + me)
        first = si[FIRST + m]
        if faults[at(first_fault + me - first), F_DEAF] != f32(0.0):
            dx, dy, _ = apart(sf, m, at(base + other))
            hear_wrong(sf, si, m, keys[at(first_place + me)], other - first, dx, dy, cycle)
        else:
            which = cone_i if side == 0 else cone_k
            shorten(si, RAB + at(which * i32(LANES)) + m, distance)


@stage
def settle(sf, si, base, lane, number, deaf, cycle, with_deaf):
    """Look closely at the last pairs in doubt, one a lane; return how many are left."""
    left = max(i32(number - i32(LANES)), i32(0))
    e = i32(left + lane)
    if e < number:
        code = si[DOUBTED + at(base + e)]
        doubts = u32(si[DOUBTS + at(base + e)])
        i = i32(code & i32(31))
        k = i32((code >> i32(5)) & i32(31))
        cone_i = i32((code >> i32(10)) & i32(7))
        cone_k = i32(code >> i32(13))
        m = at(base + i)
        o = at(base + k)
        dx, dy, square = apart(sf, m, o)
        distance = f32(math.sqrt(square))
        wins = distance < sf[RAB + at(cone_i * i32(LANES)) + m]
        wins = wins or distance < sf[RAB + at(cone_k * i32(LANES)) + o]
        if with_deaf:
            wins = True
        if wins and seen_past(sf, base, i, si[FIRST + m], dx, dy, square, doubts):
            if with_deaf:
                hear_either(sf, si, base, i, k, cone_i, cone_k, distance, deaf, cycle)
            else:
                hear(si, base, i, k, cone_i, cone_k, distance)
    together()
    return left


@stage
def listen(
    sf, si, base, lane, before, number, listed, robots, live, cycle, obstacles, deaf,
    with_obstacles, with_deaf,
):  # fmt: skip
    """Fill the cones: from pairs that nothing hides at once, from those in doubt 32 at a time."""
    cones = live >> u32(SENSORS)
    waiting = i32(0)
    start = i32(0)
    while start < number:
        e = i32(start + lane)
        doubts = u32(0)
        pair = i32(0)
        if e < number:
            code = si[at(listed + e)]
            i = i32(code & i32(31))
            k = i32((code >> i32(5)) & i32(31))
            m = at(base + i)
            o = at(base + k)
            dx, dy, square = apart(sf, m, o)
            c = sf[COS + m]
            s = sf[SIN + m]
            cone_i = cone(c * dx + s * dy, c * dy - s * dx)
            c = sf[COS + o]
            s = sf[SIN + o]
            cone_k = cone(-(c * dx + s * dy), s * dx - c * dy)
            useful = ((cones >> u32(cone_i)) | (cones >> u32(cone_k))) & u32(1) != u32(0)
            if with_deaf:
                useful = True
            if useful:
                doubts = between(sf, base, i, k, si[FIRST + m], robots, dx, dy, square)
                hidden = False
                if with_obstacles:
                    per_square = one_over(square)
                    hidden = behind_obstacle(
                        sf, sf[X + m], sf[Y + m], dx, dy, per_square, si[CENTRES + m], obstacles
                    )
                if hidden:
                    doubts = u32(0)
                elif doubts == u32(0):
                    distance = f32(math.sqrt(square))
                    if with_deaf:
                        hear_either(sf, si, base, i, k, cone_i, cone_k, distance, deaf, cycle)
                    else:
                        hear(si, base, i, k, cone_i, cone_k, distance)
            pair = i32(i | (k << i32(5)) | (cone_i << i32(10)) | (cone_k << i32(13)))
        word = ballot(si, base, lane, doubts != u32(0))
        if doubts != u32(0):
            place = at(base + waiting + count(word & before))
            si[DOUBTED + place] = pair
            si[DOUBTS + place] = i32(doubts)
        waiting = i32(waiting + count(word))
        together()
        start = i32(start + i32(LANES))
        least = i32(LANES) if start < number else i32(1)
        while waiting >= least:
            waiting = settle(sf, si, base, lane, waiting, deaf, cycle, with_deaf)
