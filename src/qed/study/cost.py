"""What a study costs, in robot-steps: robots x control cycles x trials x controllers."""

from __future__ import annotations

import math

from qed.evolution.algorithms import ALGORITHMS
from qed.study.plan import ROBOTS, Plan
from qed.study.work import batches
from qed.swarm.environment import OPTIONS
from qed.swarm.robot import CYCLE


def robots(algorithm: str) -> float:
    """Return the mean number of robots of a swarm in evolution."""
    if ALGORITHMS[algorithm].environments is None:
        return float(ROBOTS)
    options = OPTIONS["robots"]
    return sum(options) / len(options)


def solutions(algorithm: str, evaluations: int) -> float:
    """Return about how many solutions a map has after so many evaluations.

    A map over environments fills like a board at which darts are thrown.  For the others: what
    our runs of 20,000 evaluations had, and the paper's of 2.4 million, joined by a line over
    the logarithm of evaluations.
    """
    if ALGORITHMS[algorithm].environments is not None:
        cells = math.prod(ALGORITHMS[algorithm].environments or ())
        return cells * (1.0 - math.exp(-evaluations / cells))
    ours, papers = {"hbd": (320, 1091), "sdbc": (45, 130), "spirit": (125, 127)}[algorithm]
    share = math.log(evaluations / 20_000) / math.log(2_402_000 / 20_000)
    return max(ours + share * (papers - ours), 0.25 * ours)


def evolution(plan: Plan, algorithm: str) -> float:
    """Return the robot-steps of one run."""
    return plan.evaluations * plan.trials * _cycles(plan) * robots(algorithm)


def normal(plan: Plan, algorithm: str) -> float:
    """Return the robot-steps of one map in the normal environment."""
    return solutions(algorithm, plan.evaluations) * plan.retrials * _cycles(plan) * ROBOTS


def recovery(plan: Plan, algorithm: str, batch: int | None = None) -> float:
    """Return the robot-steps of one map in a batch of combined faults, or in all of them."""
    faults = plan.faults if batch is None else len(batches(plan)[batch])
    return faults * normal(plan, algorithm)


def _cycles(plan: Plan) -> int:
    return round(plan.seconds / CYCLE)
