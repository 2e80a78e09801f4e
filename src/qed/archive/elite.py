"""The best solution known for a cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qed.controller.genome import Genomes
from qed.controller.network import Controller


@dataclass(frozen=True, eq=False)
class Elite:
    """The best solution known for a cell.

    Attributes
    ----------
    cell : int
        Its cell.
    fitness : float
        Its objective; larger is better.
    measures : array of shape ``(dimensions,)``
        What its cell was found by (float32); in a QED archive the options of its environment.
    solution : dict of str to array
        Its row of each column.

    Examples
    --------
    >>> import qed
    >>> best = qed.load_example("patrolling").best
    >>> round(best.fitness, 2), best.controller
    (0.98, <Controller: 1 hidden, 31 connections>)
    >>> qed.Environment.from_options(best.measures).robots
    20
    """

    cell: int
    fitness: float
    measures: np.ndarray
    solution: dict[str, np.ndarray]

    @cached_property
    def controller(self) -> Controller | None:
        """The solution as a controller; None if it is not a genome."""
        if tuple(self.solution) != Genomes._fields:
            return None
        return Genomes(**{name: row[None] for name, row in self.solution.items()}).controller(0)
