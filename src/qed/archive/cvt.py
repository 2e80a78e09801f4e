"""A cell is the nearest of some points: points of one's own, or those of a recipe."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from threading import Lock
from typing import Any

import numpy as np

from qed.archive.nearest import Nearest
from qed.archive.recipes import Progress, SpiritRecipe, digest


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
        self._own = Nearest(points)

    def _all(self) -> Nearest:
        return self._own

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
        """Tell whether measures lie in the cells that are told."""
        return np.array_equal(self.find(measures), cells)


class SpiritCells(Centroids):
    """Cells around the points of a recipe, which all archives of a kind share.

    A file holds the recipe, a digest of its points, and the points of occupied cells.  With these
    an archive can be looked at, tried and recovered from; only where a new solution has to find
    its cell are all points read from the user's cache or made again, and held to the digest.
    """

    def __init__(
        self,
        recipe: SpiritRecipe,
        known_as: str,
        some: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        self.recipe = recipe
        self.digest = known_as
        self._some = some  # cells, and their points

    @classmethod
    def made(cls, recipe: SpiritRecipe, progress: Progress | None = None) -> SpiritCells:
        """Return the cells of a recipe, whose points are made now if they are not there."""
        return cls(recipe, _whole(recipe, progress)[1])

    @classmethod
    def described(
        cls, description: Mapping[str, Any], cells: np.ndarray, points: np.ndarray
    ) -> SpiritCells:
        """Return the cells that a file describes, of which it holds some points."""
        recipe = SpiritRecipe.described(description.get("recipe"))
        known_as = description.get("digest")
        if not isinstance(known_as, str):
            raise ValueError("the digest of the centroids is missing")
        if points.dtype != np.float32 or points.shape != (len(cells), recipe.dimensions):
            raise ValueError(
                f"points must be float32 {(len(cells), recipe.dimensions)}, one row for each "
                f"elite; they are {points.dtype} {points.shape}"
            )
        return cls(recipe, known_as, (cells, points))

    def _all(self) -> Nearest:
        nearest, found = _whole(self.recipe, _notice)
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
        """Tell whether measures lie in the cells that are told, as far as it is known.

        The nearest of all points is the nearest of a few of them too.
        """
        if self._some is None or not len(cells):
            return super().holds(cells, measures) if len(cells) else True
        known, points = self._some
        return np.array_equal(known[Nearest(points).find(measures)], cells)


_lock = Lock()
_made: dict[SpiritRecipe, tuple[Nearest, str]] = {}  # all archives of a process share points


def _whole(recipe: SpiritRecipe, progress: Progress | None) -> tuple[Nearest, str]:
    """Return all points of a recipe, and their digest."""
    with _lock:
        if recipe not in _made:
            points = recipe.points(progress)
            _made[recipe] = Nearest(points), digest(points)
        return _made[recipe]


def _notice(done: int, total: int) -> None:
    """Tell the user, where nothing else does, that something takes a while."""
    if done == 0:
        print(
            f"qed: making SPIRIT's centroids (once, about {5 * total} s) ...",
            file=sys.stderr,
            flush=True,
        )
