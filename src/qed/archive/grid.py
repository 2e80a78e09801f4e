"""Cells: what an archive needs to know of them, cells by rounding, and cells by choice of options.

In flat indices of cells the first dimension is most significant.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from qed.errors import integer

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
        """Return whether measures (n, dimensions) lie in the cells (n,) of a file."""


def same_space(one: Space, other: Space) -> bool:
    """Return whether two spaces have the same cells, to the bit."""
    nothing = np.empty(0, np.int64)
    mine, theirs = one.arrays(nothing), other.arrays(nothing)
    return (
        one.describe() == other.describe()
        and mine.keys() == theirs.keys()
        and all(same_bits(mine[name], theirs[name]) for name in mine)
    )


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two arrays are the same: type, shape and every bit."""
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


@dataclass(frozen=True)
class _Box:
    """A box of cells, so many along each dimension."""

    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        try:
            sizes = tuple(self.shape)
        except TypeError:
            raise ValueError(
                f"shape must be a tuple of whole numbers, got {self.shape!r}"
            ) from None
        sizes = tuple(integer(f"shape[{k}]", size, 1, MAX_CELLS) for k, size in enumerate(sizes))
        if not sizes or math.prod(sizes) > MAX_CELLS:
            raise ValueError(f"shape must make 1 to {MAX_CELLS:,} cells, got {sizes}")
        object.__setattr__(self, "shape", sizes)

    @property
    def cells(self) -> int:
        """Number of cells."""
        return math.prod(self.shape)

    @property
    def dimensions(self) -> int:
        """Number of measures."""
        return len(self.shape)

    def find(self, measures: Any) -> np.ndarray:
        """Return the cell (int64, (n,)) of each row of measures (n, dimensions)."""
        raise NotImplementedError

    def arrays(self, occupied: np.ndarray) -> dict[str, np.ndarray]:
        """Return no arrays: the shape says it all."""
        return {}

    def holds(self, cells: np.ndarray, measures: np.ndarray) -> bool:
        """Return whether measures lie in these cells."""
        return np.array_equal(self.find(measures), cells)

    def _flat(self, index: np.ndarray) -> np.ndarray:
        """Return the flat index (n,) of an index along each dimension (n, dimensions)."""
        sizes = np.array([*self.shape[1:], 1], np.int64)
        strides = np.cumprod(sizes[::-1])[::-1]
        return np.asarray(index.astype(np.int64) @ strides)


@dataclass(frozen=True)
class Grid(_Box):
    """A grid over measures from 0 to 1: along each dimension min(round(size * measure), size - 1).

    Halves are rounded up, and measures below 0 count as 0.  So the first cell is half as wide
    as the others, and the last half as wide again.

    Parameters
    ----------
    shape : tuple of int, default (16, 16, 16)
        Cells along each dimension.

    Examples
    --------
    >>> import qed
    >>> grid = qed.Grid((16, 16))
    >>> grid.cells, grid.dimensions, grid.find([[0.0, 0.0], [0.5, 1.0]]).tolist()
    (256, 2, [0, 143])
    """

    shape: tuple[int, ...] = (16, 16, 16)

    def find(self, measures: Any) -> np.ndarray:
        """Return the cells of solutions.

        Parameters
        ----------
        measures : array of shape ``(n, dimensions)``
            One row per solution, 0 to 1.

        Returns
        -------
        array of shape ``(n,)``
            The cell of each; the first dimension is most significant.
        """
        rows = as_measures(measures, self.dimensions).astype(np.float64)
        sizes = np.array(self.shape)
        scaled = np.clip(rows * sizes, 0.0, sizes - 1)  # exact: float32 times a small number
        below = np.floor(scaled)
        return self._flat(below + (scaled - below >= 0.5))

    def describe(self) -> dict[str, Any]:
        """Return the kind of space and its parameters, as JSON can hold them."""
        return {"kind": "grid", "shape": list(self.shape)}


@dataclass(frozen=True)
class Categories(_Box):
    """Choices of options: measure k is the index of an option, a whole number below shape[k].

    Parameters
    ----------
    shape : tuple of int, default (4, 4, 4, 4, 4, 4)
        Options of each dimension.

    Examples
    --------
    >>> from qed.archive import Categories
    >>> Categories((2, 3)).find([[0, 0], [1, 2]]).tolist()
    [0, 5]
    """

    shape: tuple[int, ...] = (4,) * 6

    def find(self, measures: Any) -> np.ndarray:
        """Return the cells of solutions.

        Parameters
        ----------
        measures : array of shape ``(n, dimensions)``
            The index of an option in each dimension, one row per solution.

        Returns
        -------
        array of shape ``(n,)``
            The cell of each; the first dimension is most significant.
        """
        options = as_measures(measures, self.dimensions)
        sizes = np.array(self.shape)
        wrong = (options != np.floor(options)) | (options < 0) | (options >= sizes)
        if wrong.any():
            row, k = np.argwhere(wrong)[0]
            raise ValueError(
                f"measures[{row}, {k}] must be a whole number from 0 to {sizes[k] - 1}, "
                f"got {options[row, k]:g}"
            )
        return self._flat(options)

    def describe(self) -> dict[str, Any]:
        """Return the kind of space and its parameters, as JSON can hold them."""
        return {"kind": "categories", "shape": list(self.shape)}


class Environments(Categories):
    """Environments as cells: a cell is one option of each attribute.

    A search over them draws an environment for each solution and evaluates it there, so that
    the elite of a cell is the best solution known for that environment.

    Parameters
    ----------
    options : mapping of str to sequence of str, int or float
        The options of each attribute.

    Examples
    --------
    >>> from qed.archive import Environments
    >>> options = {"shoulder": ("healthy", "stuck"), "grip": ("firm", "weak", "none")}
    >>> damages = Environments(options)
    >>> damages.cells, damages.named((1, 2))
    (6, {'shoulder': 'stuck', 'grip': 'none'})
    """

    options: dict[str, list[str | int | float]]

    def __init__(self, options: Mapping[str, Sequence[str | int | float]]) -> None:
        if not isinstance(options, Mapping) or not options:
            raise ValueError(
                f"options must be a table of attributes and their options, got {options!r}"
            )
        listed = {name: _check_options(name, some) for name, some in options.items()}
        super().__init__(tuple(map(len, listed.values())))
        object.__setattr__(self, "options", listed)

    def named(self, chosen: Sequence[int]) -> dict[str, str | int | float]:
        """Return the options of an environment, attribute by attribute.

        Parameters
        ----------
        chosen : sequence of int
            The index of an option for each attribute.

        Returns
        -------
        dict of str to str, int or float
            The option of each attribute.
        """
        pairs = zip(self.options.items(), chosen, strict=True)
        return {name: options[int(index)] for (name, options), index in pairs}

    def describe(self) -> dict[str, Any]:
        """Return the kind of space and its parameters, as JSON can hold them."""
        return {**super().describe(), "options": self.options}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Environments) and (
            list(self.options.items()) == list(other.options.items())
        )

    def __hash__(self) -> int:
        return hash((self.shape, tuple(self.options)))

    def __repr__(self) -> str:
        return f"Environments({self.options!r})"


def _check_options(name: Any, options: Any) -> list[str | int | float]:
    """Return the options of an attribute, checked."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"the name of an attribute must be text, got {name!r}")
    found = list(options) if isinstance(options, Sequence) and not isinstance(options, str) else []
    plain = all(
        isinstance(one, str) or (isinstance(one, int | float) and math.isfinite(one))
        for one in found
    )
    if not found or not plain or len(set(found)) < len(found):
        raise ValueError(
            f"the options of {name!r} must be a list of different words or numbers, got {options!r}"
        )
    return found
