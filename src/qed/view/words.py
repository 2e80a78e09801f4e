"""Archives, environments and behaviours in words."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qed.swarm.environment import Environment
from qed.view.map_layout import environment_attributes

if TYPE_CHECKING:
    from qed.archive.archive import Archive

RUN_FILES = ("archive", "checkpoint")  # their folder's name says more than theirs


def names(archives: Sequence["Archive"], sources: Sequence[Path]) -> list[str]:
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


def origin(archive: "Archive", cell: int) -> str:
    """Return where the controller of a cell was evolved, or what it did there; '' if unsayable."""
    from qed.descriptors import HBD  # which loads the compiler: a name needs none

    attributes = environment_attributes(archive)
    algorithm = archive.header.get("settings", {}).get("algorithm", "")
    measures = archive.measures[cell].tolist()
    if attributes is not None:
        return f"evolved with {in_words(attributes.environment(map(int, measures)))}"
    if algorithm == "hbd" and archive.space.dimensions == len(HBD):
        return _roaming(*measures)
    return ""


def in_words(environment: Environment) -> str:
    """Return an environment in words.

    >>> in_words(Environment(robots=5, arena=2, obstacles=4, max_speed=0.2, proximity_range=0.055))
    '5 robots, 2 m arena, 4 obstacles, 20 cm/s, hears 1 m, sees 5.5 cm'
    """
    return ", ".join(attribute_in_words(name, getattr(environment, name)) for name in SAID)


SAID = ("robots", "arena", "obstacles", "max_speed", "rab_range", "proximity_range")


def attribute_in_words(name: str, value: float) -> str:
    """Return an attribute of an environment in words.

    >>> attribute_in_words("robots", 1), attribute_in_words("obstacles", 0)
    ('1 robot', 'no obstacles')
    """
    many = f"{value or 'no'} {name.removesuffix('s')}{'s' * (value != 1)}"
    return {
        "arena": f"{value:g} m arena",
        "max_speed": f"{100 * value:g} cm/s",
        "rab_range": f"hears {value:g} m",
        "proximity_range": f"sees {100 * value:g} cm",
    }.get(name, many)


def _roaming(uniformity: float, deviation: float, coverage: float) -> str:
    """Return HBD's three features in words, with lengths as in the normal arena."""
    metres = deviation * Environment().arena * math.sqrt(0.5)
    return (
        f"in evolution it visited {100 * coverage:.0f} % of the arena, {metres:.1f} m from the "
        f"centre on average, uniformity {uniformity:.2f}"
    )


# SPIRIT's behaviours: what robots do as a rule in a few telling situations.  A situation is bits of
# a sensory state: which groups of sensors feel or hear something.
SITUATIONS = {"alone": 0, "something ahead": 16, "robots ahead": 2, "robots behind": 1}
FORWARD = 2  # the first quarter of wheel speeds that is not backwards


def behaviour_in_words(measures: np.ndarray) -> str:
    """Return a SPIRIT behaviour (1024,) in words.

    >>> behaviour_in_words(np.full(1024, 1 / 16))
    'met none of the usual situations'
    """
    from qed.descriptors import STATES

    table = measures.reshape(STATES, -1)
    chances = {words: table[state] for words, state in SITUATIONS.items()}
    met = [(words, row) for words, row in chances.items() if np.ptp(row) > 1e-6]
    return "; ".join(f"{words}: {_action(int(row.argmax()))}" for words, row in met) or (
        "met none of the usual situations"
    )


def _action(number: int) -> str:
    """Return an action in words: a quarter of the speeds for each wheel.

    >>> _action(15), _action(3), _action(0), _action(14)
    ('goes straight', 'turns left', 'backs up', 'bears right')
    """
    left, right = divmod(number, 4)
    if (left >= FORWARD) != (right >= FORWARD):
        return "turns left" if right > left else "turns right"
    if left == right:
        return "goes straight" if left >= FORWARD else "backs up"
    return f"bears {'left' if right > left else 'right'}" if left >= FORWARD else "backs in a curve"
