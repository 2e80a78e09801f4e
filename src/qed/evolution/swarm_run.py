"""Runs of robot swarms: what makes one, and its folder.

Which engine simulates is no part of a run: one that began on a CPU may go on with a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from qed import limits
from qed.archive.archive import Archive
from qed.errors import choice
from qed.evolution.algorithms import ALGORITHMS
from qed.evolution.map_elites import MapElites
from qed.evolution.record import sizes
from qed.evolution.run import Run
from qed.evolution.swarms import Swarms
from qed.streams import STREAMS, search_stream, trials_stream
from qed.swarm.tasks import TASKS


@dataclass(frozen=True)
class Settings:
    """What makes a run; with the same engine, equal settings give equal archives."""

    task: str
    algorithm: str = "qed"
    evaluations: int = 2_402_000  # in all
    initial: int = 2_000  # random solutions to begin with
    batch: int = 80  # children of a generation
    trials: int = 50  # of an evaluation
    seconds: float = 400.0  # simulated time of a trial (s)
    seed: int = 1  # with task and algorithm it decides everything random

    def __post_init__(self) -> None:
        checked = {
            "task": choice("task", self.task, TASKS),
            "algorithm": choice("algorithm", self.algorithm, ALGORITHMS),
            **sizes(self.evaluations, self.initial, self.batch, self.seed),
            "trials": limits.trials(self.trials),
            "seconds": limits.seconds(self.seconds),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def search(
        self,
        threads: int | None = None,
        progress: Callable[[int, int], Any] | None = None,
        backend: str = "cpu",
    ) -> MapElites:
        """Return a new search with these settings.

        ``progress`` is told how far the centroids are, if they have to be made.
        """
        algorithm = ALGORITHMS[self.algorithm]
        space = algorithm.space(self.evaluations, progress)
        own = self.task, self.algorithm, self.seed
        trials = trials_stream(*own)
        return MapElites(
            domain=Swarms(
                self.task, algorithm, self.trials, self.seconds, trials, threads, backend
            ),
            archive=Archive(space, header={"settings": asdict(self), "streams": STREAMS}),
            seed=search_stream(*own),
            evaluations=self.evaluations,
            initial=self.initial,
            batch=self.batch,
            environments=algorithm.environments,
        )


class SwarmRun(Run):
    """A run of swarms; its folder tells its settings."""

    def __init__(
        self,
        settings: Settings,
        folder: str | Path | None = None,
        *,
        resume: bool = False,
        threads: int | None = None,
        progress: Callable[[int, int], Any] | None = None,
        backend: str = "cpu",
    ) -> None:
        self.settings = settings
        self._open(
            folder,
            {"run": asdict(settings)},
            lambda: settings.search(threads, progress, backend),
            resume,
            {"engine": backend},
        )
