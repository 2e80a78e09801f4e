"""What was tried and what it gave: all that a decision depends on, whatever the order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Told = tuple[int, float]  # a controller's number, and what it gave in one trial


@dataclass(frozen=True, eq=False)
class Seen:
    """Trials so far, controller by controller; the same for any order of the same trials."""

    rows: np.ndarray  # int64 (t,): controllers tried, ascending
    counts: np.ndarray  # float64 (t,): trials of each
    means: np.ndarray  # float64 (t,): their mean fitness
    squares: np.ndarray  # float64 (t,): sum of squares of what they gave, each less the mean

    @classmethod
    def of(cls, told: Sequence[Told]) -> Seen:
        """Gather trials; sums are exact, so their order does not matter to the last bit."""
        given: dict[int, list[float]] = {}
        for row, fitness in told:
            given.setdefault(row, []).append(fitness)
        rows = sorted(given)
        means = {row: math.fsum(given[row]) / len(given[row]) for row in rows}
        apart = (math.fsum((one - means[row]) ** 2 for one in given[row]) for row in rows)
        return cls(
            np.array(rows, np.int64),
            np.array([len(given[row]) for row in rows], np.float64),
            np.array([means[row] for row in rows], np.float64),
            np.fromiter(apart, np.float64, len(rows)),
        )

    @property
    def trials(self) -> int:
        """Number of trials."""
        return int(self.counts.sum())

    def trials_of(self, controllers: int) -> np.ndarray:
        """Return the number of trials of each controller (int64)."""
        counts = np.zeros(controllers, np.int64)
        counts[self.rows] = self.counts
        return counts
