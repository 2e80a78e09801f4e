"""An emitter proposes solutions and learns what became of them: the protocol, and those of QED."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from qed.chance import fold
from qed.errors import InputError, integer, number

if TYPE_CHECKING:
    from qed.archive.archive import Archive
    from qed.evolution.domain import Domain

RANDOM, PARENT, VARIATION, ENVIRONMENT = 11, 12, 13, 14  # purposes of random keys
COLUMNS = ("won", "lost")  # of a bandit's records
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


@dataclass(eq=False)
class Bandit:
    """Children of parents that are drawn by how often their children won a cell.

    Each elite is an arm of a bandit, which pays when a child takes a cell.  For each child a few
    elites are drawn uniformly, a success rate is drawn from the Beta distribution of each (Thompson
    sampling), and the one with the highest rate is the parent.  An elite that takes a cell begins
    with what is known of its parent, so that families which improve the archive get more
    children, and an elite whose children keep losing is left for others.

    Parameters
    ----------
    among : int, default 16
        Elites that are compared for each child; 1 is uniform.
    inherited : float, default 1.0
        Part of the parent's record that a new elite begins with, 0 to 1.

    Examples
    --------
    >>> import qed
    >>> small = {"evaluations": 60, "initial": 20, "batch": 20, "trials": 1, "seconds": 5.0}
    >>> qed.evolve("patrolling", emitter=qed.emitters.Bandit(among=8), **small)
    <Archive: 59 of 4096 cells filled>
    """

    among: int = 16
    inherited: float = 1.0
    full = False
    _domain: Domain = field(init=False, repr=False)
    _records: np.ndarray | None = field(default=None, init=False, repr=False)  # (cells, 2)

    def __post_init__(self) -> None:
        integer("among", self.among, 1, 1000)
        number("inherited", self.inherited, 0.0, 1.0)

    def begin(self, domain: Domain) -> None:
        """Take what is evolved, and forget what was learnt."""
        self._domain = domain
        self._records = None

    def describe(self) -> dict[str, Any]:
        """Return its parameters."""
        return {"among": self.among, "inherited": self.inherited}

    def ask(self, archive: Archive, n: int, stream: Stream) -> Any:
        """Return children of promising elites."""
        if self._records is None:
            self._records = np.zeros((archive.cells, len(COLUMNS)))
        self._space = archive.space
        elites = archive.occupied
        rng = np.random.default_rng((*stream, PARENT))
        drawn = elites[rng.integers(len(elites), size=(n, self.among))]
        rates = rng.beta(*(1.0 + np.moveaxis(self._records[drawn], -1, 0)))
        self._parents = drawn[np.arange(n), rates.argmax(1)]
        return self._domain.vary(archive.take(self._parents), stream.keys(VARIATION, n))

    def tell(
        self, solutions: Any, objective: np.ndarray, measures: np.ndarray, status: np.ndarray
    ) -> None:
        """Credit the parents, and let children that took a cell inherit."""
        assert self._records is not None
        won = status > 0
        np.add.at(self._records, (self._parents, np.where(won, 0, 1)), 1.0)
        # Of several children that took a cell the last is its elite, and is written last.
        records = self._records[self._parents[won]]
        self._records[self._space.find(measures[won])] = self.inherited * records

    def state(self) -> dict[str, np.ndarray]:
        """Return the records of the elites."""
        return {} if self._records is None else {"records": self._records}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take the records of the elites."""
        records = state.get("records")
        if records is not None and (records.ndim != 2 or records.shape[1] != len(COLUMNS)):
            raise InputError(f"records must have {len(COLUMNS)} columns, got {records.shape}")
        self._records = None if records is None else records.astype(float)
