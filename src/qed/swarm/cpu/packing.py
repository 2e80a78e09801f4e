"""Blocks: segments packed side by side, as one thread simulates them from start to end.

Controllers with few trials share a block, so that loops stay long; environments may differ from
segment to segment.  A block's size is a compromise: long loops, and memory that stays in the cache.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from qed.controller.genome import Networks, each_of
from qed.controller.inputs import ALL_BITS, CONSTANT, FIRST_HIDDEN, LEFT, WHEELS
from qed.swarm import environment_row as E
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.cycle import finish, run
from qed.swarm.cpu.history import survey
from qed.swarm.cpu.layout import Block, SegmentFields
from qed.swarm.cpu.user_defined import address
from qed.swarm.environment import Environment
from qed.swarm.faults import Effects, Faults, effects
from qed.swarm.floor import laid_out
from qed.swarm.laws.contact import margin
from qed.swarm.laws.scoring import GRID, fine_side
from qed.swarm.measures import (
    ACTIONS,
    AGGREGATION,
    DISPERSION,
    FLOCKING,
    PATROLLING,
    SDBC_SUMS,
    SITUATIONS,
    STATES,
    VISITS,
    Wanted,
)
from qed.swarm.robot import OBSTACLE_RADIUS as RADIUS
from qed.swarm.robot import ROBOT
from qed.swarm.user_defined import Law

LINE = 16  # numbers of four bytes in a line of the cache
AHEAD = ROBOT.front
# Where whole-number rows, wide rows and rows of activations begin, after the float rows.
ROWS = np.cumsum([L.FLOAT_ROWS * L.STRIDE, L.WHOLE_ROWS * L.STRIDE, L.WIDE_ROWS * L.WIDE]).tolist()
spare: list[tuple[np.ndarray, ...]] = []  # memory of rows and of lists of pairs that no block uses
# Measures that are a row's sum over robots.
TOTALS = (
    ("centre_distance", AGGREGATION, L.AGGREGATION),
    ("nearest_distance", DISPERSION, L.DISPERSION),
    ("flock", FLOCKING, L.FLOCKING),
    ("radius", VISITS, L.CENTRE),
)


@dataclass(frozen=True)
class Segment:
    """One controller in one environment, for some trials."""

    controller: int  # its place in the caller's list
    trials: slice  # these trials of it
    networks: Networks  # of all swarms of the job
    rows: np.ndarray  # its own: one for all robots, or one for each
    environment: Environment
    faults: Faults | None
    poses: np.ndarray  # float32 (trials, robots, 3)
    start: np.ndarray  # the same as float32 (trials, robots, 5): x, y, cosine, sine, heading
    obstacles: np.ndarray  # (trials, n, 2), or 3 with their radii
    keys: np.ndarray  # uint32 (trials, robots)
    noise: float  # half width of the proximity noise

    @property
    def size(self) -> int:
        """Number of trials."""
        return len(self.poses)

    @property
    def effects(self) -> Effects:
        """What its faults do."""
        return effects(self.faults, self.environment.robots, AHEAD)

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


def packed(segments: Sequence[Segment], threads: int) -> Iterator[list[Segment]]:
    """Yield lists of segments that fit a block each, as many for each thread, about alike."""
    total = sum(segment.lanes for segment in segments)
    rounds = -(-total // (L.LANES * threads))
    share = total / (rounds * threads)  # lanes of a block, if all were equal
    block: list[Segment] = []
    blocks = before = lanes = pairs = 0
    for segment in segments:
        full = lanes + segment.lanes > L.LANES or pairs + segment.pairs > L.PAIRS
        enough = before + lanes + segment.lanes / 2 > share * (blocks + 1)
        if block and (full or enough):
            yield block
            blocks += 1
            before += lanes
            block, lanes, pairs = [], 0, 0
        block.append(segment)
        lanes += segment.lanes
        pairs += segment.pairs
    if block:
        yield block


def build(segments: Sequence[Segment], wanted: Wanted, all_inputs: bool = False) -> Block:
    """Return a block at its start."""
    wants = wanted.stages
    every = all_inputs or wanted.all_inputs
    trials = sum(segment.size for segment in segments)
    shifts = max(segment.environment.robots // 2 for segment in segments)
    most_obstacles = max(segment.environment.obstacles for segment in segments)
    fine = max(fine_side(segment.environment.arena) for segment in segments)
    contacts = max(most_obstacles * L.LANES, 1)
    rows = np.concatenate([segment.rows for segment in segments])
    table = segments[0].networks
    networks = table.take(rows)
    hidden = int(networks.neurons.max()) - len(WHEELS)
    reads = np.full(len(rows), ALL_BITS) if every else table.reads[rows]
    reads = reads.astype(np.int32)  # of 32 inputs the last one's bit is the sign
    neurons, sources = _neurons(networks, hidden)
    memory, pair_floats, pair_wholes = _memory(hidden)
    f, n, w, a = np.split(memory, ROWS)
    looks = bool(ROBOT.ground)
    floors, floor_of = laid_out([one.environment.floor if looks else None for one in segments])
    block = Block(
        segments=np.zeros((len(segments), len(SegmentFields._fields)), np.int32),
        limits=np.zeros((len(segments), E.COLUMNS), np.float32),
        f=f,
        n=n.view(np.int32),
        w=w,
        a=a,
        keys=np.zeros(L.STRIDE, np.uint32),
        networks=np.zeros((len(networks), L.NETWORK_FIELDS), np.int32),
        neurons=neurons,
        biases=networks.biases,
        sources=sources,
        weights=networks.weights,
        p=pair_floats,
        m=pair_wholes,
        sums=np.zeros(L.STRIDE, np.int64),
        pair_impulse=np.zeros((max(shifts, 1) * L.STRIDE, 4), np.float32),
        pair_step=np.full(max(shifts, 1) * L.STRIDE, -1, np.int32),
        obstacles=np.full(max(most_obstacles, 1) * L.OBSTACLE_ROWS, 1e6, np.float32),
        obstacle_impulse=np.zeros(max(2 * most_obstacles, 1) * L.STRIDE, np.float32),
        obstacle_step=np.full(max(most_obstacles, 1) * L.STRIDE, -1, np.int32),
        obstacle_contacts=np.zeros((contacts, L.OBSTACLE_FIELDS), np.float32),
        obstacle_places=np.zeros((contacts, 2), np.int32),
        since=np.zeros((trials, GRID * GRID), np.int32),
        crowd=np.zeros((trials, GRID * GRID), np.int32),
        patrol=np.zeros((trials, 2), np.int64),
        fine=np.zeros((trials, fine * fine if wants & VISITS else 1), np.int32),
        features=np.zeros((trials, *SDBC_SUMS), np.float64),
        spirit=np.zeros((len(segments), STATES * ACTIONS if wants & SITUATIONS else 1), np.int32),
        user_sums=_zeros(max(len(wanted.laws), 1) * L.USER_ROWS),
        laws=np.array([address(law) for law in wanted.laws], np.int64),
        floors=floors,
        wants=wants,
        hidden=hidden,
    )
    _rest(block)
    first = trial = neuron = network = 0
    for s, segment in enumerate(segments):
        env, size, broken = segment.environment, len(segment.rows), segment.effects
        block.segments[s] = SegmentFields(
            first=first,
            robots=env.robots,
            trials=segment.size,
            padded=segment.lanes,
            live=np.bitwise_or.reduce(reads[network : network + size]),
            networks=network,
            network_count=size,
            obstacles=env.obstacles,
            first_trial=trial,
            rab_offset=int(broken.some_misheard),
            fine_side=fine_side(env.arena),
            size=env.robots * segment.size,
            wears=int(broken.wear.any()),
            floor=floor_of[s, 0],
            floor_rows=floor_of[s, 1],
            floor_columns=floor_of[s, 2],
        )
        block.limits[s] = E.row(env, segment.noise)
        _settle(block, segment, first)
        own = segment.keys.size // size  # lanes of a network
        # Whole vectors: what is too much belongs to the next robot, whose network steps later.
        lanes = segment.lanes if size == 1 else -(-own // L.VECTOR) * L.VECTOR
        for robot in range(size):
            lane, count = first + robot * own, networks.neurons[network]
            block.n[L.READS + lane : L.READS + lane + own] = reads[network]
            block.networks[network] = lane, lanes, neuron, count
            neuron += count
            network += 1
        trial += segment.size
        first += segment.lanes
    return block


def _memory(hidden: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return memory for rows and for lists of pairs, if possible that of a block that is done.

    Rows are zero, but for those of packed robots: what is in these, and in the lists but for their
    places, does not matter, since they are written before they are read.
    """
    size = ROWS[-1] + (L.HIDDEN + 2 * hidden + 1) * L.STRIDE
    with suppress(IndexError):
        memory, floats, wholes = spare.pop()
        if len(memory) < size + LINE:
            return _begin(_zeros(size), size), floats, wholes
        rows = _begin(memory, size)
        rows[: L.P_X] = 0.0
        rows[L.P_PARTNERS :] = 0.0
        return rows, floats, wholes
    lists = [count * L.PAIR_STRIDE for count in (L.PAIR_FLOATS, L.PAIR_WHOLES)]
    floats, wholes = (_begin(_zeros(count), count) for count in lists)
    wholes = wholes.view(np.int32)
    wholes[L.PLACE : L.PLACE + L.PAIR_STRIDE] = np.arange(L.PAIR_STRIDE)
    return _begin(_zeros(size), size), floats, wholes


def release(block: Block) -> None:
    """Let another block have the memory of this one: fresh memory takes long to clear."""
    assert block.f.base is not None
    spare.append((block.f.base, block.p, block.m))


def _zeros(size: int) -> np.ndarray:
    """Return so many float32 zeros, and room to begin them with a line of the cache."""
    return np.zeros(size + LINE, np.float32)


def _begin(memory: np.ndarray, size: int) -> np.ndarray:
    """Return a part that begins with a line of the cache, so that no vector lies in two."""
    first = -memory.__array_interface__["data"][0] // 4 % LINE
    return memory[first : first + size]


def _neurons(networks: Networks, hidden: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the table of neurons, and where the row begins that a link reads, by turns.

    There are rows of activations for so many hidden neurons, for even and for odd cycles.
    """
    links = networks.links
    neurons = np.empty((len(links), 3), np.int32)
    neurons[:, 0] = LEFT + each_of(np.zeros_like(networks.neurons), networks.neurons)
    neurons[:, 1] = np.cumsum(links) - links
    neurons[:, 2] = links
    rows = np.empty((2, len(networks.sources)), np.int32)
    felt = networks.sources >= CONSTANT  # by hidden neurons
    rows[:] = networks.sources + np.int32(L.HIDDEN - FIRST_HIDDEN) * felt
    rows[1] += np.int32(hidden) * felt
    rows *= L.STRIDE
    return neurons, rows


def _rest(block: Block) -> None:
    """Put all lanes at rest in the middle of nowhere; lanes of robots are set later."""
    f, n = block.f, block.n
    for row, value in ((L.X, 500.0), (L.Y, 500.0), (L.SIDE, 1000.0), (L.COS, 1.0)):
        f[row : row + L.STRIDE] = value
    for row in (L.WALLED_X, L.WALLED_Y, L.CELL, L.FINE):
        n[row : row + L.STRIDE] = -1
    n[L.OWN : L.OWN + L.STRIDE] = block.m[L.PLACE : L.PLACE + L.STRIDE]


@lru_cache(maxsize=1024)
def _constants(env: Environment, faults: Faults | None, noise: float) -> tuple[np.ndarray, ...]:
    """Return what stays for a trial, for each robot: float rows, radios, and sensors that are hit.

    The float rows are those of ``layout.py`` from that of the left wheel on.
    """
    broken = effects(faults, env.robots, AHEAD)
    rows: dict[int, np.ndarray | float] = {
        L.WHEEL_LEFT: env.max_speed * broken.wheels[:, 0],
        L.WHEEL_RIGHT: env.max_speed * broken.wheels[:, 1],
        L.GAIN: broken.gain,
        L.AMPLITUDE: np.where(np.isnan(broken.noise), noise, broken.noise),
        L.OFFSET: broken.offset,
        L.HEARS_WITHIN: broken.hears_within,
        L.WEAR: broken.wear,
        L.SIDE: env.arena,
        L.MARGIN: margin(env.max_speed),
    }
    floats = np.zeros((len(rows), env.robots, 1), np.float32)
    for row, values in rows.items():
        floats[(row - L.WHEEL_LEFT) // L.STRIDE, :, 0] = values
    radios = L.MISHEARS * broken.rab_offset | L.SILENT * broken.dead
    return floats, radios[:, None], broken.hit[:, None]


def _settle(block: Block, segment: Segment, first: int) -> None:
    """Put the robots of a segment at their places."""
    env = segment.environment
    size = env.robots * segment.size

    def lanes(rows: np.ndarray, begin: int, count: int = 1) -> np.ndarray:
        """Return the segment's part of some rows, (rows, robots, trials)."""
        whole = rows[begin : begin + count * L.STRIDE].reshape(count, L.STRIDE)
        return whole[:, first : first + size].reshape(count, env.robots, segment.size)

    state = lanes(block.f, L.X, 5)
    state[...] = segment.start.T
    floats, radios, hit = _constants(env, segment.faults, segment.noise)
    lanes(block.f, L.WHEEL_LEFT, len(floats))[...] = floats
    lanes(block.n, L.RAB_FAULT)[...] = radios
    lanes(block.n, L.HIT)[...] = hit
    poses = block.f[L.POSES + 4 * first : L.POSES + 4 * (first + size)]
    poses.reshape(*state.shape[1:], 4)[...] = segment.start[..., :4].swapaxes(0, 1)
    own = block.n[L.OWN + first : L.OWN + first + size]
    lanes(block.n, L.TRIAL)[...] = own[: segment.size]
    lanes(block.keys, 0)[...] = segment.keys.T
    twice = L.WIDE_LANE + 2 * first
    block.m[twice : twice + 2 * size].reshape(2, size)[...] = own
    centres = segment.obstacles
    radius = centres[..., 2] if centres.shape[-1] > 2 else np.full(centres.shape[:2], RADIUS)
    for o in range(env.obstacles):
        for row, values in (
            (L.B_X, centres[:, o, 0]),
            (L.B_Y, centres[:, o, 1]),
            (L.B_RADIUS, radius[:, o]),
            (L.B_SQUARE, radius[:, o] ** 2),
            (L.B_REACH, radius[:, o] + ROBOT.outer_radius),
        ):
            at = o * L.OBSTACLE_ROWS + row + first
            block.obstacles[at : at + size] = np.tile(values, env.robots)


def results(
    block: Block, segments: Sequence[Segment], cycles: int, laws: Sequence[Law] = ()
) -> list[dict[str, np.ndarray]]:
    """Return, for each segment, the sums of its trials by name, after so many cycles."""
    patrols = np.zeros((len(block.patrol), 2))
    if block.wants & (PATROLLING | VISITS):
        finish(block, cycles, patrols)
    found = []
    for s in range(len(segments)):
        segment = SegmentFields(*block.segments[s].tolist())
        here = slice(segment.first_trial, segment.first_trial + segment.trials)

        def total(
            row: int, segment: SegmentFields = segment, of: np.ndarray = block.f
        ) -> np.ndarray:
            """Add up a float row over the robots of each trial."""
            size = segment.robots * segment.trials
            lanes = of[row + segment.first : row + segment.first + size]
            summed: np.ndarray = np.add.reduce(
                lanes.reshape(segment.robots, segment.trials), 0, np.float64
            )
            return summed

        sums = {name: total(row) for name, stage, row in TOTALS if block.wants & stage}
        sums |= {"patrol": patrols[here, 0], "border": patrols[here, 1]}
        sums["features"] = block.features[here]
        for k, law in enumerate(laws):
            sums[law.key] = total(k * L.USER_ROWS, of=block.user_sums)
        if block.wants & VISITS:
            sums["visits"] = block.fine[here, : segment.fine_side**2]
            sums["spread"] = survey(sums["visits"])
        if block.wants & SITUATIONS:
            sums["situations"] = block.spirit[s]
        found.append(sums)
    return found


__all__ = ["Segment", "build", "packed", "release", "results", "run", "trials_at_once"]
