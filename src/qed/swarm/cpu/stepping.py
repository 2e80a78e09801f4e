"""Worlds that go on: blocks that advance a few cycles at a time, driven by networks or commands."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy import float32 as f32
from numpy import float64 as f64

from qed.compile import entry
from qed.controller.inputs import CONSTANT
from qed.swarm import environment_row as E
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.layout import Block
from qed.swarm.cpu.packing import Segment, build, results, run
from qed.swarm.environment import Environment
from qed.swarm.laws.contact import margin, near_radius
from qed.swarm.laws.motion import worn
from qed.swarm.measures import Wanted


class Worlds:
    """The trials of one swarm, in a block for each segment, over some threads."""

    def __init__(self, segments: list[Segment], threads: int) -> None:
        self.segments = segments
        self.blocks: list[Block] = []
        self.near = [0] * len(segments)  # near pairs that the last cycle listed
        self.fastest = segments[0].environment.max_speed  # m/s, of a wheel so far
        self.shares = min(len(segments), threads)
        self.pool = ThreadPoolExecutor(self.shares - 1) if self.shares > 1 else None

    def build(
        self, wanted: Wanted, sums: bool, *, all_inputs: bool, commanded: bool, **changes: Any
    ) -> None:
        """Make blocks anew that go on where the present ones are.

        If they are commanded, no network drives them.  With ``sums`` they keep what tasks have
        added up.
        """
        self.segments = [replace(segment, **changes) for segment in self.segments]
        blocks = [build([segment], wanted, all_inputs=all_inputs) for segment in self.segments]
        for block in blocks if commanded else ():
            block.networks[:, L.N_NEURONS] = 0
        for before, after in zip(self.blocks, blocks, strict=False):
            go_on(before, after, sums)
        self.blocks = blocks

    def run(self, start: int, stop: int) -> None:
        """Let the cycles from ``start`` up to but not including ``stop`` pass."""

        def advance(k: int) -> None:
            self.near[k] = run(self.blocks[k], start, stop, self.near[k])

        self._each(advance)

    def step(self, cycle: int, wheels: np.ndarray, fastest: float) -> np.ndarray:
        """Let a cycle pass with commands (worlds, robots, 2) of at most so many m/s.

        Returns what is read afterwards, (worlds, robots, inputs).
        """
        faster = fastest > self.fastest
        self.fastest = max(fastest, self.fastest)
        if faster or (cycle == 1 and fastest > 0.0):
            for k, (block, segment) in enumerate(zip(self.blocks, self.segments, strict=True)):
                hasten(block, segment.environment, self.fastest)
                self.near[k] = list_pairs(block.m, segment.environment.robots, segment.size)
        sensed = np.empty((*wheels.shape[:2], CONSTANT), np.float32)

        def advance(k: int) -> None:
            block, some = self.blocks[k], self.segments[k].trials
            command(block.f, wheels[some], cycle)
            self.near[k] = run(block, cycle, cycle + 1, self.near[k])
            observe(block.a, sensed[some])

        self._each(advance)
        return sensed

    def sums(self, cycles: int, wanted: Wanted) -> Iterator[tuple[slice, dict[str, np.ndarray]]]:
        """Yield what was added up after so many cycles, for some trials after the other."""
        for block, segment in zip(self.blocks, self.segments, strict=False):
            yield segment.trials, results(block, [segment], cycles, wanted.laws)[0]

    def poses(self) -> np.ndarray:
        """Return where robots are, (worlds, robots, 3)."""
        found = np.concatenate([segment.poses for segment in self.segments])
        for block, segment in zip(self.blocks, self.segments, strict=False):
            size, robots = segment.size, segment.environment.robots
            for axis, row in enumerate((L.X, L.Y, L.HEADING)):
                lanes = block.f[row : row + robots * size].reshape(robots, size)
                found[segment.trials, :, axis] = lanes.T
        return found

    def _each(self, advance: Callable[[int], None]) -> None:
        """Let all blocks advance; the caller's thread does a share of them."""

        def work(first: int) -> None:
            for k in range(first, len(self.blocks), self.shares):
                advance(k)

        others = [self.pool.submit(work, k) for k in range(1, self.shares)] if self.pool else []
        try:
            work(0)
        finally:
            for other in others:
                other.result()


@entry
def command(f: Any, wheels: Any, cycle: int) -> None:
    """Set the wheels' commands for a cycle: (trials, robots, 2) parts of the top speed.

    Faults take their part.  The product is rounded once, as in a network's own step, which comes a
    cycle before its commands are carried out.
    """
    trials, robots = wheels.shape[:2]
    for robot in range(robots):
        for trial in range(trials):
            i = robot * trials + trial
            left = worn(f[L.WEAR + i], cycle - 1)
            f[L.LEFT + i] = f32(f64(f[L.WHEEL_LEFT + i]) * wheels[trial, robot, 0]) * left
            f[L.RIGHT + i] = f32(f64(f[L.WHEEL_RIGHT + i]) * wheels[trial, robot, 1]) * left


@entry
def observe(a: Any, sensed: Any) -> None:
    """Fill in what all robots read, (trials, robots, inputs)."""
    trials, robots, inputs = sensed.shape
    for robot in range(robots):
        for k in range(inputs):
            for trial in range(trials):
                sensed[trial, robot, k] = a[k * L.STRIDE + robot * trials + trial]


def hasten(block: Block, env: Environment, speed: float) -> None:
    """Look as far for contacts as robots of such a speed (m/s) need it."""
    block.limits[0, E.MARGIN] = margin(speed)
    block.limits[0, E.NEAR2] = near_radius(env.proximity_range, speed) ** 2
    block.f[L.MARGIN : L.MARGIN + block.segments[0, L.SIZE]] = margin(speed)


def list_pairs(m: np.ndarray, robots: int, trials: int) -> int:
    """List all pairs as near ones, in the order of ``near_pairs``; return their number.

    Nothing is listed before the first cycle, and too few pairs where robots become faster.
    """
    near, size = 0, robots * trials
    for k in range(1, robots // 2 + 1):
        some = np.arange(size // 2 if 2 * k == robots else size)
        others = (some + k * trials) % size
        places = some + (k - 1) * L.STRIDE
        for row, values in ((L.NEAR_I, some), (L.NEAR_K, others), (L.NEAR_PAIR, places)):
            m[row + near : row + near + len(some)] = values
        near += len(some)
    return near


def go_on(before: Block, after: Block, sums: bool) -> None:
    """Let a new block begin where another one ended: places, motion, and what is pushed against.

    With ``sums`` also what tasks have added up.
    """

    def rows(first: int, count: int) -> slice:
        return slice(first, first + count * L.STRIDE)

    # Poses, velocities and impulses; the wheels' last command; the impulses of walls.
    for some in (
        rows(L.X, 11),
        rows(L.POSES, 4),
        rows(L.LEFT, 2),
        rows(L.MARGIN, 1),
        rows(L.KEPT_X, 16),
    ):
        after.f[some] = before.f[some]
    after.n[rows(L.WALLED_X, 2)] = before.n[rows(L.WALLED_X, 2)]
    near = slice(L.NEAR_I, L.NEAR_I + 3 * L.PAIR_STRIDE)
    after.m[near] = before.m[near]
    for kept in ("limits", "pair_impulse", "pair_step", "obstacle_impulse", "obstacle_step"):
        getattr(after, kept)[:] = getattr(before, kept)
    if sums:
        after.f[rows(L.AGGREGATION, 3)] = before.f[rows(L.AGGREGATION, 3)]
        after.n[rows(L.CELL, 1)] = before.n[rows(L.CELL, 1)]
        for kept in ("since", "crowd", "patrol", "user_sums"):
            getattr(after, kept)[:] = getattr(before, kept)
