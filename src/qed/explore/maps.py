"""An archive's map as data: where its cells are drawn, and what they are in words.

Lengths are in cells, x to the right and y upwards.  The page draws what it is told: whatever the
archive's cells are, it gets places, blocks behind them, labels, and attributes to filter by.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qed.archive.grid import Categories, Environments
from qed.explore.sources import Shown
from qed.view import cells, maps
from qed.view.maps import ACROSS, UPWARDS

GAPS = (0.35, 1.1, 2.2, 3.3)  # between blocks, from the innermost to the outermost
MOST_LABELS = 20  # along a side, of one level
MOST_OPTIONS = 16  # of an attribute to filter by
MOST_MEASURES = 12  # that are told of a cell
SPIRIT = 1024  # measures of a SPIRIT archive
UNITS = {
    "max_speed": ("max speed", "cm/s", 100.0),
    "robots": ("robots", "", 1.0),
    "arena": ("arena", "m", 1.0),
    "obstacles": ("obstacles", "", 1.0),
    "rab_range": ("hears within", "m", 1.0),
    "proximity_range": ("sees within", "cm", 100.0),
}


@dataclass
class Drawn:
    """Where cells are drawn."""

    kind: str  # "cells" or "points"
    x: np.ndarray  # of each filled cell: its left edge, or a point
    y: np.ndarray
    width: float
    height: float
    blocks: list[list[float]] = field(default_factory=list)  # x, y, width, height
    labels: list[dict[str, Any]] = field(default_factory=list)  # side, level, at, text
    titles: list[dict[str, Any]] = field(default_factory=list)  # x, y, text: above blocks
    across: str = ""
    upwards: str = ""


def as_data(one: Shown) -> dict[str, Any]:
    """Return all that the page needs to draw an archive's map, and to tell of its cells."""
    archive, filled = one.archive, one.occupied
    drawn = _drawn(one)
    fitness = archive.objective[filled]
    return {
        "name": one.name,
        "title": cells.title(archive).replace(r"\$", "$"),
        "task": str(one.task),
        "kind": drawn.kind,
        "cells": filled.tolist(),
        "fitness": _short(fitness, 4),
        "x": _short(drawn.x, 3),
        "y": _short(drawn.y, 3),
        "width": round(drawn.width, 3),
        "height": round(drawn.height, 3),
        "blocks": [[round(value, 3) for value in block] for block in drawn.blocks],
        "labels": drawn.labels,
        "titles": drawn.titles,
        "across": drawn.across,
        "upwards": drawn.upwards,
        "attributes": _attributes(one),
        "words": _words(one),
        "best": archive.best.cell,
        "normal": one.normal_cell,
        "total": archive.cells,
        "environments": one.attributes is not None,
    }


def _short(values: np.ndarray, digits: int) -> list[float]:
    short: list[float] = np.round(np.asarray(values, float), digits).tolist()
    return short


# Places


def _drawn(one: Shown) -> Drawn:
    archive, space = one.archive, one.archive.space.describe()
    if space["kind"] == "centroids":
        return _embedded(one)
    shape = tuple(space["shape"])
    levels = cells.levels(archive)
    if not isinstance(archive.space, Categories):
        names = zip(_names(one), levels, strict=True)
        levels = [cells.Level(name, level.options) for name, level in names]
    index = np.stack(np.unravel_index(one.occupied, shape), 1)
    measured = not isinstance(archive.space, Categories)
    if len(shape) == 1:
        return _line(one, levels[0], measured)
    if measured and len(shape) <= 3:
        return _panels(levels, index)
    if one.attributes is not None:
        known = list(one.attributes)
        across = [known.index(name) for name in ACROSS if name in known]
        upwards = [known.index(name) for name in UPWARDS if name in known]
        if across and upwards:
            named = [_attribute_level(name, one.attributes[name]) for name in known]
            return _nested(named, index, across, upwards)
    return _nested(levels, index, list(range(0, len(shape), 2)), list(range(1, len(shape), 2)))


def _attribute_level(name: str, options: Sequence[float]) -> cells.Level:
    words, unit, scale = UNITS[name]
    return cells.Level(f"{words} ({unit})" if unit else words, [f"{scale * o:g}" for o in options])


def _steps(sizes: Sequence[int]) -> list[float]:
    """Return how far the options of each level lie apart, from the outermost to the innermost."""
    steps = [1.0]
    for depth, size in enumerate(reversed(sizes[1:])):
        steps.insert(0, steps[0] * size + GAPS[min(depth, len(GAPS) - 1)])
    return steps


def _nested(
    levels: Sequence[cells.Level], index: np.ndarray, across: list[int], upwards: list[int]
) -> Drawn:
    """Return cells of many dimensions as blocks of blocks, across and upwards in turn."""
    found = Drawn("cells", np.zeros(0), np.zeros(0), 0.0, 0.0)
    sides = []
    for side, some in (("bottom", across), ("left", upwards)):
        sizes = [len(levels[k].options) for k in some]
        steps = _steps(sizes)
        sides.append((index[:, some] @ np.array(steps), _corners(sizes, steps)))
        found.labels += _level_labels(side, [levels[k] for k in some], steps)
    (found.x, columns), (found.y, rows) = sides
    inner = len(levels[across[-1]].options), len(levels[upwards[-1]].options)
    found.blocks = [[x, y, *map(float, inner)] for x in columns for y in rows]
    found.width, found.height = max(columns) + inner[0], max(rows) + inner[1]
    found.across = " / ".join(levels[k].name for k in across)
    found.upwards = " / ".join(levels[k].name for k in upwards)
    return found


def _corners(sizes: Sequence[int], steps: Sequence[float]) -> list[float]:
    """Return where the innermost blocks begin."""
    corners = [0.0]
    for size, step in zip(sizes[:-1], steps[:-1], strict=True):
        corners = [corner + k * step for corner in corners for k in range(size)]
    return corners


def _level_labels(
    side: str, levels: Sequence[cells.Level], steps: Sequence[float]
) -> list[dict[str, Any]]:
    """Return labels of the outer two levels of a side, or of the only one."""
    labels = []
    starts = [0.0]
    for depth, (level, step) in enumerate(zip(levels, steps, strict=True)):
        if len(starts) * len(level.options) > MOST_LABELS or (depth == 2):
            break
        inner = step if depth == len(levels) - 1 else step - GAPS[len(levels) - 2 - depth]
        for start in starts:
            for k, option in enumerate(level.options):
                at = start + k * step + inner / 2
                labels.append({"side": side, "level": depth, "at": round(at, 3), "text": option})
        starts = [start + k * step for start in starts for k in range(len(level.options))]
    return labels


def _panels(levels: Sequence[cells.Level], index: np.ndarray) -> Drawn:
    """Return a grid of two dimensions, or of three as one panel for each value of the first."""
    shape = [len(level.options) for level in levels]
    depth = shape[0] if len(shape) == 3 else 1
    wide, high = shape[-2:]
    columns = math.ceil(math.sqrt(depth))
    lines = -(-depth // columns)
    gap_x, gap_y = (0.06 * wide, 0.16 * high) if depth > 1 else (0.0, 0.0)
    number = index[:, 0] if len(shape) == 3 else np.zeros(len(index), int)
    left = (number % columns) * (wide + gap_x)
    bottom = (lines - 1 - number // columns) * (high + gap_y)
    drawn = Drawn("cells", left + index[:, -2], bottom + index[:, -1], 0.0, 0.0)
    for panel in range(depth):
        x = (panel % columns) * (wide + gap_x)
        y = (lines - 1 - panel // columns) * (high + gap_y)
        drawn.blocks.append([x, y, float(wide), float(high)])
        if depth > 1:
            text = f"{levels[0].name} {levels[0].options[panel]}"
            drawn.titles.append({"x": x + wide / 2, "y": y + high, "text": text})
    drawn.width = columns * (wide + gap_x) - gap_x
    drawn.height = lines * (high + gap_y) - gap_y + (gap_y if depth > 1 else 0.0)
    if depth == 1:
        for side, level in (("bottom", levels[-2]), ("left", levels[-1])):
            drawn.labels += _few_labels(side, level)
    drawn.across, drawn.upwards = levels[-2].name, levels[-1].name
    return drawn


def _few_labels(side: str, level: cells.Level) -> list[dict[str, Any]]:
    """Return at most so many labels that they do not run into each other."""
    every = max(1, math.ceil(len(level.options) / 8))
    return [
        {"side": side, "level": 0, "at": k + 0.5, "text": option}
        for k, option in enumerate(level.options)
        if k % every == 0
    ]


SQUARE = 100.0  # side of a map of points


def _scaled(values: np.ndarray) -> np.ndarray:
    """Return values as places on a map of points, with room around."""
    low, high = float(values.min()), float(values.max())
    span = (high - low) or 1.0
    return 5.0 + (SQUARE - 10.0) * (values - low) / span if high > low else values * 0 + SQUARE / 2


def _line(one: Shown, level: cells.Level, measured: bool) -> Drawn:
    """Return the elites over the only dimension there is, by their fitness."""
    place = one.occupied.astype(float)
    fitness = one.archive.objective[one.occupied]
    drawn = Drawn("points", _scaled(place), _scaled(fitness), SQUARE, SQUARE)
    drawn.blocks = [[0.0, 0.0, SQUARE, SQUARE]]
    drawn.across, drawn.upwards = level.name, "fitness"
    return drawn


def _embedded(one: Shown) -> Drawn:
    """Return elites by two measures, or in the plane that shows most of how they differ."""
    behaviours = one.archive.measures[one.occupied].astype(float)
    names = cells.features(one.archive)
    shown = behaviours
    if len(names) != 2:
        shown, kept = maps._principal_plane(behaviours)
        names = [f"first principal component of behaviour ({kept:.0%} of variance in both)"]
        names.append("second principal component")
    drawn = Drawn("points", _scaled(shown[:, 0]), _scaled(shown[:, 1]), SQUARE, SQUARE)
    drawn.blocks = [[0.0, 0.0, SQUARE, SQUARE]]
    drawn.across, drawn.upwards = names[0], names[1]
    return drawn


# Words and attributes


def _names(one: Shown) -> list[str]:
    """Return what the measures are called."""
    told = cells.features(one.archive)
    algorithm = one.made.get("algorithm")
    if algorithm in ("hbd", "sdbc") and told[0] == "measure 1":
        from qed.descriptors import hbd, sdbc

        names = {"hbd": hbd.NAMES, "sdbc": sdbc.NAMES}[algorithm]
        return list(names) if len(names) == len(told) else told
    return told


def _attributes(one: Shown) -> list[dict[str, Any]]:
    """Return what cells can be filtered by: options, or thirds of a measure's range."""
    archive, filled = one.archive, one.occupied
    measures = archive.measures[filled].astype(float)
    if isinstance(archive.space, Categories):
        return [
            {"name": name, "options": options, "words": words, "values": column}
            for (name, options, words), column in zip(
                _options(one), measures.astype(int).T.tolist(), strict=True
            )
            if len(options) <= MOST_OPTIONS
        ]
    if measures.shape[1] > MOST_MEASURES:
        return []
    found = []
    limits = cells.ranges(archive)
    for name, column, (low, high) in zip(_names(one), measures.T, limits, strict=True):
        edges = np.linspace(0.0, 1.0, 4)
        third = np.clip((column * 3).astype(int), 0, 2)
        shown = [low + (high - low) * edge for edge in edges]
        options = [f"{shown[k]:.2g} to {shown[k + 1]:.2g}" for k in range(3)]
        found.append({"name": name, "options": options, "words": None, "values": third.tolist()})
    return found


def _options(one: Shown) -> list[tuple[str, list[str], list[str]]]:
    """Return name, options and their words of each attribute of cells that are choices."""
    if one.attributes is not None:
        return [
            (
                _attribute_level(name, options).name,
                _attribute_level(name, options).options,
                [_in_words(name, option) for option in options],
            )
            for name, options in one.attributes.items()
        ]
    space = one.archive.space
    if isinstance(space, Environments):
        return [
            (name, [str(o) for o in options], [f"{name} {o}" for o in options])
            for name, options in space.options.items()
        ]
    return [
        (level.name, level.options, [f"{level.name} {option}" for option in level.options])
        for level in cells.levels(one.archive)
    ]


def _in_words(name: str, option: float) -> str:
    """Return an option of an attribute in words, as in ``view.words.in_words``."""
    if name == "robots":
        return f"{option:g} robot{'s' * (option != 1)}"
    if name == "obstacles":
        return f"{f'{option:g}' if option else 'no'} obstacle{'s' * (option != 1)}"
    return {
        "arena": f"{option:g} m arena",
        "max_speed": f"{100 * option:g} cm/s",
        "rab_range": f"hears {option:g} m",
        "proximity_range": f"sees {100 * option:g} cm",
    }[name]


def _words(one: Shown) -> list[str] | None:
    """Return the behaviour of each filled cell in words; None where attributes tell it."""
    archive = one.archive
    if isinstance(archive.space, Categories):
        return None
    measures = archive.measures[one.occupied].astype(float)
    if one.made.get("algorithm") == "spirit" and measures.shape[1] == SPIRIT:
        from qed.explore.behaviours import in_words

        return in_words(measures)
    if measures.shape[1] > MOST_MEASURES:
        return ["" for _ in measures]
    limits = np.array(cells.ranges(archive))
    shown = limits[:, 0] + measures * (limits[:, 1] - limits[:, 0])
    names = _names(one)
    return [
        ", ".join(f"{name} {value:.2f}" for name, value in zip(names, row, strict=True))
        for row in shown.tolist()
    ]
