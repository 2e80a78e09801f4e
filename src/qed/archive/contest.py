"""Who gets a cell: strictly better wins, the first of equals stays, in a batch as one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

REJECTED, IMPROVED, NEW = 0, 1, 2  # what became of a solution


def contest(
    cells: np.ndarray, objective: np.ndarray, filled: np.ndarray, standing: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's status, and the rows that hold a cell in the end.

    Sorted by cell, with the elite first if there is one and then the rows in order, a row is
    better if its rank is above all before it in its cell.  Ranks of later cells are lifted
    above those of earlier cells, so that one running maximum serves all cells.
    """
    held = np.unique(cells)
    held = held[filled[held]]
    place = np.concatenate([held, cells])
    order = np.argsort(place, kind="stable")
    place = place[order]
    rank = np.unique(np.concatenate([standing[held], objective]), return_inverse=True)[1]
    first = np.diff(place, prepend=-1) > 0
    lifted = np.cumsum(first) * len(place) + rank[order]
    better = np.diff(np.maximum.accumulate(lifted), prepend=-1) > 0
    status = np.empty(len(place), np.int64)
    status[order] = np.where(better, np.where(first, NEW, IMPROVED), REJECTED)
    steps = np.flatnonzero(better)
    last = np.diff(place[steps], append=-1) != 0
    winners = order[steps[last]] - len(held)
    return status[len(held) :], winners[winners >= 0]


def as_objective(objective: Any) -> np.ndarray:
    """Return objectives as float64 (n,), none of them NaN."""
    try:
        values = np.asarray(objective, np.float64)
    except (TypeError, ValueError):
        raise ValueError("objective must be an array of numbers") from None
    if values.ndim != 1:
        raise ValueError(f"objective must have shape (n,), got {values.shape}")
    if np.isnan(values).any():
        raise ValueError(f"objective[{np.flatnonzero(np.isnan(values))[0]}] is NaN")
    return values
