"""The nearest of some points, exactly, at about the cost of one matrix product."""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.archive.space import MAX_CELLS, as_measures

_ROWS = 256  # measures searched at a time
_PAIRS = 4096  # distances decided exactly at a time


class Nearest:
    """Points (n, dimensions), and which of them is nearest: the lowest index of equals.

    Distances are Euclidean, in float64 from float32 coordinates.  One matrix product in float32
    finds all points that may be nearest, given how far its rounding can be off; where there are
    several, their exact distances decide.  So an answer depends neither on the other measures of
    the batch nor on how a machine multiplies matrices.
    """

    def __init__(self, points: Any) -> None:
        given = np.asarray(points)
        if given.ndim != 2 or 0 in given.shape or len(given) > MAX_CELLS:
            raise ValueError(f"points must have shape (cells, dimensions), got {given.shape}")
        self.points = as_measures(given, given.shape[1]).copy()
        self.points.flags.writeable = False
        exact = self.points.astype(np.float64)
        # Distances do not change if all coordinates are moved.  Around the middle numbers are
        # small, and so are rounding errors.
        self._middle = exact.mean(0)
        moved = exact - self._middle
        squares = (moved**2).sum(1)
        with np.errstate(over="ignore", under="ignore"):
            self._moved = np.ascontiguousarray(moved.T, np.float32)
            self._squares = squares.astype(np.float32)
        self._reach = float(np.sqrt(squares.max()))

    @property
    def dimensions(self) -> int:
        """Number of measures."""
        return int(self.points.shape[1])

    def find(self, measures: Any) -> np.ndarray:
        """Return the nearest point (int64, (n,)) of each row of measures (n, dimensions)."""
        rows = as_measures(measures, self.dimensions)
        parts = [self._of_a_few(rows[k : k + _ROWS]) for k in range(0, len(rows), _ROWS)]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def _of_a_few(self, rows: np.ndarray) -> np.ndarray:
        """Return the nearest point of a few rows."""
        moved = rows - self._middle
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            score = moved.astype(np.float32) @ self._moved
            score *= np.float32(-2)  # in place: to ask for memory takes longer than to compute
            score += self._squares
            possible = score <= (score.min(1) + self._rounding(moved))[:, None]
        possible[~np.isfinite(score).all(1)] = True  # numbers too large for float32
        cells: np.ndarray = possible.argmax(1)
        several = np.flatnonzero(np.count_nonzero(possible, 1) > 1)
        if len(several):
            row, cell = np.nonzero(possible[several])
            distance = self._distances(rows[several], row, cell)
            order = np.lexsort((cell, distance, row))
            first = np.diff(row[order], prepend=-1) > 0
            cells[several] = cell[order][first]
        return cells

    def _rounding(self, moved: np.ndarray) -> np.ndarray:
        """Return how far apart (n,) two scores may be that ought to be equal.

        A score |p|^2 - 2 m.p is a sum of d products, with four roundings more (m, p, |p|^2, the
        difference); each is off by at most eps/2 of |p|^2 + 2 |m| |p|, and two scores by twice
        that.  Products below the smallest float32, and distances in float64, are off by a
        little themselves.
        """
        single, double = np.finfo(np.float32), np.finfo(np.float64)
        size = np.sqrt((moved**2).sum(1))
        scale = self._reach * (self._reach + 2.0 * size)
        tiny = double.eps * (self._reach + size) ** 2 + 4.0 * single.smallest_normal
        return np.asarray((self.dimensions + 8) * (single.eps * scale + tiny))

    def _distances(self, rows: np.ndarray, row: np.ndarray, cell: np.ndarray) -> np.ndarray:
        """Return squared distances (pairs,) between given rows and points, in float64."""
        distances = np.empty(len(row))
        for k in range(0, len(row), _PAIRS):
            part = slice(k, k + _PAIRS)
            apart = rows[row[part]].astype(np.float64) - self.points[cell[part]]
            distances[part] = (apart**2).sum(1)
        return distances
