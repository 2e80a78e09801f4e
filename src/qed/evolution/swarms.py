"""Robot swarms as a domain of MAP-Elites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qed.controller.genome import Genomes
from qed.controller.variation import random_genomes, vary
from qed.evolution.algorithms import Algorithm
from qed.swarm.environment import Environment
from qed.swarm.robot import CYCLE, PROXIMITY_NOISE
from qed.swarm.simulate import Job, Outcome, Ready, cores, perform


@dataclass(frozen=True)
class Swarms:
    """Swarms that learn a task: random networks, their variation, their evaluation."""

    task: str
    algorithm: Algorithm
    trials: int
    seconds: float  # simulated time of a trial (s)
    seed: int  # decides start poses and noise
    threads: int | None = None

    def random(self, keys: np.ndarray) -> Genomes:
        """Return random genomes."""
        return random_genomes(keys)

    def vary(self, parents: Genomes, keys: np.ndarray) -> Genomes:
        """Return mutated genomes."""
        return vary(parents, keys)

    def evaluate(
        self, solutions: Genomes, environments: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return mean fitness over trials, and behaviour if cells are behaviours."""
        [result] = together([self], [solutions], [environments])
        return result

    def worlds(self, count: int, environments: np.ndarray | None) -> list[Environment]:
        """Return the environment of each solution."""
        if environments is None:
            return [Environment()] * count
        return [Environment.from_options(options) for options in environments.tolist()]


def together(
    domains: Sequence[Swarms],
    batches: Sequence[Genomes],
    environments: Sequence[np.ndarray | None],
) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Evaluate batches of several searches in one simulation.

    Trials, seconds, task and algorithm must be the same; seeds may differ.
    """
    first = domains[0]
    worlds = [
        domain.worlds(len(batch.hidden), options)
        for domain, batch, options in zip(domains, batches, environments, strict=True)
    ]
    sizes = [len(some) for some in worlds]
    job = Job(
        controllers=[Ready(made) for batch in batches for made in batch.networks()],
        environments=[env for some in worlds for env in some],
        faults=[None] * sum(sizes),
        seeds=[d.seed for d, size in zip(domains, sizes, strict=True) for _ in range(size)],
        trials=first.trials,
        cycles=round(first.seconds / CYCLE),
        start=None,
        noise=PROXIMITY_NOISE,
    )
    outcome = perform(job, [first.task], first.algorithm.sums, first.threads or cores())
    objective = outcome.fitness[first.task].mean(1)
    behaviour = _behaviour(first.algorithm, outcome, job.environments)
    ends = np.cumsum(sizes)
    return [
        (objective[end - size : end], None if behaviour is None else behaviour[end - size : end])
        for end, size in zip(ends.tolist(), sizes, strict=True)
    ]


def _behaviour(
    algorithm: Algorithm, outcome: Outcome, environments: Sequence[Environment]
) -> np.ndarray | None:
    return None if algorithm.describe is None else algorithm.describe(outcome, environments)
