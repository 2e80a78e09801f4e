"""What a study costs, in robot-steps: robots x control cycles x trials x controllers."""

from __future__ import annotations

import math

from qed.definitions import defined
from qed.evolution.algorithms import Algorithm
from qed.study.plan import ROBOTS, Plan
from qed.study.work import batches
from qed.swarm.robot import CYCLE

# Solutions of a map after so many evaluations: runs of ours with 20,000 and 80,000, and the
# paper's.
SOLUTIONS = {
    "hbd": {20_000: 320, 80_000: 780, 2_402_000: 1091},
    "sdbc": {20_000: 45, 80_000: 66, 2_402_000: 130},
    "spirit": {20_000: 110, 80_000: 127, 2_402_000: 127},
}


def robots(algorithm: str) -> float:
    """Return the mean number of robots of a swarm in evolution."""
    return defined("algorithm", algorithm, Algorithm).robots


def solutions(algorithm: str, evaluations: int) -> float:
    """Return about how many solutions a map has after so many evaluations.

    A map over environments fills like a board at which darts are thrown.  For the others: what
    runs had, joined by lines over the logarithm of evaluations.
    """
    known = defined("algorithm", algorithm, Algorithm)
    if known.environments is not None:
        cells = math.prod(known.environments)
        return cells * (1.0 - math.exp(-evaluations / cells))
    (few, first), *rest = SOLUTIONS.get(known.name, SOLUTIONS["hbd"]).items()
    for many, last in rest:
        if evaluations <= many or (many, last) == rest[-1]:
            share = math.log(evaluations / few) / math.log(many / few)
            break
        few, first = many, last
    found = max(first + share * (last - first), 0.25 * first)
    # A map of a user's own is taken for one of HBD with as many cells.
    return min(found, known.space(evaluations, None).cells) if known.own else found


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
