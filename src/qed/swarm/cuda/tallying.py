"""What a kernel adds up in each cycle, and writes at its end."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numpy import float32 as f32
from numpy import int32 as i32
from numpy import int64 as i64

from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import cuda, stage
from qed.swarm.cuda.measures import (
    HALF,
    ZERO,
    centre_distance,
    features,
    fine_cell,
    flocking,
    midpoint_distances,
    others,
    patrol,
    patrolled,
    turn_feature,
    write_total,
)
from qed.swarm.cuda.own import adding
from qed.swarm.cuda.warp import at, together
from qed.swarm.laws.scoring import GRID
from qed.swarm.measures import (
    AGGREGATION,
    DISPERSION,
    FEATURES,
    FLOCKING,
    OTHERS,
    PAIRED,
    PATROLLING,
    SPEEDS,
    VISITS,
)
from qed.swarm.own import Law
from qed.swarm.robot import CYCLE

PER_CYCLE = f32(1.0 / CYCLE)


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
    own: Any  # of users' laws


NOTHING_YET = (ZERO, ZERO, ZERO, ZERO, i64(0), i64(0), i32(-1), i32(0))


class Books(NamedTuple):
    """Where sums are kept: in the GPU's memory, and where patrolled cells lie in shared memory."""

    sums: Any
    visits: Any
    own_cells: Any  # where the trial's fine cells begin among the visits
    patrol: Any


def tallying(wants: int, laws: tuple[Law, ...]) -> Any:
    """Return the part of a kernel that adds what is wanted of a cycle to a robot's tally."""
    need_others = bool(wants & (DISPERSION | FEATURES | OTHERS))
    need_speed = bool(wants & (FLOCKING | FEATURES | SPEEDS))
    paired = bool(wants & PAIRED)
    own = bool(laws)
    add_own: Any = adding(laws) if own else None

    def add_up(warp, who, old, body, tally, room, books, cycle):
        """Return a robot's tally after a cycle that took it from an old body to a new one.

        ``room`` is the arena's side (m), the top speed (m/s), and the fine cells along a side.
        """
        sf, si, base, me = warp.sf, warp.si, warp.base, warp.me
        first, trial, robot, robots, active, out = who
        centre, nearest_sum, flock_sum, radius, inner, border, fine, since, own_sums = tally
        x, y, heading = body.x, body.y, body.heading
        side, top_speed, fine_side = room
        if wants & AGGREGATION:
            centre += centre_distance(sf, base, first, robots, x, y)
        nearest = mean_distance = speed = ZERO
        if need_others:
            nearest, mean_distance = others(sf, base, first, robot, robots, x, y)
            nearest_sum += nearest
        if need_speed:
            along = (x - old.x) * old.c + (y - old.y) * old.s
            speed = along * (PER_CYCLE / top_speed)
        if wants & FLOCKING:
            flock_sum += flocking(sf, base, first, robot, robots, (x, y), (old.heading, speed))
        if wants & PATROLLING:
            if active:
                worth, at_border = patrol(si, books.patrol, trial, x, y, f32(GRID) / side, cycle)
                inner += worth
                border += at_border
        if wants & VISITS:
            if active:
                dx = x - HALF * side
                dy = y - HALF * side
                radius += f32(math.sqrt(dx * dx + dy * dy))
                cell = fine_cell(x, y, fine_side)
                if cell != fine:
                    if fine >= 0:
                        cuda.atomic.add(books.visits, at(books.own_cells + fine), cycle - since)
                    fine = cell
                    since = cycle
        if wants & FEATURES:
            values = (
                HALF + HALF * speed,
                turn_feature(heading - old.heading, f32(1.0) / top_speed),
                midpoint_distances(x, y, side),
                mean_distance,
                nearest,
            )
            begin = robot if active else i32(5)
            features(sf, me, i32(base + first), robots, begin, values, books.sums, out)
        if paired:
            sf[L.VX + me] = old.heading
            sf[L.VY + me] = speed
            together()
        if own:
            if active:
                own_sums = add_own(
                    sf, me, (i32(base + first), robot, robots), (x, y, heading),
                    (old.heading, speed), (side, top_speed, nearest), cycle, own_sums,
                )  # fmt: skip
        if paired:
            together()
        return Tally(centre, nearest_sum, flock_sum, radius, inner, border, fine, since, own_sums)

    return stage(add_up)


def closing(wants: int, laws: tuple[Law, ...]) -> Any:
    """Return the part of a kernel that writes what was added up."""
    own = len(laws)

    def close(warp, who, tally, books, cycles):
        """Write a trial's sums."""
        sf, me = warp.sf, warp.me
        _, trial, robot, robots, active, out = who
        sums = books.sums
        if wants & PATROLLING:
            if active:
                patrolled(
                    warp.si, books.patrol, (trial, robot, robots), cycles, sums, out,
                    tally.inner, tally.border,
                )  # fmt: skip
        if wants & VISITS:
            if active:
                stayed = cycles + i32(1) - tally.since
                cuda.atomic.add(books.visits, at(books.own_cells + tally.fine), stayed)
        leads = active and robot == 0
        if wants & AGGREGATION:
            write_total(sf, me, robots, tally.centre, sums, out, L.S_CENTRE, leads)
        if wants & DISPERSION:
            write_total(sf, me, robots, tally.nearest, sums, out, L.S_NEAREST, leads)
        if wants & FLOCKING:
            write_total(sf, me, robots, tally.flock, sums, out, L.S_FLOCK, leads)
        if wants & VISITS:
            write_total(sf, me, robots, tally.radius, sums, out, L.S_RADIUS, leads)
        if own:
            for each in range(own):
                write_total(sf, me, robots, tally.own[each], sums, out, L.SUMS + each, leads)

    return stage(close)
