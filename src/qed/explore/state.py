"""What is seen, as a link holds it: checked before anything is simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from qed.controller.network import Controller
from qed.controller.team import Team
from qed.definitions import defined
from qed.errors import InputError, choice, number, whole
from qed.explore.sources import LONGEST, Shown
from qed.explore.starts import STARTS, placed
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.robot import CYCLE
from qed.swarm.start import Start
from qed.swarm.tasks import Task

MOST_EVENTS = 64
LARGEST_SEED = 2**53 - 1  # the largest whole number that a browser keeps exactly
ATTRIBUTES = tuple(field.name for field in fields(Environment))
KEYS = ("archive", "cells", "home", "environment", "task", "seed", "start", "seconds", "events")


@dataclass(frozen=True, eq=False)
class Scene:
    """A swarm, where it is, and what happens to it."""

    shown: Shown
    cells: tuple[int, ...]  # of its controller, or of each robot's
    environment: Environment
    own: bool  # whether that is the environment of its cell
    task: Task
    seed: int
    start: str
    seconds: float
    events: tuple[tuple[int, Faults], ...]  # from which cycle on robots have which faults

    @property
    def controller(self) -> Controller | Team:
        """What drives the robots."""
        made = {cell: self.shown.controller(cell) for cell in dict.fromkeys(self.cells)}
        if len(self.cells) == 1:
            return made[self.cells[0]]
        return Team([made[cell] for cell in self.cells])

    @property
    def poses(self) -> Start | None:
        """Where robots begin; None if that is drawn from the seed."""
        return placed(self.start, self.environment, self.seed)

    @property
    def cycles(self) -> int:
        """Control cycles."""
        return round(self.seconds / CYCLE)

    @property
    def faults(self) -> Faults | None:
        """What is broken in the end; None if nothing is."""
        if not self.events:
            return None
        last = self.events[-1][1]
        return None if set(last) == {"NONE"} else last


def checked(given: Any, shown: Sequence[Shown]) -> Scene:
    """Return the scene that a page asks for; InputError names what is wrong with it."""
    table = _table("state", given, KEYS)
    one = shown[whole("archive", table.get("archive", 0), 0, len(shown) - 1)]
    listed = _listed("cells", table.get("cells", [one.normal_cell]), 64)
    cells = tuple(whole("cells", cell, 0, one.archive.cells - 1) for cell in listed)
    if not cells:
        raise InputError("cells must hold one cell, or one for each robot; got none")
    for cell in cells:
        one.row(cell)
    # A recovery is shown where the swarm was that it recovers, whose cell may be the home.
    home = whole("home", table.get("home", cells[0]), 0, one.archive.cells - 1)
    told = table.get("environment")
    environment = one.environment(home) if told is None else _environment(told)
    if len(cells) not in (1, environment.robots):
        raise InputError(
            f"cells must hold one cell, or one for each of the {environment.robots} robots; got "
            f"{len(cells)}"
        )
    seconds = number("seconds", table.get("seconds", one.seconds), CYCLE, LONGEST)
    task = table.get("task")
    return Scene(
        shown=one,
        cells=cells,
        environment=environment,
        own=told is None and home == cells[0],
        task=one.task if task is None else defined("task", _text("task", task), Task),
        seed=whole("seed", table.get("seed", 1), 0, LARGEST_SEED),
        start=choice("start", _text("start", table.get("start", "drawn")), STARTS),
        seconds=seconds,
        events=_events(table.get("events", []), environment.robots, round(seconds / CYCLE)),
    )


def _environment(told: Any) -> Environment:
    table = _table("environment", told, ATTRIBUTES)
    return Environment(**table)


def _events(given: Any, robots: int, cycles: int) -> tuple[tuple[int, Faults], ...]:
    """Return when robots break, in order; what comes after the end is left out."""
    found: dict[int, Faults] = {}
    before = 0
    for event in _listed("events", given, MOST_EVENTS):
        if not isinstance(event, list) or len(event) != 2:
            raise InputError("events must be pairs of a time and a fault for each robot")
        time = number("events: time", event[0], 0.0, LONGEST)
        names = [_text("events: fault", name) for name in _listed("events: faults", event[1], 64)]
        cycle = round(time / CYCLE)
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
