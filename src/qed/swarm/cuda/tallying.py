"""What a kernel adds up in each cycle, and writes at its end.

A kernel is compiled for the laws of users that it calls, with a sum for each in a lane's registers.
"""

import math
from collections.abc import Sequence
from types import FunctionType
from typing import Any, NamedTuple

from numpy import float32 as f32
from numpy import float64 as f64
from numpy import int32 as i32
from numpy import int64 as i64

from qed.swarm import measures
from qed.swarm.cuda import layout as L
from qed.swarm.cuda import measures as adds
from qed.swarm.cuda.device import cuda, device, stage
from qed.swarm.cuda.warp import at, together
from qed.swarm.laws import geometry
from qed.swarm.laws.scoring import GRID
from qed.swarm.laws.sensing import CONES, SENSORS
from qed.swarm.robot import CYCLE
from qed.swarm.user_defined import Law

wrap = device(geometry.wrap)
ZERO = f32(0.0)
HALF = f32(0.5)
PER_CYCLE = f32(1.0 / CYCLE)
CYCLES_PER_SECOND = 1.0 / CYCLE  # laws of users compute in double precision
ONE = f32(1.0)


class Trial(NamedTuple):
    """Which robot of which trial a lane is."""

    first: Any  # the lane of its trial's first robot
    trial: Any  # among those of the warp
    robot: Any
    robots: Any
    active: Any  # False in a lane without a robot
    out: Any  # the trial's row of results


class Tally(NamedTuple):
    """What a robot has added up so far."""

    centre: Any
    nearest: Any
    flock: Any
    radius: Any
    inner: Any  # what cells were worth, and those at the border
    border: Any
    fine: Any  # the fine cell it is in, and since which cycle
    since: Any
    user_defined: Any  # of users' laws


NOTHING_YET = (ZERO, ZERO, ZERO, ZERO, i64(0), i64(0), i32(-1), i32(0))


class Books(NamedTuple):
    """Where sums are kept: in the GPU's memory, and where patrolled cells lie in shared memory."""

    sums: Any
    visits: Any
    trial_cells: Any  # where the trial's fine cells begin among the visits
    patrol: Any


def tallying(wants: int, laws: tuple[Law, ...]) -> Any:
    """Return the part of a kernel that adds what is wanted of a cycle to a robot's tally."""
    need_others = bool(wants & (measures.DISPERSION | measures.FEATURES | measures.OTHERS))
    need_speed = bool(wants & (measures.FLOCKING | measures.FEATURES | measures.SPEEDS))
    paired = bool(wants & measures.PAIRED)
    user_defined = bool(laws)
    add_user_defined: Any = adding(laws) if laws else None

    def add_up(warp, who, old, body, tally, room, books, cycle):
        """Return a robot's tally after a cycle that took it from an old body to a new one.

        ``room`` is the arena's side (m), the top speed (m/s), and the fine cells along a side.
        """
        sf, si, base, me = warp.sf, warp.si, warp.base, warp.me
        first, trial, robot, robots, active, out = who
        centre, nearest_sum, flock_sum, radius, inner, border, fine, since, user_sums = tally
        x, y, heading = body.x, body.y, body.heading
        side, top_speed, fine_side = room
        if wants & measures.AGGREGATION:
            centre += adds.centre_distance(sf, base, first, robots, x, y)
        nearest = mean_distance = speed = ZERO
        if need_others:
            nearest, mean_distance = adds.others(sf, base, first, robot, robots, x, y)
            nearest_sum += nearest
        if need_speed:
            along = (x - old.x) * old.c + (y - old.y) * old.s
            speed = along * (PER_CYCLE / top_speed)
        if wants & measures.FLOCKING:
            flock_sum += adds.flocking(sf, base, first, robot, robots, (x, y), (old.heading, speed))
        if wants & measures.PATROLLING:
            if active:
                worth, at_border = adds.patrol(
                    si, books.patrol, trial, x, y, f32(GRID) / side, cycle
                )
                inner += worth
                border += at_border
        if wants & measures.VISITS:
            if active:
                dx = x - HALF * side
                dy = y - HALF * side
                radius += f32(math.sqrt(dx * dx + dy * dy))
                cell = adds.fine_cell(x, y, fine_side)
                if cell != fine:
                    if fine >= 0:
                        cuda.atomic.add(books.visits, at(books.trial_cells + fine), cycle - since)
                    fine = cell
                    since = cycle
        if wants & measures.FEATURES:
            values = (
                HALF + HALF * speed,
                adds.turn_feature(heading - old.heading, f32(1.0) / top_speed),
                adds.midpoint_distances(x, y, side),
                mean_distance,
                nearest,
            )
            begin = robot if active else i32(5)
            adds.features(sf, me, i32(base + first), robots, begin, values, books.sums, out)
        if paired:
            sf[L.VX + me] = old.heading
            sf[L.VY + me] = speed
            together()
        if user_defined:
            if active:
                user_sums = add_user_defined(
                    sf, me, (i32(base + first), robot, robots), (x, y, heading),
                    (old.heading, speed), (side, top_speed, nearest), cycle, user_sums,
                )  # fmt: skip
        if paired:
            together()
        return Tally(centre, nearest_sum, flock_sum, radius, inner, border, fine, since, user_sums)

    return stage(add_up)


def closing(wants: int, laws: tuple[Law, ...]) -> Any:
    """Return the part of a kernel that writes what was added up."""
    count = len(laws)

    def close(warp, who, tally, books, cycles):
        """Write a trial's sums."""
        sf, me = warp.sf, warp.me
        _, trial, robot, robots, active, out = who
        sums = books.sums
        if wants & measures.PATROLLING:
            if active:
                adds.patrolled(
                    warp.si, books.patrol, (trial, robot, robots), cycles, sums, out,
                    tally.inner, tally.border,
                )  # fmt: skip
        if wants & measures.VISITS:
            if active:
                stayed = cycles + i32(1) - tally.since
                cuda.atomic.add(books.visits, at(books.trial_cells + tally.fine), stayed)
        leads = active and robot == 0
        if wants & measures.AGGREGATION:
            adds.write_total(sf, me, robots, tally.centre, sums, out, L.S_CENTRE, leads)
        if wants & measures.DISPERSION:
            adds.write_total(sf, me, robots, tally.nearest, sums, out, L.S_NEAREST, leads)
        if wants & measures.FLOCKING:
            adds.write_total(sf, me, robots, tally.flock, sums, out, L.S_FLOCK, leads)
        if wants & measures.VISITS:
            adds.write_total(sf, me, robots, tally.radius, sums, out, L.S_RADIUS, leads)
        if count:
            for each in range(count):
                adds.write_total(
                    sf, me, robots, tally.user_defined[each], sums, out, L.SUMS + each, leads
                )

    return stage(close)


def law(*_: Any) -> Any:
    """Stand for a user's law; ``adding`` puts the law in its place."""
    raise NotImplementedError


def robot_worth(sf, me, robots, pose, motion, limits, cycle):
    """Return what a law of a robot gives.

    ``pose`` is x, y, heading; ``motion`` the old heading and the speed; ``limits`` the side, the
    top speed, and the distance to the nearest other robot.
    """
    nearest_input = ONE
    for s in range(SENSORS):
        nearest_input = min(nearest_input, sf[L.INPUTS + s * L.LANES + me])
    heard = i32(0)
    for c in range(CONES):
        heard = i32(heard + (i32(1) if sf[L.RAB + c * L.LANES + me] < ONE else i32(0)))
    return f32(
        law(
            f64(pose[0]),
            f64(pose[1]),
            f64(pose[2]),
            f64(motion[1]),
            f64(wrap(pose[2] - motion[0])) * CYCLES_PER_SECOND,
            f64(limits[0]),
            f64(robots),
            f64(limits[1]),
            f64(limits[2]),
            f64(0.5) * (f64(1.0) - f64(nearest_input)),
            f64(heard),
            f64(cycle) * CYCLE,
        )
    )


def pairs_worth(sf, first, robot, robots, pose, motion):
    """Return what a law gives for the pairs of which a robot is the first.

    Headings and speeds of the others lie in their rows of velocities.
    """
    worth = f32(0.0)
    k = i32(1)
    half = i32(robots >> i32(1))
    while k <= half:
        ahead = i32(robot + k)
        other = at(first + (ahead if ahead < robots else ahead - robots))
        if not (i32(k + k) == robots and robot >= k):
            dx = sf[L.X + other] - pose[0]
            dy = sf[L.Y + other] - pose[1]
            worth += f32(
                law(
                    f64(f32(math.sqrt(dx * dx + dy * dy))),
                    f64(wrap(sf[L.VX + other] - motion[0])),
                    f64(motion[1]),
                    f64(sf[L.VY + other]),
                )
            )
        k = i32(k + i32(1))
    return worth


def adding(laws: Sequence[Law]) -> Any:
    """Return the part of a kernel that adds what laws give to a tuple of sums, one for each.

    ``who`` is the place of the trial's first robot, the robot's number, and their number.
    """
    worths, terms = {}, []
    for k, one in enumerate(laws):
        loop = robot_worth if one.over == "robots" else pairs_worth
        scope = {**globals(), "law": stage(one.adapted(device(one.function)))}
        worths[f"worth_{k}"] = stage(FunctionType(loop.__code__, scope, loop.__name__))
        given = "sf, me, who[2], pose, motion, limits, cycle"
        if one.over == "pairs":
            given = "sf, who[0], who[1], who[2], pose, motion"
        terms.append(f"sums[{k}] + worth_{k}({given})")
    text = f"lambda sf, me, who, pose, motion, limits, cycle, sums: ({', '.join(terms)},)"
    return stage(eval(text, worths))  # the text is made of the words above
