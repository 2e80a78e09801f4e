"""The kernel: one cycle after the other, top to bottom, for a block of warps."""

from __future__ import annotations

import math
from functools import cache
from types import FunctionType
from typing import Any

from numba import cuda, float32, int32
from numpy import float32 as f32
from numpy import int32 as i32
from numpy import int64 as i64
from numpy import uint32 as u32

from qed.definitions import digest_of
from qed.swarm.cuda import contact, sensing, tally
from qed.swarm.cuda.brain import think
from qed.swarm.cuda.device import device, launchable
from qed.swarm.cuda.layout import (
    AMPLITUDE,
    BLOCK_FIELDS,
    CENTRES,
    COS,
    F_AMPLITUDE,
    F_DEAF_FROM,
    F_GAIN,
    F_HIT,
    F_LEFT,
    F_OFFSET,
    F_RIGHT,
    FIRST,
    GAIN,
    KEPT,
    L_FINE,
    L_MARGIN,
    L_NEAR2,
    L_NOISE,
    L_OBSTACLES,
    L_RAB,
    L_RAB2,
    L_RANGE,
    L_SIDE,
    L_SPEED,
    LANES,
    N_FIRST,
    N_LINK,
    N_LIVE,
    N_STOP,
    OFFSET,
    PARTNERS,
    S_CENTRE,
    S_FLOCK,
    S_NEAREST,
    S_RADIUS,
    SIN,
    SUM_X,
    SUM_Y,
    SUMS,
    TURN,
    VX,
    VY,
    W_BLOCKS,
    W_CENTRES,
    W_CONTACTS,
    W_COUNTS,
    W_FAULTS,
    W_LIMITS,
    W_LISTED,
    W_NEAR,
    W_NETWORK,
    W_OBSTACLES,
    W_OUT,
    W_PAIRS,
    W_PATROL,
    W_PLACE,
    W_ROBOTS,
    W_TRIALS,
    W_WORK,
    WALL_FIELDS,
    X,
    Y,
)
from qed.swarm.cuda.listening import clear_cones, listen, scale_cones, weaken_cones
from qed.swarm.cuda.obstacles import (
    NO_BLOCK,
    REACH,
    block,
    block_place,
    hold_at,
    hold_at_obstacles,
    note,
    touching_obstacles,
    warm_obstacle,
    warm_obstacles,
    within_reach,
)
from qed.swarm.cuda.own import adding
from qed.swarm.cuda.pairs import has_come_far, list_pairs, sort_out
from qed.swarm.cuda.places import rows_of
from qed.swarm.cuda.walls import (
    NO_POINT,
    hold_corners,
    recall,
    touching_wall,
    wall_place,
    warm_wall,
)
from qed.swarm.cuda.walls import keep as keep_wall
from qed.swarm.cuda.warp import at, ballot, in_phase, lowest, together
from qed.swarm.laws import contact as contact_laws
from qed.swarm.laws import geometry, motion
from qed.swarm.laws.motion import DRIVE, LAG
from qed.swarm.laws.scoring import GRID
from qed.swarm.measures import (
    AGGREGATION,
    DISPERSION,
    FEATURES,
    FLOCKING,
    OTHERS,
    PAIRED,
    PATROLLING,
    SITUATIONS,
    SPEEDS,
    VISITS,
)
from qed.swarm.own import Law
from qed.swarm.robot import CYCLE, FRONT_SENSORS, SUBSTEPS

cos_sin = device(geometry.cos_sin)
wrap = device(geometry.wrap)
pulled = device(contact_laws.pulled)
excess = device(motion.excess)
target = device(motion.target)
turn_rate = device(motion.turn_rate)
turned = device(motion.turned)
within = device(motion.within)

PROXIMITY_BITS = (1 << 7) - 1
FRONT_BITS = (1 << FRONT_SENSORS) - 1
FLUSH = 2000  # cycles after which counts go to the GPU's memory
PER_CYCLE = f32(1.0 / CYCLE)
ZERO = f32(0.0)
ONE = f32(1.0)
NOWHERE = f32(500.0)
REGISTERS = 128  # of a thread: four warps fit a quarter of an SM, and hardly anything spills
SLACK = f32(0.005)  # m, for rounding
SHORT = f32(0.99)  # of a squared way, for rounding
AHEAD = f32(1.0)  # s; pairs are listed that may meet while no robot drives longer


@cache
def kernel(
    wants: int,
    with_obstacles: bool,
    with_faults: bool,
    with_deaf: bool,
    with_odd: bool = False,
    laws: tuple[Law, ...] = (),
) -> Any:
    """Return the kernel that adds up what is wanted, and knows what is asked of it.

    What is not wanted is not compiled, and few loops are unrolled: a GPU holds little code.
    """
    neuron_place = rows_of(with_faults) * LANES
    patrols = bool(wants & PATROLLING)
    counts = bool(wants & SITUATIONS)
    need_others = bool(wants & (DISPERSION | FEATURES | OTHERS))
    need_speed = bool(wants & (FLOCKING | FEATURES | SPEEDS))
    paired = bool(wants & PAIRED)
    own = bool(laws)
    nothing_yet = (f32(0.0),) * max(len(laws), 1)
    columns = SUMS + len(laws)

    def run(warps, limits, poses, keys, faults, centres, networks, tables, kept, blocks, sums,
            visits, spirit, count, cycles, stride, iterations, links, fine_cells):  # fmt: skip
        sf = cuda.shared.array(0, float32)
        si = cuda.shared.array(0, int32)
        lane = i32(i32(cuda.threadIdx.x) & i32(31))
        number = i32(i32(cuda.threadIdx.x) >> i32(5))
        base = i32(number * stride)
        me = at(base + lane)
        before = u32((u32(1) << u32(lane)) - u32(1))
        there = i32(cuda.blockIdx.x) * i32(cuda.blockDim.x >> 5) + number
        if there >= count:  # a warp too many, in the last block
            return
        w = at(there)
        robots = warps[w, W_ROBOTS]
        trials = warps[w, W_TRIALS]
        trial = i32(lane // robots)
        robot = i32(lane - trial * robots)
        first = i32(lane - robot)
        active = trial < trials
        place = at(warps[w, W_PLACE] + (lane if active else i32(0)))
        out = at(warps[w, W_OUT] + (trial if active else i32(0)))
        network = at(warps[w, W_NETWORK])
        limit = at(warps[w, W_LIMITS])
        side = limits[limit, L_SIDE] if active else f32(2.0) * NOWHERE
        obstacles = i32(limits[limit, L_OBSTACLES])
        fault = at(warps[w, W_FAULTS] + robot) if active else at(warps[w, W_FAULTS])
        blocks_kept = i32(warps[w, W_BLOCKS] + lane)
        # Obstacles of each trial: x and y, one after the other.
        centre_place = i32(base + warps[w, W_CENTRES])
        obstacle = i32(centre_place + (trial if active else i32(0)) * (obstacles + obstacles))
        key = keys[place]
        x = poses[place, 0] if active else NOWHERE
        y = poses[place, 1] if active else NOWHERE
        heading = poses[place, 2]
        c = poses[place, 3]
        s = poses[place, 4]
        vx = vy = turn = jx = jy = left = right = ZERO
        gear = ZERO
        pairs = i32(0)
        near = i32(0)
        centre_sum = nearest_sum = flock_sum = radius_sum = ZERO
        own_sums = nothing_yet
        inner = i64(0)
        border = i64(0)
        fine = i32(-1)
        own_cells = i32(i32(out) * fine_cells)
        since = i32(0)
        nearby = i32(i32(i32(1) << obstacles) - i32(1)) if active else i32(0)
        si[FIRST + me] = first
        si[CENTRES + me] = obstacle
        if with_obstacles:
            e = i32(lane)
            while e < trials * obstacles:
                from_ = at(warps[w, W_OBSTACLES] + e)
                sf[at(centre_place + e + e)] = centres[from_, 0]
                sf[at(centre_place + e + e) + 1] = centres[from_, 1]
                e = i32(e + i32(LANES))
        if with_faults:
            sf[GAIN + me] = faults[fault, F_GAIN]
            sf[AMPLITUDE + me] = faults[fault, F_AMPLITUDE]
            sf[OFFSET + me] = faults[fault, F_OFFSET]
        # Begin with nothing kept and nothing counted.
        e = i32(lane)
        while e < i32(KEPT * LANES) * (robots // i32(2)):
            kept[at(warps[w, W_PAIRS] + e)] = f32(-1.0)
            e = i32(e + i32(LANES))
        e = i32(0)
        while e < i32(2 * WALL_FIELDS) + obstacles * i32(BLOCK_FIELDS):
            blocks[at(blocks_kept + e * i32(LANES))] = f32(-1.0)
            e = i32(e + i32(1))
        if active and robot == 0:
            for column in range(columns):
                sums[out, column] = 0.0
        if wants & VISITS:
            e = i32(lane)
            while e < trials * fine_cells:
                visits[at(warps[w, W_OUT] * fine_cells + e)] = 0
                e = i32(e + i32(LANES))
        e = i32(i32(neuron_place) + lane)
        while e < warps[w, W_LISTED]:  # neurons
            si[at(base + e)] = 0
            e = i32(e + i32(LANES))
        e = i32(warps[w, W_COUNTS] + lane)
        while e < warps[w, W_CENTRES]:  # situations and cells
            si[at(base + e)] = 0
            e = i32(e + i32(LANES))
        cycle = i32(1)
        while cycle <= cycles:
            together()
            # Who may touch something in this cycle?  What a warp needs only here or there is read
            # anew: registers are scarce.
            old_x, old_y, old_heading, old_c, old_s = x, y, heading, c, s
            tx, ty = target(left, right, c, s)
            turning = turn_rate(left, right)
            heading = wrap(heading + turned(turn, turning))
            c, s = cos_sin(heading)
            top_speed = limits[limit, L_SPEED]
            margin = limits[limit, L_MARGIN]
            near_place = i32(base + warps[w, W_NEAR])
            si[PARTNERS + me] = 0
            together()
            meeting = contact.close_pairs(
                sf, si, base, lane, before, near, near_place,
                contact.TWO_OUTER + f32(2.0) * margin,
            )  # fmt: skip
            together()
            reach = margin + contact.OUTER
            at_x = min(x, side - x) < reach
            at_y = min(y, side - y) < reach
            blocked = i32(0)
            if with_obstacles:
                blocked = within_reach(sf, x, y, REACH + margin, obstacle, nearby)
            may_touch = at_x or at_y or si[PARTNERS + me] > 0 or blocked != 0
            # Robots that nothing touches go on with the old velocity, then with the new one.
            part = excess(tx - vx, ty - vy)
            free_x = within(x + LAG * (vx - part * (tx - vx)) + DRIVE * tx, side)
            free_y = within(y + LAG * (vy - part * (ty - vy)) + DRIVE * ty, side)
            in_phase()
            if ballot(si, base, lane, may_touch) != u32(0):
                # The others meet in sub-steps.
                pairs_kept = warps[w, W_PAIRS]
                table = warps[w, W_CONTACTS]
                course = old_heading
                rate = turn
                # A robot's wall is the y wall only if it is near no x wall; a second one is rare.
                wall = wall_place(blocks_kept, i32(0) if at_x else i32(1))
                second_wall = wall_place(blocks_kept, i32(1))
                one = two = next_one = next_two = NO_POINT
                sign = next_sign = ONE
                if at_x or at_y:
                    one, two = recall(blocks, wall, cycle)
                if at_x and at_y:
                    next_one, next_two = recall(blocks, second_wall, cycle)
                sf[TURN + me] = turning
                si[SUM_X + me] = 0
                si[SUM_Y + me] = 0
                k = i32(1)
                while k <= i32(SUBSTEPS):
                    # Sub-steps are counted anew before a float could not tell them apart.
                    step = f32((i32(SUBSTEPS) * cycle + k) & i32(0xFFFFF))
                    course = wrap(course + LAG * rate)
                    course_c, course_s = cos_sin(course)
                    x = within(x + LAG * vx, side)
                    y = within(y + LAG * vy, side)
                    vx += jx
                    vy += jy
                    spin = rate + gear
                    rate = turning
                    contacts = i32(0)
                    if meeting > 0:
                        sf[X + me] = x
                        sf[Y + me] = y
                        sf[COS + me] = course_c
                        sf[SIN + me] = course_s
                        si[PARTNERS + me] = 0
                        together()
                        contacts = contact.touching_pairs(
                            sf, si, base, lane, before, meeting, near_place, kept, table
                        )
                        together()
                    pushing = contact.NO_CONTACT
                    if contacts > 0:
                        pushing = contact.find_all(
                            sf, si, base, lane, contacts, kept, table, pairs_kept, step
                        )
                        together()
                        vx, vy = contact.take(si, me, vx, vy)
                    held = i32(0)
                    more = i32(0)
                    block_held = NO_BLOCK
                    if with_obstacles:
                        held = within_reach(sf, x, y, REACH, obstacle, blocked)
                        held = touching_obstacles(
                            sf, x, y, course_c, course_s, obstacle, held, blocks, blocks_kept, step
                        )
                        if held != 0:
                            # The first obstacle stays with the robot's lane, others are rare.
                            block_held = block(blocks, block_place(blocks_kept, lowest(held)))
                            more = i32(held & (held - i32(1)))
                            vx, vy, spin = warm_obstacle(vx, vy, spin, block_held)
                            vx, vy, spin = warm_obstacles(vx, vy, spin, more, blocks, blocks_kept)
                    touch = touch_too = False
                    if at_x or at_y:
                        sign, one, two = touching_wall(
                            x if at_x else y, side, course_c, course_s, at_x, one, two
                        )
                        touch = one[0] >= ZERO or two[0] >= ZERO
                    if touch:
                        vx, vy, spin = warm_wall(vx, vy, spin, sign, at_x, one, two)
                    if at_x and at_y:
                        next_sign, next_one, next_two = touching_wall(
                            y, side, course_c, course_s, False, next_one, next_two
                        )
                        touch_too = next_one[0] >= ZERO or next_two[0] >= ZERO
                    if touch_too:
                        vx, vy, spin = warm_wall(vx, vy, spin, next_sign, False, next_one, next_two)
                    # Where nothing is touched, a drive has done its part after one iteration.
                    static = touch or touch_too or held != 0
                    busy = contacts > 0 or ballot(si, base, lane, static) != u32(0)
                    sweep = i32(0)
                    while sweep < (iterations if busy else i32(1)):
                        if contacts > 0:
                            sf[VX + me] = vx
                            sf[VY + me] = vy
                            together()
                            pushing = contact.push_all(
                                sf, si, base, lane, contacts, kept, table, pushing
                            )
                            together()
                            vx, vy = contact.take(si, me, vx, vy)
                        if with_obstacles:
                            if held != 0:
                                vx, vy, spin, block_held = hold_at(vx, vy, spin, block_held)
                                vx, vy, spin = hold_at_obstacles(
                                    vx, vy, spin, more, blocks, blocks_kept
                                )
                        if touch:
                            vx, vy, spin, one, two = hold_corners(
                                vx, vy, spin, sign, at_x, one, two
                            )
                        if touch_too:
                            vx, vy, spin, next_one, next_two = hold_corners(
                                vx, vy, spin, next_sign, False, next_one, next_two
                            )
                        vx, vy, jx, jy, gear = pulled(vx, vy, spin, jx, jy, gear, tx, ty, turning)
                        spin = turning
                        sweep = i32(sweep + i32(1))
                    if with_obstacles:
                        if held != 0:
                            note(blocks, block_place(blocks_kept, lowest(held)), block_held)
                    contact.keep_all(lane, contacts, kept, table, pairs_kept, step, pushing)
                    together()
                    k = i32(k + i32(1))
                if at_x or at_y:
                    keep_wall(blocks, wall, one, two, cycle)
                if at_x and at_y:
                    keep_wall(blocks, second_wall, next_one, next_two, cycle)
            if not may_touch:
                x, y, vx, vy = free_x, free_y, tx, ty
                jx = jy = gear = ZERO
            turn = turning
            # Sensors, at the new poses.
            in_phase()
            live = u32(networks[network, N_LIVE])
            hearing = live >= u32(128)
            reach = limits[limit, L_RANGE]
            near2 = limits[limit, L_NEAR2]
            rab2 = limits[limit, L_RAB2] if hearing else -ONE
            pair_place = i32(base + warps[w, W_LISTED])
            near_place = i32(base + warps[w, W_NEAR])
            work_place = i32(base + warps[w, W_WORK])
            sf[X + me] = x
            sf[Y + me] = y
            sf[COS + me] = c
            sf[SIN + me] = s
            if hearing:
                clear_cones(sf, me, limits[limit, L_RAB])
            together()
            way = AHEAD * limits[limit, L_SPEED]
            gone = has_come_far(sf, me, x, y, SHORT * way * way) or cycle == i32(1)
            if ballot(si, base, lane, gone) != u32(0):
                far = f32(math.sqrt(max(near2, rab2))) + way + way
                pairs = list_pairs(
                    sf, si, base, lane, before, robot, robots, active, far * far, pair_place
                )
            near, audible = sort_out(
                sf, si, base, lane, before, pairs, pair_place, near2, rab2, near_place, work_place
            )
            sensing.at_walls(sf, me, x, y, c, s, side)
            if with_obstacles:
                if active:
                    beside = max(REACH + limits[limit, L_MARGIN], reach + sensing.BEYOND)
                    nearby = sensing.nearby_obstacles(sf, x, y, beside, obstacle, obstacles)
                sensing.at_obstacles(sf, me, x, y, c, s, reach, obstacle, nearby)
            together()
            listen(
                sf, si, base, lane, before, audible, work_place, robots, live, cycle,
                obstacles,
                (warps[w, W_PLACE], keys, faults, warps[w, W_FAULTS], with_odd),
                with_obstacles, with_deaf,
            )  # fmt: skip
            if (live & u32(PROXIMITY_BITS)) != u32(0):
                sensing.at_robots(
                    sf, si, base, lane, before, near, near_place, work_place,
                    live, reach,
                )  # fmt: skip
            if hearing:
                scale_cones(sf, me, ONE / limits[limit, L_RAB])
            hit = i32(FRONT_BITS)
            if with_odd:
                weaken_cones(sf, me, faults[fault, F_DEAF_FROM])
                hit = i32(faults[fault, F_HIT])
            sensing.read(
                sf, me, live, key, cycle, ONE / reach, limits[limit, L_NOISE], with_faults, hit
            )
            # Networks.
            own_neurons = (networks[network, N_FIRST], networks[network, N_STOP])
            left, right = think(
                sf, me, cycle, own_neurons, networks[network, N_LINK], i32(neuron_place), links,
                tables,
            )  # fmt: skip
            left *= faults[fault, F_LEFT] if active else ZERO
            right *= faults[fault, F_RIGHT] if active else ZERO
            # Tasks and descriptors.
            if wants & AGGREGATION:
                centre_sum += tally.centre_distance(sf, base, first, robots, x, y)
            nearest = mean_distance = speed = ZERO
            if need_others:
                nearest, mean_distance = tally.others(sf, base, first, robot, robots, x, y)
                nearest_sum += nearest
            if need_speed:
                along = (x - old_x) * old_c + (y - old_y) * old_s
                speed = along * (PER_CYCLE / top_speed)
            if wants & FLOCKING:
                flock_sum += tally.flocking(
                    sf, base, first, robot, robots, x, y, old_heading, speed
                )
            if patrols:
                if active:
                    worth, at_border = tally.patrol(
                        si, i32(base + warps[w, W_PATROL]), trial, x, y, f32(GRID) / side, cycle
                    )
                    inner += worth
                    border += at_border
            if wants & VISITS:
                if active:
                    dx = x - f32(0.5) * side
                    dy = y - f32(0.5) * side
                    radius_sum += f32(math.sqrt(dx * dx + dy * dy))
                    cell = tally.fine_cell(x, y, i32(limits[limit, L_FINE]))
                    if cell != fine:
                        if fine >= 0:
                            cuda.atomic.add(visits, at(own_cells + fine), cycle - since)
                        fine = cell
                        since = cycle
            if wants & FEATURES:
                values = (
                    f32(0.5) + f32(0.5) * speed,
                    tally.turn_feature(heading - old_heading, ONE / top_speed),
                    tally.midpoint_distances(x, y, side),
                    mean_distance,
                    nearest,
                )
                tally.features(
                    sf, base, first, me, robot if active else i32(5), robots, values, sums, out
                )
            if paired:
                sf[VX + me] = old_heading
                sf[VY + me] = speed
                together()
            if own:
                if active:
                    own_sums = add_own(
                        sf, me, (i32(base + first), robot, robots), (x, y, heading),
                        (old_heading, speed), (side, top_speed, nearest), cycle, own_sums,
                    )  # fmt: skip
            if paired:
                together()
            if counts:
                count_place = i32(base + warps[w, W_COUNTS])
                if active:
                    what = tally.situation(sf, me, left, right)
                    # Two counters share a number: 32 robots x 2000 cycles fit 16 bits.
                    half = i32(1) if what & i32(1) == 0 else i32(65536)
                    cuda.atomic.add(si, at(count_place + (what >> i32(1))), half)
                if cycle % i32(FLUSH) == 0 or cycle == cycles:
                    together()
                    tally.flush(si, count_place, lane, spirit, network)
                    together()
            cycle = i32(cycle + i32(1))
        # Close the books.
        together()
        if patrols:
            if active:
                tally.patrolled(
                    si,
                    i32(base + warps[w, W_PATROL]),
                    trial,
                    robot,
                    robots,
                    cycles,
                    sums,
                    out,
                    inner,
                    border,
                )
        if wants & VISITS:
            if active:
                cuda.atomic.add(visits, at(own_cells + fine), cycles + i32(1) - since)
        leads = active and robot == 0
        if wants & AGGREGATION:
            tally.write_total(sf, base, first, robots, me, centre_sum, sums, out, S_CENTRE, leads)
        if wants & DISPERSION:
            tally.write_total(sf, base, first, robots, me, nearest_sum, sums, out, S_NEAREST, leads)
        if wants & FLOCKING:
            tally.write_total(sf, base, first, robots, me, flock_sum, sums, out, S_FLOCK, leads)
        if wants & VISITS:
            tally.write_total(sf, base, first, robots, me, radius_sum, sums, out, S_RADIUS, leads)
        if own:
            for each in range(columns - SUMS):
                tally.write_total(
                    sf, base, first, robots, me, own_sums[each], sums, out, SUMS + each, leads
                )

    kind = f"{wants}-{with_obstacles:d}{with_faults:d}{with_deaf:d}{with_odd:d}"
    whole = run
    if own:
        # Numba knows code by its file and its inner values; laws are neither, and name a folder.
        kind += "-" + digest_of(*(law.key for law in laws))
        scope = {**globals(), "add_own": adding(laws)}
        whole = FunctionType(run.__code__, scope, run.__name__, None, run.__closure__)
    return launchable(whole, kind, max_registers=REGISTERS)


def add_own(*_: Any) -> Any:
    """Stand for what adds up users' laws."""
    raise NotImplementedError
