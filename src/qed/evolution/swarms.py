"""Robot swarms as a domain of MAP-Elites."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from qed.controller.genome import Genomes
from qed.controller.variation import random_genomes, vary
from qed.evolution.algorithms import Algorithm
from qed.evolution.map_elites import Batch, Evaluated
from qed.swarm.environment import Attributes, Environment
from qed.swarm.job import Job, Ready
from qed.swarm.robot import CYCLE, PROXIMITY_NOISE
from qed.swarm.simulate import Pending, cores
from qed.swarm.tasks import Task

TRIALS_IN_ONE_GO = 2000  # of a simulation on a GPU, at least, where there are so many


@dataclass(frozen=True)
class Swarms:
    """Swarms that learn a task: random networks, their variation, their evaluation."""

    task: str | Task
    algorithm: Algorithm
    trials: int
    seconds: float  # simulated time of a trial (s)
    seed: int  # of the trials: decides start poses and noise
    threads: int | None = None
    backend: str = "cpu"  # or "cuda"

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
        [result] = self.begin([self], [Batch(solutions, environments)]).results()
        return result

    @staticmethod
    def together(domains: Sequence[Swarms], batch: int) -> list[list[int]]:
        """Return which of several searches are best simulated in one go."""
        return groups_of(domains, batch)

    @staticmethod
    def begin(domains: Sequence[Swarms], batches: Sequence[Batch]) -> Evaluation:
        """Begin to simulate a batch of each search."""
        return Evaluation(
            domains,
            [batch.solutions for batch in batches],
            [batch.environments for batch in batches],
        )

    def pace(self, rate: float) -> str:
        """Return in words how fast so many evaluations a second are."""
        steps = rate * self.trials * self.seconds / CYCLE * self.algorithm.robots
        return f"{steps / 1e6:.0f}M steps/s"

    def worlds(self, count: int, environments: np.ndarray | None) -> list[Environment]:
        """Return the environment of each solution."""
        attributes = self.algorithm.attributes
        if environments is None or attributes is None:
            return [Environment()] * count
        return [_environment(attributes, tuple(options)) for options in environments.tolist()]

    def group(self) -> Hashable:
        """Return what swarms must have in common to be simulated in one go."""
        same = (self.backend, self.trials, self.seconds)
        # All swarms of a simulation add up the same things.  A CPU would lose time with what
        # only some of them need; a GPU gains more by having many swarms at once, but for
        # descriptors, which are much to add up and to bring back.
        alike = self.algorithm.sums if self.backend == "cuda" else (self.task, self.algorithm)
        return *same, alike


@cache
def _environment(attributes: Attributes, options: tuple[int, ...]) -> Environment:
    return attributes.environment(options)


def groups_of(domains: Sequence[Swarms], batch: int) -> list[list[int]]:
    """Return which of several searches are best simulated in one go.

    Each search gets what it would get alone.  On a GPU several simulations go on at the same
    time, so that it has work while the host deals with the results of one; but a simulation
    of very few trials is not worth its launch.
    """
    groups: dict[Hashable, list[int]] = {}
    for k, domain in enumerate(domains):
        groups.setdefault(domain.group(), []).append(k)
    found = []
    for group in groups.values():
        first = domains[group[0]]
        size = len(group)
        if first.backend == "cuda":
            size = max(-(-TRIALS_IN_ONE_GO // (first.trials * batch)), 1)
        found += [group[k : k + size] for k in range(0, len(group), size)]
    return found


class Evaluation:
    """Batches of several searches in one simulation, which adds up what any of them needs.

    It begins at once, as far as the engine does.
    """

    def __init__(
        self,
        domains: Sequence[Swarms],
        batches: Sequence[Genomes],
        environments: Sequence[np.ndarray | None],
    ) -> None:
        self.domains = domains
        self.worlds = [
            domain.worlds(len(batch.hidden), options)
            for domain, batch, options in zip(domains, batches, environments, strict=True)
        ]
        first = domains[0]
        sizes = [len(some) for some in self.worlds]
        job = Job(
            controllers=[Ready(made) for batch in batches for made in batch.networks()],
            environments=[env for some in self.worlds for env in some],
            faults=[None] * sum(sizes),
            seeds=[d.seed for d, size in zip(domains, sizes, strict=True) for _ in range(size)],
            trials=first.trials,
            cycles=round(first.seconds / CYCLE),
            start=None,
            noise=PROXIMITY_NOISE,
        )
        tasks = list(dict.fromkeys(domain.task for domain in domains))
        sums = list(dict.fromkeys(name for domain in domains for name in domain.algorithm.sums))
        threads = first.threads or cores()
        self.pending = Pending(job, tasks, sums, threads, None, first.backend)

    def ready(self) -> bool:
        """Tell whether its results need not be waited for, or will not come without waiting."""
        return self.pending.ready()

    def results(self) -> list[Evaluated]:
        """Wait for its end; return what each search would get alone."""
        outcome = self.pending.outcome()
        found = []
        begin = 0
        for domain, some in zip(self.domains, self.worlds, strict=True):
            own = outcome.part(slice(begin, begin + len(some)))
            describe = domain.algorithm.describe
            behaviour = None if describe is None else describe(own, some)
            found.append((own.fitness[domain.task].mean(1), behaviour))
            begin += len(some)
        return found
