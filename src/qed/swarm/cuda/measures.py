"""What tasks and descriptors add up in each cycle, on the GPU."""

import math
from functools import cache
from typing import Any

from numba import int32
from numpy import float32 as f32
from numpy import float64 as f64
from numpy import int32 as i32
from numpy import uint32 as u32

from qed.controller.inputs import GROUPS
from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import cuda, device, launchable, stage
from qed.swarm.cuda.warp import at, together
from qed.swarm.laws import scoring
from qed.swarm.laws.scoring import GRID, PER_FINE_CELL
from qed.swarm.measures import ACTIONS, SPREAD

flock = device(scoring.flock)
faded = device(scoring.faded)
on_border = device(scoring.on_border)
action = device(scoring.action)
midpoint_distances = device(scoring.midpoint_distances)
turn_feature = device(scoring.turn_feature)

CELLS = GRID * GRID
ZERO = f32(0.0)
HALF = f32(0.5)


@stage
def centre_distance(sf, base, first, robots, x, y):
    """Return a robot's distance to the centre of its swarm (m)."""
    share = f32(1.0) / f32(robots)
    mean_x = ZERO
    mean_y = ZERO
    r = i32(0)
    while r < robots:
        other = at(base + first + r)
        mean_x += sf[L.X + other] * share
        mean_y += sf[L.Y + other] * share
        r = i32(r + i32(1))
    dx = x - mean_x
    dy = y - mean_y
    return f32(math.sqrt(dx * dx + dy * dy))


@stage
def others(sf, base, first, robot, robots, x, y):
    """Return a robot's distance to the nearest other robot, and the mean to all (m)."""
    nearest = f32(1e9) if robots > i32(1) else ZERO
    total = ZERO
    k = i32(1)
    while k < robots:
        ahead = i32(robot + k)
        other = at(base + first + (ahead if ahead < robots else ahead - robots))
        dx = sf[L.X + other] - x
        dy = sf[L.Y + other] - y
        square = dx * dx + dy * dy
        nearest = min(nearest, square)
        total += f32(math.sqrt(square))
        k = i32(k + i32(1))
    mean = total * (f32(1.0) / f32(max(robots - i32(1), i32(1))))
    return f32(math.sqrt(nearest)), mean


@stage
def flocking(sf, base, first, robot, robots, place, motion):
    """Return what the pairs of which a robot is the first are worth."""
    x, y = place
    old_heading, speed = motion
    me = at(base + first + robot)
    sf[L.VX + me] = old_heading
    sf[L.VY + me] = speed
    together()
    worth = ZERO
    k = i32(1)
    half = i32(robots >> i32(1))
    while k <= half:
        ahead = i32(robot + k)
        other = at(base + first + (ahead if ahead < robots else ahead - robots))
        if not (i32(k + k) == robots and robot >= k):
            dx = sf[L.X + other] - x
            dy = sf[L.Y + other] - y
            worth += flock(
                dx * dx + dy * dy, sf[L.VX + other] - old_heading, speed, sf[L.VY + other]
            )
        k = i32(k + i32(1))
    together()
    return worth


@stage
def patrol(si, place, trial, x, y, per_cell, cycle):
    """Mark a robot's cell as visited; return what the cell was worth since the visit before.

    Only the first of several robots in a cell finds an older visit there.
    """
    column = min(i32(x * per_cell), i32(GRID - 1))
    row = min(i32(y * per_cell), i32(GRID - 1))
    cell = i32(column * i32(GRID) + row)
    before = cuda.atomic.max(si, at(place + trial * i32(CELLS) + cell), cycle)
    worth = i32(0)
    if before < cycle and before > i32(0):
        worth = i32(faded(cycle - before))
    return worth, worth if on_border(cell) else i32(0)


@stage
def patrolled(si, place, who, cycles, sums, out, inner, border):
    """Add what cells are worth since their last visit, and write a trial's sums.

    The sums are whole numbers in double precision, so that their order does not matter.
    """
    trial, robot, robots = who
    cell = i32(robot)
    while cell < i32(CELLS):
        last = si[at(place + trial * i32(CELLS) + cell)]
        if last > i32(0):
            worth = faded(cycles + i32(1) - last)
            inner += worth
            if on_border(cell):
                border += worth
        cell = i32(cell + robots)
    cuda.atomic.add(sums, (out, L.S_PATROL), f64(inner))
    cuda.atomic.add(sums, (out, L.S_BORDER), f64(border))


@stage
def fine_cell(x, y, side):
    """Return the fine cell of a place, with so many along a side."""
    last = i32(side - i32(1))
    column = min(i32(x * PER_FINE_CELL), last)
    return i32(column * side + min(i32(y * PER_FINE_CELL), last))


@stage
def features(sf, me, first, robots, begin, values, sums, out):
    """Add the five SDBC features of this cycle, and their squares, to a trial.

    A robot looks after the features ``begin``, ``begin + robots``, ...; ``first`` is the place of
    the trial's first robot.
    """
    sf[L.VX + me] = values[0]
    sf[L.VY + me] = values[1]
    sf[L.TURN + me] = values[2]
    sf[L.SUM_X + me] = values[3]
    sf[L.SUM_Y + me] = values[4]
    together()
    which = i32(begin)
    while which < i32(5):
        row = L.VX if which == 0 else L.VY if which == 1 else L.TURN if which == 2 else L.SUM_X
        row = L.SUM_Y if which == 4 else row
        total = f64(0.0)
        r = i32(0)
        while r < robots:
            total += sf[row + at(first + r)]
            r = i32(r + i32(1))
        mean = total / f64(robots)
        sums[out, L.S_FEATURES + 2 * which] += mean
        sums[out, L.S_FEATURES + 2 * which + 1] += mean * mean
        which = i32(which + robots)
    together()


@stage
def active_group(sf, me, group):
    """Return whether one of a group of inputs is active; a group of none is not."""
    if group[0] < 0:
        return i32(0)
    first = min(sf[L.INPUTS + group[0] * L.LANES + me], sf[L.INPUTS + group[1] * L.LANES + me])
    second = min(sf[L.INPUTS + group[2] * L.LANES + me], sf[L.INPUTS + group[3] * L.LANES + me])
    return i32(1) if min(first, second) < ZERO else i32(0)


@stage
def situation(sf, me, left, right):
    """Return SPIRIT's index of a robot's sensory state and action."""
    state = i32(32) * active_group(sf, me, GROUPS[0])
    state += i32(16) * active_group(sf, me, GROUPS[1])
    state += i32(8) * active_group(sf, me, GROUPS[2])
    state += i32(4) * active_group(sf, me, GROUPS[3])
    state += i32(2) * active_group(sf, me, GROUPS[4])
    state += active_group(sf, me, GROUPS[5])
    return i32(ACTIONS) * state + action(left, right)


@stage
def flush(si, counts, lane, spirit, row):
    """Add a warp's counts to its controller's, and begin anew."""
    e = i32(lane)
    while e < i32(L.SITUATION_COUNTS // 2):
        two = u32(si[at(counts + e)])
        si[at(counts + e)] = 0
        if two != u32(0):
            place = at(i32(row) * i32(L.SITUATION_COUNTS) + e + e)
            cuda.atomic.add(spirit, place, i32(two & u32(0xFFFF)))
            cuda.atomic.add(spirit, place + 1, i32(two >> u32(16)))
        e = i32(e + i32(L.LANES))


@stage
def write_total(sf, me, robots, value, sums, out, column, leads):
    """Write the sum of a number over the robots of a trial, whose first one leads."""
    sf[L.VX + me] = value
    together()
    if leads:
        total = f64(0.0)
        r = i32(0)
        while r < robots:
            total += sf[L.VX + at(me + r)]
            r = i32(r + i32(1))
        sums[out, column] = total
    together()


@cache
def survey_kernel() -> Any:
    """Return the kernel that fills int32 (trials, 4): sum, visited, sum above and number above.

    ``cells`` is how many fine cells each trial has, ``fine`` how many lie from one trial's to
    the next.
    """

    def run(visits, cells, fine, counts):
        found = cuda.shared.array(SPREAD, int32)
        trial = cuda.blockIdx.x
        lane = cuda.threadIdx.x
        first = trial * fine
        if lane < SPREAD:
            found[lane] = 0
        cuda.syncthreads()
        total = i32(0)
        visited = i32(0)
        c = lane
        while c < cells[trial]:
            total += visits[first + c]
            visited += i32(1) if visits[first + c] > 0 else i32(0)
            c += L.LANES
        cuda.atomic.add(found, 0, total)
        cuda.atomic.add(found, 1, visited)
        cuda.syncthreads()
        fair = found[0] // found[1]
        above = i32(0)
        many = i32(0)
        c = lane
        while c < cells[trial]:
            if visits[first + c] > fair:
                above += visits[first + c]
                many += i32(1)
            c += L.LANES
        cuda.atomic.add(found, 2, above)
        cuda.atomic.add(found, 3, many)
        cuda.syncthreads()
        if lane < SPREAD:
            counts[trial, lane] = found[lane]

    return launchable(run, "survey")
