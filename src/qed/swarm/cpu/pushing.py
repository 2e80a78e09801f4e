"""Robots that push each other: which pairs touch, and what they do to each other."""

from __future__ import annotations

from typing import Any

from numpy import float32 as f32

from qed.swarm.compile import loop
from qed.swarm.cpu.bits import below, index, lowest
from qed.swarm.cpu.rows import (
    C_I,
    C_K,
    C_PRESS,
    C_RUB,
    P_COS,
    P_SIN,
    P_SUM_X,
    P_SUM_Y,
    P_TURN,
    P_VX,
    P_VY,
    P_X,
    P_Y,
    PARTNERS,
    T_AT,
    T_CLOSING,
    T_COS_I,
    T_COS_K,
    T_DX,
    T_DY,
    T_FACE,
    T_FX,
    T_FY,
    T_GAP,
    T_I,
    T_K,
    T_NORMAL_SHARE,
    T_NX,
    T_NY,
    T_PRESS,
    T_RUB,
    T_SIN_I,
    T_SIN_K,
    T_SLIDING,
    T_TANGENT_SHARE,
    T_UX,
    T_UY,
    VECTOR,
)
from qed.swarm.laws.contact import (
    FRICTION,
    FROM_FIXED,
    fixed,
    pair_share,
    patience,
    press,
    rub,
)
from qed.swarm.laws.geometry import beyond, touching_point
from qed.swarm.robot import BODY_OUTER_RADIUS

ZERO = f32(0.0)
ONE = f32(1.0)
TWO_OUTER_SQUARED = f32((2.0 * BODY_OUTER_RADIUS) ** 2)


@loop
def touching_pairs(b: Any, pairs: int, robots: int) -> int:
    """List the pairs that touch; return their number."""
    f, n, p, m = b.f, b.n, b.p, b.m
    close = close_pairs(b, pairs)
    for e in range(close):
        dx = p[T_DX + e]
        dy = p[T_DY + e]
        ci, si = p[T_COS_I + e], p[T_SIN_I + e]
        ck, sk = p[T_COS_K + e], p[T_SIN_K + e]
        gap, nx, ny = beyond(dx, dy, ci, si, ck, sk)
        other, mx, my = beyond(-dx, -dy, ck, sk, ci, si)
        face = other <= gap
        p[T_NX + e] = nx if face else -mx
        p[T_NY + e] = ny if face else -my
        p[T_GAP + e] = max(gap, other)
        p[T_FACE + e] = ONE if face else ZERO
    for e in range(robots):
        n[PARTNERS + e] = 0
    touching = 0
    for start in range(0, close, VECTOR):
        word = below(p, T_GAP + start, ZERO) & ((1 << min(close - start, VECTOR)) - 1)
        while word != 0:
            e = start + lowest(word)
            word &= word - 1
            at = index(m[T_AT + e])
            i = index(m[C_I + at])
            k = index(m[C_K + at])
            n[PARTNERS + i] += 1
            n[PARTNERS + k] += 1
            m[T_AT + touching] = at
            m[T_I + touching] = i
            m[T_K + touching] = k
            for row in (T_DX, T_DY, T_COS_I, T_SIN_I, T_COS_K, T_SIN_K, T_NX, T_NY, T_FACE):
                p[row + touching] = p[row + e]
            touching += 1
    for e in range(touching):
        p[T_UX + e] = f[P_TURN + index(m[T_I + e])]
    for e in range(touching):
        turn_i = p[T_UX + e]
        arm_i, lever_i, arm_k, lever_k = touching_point(
            p[T_DX + e],
            p[T_DY + e],
            p[T_COS_I + e],
            p[T_SIN_I + e],
            p[T_COS_K + e],
            p[T_SIN_K + e],
            p[T_NX + e],
            p[T_NY + e],
            p[T_FACE + e] > ZERO,
        )
        p[T_CLOSING + e] = arm_i
        p[T_SLIDING + e] = lever_i
        p[T_NORMAL_SHARE + e] = arm_k
        p[T_TANGENT_SHARE + e] = lever_k
    for e in range(touching):
        i = index(m[T_I + e])
        k = index(m[T_K + e])
        at = index(m[T_AT + e])
        arm_i, lever_i = p[T_CLOSING + e], p[T_SLIDING + e]
        arm_k, lever_k = p[T_NORMAL_SHARE + e], p[T_TANGENT_SHARE + e]
        turn_i, turn_k = f[P_TURN + i], f[P_TURN + k]
        part = patience(n[PARTNERS + i], n[PARTNERS + k])
        p[T_CLOSING + e] = turn_k * lever_k - turn_i * lever_i
        p[T_SLIDING + e] = turn_i * arm_i - turn_k * arm_k
        p[T_NORMAL_SHARE + e] = part * pair_share(lever_i, lever_k)
        p[T_TANGENT_SHARE + e] = part * pair_share(arm_i, arm_k)
        p[T_PRESS + e] = p[C_PRESS + at]
        p[T_RUB + e] = p[C_RUB + at]
    for e in range(pairs):
        p[C_PRESS + e] = ZERO
        p[C_RUB + e] = ZERO
    return touching


@loop
def close_pairs(b: Any, pairs: int) -> int:
    """List the pairs whose circumscribed discs overlap, with their headings."""
    f, p, m = b.f, b.p, b.m
    for e in range(pairs):
        i = index(m[C_I + e])
        k = index(m[C_K + e])
        p[T_DX + e] = f[P_X + k] - f[P_X + i]
        p[T_DY + e] = f[P_Y + k] - f[P_Y + i]
    for e in range(pairs):
        p[T_GAP + e] = p[T_DX + e] * p[T_DX + e] + p[T_DY + e] * p[T_DY + e]
    close = 0
    for start in range(0, pairs, VECTOR):
        word = below(p, T_GAP + start, TWO_OUTER_SQUARED) & ((1 << min(pairs - start, VECTOR)) - 1)
        while word != 0:
            e = start + lowest(word)
            word &= word - 1
            i = index(m[C_I + e])
            k = index(m[C_K + e])
            m[T_AT + close] = e
            p[T_DX + close] = p[T_DX + e]
            p[T_DY + close] = p[T_DY + e]
            p[T_COS_I + close] = f[P_COS + i]
            p[T_SIN_I + close] = f[P_SIN + i]
            p[T_COS_K + close] = f[P_COS + k]
            p[T_SIN_K + close] = f[P_SIN + k]
            close += 1
    return close


@loop
def warm_pairs(b: Any, touching: int) -> None:
    """Begin with the impulses of the last sub-step."""
    p, m = b.p, b.m
    for e in range(touching):
        m[T_FX + e] = fixed(p[T_PRESS + e] * p[T_NX + e] - p[T_RUB + e] * p[T_NY + e])
        m[T_FY + e] = fixed(p[T_PRESS + e] * p[T_NY + e] + p[T_RUB + e] * p[T_NX + e])
    give(b.n, m, touching)


@loop
def push_pairs(b: Any, touching: int) -> None:
    """Correct all pairs at once, each from the velocities before the iteration."""
    f, p, m = b.f, b.p, b.m
    for e in range(touching):
        i = index(m[T_I + e])
        k = index(m[T_K + e])
        p[T_UX + e] = f[P_VX + i] - f[P_VX + k]
        p[T_UY + e] = f[P_VY + i] - f[P_VY + k]
    for e in range(touching):
        nx = p[T_NX + e]
        ny = p[T_NY + e]
        ux = p[T_UX + e]
        uy = p[T_UY + e]
        old_press = p[T_PRESS + e]
        old_rub = p[T_RUB + e]
        closing = (ux * nx + uy * ny) + p[T_CLOSING + e]
        sliding = (uy * nx - ux * ny) + p[T_SLIDING + e]
        new_press = press(old_press, p[T_NORMAL_SHARE + e], closing)
        new_rub = rub(old_rub, p[T_TANGENT_SHARE + e], sliding, FRICTION * new_press)
        p[T_PRESS + e] = new_press
        p[T_RUB + e] = new_rub
        dp = new_press - old_press
        dr = new_rub - old_rub
        m[T_FX + e] = fixed(dp * nx - dr * ny)
        m[T_FY + e] = fixed(dp * ny + dr * nx)
    give(b.n, m, touching)


@loop
def give(n: Any, m: Any, touching: int) -> None:
    """Add each pair's impulse to its two robots, in whole numbers."""
    for e in range(touching):
        i = index(m[T_I + e])
        k = index(m[T_K + e])
        n[P_SUM_X + i] -= m[T_FX + e]
        n[P_SUM_Y + i] -= m[T_FY + e]
        n[P_SUM_X + k] += m[T_FX + e]
        n[P_SUM_Y + k] += m[T_FY + e]


@loop
def take(f: Any, n: Any, robots: int) -> None:
    """Change the velocities by the impulses that were added up."""
    for e in range(robots):
        f[P_VX + e] += f32(n[P_SUM_X + e]) * FROM_FIXED
        f[P_VY + e] += f32(n[P_SUM_Y + e]) * FROM_FIXED
        n[P_SUM_X + e] = 0
        n[P_SUM_Y + e] = 0
