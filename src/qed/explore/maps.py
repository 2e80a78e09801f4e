"""An archive and its map as data: where its cells are drawn, and what they are in words.

Whatever the archive's cells are, the page gets places, blocks behind them, labels, and attributes
to filter by.
"""

import math
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from qed.archive.cvt import Centroids
from qed.archive.grid import Categories
from qed.definitions import known
from qed.explore.sources import ArchiveView
from qed.explore.state import STARTS
from qed.swarm.environment import Environment
from qed.swarm.faults import Fault
from qed.swarm.tasks import Task
from qed.view import map_layout
from qed.view.map_layout import Dimension, MapLayout
from qed.view.words import attribute_in_words, behaviour_in_words

MOST_LABELS = 20  # along a side, of one level
FEW_LABELS = 8  # along a side of a grid
LABELLED_LEVELS = 2  # of the blocks along a side
MOST_OPTIONS = 16  # of an attribute to filter by
MOST_MEASURES = 12  # that are listed for a cell
SPIRIT = 1024  # measures of a SPIRIT archive
# Attributes of environments: words, the unit that is shown and how many of it are one of ours; of a
# slider the lowest and the highest value, and its step, in the unit that is shown.
ATTRIBUTES = {
    "max_speed": ("max speed", "cm/s", 100.0, (1, 30, 1)),
    "robots": ("robots", "", 1.0, (1, 40, 1)),
    "arena": ("arena", "m", 1.0, (1.5, 8, 0.5)),
    "obstacles": ("obstacles", "", 1.0, (0, 12, 1)),
    "rab_range": ("hears within", "m", 1.0, (0.25, 4, 0.25)),
    "proximity_range": ("sees within", "cm", 100.0, (2, 50, 0.5)),
}
VIRIDIS = (
    "#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70",
    "#7ad151", "#bddf26", "#fde725",
)  # fmt: skip


def as_data(one: ArchiveView) -> dict[str, Any]:
    """Return all that the page needs to draw an archive's map, and to describe its cells."""
    archive, filled = one.archive, one.occupied
    dimensions = None if isinstance(archive.space, Centroids) else _dimensions(one)
    layout = map_layout.map_layout(archive, dimensions, list(one.attributes or ()), spaced=True)
    return {
        "title": map_layout.title(archive),
        "kind": layout.kind,
        "cells": filled.tolist(),
        "fitness": _rounded(archive.objective[filled], 4),
        "x": _rounded(layout.x),
        "y": _rounded(layout.y),
        "width": round(layout.width, 3),
        "height": round(layout.height, 3),
        "blocks": _rounded(layout.blocks),
        "labels": _labels(layout),
        "finest": _finest(layout),
        "titles": [
            {"x": x + wide / 2, "y": y + high, "text": text}
            for (x, y, wide, high), text in zip(layout.blocks, layout.titles, strict=False)
        ],
        "across": layout.across,
        "upwards": layout.upwards,
        "attributes": _attributes(one),
        "words": _words(one),
        "normal": one.normal_cell,
        "hears": one.hears.tolist(),
        "environments": one.attributes is not None,
    }


def page_data(views: Sequence[ArchiveView]) -> dict[str, Any]:
    """Return what the page has to know once: names, colours, sliders, and what there is to see."""
    return {
        "archives": [about(one) for one in views],
        "tasks": [{"name": str(task), "words": task.meaning} for task in known(Task).values()],
        "faults": [str(fault) for fault in known(Fault).values()],
        "starts": STARTS,
        "attributes": [
            {
                "name": name,
                "words": words,
                "unit": unit,
                "scale": scale,
                "range": limits,
                "normal": getattr(Environment(), name),
            }
            for name, (words, unit, scale, limits) in ATTRIBUTES.items()
        ],
        "viridis": VIRIDIS,
    }


def about(one: ArchiveView) -> dict[str, Any]:
    """Return what the page has to know of an archive before it draws its map."""
    kit = one.kit
    return {
        "name": one.name,
        "task": str(one.task),
        "seconds": one.seconds,
        "controllers": len(one.occupied),
        "archive": bool(one.source),
        "kit": kit
        and {
            "environment": {name: getattr(kit.environment, name) for name in ATTRIBUTES},
            "task": kit.task,
            "cells": kit.cells.tolist(),
        },
    }


def _rounded(values: Any, digits: int = 3) -> list[Any]:
    rounded: list[Any] = np.round(np.asarray(values, float), digits).tolist()
    return rounded


def _dimensions(one: ArchiveView) -> list[Dimension]:
    """Return the dimensions of the cells of an archive, in the page's words."""
    if one.attributes is None:
        return map_layout.dimensions_of(one.archive, _names(one))
    return [_attribute(*item) for item in one.attributes.items()]


def _attribute(name: str, options: Sequence[float]) -> Dimension:
    words, unit, scale, _ = ATTRIBUTES[name]
    return Dimension(f"{words} ({unit})" if unit else words, [f"{scale * o:g}" for o in options])


def _labels(layout: MapLayout) -> list[dict[str, Any]]:
    """Return labels along both sides: of the two outer levels of blocks, or of some grid lines."""
    labels: list[dict[str, Any]] = []
    if layout.titles:  # panels are too small for labels
        return labels
    for side, axis in zip(("bottom", "left"), layout.axes, strict=False):
        for level, dimension in enumerate(axis.dimensions[:LABELLED_LEVELS]):
            centres = axis.centres(level)
            if len(centres) > MOST_LABELS and not layout.gridded:
                break
            every = math.ceil(len(centres) / FEW_LABELS) if layout.gridded else 1
            labels += [
                {"side": side, "level": level, "at": round(at, 3), "text": text}
                for at, text in zip(centres, cycle(dimension.options), strict=False)
            ][::every]
    return labels


def _finest(layout: MapLayout) -> str:
    """Return in words what the innermost cells of blocks are, which have no room for labels."""
    if layout.gridded or layout.kind == "points":
        return ""
    found = [
        f"{way}: {axis.dimensions[-1].name} {', '.join(axis.dimensions[-1].options)}"
        for way, axis in zip(("from left to right", "from bottom to top"), layout.axes, strict=True)
        if len(axis.dimensions) > LABELLED_LEVELS
        or len(axis.centres(len(axis.dimensions) - 1)) > MOST_LABELS
    ]
    return f"In the smallest blocks, {'; '.join(found)}." if found else ""


# Words and attributes


def _names(one: ArchiveView) -> list[str]:
    """Return what the measures are called."""
    names = map_layout.features(one.archive)
    algorithm = one.made.get("algorithm")
    if algorithm in ("hbd", "sdbc") and names[0] == "measure 1":
        from qed.descriptors import HBD, SDBC

        usual = {"hbd": HBD, "sdbc": SDBC}[algorithm]
        return list(usual) if len(usual) == len(names) else names
    return names


def _attributes(one: ArchiveView) -> list[dict[str, Any]]:
    """Return what cells can be filtered by: options, or thirds of a measure's range."""
    archive, filled = one.archive, one.occupied
    measures = archive.measures[filled].astype(float)
    if isinstance(archive.space, Categories):
        return [
            {
                "name": level.name,
                "options": level.options,
                "words": _option_words(one, level, k),
                "values": measures[:, k].astype(int).tolist(),
            }
            for k, level in enumerate(_dimensions(one))
            if len(level.options) <= MOST_OPTIONS
        ]
    if measures.shape[1] > MOST_MEASURES:
        return []
    found = []
    limits = map_layout.ranges(archive)
    for name, column, (low, high) in zip(_names(one), measures.T, limits, strict=True):
        third = np.clip((column * 3).astype(int), 0, 2)
        edges = np.linspace(low, high, 4)
        options = [f"{edges[k]:.2g} to {edges[k + 1]:.2g}" for k in range(3)]
        found.append({"name": name, "options": options, "words": None, "values": third.tolist()})
    return found


def _option_words(one: ArchiveView, level: Dimension, number: int) -> list[str]:
    """Return the options of a dimension, which it is by number, in words."""
    if one.attributes is None:
        return [f"{level.name} {option}" for option in level.options]
    name, options = list(one.attributes.items())[number]
    return [attribute_in_words(name, option) for option in options]


def _words(one: ArchiveView) -> list[str] | None:
    """Return the behaviour of each filled cell in words; None where attributes say it."""
    archive = one.archive
    if isinstance(archive.space, Categories):
        return None
    measures = archive.measures[one.occupied].astype(float)
    if one.made.get("algorithm") == "spirit" and measures.shape[1] == SPIRIT:
        return [behaviour_in_words(row) for row in measures]
    if measures.shape[1] > MOST_MEASURES:
        return ["" for _ in measures]
    limits = np.array(map_layout.ranges(archive))
    shown = limits[:, 0] + measures * (limits[:, 1] - limits[:, 0])
    names = _names(one)
    return [
        ", ".join(f"{name} {value:.2f}" for name, value in zip(names, row, strict=True))
        for row in shown.tolist()
    ]
