"""A generation of swarms under evaluation: batches of several searches in one simulation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from qed.controller.networks import Networks
from qed.definitions import defined
from qed.evolution.domain import Batch, Evaluated
from qed.evolution.giving_up import behind, hopes, next_stop
from qed.swarm.job import Job
from qed.swarm.robot import CYCLE, PROXIMITY_NOISE
from qed.swarm.simulate import Pending, cores
from qed.swarm.tasks import Task

if TYPE_CHECKING:
    from qed.evolution.swarms import Swarms


class Evaluation:
    """Batches of several searches in one simulation, which adds up what any of them needs.

    It begins at once, as far as the engine does.  Where cells are environments it goes on in
    rounds of trials, with the children that may still beat their incumbents.
    """

    def __init__(self, domains: Sequence[Swarms], batches: Sequence[Batch]) -> None:
        self.domains = domains
        self.worlds = [
            domain.worlds(len(batch.solutions.hidden), batch.environments)
            for domain, batch in zip(domains, batches, strict=True)
        ]
        self.places = _places([len(some) for some in self.worlds])
        self.networks = Networks.joined([batch.solutions.networks() for batch in batches])
        self.environments = [env for some in self.worlds for env in some]
        self.seeds = [d.seed for d, some in zip(domains, self.worlds, strict=True) for _ in some]
        self.tasks = [defined("task", domain.task, Task) for domain in domains]
        self.trials = domains[0].trials
        self.batches = batches
        self.fitness = np.zeros((len(self.networks), self.trials))
        self.rivals = np.full((len(self.networks), self.trials), np.nan)
        self.incumbents = np.full(len(self.networks), -np.inf)
        self.most = np.full(len(self.networks), np.inf)
        for here, some, task, batch, domain in zip(
            self.places, self.worlds, self.tasks, batches, domains, strict=True
        ):
            if batch.incumbents is not None:
                self.incumbents[here] = batch.incumbents
                self.most[here] = [task.most(env) for env in some]
                if domain.rivals is not None:
                    self.rivals[here] = domain.fitness_of_incumbents(batch)
        self.race = any(domain.rivals is not None for domain in domains)
        self.left = np.arange(len(self.networks))  # who is not given up
        self.done = 0  # trials simulated of them
        self.hopes = np.full(len(self.networks), np.inf)
        self._begin()

    def _begin(self) -> None:
        """Begin the next round."""
        left = self.left
        self.stop = next_stop(
            self.fitness[left].sum(1), self.most[left], self.incumbents[left], self.race,
            self.done, self.trials,
        )  # fmt: skip
        first = self.domains[0]
        job = Job(
            controllers=self.networks.take(left) if self.done else self.networks,
            environments=[self.environments[k] for k in left],
            faults=[None] * len(left),
            seeds=[self.seeds[k] for k in left],
            trials=self.stop - self.done,
            cycles=round(first.seconds / CYCLE),
            start=None,
            noise=PROXIMITY_NOISE,
            skipped=self.done,
        )
        tasks = list(dict.fromkeys(self.tasks))
        sums = list(dict.fromkeys(name for one in self.domains for name in one.algorithm.sums))
        threads = first.threads or cores()
        self.pending = Pending(job, tasks, sums, threads, None, first.backend)

    def _end(self) -> None:
        """Wait for the end of a round, and give up those that have lost."""
        self.outcome = self.pending.outcome()
        for here, task in zip(self.places, self.tasks, strict=True):
            own = self._own(here)
            now = self.outcome.fitness[task.name][own]
            self.fitness[self.left[own], self.done : self.stop] = now
        self.done = self.stop
        if self.done < self.trials:
            left = self.left
            so_far = self.fitness[left].sum(1)
            self.hopes[left] = hopes(so_far, self.most[left], self.done, self.trials)
            goes_on = self.hopes[left] >= self.incumbents[left]
            if self.race:
                lost = behind(self.fitness[left, : self.done], self.rivals[left, : self.done])
                self.hopes[left[lost]] = np.minimum(self.hopes, self.incumbents)[left[lost]]
                goes_on &= ~lost
            self.left = left[goes_on]

    def _learn(self, objective: np.ndarray) -> None:
        """Let races know the fitness, trial by trial, of children that may become incumbents."""
        for domain, here, batch in zip(self.domains, self.places, self.batches, strict=True):
            if domain.rivals is not None and batch.cells is not None:
                own = self.left[self._own(here)]
                cells = batch.cells[own - here.start]
                domain.rivals.learn(cells, objective[own], self.fitness[own])

    def _own(self, here: slice) -> np.ndarray:
        """Tell which of those that are not given up belong to one search."""
        found: np.ndarray = (self.left >= here.start) & (self.left < here.stop)
        return found

    @property
    def _finished(self) -> bool:
        return self.done == self.trials or not len(self.left)

    def ready(self) -> bool:
        """Tell whether its results need not be waited for, or will not come without waiting."""
        if self.domains[0].backend != "cuda" or self._finished:
            return True
        while self.pending.ready():
            self._end()
            if self._finished:
                return True
            self._begin()
        return False

    def results(self) -> list[Evaluated]:
        """Wait for its end; return what each search would get alone.

        Of children that are given up the largest objective that they could have reached, or in a
        race no more than they would have had to beat.
        """
        while not self._finished:
            self._end()
            if not self._finished:
                self._begin()
        objective = self.hopes.copy()
        if self.done == self.trials:
            objective[self.left] = self.fitness[self.left].mean(1)
            self._learn(objective)
        found = []
        for domain, some, here in zip(self.domains, self.worlds, self.places, strict=True):
            describe = domain.algorithm.describe
            # Where there are behaviours to describe, nobody is given up.
            behaviour = None if describe is None else describe(self.outcome.part(here), some)
            found.append((objective[here], behaviour))
        return found


def _places(sizes: Sequence[int]) -> list[slice]:
    """Return where each of some parts lies, one after the other."""
    stops = np.cumsum(sizes).tolist()
    return [slice(stop - size, stop) for size, stop in zip(sizes, stops, strict=True)]
