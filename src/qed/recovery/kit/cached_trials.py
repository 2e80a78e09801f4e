"""Simulate an archive's controllers in faults, batch by batch, and keep what was simulated.

Each purpose has trials of its own.  What is kept in a file is not simulated again: whoever stops a
long preparation loses nothing.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from qed import files
from qed.errors import InputError
from qed.recovery.trials import Progress, RaceResult, Swarm, Trials, race
from qed.streams import stream
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults

FORMAT, VERSION = "qed-kit-notebook", 1
EVERY = 10.0  # seconds between two times that the file is written
# A fault where the kit is for, or one with the environment where it strikes; or none.
Condition = Faults | tuple[Faults, Environment] | None


class TrialCache:
    """Fitness of batches by their keys, kept in a file if there is one."""

    def __init__(self, path: Path | None, settings: Mapping[str, Any]) -> None:
        self._path, self._settings = path, dict(settings)
        self._batches: dict[str, np.ndarray] = {}
        self._written = time.monotonic()
        if path is not None and path.exists():
            header, batches = files.read_arrays(path, FORMAT, VERSION)
            if header.get("settings") != self._settings:
                raise InputError(
                    f"{path} holds what was simulated with other settings; remove it, or name "
                    "another file"
                )
            self._batches = {key: batch.astype(np.float64) for key, batch in batches.items()}

    def find(self, key: str, shape: tuple[int, ...]) -> np.ndarray | None:
        """Return the fitness of a batch if it is known."""
        found = self._batches.get(key)
        return found if found is not None and found.shape == shape else None

    def keep(self, key: str, fitness: np.ndarray) -> None:
        """Keep the fitness of a batch; the file is written now and then, and by ``save``."""
        self._batches[key] = fitness
        if time.monotonic() - self._written > EVERY:
            self.save()

    def save(self) -> None:
        """Write the file."""
        if self._path is not None and self._batches:
            header = {"format": FORMAT, "version": VERSION, "settings": self._settings}
            files.write_arrays(self._path, header, self._batches)
            self._written = time.monotonic()


@dataclass(frozen=True)
class Batch:
    """Swarms that meet the same trials, and by which name these are drawn."""

    name: str
    kind: str  # what else tells it from others of this name
    rows: np.ndarray  # of their controllers, (swarms,) or (swarms, robots)
    places: Sequence[tuple[Faults | None, Environment]]  # of each swarm

    @property
    def key(self) -> str:
        """A short name for exactly these swarms."""
        hashed = blake2b(self.rows.astype(np.int64).tobytes(), digest_size=6)
        words: dict[tuple[int, int], bytes] = {}  # most swarms of a batch are in the same place
        for fault, environment in self.places:
            place = id(fault), id(environment)
            if place not in words:
                words[place] = f"{','.join(fault or ())} {environment};".encode()
            hashed.update(words[place])
        return f"{self.name}{self.kind}-{hashed.hexdigest()}"

    @property
    def swarms(self) -> list[Swarm]:
        """What drives each swarm, and what is broken in it."""
        rows = self.rows.reshape(len(self.rows), -1).tolist()
        return [(members, fault) for members, (fault, _) in zip(rows, self.places, strict=True)]


@dataclass
class CachedTrials:
    """How controllers are tried for a kit, and what was simulated of them."""

    how: Trials
    seed: int
    cache: TrialCache
    planned: int = 0  # trials of all batches
    progress: Progress | None = None
    done: int = field(default=0, init=False)

    def fitness(
        self, purpose: str, rows: np.ndarray, conditions: Sequence[Condition], trials: int
    ) -> np.ndarray:
        """Return the fitness of some controllers in each condition, (conditions, rows, trials).

        Trials of two purposes, or of two conditions, share no start pose and no noise.
        """
        batches = [
            self._batch(f"{purpose}-{k}", rows, [one] * len(rows))
            for k, one in enumerate(conditions)
        ]
        return np.array(self._fitness(batches, trials))

    def fitness_of_one(
        self, purpose: str, row: int, conditions: Sequence[Condition], trials: int
    ) -> np.ndarray:
        """Return the fitness of one controller, (conditions, trials): they are one batch."""
        rows = np.full(len(conditions), row)
        return self._fitness([self._batch(purpose, rows, conditions, "-one")], trials)[0]

    def race(
        self,
        purpose: str,
        rows: np.ndarray,
        fault: Faults | None,
        trials: int,
        always: Sequence[int] = (),
    ) -> RaceResult:
        """Race some controllers in a fault; the result counts them from 0."""

        def attempt(going: np.ndarray, met: int) -> np.ndarray:
            batch = self._batch(purpose, rows[going], [fault] * len(going), f"-{met}")
            found: np.ndarray = self._fitness([batch], met)[0].mean(1)
            return found

        return race(len(rows), trials, attempt, always)

    def teams(self, purpose: str, teams: np.ndarray, fault: Faults, trials: int) -> np.ndarray:
        """Return the fitness of teams (n, robots) of controllers in a fault, (n, trials).

        They meet the trials that ``fitness`` has for this purpose and its first condition.
        """
        batch = self._batch(f"{purpose}-0", teams, [fault] * len(teams), "-teams")
        return self._fitness([batch], trials)[0]

    def _batch(
        self, name: str, rows: np.ndarray, conditions: Sequence[Condition], kind: str = ""
    ) -> Batch:
        home = self.how.environment
        places = [one if isinstance(one, tuple) else (one, home) for one in conditions]
        return Batch(name, kind, rows, places)

    def _fitness(self, batches: Sequence[Batch], trials: int) -> list[np.ndarray]:
        """Return the fitness of each batch, (swarms, trials); what is not known is simulated."""
        found: dict[str, np.ndarray] = {}
        for batch in batches:
            known = self.cache.find(batch.key, (len(batch.rows), trials))
            if known is not None:
                found[batch.key] = known
                self._report(self.done + known.size)
        for some in self._together([one for one in batches if one.key not in found], trials):
            found |= self._simulated(some, trials)
        return [found[batch.key] for batch in batches]

    def _together(self, batches: Sequence[Batch], trials: int) -> Iterator[list[Batch]]:
        """Yield batches that are simulated in one go."""
        some: list[Batch] = []
        for batch in batches:
            swarms = sum(len(one.rows) for one in [*some, batch])
            if some and swarms > self.how.at_once(trials):
                yield some
                some = []
            some.append(batch)
        if some:
            yield some

    def _simulated(self, batches: Sequence[Batch], trials: int) -> dict[str, np.ndarray]:
        """Simulate some batches in one go, and keep what they give."""
        swarms = [swarm for batch in batches for swarm in batch.swarms]
        seeds = [stream("kit", batch.name, self.seed) for batch in batches for _ in batch.rows]
        where = [environment for batch in batches for _, environment in batch.places]

        def seen(_: Sequence[Swarm], fitness: np.ndarray) -> None:
            self._report(self.done + fitness.size)

        fitness = self.how.fitness(swarms, trials, seeds, seen, where)
        stops = np.cumsum([len(batch.rows) for batch in batches])[:-1]
        parts = np.split(fitness, stops)
        found = {batch.key: part for batch, part in zip(batches, parts, strict=True)}
        for key, part in found.items():
            self.cache.keep(key, part)
        return found

    def finished(self) -> None:
        """Report that all is done, whatever was planned."""
        self._report(self.planned)

    def _report(self, done: int) -> None:
        self.done = done
        if self.progress is not None:
            self.progress(min(done, self.planned), self.planned)
