"""Archives for other libraries, which are imported when they are needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from qed.archive.cvt import Centroids
from qed.archive.grid import Categories, Grid

if TYPE_CHECKING:
    from qed.archive.archive import Archive

# Added where pyribs rounds down to a cell: far above the error of its sums, and far below the
# distance of any float32 from a border that it does not lie on.
_RIBS_EPSILON = 1e-12


def to_dataframe(archive: Archive, names: Sequence[str] | None = None) -> Any:
    """Return a pandas table, one row an elite: cell, fitness, measures, scalars of the solution."""
    pandas = _library("pandas", "pandas")
    dimensions = archive.space.dimensions
    if names is None:
        names = [f"measure_{k}" for k in range(dimensions)]
    if len(set(names)) != dimensions:
        raise ValueError(f"names must be {dimensions} different names, got {len(set(names))}")
    cells = archive.occupied
    table = {"cell": cells, "fitness": archive.objective[cells]}
    table.update(zip(names, archive.measures[cells].T, strict=True))
    for name, column in archive.solutions().items():
        if column.ndim == 1:
            table[name if name not in table else f"solution_{name}"] = column
    return pandas.DataFrame(table)


def to_ribs(archive: Archive) -> Any:
    """Return a pyribs archive with the same cells and elites."""
    ribs = _library("ribs.archives", "qed-swarm[ribs]")
    cells = archive.occupied
    columns = [
        column.reshape(len(cells), math.prod(column.shape[1:]))
        for column in archive.solutions().values()
    ]
    solutions = np.concatenate([np.zeros((len(cells), 0)), *columns], axis=1)
    measures: np.ndarray = archive.measures[cells].astype(np.float64)
    space, width = archive.space, solutions.shape[1]
    if isinstance(space, Grid):
        copy = ribs.GridArchive(
            solution_dim=width,
            dims=space.shape,
            ranges=[(-0.5 / size, (size - 0.5) / size) for size in space.shape],
            epsilon=_RIBS_EPSILON,
            qd_score_offset=archive.offset,
        )
    elif isinstance(space, Categories):
        copy = ribs.CategoricalArchive(
            solution_dim=width,
            categories=[range(size) for size in space.shape],
            qd_score_offset=archive.offset,
        )
        measures = measures.astype(np.int64).astype(object)
    elif isinstance(space, Centroids):
        points = space.points.astype(np.float64)
        copy = ribs.CVTArchive(
            solution_dim=width,
            centroids=points,
            ranges=list(zip(points.min(0), points.max(0), strict=True)),
            qd_score_offset=archive.offset,
        )
    else:
        raise ValueError(f"pyribs has no archive for the cells of {type(space).__name__}")
    if len(cells):
        copy.add(solutions, archive.objective[cells], measures)
    return copy


def _library(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"this needs {module.split('.')[0]}: pip install '{package}'") from error
