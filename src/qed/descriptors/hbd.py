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

import math
from collections.abc import Sequence

import numpy as np

from qed.swarm.environment import Environment
from qed.swarm.laws.scoring import fine_side
from qed.swarm.simulate import Outcome

NAMES = ("uniformity", "deviation", "coverage")


def describe(outcome: Outcome, environments: Sequence[Environment]) -> np.ndarray:
    """Return uniformity, deviation and coverage of each controller, (controllers, 3)."""
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
