"""The archive: for each cell of a space the best solution known, its elite."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from qed.archive import stored
from qed.archive.array_store import Columns, as_objective, contest
from qed.archive.grid import Space, as_measures, same_bits, same_space
from qed.controller.genome import Genomes
from qed.controller.network import Controller
from qed.errors import InputError, choice
from qed.swarm.environment import Environment
from qed.swarm.floor import floor_of
from qed.swarm.made_for import made_for
from qed.swarm.robot import THYMIO, Robot, robot_of

SENSES = {"rab": "range and bearing", "proximity": "proximity sensors"}


@dataclass(frozen=True, eq=False)
class Elite:
    """The best solution known for a cell.

    Attributes
    ----------
    cell : int
        Its cell.
    fitness : float
        Its objective; larger is better.
    measures : array of shape ``(dimensions,)``
        What its cell was found by (float32); in a QED archive the options of its environment.
    solution : dict of str to array
        Its row of each column.
    robot : Robot
        What it drives, if it is a controller.

    Examples
    --------
    >>> import qed
    >>> best = qed.load_example("patrolling").best
    >>> round(best.fitness, 2), best.controller
    (0.98, <Controller: 1 hidden, 31 connections>)
    >>> qed.Environment.from_options(best.measures).robots
    20
    """

    cell: int
    fitness: float
    measures: np.ndarray
    solution: dict[str, np.ndarray]
    robot: Robot = THYMIO  # what it drives, if it is a controller

    @cached_property
    def controller(self) -> Controller | None:
        """The solution as a controller; None if it is not a genome."""
        if tuple(self.solution) != Genomes._fields:
            return None
        return as_genomes(
            {k: row[None] for k, row in self.solution.items()}, self.robot
        ).controller(0)


class Archive:
    """The best solution known for each cell of a space, its elite.

    ``qed.evolve`` and ``qed.evolution.Run`` fill one; ``len(archive)`` is the number of filled
    cells.

    Parameters
    ----------
    space : Grid, Categories, Environments or Centroids
        Finds the cell of a solution from its measures.
    header : dict, optional
        What there is to know about the archive, as JSON can hold it; kept in its file.
    offset : float, default 0.0
        The lowest objective there can be; ``qd_score`` adds up what elites have above it.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> archive = qed.Archive(qed.Grid((4, 4)))
    >>> solutions = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> measures = [[0.1, 0.1], [0.1, 0.1], [0.9, 0.5]]
    >>> archive.add(solutions, [0.5, 0.7, 0.6], measures).tolist()
    [2, 1, 2]
    >>> len(archive), archive.coverage, archive.best.fitness, archive.occupied.tolist()
    (2, 0.125, 0.7, [0, 14])
    >>> archive.take([14]).tolist()
    [[5.0, 6.0]]
    >>> [elite.cell for elite in archive.elites()]
    [0, 14]
    """

    def __init__(
        self, space: Space, header: dict[str, Any] | None = None, offset: float = 0.0
    ) -> None:
        self.space = space
        self.offset = float(offset)
        self.header: dict[str, Any] = _as_json(header or {})
        self._filled = np.zeros(space.cells, bool)
        self._objective = np.full(space.cells, np.nan)
        self._measures = np.zeros((space.cells, space.dimensions), np.float32)
        self._columns = Columns(space.cells)
        self._controllers: list[Controller] | None = None  # made when they are asked for

    def add(self, solutions: Any, objective: Any, measures: Any) -> np.ndarray:
        """Offer solutions, with the same result as one by one, in order.

        A solution takes its cell if the cell is empty or its objective is strictly better; so
        the first of equals stays.

        Parameters
        ----------
        solutions : array with n rows, or a NamedTuple or a mapping of such arrays
            Narrower rows than those stored are filled up with zeros, wider ones widen what is
            stored.
        objective : array of shape ``(n,)``
            Larger is better.
        measures : array of shape ``(n, dimensions)``
            What their cells are found by.

        Returns
        -------
        array of shape ``(n,)``
            0 rejected, 1 improved its cell, 2 filled an empty cell.

        Raises
        ------
        ValueError
            If anything given is wrong; then nothing has changed.
        """
        values = as_objective(objective)
        rows = as_measures(measures, self.space.dimensions)
        if len(rows) != len(values):
            raise ValueError(f"measures has {len(rows)} rows, objective {len(values)}")
        batch = self._columns.check(solutions, len(values))
        cells = self.space.find(rows)
        status, winners = contest(cells, values, self._filled, self._objective)
        self._columns.make_room(solutions, batch)
        won = {name: column[winners] for name, column in batch.items()}
        self._put(cells[winners], won, values[winners], rows[winners])
        return status

    def fill_cells(
        self, cells: np.ndarray, solutions: Any, objective: np.ndarray, measures: np.ndarray
    ) -> None:
        """Put checked solutions in cells that are known to be theirs, each in another one."""
        batch = self._columns.check(solutions, len(cells))
        self._columns.make_room(solutions, batch)
        self._put(cells, batch, objective, measures)

    def _put(
        self,
        cells: np.ndarray,
        batch: dict[str, np.ndarray],
        objective: np.ndarray,
        measures: np.ndarray,
    ) -> None:
        self._controllers = None
        self._columns.put(cells, batch)
        self._filled[cells] = True
        self._objective[cells] = objective
        self._measures[cells] = measures

    @property
    def cells(self) -> int:
        """Number of cells, filled or not."""
        return len(self._filled)

    @property
    def coverage(self) -> float:
        """Fraction of the cells that are filled, 0 to 1."""
        return len(self) / self.cells

    def __len__(self) -> int:
        """Return the number of filled cells."""
        return int(np.count_nonzero(self._filled))

    @property
    def occupied(self) -> np.ndarray:
        """The filled cells (int64, ascending)."""
        return np.flatnonzero(self._filled)

    @property
    def objective(self) -> np.ndarray:
        """Objective of each cell (float64, (cells,)), NaN where empty; read-only."""
        return _locked(self._objective)

    @property
    def measures(self) -> np.ndarray:
        """Measures of each elite (float32, (cells, dimensions)), 0 where empty; read-only."""
        return _locked(self._measures)

    @property
    def best(self) -> Elite:
        """The elite with the largest objective, in the lowest cell of equals."""
        if not self._filled.any():
            raise ValueError("the archive is empty: it has no best elite")
        cells = self.occupied
        return self._elite(int(cells[np.argmax(self._objective[cells])]))

    @property
    def mean(self) -> float:
        """Mean objective of the elites; NaN if there are none."""
        return float(self._objective[self._filled].mean()) if len(self) else float("nan")

    @property
    def qd_score(self) -> float:
        """Sum over elites of objective - offset."""
        return float((self._objective[self._filled] - self.offset).sum())

    def elites(self) -> Iterator[Elite]:
        """Yield the elites in the order of their cells.

        Yields
        ------
        Elite
            Cell, fitness, measures and solution.
        """
        for cell in self.occupied.tolist():
            yield self._elite(cell)

    def _elite(self, cell: int) -> Elite:
        return Elite(
            cell,
            float(self._objective[cell]),
            self._measures[cell].copy(),
            self._columns.take(cell),
            self.robot,
        )

    def take(self, cells: np.ndarray | Sequence[int]) -> Any:
        """Return the solutions of filled cells, one row each, in the container they came in.

        Parameters
        ----------
        cells : array or sequence of int
            Filled cells.

        Returns
        -------
        array, NamedTuple or dict
            As they were added.  An archive from a file returns ``Genomes`` if it holds genomes,
            otherwise dict.
        """
        rows = self._check_cells(cells)
        return self._columns.container(**self._columns.take(rows))

    def without(self, inputs: str) -> Archive:
        """Return the archive of those elites whose controllers do not read some inputs.

        Parameters
        ----------
        inputs : {"rab", "proximity"}
            What no controller shall read: range and bearing, which a Thymio as sold does not have,
            or proximity.  Neurons that reach no wheel read nothing.

        Returns
        -------
        Archive
            With the same cells, some of them empty now, and the same header.

        Raises
        ------
        ValueError
            If no controller is left, or the archive holds other solutions than networks.

        Examples
        --------
        >>> import qed
        >>> archive = qed.load_example("flocking")
        >>> some = archive.without("rab")
        >>> some, some.best.fitness < archive.best.fitness
        (<Archive: 2397 of 4096 cells filled>, True)
        """
        choice("inputs", inputs, SENSES)
        numbers = made_for(self.robot, "qed.controller.inputs")
        bits = numbers.PROXIMITY_BITS if inputs == "proximity" else numbers.RAB_BITS
        cells = self.occupied
        if len(cells):
            cells = cells[(self.genomes().networks().reads & bits) == 0]
        if not len(cells):
            raise InputError(f"no controller of the archive does without {SENSES[inputs]}")
        kept = Archive(self.space, self.header, self.offset)
        batch = self._columns.container(**self._columns.take(cells))
        kept.fill_cells(cells, batch, self._objective[cells], self._measures[cells])
        return kept

    def _check_cells(self, cells: np.ndarray | Sequence[int]) -> np.ndarray:
        """Return cells as int64, or raise ValueError if one is not filled."""
        wanted = np.asarray(cells)
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise ValueError("cells must be a list of cell numbers")
        wanted = wanted.astype(np.int64)
        within = (wanted >= 0) & (wanted < self.cells)
        if not within.all() or not self._filled[wanted].all():
            wrong = ~within | ~self._filled[np.where(within, wanted, 0)]
            raise ValueError(f"cell {wanted[wrong][0]} is empty or not one of {self.cells} cells")
        return wanted

    def set_container(self, solutions: Any) -> None:
        """Let ``take`` return solutions in the container of these; ValueError if they do not fit.

        A file holds columns and not what they came in, so whoever resumes with it has to say.
        """
        self._columns.set_container(solutions)

    def solutions(self) -> dict[str, np.ndarray]:
        """Return the elites' solutions as columns, in the order of their cells.

        Returns
        -------
        dict of str to array
            Columns with one row per elite.

        Examples
        --------
        >>> import qed
        >>> list(qed.load_example("patrolling").solutions())
        ['hidden', 'links', 'bias', 'source', 'target', 'weight']
        """
        return self._columns.take(self.occupied)

    def genomes(self) -> Genomes:
        """Return the elites' genomes in the order of their cells.

        Returns
        -------
        Genomes
            Networks as flat arrays, one row per elite; ``controllers`` has them as controllers.

        Raises
        ------
        ValueError
            If the archive holds other solutions than networks.

        Examples
        --------
        >>> import qed
        >>> archive = qed.load_example("patrolling")
        >>> archive.genomes().controller(0) == archive.controllers[0]
        True
        """
        return as_genomes(self.solutions(), self.robot)

    @cached_property
    def robot(self) -> Robot:
        """What its controllers drive, as its header says (default: the Thymio)."""
        return robot_of(self.header)

    @cached_property
    def environment(self) -> Environment:
        """The normal environment: that of its robot, with the floor it evolved on."""
        return Environment(robot=self.robot, floor=floor_of(self.header))

    def controller(self, cell: int) -> Controller:
        """Return the controller of a filled cell.

        Parameters
        ----------
        cell : int
            The cell.

        Returns
        -------
        Controller
            Of its elite.

        Raises
        ------
        ValueError
            If the cell is empty, or the archive holds other solutions than networks.

        Examples
        --------
        >>> import qed
        >>> archive = qed.load_example("patrolling")
        >>> archive.controller(archive.best.cell) == archive.best.controller
        True
        """
        row = self._check_cells([cell])
        if self._controllers is not None:
            return self._controllers[int(np.searchsorted(self.occupied, row[0]))]
        return as_genomes(self._columns.take(row), self.robot).controller(0)

    @property
    def controllers(self) -> list[Controller]:
        """The elites' controllers in the order of their cells; made once, until it changes."""
        if self._controllers is None:
            self._controllers = self.genomes().controllers() if len(self) else []
        return list(self._controllers)

    def equal(self, other: Archive) -> bool:
        """Return whether two archives have the same cells and the same elites, to the bit.

        Parameters
        ----------
        other : Archive
            The one to compare with; its header may differ.

        Returns
        -------
        bool
            Whether they are the same.
        """
        mine, theirs = stored.elites_as_arrays(self), stored.elites_as_arrays(other)
        return (
            same_space(self.space, other.space)
            and self.offset == other.offset
            and list(mine) == list(theirs)
            and all(same_bits(mine[name], theirs[name]) for name in mine)
        )

    def save(self, path: str | Path) -> None:
        """Write the archive to an npz file, whole or not at all; equal archives, equal bytes.

        Parameters
        ----------
        path : str or Path
            The file.

        Examples
        --------
        >>> import qed
        >>> archive = qed.load_example("flocking")
        >>> archive.save("flocking.npz")
        >>> qed.Archive.load("flocking.npz").equal(archive)
        True
        """
        stored.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Archive:
        """Return the archive of a file.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Archive
            As it was saved, to the bit.

        Raises
        ------
        ValueError
            If the file is not an archive, or not whole; the message says what is wrong with it.
        """
        return stored.load(path)

    def to_dataframe(self, names: Sequence[str] | None = None) -> Any:
        """Return the elites as a pandas table, one row each.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the measures (default: measure_0 and so on).

        Returns
        -------
        pandas.DataFrame
            With the columns cell, fitness, the measures, and what a solution has one number of: of
            a genome hidden and links.

        Examples
        --------
        >>> import qed
        >>> table = qed.load_example("patrolling").to_dataframe(
        ...     ["speed", "robots", "arena", "obstacles", "rab", "proximity"]
        ... )
        >>> len(table), list(table)[:4]
        (4096, ['cell', 'fitness', 'speed', 'robots'])
        """
        return stored.to_dataframe(self, names)

    def to_ribs(self) -> Any:
        """Return a pyribs archive with the same cells and elites (needs the extra ``ribs``).

        Returns
        -------
        ribs.archives.ArchiveBase
            A solution is the flat vector of its columns, one after the other.

        Examples
        --------
        >>> import numpy as np
        >>> import qed
        >>> archive = qed.Archive(qed.Grid((4, 4)))
        >>> archive.add(np.array([[1.0, 2.0]]), [0.5], [[0.1, 0.1]]).tolist()
        [2]
        >>> archive.to_ribs().stats.num_elites
        1
        """
        return stored.to_ribs(self)

    def __repr__(self) -> str:
        return f"<Archive: {len(self)} of {self.cells} cells filled>"


def _as_json(header: dict[str, Any]) -> dict[str, Any]:
    """Return a header as it will come back from a file."""
    try:
        same: dict[str, Any] = json.loads(json.dumps(dict(header), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"header must hold only values that JSON can store: {error}") from None
    return same


def as_genomes(columns: Mapping[str, np.ndarray], robot: Robot) -> Genomes:
    """Return columns of solutions as a robot's genomes; ValueError if they are no networks."""
    if tuple(columns) != Genomes._fields:
        held = f"its solutions have the columns {', '.join(columns)}" if columns else "it is empty"
        raise InputError(f"the archive holds no controllers: {held}")
    found: Genomes = made_for(robot, "qed.controller.genome").Genomes(**columns)
    return found


def _locked(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
