"""How long a study would take on this machine: its robot-steps, at speeds measured here."""

from __future__ import annotations

from qed.evolution.algorithms import ALGORITHMS
from qed.speed import BATCH, Case, random_networks, speeds, warm_up
from qed.study import cost
from qed.study.plan import ROBOTS, Plan
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.simulate import cores

WALL = 0.5  # s to measure each speed


def forecast(plan: Plan, wall: float = WALL) -> dict[str, tuple[float, float]]:
    """Return, for each algorithm, how long evolution and recovery take (s), all cores at work."""
    warm_up()
    networks = random_networks()
    sound = Case(networks, trials=plan.trials)
    mixed = Case(networks, Environment.sample(BATCH), trials=plan.trials)
    broken = Case(networks, trials=plan.retrials, faults=Faults.sample(ROBOTS))
    measured = {}
    for name, case in (("sound", sound), ("mixed", mixed), ("broken", broken)):
        measured[name] = speeds(case.lasting(wall, cores()), [cores()])[cores()]
    count = len(plan.tasks) * plan.replicates
    found = {}
    for algorithm in plan.algorithms:
        swarms = "sound" if ALGORITHMS[algorithm].environments is None else "mixed"
        evolving = count * cost.evolution(plan, algorithm) / measured[swarms]
        tried = cost.normal(plan, algorithm) + cost.recovery(plan, algorithm)
        found[algorithm] = (evolving, count * tried / measured["broken"])
    return found
