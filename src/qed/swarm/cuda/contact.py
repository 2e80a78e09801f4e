"""A cycle of motion on the GPU: robots that nothing touches glide, the others meet in sub-steps.

What a cycle begins with is a ``Body``.  ``room`` is the side of the arena (m), how far a cycle may
bring robots (m), where the trial's obstacles lie in shared memory, and a bit for each nearby one.
``memory`` is the GPU's: what pairs keep (``pushing``), and what a robot keeps at walls and
obstacles, an array and its place in it.
"""

from typing import Any, NamedTuple

from numpy import float32 as f32
from numpy import int32 as i32
from numpy import uint32 as u32

from qed.swarm.cuda import layout as L
from qed.swarm.cuda import pairs, pushing, statics
from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.warp import ballot, in_phase, together
from qed.swarm.laws import contact as laws
from qed.swarm.laws import geometry, motion
from qed.swarm.laws.motion import DRIVE, LAG, MANY_IMPULSES
from qed.swarm.robot import SUBSTEPS

cos_sin = device(geometry.cos_sin)
wrap = device(geometry.wrap)
solve_drive = device(laws.solve_drive)
excess = device(motion.excess)
still_missing = device(motion.still_missing)
target = device(motion.target)
turn_rate = device(motion.turn_rate)
turned = device(motion.turned)
within = device(motion.within)

ZERO = f32(0.0)
ONE = f32(1.0)


class Body(NamedTuple):
    """A robot between two cycles."""

    x: Any  # m
    y: Any
    heading: Any  # rad
    c: Any  # its cosine and sine
    s: Any
    vx: Any  # m/s
    vy: Any
    turn: Any  # rad/s
    jx: Any  # the drive's impulse (m/s)
    jy: Any
    angular_drive: Any  # the angular drive's impulse (rad/s)


@stage
def move(warp, body, wheels, room, near, memory, clock, with_obstacles):
    """Return a robot after a cycle of motion; ``near`` is the number of near pairs, and where."""
    side, margin, centres, nearby = room
    x, y, _, c, s, vx, vy, turn, _, _, _ = body
    tx, ty = target(wheels[0], wheels[1], c, s)
    turning = turn_rate(wheels[0], wheels[1])
    heading = wrap(body.heading + turned(turn, turning))
    c, s = cos_sin(heading)
    warp.si[L.PARTNERS + warp.me] = 0
    together()
    meeting = pairs.close_pairs(warp, near[0], near[1], pairs.TWO_OUTER + f32(2.0) * margin)
    together()
    reach = margin + pairs.OUTER
    at_x = min(x, side - x) < reach
    at_y = min(y, side - y) < reach
    blocked = i32(0)
    if with_obstacles:
        blocked = statics.within_reach(warp.sf, x, y, statics.REACH + margin, centres, nearby)
    may_touch = at_x or at_y or warp.si[L.PARTNERS + warp.me] > 0 or blocked != 0
    # Robots that nothing touches go on with the old velocity, then with the new one.
    part = excess(tx - vx, ty - vy)
    free_x = x + LAG * (vx - part * (tx - vx))
    free_y = y + LAG * (vy - part * (ty - vy))
    free_vx = tx
    free_vy = ty
    if MANY_IMPULSES:
        late, part = still_missing(tx - vx, ty - vy)
        free_x -= LAG * late * (tx - vx)
        free_y -= LAG * late * (ty - vy)
        free_vx -= part * (tx - vx)
        free_vy -= part * (ty - vy)
    free_x = within(free_x + DRIVE * tx, side)
    free_y = within(free_y + DRIVE * ty, side)
    in_phase()
    met = (x, y, vx, vy, body.jx, body.jy, body.angular_drive)
    if ballot(warp, may_touch) != u32(0):
        touchable = (at_x, at_y, blocked, (meeting, near[1]))
        met = meet(
            warp, body, (tx, ty, turning), touchable, (side, centres), memory, clock,
            with_obstacles,
        )  # fmt: skip
    if not may_touch:
        met = (free_x, free_y, free_vx, free_vy, ZERO, ZERO, ZERO)
    x, y, vx, vy, jx, jy, angular_drive = met
    return Body(x, y, heading, c, s, vx, vy, turning, jx, jy, angular_drive)


@stage
def meet(warp, body, aim, touchable, room, memory, clock, with_obstacles):
    """Return place, velocity and impulses of a robot after the sub-steps of a cycle.

    ``aim`` is the velocity and the turn rate that it asks for; ``touchable`` is whether it is
    near an x wall, a y wall, which obstacles, and which pairs are near; ``room`` is the arena's
    side and where its obstacles lie.
    """
    x, y, course, _, _, vx, vy, rate, jx, jy, angular_drive = body
    tx, ty, turning = aim
    at_x, at_y, blocked, (meeting, listed) = touchable
    side, centres = room
    pairs_kept, (kept_statics, kept) = memory
    cycle, iterations = clock
    sf, si, me = warp.sf, warp.si, warp.me
    # A robot's wall is the y wall only if it is near no x wall; a second one is rare.
    wall = statics.wall_place(kept, i32(0) if at_x else i32(1))
    second_wall = statics.wall_place(kept, i32(1))
    one = two = statics.NO_POINT
    normal = (ZERO, ZERO)
    if at_x or at_y:
        one, two = statics.recall(kept_statics, wall, cycle)
    if at_x and at_y:
        statics.begin_second_wall(sf, me, kept_statics, second_wall, cycle)
    sf[L.TURN + me] = turning
    si[L.SUM_X + me] = 0
    si[L.SUM_Y + me] = 0
    k = i32(1)
    while k <= i32(SUBSTEPS):
        # Sub-steps are counted anew before a float could not tell them apart.
        step = f32((i32(SUBSTEPS) * cycle + k) & i32(0xFFFFF))
        course = wrap(course + LAG * rate)
        c, s = cos_sin(course)
        x = within(x + LAG * vx, side)
        y = within(y + LAG * vy, side)
        vx += jx
        vy += jy
        spin = rate + angular_drive
        rate = turning
        contacts = i32(0)
        if meeting > 0:
            sf[L.X + me] = x
            sf[L.Y + me] = y
            sf[L.COS + me] = c
            sf[L.SIN + me] = s
            si[L.PARTNERS + me] = 0
            together()
            contacts = pairs.touching_pairs(warp, meeting, listed, pairs_kept)
            together()
        pushed = pushing.NO_CONTACT
        if contacts > 0:
            pushed = pushing.prepare_all(warp, contacts, pairs_kept, step)
            together()
            vx, vy = pushing.apply_impulses(si, me, vx, vy)
        touch = touch_too = False
        if at_x or at_y:
            sign, one, two = statics.touching_wall(x if at_x else y, side, c, s, at_x, one, two)
            normal = statics.wall_normal(sign, at_x)
            touch = one[0] >= ZERO or two[0] >= ZERO
        others = i32(0)
        if with_obstacles:
            normal, one, others = statics.touching_obstacles(
                sf, (x, y, c, s), centres, blocked, (kept_statics, kept), step, touch, normal, one
            )
            touch = touch or one[0] >= ZERO
            vx, vy, spin = statics.warm_start_obstacles((vx, vy, spin), others, kept_statics, kept)
        if touch:
            vx, vy, spin = statics.warm_start((vx, vy, spin), normal, one, two)
        if at_x and at_y:
            touch_too, vx, vy, spin = statics.touch_second_wall(
                (y, side, c, s), (vx, vy, spin), sf, me
            )
        # All robots take as many iterations, whoever shares their warp, so that results
        # do not depend on that; where nothing is touched, only drives take part.
        sweep = i32(0)
        while sweep < iterations:
            if contacts > 0:
                sf[L.VX + me] = vx
                sf[L.VY + me] = vy
                together()
                pushed = pushing.solve_all(warp, contacts, pairs_kept, pushed)
                together()
                vx, vy = pushing.apply_impulses(si, me, vx, vy)
            if with_obstacles:
                vx, vy, spin = statics.solve_obstacles((vx, vy, spin), others, kept_statics, kept)
            if touch:
                vx, vy, spin, one, two = statics.solve_corners((vx, vy, spin), normal, one, two)
            if touch_too:
                vx, vy, spin = statics.solve_second_wall((vx, vy, spin), y, side, sf, me)
            vx, vy, jx, jy, angular_drive = solve_drive(
                vx, vy, spin, jx, jy, angular_drive, tx, ty, turning
            )
            spin = turning
            sweep = i32(sweep + i32(1))
        if with_obstacles:
            statics.keep_obstacle(kept_statics, kept, one, step)
        pushing.store_all(warp, contacts, pairs_kept, step, pushed)
        together()
        k = i32(k + i32(1))
    if at_x or at_y:
        statics.store(kept_statics, wall, one, two, cycle)
    if at_x and at_y:
        statics.store_second_wall(sf, me, kept_statics, second_wall, cycle)
    return x, y, vx, vy, jx, jy, angular_drive
