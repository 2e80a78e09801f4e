"""What a replay says of an archive: its name, and where its recovery controller comes from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qed.swarm.environment import Environment
from qed.view.map_layout import environment_attributes

if TYPE_CHECKING:
    from qed.archive.archive import Archive

RUN_FILES = ("archive", "checkpoint")  # their folder tells more than their own name


def names(archives: Sequence[Archive], sources: Sequence[Path]) -> list[str]:
    """Return a name for each archive: its algorithm, with its file where that is not enough."""
    found = [str(archive.header.get("settings", {}).get("algorithm", "")) for archive in archives]
    named = [
        algorithm.upper() if algorithm and found.count(algorithm) == 1
        else f"{algorithm.upper()} {_stem(source)}".strip()
        for algorithm, source in zip(found, sources, strict=True)
    ]  # fmt: skip
    return [
        name if named.count(name) == 1 else f"{name} ({named[:k].count(name) + 1})"
        for k, name in enumerate(named)
    ]


def _stem(source: Path) -> str:
    in_run = source.stem.split("-")[0] in RUN_FILES and source.parent.name
    return source.parent.name if in_run else source.stem


def origin(archive: Archive, cell: int) -> str:
    """Return where the controller of a cell was evolved, or what it did there; '' if unsayable."""
    from qed.descriptors import hbd  # which loads the compiler: a name needs none

    attributes = environment_attributes(archive)
    algorithm = archive.header.get("settings", {}).get("algorithm", "")
    measures = archive.measures[cell].tolist()
    if attributes is not None:
        return f"evolved with {in_words(attributes.environment(map(int, measures)))}"
    if algorithm == "hbd" and archive.space.dimensions == len(hbd.NAMES):
        return _roaming(*measures)
    return ""


def in_words(environment: Environment) -> str:
    """Return an environment in words.

    >>> in_words(Environment(robots=5, arena=2, obstacles=4, max_speed=0.2, proximity_range=0.055))
    '5 robots, 2 m arena, 4 obstacles, 20 cm/s, hears 1 m, sees 5.5 cm'
    """
    obstacles = f"{environment.obstacles or 'no'} obstacle{'s' * (environment.obstacles != 1)}"
    return (
        f"{environment.robots} robot{'s' * (environment.robots != 1)}, "
        f"{environment.arena:g} m arena, {obstacles}, {100 * environment.max_speed:g} cm/s, "
        f"hears {environment.rab_range:g} m, sees {100 * environment.proximity_range:g} cm"
    )


def _roaming(uniformity: float, deviation: float, coverage: float) -> str:
    """Return HBD's three features in words, with lengths as in the normal arena."""
    metres = deviation * Environment().arena * math.sqrt(0.5)
    return (
        f"in evolution it visited {100 * coverage:.0f} % of the arena, {metres:.1f} m from the "
        f"centre on average, uniformity {uniformity:.2f}"
    )
