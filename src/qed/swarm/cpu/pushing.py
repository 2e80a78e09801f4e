"""Robots that push each other: which pairs touch, and their impulses (``laws/contact.py``).

Each stage lists what it leaves, in the same rows by other names: pairs whose circumscribed discs
overlap, then those whose bodies do.  What is dear, two corners a pair and its effective masses, is
worked out for the few that touch, a vector at a time.
"""

from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32
from numpy import int64 as i64

from qed.compile import loop
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import below, index, ones, round_up, squeeze
from qed.swarm.cpu.gather import gather_four, gather_two, gather_way, interleave, pad, scatter_four
from qed.swarm.laws import bodies, contact, outline
from qed.swarm.robot import ROBOT

ZERO = f32(0.0)
ONE = f32(1.0)
# Globals, as in ``motion.py``.
P_TURNS, P_TURN, P_PARTNERS = L.P_TURNS, L.P_TURN, L.P_PARTNERS
TWO_OUTER_SQUARED = f32((2.0 * ROBOT.outer_radius) ** 2)


@loop
def touching_pairs(b: Any, pairs: int, robots: int) -> int:
    """List the pairs that touch with all that solving them needs; return their number."""
    p = b.p
    close = close_pairs(b, pairs)
    for e in range(round_up(close)):
        dx = p[L.T_DX + e]
        dy = p[L.T_DY + e]
        ci, si = p[L.T_COS_I + e], p[L.T_SIN_I + e]
        ck, sk = p[L.T_COS_K + e], p[L.T_SIN_K + e]
        gap, nx, ny = outline.beyond(dx, dy, ci, si, ck, sk)
        other, mx, my = outline.beyond(-dx, -dy, ck, sk, ci, si)
        face = bodies.first_face(gap, other, dx, dy)
        p[L.T_NX + e] = nx if face else -mx
        p[L.T_NY + e] = ny if face else -my
        p[L.T_GAP + e] = max(gap, other)
        p[L.T_FACE + e] = ONE if face else ZERO
    touching: int = overlapping_pairs(b, close)
    look_up(b, touching, robots)
    for e in range(round_up(touching)):
        p[L.T_RELAXATION + e] = contact.relaxation(p[L.T_PARTNERS_I + e], p[L.T_PARTNERS_K + e])
        arm_i, lever_i, arm_k, lever_k, gap, more_i, farther_i, more_k, farther_k, more_gap = (
            outline.touching_points(
                p[L.T_DX + e],
                p[L.T_DY + e],
                p[L.T_COS_I + e],
                p[L.T_SIN_I + e],
                p[L.T_COS_K + e],
                p[L.T_SIN_K + e],
                p[L.T_NX + e],
                p[L.T_NY + e],
                p[L.T_FACE + e] > ZERO,
            )
        )
        k_nn, k_nt, k_tn, k_tt = contact.coupling(
            arm_i, lever_i, arm_k, lever_k, more_i, farther_i, more_k, farther_k
        )
        p[L.T_K_NN + e] = k_nn
        p[L.T_K_NT + e] = k_nt
        p[L.T_K_TN + e] = k_tn
        p[L.T_K_TT + e] = k_tt
        prepare_point(p, L.T_ONE + e, e, arm_i, lever_i, arm_k, lever_k, gap)
        prepare_point(p, L.T_TWO + e, e, more_i, farther_i, more_k, farther_k, more_gap)
    for e in range(round_up(4 * pairs)):
        p[L.C_KEPT + e] = ZERO
    return touching


@loop
def prepare_point(
    p: Any, at: Any, e: Any, arm_i: Any, lever_i: Any, arm_k: Any, lever_k: Any, gap: Any
) -> None:
    """Write how a point moves as robots spin, its effective masses, and its first impulses.

    A point that is not inside has no mass and no impulse, so that nothing happens to it.
    """
    closing, sliding = contact.point_velocity(
        p[L.T_TURN_I + e], p[L.T_TURN_K + e], arm_i, lever_i, arm_k, lever_k
    )
    relaxed = p[L.T_RELAXATION + e] if gap < ZERO else ZERO
    p[at + L.T_CLOSING] = closing
    p[at + L.T_SLIDING] = sliding
    p[at + L.T_NORMAL_MASS] = contact.pair_effective_mass(lever_i, lever_k) * relaxed
    p[at + L.T_TANGENT_MASS] = contact.pair_effective_mass(arm_i, arm_k) * relaxed
    p[at + L.T_NORMAL_IMPULSE] = p[at + L.T_NORMAL_IMPULSE] if gap < ZERO else ZERO
    p[at + L.T_TANGENT_IMPULSE] = p[at + L.T_TANGENT_IMPULSE] if gap < ZERO else ZERO


@loop
def overlapping_pairs(b: Any, close: int) -> int:
    """Keep the close pairs whose bodies overlap; return their number."""
    p, m = b.p, b.m
    touching = 0
    for start in range(0, close, L.VECTOR):
        word = below(p, L.T_GAP + start, ZERO) & ((1 << min(close - start, L.VECTOR)) - 1)
        if word != 0:
            for row in (L.T_AT, L.T_I, L.T_K):
                squeeze(m, row + start, row + touching, word)
            for row in (
                L.T_DX,
                L.T_DY,
                L.T_COS_I,
                L.T_SIN_I,
                L.T_COS_K,
                L.T_SIN_K,
                L.T_NX,
                L.T_NY,
                L.T_FACE,
            ):
                squeeze(p, row + start, row + touching, word)
            touching += ones(word)
    pad_touching(m, touching)
    return touching


@loop
def pad_touching(m: Any, touching: int) -> None:
    """Let the list be looked up in whole vectors."""
    pad(m, L.T_AT, touching, L.PAIRS)
    pad(m, L.T_I, touching, 0)
    pad(m, L.T_K, touching, 0)


@loop
def look_up(b: Any, touching: int, robots: int) -> None:
    """Lay out the impulses that pairs kept, their robots' turn rates and numbers of partners."""
    f, p, m = b.f, b.p, b.m
    for e in range(round_up(robots)):
        f[L.P_PARTNERS + e] = ZERO
    for e in range(touching):
        f[L.P_PARTNERS + index(m[L.T_I + e])] += ONE
        f[L.P_PARTNERS + index(m[L.T_K + e])] += ONE
    lay_out(f, P_TURNS, P_TURN, P_PARTNERS, 0, robots)
    for at in range(0, touching, L.VECTOR):
        gather_two(f, L.P_TURNS, 2, m, L.T_I + at, p, L.T_TURN_I + at, L.T_PARTNERS_I + at)
        gather_two(f, L.P_TURNS, 2, m, L.T_K + at, p, L.T_TURN_K + at, L.T_PARTNERS_K + at)
        to = L.T_ONE + L.T_NORMAL_IMPULSE + at
        gather_four(p, L.C_KEPT, m, L.T_AT + at, p, to, L.PAIR_STRIDE)


@loop
def lay_out(f: Any, table: int, x: int, y: int, first: int, stop: int) -> None:
    """Lay two rows of packed robots out as a table for pairs."""
    for at in range(index(first), index(stop), L.VECTOR):
        interleave(f, table + 2 * at, f, x + at, y + at)


@loop
def store_pairs(p: Any, m: Any, touching: int) -> None:
    """Keep the impulses of pairs for the next sub-step."""
    for at in range(0, touching, L.VECTOR):
        of = L.T_ONE + L.T_NORMAL_IMPULSE + at
        scatter_four(p, L.C_KEPT, m, L.T_AT + at, p, of, L.PAIR_STRIDE)


@loop
def keep_pairs(b: Any, touching: int, cycle: int) -> None:
    """Keep the impulses of pairs for the next cycle, which takes those of other pairs for zero."""
    p, m = b.p, b.m
    for e in range(touching):
        pair = m[L.C_PAIR + index(m[L.T_AT + e])]
        m[L.T_FX + e] = pair
        b.pair_step[index(pair)] = cycle
    pad(m, L.T_FX, touching, L.NOWHERE)
    for at in range(0, touching, L.VECTOR):
        of = L.T_ONE + L.T_NORMAL_IMPULSE + at
        scatter_four(b.pair_impulse, 0, m, L.T_FX + at, p, of, L.PAIR_STRIDE)


@loop
def close_pairs(b: Any, pairs: int) -> int:
    """List the pairs whose circumscribed discs overlap, with their headings."""
    f, p, m = b.f, b.p, b.m
    for at in range(0, pairs, L.VECTOR):
        gather_way(f, L.P_PLACES, 2, m, L.C_I + at, L.C_K + at, p, L.T_DX + at, L.T_DY + at)
    for e in range(round_up(pairs)):
        p[L.T_GAP + e] = p[L.T_DX + e] * p[L.T_DX + e] + p[L.T_DY + e] * p[L.T_DY + e]
    close = 0
    for start in range(0, pairs, L.VECTOR):
        word = below(p, L.T_GAP + start, TWO_OUTER_SQUARED) & (
            (1 << min(pairs - start, L.VECTOR)) - 1
        )
        if word != 0:
            squeeze(m, L.PLACE + start, L.T_AT + close, word)
            squeeze(m, L.C_I + start, L.T_I + close, word)
            squeeze(m, L.C_K + start, L.T_K + close, word)
            squeeze(p, L.T_DX + start, L.T_DX + close, word)
            squeeze(p, L.T_DY + start, L.T_DY + close, word)
            close += ones(word)
    pad_touching(m, close)
    for at in range(0, close, L.VECTOR):
        gather_two(f, L.P_HEADINGS, 2, m, L.T_I + at, p, L.T_COS_I + at, L.T_SIN_I + at)
        gather_two(f, L.P_HEADINGS, 2, m, L.T_K + at, p, L.T_COS_K + at, L.T_SIN_K + at)
    return close


@loop
def warm_start_pairs(b: Any, touching: int) -> None:
    """Begin with the impulses of the last sub-step."""
    p, m = b.p, b.m
    for e in range(round_up(touching)):
        pn = p[L.T_ONE + L.T_NORMAL_IMPULSE + e] + p[L.T_TWO + L.T_NORMAL_IMPULSE + e]
        pt = p[L.T_ONE + L.T_TANGENT_IMPULSE + e] + p[L.T_TWO + L.T_TANGENT_IMPULSE + e]
        m[L.T_FX + e] = contact.fixed(pn * p[L.T_NX + e] - pt * p[L.T_NY + e])
        m[L.T_FY + e] = contact.fixed(pn * p[L.T_NY + e] + pt * p[L.T_NX + e])
    add_impulses(m, b.sums, touching)


@loop
def solve_at(p: Any, at: Any, closing: Any, sliding: Any) -> Any:
    """Solve one point of a pair; return the change of its impulses."""
    old_pn = p[at + L.T_NORMAL_IMPULSE]
    old_pt = p[at + L.T_TANGENT_IMPULSE]
    pn, pt = contact.solve_point(
        closing + p[at + L.T_CLOSING],
        sliding + p[at + L.T_SLIDING],
        old_pn,
        old_pt,
        p[at + L.T_NORMAL_MASS],
        p[at + L.T_TANGENT_MASS],
    )
    p[at + L.T_NORMAL_IMPULSE] = pn
    p[at + L.T_TANGENT_IMPULSE] = pt
    return pn - old_pn, pt - old_pt


@loop
def solve_pairs(b: Any, touching: int) -> None:
    """Correct all pairs at once, each from the velocities before the iteration."""
    f, p, m = b.f, b.p, b.m
    for at in range(0, touching, L.VECTOR):
        gather_way(f, L.P_VELOCITIES, 2, m, L.T_K + at, L.T_I + at, p, L.T_UX + at, L.T_UY + at)
    for e in range(round_up(touching)):
        nx = p[L.T_NX + e]
        ny = p[L.T_NY + e]
        ux = p[L.T_UX + e]
        uy = p[L.T_UY + e]
        un = ux * nx + uy * ny
        ut = uy * nx - ux * ny
        dp, dr = solve_at(p, L.T_ONE + e, un, ut)
        un -= p[L.T_K_NN + e] * dp + p[L.T_K_NT + e] * dr
        ut -= p[L.T_K_TN + e] * dp + p[L.T_K_TT + e] * dr
        more, farther = solve_at(p, L.T_TWO + e, un, ut)
        dp += more
        dr += farther
        m[L.T_FX + e] = contact.fixed(dp * nx - dr * ny)
        m[L.T_FY + e] = contact.fixed(dp * ny + dr * nx)
    add_impulses(m, b.sums, touching)


@loop
def add_impulses(m: Any, sums: Any, touching: int) -> None:
    """Add each pair's impulse to its two robots, in whole numbers: x, and y in the upper half."""
    for e in range(touching):
        i = index(m[L.T_I + e])
        k = index(m[L.T_K + e])
        both = (i64(m[L.T_FY + e]) << 32) + i64(m[L.T_FX + e])
        sums[i] -= both
        sums[k] += both


@loop
def apply_impulses(f: Any, sums: Any, first: int, stop: int) -> None:
    """Change the velocities by the impulses that were added up."""
    begin = index(first)
    for k in range(round_up(stop - first)):
        e = begin + k
        x = i32(sums[e])
        y = i32((sums[e] - i64(x)) >> 32)
        f[L.P_VX + e] += f32(x) * contact.FROM_FIXED
        f[L.P_VY + e] += f32(y) * contact.FROM_FIXED
        sums[e] = 0
