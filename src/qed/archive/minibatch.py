"""Mini-batch k-means: centres that follow batches of points, one batch after the other.

It does what scikit-learn's ``MiniBatchKMeans.partial_fit`` does (with ``batch_size`` the size of
the batches), with two differences.  The nearest centre is found exactly, so that the centres are
the same on every machine, to the bit; scikit-learn's follow the rounding of the machine's matrix
products.  And the first centres are random points instead of those of k-means++: where points
have hundreds of dimensions they are all about equally far apart, and k-means++ chooses as good
as uniformly among them.
"""

from __future__ import annotations

import numpy as np

from qed.archive.nearest import Nearest

SMALL = 0.01  # of the largest cluster's points: a smaller cluster begins anew
BETWEEN = 10  # small clusters begin anew each time so many points a cluster were seen


class MiniBatchMeans:
    """Centres of clusters, and how many points each stands for."""

    def __init__(self, centres: np.ndarray, reassign: bool = True) -> None:
        self.centres = np.array(centres, np.float32)
        self.members = np.zeros(len(centres), np.int64)
        self.reassign = reassign
        self._seen = 0  # points since small clusters last began anew

    def step(self, points: np.ndarray, chance: np.random.RandomState) -> None:
        """Let the centres follow a batch of points (n, dimensions)."""
        due = self.reassign and self._due(len(points))
        self._move(points)
        if due:
            self._begin_anew(points, chance)

    def _due(self, points: int) -> bool:
        """Tell whether small clusters begin anew: at first, and then now and then."""
        self._seen += points
        if self._seen >= BETWEEN * len(self.centres) or not self.members.all():
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

    def _begin_anew(self, points: np.ndarray, chance: np.random.RandomState) -> None:
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
