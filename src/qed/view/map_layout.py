"""Where the cells of an archive lie on its map, for pictures and for the explorer alike.

Lengths are in cells, x to the right and y upwards.  A picture has no room between blocks, so its
places are the indices of an image; the explorer's map is ``spaced``.
"""

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from qed.archive.archive import Archive
from qed.archive.grid import Categories, Environments
from qed.errors import InputError
from qed.swarm.environment import PAPER, Attributes
from qed.text import printable

# The attributes on the two axes of a map of environments, from the outermost level inwards.
ACROSS = ("max_speed", "arena", "rab_range")
UPWARDS = ("robots", "obstacles", "proximity_range")
GAPS = (0.35, 1.1, 2.2, 3.3)  # between blocks, from the innermost level to the outermost
PANEL_GAP = 0.06, 0.16  # between panels, in parts of their width and height
SQUARE = 100.0  # side of a map of points


@dataclass(frozen=True)
class Dimension:
    """A dimension of cells: its name, and what its options are called."""

    name: str
    options: list[str]


@dataclass(frozen=True)
class Axis:
    """The dimensions along a side of a map, from the outermost blocks to the innermost cells."""

    dimensions: Sequence[Dimension]
    spaced: bool = False

    @cached_property
    def sizes(self) -> list[int]:
        """Options of each level."""
        return [len(dimension.options) for dimension in self.dimensions]

    @cached_property
    def steps(self) -> list[float]:
        """How far the options of each level lie apart."""
        steps = [1.0]
        for level in range(len(self.sizes) - 1, 0, -1):
            steps.insert(0, steps[0] * self.sizes[level] + self._gap(level - 1))
        return steps

    def _gap(self, level: int) -> float:
        """Return the room between the blocks of a level."""
        inwards = len(self.sizes) - 2 - level
        return GAPS[min(inwards, len(GAPS) - 1)] if self.spaced and inwards >= 0 else 0.0

    def begins(self, level: int) -> list[float]:
        """Return where the options of a level begin, once in each block of the level above."""
        begins = [0.0]
        for size, step in zip(self.sizes[: level + 1], self.steps, strict=False):
            begins = [begin + k * step for begin in begins for k in range(size)]
        return begins

    def centres(self, level: int) -> list[float]:
        """Return the middles of the options of a level."""
        half = (self.steps[level] - self._gap(level)) / 2
        return [begin + half for begin in self.begins(level)]

    @property
    def corners(self) -> list[float]:
        """Where the innermost blocks begin."""
        return self.begins(len(self.sizes) - 2)

    @property
    def length(self) -> float:
        """Of the whole side."""
        return self.corners[-1] + self.sizes[-1]


@dataclass
class MapLayout:
    """Where the filled cells of an archive are drawn, in the order of their numbers."""

    kind: str  # "cells" or "points"
    x: np.ndarray  # the left edge of a cell, or a point
    y: np.ndarray
    width: float
    height: float
    across: str  # names of the axes
    upwards: str
    blocks: list[list[float]]  # x, y, width, height
    titles: list[str] = field(default_factory=list)  # above blocks
    axes: tuple[Axis, ...] = ()  # across and upwards
    gridded: bool = False  # whether these are measures, in even steps

    def image(self, values: np.ndarray) -> np.ndarray:
        """Return values of the filled cells as an image, NaN where nothing is; not if spaced."""
        image = np.full((round(self.height), round(self.width)), np.nan)
        image[self.y.astype(int), self.x.astype(int)] = values
        return image


def map_layout(
    archive: Archive,
    dimensions: Sequence[Dimension] | None = None,
    attributes: Sequence[str] = (),
    *,
    spaced: bool = False,
) -> MapLayout:
    """Place the filled cells of an archive.

    Parameters
    ----------
    archive : with any kind of cells
    dimensions : of its cells (default: those that the file names)
    attributes : of environments, if these are the dimensions: they have fixed places
    spaced : with room between blocks and panels
    """
    if archive.space.describe()["kind"] == "centroids":
        points, (across, upwards), share = embedding(archive)
        if share is not None:
            across = f"{across} ({share:.0%} of variance in both)"
        return _points(points[:, 0], points[:, 1], across, upwards)
    dimensions = dimensions_of(archive) if dimensions is None else dimensions
    if len(dimensions) == 1:
        cells = archive.occupied
        return _points(cells.astype(float), archive.objective[cells], dimensions[0].name, "fitness")
    shape = [len(dimension.options) for dimension in dimensions]
    index = np.stack(np.unravel_index(archive.occupied, shape), 1)
    if len(dimensions) <= 3 and not isinstance(archive.space, Categories):
        return _panels(dimensions, index, spaced)
    return _nested(dimensions, index, attributes, spaced)


def _nested(
    dimensions: Sequence[Dimension], index: np.ndarray, attributes: Sequence[str], spaced: bool
) -> MapLayout:
    """Place cells of many dimensions as blocks of blocks, dimensions across and upwards in turn."""
    levels = [
        [attributes.index(name) for name in side if name in attributes]
        for side in (ACROSS, UPWARDS)
    ]
    if not all(levels):
        levels = [list(range(first, len(dimensions), 2)) for first in (0, 1)]
    axes = [Axis([dimensions[k] for k in side], spaced) for side in levels]
    x, y = (index[:, side] @ np.array(axis.steps) for side, axis in zip(levels, axes, strict=True))
    across, upwards = axes
    names = [" / ".join(dimension.name for dimension in axis.dimensions) for axis in axes]
    inner = [float(axis.sizes[-1]) for axis in axes]
    blocks = [[left, low, *inner] for left in across.corners for low in upwards.corners]
    return MapLayout(
        "cells", x, y, across.length, upwards.length, names[0], names[1], blocks, axes=tuple(axes)
    )


def _panels(dimensions: Sequence[Dimension], index: np.ndarray, spaced: bool) -> MapLayout:
    """Place a grid of two dimensions, or of three as a panel for each value of the first."""
    axes = tuple(Axis([dimension]) for dimension in dimensions[-2:])
    wide, high = (axis.length for axis in axes)
    first = dimensions[0] if len(dimensions) == 3 else None
    panels = len(first.options) if first else 1
    columns = math.ceil(math.sqrt(panels))
    lines = -(-panels // columns)
    gaps = PANEL_GAP if spaced and panels > 1 else (0.0, 0.0)
    gap_x, gap_y = gaps[0] * wide, gaps[1] * high
    number = np.arange(panels)
    left = (number % columns) * (wide + gap_x)
    low = (lines - 1 - number // columns) * (high + gap_y)
    panel = index[:, 0] if first else np.zeros(len(index), int)
    return MapLayout(
        "cells",
        left[panel] + index[:, -2],
        low[panel] + index[:, -1],
        columns * (wide + gap_x) - gap_x,
        lines * (high + gap_y),  # with room for titles above the upper panels
        dimensions[-2].name,
        dimensions[-1].name,
        blocks=[[x, y, wide, high] for x, y in zip(left.tolist(), low.tolist(), strict=True)],
        titles=[f"{first.name} {option}" for option in first.options] if first else [],
        axes=axes,
        gridded=True,
    )


def _points(x: np.ndarray, y: np.ndarray, across: str, upwards: str) -> MapLayout:
    """Place elites as points in a square, with room around."""

    def scaled(values: np.ndarray) -> np.ndarray:
        low, high = float(values.min()), float(values.max())
        if low == high:
            return np.full(len(values), SQUARE / 2)
        return np.asarray(5.0 + (SQUARE - 10.0) * (values - low) / (high - low))

    blocks = [[0.0, 0.0, SQUARE, SQUARE]]
    return MapLayout("points", scaled(x), scaled(y), SQUARE, SQUARE, across, upwards, blocks)


def embedding(archive: Archive) -> tuple[np.ndarray, list[str], float | None]:
    """Return elites (n, 2) by their two measures, or in the plane of most variance.

    Also the names of the axes, and which fraction of the variance the plane shows.
    """
    measures = archive.measures[archive.occupied].astype(float)
    names = features(archive)
    if len(names) == 2:
        return measures, names, None
    centred = measures - measures.mean(0)
    plane = np.linalg.svd(centred, full_matrices=False)[2][:2]
    if len(plane) < 2:  # a single elite spans no plane
        plane = np.eye(2, measures.shape[1])
    shown = centred @ plane.T
    spread = (centred**2).sum()
    share = float((shown**2).sum() / spread) if spread > 0 else 1.0
    names = ["first principal component of the elites' behaviour", "second principal component"]
    return shown, names, share


# What a file says of its cells


def features(archive: Archive) -> list[str]:
    """Return the names of the measures, as the file has them, or by their numbers."""
    names = archive.header.get("features")
    count = archive.space.dimensions
    if isinstance(names, list) and len(names) == count:
        return [_short(name, 40) for name in names]
    return [f"measure {k + 1}" for k in range(count)]


def ranges(archive: Archive) -> list[tuple[float, float]]:
    """Return which values of each measure are 0 and 1, as the file has them."""
    count = archive.space.dimensions
    with contextlib.suppress(TypeError, ValueError):
        found = [(float(low), float(high)) for low, high in archive.header.get("ranges") or ()]
        if len(found) == count:
            return found
    return [(0.0, 1.0)] * count


def dimensions_of(archive: Archive, names: Sequence[str] | None = None) -> list[Dimension]:
    """Return the dimensions of a grid, of categories or of environments."""
    space: Any = archive.space
    if isinstance(space, Environments):
        return [
            Dimension(_short(name, 40), [_short(option, 20) for option in options])
            for name, options in space.options.items()
        ]
    found = []
    for name, size, (low, high) in zip(
        names or features(archive), space.shape, ranges(archive), strict=True
    ):
        values = [low + (high - low) * k / size for k in range(size)]
        counted = isinstance(space, Categories)
        found.append(
            Dimension(name, [str(k) if counted else f"{v:.3g}" for k, v in enumerate(values)])
        )
    return found


def environment_attributes(archive: Archive) -> Attributes | None:
    """Return the attributes of environments whose options cells are; None of other archives."""
    space = archive.space.describe()
    if space["kind"] != "categories" or "domain" in archive.header:
        return None
    try:
        table = Attributes(space.get("options", PAPER), archive.robot)
    except InputError:  # options of another domain
        return None
    return table if list(table.shape) == list(space["shape"]) else None


def title(archive: Archive) -> str:
    """Return what an archive is and its numbers, in one line or two."""
    settings = archive.header.get("settings", {})
    swarms = str(settings.get("task", "")), str(settings.get("algorithm", "")).upper()
    made = settings.get("domain") or ", ".join(filter(None, swarms))
    numbers = (
        f"{len(archive):,} of {archive.cells:,} cells, "
        f"best {archive.best.fitness:.3f}, mean {archive.mean:.3f}"
    )
    return f"{_short(made, 60)}: {numbers}" if made else numbers


def _short(value: Any, width: int) -> str:
    text = f"{value:g}" if isinstance(value, float) else printable(value)
    return text if len(text) <= width else f"{text[: width - 1]}…"
