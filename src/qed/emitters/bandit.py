"""A bandit over parents: children are spent on the elites whose children win cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from qed.emitters.emitter import PARENT, VARIATION, Stream
from qed.errors import InputError, integer, number

if TYPE_CHECKING:
    from qed.archive.archive import Archive
    from qed.evolution.domain import Domain

COLUMNS = ("won", "lost")


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
        told = self._records[self._parents[won]]
        self._records[self._space.find(measures[won])] = self.inherited * told

    def state(self) -> dict[str, np.ndarray]:
        """Return the records of the elites."""
        return {} if self._records is None else {"records": self._records}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take the records of the elites."""
        records = state.get("records")
        if records is not None and (records.ndim != 2 or records.shape[1] != len(COLUMNS)):
            raise InputError(f"records must have {len(COLUMNS)} columns, got {records.shape}")
        self._records = None if records is None else records.astype(float)
