"""Try all solutions of a map: in the normal environment, and with broken robots."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from qed import limits
from qed.controller.team import Team
from qed.definitions import defined
from qed.descriptors import spirit
from qed.errors import InputError
from qed.recovery.protocol import Streams, streams
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.job import Brain, Job, Ready
from qed.swarm.robot import CYCLE, PROXIMITY_NOISE
from qed.swarm.simulate import Outcome, Pending, cores
from qed.swarm.tasks import Task

Progress = Callable[[int, int], Any]  # called with swarms tried and swarms in all
Swarm = tuple[Brain | Team, Faults | None]  # what drives it, and what is broken
AT_ONCE = 512  # swarms simulated in one go; bounds memory, and how often progress is told
FILLS_GPU = 20_480  # swarms x trials; a launch of fewer leaves part of a GPU idle
UNDER_WAY = 3  # simulations begun: a GPU has work while the host prepares and gathers


@dataclass(frozen=True)
class Normal:
    """All solutions of a map in the normal environment, in the order of their cells."""

    fitness: np.ndarray  # (n,) mean over the trials that choose the best
    apart: np.ndarray  # (n,) distance of their behaviour from that of the best, 0 to 1
    fresh: float  # the best's mean over fresh trials

    @property
    def best(self) -> int:
        """The solution with the highest fitness, the first of equals."""
        return int(np.argmax(self.fitness))


@dataclass(frozen=True)
class Trials:
    """How solutions are tried; the same start poses and noise for all of them."""

    task: str | Task
    trials: int = 10  # of each solution, to choose
    fresh: int = 50  # of the chosen
    seconds: float = 400.0  # simulated time of a trial (s)
    streams: Streams = streams(1)  # noqa: RUF009 (it is immutable)
    environment: Environment = Environment()  # noqa: RUF009 (it is immutable)
    threads: int | None = None
    backend: str = "cpu"  # or "cuda"

    def __post_init__(self) -> None:
        if not isinstance(self.environment, Environment):
            kind = type(self.environment).__name__
            raise InputError(f"environment must be a qed.Environment, got {kind}")
        checked: dict[str, Any] = {
            "task": defined("task", self.task, Task),
            "trials": limits.trials(self.trials),
            "fresh": limits.trials(self.fresh, "fresh"),
            "seconds": limits.seconds(self.seconds),
            "threads": limits.threads(self.threads),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def normal(
        self, solutions: Sequence[Ready], progress: Progress | None = None
    ) -> tuple[Normal, np.ndarray]:
        """Try each solution while all robots are healthy; return also its SPIRIT behaviour."""
        swarms: list[Swarm] = [(solution, None) for solution in solutions]
        fitness, behaviour = [], []
        seed = self.streams.normal
        for part in self._each(swarms, self.trials, seed, ("spirit",), progress):
            fitness.append(part.fitness[self.task].mean(1))
            behaviour.append(spirit.describe(part))
        found, behaviours = np.concatenate(fitness), np.concatenate(behaviour)
        best = int(np.argmax(found))
        apart = spirit.distance(behaviours[best], behaviours)
        fresh = float(self.again([swarms[best]]).mean())
        return Normal(found, apart, fresh), behaviours

    def behaviours(self, solutions: Sequence[Ready]) -> np.ndarray:
        """Return the SPIRIT behaviour of solutions while all robots are healthy, (n, 1024)."""
        swarms: list[Swarm] = [(solution, None) for solution in solutions]
        parts = self._each(swarms, self.trials, self.streams.normal, ("spirit",))
        return np.concatenate([spirit.describe(part) for part in parts])

    def broken(
        self, solutions: Sequence[Ready], faults: Sequence[Faults], progress: Progress | None = None
    ) -> np.ndarray:
        """Return the mean fitness of each solution in each combined fault, (faults, n)."""
        for fault in faults:
            self.check(fault)
        swarms = [(solution, fault) for fault in faults for solution in solutions]
        parts = self._each(swarms, self.trials, self.streams.broken, (), progress)
        fitness = np.concatenate([part.fitness[self.task].mean(1) for part in parts])
        return fitness.reshape(len(faults), len(solutions))

    def again(self, swarms: Sequence[Swarm]) -> np.ndarray:
        """Return the fitness of chosen solutions on each fresh trial, (swarms, trials)."""
        return self.fitness(swarms, self.fresh, self.streams.fresh)

    def fitness(
        self,
        swarms: Sequence[Swarm],
        trials: int,
        seed: int | Sequence[int],
        progress: Progress | None = None,
        worlds: Sequence[Environment] | None = None,
    ) -> np.ndarray:
        """Return the fitness of swarms on each trial of a stream, or of one each, (swarms, trials).

        Streams are named by their seeds.  All swarms are in the same environment unless each has
        one of ``worlds``.
        """
        parts = self._each(swarms, trials, seed, (), progress, worlds)
        return np.concatenate([part.fitness[self.task] for part in parts])

    def at_once(self, trials: int) -> int:
        """Return how many swarms are simulated in one go, with so many trials each."""
        return max(AT_ONCE, FILLS_GPU // trials) if self.backend == "cuda" else AT_ONCE

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
        swarms: Sequence[Swarm],
        trials: int,
        seed: int | Sequence[int],
        descriptors: Sequence[str] = (),
        progress: Progress | None = None,
        worlds: Sequence[Environment] | None = None,
    ) -> Iterator[Outcome]:
        """Simulate swarms, so many at a time, and yield what comes of them in order."""
        seeds = [seed] * len(swarms) if isinstance(seed, int) else seed
        worlds = worlds or [self.environment] * len(swarms)
        size = self.at_once(trials)
        starts = range(0, len(swarms), size)
        portions = [swarms[k : k + size] for k in starts]
        begun = (
            self._begin(swarms[some], worlds[some], trials, seeds[some], descriptors)
            for some in (slice(k, k + size) for k in starts)
        )
        under_way = deque(islice(begun, UNDER_WAY))
        done = 0
        for some in portions:
            outcome = under_way.popleft().outcome()
            under_way.extend(islice(begun, 1))
            done += len(some)
            if progress is not None:
                progress(done, len(swarms))
            yield outcome

    def _begin(
        self,
        swarms: Sequence[Swarm],
        worlds: Sequence[Environment],
        trials: int,
        seeds: Sequence[int],
        descriptors: Sequence[str],
    ) -> Pending:
        job = Job(
            controllers=[solution for solution, _ in swarms],
            environments=list(worlds),
            faults=[fault for _, fault in swarms],
            seeds=list(seeds),
            trials=trials,
            cycles=round(self.seconds / CYCLE),
            start=None,
            noise=PROXIMITY_NOISE,
        )
        threads = self.threads or cores()
        return Pending(job, [self.task], descriptors, threads, None, self.backend)
