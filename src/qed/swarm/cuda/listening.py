"""Range and bearing on the GPU: the pairs within hearing, 32 at a time."""

from __future__ import annotations

import math

from numpy import float32 as f32
from numpy import int32 as i32
from numpy import uint32 as u32

from qed.swarm.cuda.device import cuda, stage
from qed.swarm.cuda.layout import CENTRES, COS, F_DEAF, FIRST, LANES, RAB, SCRATCH, SIN, X, Y
from qed.swarm.cuda.sensing import (
    behind_obstacle,
    blockers,
    cone,
    hear_wrong,
    one_over,
    seen_past,
)
from qed.swarm.cuda.warp import at, together

SENSORS = 7


@stage
def hear(sf, si, mine, i, k, cone_i, cone_k, distance):
    """Let both robots of a pair hear each other."""
    sf[SCRATCH + mine] = distance
    bits = si[SCRATCH + mine]
    cuda.atomic.min(si, RAB + at(cone_i * i32(LANES)) + i, bits)
    cuda.atomic.min(si, RAB + at(cone_k * i32(LANES)) + k, bits)


@stage
def hear_either(sf, si, base, mine, i, k, pair, deaf, cycle):
    """Let both robots of a pair hear each other, each as well as it can."""
    first_place, keys, faults, first_fault = deaf
    dx, dy, cone_i, cone_k, distance = pair
    for side in range(2):
        me = i if side == 0 else k
        other = k if side == 0 else i
        sign = f32(1.0) if side == 0 else f32(-1.0)
        m = at(base + me)
        number = me - si[FIRST + m]
        if faults[at(first_fault + number), F_DEAF] != f32(0.0):
            key = keys[at(first_place + me)]
            whom = other - si[FIRST + m]
            hear_wrong(sf, si, mine, m, key, whom, sign * dx, sign * dy, cycle)
        else:
            sf[SCRATCH + mine] = distance
            which = cone_i if side == 0 else cone_k
            cuda.atomic.min(si, RAB + at(which * i32(LANES)) + m, si[SCRATCH + mine])


@stage
def listen(
    sf, si, base, lane, number, listed, robots, live, cycle, obstacles, deaf, with_obstacles,
    with_deaf,
):  # fmt: skip
    """Fill the cones: first from pairs that nothing hides, then from those in doubt."""
    mine = at(base + lane)
    cones = live >> u32(SENSORS)
    start = i32(0)
    while start < number:
        e = i32(start + lane)
        doubts = u32(0)
        heard_now = False
        i = k = cone_i = cone_k = i32(0)
        dx = dy = distance = f32(1.0)
        if e < number:
            code = si[at(listed + e)]
            i = i32(code & i32(31))
            k = i32((code >> i32(5)) & i32(31))
            m = at(base + i)
            o = at(base + k)
            dx = sf[X + o] - sf[X + m]
            dy = sf[Y + o] - sf[Y + m]
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
                first = si[FIRST + m]
                square = dx * dx + dy * dy
                distance = f32(math.sqrt(square))
                per_square = one_over(square)
                hidden, doubts = blockers(sf, base, i, k, first, robots, dx, dy, per_square)
                if with_obstacles:
                    hidden = hidden or behind_obstacle(
                        sf, sf[X + m], sf[Y + m], dx, dy, per_square, si[CENTRES + m], obstacles
                    )
                if hidden:
                    doubts = u32(0)
                heard_now = not hidden and doubts == u32(0)
        pair = (dx, dy, cone_i, cone_k, distance)
        if heard_now:
            if with_deaf:
                hear_either(sf, si, base, mine, i, k, pair, deaf, cycle)
            else:
                hear(sf, si, mine, at(base + i), at(base + k), cone_i, cone_k, distance)
        together()
        if doubts != u32(0):
            wins = distance < sf[RAB + at(cone_i * i32(LANES)) + at(base + i)]
            wins = wins or distance < sf[RAB + at(cone_k * i32(LANES)) + at(base + k)]
            if with_deaf:
                wins = True
            if wins and seen_past(sf, base, i, dx, dy, distance, doubts):
                if with_deaf:
                    hear_either(sf, si, base, mine, i, k, pair, deaf, cycle)
                else:
                    hear(sf, si, mine, at(base + i), at(base + k), cone_i, cone_k, distance)
        together()
        start = i32(start + i32(LANES))
