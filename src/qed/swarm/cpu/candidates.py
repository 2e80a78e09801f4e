"""What is near: robots that sense or hear each other, and bodies that may touch in the next cycle.

Near pairs are listed at the end of a cycle, for its sensors and for the contacts of the next.  So
robots that a user's ``Start`` puts on top of each other begin to push in the second cycle.

Robots that may touch something are packed side by side, so that solving their contacts is
again dense work.  They lie in six stretches: those that may touch nothing but an x wall; those
that may touch others (robots or obstacles) or two walls: at an x wall only, at both, at a y wall
only; then those that may touch nothing but a y wall; then those that may touch others only.  So
each kind of wall concerns one row of stretches.  Stretches are whole vectors: the robot that is
nowhere fills them up.
"""

from typing import Any

from numpy import float32 as f32

from qed.compile import loop
from qed.swarm import environment_row as E
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import below, index, lowest, ones, round_up, span, squeeze
from qed.swarm.cpu.gather import gather_four, gather_way, interleave_four, pad
from qed.swarm.robot import ROBOT

ZERO = f32(0.0)
TWO = f32(2.0)
TWO_OUTER = f32(2.0 * ROBOT.outer_radius)
OUTER = f32(ROBOT.outer_radius)
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
    pad(m, L.NEAR_I, near, 0)
    pad(m, L.NEAR_K, near, 0)
    for at in range(0, near, L.VECTOR):
        gather_way(f, L.POSES, 4, m, L.NEAR_I + at, L.NEAR_K + at, p, L.T_DX + at, L.T_DY + at)
    for e in range(near):
        p[L.T_GAP + e] = TWO_OUTER + TWO * f[L.MARGIN + index(m[L.NEAR_I + e])]
    for e in range(round_up(near)):
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
        p[L.T_GAP + e] = f32(cycle - 1 - b.pair_step[index(m[L.C_PAIR + e])])
    pad(m, L.C_PAIR, pairs, 0)
    for at in range(0, pairs, L.VECTOR):
        gather_four(b.pair_impulse, 0, m, L.C_PAIR + at, p, L.T_DX + at, L.PAIR_STRIDE)
    for e in range(round_up(pairs)):
        fresh = p[L.T_GAP + e] != ZERO
        p[L.T_DX + e] = ZERO if fresh else p[L.T_DX + e]
        p[L.T_DY + e] = ZERO if fresh else p[L.T_DY + e]
        p[L.T_COS_I + e] = ZERO if fresh else p[L.T_COS_I + e]
        p[L.T_SIN_I + e] = ZERO if fresh else p[L.T_SIN_I + e]
    for at in range(0, pairs, L.VECTOR):
        interleave_four(p, L.C_KEPT + 4 * at, p, L.T_DX + at, L.PAIR_STRIDE)
    return pairs


@loop
def near_obstacles(b: Any, cycle: int) -> int:
    """List the robots that may touch an obstacle, by their lanes; return their number."""
    f = b.f
    contacts = 0
    for s in range(b.segments.shape[0]):
        segment = b.segments[s]
        first, _, _, _, lanes = span(b.segments, s)
        margin = b.limits[s, E.MARGIN]
        for o in range(index(segment[L.OBSTACLES])):
            at = o * L.OBSTACLE_ROWS + first
            for i in range(lanes):
                dx = b.obstacles[at + L.B_X + i] - f[L.X + first + i]
                dy = b.obstacles[at + L.B_Y + i] - f[L.Y + first + i]
                reach = b.obstacles[at + L.B_REACH + i] + margin
                f[L.SCRATCH + i] = dx * dx + dy * dy - reach * reach
            for start in range(0, lanes, L.VECTOR):
                word = below(f, L.SCRATCH + start, ZERO)
                while word != 0:
                    i = start + lowest(word)
                    word &= word - 1
                    place = o * L.STRIDE + first + i
                    fresh = b.obstacle_step[place] != cycle - 1
                    contact = b.obstacle_contacts[contacts]
                    contact[L.O_X] = b.obstacles[at + L.B_X + i]
                    contact[L.O_Y] = b.obstacles[at + L.B_Y + i]
                    contact[L.O_RADIUS] = b.obstacles[at + L.B_RADIUS + i]
                    contact[L.O_REACH] = b.obstacles[at + L.B_REACH + i]
                    contact[L.O_NORMAL_IMPULSE] = ZERO if fresh else b.obstacle_impulse[2 * place]
                    contact[L.O_TANGENT_IMPULSE] = (
                        ZERO if fresh else b.obstacle_impulse[2 * place + 1]
                    )
                    f[L.AT_OTHERS + first + i] = YES
                    b.obstacle_places[contacts, 0] = first + i
                    b.obstacle_places[contacts, 1] = place
                    contacts += 1
    return contacts


@loop
def places(b: Any, lanes: int, pairs: int, obstacles: int) -> Any:
    """Give every robot that may touch something a place; return where the stretches end.

    The robots of pairs and at obstacles are listed by their places from now on.
    """
    f, n, m = b.f, b.n, b.m
    # Six lists side by side, so that none waits for where another one ends.
    one, two, three, four, five, six = 0, 0, 0, 0, 0, 0
    for v in range(lanes // L.VECTOR):
        x = below(f, L.AT_X_WALL + L.VECTOR * v, ZERO)
        y = below(f, L.AT_Y_WALL + L.VECTOR * v, ZERO)
        others = below(f, L.AT_OTHERS + L.VECTOR * v, ZERO)
        at = L.PLACE + L.VECTOR * v
        one += sift(m, at, L.L_ONE + one, ~others & x & ~y)
        two += sift(m, at, L.L_TWO + two, others & x & ~y)
        three += sift(m, at, L.L_THREE + three, x & y)
        four += sift(m, at, L.L_FOUR + four, others & y & ~x)
        five += sift(m, at, L.L_FIVE + five, ~others & y & ~x)
        six += sift(m, at, L.L_SIX + six, others & ~x & ~y)
    stop1 = append(n, m, L.L_ONE, one, 0)
    stop2 = append(n, m, L.L_TWO, two, stop1)
    stop3 = append(n, m, L.L_THREE, three, stop2)
    stop4 = append(n, m, L.L_FOUR, four, stop3)
    stop5 = append(n, m, L.L_FIVE, five, stop4)
    slots = append(n, m, L.L_SIX, six, stop5)
    for e in range(slots):
        n[L.SLOT + index(n[L.P_LANE + e])] = e
    for e in range(pairs):
        i = index(m[L.C_I + e])
        k = index(m[L.C_K + e])
        f[L.AT_OTHERS + i] = ZERO
        f[L.AT_OTHERS + k] = ZERO
        m[L.C_I + e] = n[L.SLOT + i]
        m[L.C_K + e] = n[L.SLOT + k]
    pad(m, L.C_I, pairs, 0)
    pad(m, L.C_K, pairs, 0)
    for e in range(obstacles):
        i = index(b.obstacle_places[e, 0])
        f[L.AT_OTHERS + i] = ZERO
        b.obstacle_places[e, 0] = n[L.SLOT + i]
    return stop1, stop2, stop3, stop4, stop5, slots


@loop
def sift(m: Any, at: int, to: int, word: int) -> int:
    """Squeeze a vector; return how many numbers that leaves."""
    squeeze(m, at, to, word)
    left: int = ones(word)
    return left


@loop
def append(n: Any, m: Any, row: int, length: int, first: int) -> int:
    """Go on with a stretch of listed lanes; return where it ends."""
    pad(m, row, length, L.NOWHERE)
    for e in range(round_up(length)):
        n[L.P_LANE + first + e] = m[row + e]
    stop: int = first + round_up(length)
    return stop


@loop
def widen(b: Any, s: int) -> None:
    """Lay the positions of a segment out twice, end to end, for shifts that never wrap.

    And the poses as a table.
    """
    f, w = b.f, b.w
    first, _, _, size, lanes = span(b.segments, s)
    for i in range(size):
        x = f[L.X + first + i]
        y = f[L.Y + first + i]
        w[L.WIDE_X + 2 * first + i] = x
        w[L.WIDE_Y + 2 * first + i] = y
        w[L.WIDE_X + 2 * first + size + i] = x
        w[L.WIDE_Y + 2 * first + size + i] = y
    for at in range(first, first + lanes, L.VECTOR):
        interleave_four(f, L.POSES + 4 * at, f, L.X + at, L.STRIDE)


@loop
def near_pairs(b: Any, s: int, hearing: bool, near: int) -> Any:
    """Append the segment's near pairs to the list, and list those within hearing anew.

    Robot i meets robot i + k by a shift; each pair is met once.  Returns the new number of
    near pairs and the number of pairs within hearing.
    """
    f, w, m = b.f, b.w, b.m
    first, robots, trials, size, _ = span(b.segments, s)
    close, audible = b.limits[s, E.NEAR2], b.limits[s, E.RAB2]
    seen = 0
    for k in range(1, robots // 2 + 1):
        shift = index(k * trials)
        lanes = size // 2 if 2 * k == robots else size
        at_x = L.WIDE_X + 2 * first
        at_y = L.WIDE_Y + 2 * first
        for i in range(lanes):
            dx = w[at_x + shift + i] - w[at_x + i]
            dy = w[at_y + shift + i] - w[at_y + i]
            f[L.SQUARE + i] = dx * dx + dy * dy
        before = near
        me = L.WIDE_LANE + 2 * first
        for start in range(0, lanes, L.VECTOR):
            inside = (1 << min(lanes - start, L.VECTOR)) - 1
            word = below(f, L.SQUARE + start, close) & inside
            if word != 0:
                squeeze(m, me + start, L.NEAR_I + near, word)
                squeeze(m, me + shift + start, L.NEAR_K + near, word)
                near += ones(word)
            if hearing:
                word = below(f, L.SQUARE + start, audible) & inside
                squeeze(m, me + start, L.S_I + seen, word)
                squeeze(m, me + shift + start, L.S_K + seen, word)
                seen += ones(word)
        for new in range(index(near - before)):
            e = index(before) + new
            m[L.NEAR_PAIR + e] = m[L.NEAR_I + e] + (k - 1) * L.STRIDE
    return near, seen
