"""What an archive needs to know about its cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

MAX_CELLS = 2**24


class Space(Protocol):
    """What an archive needs to know of its cells: a space of measures, cut into cells.

    ``Grid``, ``Categories``, ``Environments`` and ``Centroids`` are spaces.  ``describe`` and
    ``arrays`` are enough to rebuild one from a file.

    Examples
    --------
    >>> import qed
    >>> space = qed.Grid((8, 8))
    >>> space.cells, space.dimensions, space.describe()
    (64, 2, {'kind': 'grid', 'shape': [8, 8]})
    """

    @property
    def cells(self) -> int:
        """Number of cells."""

    @property
    def dimensions(self) -> int:
        """Number of measures."""

    def find(self, measures: Any) -> np.ndarray:
        """Return the cell (int64, (n,)) of each row of measures (n, dimensions)."""

    def describe(self) -> dict[str, Any]:
        """Return the kind of space and its parameters, as JSON can hold them."""

    def arrays(self, occupied: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arrays that a file needs beside the description, if these are occupied."""

    def holds(self, cells: np.ndarray, measures: np.ndarray) -> bool:
        """Tell whether measures (n, dimensions) lie in the cells (n,) that a file tells."""


def space_from(
    description: Mapping[str, Any], arrays: Mapping[str, np.ndarray], occupied: np.ndarray
) -> Space:
    """Return the space that gave this description and these arrays, or raise ValueError."""
    from qed.archive.cvt import Centroids, SpiritCells
    from qed.archive.grid import Categories, Environments, Grid

    kind = description.get("kind")
    if kind not in ("grid", "categories", "centroids"):
        raise ValueError(f"unknown kind of space {kind!r}")
    if kind == "centroids":
        if "points" not in arrays:
            raise ValueError("the points of the centroids are missing")
        if "recipe" in description:
            return SpiritCells.described(description, occupied, arrays["points"])
        return Centroids(arrays["points"])
    shape = description.get("shape")
    if not isinstance(shape, list | tuple):
        raise ValueError(f"the shape of a {kind} space must be a list, got {shape!r}")
    if kind == "categories" and "options" in description:
        environments = Environments(description["options"])
        if list(environments.shape) != list(shape):
            raise ValueError(f"the options of its attributes do not make the shape {shape!r}")
        return environments
    return Grid(tuple(shape)) if kind == "grid" else Categories(tuple(shape))


def same_space(one: Space, other: Space) -> bool:
    """Tell whether two spaces have the same cells, to the bit."""
    nothing = np.empty(0, np.int64)
    mine, theirs = one.arrays(nothing), other.arrays(nothing)
    return (
        one.describe() == other.describe()
        and mine.keys() == theirs.keys()
        and all(same_bits(mine[name], theirs[name]) for name in mine)
    )


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    """Tell whether two arrays are the same: type, shape and every bit."""
    return (one.dtype, one.shape) == (other.dtype, other.shape) and one.tobytes() == other.tobytes()


def as_measures(measures: Any, dimensions: int) -> np.ndarray:
    """Return measures as float32 (n, dimensions), the precision in which they are stored.

    Cells are found from these rounded values, so a stored elite lies in its own cell.
    """
    try:
        with np.errstate(over="ignore"):  # infinity is refused below
            rows = np.ascontiguousarray(measures, np.float32)
    except (TypeError, ValueError):
        raise ValueError("measures must be an array of numbers") from None
    if rows.ndim != 2 or rows.shape[1] != dimensions:
        raise ValueError(f"measures must have shape (n, {dimensions}), got {rows.shape}")
    finite = np.isfinite(rows)
    if not finite.all():
        row, k = np.argwhere(~finite)[0]
        raise ValueError(f"measures[{row}, {k}] must be finite, got {rows[row, k]}")
    return rows
