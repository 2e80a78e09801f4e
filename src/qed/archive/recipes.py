"""The paper's recipes for points that cells lie around; made once, kept in the user's cache.

SPIRIT's points are large (4096 x 1024), so files name their recipe and a digest instead of holding
them: the recipe gives the same points, to the bit, with every version of numpy and on every
machine.  SDBC's are small and kept in files: scikit-learn makes them.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from qed.archive import files
from qed.archive.minibatch import MiniBatchMeans
from qed.errors import whole

Progress = Callable[[int, int], Any]  # called with steps done and steps in all

# A change of a recipe takes another version, so that points in the user's cache are made again.
SDBC_VERSION, SPIRIT_VERSION = 1, 2
SDBC_FEATURES = 10
SPIRIT_STATES, SPIRIT_ACTIONS = 64, 16
SPIRIT_BATCH = 20_000  # seed points clustered at a time
MOST_POINTS = 10**7  # of a recipe for SPIRIT: an hour or two
FORMAT, VERSION = "qed-centroids", 1


@dataclass(frozen=True)
class SpiritRecipe:
    """What makes the points of SPIRIT's cells."""

    seed_points: int = 1_000_000
    clusters: int = 4096
    seed: int = 1
    version: int = SPIRIT_VERSION

    def __post_init__(self) -> None:
        checked = {
            "seed_points": whole("seed_points", self.seed_points, 1, MOST_POINTS),
            "clusters": whole("clusters", self.clusters, 1, min(self.seed_points, SPIRIT_BATCH)),
            "seed": whole("seed", self.seed, 0, 2**32 - 1),
            "version": whole("version", self.version, 1, 10**6),
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
    def described(cls, words: Any) -> SpiritRecipe:
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


def spirit_centroids(
    seed_points: int = 1_000_000,
    clusters: int = 4096,
    seed: int = 1,
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the points of SPIRIT's cells, float32 (clusters, 1024), from the cache if there."""
    return SpiritRecipe(seed_points, clusters, seed).points(progress)


def sdbc_centroids(
    seed_points: int = 100_000,
    clusters: int = 4096,
    seed: int = 1,
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the points of SDBC's cells, float32 (clusters, 10), from the cache if they are there.

    k-means of seed points that are uniform in the unit cube.
    """
    seed_points = whole("seed_points", seed_points, 1, 10**9)
    clusters = whole("clusters", clusters, 1, seed_points)
    seed = whole("seed", seed, 0, 2**32 - 1)

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
        files.write(path, header, {"points": points})
    return points


def _read(path: Path, name: str, shape: tuple[int, int]) -> np.ndarray:
    header, arrays = files.read(path, FORMAT, VERSION)
    points = arrays.get("points", np.empty(0))
    fits = header.get("recipe") == name and points.shape == shape and points.dtype == np.float32
    if not fits or not np.isfinite(points).all():
        raise ValueError(f"{path} holds other points")
    return points
