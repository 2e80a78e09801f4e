"""Blocks: worlds packed side by side, as one thread simulates them."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from qed.controller.network import CONSTANT, FIRST_HIDDEN, Network
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.cycle import finish, run
from qed.swarm.cpu.layout import Block, Segment
from qed.swarm.cpu.own import address
from qed.swarm.cpu.survey import survey
from qed.swarm.environment import Environment
from qed.swarm.environment_row import limits
from qed.swarm.faults import Effects, Faults, effects
from qed.swarm.laws.contact import margin
from qed.swarm.laws.describing import fine_side
from qed.swarm.laws.scoring import GRID
from qed.swarm.measures import ACTIONS, SDBC_SUMS, SITUATIONS, STATES, VISITS, Wanted
from qed.swarm.own import Law

ALL_INPUTS = (1 << 15) - 1
CACHE_LINE = 64  # bytes


@dataclass(frozen=True)
class World:
    """One controller in one environment, for some trials."""

    controller: int  # its place in the caller's list
    trials: slice  # these trials of it
    networks: tuple[Network, ...]  # one for all robots, or one for each
    environment: Environment
    faults: Faults | None
    poses: np.ndarray  # float32 (trials, robots, 3)
    obstacles: np.ndarray  # float32 (trials, n, 2)
    keys: np.ndarray  # uint32 (trials, robots)
    noise: float  # half width of the proximity noise

    @property
    def size(self) -> int:
        """Number of trials."""
        return len(self.poses)

    @property
    def live(self) -> int:
        """Bits of the inputs that some robot's network reads."""
        each = {id(network): network for network in self.networks}
        return functools.reduce(operator.or_, (network.live for network in each.values()))

    @property
    def effects(self) -> Effects:
        """What its faults do."""
        return effects(self.faults, self.environment.robots)

    @property
    def lanes(self) -> int:
        """Number of lanes, padding included."""
        return -(-self.environment.robots * self.size // L.VECTOR) * L.VECTOR

    @property
    def pairs(self) -> int:
        """Number of pairs of robots."""
        return self.size * self.environment.robots * (self.environment.robots - 1) // 2


def trials_at_once(robots: int) -> int:
    """Return how many trials of so many robots fit a block."""
    pairs = max(robots * (robots - 1) // 2, 1)
    return max(min(L.LANES // robots, L.PAIRS // pairs), 1)


def packed(worlds: Sequence[World], threads: int) -> Iterator[list[World]]:
    """Yield lists of worlds that fit a block each, as many for each thread, about alike."""
    total = sum(world.lanes for world in worlds)
    rounds = -(-total // (L.LANES * threads))
    share = total / (rounds * threads)  # lanes of a block, if all were equal
    block: list[World] = []
    blocks = before = lanes = pairs = 0
    for world in worlds:
        full = lanes + world.lanes > L.LANES or pairs + world.pairs > L.PAIRS
        enough = before + lanes + world.lanes / 2 > share * (blocks + 1)
        if block and (full or enough):
            yield block
            blocks += 1
            before += lanes
            block, lanes, pairs = [], 0, 0
        block.append(world)
        lanes += world.lanes
        pairs += world.pairs
    if block:
        yield block


def build(worlds: Sequence[World], wanted: Wanted, all_inputs: bool = False) -> Block:
    """Return a block at its start."""
    wants = wanted.stages
    every = all_inputs or wanted.all_inputs
    trials = sum(world.size for world in worlds)
    hidden = max(network.hidden for world in worlds for network in world.networks)
    shifts = max(world.environment.robots // 2 for world in worlds)
    most_obstacles = max(world.environment.obstacles for world in worlds)
    fine = max(fine_side(world.environment.arena) for world in worlds)
    contacts = max(most_obstacles * L.LANES, 1)
    networks = [network for world in worlds for network in world.networks]
    neurons, biases, sources, weights = _networks(networks, hidden)
    block = Block(
        segments=np.zeros((len(worlds), len(Segment._fields)), np.int32),
        limits=np.zeros((len(worlds), L.LIMITS), np.float32),
        f=_aligned(L.FLOAT_ROWS * L.STRIDE, np.float32),
        n=_aligned(L.WHOLE_ROWS * L.STRIDE, np.int32),
        w=_aligned(L.WIDE_ROWS * L.WIDE, np.float32),
        a=_aligned((L.HIDDEN + 2 * hidden + 1) * L.STRIDE, np.float32),
        keys=np.zeros(L.STRIDE, np.uint32),
        minds=np.zeros((len(networks), L.MIND_FIELDS), np.int32),
        neurons=neurons,
        biases=biases,
        sources=sources,
        weights=weights,
        p=_aligned(L.PAIR_FLOATS * L.PAIR_STRIDE, np.float32),
        m=_aligned(L.PAIR_WHOLES * L.PAIR_STRIDE, np.int32),
        sums=np.zeros(L.STRIDE, np.int64),
        presses=np.zeros((max(shifts, 1) * L.STRIDE, 4), np.float32),
        met=np.full(max(shifts, 1) * L.STRIDE, -1, np.int32),
        obstacles=np.full(max(2 * most_obstacles, 1) * L.STRIDE, 1e6, np.float32),
        blocks=np.zeros(max(2 * most_obstacles, 1) * L.STRIDE, np.float32),
        blocked=np.full(max(most_obstacles, 1) * L.STRIDE, -1, np.int32),
        touching=np.zeros((contacts, L.OBSTACLE_FIELDS), np.float32),
        touched=np.zeros((contacts, 2), np.int32),
        since=np.zeros((trials, GRID * GRID), np.int32),
        crowd=np.zeros((trials, GRID * GRID), np.int32),
        patrol=np.zeros((trials, 2), np.int64),
        fine=np.zeros((trials, fine * fine if wants & VISITS else 1), np.int32),
        features=np.zeros((trials, *SDBC_SUMS), np.float64),
        spirit=np.zeros((len(worlds), STATES * ACTIONS if wants & SITUATIONS else 1), np.int32),
        own=_aligned(max(len(wanted.laws), 1) * L.OWN_ROWS, np.float32),
        laws=np.array([address(law) for law in wanted.laws], np.int64),
        wants=wants,
        hidden=hidden,
    )
    _rest(block)
    first = trial = neuron = mind = 0
    for s, world in enumerate(worlds):
        env = world.environment
        block.segments[s] = Segment(
            first=first,
            robots=env.robots,
            trials=world.size,
            padded=world.lanes,
            live=ALL_INPUTS if every else world.live,
            minds=mind,
            mind_count=len(world.networks),
            obstacles=env.obstacles,
            world=trial,
            rab_offset=int(world.effects.some_misheard),
            fine_side=fine_side(env.arena),
            size=env.robots * world.size,
            odd=int(world.effects.some_odd),
        )
        block.limits[s] = limits(env, world.noise)
        _settle(block, world, first)
        _read(block, world, first, every)
        trial += world.size
        for robot, network in enumerate(world.networks):
            alone = len(world.networks) == 1
            # Whole vectors: what is too much belongs to the next robot, which thinks later.
            lane = first + robot * world.size
            lanes = world.lanes if alone else -(-world.size // L.VECTOR) * L.VECTOR
            count = len(network.biases)
            block.minds[mind] = lane, lanes, neuron, count
            neuron += count
            mind += 1
        first += world.lanes
    return block


def _aligned(size: int, kind: type[np.float32] | type[np.int32]) -> np.ndarray:
    """Return zeros that begin with a line of the cache, so that no vector lies in two."""
    memory = np.zeros(4 * size + CACHE_LINE, np.uint8)
    first = -memory.ctypes.data % CACHE_LINE
    return memory[first : first + 4 * size].view(kind)


def _networks(networks: Sequence[Network], hidden: int) -> tuple[np.ndarray, ...]:
    """Return neurons (target, first link, links), biases, sources and weights of all.

    There are rows of activations for so many hidden neurons, for even and for odd cycles.
    """
    neurons = []
    links = 0
    for network in networks:
        bounds = network.first_link
        for u in range(len(network.biases)):
            neurons.append((16 + u, links + bounds[u], bounds[u + 1] - bounds[u]))
        links += int(bounds[-1])
    sources = np.concatenate([network.sources for network in networks])
    rows = np.where(sources < CONSTANT, sources, L.HIDDEN + sources - FIRST_HIDDEN)
    odd = np.where(sources < CONSTANT, 0, hidden)
    return (
        np.array(neurons, np.int32),
        np.concatenate([network.biases for network in networks]),
        (L.STRIDE * np.stack([rows, rows + odd])).astype(np.int32),
        np.concatenate([network.weights for network in networks]),
    )


def _rest(block: Block) -> None:
    """Put all lanes at rest in the middle of nowhere; lanes of robots are set later."""
    f, n = block.f, block.n
    for row, value in (
        (L.X, 500.0),
        (L.Y, 500.0),
        (L.SIDE, 1000.0),
        (L.COS, 1.0),
        (L.GAIN, 1.0),
        (L.REAR_GAIN, 1.0),
    ):
        f[row : row + L.STRIDE] = value
    for row in (L.WALLED_X, L.WALLED_Y, L.CELL, L.FINE):
        n[row : row + L.STRIDE] = -1
    block.m[L.PLACE : L.PLACE + L.PAIR_STRIDE] = np.arange(L.PAIR_STRIDE)


def _settle(block: Block, world: World, first: int) -> None:
    """Put the robots of a world at their places."""
    env = world.environment
    size = env.robots * world.size
    here = slice(first, first + size)

    def lay(row: int, values: np.ndarray) -> None:
        """Fill a float row with values (trials, robots), or (robots,) for all trials."""
        table = np.broadcast_to(values, (world.size, env.robots))
        block.f[row + first : row + first + size] = table.T.ravel()

    heading = (world.poses[..., 2].astype(np.float64) + math.pi) % (2 * math.pi) - math.pi
    lay(L.X, world.poses[..., 0])
    lay(L.Y, world.poses[..., 1])
    lay(L.HEADING, heading)
    lay(L.COS, np.cos(heading))
    lay(L.SIN, np.sin(heading))
    broken = world.effects
    lay(L.WHEEL_LEFT, env.max_speed * broken.wheels[:, 0])
    lay(L.WHEEL_RIGHT, env.max_speed * broken.wheels[:, 1])
    lay(L.GAIN, broken.gain)
    lay(L.AMPLITUDE, np.where(np.isnan(broken.noise), world.noise, broken.noise))
    lay(L.OFFSET, broken.offset)
    lay(L.REAR_AMPLITUDE, np.array(world.noise))
    lay(L.SIDE, np.array(env.arena))
    lay(L.MARGIN, np.array(margin(env.max_speed)))
    lay(L.HEARS_WITHIN, broken.hears_within)
    radios = L.MISHEARS * broken.rab_offset | L.SILENT * broken.dead
    for row, values in ((L.RAB_FAULT, radios), (L.HIT, broken.hit)):
        block.n[row + first : row + first + size] = np.repeat(values, world.size)
    trial = np.tile(first + np.arange(world.size), env.robots)
    block.n[L.TRIAL + first : L.TRIAL + first + size] = trial
    block.keys[here] = world.keys.T.ravel()
    twice = L.WIDE_LANE + 2 * first
    block.m[twice : twice + 2 * size] = np.tile(first + np.arange(size), 2)
    for o in range(env.obstacles):
        for axis in range(2):
            row = (2 * o + axis) * L.STRIDE + first
            block.obstacles[row : row + size] = np.tile(world.obstacles[:, o, axis], env.robots)


def _read(block: Block, world: World, first: int, every: bool) -> None:
    """Note which inputs each robot of a world reads."""
    lanes = world.keys.size // len(world.networks)
    for robot, network in enumerate(world.networks):
        at = L.READS + first + robot * lanes
        block.n[at : at + lanes] = ALL_INPUTS if every else network.live


def results(
    block: Block, worlds: Sequence[World], cycles: int, laws: Sequence[Law] = ()
) -> list[dict[str, np.ndarray]]:
    """Return, for each world, the sums of its trials by name, after so many cycles."""
    patrols = np.zeros((len(block.patrol), 2))
    finish(block, cycles, patrols)
    found = []
    for s in range(len(worlds)):
        segment = Segment(*block.segments[s].tolist())
        here = slice(segment.world, segment.world + segment.trials)

        def total(row: int, segment: Segment = segment, of: np.ndarray = block.f) -> np.ndarray:
            """Add up a float row over the robots of each trial."""
            size = segment.robots * segment.trials
            lanes = of[row + segment.first : row + segment.first + size]
            summed: np.ndarray = np.add.reduce(
                lanes.reshape(segment.robots, segment.trials), 0, np.float64
            )
            return summed

        sums = {
            "centre_distance": total(L.AGGREGATION),
            "nearest_distance": total(L.DISPERSION),
            "flock": total(L.FLOCKING),
            "patrol": patrols[here, 0],
            "border": patrols[here, 1],
            "radius": total(L.CENTRE),
            "features": block.features[here],
        }
        for k, law in enumerate(laws):
            sums[law.key] = total(k * L.OWN_ROWS, of=block.own)
        if block.wants & VISITS:
            sums["visits"] = block.fine[here, : segment.fine_side**2]
            sums["spread"] = survey(sums["visits"])
        if block.wants & SITUATIONS:
            sums["situations"] = block.spirit[s]
        found.append(sums)
    return found


__all__ = ["World", "build", "packed", "results", "run", "trials_at_once"]
