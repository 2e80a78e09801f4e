"""Simulate an archive's controllers in faults, page by page, with trials apart for each purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from qed.controller.team import Team
from qed.recovery.by_fault import drive
from qed.recovery.kit.notebook import Notebook
from qed.recovery.race import Raced, race
from qed.recovery.trials import Progress, Trials
from qed.streams import stream
from qed.swarm.faults import Faults
from qed.swarm.job import Ready


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
        self, purpose: str, rows: np.ndarray, faults: Sequence[Faults | None], trials: int
    ) -> np.ndarray:
        """Return the fitness of some controllers in each fault, (faults, rows, trials).

        Trials of two purposes, or of two faults, share no start pose and no noise.
        """
        return np.array(
            [self._page(f"{purpose}-{k}", rows, fault, trials) for k, fault in enumerate(faults)]
        )

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
            found: np.ndarray = self._page(purpose, rows[going], fault, met, f"-{met}").mean(1)
            return found

        return race(len(rows), trials, attempt, always)

    def teams(self, purpose: str, teams: np.ndarray, fault: Faults, trials: int) -> np.ndarray:
        """Return the fitness of teams (n, robots) of controllers in a fault, (n, trials).

        They meet the trials that ``fitness`` has for this purpose and its first fault.
        """
        swarms = [drive([self.solutions[row] for row in team]) for team in teams.tolist()]
        return self._kept(f"{purpose}-0", swarms, teams, fault, trials, "-teams")

    def _page(
        self, name: str, rows: np.ndarray, fault: Faults | None, trials: int, heat: str = ""
    ) -> np.ndarray:
        swarms = [self.solutions[row] for row in rows.tolist()]
        return self._kept(name, swarms, rows, fault, trials, heat)

    def _kept(
        self,
        name: str,
        swarms: Sequence[Ready | Team],
        rows: np.ndarray,
        fault: Faults | None,
        trials: int,
        kind: str,
    ) -> np.ndarray:
        """Return a page of the notebook; what is not there yet is simulated."""
        key = f"{name}{kind}-{_digest(rows, fault)}"
        page = self.notebook.page(key, (len(rows), trials))
        if page is None:
            before = self.done

            def told(done: int, _: int) -> None:
                self._tell(before + done * trials)

            page = self.how.fitness(
                [(one, fault) for one in swarms], trials, stream("kit", name, self.seed), told
            )
            self.notebook.write(key, page)
            self.done = before
        self._tell(self.done + page.size)
        return page

    def finished(self) -> None:
        """Tell that all is done, whatever was planned."""
        self._tell(self.planned)

    def _tell(self, done: int) -> None:
        self.done = done
        if self.progress is not None:
            self.progress(min(done, self.planned), self.planned)


def _digest(rows: np.ndarray, fault: Faults | None) -> str:
    """Return a short name for exactly these controllers in this fault."""
    hashed = blake2b(rows.astype(np.int64).tobytes(), digest_size=6)
    hashed.update(",".join(fault or ()).encode())
    return hashed.hexdigest()
