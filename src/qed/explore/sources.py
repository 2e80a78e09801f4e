"""What the command line names, opened: archives, runs, studies, kits."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from qed.archive.archive import Archive
from qed.archive.cvt import Centroids
from qed.archive.stored import EXAMPLE, examples, open_archive
from qed.controller.network import Controller
from qed.definitions import known
from qed.errors import InputError
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.stored import is_kit
from qed.swarm.environment import Attributes, Environment, other_robot
from qed.swarm.floor import rows_of
from qed.swarm.made_for import made_for
from qed.swarm.tasks import TASKS, Task
from qed.view.map_layout import environment_attributes
from qed.view.words import names

MOST = 200  # archives in one explorer
LONGEST = 1200.0  # s of a trial that is shown
FIRST = "patrolling"  # what is shown first of what comes with QED: it evolved longest


@dataclass(frozen=True, eq=False)
class ArchiveView:
    """An archive that is shown, with what is known of it."""

    name: str
    source: str  # as Python or the command line names it
    archive: Archive
    kit: Kit | None = None
    kit_source: str = ""

    @cached_property
    def made(self) -> dict[str, Any]:
        """How it was made, as its header says."""
        settings = self.archive.header.get("settings")
        return settings if isinstance(settings, dict) else {}

    @cached_property
    def task(self) -> Task:
        """The task it was evolved for, or the first there is."""
        return known(Task).get(str(self.made.get("task"))) or next(iter(TASKS.values()))

    @cached_property
    def seconds(self) -> float:
        """Time of a trial (s)."""
        seconds = self.made.get("seconds", 400.0)
        return min(float(seconds), LONGEST) if isinstance(seconds, int | float) else 400.0

    @cached_property
    def occupied(self) -> np.ndarray:
        """The filled cells (int64, ascending)."""
        return self.archive.occupied

    def row(self, cell: int) -> int:
        """Return the place of a cell among the filled ones, or raise InputError."""
        row = int(np.searchsorted(self.occupied, cell))
        if row >= len(self.occupied) or self.occupied[row] != cell:
            raise InputError(f"cells: cell {cell} of {self.name} is empty or does not exist")
        return row

    def controller(self, cell: int) -> Controller:
        """Return the controller of a filled cell."""
        self.row(cell)
        return self.archive.controller(cell)

    @cached_property
    def hears(self) -> np.ndarray:
        """Whether the controller of each filled cell reads range and bearing."""
        silent: Sequence[int] | np.ndarray = ()
        with suppress(InputError):  # where all of them do
            silent = self.archive.without("rab").occupied
        return ~np.isin(self.occupied, silent)

    @cached_property
    def attributes(self) -> Attributes | None:
        """What the options of its cells are, if its cells are environments of swarms."""
        return environment_attributes(self.archive)

    def environment(self, cell: int) -> Environment:
        """Return where the controller of a cell was evolved; the normal one for behaviours."""
        self.row(cell)
        if self.attributes is None:
            return self.archive.environment
        own = self.attributes.environment(map(int, self.archive.measures[cell].tolist()))
        return replace(own, floor=self.archive.environment.floor)

    @cached_property
    def normal_cell(self) -> int:
        """The cell to begin with: that of the normal environment if it is filled, or the best."""
        if self.attributes is not None:
            options = self.attributes.options_of(Environment(robot=self.archive.robot))
            if options is not None:
                cell = int(self.archive.space.find(np.array([options]))[0])
                if cell in self.occupied:
                    return cell
        return self.archive.best.cell


SESSION = "qed-explorer"  # the format of a saved session: what was opened, and what was seen
LARGEST = 64 * 1024  # bytes of its file


def saved_session(paths: Sequence[Path], link: str) -> dict[str, Any]:
    """Return what a session's file holds."""
    sources = [
        str(path) if str(path).startswith(EXAMPLE) else str(path.resolve()) for path in paths
    ]
    return {"format": SESSION, "version": 1, "sources": sources, "link": link}


def opened_session(paths: Sequence[Path]) -> tuple[list[Path], str]:
    """Return the sources and the link of a session's file, or the paths where there is none."""
    sessions = [path for path in paths if path.suffix == ".json" and path.is_file()]
    if not sessions:
        return list(paths), ""
    if len(paths) > 1:
        raise InputError(f"{sessions[0]} is a saved session; open it alone")
    [path] = sessions
    if path.stat().st_size > LARGEST:
        raise InputError(f"{path} is too large to be a saved session")
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("format") != SESSION or found.get("version") != 1:
        raise InputError(f"{path} is not a session that the explorer saved")
    sources, link = found.get("sources"), found.get("link")
    if not isinstance(sources, list) or not all(isinstance(one, str) for one in sources):
        raise InputError(f"{path}: sources must be a list of paths")
    if not isinstance(link, str):
        raise InputError(f"{path}: link must be a text")
    return [Path(one) for one in sources], link


def views_of(paths: Sequence[Path]) -> list[ArchiveView]:
    """Open all that is named; without a name, what comes with QED."""
    kits = [path for path in paths if is_kit(path)]
    archives = [found for path in paths if path not in kits for found in _archives(path)]
    loaded = list(_kits(kits))
    if not archives:
        shipped = sorted(examples(), key=lambda name: (name != FIRST, name))
        archives = [Path(f"{EXAMPLE}{name}") for name in shipped]
    if len(archives) > MOST:
        raise InputError(f"{len(archives)} archives are too many to explore: at most {MOST}")
    found = []
    for path in archives:
        archive, _, source = open_archive(path)
        if len(archive) == 0:
            raise InputError(f"{source} is empty: it has no controller to show")
        archive.genomes()  # or says that it holds none
        found.append((archive, source))
    called = names([archive for archive, _ in found], [source for _, source in found])
    views = [
        ArchiveView(_titled(name, archive), str(source), archive)
        for name, (archive, source) in zip(called, found, strict=True)
    ]
    for path, kit in [*loaded, *_shipped(views)]:
        fits = [one.kit is None and _belongs(kit, one) for one in views]
        if path in kits and not any(fits):
            views.append(_alone(path, kit))
        views = [
            replace(one, kit=kit, kit_source=str(path)) if fit else one
            for one, fit in zip(views, fits, strict=False)
        ] + views[len(fits) :]
    if paths and len(kits) == len(paths):  # kits alone: examples only where they belong to one
        views = [one for one in views if one.kit_source in map(str, kits)]
    return views


def _titled(name: str, archive: Archive) -> str:
    """Return the name of an archive with its task."""
    name = name.replace(EXAMPLE, "")
    settings = archive.header.get("settings", {})
    task = str(settings.get("task", "")) if isinstance(settings, dict) else ""
    return name if not task or task in name else f"{task}, {name}" if name else task


def _archives(path: Path) -> list[Path]:
    """Return the archives of a study, of a folder of runs, or the one that is named."""
    if not path.is_dir():
        return [path]
    from qed.evolution.folder import CONFIG  # with which comes the compiler

    if (path / CONFIG).exists():
        return [path]
    runs = path / "runs" if (path / "runs").is_dir() else path
    inside = [folder for folder in sorted(runs.iterdir()) if (folder / CONFIG).exists()]
    ready = [folder for folder in inside if any(folder.glob("*.npz"))]
    return ready or [path]


def _kits(paths: Sequence[Path]) -> Iterator[tuple[Path, Kit]]:
    for path in paths:
        try:
            yield path, Kit.load(path)
        except ValueError as error:
            raise InputError(str(error)) from error


def _shipped(given: Sequence[ArchiveView]) -> Iterator[tuple[Path, Kit]]:
    """Yield the kits that come with the examples that are shown."""
    for one in given:
        path = Path(f"{one.source}-kit")
        if one.source.startswith(EXAMPLE) and is_kit(path):
            with suppress(ValueError):  # of another version: the explorer can do without
                yield path, Kit.load(path)


def _alone(path: Path, kit: Kit) -> ArchiveView:
    """Return a kit without its archive: its controllers, by their places in the map."""
    settings = {"task": kit.task, "algorithm": "kit", "seconds": kit.seconds}
    robot = kit.environment.robot
    named: dict[str, Any] = {"robot": robot.described()} if other_robot(robot) else {}
    if floor := kit.environment.floor:
        named["floor"] = rows_of(floor)
    archive = Archive(Centroids(kit.known.places), {"settings": settings, **named})
    rows = np.arange(len(kit.controllers))
    places = kit.known.places.astype(np.float32)
    genomes = made_for(robot, "qed.controller.genome").from_controllers(kit.controllers)
    archive.fill_cells(rows, genomes, kit.known.normal, places)
    return ArchiveView(f"{kit.task}, {path.stem}", "", archive, replace(kit, cells=rows), str(path))


def _belongs(kit: Kit, one: ArchiveView) -> bool:
    """Return whether a kit's controllers come from an archive."""
    cells = kit.cells.tolist()
    if not set(cells) <= set(one.occupied.tolist()):
        return False
    some = range(0, len(cells), max(1, len(cells) // 8))
    return all(one.controller(cells[k]).pruned() == kit.controllers[k] for k in some)
