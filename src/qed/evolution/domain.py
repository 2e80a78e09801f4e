"""What is evolved: a domain, and the batches of it that wait for evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from qed.archive.archive import Archive

Evaluated = tuple[np.ndarray, np.ndarray | None]  # objective, and measures if cells need them


class Domain(Protocol):
    """What a search needs to know about a domain.

    Solutions are an array with one row a solution, or a NamedTuple or a mapping of such arrays;
    they go into files as they are.  Keys are 32-bit seeds, one per solution: what is random must
    follow from them alone, so that a search can be stopped and gone on with.

    A domain may say more about itself; a run reads these where they are there:

    - ``describe()`` returns what makes it the domain it is, as a table of words, numbers and
      lists of them.  It goes into the run's ``config.toml``, and a run is resumed only with a
      domain that says the same.  A dataclass says its fields by default.
    - ``features`` holds the names of the measures, for pictures.
    - ``together`` and ``begin`` (``SideBySide``) evaluate batches of several searches in one go.

    Examples
    --------
    A number that should be near a target, which depends on the environment:

    >>> import numpy as np
    >>> from qed.archive import Environments
    >>> from qed.evolution import Run, drive
    >>> class Aim:
    ...     def random(self, keys):
    ...         return np.array([[np.random.default_rng(key).random()] for key in keys])
    ...     def vary(self, parents, keys):
    ...         steps = [[np.random.default_rng(key).normal(0.0, 0.1)] for key in keys]
    ...         return parents + np.array(steps)
    ...     def evaluate(self, solutions, environments):
    ...         target = environments[:, 0] / 4
    ...         return -np.abs(solutions[:, 0] - target), None
    ...     def describe(self):
    ...         return {"targets": 4}
    >>> cells = Environments({"target": (0.0, 0.25, 0.5, 0.75)})
    >>> run = Run(None, Aim(), cells, evaluations=400, initial=40, batch=20, seed=1)
    >>> generations = list(drive([run]))
    >>> run.archive, bool(run.archive.mean > -0.02)
    (<Archive: 4 of 4 cells filled>, True)
    """

    def random(self, keys: np.ndarray) -> Any:
        """Return random solutions.

        Parameters
        ----------
        keys : array of shape ``(n,)``, uint32
            A seed per solution.

        Returns
        -------
        array, NamedTuple or mapping of arrays
            One row per solution.
        """

    def vary(self, parents: Any, keys: np.ndarray) -> Any:
        """Return a changed copy of each parent.

        Parameters
        ----------
        parents : array, NamedTuple or mapping of arrays
            One row per parent, as ``random`` returned them.
        keys : array of shape ``(n,)``, uint32
            A seed per child.

        Returns
        -------
        array, NamedTuple or mapping of arrays
            One row per child.
        """

    def evaluate(
        self, solutions: Any, environments: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return how good solutions are, and what their cells are found by.

        Parameters
        ----------
        solutions : array, NamedTuple or mapping of arrays
            One row per solution.
        environments : array of shape ``(n, attributes)``, or None
            With environment diversity the index of an option of each attribute for each solution.

        Returns
        -------
        objective : array of shape ``(n,)``
            Larger is better.
        measures : array of shape ``(n, dimensions)``, or None
            What cells are found by; with environment diversity not looked at.
        """


class Pending(Protocol):
    """An evaluation under way."""

    def ready(self) -> bool:
        """Tell whether its results need not be waited for, or will not come without waiting."""

    def results(self) -> Sequence[Evaluated]:
        """Wait for its end; return the objective and the measures of each batch."""


class SideBySide(Domain, Protocol):
    """A domain that gains from evaluating batches of several searches in one go.

    ``drive`` looks for these two methods; robot swarms have them, so that a GPU is filled by
    several runs.

    Examples
    --------
    >>> from qed.evolution import SideBySide
    >>> from qed.evolution.swarms import Swarms
    >>> all(hasattr(Swarms, name) for name in ("together", "begin", "evaluate"))
    True
    """

    @staticmethod
    def together(domains: Sequence[Any], batch: int) -> list[list[int]]:
        """Return which of several domains are best evaluated in one go.

        Parameters
        ----------
        domains : sequence of Domain
            All of this kind.
        batch : int
            Solutions of a generation of each.

        Returns
        -------
        list of list of int
            Groups of domains, by their numbers.
        """

    @staticmethod
    def begin(domains: Sequence[Any], batches: Sequence[Batch]) -> Pending:
        """Begin to evaluate a batch of each domain; each gets what it would get alone.

        Parameters
        ----------
        domains : sequence of Domain
            A group.
        batches : sequence of Batch
            One of each domain.

        Returns
        -------
        Pending
            With ``ready()``, whether results need not be waited for, and ``results()``, which waits
            and returns objective and measures of each batch.
        """


@dataclass
class Batch:
    """Solutions that wait for evaluation, and the environments to evaluate them in.

    Attributes
    ----------
    solutions : array, NamedTuple or mapping of arrays
        One row per solution.
    environments : array of shape ``(n, attributes)``, or None
        With environment diversity the index of an option of each attribute; else None, as what
        follows.
    cells : array of shape ``(n,)``, or None
        The cell of each solution.
    incumbents : array of shape ``(n,)``, or None
        The objective to beat there, minus infinity where there is none.
    archive : Archive or None
        Where the incumbents are.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.evolution import Batch
    >>> batch = Batch(np.zeros((3, 2)), None)
    >>> len(batch.solutions)
    3
    """

    solutions: Any
    environments: np.ndarray | None
    cells: np.ndarray | None = None
    incumbents: np.ndarray | None = None
    archive: Archive | None = None
