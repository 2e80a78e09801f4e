"""The nearest of some points, exactly, and mini-batch k-means that rests on it."""

from typing import Any

import numpy as np

from qed.archive.grid import MAX_CELLS, as_measures

_ROWS = 256  # measures searched at a time
_PAIRS = 4096  # distances decided exactly at a time
SMALL = 0.01  # of the largest cluster's points: a smaller cluster is reassigned
POINTS_BETWEEN = 10  # points a cluster between two reassignments


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
        parts = [self._find_few(rows[k : k + _ROWS]) for k in range(0, len(rows), _ROWS)]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def _find_few(self, rows: np.ndarray) -> np.ndarray:
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


class MiniBatchMeans:
    """Mini-batch k-means: centres, and how many points each stands for.

    It follows scikit-learn's ``MiniBatchKMeans.partial_fit`` (with ``batch_size`` the size
    of the batches), with two differences.  The nearest centre is found exactly, so that the
    centres are the same on every machine, to the bit; scikit-learn's follow the rounding of the
    machine's matrix products.  And the first centres are random points instead of those of
    k-means++: where points have hundreds of dimensions they are all about equally far apart, and
    k-means++ chooses as good as uniformly among them.  So the centres are others than
    scikit-learn's, and behaviours that evolve fill about a quarter more of them.

    Without the reassignment of small clusters, several times as many centroids lie near the
    uniform policy, where evolved behaviours are (`attracting` in
    `benchmarks/results/centroids.json`).
    """

    def __init__(self, centres: np.ndarray, reassign: bool = True) -> None:
        self.centres = np.array(centres, np.float32)
        self.members = np.zeros(len(centres), np.int64)
        self.reassign = reassign
        self._seen = 0  # points since small clusters were last reassigned

    def step(self, points: np.ndarray, chance: np.random.RandomState) -> None:
        """Let the centres follow a batch of points (n, dimensions)."""
        due = self.reassign and self._reassign_now(len(points))
        self._move(points)
        if due:
            self._reassign(points, chance)

    def _reassign_now(self, points: int) -> bool:
        """Return whether small clusters are to be reassigned: at first, and then now and then."""
        self._seen += points
        if self._seen >= POINTS_BETWEEN * len(self.centres) or not self.members.all():
            self._seen = 0
            return True
        return False

    def _move(self, points: np.ndarray) -> None:
        """Move each centre to the mean of the points it stands for, the new ones included."""
        nearest = Nearest(self.centres).find(points)
        order = np.argsort(nearest, kind="stable")
        cells, starts, counts = np.unique(nearest[order], return_index=True, return_counts=True)
        sums = np.add.reduceat(points[order], starts, axis=0, dtype=np.float64)
        before = self.members[cells]
        self.members[cells] += counts
        means = (self.centres[cells] * before[:, None] + sums) / self.members[cells][:, None]
        self.centres[cells] = means

    def _reassign(self, points: np.ndarray, chance: np.random.RandomState) -> None:
        """Put the centres of small clusters on random points, at most on half of them.

        Such a centre then counts as much as the smallest of the others: it moves a little
        slower than a single point would, and is not at once small again.
        """
        small = self.members < SMALL * self.members.max()
        small[np.argsort(self.members, kind="stable")[len(points) // 2 :]] = False
        count = np.count_nonzero(small)
        if count:
            self.centres[small] = points[chance.choice(len(points), count, replace=False)]
            self.members[small] = self.members[~small].min()
