"""Read recordings of the original simulator, and put our simulator in the same situation.

A folder of recordings holds up to three: argos (motion, sensors, contacts, fitness), argos-walls
(robots at walls) and argos-evolved (controllers that were evolved here).  tests/data is such a
folder, with a part of each; tests/data/README.md says what the files are.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import qed

HERE = Path(__file__).parent
SMALL = HERE.parent / "tests" / "data"
TASKS = ("aggregation", "dispersion", "flocking", "patrolling", "border-patrolling")
COLUMNS = ("aggregation", "dispersion_paper", "flocking", "patrolling", "border_patrolling")
PROXIMITY = [f"p{k}" for k in range(7)]
RAB = [f"rab{k}" for k in range(8)]
POSE = ["x", "y", "yaw"]
CENTIMETRE = 0.01
ENOUGH = 12.0  # an argument at which tanh is 1

Table = dict[str, np.ndarray]


def read(path: Path) -> Table:
    """Return the columns of a CSV file, numbers as floats."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    header, *lines = csv.reader(text.splitlines())
    table: Table = {}
    for name, column in zip(header, zip(*lines, strict=True), strict=True):
        try:
            table[name] = np.array(column, float)
        except ValueError:
            table[name] = np.array(column)
    return table


def pick(table: Table, mask: np.ndarray) -> Table:
    """Return the rows of a table where a mask holds."""
    return {name: column[mask] for name, column in table.items()}


def groups(table: Table, name: str) -> Iterator[tuple[Any, Table]]:
    """Yield the parts of a table that share a value, in order of appearance."""
    column = table[name]
    for value in dict.fromkeys(column.tolist()):
        yield value, pick(table, column == value)


def stack(table: Table, names: list[str]) -> np.ndarray:
    """Return columns as one array (cycles, robots, names), without the start."""
    robots = int(table["robot"].max()) + 1
    after = table["t"] > 0
    return np.stack([table[name][after] for name in names], -1).reshape(-1, robots, len(names))


def begin(table: Table) -> np.ndarray:
    """Return the poses (robots, 3) before the first cycle."""
    first = table["t"] == 0
    return np.stack([table[name][first] for name in POSE], -1)


def controllers(folder: Path, file: str = "controllers.json") -> dict[str, qed.Controller]:
    """Return the recorded controllers by name."""
    listed = json.loads((folder / file).read_text())["controllers"]
    return {c["name"]: qed.Controller(c["connections"], c["bias"]) for c in listed}


def centres(table: Table) -> np.ndarray:
    """Return the centres (n, 2) of the cylinders in a table of bodies."""
    rest = table["kind"] != "robot"
    return np.stack([table["x"][rest], table["y"][rest]], -1)


def starts(table: Table) -> qed.Start:
    """Return start poses of all trials of a table, and the cylinders, the same in each."""
    robots = pick(table, table["kind"] == "robot")
    poses = [np.stack([trial[name] for name in POSE], -1) for _, trial in groups(robots, "trial")]
    return qed.Start(np.array(poses), centres(table))


def driver(commands: np.ndarray, max_speed: float) -> tuple[qed.Controller, qed.Faults]:
    """Return a controller and faults that give one or two robots these commands (m/s).

    A swarm shares one network; a front sensor that is stuck at 0 in one robot and at 1 in the
    other lets it tell them apart.
    """

    def argument(command: float) -> float:
        output = command / max_speed
        return math.copysign(ENOUGH, output) if abs(output) >= 1 else math.atanh(output)

    first = [argument(c) for c in commands[0]]
    last = [argument(c) for c in commands[-1]]
    bias = [(a + b) / 2 for a, b in zip(first, last, strict=True)]
    links = [(2, 16 + w, (a - b) / 10) for w, (a, b) in enumerate(zip(first, last, strict=True))]
    return qed.Controller(links, bias), qed.Faults(["PMIN", "PMAX"][: len(commands)])


def turned(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return how far two headings are apart (rad)."""
    return np.abs((ours - theirs + math.pi) % (2 * math.pi) - math.pi)


def cycles_within(
    table: Table,
    controller: qed.Controller,
    environment: qed.Environment | None = None,
    obstacles: np.ndarray | None = None,
) -> int:
    """Replay a swarm without noise; return the cycles until one robot is off by 1 cm."""
    truth = stack(table, ["x", "y"])
    seen = qed.trace(
        controller,
        environment or qed.Environment(),
        seconds=0.2 * len(truth),
        start=qed.Start(begin(table), obstacles),
        noise=0.0,
    )
    off = np.hypot(seen.x - truth[..., 0], seen.y - truth[..., 1]).max(1) > CENTIMETRE
    return int(np.argmax(off)) if off.any() else len(off)


def standard_errors(ours: np.ndarray, theirs: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return how many standard errors the means of two sets of trials are apart (z).

    Trials are taken as independent, though both begin at the same poses; so two samples of one
    simulator are less than 1 apart.  0 where neither varies and both agree.
    """
    error = ours.mean(axis) - theirs.mean(axis)
    variance = (
        ours.var(axis, ddof=1) / ours.shape[axis] + theirs.var(axis, ddof=1) / theirs.shape[axis]
    )
    spread = np.sqrt(variance)
    known = spread > 1e-9
    return np.where(known, error / np.where(known, spread, 1.0), np.where(error == 0, 0, np.inf))


def root_mean_square(values: np.ndarray) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def rounded(value: Any) -> Any:
    """Return results as JSON holds them: plain, floats with six significant digits."""
    if isinstance(value, dict):
        return {str(key): rounded(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [rounded(entry) for entry in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.6g}")
    return value.item() if isinstance(value, np.generic) else value
