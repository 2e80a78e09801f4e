"""Contacts solved: drives pull, bodies push back, sweep by sweep.

Pairs of robots are corrected all at once from the velocities before the sweep (Jacobi), with
impulses added up as whole numbers, so that no order of robots or pairs matters.  Obstacles and
then walls come last, one after the other for each robot, so that nothing passes them.
"""

from __future__ import annotations

from typing import Any

from numpy import float32 as f32

from qed.swarm.compile import loop
from qed.swarm.cpu.bits import index
from qed.swarm.cpu.candidates import touching_obstacles, touching_pairs, touching_walls
from qed.swarm.cpu.motion import coast
from qed.swarm.cpu.rows import (
    C_ARM,
    C_FX,
    C_FY,
    C_I,
    C_K,
    C_NX,
    C_NY,
    C_PAIR,
    C_PRESS,
    C_RUB,
    C_SHARE,
    C_SPEED,
    C_TURN,
    C_UX,
    C_UY,
    COS,
    JX,
    JY,
    MARGIN,
    P_JX,
    P_JY,
    P_LANE,
    P_SUM_X,
    P_SUM_Y,
    P_TURN,
    P_TX,
    P_TY,
    P_VX,
    P_VY,
    PX_ARM,
    PX_PRESS,
    PX_RUB,
    PX_SIGN,
    PX_SPEED,
    PY_ARM,
    PY_PRESS,
    PY_RUB,
    PY_SIGN,
    PY_SPEED,
    SIDE,
    SIN,
    TURN,
    TX,
    TY,
    VX,
    VY,
    WALL_X_PRESS,
    WALL_X_RUB,
    WALL_Y_PRESS,
    WALL_Y_RUB,
    WALLED,
    X,
    Y,
)
from qed.swarm.laws.contact import (
    FRICTION,
    FROM_FIXED,
    SWEEPS,
    WALL_FRICTION,
    drive,
    fixed,
    nearer_wall,
    press,
    rub,
    wall_approach,
)
from qed.swarm.laws.geometry import support

ZERO = f32(0.0)
ONE = f32(1.0)


@loop
def meet(b: Any, lanes: int, near: int, cycle: int) -> None:
    """Give every robot its velocity for the rest of the cycle, contacts considered."""
    pairs, robots = touching_pairs(b, near, cycle)
    robots = touching_walls(b, lanes, cycle, robots)
    obstacles, robots = touching_obstacles(b, cycle, robots)
    pack(b.f, b.n, robots, cycle)
    coast(b.f, lanes)
    if robots > 0:
        warm_start(b, pairs, obstacles, robots)
        for _ in range(SWEEPS):
            drives(b.f, robots)
            if pairs > 0:
                push_pairs(b, pairs)
                apply(b.f, b.n, robots)
            for e in range(obstacles):
                push_obstacle(b, e)
            walls(b.f, robots)
        unpack(b, pairs, obstacles, robots, cycle)


@loop
def pack(f: Any, n: Any, robots: int, cycle: int) -> None:
    """Lay the robots in contact side by side, with what their walls allow."""
    for e in range(robots):
        i = index(n[P_LANE + e])
        f[P_TX + e] = f[TX + i]
        f[P_TY + e] = f[TY + i]
        f[P_VX + e] = f[VX + i]
        f[P_VY + e] = f[VY + i]
        f[P_JX + e] = f[JX + i]
        f[P_JY + e] = f[JY + i]
        f[P_TURN + e] = f[TURN + i]
        kept = n[WALLED + i] == cycle - 1
        f[PX_PRESS + e] = f[WALL_X_PRESS + i] if kept else ZERO
        f[PX_RUB + e] = f[WALL_X_RUB + i] if kept else ZERO
        f[PY_PRESS + e] = f[WALL_Y_PRESS + i] if kept else ZERO
        f[PY_RUB + e] = f[WALL_Y_RUB + i] if kept else ZERO
        # Borrowed until the wall geometry below takes their place.
        f[PX_SIGN + e] = f[X + i]
        f[PY_SIGN + e] = f[Y + i]
        f[PX_SPEED + e] = f[SIDE + i]
        f[PY_SPEED + e] = f[MARGIN + i]
        f[PX_ARM + e] = f[COS + i]
        f[PY_ARM + e] = f[SIN + i]
    for e in range(robots):
        side = f[PX_SPEED + e]
        margin = f[PY_SPEED + e]
        c = f[PX_ARM + e]
        s = f[PY_ARM + e]
        sign_x, room_x = nearer_wall(f[PX_SIGN + e], side)
        sign_y, room_y = nearer_wall(f[PY_SIGN + e], side)
        arm_x = support(sign_x, ZERO, c, s)
        arm_y = support(ZERO, sign_y, c, s)
        gap_x = room_x - arm_x
        gap_y = room_y - arm_y
        f[PX_SIGN + e] = sign_x
        f[PY_SIGN + e] = sign_y
        f[PX_SPEED + e] = wall_approach(gap_x, margin)
        f[PY_SPEED + e] = wall_approach(gap_y, margin)
        f[PX_ARM + e] = arm_x
        f[PY_ARM + e] = arm_y
        f[PX_PRESS + e] = f[PX_PRESS + e] if gap_x < margin else ZERO
        f[PX_RUB + e] = f[PX_RUB + e] if gap_x < margin else ZERO
        f[PY_PRESS + e] = f[PY_PRESS + e] if gap_y < margin else ZERO
        f[PY_RUB + e] = f[PY_RUB + e] if gap_y < margin else ZERO


@loop
def warm_start(b: Any, pairs: int, obstacles: int, robots: int) -> None:
    """Begin with the impulses of the last cycle: of contacts, then of drives."""
    f, n, p, m = b.f, b.n, b.p, b.m
    for e in range(pairs):
        fx = p[C_PRESS + e] * p[C_NX + e] - p[C_RUB + e] * p[C_NY + e]
        fy = p[C_PRESS + e] * p[C_NY + e] + p[C_RUB + e] * p[C_NX + e]
        m[C_FX + e] = fixed(fx)
        m[C_FY + e] = fixed(fy)
    scatter(n, m, pairs)
    apply(f, n, robots)
    for e in range(robots):
        f[P_VX + e] += f[P_JX + e] - (
            f[PX_SIGN + e] * f[PX_PRESS + e] - f[PY_SIGN + e] * f[PY_RUB + e]
        )
        f[P_VY + e] += f[P_JY + e] - (
            f[PX_SIGN + e] * f[PX_RUB + e] + f[PY_SIGN + e] * f[PY_PRESS + e]
        )
    for e in range(obstacles):
        contact = b.touching[e]
        i = b.touched[e, 0]
        f[P_VX + i] -= contact[3] * contact[0] - contact[4] * contact[1]
        f[P_VY + i] -= contact[3] * contact[1] + contact[4] * contact[0]


@loop
def scatter(n: Any, m: Any, pairs: int) -> None:
    """Add each pair's impulse to its two robots, in whole numbers."""
    for e in range(pairs):
        i = index(m[C_I + e])
        k = index(m[C_K + e])
        n[P_SUM_X + i] -= m[C_FX + e]
        n[P_SUM_Y + i] -= m[C_FY + e]
        n[P_SUM_X + k] += m[C_FX + e]
        n[P_SUM_Y + k] += m[C_FY + e]


@loop
def apply(f: Any, n: Any, robots: int) -> None:
    """Change the velocities by the impulses that were added up."""
    for e in range(robots):
        f[P_VX + e] += f32(n[P_SUM_X + e]) * FROM_FIXED
        f[P_VY + e] += f32(n[P_SUM_Y + e]) * FROM_FIXED
        n[P_SUM_X + e] = 0
        n[P_SUM_Y + e] = 0


@loop
def drives(f: Any, robots: int) -> None:
    """Let every drive pull towards its target with the force it has."""
    for e in range(robots):
        jx = f[P_JX + e]
        jy = f[P_JY + e]
        ax, ay = drive(jx, jy, f[P_TX + e] - f[P_VX + e], f[P_TY + e] - f[P_VY + e])
        f[P_VX + e] += ax - jx
        f[P_VY + e] += ay - jy
        f[P_JX + e] = ax
        f[P_JY + e] = ay


@loop
def push_pairs(b: Any, pairs: int) -> None:
    """Correct all pairs at once, each from the velocities before the sweep."""
    f, p, m = b.f, b.p, b.m
    for e in range(pairs):
        i = index(m[C_I + e])
        k = index(m[C_K + e])
        p[C_UX + e] = f[P_VX + i] - f[P_VX + k]
        p[C_UY + e] = f[P_VY + i] - f[P_VY + k]
        p[C_TURN + e] = f[P_TURN + i] + f[P_TURN + k]
    for e in range(pairs):
        nx = p[C_NX + e]
        ny = p[C_NY + e]
        ux = p[C_UX + e]
        uy = p[C_UY + e]
        share = p[C_SHARE + e]
        old_press = p[C_PRESS + e]
        old_rub = p[C_RUB + e]
        new_press = press(old_press, share, (ux * nx + uy * ny) - p[C_SPEED + e])
        sliding = (uy * nx - ux * ny) + p[C_ARM + e] * p[C_TURN + e]
        new_rub = rub(old_rub, share, sliding, FRICTION * new_press)
        p[C_PRESS + e] = new_press
        p[C_RUB + e] = new_rub
        dp = new_press - old_press
        dr = new_rub - old_rub
        m[C_FX + e] = fixed(dp * nx - dr * ny)
        m[C_FY + e] = fixed(dp * ny + dr * nx)
    scatter(b.n, m, pairs)


@loop
def walls(f: Any, robots: int) -> None:
    """Correct every robot at its nearer wall on each axis, x first."""
    for e in range(robots):
        vx = f[P_VX + e]
        vy = f[P_VY + e]
        turn = f[P_TURN + e]
        sign = f[PX_SIGN + e]
        pressed = press(f[PX_PRESS + e], ONE, sign * vx - f[PX_SPEED + e])
        sliding = sign * vy + f[PX_ARM + e] * turn
        rubbed = rub(f[PX_RUB + e], ONE, sliding, WALL_FRICTION * pressed)
        vx -= sign * (pressed - f[PX_PRESS + e])
        vy -= sign * (rubbed - f[PX_RUB + e])
        f[PX_PRESS + e] = pressed
        f[PX_RUB + e] = rubbed
        sign = f[PY_SIGN + e]
        pressed = press(f[PY_PRESS + e], ONE, sign * vy - f[PY_SPEED + e])
        sliding = f[PY_ARM + e] * turn - sign * vx
        rubbed = rub(f[PY_RUB + e], ONE, sliding, WALL_FRICTION * pressed)
        vx += sign * (rubbed - f[PY_RUB + e])
        vy -= sign * (pressed - f[PY_PRESS + e])
        f[PY_PRESS + e] = pressed
        f[PY_RUB + e] = rubbed
        f[P_VX + e] = vx
        f[P_VY + e] = vy


@loop
def push_obstacle(b: Any, e: int) -> None:
    """Correct one robot at one obstacle."""
    f = b.f
    i = b.touched[e, 0]
    contact = b.touching[e]
    nx, ny = contact[0], contact[1]
    vx, vy = f[P_VX + i], f[P_VY + i]
    pressed = press(contact[3], ONE, (vx * nx + vy * ny) - contact[2])
    sliding = (vy * nx - vx * ny) + contact[5] * f[P_TURN + i]
    rubbed = rub(contact[4], ONE, sliding, WALL_FRICTION * pressed)
    dp = pressed - contact[3]
    dr = rubbed - contact[4]
    f[P_VX + i] = vx - (dp * nx - dr * ny)
    f[P_VY + i] = vy - (dp * ny + dr * nx)
    contact[3] = pressed
    contact[4] = rubbed


@loop
def unpack(b: Any, pairs: int, obstacles: int, robots: int, cycle: int) -> None:
    """Put velocities, drives and impulses back where the next cycle looks for them."""
    f, n, p, m = b.f, b.n, b.p, b.m
    for e in range(robots):
        i = index(n[P_LANE + e])
        f[VX + i] = f[P_VX + e]
        f[VY + i] = f[P_VY + e]
        f[JX + i] = f[P_JX + e]
        f[JY + i] = f[P_JY + e]
        f[WALL_X_PRESS + i] = f[PX_PRESS + e]
        f[WALL_X_RUB + i] = f[PX_RUB + e]
        f[WALL_Y_PRESS + i] = f[PY_PRESS + e]
        f[WALL_Y_RUB + i] = f[PY_RUB + e]
        n[WALLED + i] = cycle
    for e in range(pairs):
        pair = index(m[C_PAIR + e])
        b.press[pair] = p[C_PRESS + e]
        b.rub[pair] = p[C_RUB + e]
        b.met[pair] = cycle
    for e in range(obstacles):
        place = b.touched[e, 1]
        b.blocks[2 * place] = b.touching[e, 3]
        b.blocks[2 * place + 1] = b.touching[e, 4]
        b.blocked[place] = cycle
