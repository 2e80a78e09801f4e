"""Robot swarms as a domain of MAP-Elites."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from qed.controller.genome import Genomes
from qed.controller.variation import random_genomes, vary
from qed.evolution.algorithms import Algorithm
from qed.evolution.domain import Batch
from qed.evolution.evaluation import Evaluation
from qed.evolution.giving_up import SPRINT, Rivals
from qed.swarm.environment import Attributes, Environment
from qed.swarm.robot import CYCLE
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
    rivals: Rivals | None = None  # children race against incumbents, if they are known

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
        return Evaluation(domains, batches)

    def fitness_of_incumbents(self, batch: Batch) -> np.ndarray:
        """Return the fitness, trial by trial, of those whom a batch has to beat; NaN for nobody.

        It is known of all that evolved since the run began, or was resumed; others are evaluated
        again, once, which gives the same.
        """
        assert self.rivals is not None
        assert batch.cells is not None
        assert batch.incumbents is not None
        assert batch.archive is not None
        known = self.rivals.find(batch.cells, batch.incumbents, self.trials)
        unknown = np.isnan(known[:, 0]) & np.isfinite(batch.incumbents)
        if unknown.any():
            cells = np.unique(batch.cells[unknown])
            options = batch.archive.measures[cells].astype(np.int64)
            again = Evaluation(
                [replace(self, rivals=None)], [Batch(batch.archive.take(cells), options)]
            )
            again.results()
            self.rivals.learn(cells, batch.archive.objective[cells], again.fitness)
            known = self.rivals.find(batch.cells, batch.incumbents, self.trials)
        return known

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
        return *same, alike, self.rivals is None


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
            trials = first.trials if first.rivals is None else SPRINT
            size = max(-(-TRIALS_IN_ONE_GO // (trials * batch)), 1)
        found += [group[k : k + size] for k in range(0, len(group), size)]
    return found
