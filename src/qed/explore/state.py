"""What is seen, as a link holds it: checked before anything is simulated; where robots begin.

And the lines of Python that reproduce it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from qed.archive.archive import Archive
from qed.archive.stored import EXAMPLE
from qed.controller.network import Controller, Team
from qed.definitions import defined
from qed.errors import InputError, choice, integer, real
from qed.explore.sources import LONGEST, ArchiveView
from qed.swarm import robot
from qed.swarm.environment import ATTRIBUTES, Environment, other_robot
from qed.swarm.faults import Faults
from qed.swarm.job import Start
from qed.swarm.made_for import made_for
from qed.swarm.tasks import Task

MOST_EVENTS = 64
LARGEST_SEED = 2**53 - 1  # the largest whole number that a browser keeps exactly
STARTS = {
    "drawn": "scattered, drawn from the seed",
    "centre": "together in the middle",
    "ring": "in a ring, facing outwards",
    "corner": "together in a corner",
}
APART = 0.18  # m between robots that begin together
EDGE = 0.15  # m between robots and walls
DRAWS = 40  # of obstacles, before it is given up
DIGITS = 4  # of metres and radians: what is written as Python is what is simulated
KEYS = (
    "archive", "cells", "home", "environment", "task", "seed", "start", "seconds", "events",
    "without",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Scene:
    """A swarm, where it is, and what happens to it."""

    view: ArchiveView
    cells: tuple[int, ...]  # of its controller, or of each robot's
    environment: Environment
    native: bool  # whether the controller was evolved there
    task: Task
    seed: int
    start: str
    seconds: float
    events: tuple[tuple[int, Faults], ...]  # from which cycle on robots have which faults
    without: str = ""  # inputs that what is searched for must not read

    @property
    def controller(self) -> Controller | Team:
        """What drives the robots."""
        made = {cell: self.view.controller(cell) for cell in dict.fromkeys(self.cells)}
        if len(self.cells) == 1:
            return made[self.cells[0]]
        return Team([made[cell] for cell in self.cells])

    @property
    def searched(self) -> Archive:
        """The archive that recoveries are searched in."""
        archive = self.view.archive
        return archive.without(self.without) if self.without else archive

    @property
    def poses(self) -> Start | None:
        """Where robots begin; None if that is drawn from the seed."""
        return placed(self.start, self.environment, self.seed)

    @property
    def periods(self) -> list[tuple[int, int, Faults | None]]:
        """First and last cycle of each time in which nothing breaks, and what breaks before it."""
        broken = dict(self.events)
        moments = sorted({0, *broken, self.cycles})
        return [(begin, end, broken.get(begin)) for begin, end in pairwise(moments)]

    @property
    def cycles(self) -> int:
        """Control cycles."""
        return round(self.seconds / robot.CYCLE)

    @property
    def faults(self) -> Faults | None:
        """What is broken in the end; None if nothing is."""
        if not self.events:
            return None
        last = self.events[-1][1]
        return None if set(last) == {"NONE"} else last


def checked(given: Any, views: Sequence[ArchiveView]) -> Scene:
    """Return the scene that a page asks for; InputError names what is wrong with it."""
    table = _table("state", given, KEYS)
    one = views[integer("archive", table.get("archive", 0), 0, len(views) - 1)]
    listed = _listed("cells", table.get("cells", [one.normal_cell]), 64)
    cells = tuple(integer("cells", cell, 0, one.archive.cells - 1) for cell in listed)
    if not cells:
        raise InputError("cells must hold one cell, or one for each robot; got none")
    for cell in cells:
        one.row(cell)
    # A recovery is shown where the swarm was that it recovers, whose cell may be the home.
    home = integer("home", table.get("home", cells[0]), 0, one.archive.cells - 1)
    elsewhere = table.get("environment")
    environment = _environment(elsewhere, one, home)
    if len(cells) not in (1, environment.robots):
        raise InputError(
            f"cells must hold one cell, or one for each of the {environment.robots} robots; got "
            f"{len(cells)}"
        )
    seconds = real("seconds", table.get("seconds", one.seconds), robot.CYCLE, LONGEST)
    task = table.get("task")
    return Scene(
        view=one,
        cells=cells,
        environment=environment,
        native=elsewhere is None and home == cells[0],
        task=one.task if task is None else defined("task", _text("task", task), Task),
        seed=integer("seed", table.get("seed", 1), 0, LARGEST_SEED),
        start=choice("start", _text("start", table.get("start", "drawn")), STARTS),
        seconds=seconds,
        events=_events(table.get("events", []), environment.robots, round(seconds / robot.CYCLE)),
        without=choice("without", _text("without", table.get("without", "")), ("", "rab")),
    )


def _environment(given: Any, one: ArchiveView, home: int) -> Environment:
    if given is None:
        return one.environment(home)
    table = _table("environment", given, ATTRIBUTES)
    for name, value in table.items():
        real(name, value, -math.inf, math.inf)  # no text and no truth value
    return replace(one.archive.environment, **dict(table))


def _events(given: Any, robots: int, cycles: int) -> tuple[tuple[int, Faults], ...]:
    """Return when robots break, in order; what comes after the end is left out."""
    found: dict[int, Faults] = {}
    before = 0
    for event in _listed("events", given, MOST_EVENTS):
        if not isinstance(event, list) or len(event) != 2:
            raise InputError("events must be pairs of a time and a fault for each robot")
        time = real("events: time", event[0], 0.0, LONGEST)
        names = [_text("events: fault", name) for name in _listed("events: faults", event[1], 64)]
        cycle = round(time / robot.CYCLE)
        if cycle < before:
            raise InputError("events must be in the order of their times")
        if len(names) != robots:
            raise InputError(
                f"events must name one fault for each of the {robots} robots, got {len(names)}"
            )
        before = cycle
        found[cycle] = Faults(names)
    return tuple((cycle, faults) for cycle, faults in found.items() if cycle < cycles)


def _table(name: str, given: Any, keys: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        raise InputError(f"{name} must be a table, got {type(given).__name__}")
    for key in given:
        choice(name, key, keys)
    return given


def _listed(name: str, given: Any, most: int) -> list[Any]:
    if not isinstance(given, list) or len(given) > most:
        raise InputError(f"{name} must be a list of at most {most}")
    return given


def _text(name: str, given: Any) -> str:
    if not isinstance(given, str) or len(given) > 60:
        raise InputError(f"{name} must be a short text")
    return given


# Formations


def placed(name: str, environment: Environment, seed: int) -> Start | None:
    """Return a formation in an environment; None if starts are drawn."""
    if name == "drawn":
        return None
    poses = np.round(_formation(name, environment), DIGITS)
    low, high = poses[:, :2].min(), poses[:, :2].max()
    if low < EDGE - 1e-9 or high > environment.arena - EDGE + 1e-9:
        raise InputError(
            f"start: no room for {environment.robots} robots {STARTS[name]} in an arena of "
            f"{environment.arena:g} m; use fewer, or a larger arena"
        )
    return Start(poses, np.round(_obstacles(environment, poses, seed), DIGITS))


def _formation(name: str, environment: Environment) -> np.ndarray:
    """Return poses (robots, 3) in a ring, or in rows, a square of them about."""
    number, middle = np.arange(environment.robots), environment.arena / 2
    if name == "ring":
        angles = 2.0 * math.pi * number / environment.robots
        needed = environment.robots * APART / (2.0 * math.pi)
        radius = max(environment.arena / 4, needed)
        places = middle + radius * np.cos(angles), middle + radius * np.sin(angles)
        return np.stack([*places, angles], 1)
    across = math.ceil(math.sqrt(environment.robots))
    poses = np.stack([APART * (number % across), APART * (number // across), 0.0 * number], 1)
    if name == "centre":
        poses[:, :2] += middle - poses[:, :2].mean(0)
    else:
        poses += EDGE, EDGE, math.pi / 4
    return poses


def _obstacles(environment: Environment, poses: np.ndarray, seed: int) -> np.ndarray:
    """Return obstacles, drawn until none stands on a robot or on another one."""
    reach = robot.OBSTACLE_RADIUS + environment.robot.outer_radius
    kept: list[np.ndarray] = []
    if environment.obstacles == 0:
        return np.zeros((0, 2))
    place = made_for(environment.robot, "qed.swarm.placing").place
    trials = place(environment.robots, environment.arena, environment.obstacles, DRAWS, seed)[1]
    for centre in trials.reshape(-1, 2).astype(float):
        free = np.hypot(*(poses[:, :2] - centre).T).min() > reach
        apart = all(math.dist(centre, other) > 2.0 * robot.OBSTACLE_RADIUS for other in kept)
        if free and apart:
            kept.append(centre)
        if len(kept) == environment.obstacles:
            return np.array(kept)
    raise InputError(f"start: no room for {environment.obstacles} obstacles beside the robots")


# As Python


def written(scene: Scene, way: str = "") -> str:
    """Return a program that does what is seen; ``way`` is how it was recovered, if it was."""
    lines = ["import qed", ""]
    if scene.start != "drawn":
        lines[1:1] = ["import numpy as np"]
    lines += _controller_lines(scene)
    different = _differences(scene.environment)
    if scene.environment.floor:
        home = "archive" if scene.view.source else "kit"
        different += [f"floor={home}.environment.floor"]
    lines.append(f"environment = qed.Environment({', '.join(different)})")
    extra = _start_argument(scene, lines)
    task = f"task={_quoted(scene.task)}"
    if any(cycle for cycle, _ in scene.events):
        lines += _world_lines(scene, task, extra)
    else:
        faults = ""
        if scene.events:
            lines.append(f"faults = qed.Faults({_quoted(','.join(scene.events[0][1]))})")
            faults = ", faults=faults"
        lines += [
            "film = qed.trace(",
            f"    controller, environment, {task}, seconds={scene.seconds:g}, seed={scene.seed}"
            f"{faults}{extra},",
            ")",
            'print(f"{film.score[-1]:.3f}")  # film.x, film.y, film.heading: every cycle',
        ]
    lines += _search_lines(scene, way)
    return "\n".join(lines) + "\n"


def _quoted(value: Any) -> str:
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _kit_line(one: ArchiveView) -> str:
    return f"kit = qed.Kit.load({_quoted(one.kit_source)})"


def _controller_lines(scene: Scene) -> list[str]:
    """Return the lines that fetch the controller, or the team."""
    one = scene.view
    if not one.source:  # a kit without its archive
        lines = [_kit_line(one)]
        get = "kit.controllers[{}]"
    else:
        example = one.source.startswith(EXAMPLE)
        source = one.source.removeprefix(EXAMPLE)
        load = "qed.load_example" if example else "qed.Archive.load"
        lines = [f"archive = {load}({_quoted(source)})"]
        get = "archive.controller({})"
    if len(scene.cells) == 1:
        return [*lines, f"controller = {get.format(scene.cells[0])}"]
    cells = ", ".join(map(str, scene.cells))
    return [
        *lines,
        f"cells = [{cells}]  # one for each robot",
        f"controller = qed.Team([{get.format('cell')} for cell in cells])",
    ]


def _differences(environment: Environment) -> list[str]:
    """Return what is not as in the normal environment, as arguments."""
    normal = Environment(robot=environment.robot)
    own = [f"robot={_quoted(environment.robot.name)}"] if other_robot(environment.robot) else []
    other = [
        f"{name}={getattr(environment, name):g}"
        for name in ATTRIBUTES
        if getattr(environment, name) != getattr(normal, name)
    ]
    return own + other


def _start_argument(scene: Scene, lines: list[str]) -> str:
    """Add the lines that place robots in a formation; return the argument that takes it."""
    placed = scene.poses
    if placed is None:
        return ""
    for name, array in (("poses", placed.poses[0]), ("obstacles", placed.obstacles[0])):
        rows = [f"    {[round(value, DIGITS) for value in row]}," for row in array.tolist()]
        width = array.shape[1]
        lines += [f"{name} = np.array([", *rows, f"]).reshape(-1, {width})"]
    lines.append("start = qed.Start(poses, obstacles)")
    return ", start=start"


def _world_lines(scene: Scene, task: str, extra: str) -> list[str]:
    """Return the lines in which robots break while the world goes on."""
    lines = [f"world = qed.World(environment, {task}, seed={scene.seed}{extra})"]
    for begin, end, broken in scene.periods:
        if broken:
            names = _quoted(",".join(broken))
            lines.append(f"world.faults = qed.Faults({names})  # at {begin * robot.CYCLE:g} s")
        lines.append(f"score = world.run(controller, seconds={(end - begin) * robot.CYCLE:.1f})")
    lines.append('print(f"{score:.3f} in the last period")  # world.poses: where robots are now')
    return lines


def _search_lines(scene: Scene, way: str) -> list[str]:
    """Return the lines that search for a recovery."""
    if not way or scene.faults is None:
        return []
    faults = f"faults = qed.Faults({_quoted(','.join(scene.faults))})"
    more = f"environment=environment, seconds={scene.seconds:g}"
    kit: list[str] = []
    if way == "playbook":
        kit = [_kit_line(scene.view)] * bool(scene.view.source)
        return ["", *kit, faults, "team = kit.playbook.team(faults)  # without a trial"]
    if way == "kit":
        kit = [_kit_line(scene.view)] * bool(scene.view.source)
        call = f"found = kit.recover(faults=faults, {more})"
    else:
        by = ', by="fault"' if way == "team" else ""
        more = f"trials=10, {more}{by}"
        archive = f"archive.without({_quoted(scene.without)})" if scene.without else "archive"
        call = f"found = qed.recover({archive}, {_quoted(scene.task)}, faults, {more})"
    result = 'print(f"{found.broken:.3f} -> {found.performance:.3f} (cell {found.cell})")'
    return ["", *kit, faults, call, result]
