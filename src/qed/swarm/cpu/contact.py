"""A cycle of motion: robots that nothing touches glide, the others meet in sub-steps.

In a sub-step bodies move, touch, and then push: all pairs of robots at once from the same
velocities (Jacobi), with impulses added up as whole numbers, so that no order of robots or pairs
matters; then obstacles and walls, one after the other for each robot; then drives pull.
"""

from __future__ import annotations

from typing import Any

from numpy import float32 as f32

from qed.compile import loop
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import index
from qed.swarm.cpu.candidates import near_obstacles, near_robots, near_walls, places
from qed.swarm.cpu.motion import glide, turn
from qed.swarm.cpu.obstacles import hold_at_obstacles, touch_obstacles
from qed.swarm.cpu.pushing import keep_pairs, push_pairs, take, touching_pairs, warm_pairs
from qed.swarm.cpu.walls import (
    X_AXES,
    Y_AXES,
    hold_at_x_wall,
    hold_at_x_wall_and_pull,
    hold_at_y_wall_and_pull,
    keep_corners,
    pull,
    recall_corners,
    touch_walls,
)
from qed.swarm.laws.contact import ITERATIONS
from qed.swarm.laws.geometry import cos_sin, wrap
from qed.swarm.laws.motion import LAG, within
from qed.swarm.robot import SUBSTEPS

ONE = f32(1.0)
# Globals of this module: Numba compiles a function that gets one for this very number, which an
# attribute of ``L`` would not do, and only then its loops become vector code.
P_WALL_X, KEPT_X, WALLED_X = L.P_WALL_X, L.KEPT_X, L.WALLED_X
P_WALL_Y, KEPT_Y, WALLED_Y = L.P_WALL_Y, L.KEPT_Y, L.WALLED_Y


@loop
def move(b: Any, lanes: int, near: int, cycle: int) -> None:
    """Let a cycle of motion pass."""
    f, n = b.f, b.n
    near_walls(b, lanes)
    pairs = near_robots(b, near, cycle)
    obstacles = near_obstacles(b, cycle)
    at_x, both, x_stop, at_y, y_stop, robots = places(b, lanes, pairs, obstacles)
    pack(f, n, robots)
    turn(f, lanes)
    aim(f, n, robots)
    glide(f, lanes)
    if robots == 0:
        return
    recall_corners(f, n, P_WALL_X, KEPT_X, WALLED_X, 0, x_stop, cycle)
    recall_corners(f, n, P_WALL_Y, KEPT_Y, WALLED_Y, both, y_stop, cycle)
    for _ in range(SUBSTEPS):
        advance(f, robots)
        touching = 0
        if pairs > 0:
            touching = touching_pairs(b, pairs, robots)
        if touching > 0:
            warm_pairs(b, touching)
            take(f, b.sums, at_x, at_y)
            take(f, b.sums, y_stop, robots)
        if obstacles > 0:
            touch_obstacles(b, obstacles)
        touch_walls(f, P_WALL_X, X_AXES, ONE, 0, x_stop)
        touch_walls(f, P_WALL_Y, Y_AXES, -ONE, both, y_stop)
        for _ in range(ITERATIONS):
            if touching > 0:
                push_pairs(b, touching)
                take(f, b.sums, at_x, at_y)
                take(f, b.sums, y_stop, robots)
            if obstacles > 0:
                hold_at_obstacles(b, obstacles)
            hold_at_x_wall_and_pull(f, 0, both)
            hold_at_x_wall(f, both, x_stop)
            hold_at_y_wall_and_pull(f, both, y_stop)
            pull(f, y_stop, robots)
        keep_pairs(b.p, b.m, touching)
    unpack(b, pairs, obstacles, robots, cycle)
    keep_corners(f, n, P_WALL_X, KEPT_X, 0, x_stop)
    keep_corners(f, n, P_WALL_Y, KEPT_Y, both, y_stop)


@loop
def pack(f: Any, n: Any, robots: int) -> None:
    """Lay the robots that may touch something side by side, as they are before the cycle."""
    for e in range(robots):
        i = index(n[L.P_LANE + e])
        f[L.P_X + e] = f[L.X + i]
        f[L.P_Y + e] = f[L.Y + i]
        f[L.P_HEADING + e] = f[L.HEADING + i]
        f[L.P_VX + e] = f[L.VX + i]
        f[L.P_VY + e] = f[L.VY + i]
        f[L.P_JX + e] = f[L.JX + i]
        f[L.P_JY + e] = f[L.JY + i]
        f[L.P_RATE + e] = f[L.TURN + i]
        f[L.P_GEAR + e] = f[L.GEAR + i]
        f[L.P_SIDE + e] = f[L.SIDE + i]


@loop
def aim(f: Any, n: Any, robots: int) -> None:
    """Lay out the velocity and the turn rate that robots ask for."""
    for e in range(robots):
        i = index(n[L.P_LANE + e])
        f[L.P_TX + e] = f[L.TX + i]
        f[L.P_TY + e] = f[L.TY + i]
        f[L.P_TURN + e] = f[L.TURN + i]


@loop
def advance(f: Any, robots: int) -> None:
    """Move with the velocities of the last sub-step, and give them the impulses of drive and gear.

    The gear is solved exactly, so the spin of the last sub-step is the rate asked for then.
    """
    for e in range(robots):
        vx = f[L.P_VX + e]
        vy = f[L.P_VY + e]
        rate = f[L.P_RATE + e]
        side = f[L.P_SIDE + e]
        heading = wrap(f[L.P_HEADING + e] + LAG * rate)
        c, s = cos_sin(heading)
        f[L.P_X + e] = within(f[L.P_X + e] + LAG * vx, side)
        f[L.P_Y + e] = within(f[L.P_Y + e] + LAG * vy, side)
        f[L.P_HEADING + e] = heading
        f[L.P_COS + e] = c
        f[L.P_SIN + e] = s
        f[L.P_VX + e] = vx + f[L.P_JX + e]
        f[L.P_VY + e] = vy + f[L.P_JY + e]
        f[L.P_SPIN + e] = rate + f[L.P_GEAR + e]
        f[L.P_RATE + e] = f[L.P_TURN + e]


@loop
def unpack(b: Any, pairs: int, obstacles: int, robots: int, cycle: int) -> None:
    """Put places, velocities and impulses where the next cycle looks for them."""
    f, n, p, m = b.f, b.n, b.p, b.m
    for e in range(robots):
        i = index(n[L.P_LANE + e])
        f[L.X + i] = f[L.P_X + e]
        f[L.Y + i] = f[L.P_Y + e]
        f[L.VX + i] = f[L.P_VX + e]
        f[L.VY + i] = f[L.P_VY + e]
        f[L.JX + i] = f[L.P_JX + e]
        f[L.JY + i] = f[L.P_JY + e]
        f[L.GEAR + i] = f[L.P_GEAR + e]
    for e in range(pairs):
        pair = index(m[L.C_PAIR + e])
        for j in range(4):
            b.presses[pair, j] = p[L.C_KEPT + 4 * e + j]
        b.met[pair] = cycle
    for e in range(obstacles):
        place = b.touched[e, 1]
        b.blocks[2 * place] = b.touching[e, L.O_PRESS]
        b.blocks[2 * place + 1] = b.touching[e, L.O_RUB]
        b.blocked[place] = cycle
