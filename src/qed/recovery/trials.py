"""Try all solutions of a map: in the normal environment, and with broken robots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.controller.genome import Genomes
from qed.descriptors import spirit
from qed.errors import InputError, choice, number, whole
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.robot import CYCLE, PROXIMITY_NOISE
from qed.swarm.simulate import Job, Outcome, Pending, Ready, cores
from qed.swarm.tasks import TASKS

Progress = Callable[[int, int], Any]  # called with swarms tried and swarms in all
AT_ONCE = 512  # swarms simulated in one go; bounds memory, and how often progress is told


@dataclass(frozen=True)
class Normal:
    """All solutions of a map in the normal environment, in the order of their cells."""

    fitness: np.ndarray  # (n,) mean over trials
    apart: np.ndarray  # (n,) distance of their behaviour from that of the best, 0 to 1

    @property
    def best(self) -> int:
        """The solution with the highest fitness, the first of equals."""
        return int(np.argmax(self.fitness))


@dataclass(frozen=True)
class Trials:
    """How solutions are tried; the same start poses and noise for all of them."""

    task: str
    trials: int = 10
    seconds: float = 400.0  # simulated time of a trial (s)
    seed: int = 1
    environment: Environment = Environment()  # noqa: RUF009 (it is immutable)
    threads: int | None = None
    backend: str = "cpu"  # or "cuda"

    def __post_init__(self) -> None:
        if not isinstance(self.environment, Environment):
            kind = type(self.environment).__name__
            raise InputError(f"environment must be a qed.Environment, got {kind}")
        checked: dict[str, Any] = {
            "task": choice("task", self.task, TASKS),
            "trials": whole("trials", self.trials, 1, 10**6),
            "seconds": number("seconds", self.seconds, CYCLE, 1e6),
            "seed": whole("seed", self.seed, 0, 2**63 - 1),
        }
        if self.threads is not None:
            checked["threads"] = whole("threads", self.threads, 1, 1024)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def normal(
        self, solutions: Genomes, progress: Progress | None = None
    ) -> tuple[Normal, np.ndarray]:
        """Try each solution while all robots are sound; return also its SPIRIT behaviour."""
        swarms = [(Ready(network), None) for network in solutions.networks()]
        parts = self._each(swarms, ("spirit",), progress)
        fitness = np.concatenate([part.fitness[self.task].mean(1) for part in parts])
        behaviour = np.concatenate([spirit.describe(part) for part in parts])
        apart = spirit.distance(behaviour[int(np.argmax(fitness))], behaviour)
        return Normal(fitness, apart), behaviour

    def broken(
        self, solutions: Genomes, faults: Sequence[Faults], progress: Progress | None = None
    ) -> np.ndarray:
        """Return the mean fitness of each solution in each combined fault, (faults, n)."""
        for fault in faults:
            self.check(fault)
        ready = [Ready(network) for network in solutions.networks()]
        parts = self._each([(swarm, f) for f in faults for swarm in ready], (), progress)
        fitness = np.concatenate([part.fitness[self.task].mean(1) for part in parts])
        return fitness.reshape(len(faults), len(ready))

    def check(self, faults: Faults) -> None:
        """Raise InputError unless there is one fault for each robot."""
        if not isinstance(faults, Faults):
            raise InputError(f"faults must be qed.Faults, got {type(faults).__name__}")
        robots = self.environment.robots
        if len(faults) != robots:
            raise InputError(
                f"faults must name one fault for each of the {robots} robots, got {len(faults)}"
            )

    def _each(
        self,
        swarms: Sequence[tuple[Ready, Faults | None]],
        descriptors: Sequence[str],
        progress: Progress | None,
    ) -> list[Outcome]:
        """Simulate swarms, so many at a time."""
        found = []
        for begin in range(0, len(swarms), AT_ONCE):
            some = swarms[begin : begin + AT_ONCE]
            job = Job(
                controllers=[swarm for swarm, _ in some],
                environments=[self.environment] * len(some),
                faults=[fault for _, fault in some],
                seeds=[self.seed] * len(some),
                trials=self.trials,
                cycles=round(self.seconds / CYCLE),
                start=None,
                noise=PROXIMITY_NOISE,
            )
            threads = self.threads or cores()
            pending = Pending(job, [self.task], descriptors, threads, None, self.backend)
            found.append(pending.outcome())
            if progress is not None:
                progress(min(begin + AT_ONCE, len(swarms)), len(swarms))
        return found
