"""MAP-Elites, for any domain: ask for a batch, evaluate it anywhere, tell the result.

A cell of the archive is a behaviour that the evaluation measures, or, with environment
diversity (QED), an environment that the search draws for each solution: the elite of a cell
is then the best solution known for that environment.

Everything random is a hash of the seed and the solution's number, so a search depends on
nothing else: it can be stopped after any batch, evaluated in parts, or run beside others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from qed.archive.archive import Archive
from qed.chance import fold

Evaluated = tuple[np.ndarray, np.ndarray | None]  # objective, and measures if cells need them
RANDOM, PARENT, VARIATION, ENVIRONMENT = 11, 12, 13, 14  # purposes of random keys


class Domain(Protocol):
    """What a search needs to know about a domain.

    Solutions are an array with one row a solution, or a NamedTuple or a mapping of such arrays;
    they go into files as they are.  Keys are 32-bit seeds, one a solution: what is random must
    follow from them alone, so that a search can be stopped and gone on with.

    A domain may say more about itself; a run reads these where they are there:

    - ``describe()`` returns what makes it the domain it is, as a table of words, numbers and
      lists of them.  It goes into the run's ``config.toml``, and a run is resumed only with a
      domain that says the same.  A dataclass says its fields by default.
    - ``features`` holds the names of the measures, for pictures.
    - ``together`` and ``begin`` (``SideBySide``) evaluate batches of several searches in one go.
    """

    def random(self, keys: np.ndarray) -> Any:
        """Return random solutions."""

    def vary(self, parents: Any, keys: np.ndarray) -> Any:
        """Return a changed copy of each parent."""

    def evaluate(
        self, solutions: Any, environments: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the objective (n,), larger is better, and the measures (n, dimensions).

        ``environments`` (n, attributes) holds the index of an option of each attribute for each
        solution, with environment diversity; the measures are then not looked at and may be
        None.
        """


class Pending(Protocol):
    """An evaluation under way."""

    def ready(self) -> bool:
        """Tell whether its results need not be waited for, or will not come without waiting."""

    def results(self) -> Sequence[Evaluated]:
        """Wait for its end; return the objective and the measures of each batch."""


class SideBySide(Domain, Protocol):
    """A domain that gains from evaluating batches of several searches in one go."""

    @staticmethod
    def together(domains: Sequence[Any], batch: int) -> list[list[int]]:
        """Return which of several domains, with so large batches, are best evaluated in one go."""

    @staticmethod
    def begin(domains: Sequence[Any], batches: Sequence[Batch]) -> Pending:
        """Begin to evaluate a batch of each domain; each gets what it would get alone."""


@dataclass
class Batch:
    """Solutions that wait for evaluation, and the environments to evaluate them in."""

    solutions: Any
    environments: np.ndarray | None
    cells: np.ndarray | None = None  # with environments: the cell of each solution,
    incumbents: np.ndarray | None = None  # the objective to beat there, -inf where none,
    archive: Archive | None = None  # and where the incumbents are


@dataclass
class MapElites:
    """The state of a search: an archive, and how many solutions have been evaluated."""

    domain: Domain
    archive: Archive
    seed: int
    evaluations: int  # in all
    initial: int = 2000  # random solutions to begin with
    batch: int = 80  # children of a generation
    environments: Sequence[int] | None = None  # options of each attribute: environment diversity
    done: int = 0  # solutions evaluated
    history: list[tuple[float, ...]] = field(default_factory=list)  # of ``standing``
    records: int = 1000  # rows of history, at most

    def ask(self) -> Batch:
        """Return the next batch: random solutions at first, then children of elites."""
        limit = self.initial if self.done < self.initial else self.evaluations
        numbers = np.arange(self.done, min(self.done + self.batch, limit, self.evaluations))
        if self.done < self.initial:
            solutions = self.domain.random(fold(self.seed, RANDOM, numbers))
        else:
            elites = self.archive.occupied
            draws = fold(self.seed, PARENT, numbers).astype(np.uint64)
            parents = elites[(draws * np.uint64(len(elites))) >> np.uint64(32)]
            keys = fold(self.seed, VARIATION, numbers)
            solutions = self.domain.vary(self.archive.take(parents), keys)
        environments = self._draw_environments(numbers)
        if environments is None:
            return Batch(solutions, None)
        cells = self.archive.space.find(environments)
        there = self.archive.objective[cells]
        incumbents = np.where(np.isnan(there), -np.inf, there)
        return Batch(solutions, environments, cells, incumbents, self.archive)

    def _draw_environments(self, numbers: np.ndarray) -> np.ndarray | None:
        """Draw an option of each attribute for each solution, all equally likely."""
        if self.environments is None:
            return None
        attributes = np.arange(len(self.environments))
        draws = fold(self.seed, ENVIRONMENT, numbers[:, None], attributes).astype(np.uint64)
        options = np.asarray(self.environments, np.uint64)
        drawn: np.ndarray = ((draws * options) >> np.uint64(32)).astype(np.int64)
        return drawn

    def tell(self, batch: Batch, objective: np.ndarray, measures: np.ndarray | None) -> None:
        """Offer an evaluated batch to the archive, one solution after the other."""
        cells = measures if batch.environments is None else batch.environments
        self.archive.add(batch.solutions, objective, cells)
        before = self.done * self.records // self.evaluations
        self.done += len(objective)
        if self.done * self.records // self.evaluations > before:
            self.history.append(self.standing())

    def adopt(self, archive: Archive) -> None:
        """Go on with an archive from a file; ValueError if its solutions are not the domain's."""
        archive.adopt(self.domain.random(fold(self.seed, RANDOM, np.arange(1))))
        self.archive = archive

    def standing(self) -> tuple[float, ...]:
        """Return evaluations, coverage, best, mean and QD score."""
        archive = self.archive
        return (
            float(self.done),
            float(len(archive)),
            float(archive.best.fitness),
            float(archive.mean),
            float(archive.qd_score),
        )

    @property
    def finished(self) -> bool:
        """Whether all evaluations are done."""
        return self.done >= self.evaluations


def search(one: MapElites) -> Iterator[MapElites]:
    """Run a search to its end, yielding it after each batch."""
    while not one.finished:
        batch = one.ask()
        one.tell(batch, *one.domain.evaluate(batch.solutions, batch.environments))
        yield one
