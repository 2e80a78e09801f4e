"""A cell is the nearest of some points, and the paper's recipes for these points."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from qed.archive import files
from qed.archive.space import MAX_CELLS, as_measures
from qed.errors import whole
from qed.swarm.compile import user_cache

Progress = Callable[[int, int], Any]  # called with steps done and steps in all

_ROWS = 256  # measures searched at a time
_PAIRS = 4096  # distances decided exactly at a time


class Centroids:
    """Cells around points (cells, dimensions): the nearest wins, the lowest index of equals.

    Distances are Euclidean, in float64 from float32 coordinates.  One matrix product in float32
    finds all points that may be nearest, given how far its rounding can be off; where there are
    several, their exact distances decide.  So a cell depends neither on the other measures of
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
    def cells(self) -> int:
        """Number of points."""
        return len(self.points)

    @property
    def dimensions(self) -> int:
        """Number of measures."""
        return int(self.points.shape[1])

    def find(self, measures: Any) -> np.ndarray:
        """Return the cell (int64, (n,)) of each row of measures (n, dimensions)."""
        rows = as_measures(measures, self.dimensions)
        parts = [self._nearest(rows[k : k + _ROWS]) for k in range(0, len(rows), _ROWS)]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        """Return the nearest point of a few rows."""
        moved = rows - self._middle
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            score = self._squares - np.float32(2) * (moved.astype(np.float32) @ self._moved)
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

    def describe(self) -> dict[str, Any]:
        """Return the kind of space and its size, as JSON can hold them."""
        return {"kind": "centroids", "cells": self.cells, "dimensions": self.dimensions}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the points (float32, (cells, dimensions))."""
        return {"points": self.points}


# Recipes.  A change of one of them takes another version, so that points in the user's cache
# are made again.
VERSION = 1
SDBC_FEATURES = 10
SPIRIT_STATES, SPIRIT_ACTIONS = 64, 16
SPIRIT_BATCH = 20_000  # seed points clustered at a time


def sdbc_centroids(
    seed_points: int = 100_000,
    clusters: int = 4096,
    seed: int = 1,
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the points of SDBC's cells, float32 (clusters, 10), from the cache if they are there.

    k-means of seed points that are uniform in the unit cube.
    """
    seed_points, clusters, seed = _sizes(seed_points, clusters, seed, seed_points)

    def make(progress: Progress) -> np.ndarray:
        progress(0, 1)
        chance = np.random.RandomState(seed)
        points = chance.random_sample((seed_points, SDBC_FEATURES))
        fit = _cluster().KMeans(clusters, init="k-means++", n_init=1, random_state=chance)
        centres = fit.fit(points).cluster_centers_
        progress(1, 1)
        return np.asarray(centres)

    name = f"sdbc-v{VERSION}-points{seed_points}-clusters{clusters}-seed{seed}"
    return _cached(name, (clusters, SDBC_FEATURES), make, progress)


def spirit_centroids(
    seed_points: int = 1_000_000,
    clusters: int = 4096,
    seed: int = 1,
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the points of SPIRIT's cells, float32 (clusters, 1024), from the cache if there.

    Mini-batch k-means of seed points that give each of 64 states a distribution over 16
    actions.  It begins with the first points: k-means++ would choose as good as uniformly
    among them, since in 1024 dimensions they are all about equally far apart, and takes long.
    """
    seed_points, clusters, seed = _sizes(seed_points, clusters, seed, SPIRIT_BATCH)
    starts = range(0, seed_points, SPIRIT_BATCH)

    def make(progress: Progress) -> np.ndarray:
        centres = np.empty((clusters, SPIRIT_STATES * SPIRIT_ACTIONS), np.float32)
        members = np.zeros(clusters, np.int64)
        for done, start in enumerate(starts):
            progress(done, len(starts))
            count = min(SPIRIT_BATCH, seed_points - start)
            chance = np.random.default_rng([seed, done])
            points = broken_sticks(count * SPIRIT_STATES, SPIRIT_ACTIONS, chance)
            points = points.reshape(count, -1)
            if done == 0:
                centres[:] = points[:clusters]
            _move(centres, members, points)
        progress(len(starts), len(starts))
        return centres

    name = f"spirit-v{VERSION}-points{seed_points}-clusters{clusters}-seed{seed}"
    return _cached(name, (clusters, SPIRIT_STATES * SPIRIT_ACTIONS), make, progress)


def _move(centres: np.ndarray, members: np.ndarray, points: np.ndarray) -> None:
    """Move each centre to the mean of all points it ever was nearest to, these included."""
    nearest = Centroids(centres).find(points)
    order = np.argsort(nearest, kind="stable")
    cells, starts, counts = np.unique(nearest[order], return_index=True, return_counts=True)
    sums = np.add.reduceat(points[order], starts, axis=0, dtype=np.float64)
    before = members[cells]
    members[cells] += counts
    centres[cells] = (centres[cells] * before[:, None] + sums) / members[cells][:, None]


def broken_sticks(count: int, parts: int, chance: np.random.Generator) -> np.ndarray:
    """Return so many sticks of length 1 broken in parts, float32 (count, parts).

    In a random order each part but the last takes a uniform share of what is left, rounded to
    thousandths, until at most one thousandth is left; the last part takes the rest.
    """
    thousandths = np.zeros((count, parts), np.float32)
    left = np.full(count, 1000, np.int32)
    for k in range(parts - 1):
        share = chance.integers(0, 1001, count, np.int32)
        taken = np.where(left > 1, (share * left + 500) // 1000, 0)
        thousandths[:, k] = taken
        left -= taken
    thousandths[:, -1] = left
    return chance.permuted(thousandths, axis=1) / np.float32(1000)


def _sizes(seed_points: int, clusters: int, seed: int, batch: int) -> tuple[int, int, int]:
    """Return the arguments of a recipe, checked; the first batch must hold all clusters."""
    seed_points = whole("seed_points", seed_points, 1, 10**9)
    clusters = whole("clusters", clusters, 1, min(seed_points, batch))
    return seed_points, clusters, whole("seed", seed, 0, 2**32 - 1)


def _cluster() -> Any:
    try:
        return import_module("sklearn.cluster")
    except ImportError as error:
        raise ImportError("centroids need scikit-learn: pip install scikit-learn") from error


def _cached(
    name: str,
    shape: tuple[int, int],
    make: Callable[[Progress], np.ndarray],
    progress: Progress | None,
) -> np.ndarray:
    """Return the points of this name from the user's cache, or make them and keep them there."""
    path = user_cache() / "centroids" / f"{name}.npz"
    with contextlib.suppress(OSError, ValueError):  # a damaged file is made again
        return _read(path, name, shape)
    points = _on_one_thread(make, progress or (lambda done, total: None)).astype(np.float32)
    with contextlib.suppress(OSError):  # nowhere to write: make them again next time
        path.parent.mkdir(parents=True, exist_ok=True)
        header = {"format": "qed-centroids", "version": VERSION, "recipe": name}
        files.write(path, header, {"points": points})
    return points


def _read(path: Path, name: str, shape: tuple[int, int]) -> np.ndarray:
    header, arrays = files.read(path, "qed-centroids", VERSION)
    points = arrays.get("points", np.empty(0))
    fits = header.get("recipe") == name and points.shape == shape and points.dtype == np.float32
    if not fits or not np.isfinite(points).all():
        raise ValueError(f"{path} holds other points")
    return points


def _on_one_thread(make: Callable[[Progress], np.ndarray], progress: Progress) -> np.ndarray:
    """Make points on one thread: the order in which threads add up would change bits.

    On two cores that others used too, SDBC's points took 44 s so, and 65 s with two threads.
    """
    _cluster()
    with import_module("threadpoolctl").threadpool_limits(1):
        return make(progress)
