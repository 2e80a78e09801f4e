"""MAP-Elites, for any domain: ask for a batch, evaluate it anywhere, tell the result.

A cell of the archive is a behaviour that the evaluation measures, or, with environment
diversity (QED), an environment that the search draws for each solution: the elite of a cell
is then the best solution known for that environment.

Everything random is a hash of the seed and the solution's number, so a search depends on
nothing else: it can be stopped after any batch, evaluated in parts, or run beside others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from qed.archive.archive import Archive
from qed.chance import fold
from qed.evolution.domain import Batch, Domain

RANDOM, PARENT, VARIATION, ENVIRONMENT = 11, 12, 13, 14  # purposes of random keys


@dataclass
class MapElites:
    """The state of a search: an archive, and how many solutions have been evaluated.

    Ask for a batch, evaluate it anywhere, tell the result.  ``Run`` does so, with files.

    Parameters
    ----------
    domain : Domain
        What is evolved.
    archive : Archive
        What is filled.
    seed : int
        Decides everything random.
    evaluations : int
        Solutions to evaluate, the random ones at the start included.
    initial : int, default 2000
        Random solutions to begin with.
    batch : int, default 80
        Children of a generation.
    environments : sequence of int, optional
        Options of each attribute: environment diversity (default: cells are behaviours).
    done : int, default 0
        Solutions evaluated so far.
    history : list of tuple
        Evaluations, filled cells, best, mean and QD score, now and then.
    records : int, default 1000
        Rows of the history, at most.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> from qed.evolution import MapElites
    >>> class Sphere:
    ...     def random(self, keys):
    ...         return np.array([np.random.default_rng(key).random(2) for key in keys])
    ...     def vary(self, parents, keys):
    ...         steps = [np.random.default_rng(key).normal(0.0, 0.1, 2) for key in keys]
    ...         return np.clip(parents + np.array(steps), 0.0, 1.0)
    ...     def evaluate(self, solutions, environments):
    ...         return -(solutions**2).sum(1), solutions
    >>> archive = qed.Archive(qed.Grid((4, 4)), offset=-2.0)
    >>> sizes = {"evaluations": 200, "initial": 40, "batch": 20}
    >>> one = MapElites(Sphere(), archive, seed=1, **sizes)
    >>> while not one.finished:
    ...     batch = one.ask()
    ...     one.tell(batch, *one.domain.evaluate(batch.solutions, None))
    >>> one.done, archive
    (200, <Archive: 16 of 16 cells filled>)
    """

    domain: Domain
    archive: Archive
    seed: int
    evaluations: int
    initial: int = 2000
    batch: int = 80
    environments: Sequence[int] | None = None
    done: int = 0
    history: list[tuple[float, ...]] = field(default_factory=list)
    records: int = 1000

    def ask(self) -> Batch:
        """Return the next batch: random solutions at first, then children of elites.

        Returns
        -------
        Batch
            Solutions to evaluate, with their environments.
        """
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
        objective = self.archive.objective[cells]
        incumbents = np.where(np.isnan(objective), -np.inf, objective)
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
        """Offer an evaluated batch to the archive, one solution after the other.

        Parameters
        ----------
        batch : Batch
            As it was asked for.
        objective : array of shape ``(n,)``
            Larger is better.
        measures : array of shape ``(n, dimensions)``, or None
            What cells are found by; None with environment diversity.
        """
        cells = measures if batch.environments is None else batch.environments
        self.archive.add(batch.solutions, objective, cells)
        before = self.done * self.records // self.evaluations
        self.done += len(objective)
        if self.done * self.records // self.evaluations > before:
            self.history.append(self.statistics())

    def resume_with(self, archive: Archive) -> None:
        """Take an archive from a file; ValueError if its solutions are not the domain's."""
        archive.set_container(self.domain.random(fold(self.seed, RANDOM, np.arange(1))))
        self.archive = archive

    def statistics(self) -> tuple[float, ...]:
        """Return evaluations, filled cells, best, mean and QD score."""
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
        """True if all evaluations are done."""
        return self.done >= self.evaluations


def search(one: MapElites) -> Iterator[MapElites]:
    """Run a search to its end, yielding it after each batch.

    Parameters
    ----------
    one : MapElites
        The search, in memory; ``Run`` does the same with files.

    Yields
    ------
    MapElites
        The same search, after each batch.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> from qed.evolution import MapElites, search
    >>> class Line:
    ...     def random(self, keys):
    ...         return np.array([[np.random.default_rng(key).random()] for key in keys])
    ...     def vary(self, parents, keys):
    ...         return (parents + self.random(keys)) / 2
    ...     def evaluate(self, solutions, environments):
    ...         return solutions[:, 0], solutions
    >>> archive = qed.Archive(qed.Grid((8,)))
    >>> one = MapElites(Line(), archive, seed=1, evaluations=60, initial=20, batch=20)
    >>> [state.done for state in search(one)]
    [20, 40, 60]
    """
    while not one.finished:
        batch = one.ask()
        one.tell(batch, *one.domain.evaluate(batch.solutions, batch.environments))
        yield one
