"""Descriptors: what distinguishes behaviours, each from the sums of a simulation.

hbd          where the swarm was: uniformity, deviation, coverage
sdbc         how the swarm moved and held together: five features, mean and SD of each
spirit       what a robot did in which sensory state: p(action | state)
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from qed.compile import entry
from qed.swarm.environment import Environment
from qed.swarm.laws.scoring import FINE_CELL, fine_side, midpoint_distances
from qed.swarm.simulate import Outcome

HBD = ("uniformity", "deviation", "coverage")


def hbd(outcome: Outcome, environments: Sequence[Environment]) -> np.ndarray:
    """Return where each swarm was, the hand-coded descriptor: (controllers, 3).

    The arena is divided in fine cells of 0.11 m.  In a trial, p_c is the part of all robot-cycles
    spent in cell c, and n the number of visited cells.

    uniformity : (1 - 1/n) - 1/2 sum over visited cells of |p_c - 1/n|, that is the largest
        possible total variation distance to a uniform distribution over these cells, minus the
        actual one
    deviation : mean distance to the arena's centre, over half the arena's diagonal
    coverage : n over the number of all fine cells

    The descriptor is the average of each over the trials.
    """
    if outcome.radius is None or outcome.spread is None:
        raise ValueError("the outcome holds no sums for HBD: simulate with descriptors=['hbd']")
    total, visited, above, many = np.moveaxis(outcome.spread, 2, 0)
    excess = (above * visited - many * total) / (visited * total)
    sides = np.array([[environment.arena] for environment in environments])
    features = (
        (1.0 - 1.0 / visited) - excess,
        outcome.radius / (sides * math.sqrt(0.5)),
        visited / np.array([[fine_side(side) ** 2] for side in sides[:, 0]]),
    )
    mean: np.ndarray = np.stack(features, axis=2).mean(axis=1)
    return mean


FEATURES = ("speed", "turning", "walls", "robots", "nearest")
SDBC = tuple(f"{feature} {part}" for feature in FEATURES for part in ("mean", "SD"))
LARGEST_SD = 0.6
WEISZFELD_STEPS = 200


def sdbc(outcome: Outcome, environments: Sequence[Environment]) -> np.ndarray:
    """Return how each swarm moved, systematically derived: (controllers, 10).

    In every cycle five features are taken, each the mean over robots:

    speed : 0.5 + 0.5 v, v the motion along the heading over the top speed
    turning : 0.5 + 0.5 w, w the turn over that with opposed wheels at top speed
    walls : distance to the middles of the four walls, mean of the four; scaled so that 0 and 1 are
        the smallest and the largest value on a grid of points one robot apart
    robots : distance to the other robots, over max(M / sqrt(N/2), L)
    nearest : distance to the nearest other robot, over c

    L is the arena's side, M its diagonal, N the number of robots; c is L/2 above 9 robots, M/2
    from 5 to 9, L for 4, and M below.  A trial is described by the mean and the SD (population,
    over cycles, divided by 0.6) of each feature in turn; a controller by the geometric median of
    its trials.  Values may leave [0, 1].
    """
    if outcome.features is None:
        raise ValueError("the outcome holds no sums for SDBC: simulate with descriptors=['sdbc']")
    low, width = np.array([scale(environment) for environment in environments]).swapaxes(0, 1)
    mean, mean_square = np.moveaxis(outcome.features, 3, 0)
    # Rounding may leave a feature that never changes with a variance just below zero.
    deviation = np.sqrt(np.maximum(mean_square - mean * mean, 0.0))
    means = (mean - low[:, None]) / width[:, None]
    deviations = deviation / (width[:, None] * LARGEST_SD)
    trials = np.stack([means, deviations], axis=3)
    return geometric_median(trials.reshape(*trials.shape[:2], len(SDBC)))


@lru_cache(maxsize=4096)
def scale(environment: Environment) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the value that is 0 and the width that is 1 on the scale of each feature."""
    side, robots = environment.arena, environment.robots
    diagonal = side * math.sqrt(2.0)
    nearest_wall, farthest_wall = wall_range(side)
    between = max(diagonal / math.sqrt(robots / 2.0), side)
    if robots > 9:
        nearest = side / 2.0
    elif robots >= 5:
        nearest = diagonal / 2.0
    else:
        nearest = side if robots == 4 else diagonal
    low = (0.0, 0.0, nearest_wall, 0.0, 0.0)
    return low, (1.0, 1.0, farthest_wall - nearest_wall, between, nearest)


@lru_cache(maxsize=64)
def wall_range(side: float) -> tuple[float, float]:
    """Return the smallest and the largest mean distance to the middles of the walls (m).

    They are those of points one robot (0.11 m) apart, the first and the last at least one
    robot from the walls.
    """
    steps = math.floor(side / FINE_CELL + 1e-9) - 1
    points = [FINE_CELL * step for step in range(1, steps + 1)]
    found = [float(midpoint_distances(x, y, side)) for x in points for y in points]
    return min(found), max(found)


def geometric_median(points: np.ndarray) -> np.ndarray:
    """Return the geometric median of each batch of points, (batches, points, dimensions).

    It is the point with the smallest summed distance to all, by 200 steps of Weiszfeld's
    iteration from the average of the first two; a point at no distance is left out of a step.
    """
    # Batches lie side by side, so that a step treats several at once.
    points = np.ascontiguousarray(np.moveaxis(points, 0, 2), np.float64)
    median = points[:2].mean(axis=0)
    if len(points) > 1:
        batches = median.shape[1]
        weiszfeld(points, median, np.empty_like(median), np.empty(batches), np.empty(batches))
    return np.ascontiguousarray(median.T)


@entry
def weiszfeld(points: Any, median: Any, pull: Any, weight: Any, total: Any) -> None:
    """Improve medians (dimensions, batches); the last three arrays are scratch."""
    count, dimensions, batches = points.shape
    for _ in range(WEISZFELD_STEPS):
        pull[:] = 0.0
        total[:] = 0.0
        for p in range(count):
            weight[:] = 0.0
            for d in range(dimensions):
                for b in range(batches):
                    apart = points[p, d, b] - median[d, b]
                    weight[b] += apart * apart
            for b in range(batches):
                weight[b] = 1.0 / math.sqrt(weight[b]) if weight[b] > 0.0 else 0.0
                total[b] += weight[b]
            for d in range(dimensions):
                for b in range(batches):
                    pull[d, b] += weight[b] * points[p, d, b]
        for d in range(dimensions):
            for b in range(batches):
                median[d, b] = pull[d, b] / total[b] if total[b] > 0.0 else median[d, b]


STATES = 64
ACTIONS = 16


def spirit(outcome: Outcome) -> np.ndarray:
    """Return p(action | sensory state) of each controller, float32 (controllers, 1024).

    A sensory state is one of 64: which of six groups of sensors are active (front-left, front,
    front-right and rear proximity; front and rear range-and-bearing).  An action is one of 16: a
    quarter of the range of speeds for the left wheel, and one for the right.  The descriptor holds
    the part that each action has in each state, over all robots, cycles and trials, at place
    16 * state + action; in a state that never came up all actions have 1/16.
    """
    if outcome.situations is None:
        raise ValueError(
            "the outcome holds no counts for SPIRIT: simulate with descriptors=['spirit']"
        )
    counts = outcome.situations
    totals = counts.sum(axis=2, keepdims=True)
    part = np.where(totals > 0, counts / np.maximum(totals, 1), 1.0 / ACTIONS)
    return part.astype(np.float32).reshape(len(counts), STATES * ACTIONS)


def spirit_distance(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return how far behaviours are apart, from 0 (the same) to 1 (never the same action).

    It is the total variation distance 1/2 sum over actions of |p(a|s) - q(a|s)|, averaged over
    the 64 states.  ``p`` and ``q`` are descriptors (..., 1024) that broadcast together.
    """
    apart = np.abs(np.asarray(p, np.float64) - np.asarray(q, np.float64))
    total: np.ndarray = apart.sum(axis=-1) / (2 * STATES)
    return total
