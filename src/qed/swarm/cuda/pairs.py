"""Near pairs on the GPU: which robots may see, touch or hear each other."""

from __future__ import annotations

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import stage
from qed.swarm.cuda.warp import at, ballot, count, rolled, together


@stage
def list_pairs(warp, robot, robots, active, far2, listed):
    """List the warp's pairs that are not far apart; return how many there are.

    Robot i meets robot i + k of its trial; each pair is met once.  A pair's code is its two
    lanes, 5 bits each, and above them where its impulses are kept.
    """
    sf, si, base, lane, me, before = warp
    number = i32(0)
    x = sf[L.X + me]
    y = sf[L.Y + me]
    sf[L.LISTED_X + me] = x
    sf[L.LISTED_Y + me] = y
    half = i32(robots >> i32(1))
    even = i32(robots - half)  # with an even number, halfway round each pair would be met twice
    other = i32(lane)
    last = i32(lane - robot + robots)
    code = i32(lane | (lane << i32(10)))
    k = i32(1)
    while k <= half:
        k = rolled(k)
        other = i32(other + i32(1))
        if other == last:
            other = i32(other - robots)
        square = f32(1e9)
        if active and (k < even or robot < k):
            dx = sf[L.X + at(base + other)] - x
            dy = sf[L.Y + at(base + other)] - y
            square = dx * dx + dy * dy
        word = ballot(warp, square < far2)
        if square < far2:
            si[at(listed + number + count(word & before))] = code | (other << i32(5))
        number = i32(number + count(word))
        code = i32(code + i32(L.LANES << 10))
        k = i32(k + i32(1))
    together()
    return number


@stage
def has_come_far(sf, me, x, y, way2):
    """Tell whether a robot has moved so far (m2) since pairs were listed."""
    dx = x - sf[L.LISTED_X + me]
    dy = y - sf[L.LISTED_Y + me]
    return dx * dx + dy * dy > way2


@stage
def square_apart(sf, base, code):
    """Return the squared distance of a listed pair (m2)."""
    i = at(base + (code & i32(31)))
    k = at(base + ((code >> i32(5)) & i32(31)))
    dx = sf[L.X + k] - sf[L.X + i]
    dy = sf[L.Y + k] - sf[L.Y + i]
    return dx * dx + dy * dy


@stage
def sort_out(warp, number, listed, near2, rab2, near_list, heard_list):
    """List the near pairs, and those within hearing, of those listed; return how many there are."""
    sf, si, base, lane, _, before = warp
    near = i32(0)
    hear = i32(0)
    start = i32(0)
    while start < number:
        square = f32(1e9)
        code = i32(0)
        if start + lane < number:
            code = si[at(listed + start + lane)]
            square = square_apart(sf, base, code)
        word = ballot(warp, square < near2)
        if square < near2:
            si[at(near_list + near + count(word & before))] = code
        near = i32(near + count(word))
        word = ballot(warp, square < rab2)
        if square < rab2:
            si[at(heard_list + hear + count(word & before))] = code
        hear = i32(hear + count(word))
        start = i32(start + i32(L.LANES))
    return near, hear
