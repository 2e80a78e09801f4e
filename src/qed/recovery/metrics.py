"""What a fault costs, what is left of it after recovery, and how much maps differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qed.descriptors.spirit import distance

if TYPE_CHECKING:
    from qed.archive.cvt import Centroids


def impact(normal: float, broken: float) -> float:
    """Return the relative change of the normal best's fitness when the fault strikes.

    -0.25 means that a quarter is lost; NaN if there was nothing to lose.
    """
    return change(normal, broken)


def resilience(normal: float, recovered: float) -> float:
    """Return the relative change from the normal best to the recovery's fitness in the fault.

    On the trials that choose the recovery it is never below the impact, since the normal best is
    one of the controllers to recover with.  On fresh trials it can be.
    """
    return change(normal, recovered)


def change(before: float, after: float) -> float:
    """Return (after - before) / before, NaN if before is 0."""
    return (after - before) / before if before else float("nan")


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of the mean of trials (n,), NaN below two."""
    if len(values) < 2:
        return float("nan")
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def diversity(behaviours: np.ndarray) -> float:
    """Return the mean distance over all pairs of SPIRIT behaviours (n, 1024), NaN below two."""
    count = len(behaviours)
    if count < 2:
        return float("nan")
    total = sum(float(distance(behaviours[k], behaviours[k + 1 :]).sum()) for k in range(count - 1))
    return total / (count * (count - 1) / 2)


@dataclass(frozen=True)
class Projection:
    """A map in SPIRIT space, one elite a centroid, where maps of all algorithms can be compared."""

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
