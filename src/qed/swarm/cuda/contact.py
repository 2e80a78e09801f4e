"""A cycle of motion on the GPU: robots that nothing touches glide, the others meet in sub-steps.

What a cycle begins with is a ``Body``.  ``world`` is the side of the arena (m), how far a cycle may
bring robots (m), where the trial's obstacles lie in shared memory, and a bit for each nearby one.
``memory`` is the GPU's: what pairs keep (``pushing``), and what a robot keeps at walls and
obstacles, an array and its place in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy import float32 as f32
from numpy import int32 as i32
from numpy import uint32 as u32

from qed.swarm.cuda import layout as L
from qed.swarm.cuda import obstacles, pushing, touching, walls
from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.walls import NO_POINT, touching_wall, wall_place, warm_wall
from qed.swarm.cuda.warp import ballot, in_phase, lowest, together
from qed.swarm.laws import contact as laws
from qed.swarm.laws import geometry, motion
from qed.swarm.laws.motion import DRIVE, LAG
from qed.swarm.robot import SUBSTEPS

cos_sin = device(geometry.cos_sin)
wrap = device(geometry.wrap)
pulled = device(laws.pulled)
excess = device(motion.excess)
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
    gear: Any  # the gear's impulse (rad/s)


@stage
def move(warp, body, wheels, world, near, memory, clock, with_obstacles):
    """Return a robot after a cycle of motion; ``near`` is the number of near pairs, and where."""
    side, margin, centres, nearby = world
    x, y, _, c, s, vx, vy, turn, _, _, _ = body
    tx, ty = target(wheels[0], wheels[1], c, s)
    turning = turn_rate(wheels[0], wheels[1])
    heading = wrap(body.heading + turned(turn, turning))
    c, s = cos_sin(heading)
    warp.si[L.PARTNERS + warp.me] = 0
    together()
    meeting = touching.close_pairs(warp, near[0], near[1], touching.TWO_OUTER + f32(2.0) * margin)
    together()
    reach = margin + touching.OUTER
    at_x = min(x, side - x) < reach
    at_y = min(y, side - y) < reach
    blocked = i32(0)
    if with_obstacles:
        blocked = obstacles.within_reach(warp.sf, x, y, obstacles.REACH + margin, centres, nearby)
    may_touch = at_x or at_y or warp.si[L.PARTNERS + warp.me] > 0 or blocked != 0
    # Robots that nothing touches go on with the old velocity, then with the new one.
    part = excess(tx - vx, ty - vy)
    free_x = within(x + LAG * (vx - part * (tx - vx)) + DRIVE * tx, side)
    free_y = within(y + LAG * (vy - part * (ty - vy)) + DRIVE * ty, side)
    in_phase()
    met = (x, y, vx, vy, body.jx, body.jy, body.gear)
    if ballot(warp, may_touch) != u32(0):
        touchable = (at_x, at_y, blocked, (meeting, near[1]))
        met = meet(
            warp, body, (tx, ty, turning), touchable, (side, centres), memory, clock,
            with_obstacles,
        )  # fmt: skip
    if not may_touch:
        met = (free_x, free_y, tx, ty, ZERO, ZERO, ZERO)
    x, y, vx, vy, jx, jy, gear = met
    return Body(x, y, heading, c, s, vx, vy, turning, jx, jy, gear)


@stage
def meet(warp, body, aim, touchable, room, memory, clock, with_obstacles):
    """Return place, velocity and impulses of a robot after the sub-steps of a cycle.

    ``aim`` is the velocity and the turn rate that it asks for; ``touchable`` tells whether it is
    near an x wall, a y wall, which obstacles, and which pairs are near; ``room`` is the arena's
    side and where its obstacles lie.
    """
    x, y, course, _, _, vx, vy, rate, jx, jy, gear = body
    tx, ty, turning = aim
    at_x, at_y, blocked, (meeting, listed) = touchable
    side, centres = room
    pairs_kept, (blocks, kept) = memory
    cycle, iterations = clock
    sf, si, me = warp.sf, warp.si, warp.me
    # A robot's wall is the y wall only if it is near no x wall; a second one is rare.
    wall = wall_place(kept, i32(0) if at_x else i32(1))
    second_wall = wall_place(kept, i32(1))
    one = two = next_one = next_two = NO_POINT
    sign = next_sign = ONE
    if at_x or at_y:
        one, two = walls.recall(blocks, wall, cycle)
    if at_x and at_y:
        next_one, next_two = walls.recall(blocks, second_wall, cycle)
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
        spin = rate + gear
        rate = turning
        contacts = i32(0)
        if meeting > 0:
            sf[L.X + me] = x
            sf[L.Y + me] = y
            sf[L.COS + me] = c
            sf[L.SIN + me] = s
            si[L.PARTNERS + me] = 0
            together()
            contacts = touching.touching_pairs(warp, meeting, listed, pairs_kept)
            together()
        pushed = pushing.NO_CONTACT
        if contacts > 0:
            pushed = pushing.find_all(warp, contacts, pairs_kept, step)
            together()
            vx, vy = pushing.take(si, me, vx, vy)
        held = i32(0)
        more = i32(0)
        block = obstacles.NO_BLOCK
        if with_obstacles:
            held = obstacles.within_reach(sf, x, y, obstacles.REACH, centres, blocked)
            held = obstacles.touching_obstacles(sf, (x, y, c, s), centres, held, blocks, kept, step)
            if held != 0:
                # The first obstacle stays with the robot's lane, others are rare.
                block = obstacles.block(blocks, obstacles.block_place(kept, lowest(held)))
                more = i32(held & (held - i32(1)))
                vx, vy, spin = obstacles.warm_obstacle(vx, vy, spin, block)
                vx, vy, spin = obstacles.warm_obstacles(vx, vy, spin, more, blocks, kept)
        touch = touch_too = False
        if at_x or at_y:
            sign, one, two = touching_wall(x if at_x else y, side, c, s, at_x, one, two)
            touch = one[0] >= ZERO or two[0] >= ZERO
        if touch:
            vx, vy, spin = warm_wall(vx, vy, spin, sign, at_x, one, two)
        if at_x and at_y:
            next_sign, next_one, next_two = touching_wall(y, side, c, s, False, next_one, next_two)
            touch_too = next_one[0] >= ZERO or next_two[0] >= ZERO
        if touch_too:
            vx, vy, spin = warm_wall(vx, vy, spin, next_sign, False, next_one, next_two)
        # All robots take as many iterations, whoever shares their warp, so that results do not
        # depend on that; where nothing is touched, only drives take part.
        sweep = i32(0)
        while sweep < iterations:
            if contacts > 0:
                sf[L.VX + me] = vx
                sf[L.VY + me] = vy
                together()
                pushed = pushing.push_all(warp, contacts, pairs_kept, pushed)
                together()
                vx, vy = pushing.take(si, me, vx, vy)
            if with_obstacles:
                if held != 0:
                    vx, vy, spin, block = obstacles.hold_at(vx, vy, spin, block)
                    vx, vy, spin = obstacles.hold_at_obstacles(vx, vy, spin, more, blocks, kept)
            if touch:
                vx, vy, spin, one, two = walls.hold_corners(vx, vy, spin, sign, at_x, one, two)
            if touch_too:
                vx, vy, spin, next_one, next_two = walls.hold_corners(
                    vx, vy, spin, next_sign, False, next_one, next_two
                )
            vx, vy, jx, jy, gear = pulled(vx, vy, spin, jx, jy, gear, tx, ty, turning)
            spin = turning
            sweep = i32(sweep + i32(1))
        if with_obstacles:
            if held != 0:
                obstacles.note(blocks, obstacles.block_place(kept, lowest(held)), block)
        pushing.keep_all(warp, contacts, pairs_kept, step, pushed)
        together()
        k = i32(k + i32(1))
    if at_x or at_y:
        walls.keep(blocks, wall, one, two, cycle)
    if at_x and at_y:
        walls.keep(blocks, second_wall, next_one, next_two, cycle)
    return x, y, vx, vy, jx, jy, gear
