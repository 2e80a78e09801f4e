"""From a job to the tables that a kernel reads: places, environments, faults, networks, warps."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.controller.genome import Networks
from qed.controller.inputs import ALL_BITS, RAB_BITS
from qed.errors import InputError
from qed.swarm import environment_row as E
from qed.swarm.cuda import layout as L
from qed.swarm.cuda.network import one_each, pooled
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults, effects
from qed.swarm.floor import laid_out
from qed.swarm.job import Job
from qed.swarm.laws.scoring import GRID
from qed.swarm.placing import noise_keys, place
from qed.swarm.robot import ROBOT

NOTHING = -1  # the source of a link that only fills a group
DRAWN = 50  # trials of which starts are drawn at once, at least: evaluations come in rounds


class StartTables:
    """Where robots start: one table for all environments met so far, which only grows."""

    def __init__(self) -> None:
        self.poses = np.zeros((0, 5), np.float32)  # x, y, heading, its cosine and sine
        self.keys = np.zeros(0, np.uint32)
        self.centres = np.zeros((1, 2), np.float32)  # of obstacles
        self.known: dict[Any, tuple[int, int, int]] = {}  # with the number of trials

    def find(self, job: Job, swarms: Sequence[tuple[Environment, int]]) -> list[tuple[int, int]]:
        """Return the first row of the robots, and of the obstacles, of environments and seeds."""
        needed = job.skipped + job.trials
        rooms = [(env.robots, env.arena, env.obstacles, seed) for env, seed in swarms]
        missing = [
            room
            for room in dict.fromkeys(rooms)
            if room not in self.known or self.known[room][2] < needed
        ]
        self._draw(job, missing, needed)
        found = []
        for room in rooms:
            robot, obstacle, _ = self.known[room]
            found.append((robot + job.skipped * room[0], obstacle + job.skipped * room[2]))
        return found

    def _draw(self, job: Job, rooms: Sequence[tuple[Any, ...]], trials: int) -> None:
        """Add so many trials of rooms, or more: their robots, arena, obstacles, and the seed."""
        poses, keys, centres = [self.poses], [self.keys], [self.centres]
        first, obstacle = len(self.keys), len(self.centres)
        added = {}
        for robots, arena, obstacles, seed in rooms:
            drawn = [robots, arena, obstacles, trials, seed]
            if job.start is not None:
                at, obstacle_centres = job.start.poses, job.start.obstacles
                own = noise_keys(*drawn)
            else:
                *_, before = self.known.get((robots, arena, obstacles, seed), (0,))
                drawn[3] = max(trials, DRAWN, 2 * before)
                try:
                    at, obstacle_centres, own = place(*drawn)
                except InputError:  # a trial that nobody asked for finds no room
                    drawn[3] = trials
                    at, obstacle_centres, own = place(*drawn)
            heading = (at[..., 2].astype(np.float64) + math.pi) % (2 * math.pi) - math.pi
            table = np.stack(
                [at[..., 0], at[..., 1], heading, np.cos(heading), np.sin(heading)], -1
            )
            poses.append(table.reshape(-1, 5).astype(np.float32))
            keys.append(own.ravel())
            centres.append(np.asarray(obstacle_centres, np.float32).reshape(-1, 2))
            added[robots, arena, obstacles, seed] = first, obstacle, len(at)
            first += len(keys[-1])
            obstacle += len(centres[-1])
        if added:
            self.poses, self.keys = np.concatenate(poses), np.concatenate(keys)
            self.centres = np.concatenate(centres)
            self.known |= added


@dataclass
class Packed:
    """Tables for one launch."""

    warps: np.ndarray  # int32 (warps, fields), the dearest first; places are not filled in yet
    limits: np.ndarray  # float32 (controllers, fields)
    floors: np.ndarray  # float32, the cells of each floor, row by row
    faults: np.ndarray  # float32 (robots, fields)
    networks: np.ndarray  # int32 (networks, fields)
    first: np.ndarray  # the first network of each controller: a team has one per robot
    biases: np.ndarray  # float32, one per neuron
    stops: np.ndarray  # int32, the link after each neuron's last; with teams a 0 before them
    owners: np.ndarray  # int32, with teams whose each neuron is
    sources: np.ndarray  # one per link; NOTHING for one that only fills a group
    weights: np.ndarray  # float32, one per link
    trials: int  # of all swarms
    kept: int  # numbers to keep of pairs in contact
    statics: int  # and of robots at walls and obstacles
    fine: int  # fine cells of the largest arena
    cells: np.ndarray  # int32, fine cells of each controller's arena
    with_obstacles: bool
    with_faults: bool
    with_rab_offset: bool
    with_general_faults: bool  # faults beyond the paper's
    with_teams: bool  # then each robot of all swarms has a network of its own


def packed(job: Job, some: slice, starts: StartTables, all_inputs: bool, room: int = 0) -> Packed:
    """Return the tables of some of a job's controllers, for a GPU with room for so many warps."""
    kinds, kind = _kinds(job, some)
    faults: dict[Any, int] = {}
    fault_rows: list[np.ndarray] = []
    broken_robots = 0
    for env, fault, _ in kinds:
        broken = (env.robots, env.max_speed, fault)
        if broken not in faults:
            faults[broken] = broken_robots
            fault_rows.append(_faults(env, fault, job.noise))
            broken_robots += env.robots
    places = starts.find(job, [(env, seed) for env, _, seed in kinds])
    rows = [
        (env.robots, env.obstacles, 0, *at, faults[env.robots, env.max_speed, fault])
        for (env, fault, _), at in zip(kinds, places, strict=True)
    ]
    swarms = np.array(rows)[kind]
    swarms[:, 2] = np.arange(len(kind))
    limits = np.array([E.row(env, job.noise) for env, *_ in kinds], np.float32)[kind]
    table, sizes = job.networks(some)
    with_teams = bool((sizes > 1).any())
    if with_teams:
        table, sizes = one_each(table, sizes, swarms[:, 0])
    first_network = np.cumsum(sizes) - sizes
    networks = _networks(table, all_inputs)
    live = np.bitwise_or.reduceat(networks["networks"][:, L.N_READS], first_network)
    networks["networks"][:, L.N_LIVE] = np.repeat(live, sizes)
    if with_teams:
        networks |= pooled(table.neurons, sizes, networks)
    # The dearest first, so that none is left over at the end.
    cost = _instructions(
        swarms, limits, networks["networks"], first_network, len(networks["sources"])
    )
    at_once = trials_of_a_warp(swarms[:, 0], job.trials, room)
    order = np.argsort(-cost, kind="stable")
    warps, kept, statics = _warps(swarms, job.trials, at_once, order)
    warps[:, L.W_NETWORK] = first_network[warps[:, L.W_LIMITS]]
    looks = bool(ROBOT.ground)
    floors, floor_of = laid_out([env.floor if looks else None for env, *_ in kinds])
    if looks:
        warps[:, L.W_FLOOR : L.W_FLOOR_COLUMNS + 1] = floor_of[kind[warps[:, L.W_LIMITS]]]
    cells = limits[:, E.FINE].astype(np.int32) ** 2
    broken_in = [effects(fault, robots, ROBOT.front) for robots, _, fault in faults]
    return Packed(
        warps=warps,
        limits=limits,
        floors=floors,
        faults=np.concatenate(fault_rows),
        **networks,
        first=first_network,
        trials=len(kind) * job.trials,
        kept=kept,
        statics=statics,
        fine=int(cells.max()),
        cells=cells,
        with_obstacles=bool(swarms[:, 1].any()),
        with_faults=any(fault is not None for *_, fault in faults),
        with_rab_offset=any(one.some_misheard for one in broken_in),
        with_general_faults=any(one.need_general_path for one in broken_in),
        with_teams=with_teams,
    )


def _kinds(
    job: Job, some: slice
) -> tuple[list[tuple[Environment, Faults | None, int]], np.ndarray]:
    """Return the different swarms of controllers: environment, faults and seed; and whose is which.

    They are told apart as objects, which is faster than by value, and equal ones may be several.
    """
    given = list(zip(job.environments[some], job.faults[some], job.seeds[some], strict=True))
    keys: list[Hashable] = [(id(env), id(fault), seed) for env, fault, seed in given]
    kinds = dict(zip(keys, given, strict=True))
    number = {key: k for k, key in enumerate(kinds)}
    return list(kinds.values()), np.array([number[key] for key in keys])


def trials_of_a_warp(robots: np.ndarray, trials: int, room: int) -> np.ndarray:
    """Return how many trials of each swarm share a warp, on a GPU with room for so many warps.

    A warp goes through a stage if one of its robots must, so that fewer trials take less time.  If
    there is room, trials are therefore spread over more warps; else warps are full.
    """
    most: np.ndarray = L.LANES // robots
    for few in range(1, int(most.max())):
        at_once: np.ndarray = np.minimum(most, few)
        if np.sum(-(-trials // at_once)) <= room:
            return at_once
    return most


def _warps(
    swarms: np.ndarray, trials: int, at_once: np.ndarray, order: np.ndarray
) -> tuple[np.ndarray, int, int]:
    """Return the table of warps, and how many numbers to keep of pairs, and at walls and obstacles.

    A row holds a swarm's robots and obstacles, and where in their tables its limits, its first
    robot, obstacle and faults are.  Their warps, of so many trials, come in this order of the
    swarms.
    """
    robots, obstacles = swarms[:, 0], swarms[:, 1]
    each = -(-trials // at_once)  # warps of a swarm
    # Contacts of robots lie after what is kept of pairs.
    for_pairs = L.KEPT * L.LANES * (robots // 2)
    for_each = for_pairs + L.CONTACT_FIELDS * L.LANES * -(-L.pairs_at_once(robots) // L.LANES)
    for_statics = L.LANES * (2 * L.WALL_FIELDS + L.OBSTACLE_FIELDS * obstacles)

    def begins(size: np.ndarray) -> np.ndarray:
        begin: np.ndarray = np.cumsum(size * each) - size * each
        return begin

    ordered = each[order]
    w = np.repeat(order, ordered)
    number = np.arange(len(w)) - np.repeat(np.cumsum(ordered) - ordered, ordered)
    start = number * at_once[w]
    table = np.empty((len(w), L.WARP_FIELDS), np.int32)
    table[:, L.W_PLACE] = swarms[w, 3] + start * robots[w]
    table[:, L.W_TRIALS] = np.minimum(at_once[w], trials - start)
    table[:, L.W_ROBOTS] = robots[w]
    table[:, L.W_LIMITS] = swarms[w, 2]
    table[:, L.W_OUT] = trials * w + start
    table[:, L.W_OBSTACLES] = swarms[w, 4] + start * obstacles[w]
    table[:, L.W_FAULTS] = swarms[w, 5]
    table[:, L.W_PAIRS] = begins(for_each)[w] + number * for_each[w]
    table[:, L.W_CONTACTS] = table[:, L.W_PAIRS] + for_pairs[w]
    table[:, L.W_STATICS] = begins(for_statics)[w] + number * for_statics[w]
    return table, max(int(for_each @ each), 1), max(int(for_statics @ each), 1)


def _faults(env: Environment, faults: Faults | None, noise: float) -> np.ndarray:
    """Return a row for each robot: wheels, front sensors, hearing."""
    broken = effects(faults, env.robots, ROBOT.front)
    columns = (
        env.max_speed * broken.wheels[:, 0],
        env.max_speed * broken.wheels[:, 1],
        broken.gain,
        np.where(np.isnan(broken.noise), noise, broken.noise),
        broken.offset,
        broken.rab_offset,
        broken.hit,
        broken.hears_within,
        broken.dead,
        broken.wear,
    )
    return np.stack(columns, -1).astype(np.float32)


def _instructions(
    swarms: np.ndarray, limits: np.ndarray, table: np.ndarray, first: np.ndarray, all_links: int
) -> np.ndarray:
    """Return about how many instructions a warp of each swarm takes in a cycle.

    A controller's networks begin with the ``first``; a team shares the neurons of all of them.
    """
    robots, obstacles = swarms[:, 0], swarms[:, 1]
    limit = limits[swarms[:, 2]]
    sizes = np.diff(first, append=len(table))
    neurons = np.diff(table[first, L.N_FIRST], append=table[-1, L.N_STOP]) / sizes
    links = np.diff(table[first, L.N_LINK], append=all_links) / sizes
    hearing = (table[first, L.N_LIVE].astype(np.int64) & RAB_BITS) != 0
    # As if robots were anywhere: so many of all pairs are within hearing.
    share = np.minimum(math.pi * limit[:, E.RAB2] / limit[:, E.SIDE] ** 2, 1.0)
    rounds = hearing * (0.5 + L.pairs_at_once(robots) * share / L.LANES)
    cost: np.ndarray = 2000 + 8 * links + 35 * neurons + 120 * obstacles
    cost = cost + rounds * (200 + 11 * robots + 18 * obstacles)
    return cost


def _networks(networks: Networks, all_inputs: bool) -> dict[str, Any]:
    """Return the tables of networks: neurons and links of all, one after the other.

    Each neuron's links are filled up to whole groups with some that read nothing.
    """
    neurons, counts = networks.neurons, networks.links
    filled = L.GROUP * -(-np.maximum(counts, 1) // L.GROUP)
    stops = np.cumsum(filled)
    place = np.arange(counts.sum()) + np.repeat(
        stops - filled - (np.cumsum(counts) - counts), counts
    )
    sources = np.full(stops[-1], NOTHING)
    sources[place] = networks.sources
    weights = np.zeros(stops[-1], np.float32)
    weights[place] = networks.weights
    table = np.empty((len(networks), L.NETWORK_FIELDS), np.int32)
    table[:, L.N_STOP] = np.cumsum(neurons)
    table[:, L.N_FIRST] = table[:, L.N_STOP] - neurons
    ends = stops[table[:, L.N_STOP] - 1]
    table[:, L.N_LINK] = np.append(0, ends[:-1])
    # Of 32 inputs the last one's bit is the sign.
    table[:, L.N_READS] = np.where(all_inputs, ALL_BITS, networks.reads)
    return {
        "networks": table,
        "biases": networks.biases,
        "stops": stops.astype(np.int32),
        "owners": np.zeros(1, np.int32),
        "sources": sources,
        "weights": weights,
    }


def most_neurons(tables: Packed) -> np.ndarray:
    """Return the number of neurons of each controller's network, of a team the largest."""
    own = tables.networks[:, L.N_STOP] - tables.networks[:, L.N_FIRST]
    most: np.ndarray = np.maximum.reduceat(own, tables.first)
    return most


def arrange(tables: Packed, patrols: bool, counts: bool) -> int:
    """Fill in where each warp has its lists in shared memory; return what the largest needs."""
    warps = tables.warps
    robots = warps[:, L.W_ROBOTS]
    at_once = L.LANES // robots
    pairs = L.pairs_at_once(robots)
    obstacles = tables.limits[warps[:, L.W_LIMITS], E.OBSTACLES].astype(int)
    neurons = most_neurons(tables)[warps[:, L.W_LIMITS]]
    place = L.LANES * (L.rows_of(tables.with_faults, tables.with_teams) + 2 * neurons)
    for column, size in (
        (L.W_LISTED, pairs),
        (L.W_NEAR, pairs),
        (L.W_WORK, np.maximum(pairs, L.RAY_LIST)),
        (L.W_COUNTS, L.SITUATION_COUNTS // 2 if counts else 0),
        (L.W_PATROL, GRID * GRID * at_once if patrols else 0),
        (L.W_CENTRES, 2 * at_once * obstacles),
    ):
        warps[:, column] = place
        place = place + size
    return int(place.max())
