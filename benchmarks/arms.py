"""The arms of why.py: what an archive's cells are, and where its controllers are evaluated."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

import qed
from qed.chance import fold
from qed.descriptors import hbd
from qed.evolution.algorithms import ALGORITHMS, Algorithm, Condition, Niches
from qed.evolution.domain import Batch, Evaluated
from qed.evolution.swarms import Swarms
from qed.streams import stream
from qed.swarm.environment import PAPER
from qed.swarm.job import Job
from qed.swarm.robot import CYCLE, PROXIMITY_NOISE
from qed.swarm.simulate import Pending, cores

WORLDS = 10  # of domain randomisation, with an equal part of the trials in each


class Independent(Swarms):
    """QED, but a child's cell says nothing of the environment that it is evaluated in.

    Both are drawn, independently; the environment follows from the child's genome, so that it is
    known again when a run is resumed.
    """

    def conditions(self, batch: Batch) -> list[Condition]:
        """Return a random environment for each solution."""
        genomes = batch.solutions
        keys = []
        for row, (hidden, links) in enumerate(zip(genomes.hidden, genomes.links, strict=True)):
            columns = (genomes.source, genomes.target, genomes.weight)
            parts = [genomes.bias[row, : 2 + hidden], *(column[row, :links] for column in columns)]
            keys.append(zlib.crc32(b"".join(part.tobytes() for part in parts)))
        draws = fold(self.seed, np.array(keys)[:, None], np.arange(len(PAPER))).astype(np.uint64)
        options = (draws * np.array(PAPER.shape, np.uint64)) >> np.uint64(32)
        return [(PAPER.environment(row), None) for row in options.tolist()]


class Randomised(Swarms):
    """HBD with domain randomisation: every child meets the same ten random environments."""

    @property
    def worlds(self) -> list[qed.Environment]:
        """The environments of a run."""
        return qed.Environment.sample(WORLDS, stream("why", "worlds", self.task.name, self.seed))

    @staticmethod
    def together(domains: Sequence[Any], batch: int) -> list[list[int]]:
        """Return each alone."""
        return [[k] for k in range(len(domains))]

    @staticmethod
    def begin(domains: Sequence[Any], batches: Sequence[Batch]) -> Any:
        """Begin to simulate a batch."""
        return RandomisedEvaluation(domains[0], batches[0])


class RandomisedEvaluation:
    """A batch in several environments, under way."""

    def __init__(self, domain: Randomised, batch: Batch) -> None:
        self.domain, self.count = domain, len(batch.solutions.hidden)
        networks = batch.solutions.networks()
        self.job = Job(
            controllers=networks.take(np.repeat(np.arange(self.count), WORLDS)),
            environments=domain.worlds * self.count,
            faults=[None] * self.count * WORLDS,
            seeds=[domain.trials_seed + k for k in range(WORLDS)] * self.count,
            trials=domain.trials // WORLDS,
            cycles=round(domain.seconds / CYCLE),
            start=None,
            noise=PROXIMITY_NOISE,
        )
        threads = domain.threads or cores()
        self.pending = Pending(self.job, [domain.task], ["spread"], threads, None, domain.backend)

    def ready(self) -> bool:
        """Return True if `results()` will not block, or if nothing happens until it is called."""
        return self.domain.backend != "cuda" or self.pending.ready()

    def results(self) -> list[Evaluated]:
        """Return means over the environments."""
        outcome = self.pending.outcome()
        fitness = outcome.fitness[self.domain.task.name].reshape(self.count, -1).mean(1)
        behaviour = hbd(outcome, self.job.environments)
        return [(fitness, behaviour.reshape(self.count, WORLDS, -1).mean(1))]


HBD, NICHES = ALGORITHMS["hbd"], Niches()
ARMS: dict[str, tuple[type[Swarms], Any, str]] = {
    "qed": (Swarms, "qed", "QED: a cell is an environment"),
    "niches": (Swarms, "niches", "cells mean nothing, normal environment"),
    "independent": (
        Independent,
        Algorithm.of_package(
            "independent",
            "a cell means nothing",
            lambda *_: NICHES.space(),
            "independent",
            drawn=NICHES,
        ),
        "cell and environment drawn independently",
    ),
    "randomised": (
        Randomised,
        Algorithm.of_package(
            "randomised",
            HBD.meaning,
            HBD.space,
            "randomised",
            sums=HBD.sums,
            describe=hbd,
        ),
        "HBD, each child in the same ten random environments",
    ),
    "faults": (Swarms, "faults", "a cell is what is broken, normal environment"),
}
