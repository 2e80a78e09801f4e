"""An archive as a file: its elites in the order of their cells, and a header; and back."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import qed
from qed.archive import files
from qed.archive.space import Space, space_from
from qed.controller.genome import Genomes
from qed.controller.network import FIRST_HIDDEN, INPUTS, LEFT

if TYPE_CHECKING:
    from qed.archive.archive import Archive

FORMAT, VERSION = "qed-archive", 2
WITHOUT_RECIPE = 1  # the version of files whose space is all there, as it always was
SOLUTION, SPACE = "solution.", "space."  # what names of arrays begin with


def elites_as_arrays(archive: Archive) -> dict[str, np.ndarray]:
    """Return the elites in the order of their cells: cell, objective, measures, solutions."""
    cells = archive.occupied
    columns = archive.solutions()
    return {
        "cell": cells,
        "objective": archive.objective[cells],
        "measures": archive.measures[cells],
        **{SOLUTION + name: column for name, column in columns.items()},
    }


def save(archive: Archive, path: str | Path) -> None:
    """Write an archive to a file."""
    arrays = elites_as_arrays(archive)
    columns = [name[len(SOLUTION) :] for name in arrays if name.startswith(SOLUTION)]
    described, cells = archive.space.describe(), arrays["cell"]
    arrays.update({SPACE + name: rows for name, rows in archive.space.arrays(cells).items()})
    header = {
        "format": FORMAT,
        "version": VERSION if "recipe" in described else WITHOUT_RECIPE,
        "qed": qed.__version__,
        "space": described,
        "columns": columns,
        "offset": archive.offset,
        "metadata": archive.header,
    }
    try:
        files.write(path, header, arrays)
    except TypeError as error:
        raise ValueError(f"header must hold only values that JSON can store: {error}") from None


def load(path: str | Path) -> Archive:
    """Return the archive of a file, or raise ValueError that says what is wrong with it."""
    return _checked(path, *files.read(path, FORMAT, VERSION))


def loads(content: bytes, source: str | Path) -> Archive:
    """Return the archive of a file's content; errors name its source."""
    return _checked(source, *files.parse(content, source, FORMAT, VERSION))


def _checked(source: str | Path, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Archive:
    try:
        return _rebuilt(header, arrays)
    except (ValueError, TypeError, KeyError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{source} is not a usable {FORMAT} file: {what}") from error


def _rebuilt(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Archive:
    from qed.archive.archive import Archive

    described, names, offset, metadata = (
        header[key] for key in ("space", "columns", "offset", "metadata")
    )
    _expect(isinstance(described, dict), "its space is not described")
    _expect(isinstance(metadata, dict), "its metadata are not a table")
    _expect(isinstance(names, list) and all(isinstance(n, str) for n in names), "its columns")
    _expect(type(offset) in (int, float) and math.isfinite(offset), "its offset is not a number")
    cells, objective, measures = (arrays[key] for key in ("cell", "objective", "measures"))
    _expect(cells.ndim == 1, "its cell must be a list of cells")
    space = space_from(
        described,
        {name[len(SPACE) :]: array for name, array in arrays.items() if name.startswith(SPACE)},
        cells,
    )
    columns = {name: arrays[SOLUTION + name] for name in names}
    _check_elites(space, cells, objective, measures)
    _expect(space.holds(cells, measures), "an elite in it does not lie in its cell")
    archive = Archive(space, metadata, offset)
    batch: Any = columns
    if tuple(names) == Genomes._fields:
        batch = Genomes(**columns)
        _check_genomes(batch)
    if names or len(cells):
        archive.place(cells, batch, objective, measures)
    return archive


def _check_elites(
    space: Space, cell: np.ndarray, objective: np.ndarray, measures: np.ndarray
) -> None:
    """Raise ValueError unless the arrays are those of elites in ascending cells."""
    count = len(cell)
    for name, array, dtype, shape in (
        ("cell", cell, np.int64, (count,)),
        ("objective", objective, np.float64, (count,)),
        ("measures", measures, np.float32, (count, space.dimensions)),
    ):
        if array.dtype != dtype or array.shape != shape:
            raise ValueError(
                f"its {name} must be {np.dtype(dtype)} {shape}, is {array.dtype} {array.shape}"
            )
    inside = count == 0 or (cell[0] >= 0 and cell[-1] < space.cells)
    _expect(bool(inside and (np.diff(cell) > 0).all()), "its cells are not ascending cell numbers")
    _expect(not np.isnan(objective).any(), "an objective is NaN")
    _expect(bool(np.isfinite(measures).all()), "a measure is not finite")


def _check_genomes(batch: Genomes) -> None:
    """Raise ValueError unless compiled code may follow the numbers in these genomes."""
    for name, column in batch._asdict().items():
        dtype = np.float32 if name in ("bias", "weight") else np.int32
        axes = 1 if name in ("hidden", "links") else 2
        _expect(column.dtype == dtype and column.ndim == axes, f"its {name} has a wrong type")
        _expect(len(column) == len(batch.hidden), f"its {name} has a wrong number of rows")
    _expect(
        batch.source.shape == batch.target.shape == batch.weight.shape and batch.bias.shape[1] >= 2,
        "its genomes have columns of different widths",
    )
    room_for_hidden, room_for_links = batch.bias.shape[1] - 2, batch.source.shape[1]
    sizes_fit = ((batch.hidden >= 0) & (batch.hidden <= room_for_hidden)).all() and (
        (batch.links >= 0) & (batch.links <= room_for_links)
    ).all()
    _expect(bool(sizes_fit), "a genome in it is larger than its columns")
    used = np.arange(room_for_links) < batch.links[:, None]
    nodes = (FIRST_HIDDEN + batch.hidden)[:, None]
    source_fits = (batch.source >= 0) & (batch.source < nodes)
    source_fits &= (batch.source < LEFT) | (batch.source >= FIRST_HIDDEN)
    target_fits = (batch.target >= INPUTS) & (batch.target < nodes)
    _expect(bool((source_fits & target_fits)[used].all()), "a connection in it is not possible")
    finite = np.isfinite(batch.weight).all() and np.isfinite(batch.bias).all()
    _expect(bool(finite), "a weight or a bias in it is not finite")


def _expect(fine: bool, otherwise: str) -> None:
    if not fine:
        raise ValueError(otherwise)
