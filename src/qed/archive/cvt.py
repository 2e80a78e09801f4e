"""A cell is the nearest of some centroids: points of one's own, or those of the paper's recipes.

Points of a recipe are made once and kept in the user's cache.  SPIRIT's are large (4096 x 1024), so
files name their recipe and a digest instead of holding them: the recipe gives the same points, to
the bit, with every version of numpy and on every machine.  SDBC's are small and kept in files:
scikit-learn makes them.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from qed import files
from qed.archive.k_means import MiniBatchMeans, Nearest
from qed.errors import integer

Progress = Callable[[int, int], Any]  # called with steps done and steps in all

# A change of a recipe takes another version, so that points in the user's cache are made again.
SDBC_VERSION, SPIRIT_VERSION = 1, 2
SDBC_FEATURES = 10
SPIRIT_STATES, SPIRIT_ACTIONS = 64, 16
SPIRIT_BATCH = 20_000  # seed points clustered at a time
MOST_POINTS = 10**7  # of a recipe for SPIRIT: an hour or two
FORMAT, VERSION = "qed-centroids", 1


class Centroids:
    """Cells around points: the nearest wins, the lowest index of equals.

    Parameters
    ----------
    points : array of shape ``(cells, dimensions)``
        A point per cell; kept as float32.

    Examples
    --------
    >>> from qed.archive import Centroids
    >>> cells = Centroids([[0.0, 0.0], [1.0, 1.0]])
    >>> cells.cells, cells.find([[0.2, 0.1], [0.9, 0.6]]).tolist()
    (2, [0, 1])
    """

    def __init__(self, points: Any) -> None:
        self._nearest = Nearest(points)

    def _all(self) -> Nearest:
        return self._nearest

    @property
    def points(self) -> np.ndarray:
        """The points (float32, (cells, dimensions)); read-only."""
        return self._all().points

    @property
    def cells(self) -> int:
        """Number of points."""
        return len(self.points)

    @property
    def dimensions(self) -> int:
        """Number of measures."""
        return self._all().dimensions

    def find(self, measures: Any) -> np.ndarray:
        """Return the cells of solutions.

        Parameters
        ----------
        measures : array of shape ``(n, dimensions)``
            One row per solution.

        Returns
        -------
        array of shape ``(n,)``
            The nearest point of each.
        """
        return self._all().find(measures)

    def describe(self) -> dict[str, Any]:
        """Return the kind of space and its size, as JSON can hold them."""
        return {"kind": "centroids", "cells": self.cells, "dimensions": self.dimensions}

    def arrays(self, occupied: np.ndarray) -> dict[str, np.ndarray]:
        """Return the points (float32, (cells, dimensions))."""
        return {"points": self.points}

    def holds(self, cells: np.ndarray, measures: np.ndarray) -> bool:
        """Return whether measures lie in these cells."""
        return np.array_equal(self.find(measures), cells)


class SpiritCells(Centroids):
    """Cells around the points of a recipe, which all archives of a kind share.

    A file holds the recipe, a digest of its points, and the points of occupied cells.  With these
    an archive can be looked at, tried and recovered from; only where a new solution has to find
    its cell are all points read from the user's cache or made again, and held to the digest.
    """

    def __init__(
        self, recipe: SpiritRecipe, digest_: str, some: tuple[np.ndarray, np.ndarray] | None = None
    ) -> None:
        self.recipe = recipe
        self.digest = digest_
        self._some = some  # cells, and their points

    @classmethod
    def from_recipe(cls, recipe: SpiritRecipe, progress: Progress | None = None) -> SpiritCells:
        """Return the cells of a recipe, whose points are made now if they are not there."""
        return cls(recipe, _points_of(recipe, progress)[1])

    @classmethod
    def from_description(
        cls, description: Mapping[str, Any], cells: np.ndarray, points: np.ndarray
    ) -> SpiritCells:
        """Return the cells that a file describes, of which it holds some points."""
        recipe = SpiritRecipe.from_description(description.get("recipe"))
        digest_ = description.get("digest")
        if not isinstance(digest_, str):
            raise ValueError("the digest of the centroids is missing")
        if points.dtype != np.float32 or points.shape != (len(cells), recipe.dimensions):
            raise ValueError(
                f"points must be float32 {(len(cells), recipe.dimensions)}, one row for each "
                f"elite; they are {points.dtype} {points.shape}"
            )
        return cls(recipe, digest_, (cells, points))

    def _all(self) -> Nearest:
        nearest, found = _points_of(self.recipe, _notice)
        if found != self.digest:
            raise ValueError(
                f"the centroids {self.recipe.name} of this archive have the digest "
                f"{self.digest[:12]}, those made here {found[:12]}: its solutions can be used, "
                "but no others can be added"
            )
        return nearest

    @property
    def cells(self) -> int:
        """Number of points."""
        return self.recipe.clusters

    @property
    def dimensions(self) -> int:
        """Number of measures."""
        return self.recipe.dimensions

    def describe(self) -> dict[str, Any]:
        """Return the kind of space, its size and its recipe, as JSON can hold them."""
        size = {"kind": "centroids", "cells": self.cells, "dimensions": self.dimensions}
        return {**size, "recipe": self.recipe.describe(), "digest": self.digest}

    def arrays(self, occupied: np.ndarray) -> dict[str, np.ndarray]:
        """Return the points of occupied cells (float32, (occupied, dimensions))."""
        if not len(occupied):
            return {"points": np.empty((0, self.dimensions), np.float32)}
        if self._some is not None and np.array_equal(self._some[0], occupied):
            return {"points": self._some[1]}
        return {"points": self.points[occupied]}

    def holds(self, cells: np.ndarray, measures: np.ndarray) -> bool:
        """Return whether measures lie in these cells, as far as it is known.

        The nearest of all points is the nearest of a few of them too.
        """
        if self._some is None or not len(cells):
            return super().holds(cells, measures) if len(cells) else True
        known, points = self._some
        return np.array_equal(known[Nearest(points).find(measures)], cells)


_lock = Lock()
_made: dict[SpiritRecipe, tuple[Nearest, str]] = {}  # all archives of a process share points


def _points_of(recipe: SpiritRecipe, progress: Progress | None) -> tuple[Nearest, str]:
    """Return all points of a recipe, and their digest."""
    with _lock:
        if recipe not in _made:
            points = recipe.points(progress)
            _made[recipe] = Nearest(points), digest(points)
        return _made[recipe]


def _notice(done: int, total: int) -> None:
    """Print once that something takes a while."""
    if done == 0:
        print(
            f"qed: making SPIRIT's centroids (once, about {5 * total} s) ...",
            file=sys.stderr,
            flush=True,
        )


@dataclass(frozen=True)
class SpiritRecipe:
    """What makes the points of SPIRIT's cells."""

    seed_points: int = 1_000_000
    clusters: int = 4096
    seed: int = 1
    version: int = SPIRIT_VERSION

    def __post_init__(self) -> None:
        checked = {
            "seed_points": integer("seed_points", self.seed_points, 1, MOST_POINTS),
            "clusters": integer("clusters", self.clusters, 1, min(self.seed_points, SPIRIT_BATCH)),
            "seed": integer("seed", self.seed, 0, 2**32 - 1),
            "version": integer("version", self.version, 1, 10**6),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def dimensions(self) -> int:
        """Number of measures."""
        return SPIRIT_STATES * SPIRIT_ACTIONS

    @property
    def name(self) -> str:
        """What its points are called in the cache."""
        return (
            f"spirit-v{self.version}-points{self.seed_points}-clusters{self.clusters}"
            f"-seed{self.seed}"
        )

    def describe(self) -> dict[str, Any]:
        """Return the recipe as JSON can hold it."""
        return {"name": "spirit", **asdict(self)}

    @classmethod
    def from_description(cls, words: Any) -> SpiritRecipe:
        """Return the recipe that was described so, or raise ValueError."""
        names = {"name", *cls.__dataclass_fields__}
        if not isinstance(words, Mapping) or set(words) != names or words["name"] != "spirit":
            raise ValueError(f"unknown recipe of centroids {words!r}")
        return cls(**{name: words[name] for name in cls.__dataclass_fields__})

    def points(self, progress: Progress | None = None) -> np.ndarray:
        """Return the points, float32 (clusters, 1024), from the cache if they are there.

        Mini-batch k-means of seed points that give each of 64 states a distribution over 16
        actions.
        """
        if self.version != SPIRIT_VERSION:
            raise ValueError(
                f"the centroids {self.name} come from another version of QED, which makes "
                f"version {SPIRIT_VERSION} of them now: new solutions cannot be added to them"
            )
        return _cached(self.name, (self.clusters, self.dimensions), self._make, progress)

    def _make(self, progress: Progress) -> np.ndarray:
        total = -(-self.seed_points // SPIRIT_BATCH)
        means: MiniBatchMeans | None = None
        with ThreadPoolExecutor(1) as beside:  # draws the next batch meanwhile
            drawn = beside.submit(self._batch, 0)
            for done in range(total):
                progress(done, total)
                points, chance = drawn.result()
                if done + 1 < total:
                    drawn = beside.submit(self._batch, done + 1)
                if means is None:
                    means = MiniBatchMeans(points[: self.clusters])
                means.step(points, chance)
        progress(total, total)
        assert means is not None
        return means.centres

    def _batch(self, number: int) -> tuple[np.ndarray, np.random.RandomState]:
        """Return a batch of seed points, and the rest of its random numbers."""
        chance = np.random.RandomState([self.seed, number])
        count = min(SPIRIT_BATCH, self.seed_points - number * SPIRIT_BATCH)
        return spirit_seed_points(count, chance), chance


def sdbc_centroids(
    seed_points: int = 100_000,
    clusters: int = 4096,
    seed: int = 1,
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the points of SDBC's cells, float32 (clusters, 10), from the cache if they are there.

    k-means of seed points that are uniform in the unit cube.
    """
    seed_points = integer("seed_points", seed_points, 1, 10**9)
    clusters = integer("clusters", clusters, 1, seed_points)
    seed = integer("seed", seed, 0, 2**32 - 1)

    def make(progress: Progress) -> np.ndarray:
        progress(0, 1)
        chance = np.random.RandomState(seed)
        points = chance.random_sample((seed_points, SDBC_FEATURES))
        fit = _library("sklearn.cluster").KMeans(
            clusters, init="k-means++", n_init=1, random_state=chance
        )
        # The order in which threads add up would change bits.  On two cores that others used
        # too, it took 44 s so, and 65 s with two threads.
        with _library("threadpoolctl").threadpool_limits(1):
            centres = fit.fit(points).cluster_centers_
        progress(1, 1)
        return np.asarray(centres)

    name = f"sdbc-v{SDBC_VERSION}-points{seed_points}-clusters{clusters}-seed{seed}"
    return _cached(name, (clusters, SDBC_FEATURES), make, progress)


def spirit_seed_points(count: int, chance: np.random.RandomState) -> np.ndarray:
    """Return so many seed points of SPIRIT's cells, float32 (count, 1024)."""
    sticks = broken_sticks(count * SPIRIT_STATES, SPIRIT_ACTIONS, chance)
    return sticks.reshape(count, SPIRIT_STATES * SPIRIT_ACTIONS)


def broken_sticks(count: int, parts: int, chance: np.random.RandomState) -> np.ndarray:
    """Return so many sticks of length 1 broken in parts, float32 (count, parts).

    In a random order each part but the last takes a uniform share of what is left, rounded to
    thousandths, until at most one thousandth is left; the last part takes the rest.  Numpy
    promises that a RandomState gives the same numbers for ever.
    """
    thousandths = np.zeros((count, parts), np.int32)
    left = np.full(count, 1000, np.int32)
    for k in range(parts - 1):
        share = chance.randint(0, 1001, count, np.int32)
        taken = np.where(left > 1, (share * left + 500) // 1000, 0)
        thousandths[:, k] = taken
        left -= taken
    thousandths[:, -1] = left
    places = chance.random_sample((count, parts)).argsort(1, kind="stable")
    shuffled = np.take_along_axis(thousandths, places, 1)
    return shuffled.astype(np.float32) / np.float32(1000)


def digest(points: np.ndarray) -> str:
    """Return a digest of points, by which they are known again."""
    return hashlib.sha256(np.ascontiguousarray(points, "<f4").tobytes()).hexdigest()


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError("centroids need scikit-learn: pip install scikit-learn") from error


def _cached(
    name: str,
    shape: tuple[int, int],
    make: Callable[[Progress], np.ndarray],
    progress: Progress | None,
) -> np.ndarray:
    """Return the points of this name from the user's cache, or make them and keep them there."""
    from qed.compile import user_cache  # with it comes the compiler, which a file needs not

    path = user_cache() / "centroids" / f"{name}.npz"
    with contextlib.suppress(OSError, ValueError):  # a damaged file is made again
        return _read(path, name, shape)
    points = make(progress or (lambda done, total: None)).astype(np.float32)
    with contextlib.suppress(OSError):  # nowhere to write: make them again next time
        path.parent.mkdir(parents=True, exist_ok=True)
        header = {"format": FORMAT, "version": VERSION, "recipe": name, "digest": digest(points)}
        files.write_arrays(path, header, {"points": points})
    return points


def _read(path: Path, name: str, shape: tuple[int, int]) -> np.ndarray:
    header, arrays = files.read_arrays(path, FORMAT, VERSION)
    points = arrays.get("points", np.empty(0))
    fits = header.get("recipe") == name and points.shape == shape and points.dtype == np.float32
    if not fits or not np.isfinite(points).all():
        raise ValueError(f"{path} holds other points")
    return points
