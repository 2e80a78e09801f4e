"""What HBD needs of the visits to fine cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.compile import entry


def survey(visits: np.ndarray) -> np.ndarray:
    """Return what HBD needs of the visits (trials, cells) of each trial, int64 (trials, 4).

    That is the sum of all visits, the number of visited cells, and sum and number of those
    visited more often than the average of the visited.  What lies above the average and what
    lies below it have the same sum, so the distance to uniform is what the cells above it have
    too much: whole numbers until the last division.
    """
    counts = np.empty((len(visits), 4), np.int64)
    count_all(np.ascontiguousarray(visits), counts)
    return counts


@entry
def count_all(visits: Any, counts: Any) -> None:
    """Fill in the counts of each trial."""
    trials, cells = visits.shape
    for t in range(trials):
        total = 0
        visited = 0
        for c in range(cells):
            total += visits[t, c]
            visited += visits[t, c] > 0
        fair = total // visited
        above = 0
        many = 0
        for c in range(cells):
            if visits[t, c] > fair:
                above += visits[t, c]
                many += 1
        counts[t] = total, visited, above, many
