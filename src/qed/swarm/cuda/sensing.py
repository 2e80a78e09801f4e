"""What robots sense on the GPU: who is near or within hearing, proximity, range and bearing.

Nothing is worked out that no network reads; in a team each robot looks and listens only with the
sensors of its own network.  Pairs that may come near are listed for some cycles: robots are slow,
so most cycles only sort that list.
"""

import math
from typing import Any, NamedTuple

from numpy import float32 as f32
from numpy import int32 as i32
from numpy import uint32 as u32

from qed.controller.inputs import PROXIMITY_BITS, RAB_BITS
from qed.swarm import environment_row as E
from qed.swarm.cuda import layout as L
from qed.swarm.cuda import proximity
from qed.swarm.cuda.device import stage
from qed.swarm.cuda.optional_sensors import receive, receive_nothing
from qed.swarm.cuda.pairs import has_come_far, list_pairs, sort_out
from qed.swarm.cuda.range_and_bearing import (
    clear_cones,
    clear_read_cones,
    listen,
    scale_cones,
    weaken_cones,
)
from qed.swarm.cuda.statics import REACH
from qed.swarm.cuda.warp import ballot, together
from qed.swarm.robot import ROBOT

MESSAGES = ROBOT.messages > 0.0
CONE_BITS = 0 if MESSAGES else RAB_BITS
FRONT_BITS = sum(1 << sensor for sensor in ROBOT.front)
ONE = f32(1.0)
SHORT = f32(0.99)  # of a squared way, for rounding
AHEAD = f32(1.0)  # s; pairs are listed that may meet while no robot drives longer


class Member(NamedTuple):
    """Which robot of which swarm a lane is."""

    robot: Any
    robots: Any
    active: Any  # False in a lane without a robot
    side: Any  # of its arena (m)
    centres: Any  # where the trial's obstacles lie in shared memory
    obstacles: Any  # their number
    live: Any  # a bit for each input that any network of the swarm reads
    key: Any  # of its random numbers


class Places(NamedTuple):
    """Where a warp's lists lie in shared memory: pairs to watch, near ones, and work to do."""

    watched: Any
    near: Any
    work: Any


class Seen(NamedTuple):
    """What is known of the surroundings: numbers of listed pairs, and a bit per near obstacle."""

    watched: Any
    near: Any
    obstacles: Any


class Kinds(NamedTuple):
    """What a kernel is made for."""

    obstacles: Any
    faults: Any
    mishearing: Any  # robots that hear others where they are not
    general_faults: Any  # of single sensors, weak and silent radios
    teams: Any  # robots with networks of their own


@stage
def sense(warp, body, member, tables, seen, places, cycle, kinds):
    """Write what each robot's network reads; return what is known of its surroundings.

    ``tables`` are the limits and the row that holds for the warp, the faults and the robot's row,
    and what ``listen`` needs to know of radios.
    """
    limits, limit, faults, fault, radios = tables
    sf, me = warp.sf, warp.me
    x, y, c, s = body.x, body.y, body.c, body.s
    live = member.live
    hearing = (live & u32(CONE_BITS)) != u32(0)
    reach = limits[limit, E.RANGE]
    near2 = limits[limit, E.NEAR2]
    rab2 = limits[limit, E.RAB2] if hearing else -ONE
    sf[L.X + me] = x
    sf[L.Y + me] = y
    sf[L.COS + me] = c
    sf[L.SIN + me] = s
    if hearing:
        if kinds.teams:
            clear_read_cones(sf, me, limits[limit, E.RAB], u32(warp.si[L.READS + me]))
        else:
            clear_cones(sf, me, limits[limit, E.RAB])
    if MESSAGES:
        receive_nothing(sf, me)
    together()
    pairs = seen.watched
    way = AHEAD * limits[limit, E.SPEED]
    gone = has_come_far(sf, me, x, y, SHORT * way * way) or cycle == i32(1)
    if ballot(warp, gone) != u32(0):
        far = f32(math.sqrt(max(near2, rab2))) + way + way
        pairs = list_pairs(
            warp, member.robot, member.robots, member.active, far * far, places.watched
        )
    near, audible = sort_out(warp, pairs, places.watched, near2, rab2, places.near, places.work)
    nearby = seen.obstacles
    proximity.at_walls(sf, me, (x, y, c, s), member.side)
    if kinds.obstacles:
        if member.active:
            beside = max(REACH + limits[limit, E.MARGIN], reach + proximity.BEYOND)
            nearby = proximity.nearby_obstacles(sf, x, y, beside, member.centres, member.obstacles)
        proximity.at_obstacles(sf, me, (x, y, c, s), reach, member.centres, nearby)
    together()
    if MESSAGES:
        receive(
            warp, near, places.near, live, (radios[2], radios[3]),
            (kinds.general_faults, kinds.teams),
        )  # fmt: skip
    elif CONE_BITS:
        listen(
            warp, (audible, places.work), member.robots, live, cycle, member.obstacles, radios,
            (kinds.obstacles, kinds.mishearing, kinds.teams),
        )  # fmt: skip
    if (live & u32(PROXIMITY_BITS)) != u32(0):
        proximity.at_robots(warp, near, places.near, places.work, live, reach, kinds.teams)
    if hearing:
        scale_cones(sf, me, ONE / limits[limit, E.RAB])
    hit = i32(FRONT_BITS)
    if kinds.general_faults:
        if not MESSAGES:
            weaken_cones(sf, me, faults[fault, L.F_HEARS_WITHIN])
        hit = i32(faults[fault, L.F_HIT])
    if kinds.teams:
        live = u32(warp.si[L.READS + me])
    proximity.read(
        sf, me, live, (member.key, cycle), ONE / reach, limits[limit, E.NOISE], kinds.faults, hit
    )
    return Seen(pairs, near, nearby)
