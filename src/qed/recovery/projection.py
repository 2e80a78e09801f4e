"""Maps of all algorithms in one space: their solutions' SPIRIT behaviour, one elite a centroid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.archive.cvt import Centroids
from qed.recovery.metrics import diversity


@dataclass(frozen=True)
class Projection:
    """A map in SPIRIT space."""

    cells: np.ndarray  # centroids that are nearest to some solution, ascending
    elites: np.ndarray  # for each of them the solution with the highest fitness
    diversity: float  # mean distance between these centroids, 0 to 1
    solution_diversity: float  # and between the elites themselves

    @property
    def coverage(self) -> int:
        """Number of centroids taken."""
        return len(self.cells)


def project(behaviours: np.ndarray, fitness: np.ndarray, space: Centroids) -> Projection:
    """Return the projection of solutions with these SPIRIT behaviours (n, 1024) and fitness (n,).

    The first of equally fit solutions is kept.
    """
    nearest = space.find(behaviours)
    order = np.lexsort((np.arange(len(nearest)), -fitness, nearest))
    first = np.diff(nearest[order], prepend=-1) > 0
    elites = order[first]
    cells = nearest[elites]
    return Projection(cells, elites, diversity(space.points[cells]), diversity(behaviours[elites]))
