"""One cycle of a block, top to bottom, and many of them."""

from typing import Any

from qed.compile import entry, loop
from qed.controller.inputs import GROUND_BITS, PROXIMITY_BITS, RAB_BITS
from qed.swarm import environment_row as E
from qed.swarm import measures
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import index
from qed.swarm.cpu.candidates import near_pairs, widen
from qed.swarm.cpu.history import features, settle_visits, situations, visits
from qed.swarm.cpu.measures import (
    aggregation,
    dispersion,
    flocking,
    nearest_others,
    patrolled,
    patrolling,
    speeds,
    widen_motion,
)
from qed.swarm.cpu.motion import move, wear
from qed.swarm.cpu.network import step_networks
from qed.swarm.cpu.optional_sensors import look_down, receive, receive_nothing
from qed.swarm.cpu.proximity import at_obstacles, at_robots, at_walls, read
from qed.swarm.cpu.range_and_bearing import listen
from qed.swarm.cpu.user_defined import user_defined_laws
from qed.swarm.robot import ROBOT

MESSAGES = ROBOT.messages > 0.0
GROUND = len(ROBOT.ground) > 0


@entry
def run(b: Any, start: int, stop: int, near: int) -> int:
    """Simulate the cycles from ``start`` up to but not including ``stop``; the first is 1.

    ``near`` is the number of near pairs that the last cycle listed; so is the returned value.
    """
    last = b.segments.shape[0] - 1
    lanes = index(b.segments[last, L.FIRST] + b.segments[last, L.PADDED])
    for cycle in range(start, stop):
        move(b, lanes, near, cycle)
        near = sense(b, cycle)
        for s in range(last + 1):
            step_networks(b, s, cycle)
            if b.segments[s, L.WEARS]:
                wear(b, s, cycle)
            score(b, s, cycle)
    return near


@loop
def sense(b: Any, cycle: int) -> int:
    """Read all sensors at the new poses; return the number of near pairs."""
    near = 0
    rays = 0
    sent_to = 0
    mixed = False
    reach = b.limits[0, E.RANGE]
    for s in range(b.segments.shape[0]):
        widen(b, s)
        live = b.segments[s, L.LIVE]
        mixed |= b.segments[s, L.NETWORK_COUNT] > 1 or (s > 0 and rays != live & PROXIMITY_BITS)
        rays |= live & PROXIMITY_BITS
        reach = max(reach, b.limits[s, E.RANGE])
        hearing = (live & RAB_BITS) != 0
        near, seen = near_pairs(b, s, hearing and not MESSAGES, near)
        if MESSAGES:
            receive_nothing(b, s)
            sent_to |= live
        elif hearing:
            listen(b, s, seen, cycle)
        if GROUND and live & GROUND_BITS:
            look_down(b, s)
        if live & PROXIMITY_BITS:
            at_walls(b, s)
            if b.segments[s, L.OBSTACLES] > 0:
                at_obstacles(b, s)
    if rays and near > 0:
        at_robots(b, near, rays, mixed, reach)
    if MESSAGES and near > 0:
        receive(b, near, sent_to)
    for s in range(b.segments.shape[0]):
        read(b, s, cycle)
    return near


@loop
def score(b: Any, s: int, cycle: int) -> None:
    """Add up what the wanted tasks and descriptors need of this cycle."""
    wants = b.wants
    if wants & measures.AGGREGATION:
        aggregation(b, s)
    if wants & (measures.DISPERSION | measures.FEATURES | measures.OTHERS):
        nearest_others(b, s)
    if wants & measures.DISPERSION:
        dispersion(b, s)
    if wants & (measures.FLOCKING | measures.FEATURES | measures.SPEEDS):
        speeds(b, s)
    if wants & (measures.FLOCKING | measures.PAIRED):
        widen_motion(b, s)
    if wants & measures.FLOCKING:
        flocking(b, s)
    if wants & measures.PATROLLING:
        patrolling(b, s, cycle)
    if wants & measures.VISITS:
        visits(b, s, cycle)
    if wants & measures.FEATURES:
        features(b, s)
    if wants & measures.SITUATIONS:
        situations(b, s)
    if wants & measures.USER_DEFINED:
        user_defined_laws(b, s, cycle)


@entry
def finish(b: Any, cycles: int, patrols: Any) -> None:
    """Close the books after so many cycles: fill (trials, [patrolling, border]) sums."""
    for trial in range(patrols.shape[0]):
        patrols[trial, 0] = patrolled(b, trial, 0, cycles)
        patrols[trial, 1] = patrolled(b, trial, 1, cycles)
    if b.wants & measures.VISITS:
        for s in range(b.segments.shape[0]):
            settle_visits(b, s, cycles + 1)
