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
from qed.definitions import Definition, defined
from qed.errors import InputError
from qed.evolution.algorithms import Algorithm
from qed.evolution.giving_up import Rivals
from qed.evolution.map_elites import MapElites
from qed.evolution.record import sizes
from qed.evolution.run import Run
from qed.evolution.swarms import Swarms
from qed.streams import STREAMS, search_stream, trials_stream
from qed.swarm.tasks import Task


@dataclass(frozen=True)
class Settings:
    """What makes a run; with the same engine, equal settings give equal archives."""

    task: str | Task
    algorithm: str | Algorithm = "qed"
    evaluations: int = 2_402_000  # in all
    initial: int = 2_000  # random solutions to begin with
    batch: int = 80  # children of a generation
    trials: int = 50  # of an evaluation
    seconds: float = 400.0  # simulated time of a trial (s)
    seed: int = 1  # with task and algorithm it decides everything random
    race: bool = False  # children that fall behind their incumbents are given up

    def __post_init__(self) -> None:
        checked = {
            "task": defined("task", self.task, Task),
            "algorithm": defined("algorithm", self.algorithm, Algorithm),
            **sizes(self.evaluations, self.initial, self.batch, self.seed),
            "trials": limits.trials(self.trials),
            "seconds": limits.seconds(self.seconds),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if not isinstance(self.race, bool):
            raise InputError(f"race must be True or False, got {self.race!r}")
        if self.race and defined("algorithm", self.algorithm, Algorithm).environments is None:
            raise InputError(
                f"race is for algorithms whose cells are environments, such as qed; "
                f"{self.algorithm} finds a cell only when a child is evaluated"
            )

    @property
    def own(self) -> list[Definition]:
        """The definitions of users that make the run."""
        return [
            one for one in (self.task, self.algorithm) if isinstance(one, Definition) and one.own
        ]

    def tables(self) -> dict[str, dict[str, Any]]:
        """Return everything that makes the run, as its config.toml tells it."""
        told = {one.kind: f"{one.name}, defined as {one.digest}" for one in self.own}
        return {"run": self._told(), **({"definitions": told} if told else {})}

    def _told(self) -> dict[str, Any]:
        """Return the settings; that there is no race need not be told."""
        told = asdict(self)
        if not self.race:
            del told["race"]
        return told

    def _header(self) -> dict[str, Any]:
        """Return what the archive tells of itself."""
        header: dict[str, Any] = {"settings": self._told(), "streams": STREAMS}
        if self.own:
            header["definitions"] = {one.kind: one.described() for one in self.own}
        if isinstance(self.algorithm, Algorithm) and self.algorithm.features:
            header["features"] = [law.name for law in self.algorithm.features]
            header["ranges"] = [list(limits) for limits in self.algorithm.ranges]
        return header

    def search(
        self,
        threads: int | None = None,
        progress: Callable[[int, int], Any] | None = None,
        backend: str = "cpu",
    ) -> MapElites:
        """Return a new search with these settings.

        ``progress`` is told how far the centroids are, if they have to be made.
        """
        algorithm = defined("algorithm", self.algorithm, Algorithm)
        space = algorithm.space(self.evaluations, progress)
        own = self.task, self.algorithm, self.seed
        trials = trials_stream(*own)
        return MapElites(
            domain=Swarms(
                self.task,
                algorithm,
                self.trials,
                self.seconds,
                trials,
                threads,
                backend,
                Rivals() if self.race else None,
            ),
            archive=Archive(space, header=self._header()),
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
            settings.tables(),
            lambda: settings.search(threads, progress, backend),
            resume,
            {"engine": backend},
        )
