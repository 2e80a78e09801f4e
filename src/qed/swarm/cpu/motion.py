"""A cycle of motion: robots that nothing touches glide, the others meet in sub-steps.

Only robots that may touch something (``candidates.py``) are solved in sub-steps; all others glide
in one step, which is the same motion.  In a sub-step bodies move, then contacts are found, then
solved (``laws/contact.py``): all pairs of robots at once, then obstacles and walls, one after the
other for each robot, then drives.
"""

from typing import Any

from numpy import float32 as f32

from qed.compile import loop
from qed.swarm.cpu import candidates, pushing, statics
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import index
from qed.swarm.cpu.statics import X_AXES, Y_AXES
from qed.swarm.laws import motion
from qed.swarm.laws.contact import ITERATIONS
from qed.swarm.laws.geometry import cos_sin, wrap
from qed.swarm.laws.motion import DRIVE, LAG, MANY_IMPULSES, within
from qed.swarm.robot import SUBSTEPS

ZERO = f32(0.0)
ONE = f32(1.0)
# Globals of this module: Numba compiles a function that gets one for this very number, which an
# attribute of ``L`` would not do, and only then its loops become vector code.
P_WALL_X, KEPT_X, WALLED_X = L.P_WALL_X, L.KEPT_X, L.WALLED_X
P_WALL_Y, KEPT_Y, WALLED_Y = L.P_WALL_Y, L.KEPT_Y, L.WALLED_Y
P_PLACES, P_X, P_Y = L.P_PLACES, L.P_X, L.P_Y
P_HEADINGS, P_COS, P_SIN = L.P_HEADINGS, L.P_COS, L.P_SIN
P_VELOCITIES, P_VX, P_VY = L.P_VELOCITIES, L.P_VX, L.P_VY


@loop
def wear(b: Any, s: int, cycle: int) -> None:
    """Take from a segment's commands what its wheels have lost after so many cycles."""
    f = b.f
    first = index(b.segments[s, L.FIRST])
    for i in range(first, first + index(b.segments[s, L.SIZE])):
        left = motion.worn(f[L.WEAR + i], cycle)
        f[L.LEFT + i] *= left
        f[L.RIGHT + i] *= left


@loop
def move(b: Any, lanes: int, near: int, cycle: int) -> None:
    """Let a cycle of motion pass."""
    f, n = b.f, b.n
    candidates.near_walls(b, lanes)
    pairs = candidates.near_robots(b, near, cycle)
    obstacles = candidates.near_obstacles(b, cycle)
    at_x, both, x_stop, at_y, y_stop, robots = candidates.places(b, lanes, pairs, obstacles)
    pack(f, n, robots)
    turn(f, lanes)
    aim(f, n, robots)
    glide(f, lanes)
    if robots == 0:
        return
    statics.recall_corners(f, n, P_WALL_X, KEPT_X, WALLED_X, 0, x_stop, cycle)
    statics.recall_corners(f, n, P_WALL_Y, KEPT_Y, WALLED_Y, both, y_stop, cycle)
    touching = 0
    for _ in range(SUBSTEPS):
        advance(f, robots)
        if pairs > 0:
            pushing.lay_out(f, P_PLACES, P_X, P_Y, at_x, robots)
            pushing.lay_out(f, P_HEADINGS, P_COS, P_SIN, at_x, robots)
            touching = pushing.touching_pairs(b, pairs, robots)
        if touching > 0:
            pushing.warm_start_pairs(b, touching)
            pushing.apply_impulses(f, b.sums, at_x, at_y)
            pushing.apply_impulses(f, b.sums, y_stop, robots)
        if obstacles > 0:
            statics.touch_obstacles(b, obstacles)
        statics.touch_walls(f, P_WALL_X, X_AXES, ONE, 0, x_stop)
        statics.touch_walls(f, P_WALL_Y, Y_AXES, -ONE, both, y_stop)
        for iteration in range(ITERATIONS):
            if touching > 0:
                pushing.lay_out(f, P_VELOCITIES, P_VX, P_VY, at_x, at_y)
                pushing.lay_out(f, P_VELOCITIES, P_VX, P_VY, y_stop, robots)
                pushing.solve_pairs(b, touching)
                pushing.apply_impulses(f, b.sums, at_x, at_y)
                pushing.apply_impulses(f, b.sums, y_stop, robots)
            if obstacles > 0:
                statics.solve_obstacles(b, obstacles)
            statics.solve_x_walls_and_drives(f, 0, both)
            statics.solve_x_walls(f, both, x_stop)
            statics.solve_y_walls_and_drives(f, both, y_stop)
            if iteration == 0 or obstacles > 0:
                statics.solve_drives(f, y_stop, robots)
            else:
                statics.solve_free_drives(f, y_stop, robots)
        pushing.store_pairs(b.p, b.m, touching)
    pushing.keep_pairs(b, touching, cycle)
    unpack(b, obstacles, robots, cycle)
    statics.store_corners(f, n, P_WALL_X, KEPT_X, 0, x_stop)
    statics.store_corners(f, n, P_WALL_Y, KEPT_Y, both, y_stop)


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
        f[L.P_ANGULAR_DRIVE + e] = f[L.ANGULAR_DRIVE + i]
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
    """Move with the velocities of the last sub-step, and give them the impulses of their drives.

    The angular drive is solved exactly, so the spin of the last sub-step is the rate asked for
    then.
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
        f[L.P_SPIN + e] = rate + f[L.P_ANGULAR_DRIVE + e]
        f[L.P_RATE + e] = f[L.P_TURN + e]


@loop
def unpack(b: Any, obstacles: int, robots: int, cycle: int) -> None:
    """Put places, velocities and impulses where the next cycle looks for them."""
    f, n = b.f, b.n
    for e in range(robots):
        i = index(n[L.P_LANE + e])
        f[L.X + i] = f[L.P_X + e]
        f[L.Y + i] = f[L.P_Y + e]
        f[L.VX + i] = f[L.P_VX + e]
        f[L.VY + i] = f[L.P_VY + e]
        f[L.JX + i] = f[L.P_JX + e]
        f[L.JY + i] = f[L.P_JY + e]
        f[L.ANGULAR_DRIVE + i] = f[L.P_ANGULAR_DRIVE + e]
    for e in range(obstacles):
        place = b.obstacle_places[e, 1]
        b.obstacle_impulse[2 * place] = b.obstacle_contacts[e, L.O_NORMAL_IMPULSE]
        b.obstacle_impulse[2 * place + 1] = b.obstacle_contacts[e, L.O_TANGENT_IMPULSE]
        b.obstacle_step[place] = cycle


@loop
def turn(f: Any, lanes: int) -> None:
    """Remember the pose, find the velocity that is asked for, and turn."""
    for i in range(lanes):
        f[L.OLD_X + i] = f[L.X + i]
        f[L.OLD_Y + i] = f[L.Y + i]
        f[L.OLD_HEADING + i] = f[L.HEADING + i]
        f[L.OLD_COS + i] = f[L.COS + i]
        f[L.OLD_SIN + i] = f[L.SIN + i]
    for i in range(lanes):
        tx, ty = motion.target(f[L.LEFT + i], f[L.RIGHT + i], f[L.COS + i], f[L.SIN + i])
        f[L.TX + i] = tx
        f[L.TY + i] = ty
    for i in range(lanes):
        rate = motion.turn_rate(f[L.LEFT + i], f[L.RIGHT + i])
        heading = wrap(f[L.HEADING + i] + motion.turned(f[L.TURN + i], rate))
        c, s = cos_sin(heading)
        f[L.HEADING + i] = heading
        f[L.COS + i] = c
        f[L.SIN + i] = s
        f[L.TURN + i] = rate


@loop
def glide(f: Any, lanes: int) -> None:
    """Move every robot as if nothing touched it: with the old velocity, then with the new one.

    What one impulse of the drive cannot change of the velocity takes more sub-steps.
    """
    for i in range(lanes):
        vx = f[L.VX + i]
        vy = f[L.VY + i]
        tx = f[L.TX + i]
        ty = f[L.TY + i]
        side = f[L.SIDE + i]
        part = motion.excess(tx - vx, ty - vy)
        x = f[L.X + i] + LAG * (vx - part * (tx - vx))
        y = f[L.Y + i] + LAG * (vy - part * (ty - vy))
        if MANY_IMPULSES:
            late, part = motion.still_missing(tx - vx, ty - vy)
            x -= LAG * late * (tx - vx)
            y -= LAG * late * (ty - vy)
        f[L.X + i] = within(x + DRIVE * tx, side)
        f[L.Y + i] = within(y + DRIVE * ty, side)
        if MANY_IMPULSES:
            tx -= part * (tx - vx)
            ty -= part * (ty - vy)
        f[L.VX + i] = tx
        f[L.VY + i] = ty
        f[L.JX + i] = ZERO
        f[L.JY + i] = ZERO
        f[L.ANGULAR_DRIVE + i] = ZERO
