"""SDBC, the systematically derived behaviour characterisation: how the swarm moved.

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

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from qed.compile import entry
from qed.swarm.environment import Environment
from qed.swarm.laws.scoring import FINE_CELL, midpoint_distances
from qed.swarm.simulate import Outcome

FEATURES = ("speed", "turning", "walls", "robots", "nearest")
NAMES = tuple(f"{feature} {part}" for feature in FEATURES for part in ("mean", "SD"))
LARGEST_SD = 0.6
WEISZFELD_STEPS = 200


def describe(outcome: Outcome, environments: Sequence[Environment]) -> np.ndarray:
    """Return mean and SD of each feature of each controller, (controllers, 10)."""
    if outcome.features is None:
        raise ValueError("the outcome holds no sums for SDBC: simulate with descriptors=['sdbc']")
    low, width = np.array([scale(environment) for environment in environments]).swapaxes(0, 1)
    mean, mean_square = np.moveaxis(outcome.features, 3, 0)
    # Rounding may leave a feature that never changes with a variance just below zero.
    deviation = np.sqrt(np.maximum(mean_square - mean * mean, 0.0))
    means = (mean - low[:, None]) / width[:, None]
    deviations = deviation / (width[:, None] * LARGEST_SD)
    trials = np.stack([means, deviations], axis=3)
    return geometric_median(trials.reshape(*trials.shape[:2], len(NAMES)))


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
