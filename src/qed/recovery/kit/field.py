"""Simulate an archive's controllers in faults, page by page, with trials apart for each purpose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from qed.controller.team import Team
from qed.recovery.by_fault import drive
from qed.recovery.kit.notebook import Notebook
from qed.recovery.race import Raced, race
from qed.recovery.trials import Progress, Trials
from qed.streams import stream
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.job import Ready

Case = Faults | tuple[Faults, Environment] | None  # a fault at home, or where it strikes; or none


@dataclass(frozen=True)
class Page:
    """Swarms that meet the same trials, and by which name these are drawn."""

    name: str
    kind: str  # what else tells it from others of this name
    swarms: Sequence[Ready | Team]
    rows: np.ndarray  # of their controllers, (swarms,) or (swarms, robots)
    places: Sequence[tuple[Faults | None, Environment]]  # of each swarm its fault and its world

    @property
    def key(self) -> str:
        """A short name for exactly these swarms."""
        hashed = blake2b(self.rows.astype(np.int64).tobytes(), digest_size=6)
        for fault, world in self.places:
            hashed.update(f"{','.join(fault or ())} {world};".encode())
        return f"{self.name}{self.kind}-{hashed.hexdigest()}"


@dataclass
class Field:
    """Controllers, where they are tried, and what was simulated of them."""

    how: Trials
    solutions: Sequence[Ready]
    seed: int
    notebook: Notebook
    planned: int = 0  # trials of all pages
    progress: Progress | None = None
    done: int = field(default=0, init=False)

    def fitness(
        self, purpose: str, rows: np.ndarray, cases: Sequence[Case], trials: int
    ) -> np.ndarray:
        """Return the fitness of some controllers in each case, (cases, rows, trials).

        Trials of two purposes, or of two cases, share no start pose and no noise.
        """
        pages = [self._page(f"{purpose}-{k}", rows, case) for k, case in enumerate(cases)]
        return np.array(self._fitness(pages, trials))

    def fitness_of_one(
        self, purpose: str, row: int, cases: Sequence[Case], trials: int
    ) -> np.ndarray:
        """Return the fitness of one controller in all cases, (cases, trials): they are one page."""
        swarms, rows = [self.solutions[row]] * len(cases), np.full(len(cases), row)
        page = Page(purpose, "-one", swarms, rows, [self._at(case) for case in cases])
        return self._fitness([page], trials)[0]

    def race(
        self,
        purpose: str,
        rows: np.ndarray,
        fault: Faults | None,
        trials: int,
        always: Sequence[int] = (),
    ) -> Raced:
        """Race some controllers in a fault; the result counts them from 0."""

        def attempt(going: np.ndarray, met: int) -> np.ndarray:
            page = self._page(purpose, rows[going], fault, f"-{met}")
            found: np.ndarray = self._fitness([page], met)[0].mean(1)
            return found

        return race(len(rows), trials, attempt, always)

    def teams(self, purpose: str, teams: np.ndarray, fault: Faults, trials: int) -> np.ndarray:
        """Return the fitness of teams (n, robots) of controllers in a fault, (n, trials).

        They meet the trials that ``fitness`` has for this purpose and its first fault.
        """
        swarms = [drive([self.solutions[row] for row in team]) for team in teams.tolist()]
        page = Page(f"{purpose}-0", "-teams", swarms, teams, [self._at(fault)] * len(swarms))
        return self._fitness([page], trials)[0]

    def _at(self, case: Case) -> tuple[Faults | None, Environment]:
        """Return a fault, and where it strikes."""
        return case if isinstance(case, tuple) else (case, self.how.environment)

    def _page(self, name: str, rows: np.ndarray, case: Case, kind: str = "") -> Page:
        """Return some controllers in one case."""
        swarms = [self.solutions[row] for row in rows.tolist()]
        return Page(name, kind, swarms, rows, [self._at(case)] * len(swarms))

    def _fitness(self, pages: Sequence[Page], trials: int) -> list[np.ndarray]:
        """Return the fitness of each page, (swarms, trials); what is not known is simulated."""
        found: dict[str, np.ndarray] = {}
        for page in pages:
            known = self.notebook.page(page.key, (len(page.swarms), trials))
            if known is not None:
                found[page.key] = known
                self._tell(self.done + known.size)
        for some in self._together([page for page in pages if page.key not in found], trials):
            found |= self._simulated(some, trials)
        return [found[page.key] for page in pages]

    def _together(self, pages: Sequence[Page], trials: int) -> Iterator[list[Page]]:
        """Yield pages that are simulated in one go."""
        some: list[Page] = []
        for page in pages:
            swarms = sum(len(one.swarms) for one in [*some, page])
            if some and swarms > self.how.at_once(trials):
                yield some
                some = []
            some.append(page)
        if some:
            yield some

    def _simulated(self, pages: Sequence[Page], trials: int) -> dict[str, np.ndarray]:
        """Simulate some pages in one go, and write them down."""
        before = self.done

        def told(done: int, _: int) -> None:
            self._tell(before + done * trials)

        each = [one for page in pages for one in zip(page.swarms, page.places, strict=True)]
        swarms = [(swarm, fault) for swarm, (fault, _) in each]
        seeds = [stream("kit", page.name, self.seed) for page in pages for _ in page.swarms]
        worlds = [world for _, (_, world) in each]
        fitness = self.how.fitness(swarms, trials, seeds, told, worlds)
        stops = np.cumsum([len(page.swarms) for page in pages])[:-1]
        found = {page.key: part for page, part in zip(pages, np.split(fitness, stops), strict=True)}
        for key, part in found.items():
            self.notebook.write(key, part)
        return found

    def finished(self) -> None:
        """Tell that all is done, whatever was planned."""
        self._tell(self.planned)

    def _tell(self, done: int) -> None:
        self.done = done
        if self.progress is not None:
            self.progress(min(done, self.planned), self.planned)
