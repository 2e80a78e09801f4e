"""An archive again, slow and obvious, and small spaces to try archives on."""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.archive.archive import Archive
from qed.archive.cvt import Centroids
from qed.archive.grid import Categories, Grid

POINTS = np.random.default_rng(5).random((12, 3)).astype(np.float32)
SPACES = {"grid": Grid((3, 4)), "categories": Categories((2, 3, 2)), "centroids": Centroids(POINTS)}
# Measures that lie in each of the twelve cells.
INSIDE = {
    "grid": np.array([(i / 3, j / 4) for i in range(3) for j in range(4)]),
    "categories": np.array([(i, j, k) for i in range(2) for j in range(3) for k in range(2)]),
    "centroids": POINTS.astype(float),
}


class PlainArchive:
    """For each cell (objective, measures, solution), one at a time."""

    def __init__(self) -> None:
        self.kept: dict[int, tuple[float, Any, Any]] = {}

    def add(self, cell: int, objective: float, measures: Any, solution: Any) -> int:
        if cell not in self.kept:
            status = 2
        elif objective > self.kept[cell][0]:
            status = 1
        else:
            return 0
        self.kept[cell] = (objective, measures, solution)
        return status


def filled(kind: str = "grid", count: int = 40, seed: int = 1, header: Any = None) -> Archive:
    """Return an archive with random elites, whose solutions are two columns."""
    rng = np.random.default_rng(seed)
    archive = Archive(SPACES[kind], header)
    cells = rng.integers(0, 12, count)
    solutions = {"number": np.arange(count), "vector": rng.random((count, 4), np.float32)}
    archive.add(solutions, rng.random(count), INSIDE[kind][cells])
    return archive
