"""Range and bearing on the GPU: the pairs within hearing, 32 at a time."""

from __future__ import annotations

import math

from numpy import float32 as f32
from numpy import int32 as i32
from numpy import uint32 as u32

from qed.swarm.cuda.device import cuda, stage
from qed.swarm.cuda.layout import (
    CENTRES,
    COS,
    F_DEAF,
    FIRST,
    LANES,
    NEAREST,
    RAB,
    SCRATCH,
    SIN,
    X,
    Y,
)
from qed.swarm.cuda.sensing import behind_obstacle, blockers, cone, hear_wrong, seen_past
from qed.swarm.cuda.warp import at, ballot, count, together
from qed.swarm.robot import CONES

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
def note_nearest(sf, si, base, lane, before, number, listed, cones, limit):
    """Note the nearest robot (m) in each cone, hidden or not.

    Keeps the pairs with a live cone (``cones`` has a bit for each) in the list, each with its
    cones, and returns their number.
    """
    mine = at(base + lane)
    for c in range(CONES):
        sf[NEAREST + c * LANES + mine] = limit
    together()
    kept = i32(0)
    start = i32(0)
    while start < number:
        useful = False
        code = i32(0)
        if start + lane < number:
            code = i32(si[at(listed + start + lane)] & i32(1023))
            m = at(base + (code & i32(31)))
            o = at(base + (code >> i32(5)))
            dx, dy, cone_i, cone_k = between(sf, m, o)
            distance = f32(math.sqrt(dx * dx + dy * dy))
            sf[SCRATCH + mine] = distance
            bits = si[SCRATCH + mine]
            if (cones >> u32(cone_i)) & u32(1):
                cuda.atomic.min(si, NEAREST + at(cone_i * i32(LANES)) + m, bits)
                useful = True
            if (cones >> u32(cone_k)) & u32(1):
                cuda.atomic.min(si, NEAREST + at(cone_k * i32(LANES)) + o, bits)
                useful = True
            code = i32(code | (cone_i << i32(10)) | (cone_k << i32(13)))
        word = ballot(si, base, lane, useful)
        if useful:
            si[at(listed + kept + count(word & before))] = code
        kept = i32(kept + count(word))
        start = i32(start + i32(LANES))
    return kept


@stage
def worth_a_look(sf, base, code, cones, first_time):
    """Tell whether a pair should be looked at.

    The first time, if one is the nearest in a live cone of the other; then if it is not, but
    nearer than the one that was found there.
    """
    m = at(base + (code & i32(31)))
    o = at(base + ((code >> i32(5)) & i32(31)))
    cone_i = i32((code >> i32(10)) & i32(7))
    cone_k = i32(code >> i32(13))
    dx = sf[X + o] - sf[X + m]
    dy = sf[Y + o] - sf[Y + m]
    distance = f32(math.sqrt(dx * dx + dy * dy))
    place_i = at(cone_i * i32(LANES)) + m
    place_k = at(cone_k * i32(LANES)) + o
    live_i = (cones >> u32(cone_i)) & u32(1) != u32(0)
    live_k = (cones >> u32(cone_k)) & u32(1) != u32(0)
    nearest = live_i and distance <= sf[NEAREST + place_i]
    nearest = nearest or (live_k and distance <= sf[NEAREST + place_k])
    wins = live_i and distance < sf[RAB + place_i]
    wins = wins or (live_k and distance < sf[RAB + place_k])
    return nearest if first_time else wins and not nearest


@stage
def between(sf, m, o):
    """Return the way (m) from one robot to another, and the cones in which they hear each other."""
    dx = sf[X + o] - sf[X + m]
    dy = sf[Y + o] - sf[Y + m]
    c = sf[COS + m]
    s = sf[SIN + m]
    cone_i = cone(c * dx + s * dy, c * dy - s * dx)
    c = sf[COS + o]
    s = sf[SIN + o]
    cone_k = cone(-(c * dx + s * dy), s * dx - c * dy)
    return dx, dy, cone_i, cone_k


@stage
def look(
    sf, si, base, lane, number, listed, robots, cones, cycle, obstacles, deaf, with_obstacles,
    with_deaf,
):  # fmt: skip
    """Fill the cones from up to 32 pairs: first those that nothing hides, then those in doubt."""
    mine = at(base + lane)
    doubts = u32(0)
    heard_now = False
    i = k = cone_i = cone_k = i32(0)
    dx = dy = distance = f32(1.0)
    if lane < number:
        code = si[at(listed + lane)]
        i = i32(code & i32(31))
        k = i32((code >> i32(5)) & i32(31))
        m = at(base + i)
        dx, dy, cone_i, cone_k = between(sf, m, at(base + k))
        useful = ((cones >> u32(cone_i)) | (cones >> u32(cone_k))) & u32(1) != u32(0)
        if with_deaf:
            useful = True
        if useful:
            square = dx * dx + dy * dy
            distance = f32(math.sqrt(square))
            per_square = f32(1.0) / square
            hidden, doubts = blockers(sf, base, i, k, si[FIRST + m], robots, dx, dy, per_square)
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


@stage
def listen(
    sf, si, base, lane, before, number, listed, queue, robots, live, limit, cycle, obstacles, deaf,
    with_obstacles, with_deaf,
):  # fmt: skip
    """Fill the cones with the nearest robots that nothing hides.

    Few pairs are all looked at.  Of many, first those that are the nearest in some cone, hidden
    or not; then, where these were hidden, those that may be the nearest yet.  They wait in a
    queue until there are enough for the warp.
    """
    cones = live >> u32(SENSORS)
    many = number > i32(LANES)
    if with_deaf:
        many = False
    if many:
        number = note_nearest(sf, si, base, lane, before, number, listed, cones, limit)
        together()
    first_time = many
    start = i32(0) if many else number
    waiting = i32(0) if many else number
    head = queue if many else listed
    while start < number or waiting > 0 or first_time:
        if start < number:
            e = i32(start + lane)
            chosen = False
            code = i32(0)
            if e < number:
                code = si[at(listed + e)]
                chosen = worth_a_look(sf, base, code, cones, first_time)
            word = ballot(si, base, lane, chosen)
            if chosen:
                si[at(queue + waiting + count(word & before))] = code
            waiting = i32(waiting + count(word))
            start = i32(start + i32(LANES))
            together()
        if waiting >= i32(LANES) or start >= number:
            look(
                sf, si, base, lane, waiting, head, robots, cones, cycle, obstacles, deaf,
                with_obstacles, with_deaf,
            )  # fmt: skip
            waiting = i32(max(waiting - i32(LANES), i32(0)))
            if many:
                rest = si[at(queue + lane) + LANES]
                together()
                si[at(queue + lane)] = rest
                together()
            else:
                head = i32(head + i32(LANES))
            if start >= number and waiting == 0 and first_time:
                first_time = False
                start = i32(0)
