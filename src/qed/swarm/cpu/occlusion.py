"""Which robots within hearing are in sight of each other, and which may be.

A pair that nothing comes near is clear; one that the inscribed disc of another body, or an
obstacle, cuts is hidden; those between are in doubt.  What tells them apart is the smallest
squared distance of a blocker from the line of sight.  With it goes a bit for each blocker in
doubt: all robots but the two, counted from the pair's first one on.

In a crowd most pairs are within hearing: all pairs meet all blockers by shifts, and only what is
not hidden is listed.  Elsewhere only the listed pairs meet blockers.
"""

from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32

from qed.compile import loop
from qed.controller.inputs import RAB_BITS
from qed.swarm import environment_row as E
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import below, index, ones, round_up, span, squeeze
from qed.swarm.cpu.gather import gather_two
from qed.swarm.laws.geometry import FAR, off_line, one_over
from qed.swarm.robot import ROBOT

INNER2 = f32(ROBOT.inner_radius**2)
OUTER2 = f32(ROBOT.outer_radius**2)
ZERO = f32(0.0)


@loop
def crowded(b: Any, s: int, seen: int) -> bool:
    """Return whether so many pairs within hearing make a crowd of a segment.

    With all cones live it takes a quarter of all pairs, with fewer as many more.
    """
    _, robots, _, size, _ = span(b.segments, s)
    crowd: bool = seen * ones(b.segments[s, L.LIVE] & RAB_BITS) > size * (robots - 1)
    return crowd


@loop
def list_crowd(b: Any, s: int) -> int:
    """List the pairs within hearing that are not hidden; return their number."""
    p, m = b.p, b.m
    first, robots, trials, size, _ = span(b.segments, s)
    audible = b.limits[s, E.RAB2]
    me = L.WIDE_LANE + 2 * first
    seen = 0
    for k in range(1, robots // 2 + 1):
        shift = index(k * trials)
        lanes = size // 2 if 2 * k == robots else size
        draw_lines(b, s, shift, lanes)
        for q in range(0, robots - 2, 2):  # two at a time; of an odd number the last comes twice
            block(b, s, shift, q, lanes)
        for start in range(0, lanes, L.VECTOR):
            word = below(p, L.S_DISTANCE + start, audible) & ~below(p, L.D_OFF + start, INNER2)
            word &= (1 << min(lanes - start, L.VECTOR)) - 1
            if word != 0:
                squeeze(m, me + start, L.S_I + seen, word)
                squeeze(m, me + shift + start, L.S_K + seen, word)
                squeeze(p, L.D_OFF + start, L.S_OFF + seen, word)
                squeeze(m, L.D_DOUBTS + start, L.S_DOUBTS + seen, word)
                squeeze(m, L.D_MORE_DOUBTS + start, L.S_MORE_DOUBTS + seen, word)
                seen += ones(word)
    return seen


@loop
def draw_lines(b: Any, s: int, shift: int, lanes: int) -> None:
    """Begin with the lines of sight to the robots some lanes further on, and obstacles on them."""
    w, p, m = b.w, b.p, b.m
    first, _, _, _, _ = span(b.segments, s)
    x = L.WIDE_X + 2 * first
    y = L.WIDE_Y + 2 * first
    for e in range(round_up(lanes)):
        dx = w[x + shift + e] - w[x + e]
        dy = w[y + shift + e] - w[y + e]
        square = dx * dx + dy * dy
        p[L.S_DISTANCE + e] = square
        p[L.S_DX + e] = dx
        p[L.S_DY + e] = dy
        p[L.S_PER_SQUARE + e] = one_over(square)
        p[L.D_OFF + e] = FAR
        m[L.D_DOUBTS + e] = 0
        m[L.D_MORE_DOUBTS + e] = 0
    for o in range(index(b.segments[s, L.OBSTACLES])):
        at = o * L.OBSTACLE_ROWS + first
        for e in range(round_up(lanes)):
            off = off_line(
                b.obstacles[at + L.B_X + e] - w[x + e],
                b.obstacles[at + L.B_Y + e] - w[y + e],
                p[L.S_DX + e],
                p[L.S_DY + e],
                p[L.S_PER_SQUARE + e],
            )
            square = b.obstacles[at + L.B_SQUARE + e]
            p[L.D_OFF + e] = ZERO if off < square else p[L.D_OFF + e]


@loop
def way(i: int, k: int, size: int) -> int:
    """Return how many lanes after robot i robot k comes, round a segment of this size."""
    return k - i + size if k < i else k - i


@loop
def blocker(n: int, way: int, trials: int) -> int:
    """Return how many lanes after the first robot of a pair its blocker n is.

    The second is ``way`` lanes after the first.
    """
    lanes = (n + 1) * trials
    return lanes + trials if lanes >= way else lanes


@loop
def block(b: Any, s: int, way: int, q: int, lanes: int) -> None:
    """Let the blockers q and q + 1, if there is one more, come between."""
    w, p, m = b.w, b.p, b.m
    first, robots, trials, _, _ = span(b.segments, s)
    r = min(q + 1, robots - 3)
    here = 2 * first
    one = here + index(blocker(q, way, trials))
    two = here + index(blocker(r, way, trials))
    word = L.D_DOUBTS + index((q >> 5) * L.PAIR_STRIDE)
    bit1 = i32(1 << (q & 31))
    bit2 = i32(1 << (r & 31))
    for e in range(round_up(lanes)):
        x = w[L.WIDE_X + here + e]
        y = w[L.WIDE_Y + here + e]
        dx = p[L.S_DX + e]
        dy = p[L.S_DY + e]
        per_square = p[L.S_PER_SQUARE + e]
        off1 = off_line(w[L.WIDE_X + one + e] - x, w[L.WIDE_Y + one + e] - y, dx, dy, per_square)
        off2 = off_line(w[L.WIDE_X + two + e] - x, w[L.WIDE_Y + two + e] - y, dx, dy, per_square)
        p[L.D_OFF + e] = min(p[L.D_OFF + e], min(off1, off2))
        m[word + e] |= (bit1 if off1 < OUTER2 else i32(0)) | (bit2 if off2 < OUTER2 else i32(0))


@loop
def occlude(b: Any, s: int, seen: int) -> None:
    """Find what comes between the listed pairs."""
    f, p, m = b.f, b.p, b.m
    first, robots, trials, size, _ = span(b.segments, s)
    end, round_ = i32(first + size), i32(size)
    for e in range(round_up(seen)):
        m[L.S_WAY + e] = way(m[L.S_I + e], m[L.S_K + e], i32(size))
        p[L.S_OFF + e] = FAR
        m[L.S_DOUBTS + e] = 0
        m[L.S_MORE_DOUBTS + e] = 0
    for q in range(0, robots - 2, 2):  # two at a time; of an odd number the last comes twice
        r = min(q + 1, robots - 3)
        near1, far1 = i32((q + 1) * trials), i32((q + 2) * trials)
        near2, far2 = i32((r + 1) * trials), i32((r + 2) * trials)
        for e in range(round_up(seen)):
            one = i32(m[L.S_I + e] + (near1 if near1 < m[L.S_WAY + e] else far1))
            two = i32(m[L.S_I + e] + (near2 if near2 < m[L.S_WAY + e] else far2))
            m[L.S_ONE + e] = one - (round_ if one >= end else i32(0))
            m[L.S_TWO + e] = two - (round_ if two >= end else i32(0))
        for at in range(0, seen, L.VECTOR):
            x, y = L.S_OTHER_X + at, L.S_OTHER_Y + at
            gather_two(f, L.POSES, 4, m, L.S_ONE + at, p, x, y)
            x, y = L.S_NEXT_X + at, L.S_NEXT_Y + at
            gather_two(f, L.POSES, 4, m, L.S_TWO + at, p, x, y)
        word = L.S_DOUBTS + index((q >> 5) * L.PAIR_STRIDE)
        bit1 = i32(1 << (q & 31))
        bit2 = i32(1 << (r & 31))
        for e in range(round_up(seen)):
            off1 = off_pair(p, L.S_OTHER_X, L.S_OTHER_Y, e)
            off2 = off_pair(p, L.S_NEXT_X, L.S_NEXT_Y, e)
            p[L.S_OFF + e] = min(p[L.S_OFF + e], min(off1, off2))
            m[word + e] |= (bit1 if off1 < OUTER2 else i32(0)) | (bit2 if off2 < OUTER2 else i32(0))
    for o in range(index(b.segments[s, L.OBSTACLES])):
        at = o * L.OBSTACLE_ROWS
        for e in range(round_up(seen)):
            lane = index(m[L.S_I + e])
            off = off_line(
                b.obstacles[at + L.B_X + lane] - p[L.S_X + e],
                b.obstacles[at + L.B_Y + lane] - p[L.S_Y + e],
                p[L.S_DX + e],
                p[L.S_DY + e],
                p[L.S_PER_SQUARE + e],
            )
            square = b.obstacles[at + L.B_SQUARE + lane]
            p[L.S_OFF + e] = ZERO if off < square else p[L.S_OFF + e]


@loop
def off_pair(p: Any, x: int, y: int, e: int) -> Any:
    """Return the squared distance (m2) of a robot from a pair's line of sight."""
    return off_line(
        p[x + e] - p[L.S_X + e],
        p[y + e] - p[L.S_Y + e],
        p[L.S_DX + e],
        p[L.S_DY + e],
        p[L.S_PER_SQUARE + e],
    )
