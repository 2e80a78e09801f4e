"""An emitter proposes solutions and learns what became of them; the default is the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from qed.chance import fold

if TYPE_CHECKING:
    from qed.archive.archive import Archive
    from qed.evolution.domain import Domain

RANDOM, PARENT, VARIATION, ENVIRONMENT = 11, 12, 13, 14  # purposes of random keys
STOPPED = -1  # status of a child that was stopped early; the others are those of ``Archive.add``


class Stream(NamedTuple):
    """What the random numbers of a batch follow from: the search's seed, and how far it is.

    ``np.random.default_rng(stream)`` is a generator of its own for each batch.

    Attributes
    ----------
    seed : int
        Seed of the search.
    first : int
        Number of the batch's first solution, from the beginning of the search.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.emitters import Stream
    >>> stream = Stream(seed=1, first=80)
    >>> 0.0 <= np.random.default_rng(stream).random() < 1.0
    True
    """

    seed: int
    first: int

    def keys(self, purpose: int, n: int) -> np.ndarray:
        """Return a 32-bit key for each solution of the batch.

        Parameters
        ----------
        purpose : int
            What the keys are for; different purposes give independent keys.
        n : int
            Solutions of the batch.

        Returns
        -------
        array of shape ``(n,)``, uint32
            They depend on the solutions' numbers, not on the batch.

        Examples
        --------
        >>> from qed.emitters import Stream
        >>> Stream(1, 80).keys(5, 3)[1] == Stream(1, 81).keys(5, 1)[0]
        np.True_
        """
        keys: np.ndarray = fold(self.seed, purpose, self.first + np.arange(n))
        return keys


class Emitter(Protocol):
    """What proposes the children of a search.

    The search draws the random solutions at its start, and the environment of each solution, where
    cells are environments.  It asks and tells in turn.

    An emitter may have more, which a search uses if it is there:

    - ``begin(domain)`` is called once, before all else, with what is evolved (``Domain``).
    - ``describe()`` returns its parameters, as a table of words, numbers and lists of them, which a
      run keeps: it is resumed only with an emitter that has the same.  For a dataclass the default
      is its fields.

    Attributes
    ----------
    full : bool
        True: it needs full evaluations, so that none of its children is stopped early.

    Examples
    --------
    Children of the best elite alone:

    >>> import qed
    >>> class OfTheBest:
    ...     full = False
    ...     def begin(self, domain):
    ...         self.domain = domain
    ...     def ask(self, archive, n, stream):
    ...         parents = archive.take([archive.best.cell] * n)
    ...         return self.domain.vary(parents, stream.keys(0, n))
    ...     def tell(self, solutions, objective, measures, status):
    ...         pass
    ...     def state(self):
    ...         return {}
    ...     def restore(self, state):
    ...         pass
    >>> small = {"evaluations": 60, "initial": 20, "batch": 20, "trials": 1, "seconds": 5.0}
    >>> qed.evolve("patrolling", emitter=OfTheBest(), **small)
    <Archive: 59 of 4096 cells filled>
    """

    full: bool

    def ask(self, archive: Archive, n: int, stream: Stream) -> Any:
        """Return solutions to evaluate.

        Parameters
        ----------
        archive : Archive
            The elites so far; not to be changed.
        n : int
            How many solutions.
        stream : Stream
            What everything random has to follow from.

        Returns
        -------
        array, NamedTuple or mapping of arrays
            One row per solution, as the domain has them.
        """

    def tell(
        self, solutions: Any, objective: np.ndarray, measures: np.ndarray, status: np.ndarray
    ) -> None:
        """Learn what became of the solutions that were asked for.

        Parameters
        ----------
        solutions : array, NamedTuple or mapping of arrays
            As they were asked for.
        objective : array of shape ``(n,)``
            NaN for those that were stopped early, because they could not win their cell.
        measures : array of shape ``(n, dimensions)``
            What their cells are found by; with environment diversity the options of the
            environments that the search drew for them.
        status : array of shape ``(n,)``
            0 rejected, 1 improved its cell, 2 filled an empty cell, -1 stopped early.
        """

    def state(self) -> Mapping[str, np.ndarray]:
        """Return all that it has learnt, as arrays of numbers by name.

        Returns
        -------
        mapping of str to array
            Checkpoints hold it.
        """

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a state; ValueError if it does not fit.

        Parameters
        ----------
        state : mapping of str to array
            As ``state`` returned it.
        """


class Uniform:
    """Children of parents that are drawn uniformly from the elites: what the paper does.

    Examples
    --------
    >>> import qed
    >>> small = {"evaluations": 60, "initial": 20, "batch": 20, "trials": 1, "seconds": 5.0}
    >>> default = qed.evolve("patrolling", **small)
    >>> default.equal(qed.evolve("patrolling", emitter=qed.emitters.Uniform(), **small))
    True
    """

    full = False
    domain: Domain

    def begin(self, domain: Domain) -> None:
        """Take what is evolved."""
        self.domain = domain

    def ask(self, archive: Archive, n: int, stream: Stream) -> Any:
        """Return children of elites."""
        cells = archive.occupied[uniformly(stream.keys(PARENT, n), len(archive))]
        return self.domain.vary(archive.take(cells), stream.keys(VARIATION, n))

    def tell(
        self, solutions: Any, objective: np.ndarray, measures: np.ndarray, status: np.ndarray
    ) -> None:
        """Learn nothing."""

    def state(self) -> dict[str, np.ndarray]:
        """Return nothing: everything follows from the archive."""
        return {}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Need nothing."""


def uniformly(keys: np.ndarray, options: Any) -> np.ndarray:
    """Return for each 32-bit key one of so many options, all equally likely."""
    drawn: np.ndarray = (keys.astype(np.uint64) * np.asarray(options, np.uint64)) >> np.uint64(32)
    return drawn.astype(np.int64)
