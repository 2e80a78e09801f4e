"""Archives in other forms: files, those that come with QED, pandas tables, pyribs archives.

A file holds the elites in the order of their cells, and a header.
"""

from __future__ import annotations

import gzip
import io
import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

import qed
from qed import files
from qed.archive.cvt import Centroids, SpiritCells
from qed.archive.grid import Categories, Environments, Grid, Space
from qed.controller.genome import Genomes
from qed.errors import InputError, choice
from qed.files import expect
from qed.swarm.floor import floor_of
from qed.swarm.made_for import made_for

if TYPE_CHECKING:
    from qed.archive.archive import Archive

FORMAT, VERSION = "qed-archive", 2
INPUTS = "qed.controller.inputs"  # the module that numbers nodes, made for a robot
WITHOUT_RECIPE = 1  # the version of files whose space is all there, as it always was
SOLUTION, SPACE, MORE = "solution.", "space.", "more."  # what names of arrays begin with
EXAMPLE = "example:"  # before the name of what comes with QED, where a path goes
FOLDER = Path(__file__).with_name("examples")
ENDING = ".npz.gz"
KIT_ENDING = ".npz"
# Added where pyribs rounds down to a cell: far above the error of its sums, and far below the
# distance of any float32 from a border that it does not lie on.
_RIBS_EPSILON = 1e-12


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


def save(
    archive: Archive, path: str | Path, more: Mapping[str, np.ndarray] = MappingProxyType({})
) -> None:
    """Write an archive to a file, with more arrays if there are any."""
    arrays = elites_as_arrays(archive)
    columns = [name[len(SOLUTION) :] for name in arrays if name.startswith(SOLUTION)]
    described, cells = archive.space.describe(), arrays["cell"]
    arrays.update({SPACE + name: rows for name, rows in archive.space.arrays(cells).items()})
    arrays.update({MORE + name: array for name, array in more.items()})
    header = {
        "format": FORMAT,
        "version": VERSION if "recipe" in described else WITHOUT_RECIPE,
        "qed": qed.__version__,
        "space": described,
        "columns": columns,
        "offset": archive.offset,
        "metadata": archive.header,
    }
    if tuple(columns) == Genomes._fields:
        header["inputs"] = made_for(archive.robot, INPUTS).INPUTS
    try:
        files.write_arrays(path, header, arrays)
    except TypeError as error:
        raise ValueError(f"header must hold only values that JSON can store: {error}") from None


def load(path: str | Path) -> Archive:
    """Return the archive of a file, or raise ValueError that says what is wrong with it."""
    return _build(path, *files.read_arrays(path, FORMAT, VERSION))


def load_with_more(path: str | Path) -> tuple[Archive, dict[str, np.ndarray]]:
    """Return the archive of a file, and the other arrays that it was saved with."""
    header, arrays = files.read_arrays(path, FORMAT, VERSION)
    more = {name[len(MORE) :]: arrays.pop(name) for name in list(arrays) if name.startswith(MORE)}
    return _build(path, header, arrays), more


def loads(content: bytes, source: str | Path) -> Archive:
    """Return the archive of a file's content; errors name its source."""
    return _build(source, *files.parse_arrays(io.BytesIO(content), source, FORMAT, VERSION))


def _build(source: str | Path, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Archive:
    with files.contents_of(source, FORMAT):
        return _rebuild(header, arrays)


def _rebuild(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Archive:
    from qed.archive.archive import Archive

    described, names, offset, metadata = (
        header[key] for key in ("space", "columns", "offset", "metadata")
    )
    expect(isinstance(described, dict), "its space is not described")
    expect(isinstance(metadata, dict), "its metadata are not a table")
    expect(isinstance(names, list) and all(isinstance(n, str) for n in names), "its columns")
    expect(type(offset) in (int, float) and math.isfinite(offset), "its offset is not a number")
    cells, objective, measures = (arrays[key] for key in ("cell", "objective", "measures"))
    expect(cells.ndim == 1, "its cell must be a list of cells")
    space = space_from(
        described,
        {name[len(SPACE) :]: array for name, array in arrays.items() if name.startswith(SPACE)},
        cells,
    )
    columns = {name: arrays[SOLUTION + name] for name in names}
    _check_elites(space, cells, objective, measures)
    expect(space.holds(cells, measures), "an elite in it does not lie in its cell")
    archive = Archive(space, metadata, offset)
    batch: Any = columns
    if tuple(names) == Genomes._fields:
        floor_of(metadata)  # or say what is wrong with it
        inputs = made_for(archive.robot, INPUTS)
        for name in ("source", "target"):
            columns[name] = inputs.renumbered(columns[name], header.get("inputs"))
        batch = made_for(archive.robot, "qed.controller.genome").Genomes(**columns)
        _check_genomes(batch, inputs)
    if names or len(cells):
        archive.fill_cells(cells, batch, objective, measures)
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
    expect(bool(inside and (np.diff(cell) > 0).all()), "its cells are not ascending cell numbers")
    expect(not np.isnan(objective).any(), "an objective is NaN")
    expect(bool(np.isfinite(measures).all()), "a measure is not finite")


def _check_genomes(batch: Genomes, inputs: Any) -> None:
    """Raise ValueError unless compiled code may follow the numbers in these genomes."""
    for name, column in batch._asdict().items():
        dtype = np.float32 if name in ("bias", "weight") else np.int32
        axes = 1 if name in ("hidden", "links") else 2
        expect(column.dtype == dtype and column.ndim == axes, f"its {name} has a wrong type")
        expect(len(column) == len(batch.hidden), f"its {name} has a wrong number of rows")
    expect(
        batch.source.shape == batch.target.shape == batch.weight.shape and batch.bias.shape[1] >= 2,
        "its genomes have columns of different widths",
    )
    room_for_hidden, room_for_links = batch.bias.shape[1] - 2, batch.source.shape[1]
    sizes_fit = ((batch.hidden >= 0) & (batch.hidden <= room_for_hidden)).all() and (
        (batch.links >= 0) & (batch.links <= room_for_links)
    ).all()
    expect(bool(sizes_fit), "a genome in it is larger than its columns")
    used = np.arange(room_for_links) < batch.links[:, None]
    left, first_hidden = inputs.LEFT, inputs.FIRST_HIDDEN
    nodes = (first_hidden + batch.hidden)[:, None]
    source_fits = (batch.source >= 0) & (batch.source < nodes)
    source_fits &= (batch.source < left) | (batch.source >= first_hidden)
    target_fits = (batch.target >= left) & (batch.target < nodes)
    expect(bool((source_fits & target_fits)[used].all()), "a connection in it is not possible")
    finite = np.isfinite(batch.weight).all() and np.isfinite(batch.bias).all()
    expect(bool(finite), "a weight or a bias in it is not finite")


def space_from(
    description: Mapping[str, Any], arrays: Mapping[str, np.ndarray], occupied: np.ndarray
) -> Space:
    """Return the space that gave this description and these arrays, or raise ValueError."""
    kind = description.get("kind")
    if kind not in ("grid", "categories", "centroids"):
        raise ValueError(f"unknown kind of space {kind!r}")
    if kind == "centroids":
        if "points" not in arrays:
            raise ValueError("the points of the centroids are missing")
        if "recipe" in description:
            return SpiritCells.from_description(description, occupied, arrays["points"])
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


def examples() -> list[str]:
    """Return the names of the archives that come with QED."""
    return sorted(path.name.removesuffix(ENDING) for path in FOLDER.glob(f"*{ENDING}"))


def kits() -> list[str]:
    """Return the names of the kits that come with QED."""
    return sorted(path.name.removesuffix(KIT_ENDING) for path in FOLDER.glob(f"*{KIT_ENDING}"))


def kit_file(path: str | Path) -> Path:
    """Return where a kit is: ``example:TASK-kit`` comes with QED, all else is a path."""
    name = str(path)
    if name.startswith(EXAMPLE):
        return FOLDER / f"{Path(name.removeprefix(EXAMPLE)).name}{KIT_ENDING}"
    return Path(path)


def load_example(name: str = "patrolling") -> Archive:
    """Return an evolved archive that comes with QED.

    Parameters
    ----------
    name : str, default "patrolling"
        A task; each has a QED archive of 4,096 environments, whose ``header`` tells how it was
        made: patrolling's with the paper's budget of 2,402,000 evaluations, the others with 80,000.

    Returns
    -------
    Archive
        Controllers, one for each environment.

    Examples
    --------
    >>> import qed
    >>> archive = qed.load_example("patrolling")
    >>> archive, archive.coverage
    (<Archive: 4096 of 4096 cells filled>, 1.0)
    """
    path = FOLDER / f"{choice('name', name, examples())}{ENDING}"
    return loads(gzip.decompress(path.read_bytes()), path)


def open_archive(path: str | Path) -> tuple[Archive, dict[str, Any], Path]:
    """Return an archive that a user names, its run's state if it is unfinished, and its file.

    It is that of a run's folder, a file, or ``example:TASK``.
    """
    path = Path(path)
    if str(path).startswith(EXAMPLE):
        name = choice("name", str(path).removeprefix(EXAMPLE), [*examples(), *kits()])
        if name in kits():
            raise InputError(
                f"{path} is a kit, not an archive; name one of {', '.join(examples())}"
            )
        archive = load_example(name)
        return archive, archive.header.pop("state", {}), path
    if path.is_dir():
        path = _in_folder(path)
    elif not path.exists():
        raise InputError(f"{path} does not exist")
    try:
        archive = load(path)
    except ValueError as error:
        raise InputError(str(error)) from error
    if not isinstance(archive.header.setdefault("settings", {}), dict):
        raise InputError(f"{path} is not a usable archive: its settings are not a table")
    state = archive.header.pop("state", None)
    return archive, state if isinstance(state, dict) else {}, path


def _in_folder(path: Path) -> Path:
    """Return the file of a run's archive, or of the newest checkpoint of an unfinished run."""
    from qed.evolution.folder import ARCHIVE, CHECKPOINT, CONFIG, PREVIOUS  # loads the compiler

    there = [path / name for name in (ARCHIVE, CHECKPOINT, PREVIOUS) if (path / name).exists()]
    if there:
        return there[0]
    inside = [folder.name for folder in sorted(path.iterdir()) if (folder / CONFIG).exists()]
    if inside:
        raise InputError(f"{path} holds several runs; name one of {', '.join(inside)}")
    raise InputError(f"{path} holds no archive and no checkpoint yet")


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
