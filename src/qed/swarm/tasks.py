"""The five tasks: what each adds up in a trial, and how the sum becomes a fitness."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from qed.swarm.environment import Environment

PATROL_CELLS = 100
BORDER_CELLS = 36


@dataclass(frozen=True)
class Task:
    """A task: the sum that the simulator adds up for it, and how that becomes fitness.

    ``score`` takes the sums of some trials, the number of cycles, and the environment.
    """

    meaning: str
    sums: str
    score: Callable[[np.ndarray, int, Environment], np.ndarray]


def _diagonal(environment: Environment) -> float:
    return environment.arena * math.sqrt(2.0)


def _aggregation(sums: np.ndarray, cycles: int, env: Environment) -> np.ndarray:
    """One minus the mean distance to the swarm's centre over the arena's diagonal."""
    return 1.0 - sums / (cycles * env.robots * _diagonal(env))


def _dispersion(sums: np.ndarray, cycles: int, env: Environment) -> np.ndarray:
    """Mean distance to the nearest other robot over half the arena's diagonal."""
    return sums / (cycles * env.robots * _diagonal(env) / 2.0)


def _flocking(sums: np.ndarray, cycles: int, env: Environment) -> np.ndarray:
    """Mean over all pairs of how well they move together."""
    return sums / (cycles * max(env.robots * (env.robots - 1) / 2.0, 1.0))


def _patrolling(sums: np.ndarray, cycles: int, env: Environment) -> np.ndarray:
    return sums / (cycles * PATROL_CELLS)


def _border_patrolling(sums: np.ndarray, cycles: int, env: Environment) -> np.ndarray:
    return sums / (cycles * BORDER_CELLS)


TASKS: dict[str, Task] = {
    "aggregation": Task("come together", "centre_distance", _aggregation),
    "dispersion": Task("keep away from each other", "nearest_distance", _dispersion),
    "flocking": Task("move together, the same way", "flock", _flocking),
    "patrolling": Task("visit all cells of the arena again and again", "patrol", _patrolling),
    "border-patrolling": Task("visit the cells at the walls", "border", _border_patrolling),
}
