"""Blocks that go on where others ended, and blocks whose wheels are commanded from outside."""

from typing import Any

import numpy as np
from numpy import float32 as f32
from numpy import float64 as f64

from qed.compile import entry
from qed.swarm import environment_row as E
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.layout import Block
from qed.swarm.cpu.packing import Segment, build, run
from qed.swarm.laws.contact import margin, near_radius
from qed.swarm.measures import Wanted


def commanded(segment: Segment, wanted: Wanted) -> Block:
    """Return a block of a segment at its start that reads all inputs; no network drives it."""
    block = build([segment], wanted, all_inputs=True)
    block.networks[:, L.N_NEURONS] = 0
    return block


def lanes(values: np.ndarray, row: int, robots: int, trials: int) -> np.ndarray:
    """Return a row of a block of one segment, as (trials, robots)."""
    return values[row : row + robots * trials].reshape(robots, trials).T


@entry
def command(f: Any, wheels: Any) -> None:
    """Set the wheels' commands for the next cycle: (trials, robots, 2) parts of the top speed.

    Faults take their part.  The product is rounded once, as in a network's own step.
    """
    trials, robots = wheels.shape[:2]
    for robot in range(robots):
        for trial in range(trials):
            i = robot * trials + trial
            f[L.LEFT + i] = f32(f64(f[L.WHEEL_LEFT + i]) * wheels[trial, robot, 0])
            f[L.RIGHT + i] = f32(f64(f[L.WHEEL_RIGHT + i]) * wheels[trial, robot, 1])


@entry
def observe(a: Any, sensed: Any) -> None:
    """Fill in what all robots read, (trials, robots, inputs)."""
    trials, robots, inputs = sensed.shape
    for robot in range(robots):
        for k in range(inputs):
            for trial in range(trials):
                sensed[trial, robot, k] = a[k * L.STRIDE + robot * trials + trial]


def hasten(block: Block, segment: Segment, speed: float) -> int:
    """Let robots be so fast (m/s) from the next cycle on; return the number of near pairs.

    The pairs that the last cycle listed may be too few for that, so all are listed.
    """
    env = segment.environment
    size = env.robots * segment.size
    block.limits[0, E.MARGIN] = margin(speed)
    block.limits[0, E.NEAR2] = near_radius(env.proximity_range, speed) ** 2
    block.f[L.MARGIN : L.MARGIN + size] = margin(speed)
    near = 0
    for k in range(1, env.robots // 2 + 1):
        some = np.arange(size // 2 if 2 * k == env.robots else size)
        others = (some + k * segment.size) % size
        places = some + (k - 1) * L.STRIDE
        for row, values in ((L.NEAR_I, some), (L.NEAR_K, others), (L.NEAR_PAIR, places)):
            block.m[row + near : row + near + len(some)] = values
        near += len(some)
    return near


def go_on(before: Block, after: Block, sums: bool) -> None:
    """Let a new block begin where another one ended: places, motion, and what is pushed against.

    With ``sums`` also what tasks have added up.
    """

    def rows(first: int, count: int) -> slice:
        return slice(first, first + count * L.STRIDE)

    # Poses, velocities and impulses; the wheels' last command; the impulses of walls.
    for some in (rows(L.X, 11), rows(L.LEFT, 2), rows(L.MARGIN, 1), rows(L.KEPT_X, 12)):
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


__all__ = ["command", "commanded", "go_on", "hasten", "lanes", "observe", "run"]
