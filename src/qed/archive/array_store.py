"""The arrays of an archive: solutions as named columns, one row a cell; and who gets a cell.

A batch of solutions is an array whose first axis is the solution, or a mapping or a NamedTuple of
such arrays.  Widths may differ from batch to batch: what is narrower is filled up with zeros.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from qed.files import KINDS

REJECTED, IMPROVED, NEW = 0, 1, 2  # what became of a solution


def contest(
    cells: np.ndarray, objective: np.ndarray, filled: np.ndarray, incumbents: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's status, and the rows that hold a cell in the end.

    Strictly better wins, the first of equals stays, in a batch as one by one.  Sorted by cell,
    with the elite first if there is one and then the rows in order, a row is better if its rank
    is above all before it in its cell.  Ranks of later cells are lifted above those of earlier
    cells, so that one running maximum serves all cells.
    """
    held = np.unique(cells)
    held = held[filled[held]]
    place = np.concatenate([held, cells])
    order = np.argsort(place, kind="stable")
    place = place[order]
    rank = np.unique(np.concatenate([incumbents[held], objective]), return_inverse=True)[1]
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


class Columns:
    """Columns of the same height; the first batch decides their names and types."""

    def __init__(self, height: int) -> None:
        self.height = height
        self.tables: dict[str, np.ndarray] | None = None
        self.container: Callable[..., Any] = dict

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.tables or ())

    def check(self, solutions: Any, count: int) -> dict[str, np.ndarray]:
        """Return so many solutions as arrays that fit the columns, or raise ValueError."""
        batch = {name: np.asarray(column) for name, column in items(solutions).items()}
        for name, column in batch.items():
            if column.dtype.kind not in KINDS:
                raise ValueError(f"solutions: {name} must hold numbers, got {column.dtype}")
            if column.ndim < 1 or len(column) != count:
                raise ValueError(
                    f"solutions: {name} must have {count} rows, one for each objective, "
                    f"got shape {column.shape}"
                )
        if self.tables is not None:
            self._compare(batch, self.tables)
        return batch

    def _compare(self, batch: dict[str, np.ndarray], tables: dict[str, np.ndarray]) -> None:
        if batch.keys() != tables.keys():
            raise ValueError(
                f"solutions must have the columns {', '.join(tables)}; got {', '.join(batch)}"
            )
        for name, column in batch.items():
            table = tables[name]
            if not np.can_cast(column.dtype, table.dtype, "safe"):
                raise ValueError(f"solutions: {name} holds {table.dtype}, got {column.dtype}")
            if column.ndim != table.ndim:
                raise ValueError(
                    f"solutions: {name} has {table.ndim} axes, got shape {column.shape}"
                )

    def make_room(self, solutions: Any, batch: dict[str, np.ndarray]) -> None:
        """Make the columns, or widen them, so that each row of a checked batch fits."""
        if self.tables is None:
            self.container = container_of(solutions)
            self.tables = {
                name: np.zeros((self.height, *column.shape[1:]), column.dtype)
                for name, column in batch.items()
            }
        for name, column in batch.items():
            table = self.tables[name]
            widths = tuple(map(max, column.shape[1:], table.shape[1:]))
            self.tables[name] = _padded(table, widths)

    def set_container(self, solutions: Any) -> None:
        """Return solutions as these are from now on, or raise ValueError if they do not fit."""
        self.check(solutions, count(solutions))
        self.container = container_of(solutions)

    def put(self, rows: np.ndarray, batch: dict[str, np.ndarray]) -> None:
        """Set rows; there must be room."""
        for name, table in (self.tables or {}).items():
            table[rows] = _padded(batch[name], table.shape[1:])

    def take(self, rows: np.ndarray | int) -> dict[str, np.ndarray]:
        """Return a copy of some rows, or of one."""
        return {name: np.array(table[rows]) for name, table in (self.tables or {}).items()}


def count(solutions: Any) -> int:
    """Return how many solutions a batch has."""
    return len(next(iter(items(solutions).values()), ()))


def container_of(solutions: Any) -> Callable[..., Any]:
    """Return what makes a batch like this one from its columns."""
    if isinstance(solutions, np.ndarray):
        return lambda solution: solution
    return type(solutions) if hasattr(solutions, "_fields") else dict


def items(solutions: Any) -> Mapping[str, Any]:
    """Return a batch as a mapping of columns."""
    if isinstance(solutions, np.ndarray):
        return {"solution": solutions}
    if hasattr(solutions, "_fields"):
        return dict(zip(solutions._fields, solutions, strict=True))
    if isinstance(solutions, Mapping) and all(isinstance(name, str) for name in solutions):
        return solutions
    raise ValueError(
        "solutions must be an array, or a NamedTuple or a mapping of arrays, with one row per "
        f"solution; got {type(solutions).__name__}"
    )


def _padded(table: np.ndarray, widths: tuple[int, ...]) -> np.ndarray:
    """Return a table with zeros added, so that its rows have the given shape."""
    if table.shape[1:] == widths:
        return table
    wide = np.zeros((len(table), *widths), table.dtype)
    wide[(slice(None), *map(slice, table.shape[1:]))] = table
    return wide
