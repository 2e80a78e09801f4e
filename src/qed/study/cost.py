"""What a study costs: in robot-steps, and in seconds of the engine that is asked for.

Robot-steps are robots x control cycles x trials x controllers.  Three speeds (robot-steps/s) tell
how long they take: of random networks in the normal environment ("healthy"), of random networks in
QED's environments ("mixed"), and of broken swarms ("broken").  They are measured here, with all
cores or on the GPU.  Evolved swarms are slower than random ones where they crowd together: how
much on a GPU is known for each task.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from qed.definitions import defined
from qed.evolution.algorithms import Algorithm
from qed.recovery.search.strategies import STRATEGIES
from qed.speed import BATCH, Case, kernel_speed, random_networks, speeds, warm_up
from qed.study.beyond import BUDGETS, EFFORT
from qed.study.plan import ROBOTS, Plan
from qed.study.work import batches
from qed.swarm.backend import described, problem
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.robot import CYCLE
from qed.swarm.simulate import cores

# Solutions of a map after so many evaluations: runs of ours with 20,000 and 80,000, and the
# paper's.
SOLUTIONS = {
    "hbd": {20_000: 320, 80_000: 780, 2_402_000: 1091},
    "sdbc": {20_000: 45, 80_000: 66, 2_402_000: 130},
    "spirit": {20_000: 110, 80_000: 127, 2_402_000: 127},
}
# Trials that go beyond the paper, besides those that a kit's effort names: of each solution in a
# race, of each on the short list in swarms that are alike, of a playbook, and of a fault that
# validates; for a team, of each candidate in five or six kinds of faults.
RACED, PLAIN, PLAYED, VALIDATED = 2.0, 12.0, 2_600.0, 250.0
TEAMED, TEAMS_OF = 130.0, 135
WALL = 0.5  # s to measure each speed on a CPU
ON_GPU = 5 * BATCH  # controllers that fill a GPU, as runs side by side do

# What ``engine`` measured on an H200.
KNOWN_GPU = "NVIDIA H200"
KNOWN = {"healthy": 1.9e9, "mixed": 1.2e9, "broken": 1.0e9}
KNOWN_CPU = {"healthy": 1.2e7, "mixed": 0.55e7, "broken": 1.1e7}  # a core or two
DESCRIBED = 0.7  # of the speed when SPIRIT's situations are counted too
# What its runs had of the speed of random networks, by task: in proportion to earlier runs, scaled
# so that the 60 runs of docs/results/study.md take as long as they took.
GPU_PACE = {
    "aggregation": 0.75,
    "dispersion": 0.75,
    "flocking": 1.2,
    "patrolling": 1.2,
    "border-patrolling": 1.4,
}
GPU_RECOVERY_PACE = 1.4  # the speed of evolved swarms that break, of that of random ones


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


def beyond(plan: Plan, algorithm: str) -> float:
    """Return about the robot-steps of what goes beyond the paper on one map."""
    if not plan.searched:
        return 0.0
    effort, sizes = EFFORT, solutions(algorithm, plan.evaluations)
    some, few = min(sizes, effort.candidates), min(sizes, effort.controllers)
    kit = sizes * (effort.surveyed + RACED) + some * (effort.screened + PLAIN)
    kit += few * effort.trials * (effort.faults + PLAIN)
    kit += PLAYED + effort.validation * (RACED * few + VALIDATED)
    answers = len(STRATEGIES) * (BUDGETS[-1] + 0.5 * len(BUDGETS) * plan.fresh)
    team = RACED * sizes + TEAMED * min(sizes, TEAMS_OF)
    return (kit + plan.searched * (answers + team)) * _cycles(plan) * ROBOTS


def _cycles(plan: Plan) -> int:
    return round(plan.seconds / CYCLE)


class Engine(NamedTuple):
    """What simulates, and how fast (robot-steps/s) it is with each kind of swarms."""

    name: str
    backend: str
    speeds: Mapping[str, float]
    missing: str | None = None  # why it is not here, where its speeds could not be measured


def engine(plan: Plan, backend: str = "cpu", wall: float = WALL) -> Engine:
    """Return the engine for such trials, measured for a few seconds if it is here."""
    if backend == "cuda" and (why := problem()) is not None:
        return Engine(KNOWN_GPU, backend, KNOWN, why.rstrip("."))
    networks = random_networks(ON_GPU if backend == "cuda" else BATCH)
    mixed = Environment.sample(len(networks))
    cases = {
        "healthy": Case(networks, trials=plan.trials),
        "mixed": Case(networks, mixed, trials=plan.trials),
        "broken": Case(networks, trials=plan.retrials, faults=Faults.sample(ROBOTS)),
    }
    name = described(backend, cores())
    if backend == "cuda":
        return Engine(name, backend, {kind: kernel_speed(case) for kind, case in cases.items()})
    warm_up()
    count = cores()
    found = {
        kind: speeds(case.lasting(wall, count), [count])[count] for kind, case in cases.items()
    }
    return Engine(name, backend, found)


def evolving(plan: Plan, task: str, algorithm: str, engine: Engine) -> float:
    """Return how long (s) one run takes, of as many side by side as fill the engine."""
    known = defined("algorithm", algorithm, Algorithm)
    swarms = "healthy" if known.environments is None else "mixed"
    pace = GPU_PACE.get(task, min(GPU_PACE.values())) if engine.backend == "cuda" else 1.0
    return evolution(plan, algorithm) / (pace * engine.speeds[swarms])


def trying(plan: Plan, algorithm: str, engine: Engine, batch: int | None = None) -> float:
    """Return how long (s) one map takes in a batch of faults, or in the normal environment."""
    if batch is None:
        return normal(plan, algorithm) / (DESCRIBED * _broken(engine))
    return recovery(plan, algorithm, batch) / _broken(engine)


def searching(plan: Plan, algorithm: str, engine: Engine) -> float:
    """Return how long (s) what goes beyond the paper takes on one map."""
    return beyond(plan, algorithm) / _broken(engine)


def _broken(engine: Engine) -> float:
    """Return the speed (robot-steps/s) of evolved swarms that break."""
    return engine.speeds["broken"] * (GPU_RECOVERY_PACE if engine.backend == "cuda" else 1.0)


def forecast(plan: Plan, engine: Engine) -> dict[str, tuple[float, float]]:
    """Return, for each algorithm, how long evolution and recovery take (s)."""
    found = {}
    for algorithm in plan.algorithms:
        runs = sum(evolving(plan, task, algorithm, engine) for task in plan.tasks)
        one = trying(plan, algorithm, engine)
        one += sum(trying(plan, algorithm, engine, k) for k in range(len(batches(plan))))
        one += searching(plan, algorithm, engine)
        found[algorithm] = (plan.replicates * runs, plan.replicates * len(plan.tasks) * one)
    return found
