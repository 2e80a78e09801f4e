"""HBD, the hand-coded behavioural descriptor: where the swarm was.

The arena is divided in fine cells of 0.11 m.  In a trial, p_c is the part of all robot-cycles
spent in cell c, and n the number of visited cells.

uniformity : (1 - 1/n) - 1/2 sum over visited cells of |p_c - 1/n|, that is the largest
    possible total variation distance to a uniform distribution over these cells, minus the
    actual one
deviation : mean distance to the arena's centre, over half the arena's diagonal
coverage : n over the number of all fine cells

The descriptor is the average of each over the trials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from qed.swarm.compile import entry
from qed.swarm.environment import Environment
from qed.swarm.simulate import Outcome

NAMES = ("uniformity", "deviation", "coverage")


def describe(outcome: Outcome, environments: Sequence[Environment]) -> np.ndarray:
    """Return uniformity, deviation and coverage of each controller, (controllers, 3)."""
    if outcome.radius is None:
        raise ValueError("the outcome holds no sums for HBD: simulate with descriptors=['hbd']")
    found = np.empty((*outcome.radius.shape, len(NAMES)))
    half_diagonal = np.array([environment.arena * math.sqrt(0.5) for environment in environments])
    found[:, :, 1] = outcome.radius / half_diagonal[:, None]
    for visits, trials in zip(outcome.visits, found, strict=True):
        spread(np.ascontiguousarray(visits), trials[:, 0], trials[:, 2])
    mean: np.ndarray = found.mean(axis=1)
    return mean


@entry
def spread(visits: Any, uniformity: Any, coverage: Any) -> None:
    """Fill in uniformity and coverage of each trial from its visits (trials, cells).

    What lies above 1/n and what lies below it have the same sum, so the distance to uniform is
    what the cells above it have too much: whole numbers until the last division.
    """
    trials, cells = visits.shape
    for t in range(trials):
        total = 0
        visited = 0
        for c in range(cells):
            total += visits[t, c]
            visited += visits[t, c] > 0
        fair = total // visited
        above = 0
        many = 0
        for c in range(cells):
            if visits[t, c] > fair:
                above += visits[t, c]
                many += 1
        excess = (above * visited - many * total) / (visited * total)
        uniformity[t] = (1.0 - 1.0 / visited) - excess
        coverage[t] = visited / cells
