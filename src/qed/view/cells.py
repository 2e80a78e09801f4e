"""Pictures of archives of any domain: what is on the axes is what the archive's file tells."""

from __future__ import annotations

import contextlib
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from qed.archive.grid import Categories, Environments
from qed.screen import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from qed.archive.archive import Archive

EMPTY = "#e4e4e4"
COLOURS = "viridis"
SIDE = 6.4  # longer side of a map (inches)
LEAST = 1.1  # shorter side, at least
MOST_TICKS = 32  # labels along an axis, more are told in words
POINTS = 72.0  # of an inch
LETTER = 0.58  # mean width of a letter, in parts of the size of its font


@dataclass(frozen=True)
class Level:
    """A dimension of cells: its name, and what its options are called."""

    name: str
    options: list[str]


def picture(archive: Archive) -> Figure:
    """Draw an archive over a grid or categories of any number of dimensions."""
    dimensions = levels(archive)
    measured = not isinstance(archive.space, Categories)
    if len(dimensions) == 1:
        return _line(archive, dimensions[0], measured)
    if measured and len(dimensions) <= 3:
        return _panels(archive, dimensions)
    return _nested(archive, dimensions)


def features(archive: Archive) -> list[str]:
    """Return the names of the measures, as the file tells them or by their numbers."""
    told = archive.header.get("features")
    count = archive.space.dimensions
    if isinstance(told, list) and len(told) == count:
        return [_short(name, 40) for name in told]
    return [f"measure {k + 1}" for k in range(count)]


def ranges(archive: Archive) -> list[tuple[float, float]]:
    """Return which values of each measure are 0 and 1, as the file tells them."""
    told = archive.header.get("ranges")
    count = archive.space.dimensions
    with contextlib.suppress(TypeError, ValueError):
        found = [(float(low), float(high)) for low, high in told or ()]
        if len(found) == count:
            return found
    return [(0.0, 1.0)] * count


def _marks(limits: tuple[float, float]) -> list[str]:
    """Return what stands at the ends and in the middle of an axis."""
    low, high = limits
    return [f"{value:.3g}" for value in (low, (low + high) / 2, high)]


def levels(archive: Archive) -> list[Level]:
    """Return the dimensions of a grid, of categories or of environments."""
    space: Any = archive.space
    if isinstance(space, Environments):
        return [
            Level(_short(name, 40), [_short(option, 20) for option in options])
            for name, options in space.options.items()
        ]
    counted = isinstance(space, Categories)
    return [
        Level(
            name,
            [str(k) if counted else f"{low + (high - low) * k / size:.3g}" for k in range(size)],
        )
        for name, size, (low, high) in zip(
            features(archive), space.shape, ranges(archive), strict=True
        )
    ]


def _short(value: Any, width: int) -> str:
    text = f"{value:g}" if isinstance(value, float) else printable(value)
    short = text if len(text) <= width else f"{text[: width - 1]}…"
    return short.replace("$", r"\$")  # no formula


def values(archive: Archive) -> np.ndarray:
    """Return the fitness of all cells, NaN where a cell is empty."""
    return np.array(archive.objective)


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


def _line(archive: Archive, level: Level, measured: bool) -> Figure:
    """Draw the elites over the only dimension there is."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.6, 4.2), layout="constrained")
    cells = archive.occupied
    fitness = archive.objective[cells]
    [(low, high)] = ranges(archive)
    place = low + (high - low) * cells / len(level.options) if measured else cells
    axes.scatter(place, fitness, c=fitness, cmap=COLOURS, s=30, edgecolor="#333333", lw=0.4)
    if not measured and len(level.options) <= MOST_TICKS:
        upright = _crowded(level, len(level.options), SIDE)
        turn = 90 if upright else 0
        axes.set_xticks(range(len(level.options)), level.options, rotation=turn)
    axes.set_xlabel(level.name)
    axes.set_ylabel("fitness")
    axes.set_title(title(archive), fontsize=11)
    return figure


def _panels(archive: Archive, dimensions: Sequence[Level]) -> Figure:
    """Draw a grid of two dimensions, or of three as one panel for each value of the first."""
    import matplotlib.pyplot as plt

    shape = [len(level.options) for level in dimensions]
    cube = values(archive).reshape([1, *shape] if len(shape) == 2 else shape)
    columns = math.ceil(math.sqrt(len(cube)))
    lines = -(-len(cube) // columns)
    # A panel alone is large; many share about the same page.
    side = SIDE * 0.8 if len(cube) == 1 else min(2.3, 9.0 / columns)
    figure, grid = plt.subplots(
        lines, columns, figsize=(side * columns + 1.6, side * lines + 1.0), layout="constrained",
        sharex=True, sharey=True, squeeze=False,
    )  # fmt: skip
    limits = float(np.nanmin(cube)), float(np.nanmax(cube))
    across, upwards = ranges(archive)[-2:]
    for k, axes in enumerate(grid.flat):
        if k >= len(cube):
            axes.axis("off")
            continue
        image = axes.imshow(
            cube[k].T, origin="lower", extent=(0, 1, 0, 1), cmap=colours(),
            vmin=limits[0], vmax=limits[1],
        )  # fmt: skip
        axes.set_xticks([0, 0.5, 1], _marks(across))
        axes.set_yticks([0, 0.5, 1], _marks(upwards))
        if len(cube) > 1:
            axes.set_title(f"{dimensions[0].name} {dimensions[0].options[k]}", fontsize=9)
    figure.supxlabel(dimensions[-2].name, fontsize=11)
    figure.supylabel(dimensions[-1].name, fontsize=11)
    figure.suptitle(title(archive), fontsize=11)
    figure.colorbar(image, ax=grid, label="fitness", shrink=0.8, pad=0.03)
    return figure


def _nested(archive: Archive, dimensions: Sequence[Level]) -> Figure:
    """Draw cells of many dimensions as blocks of blocks, dimensions across and upwards in turn."""
    import matplotlib.pyplot as plt

    shape = [len(level.options) for level in dimensions]
    across, upwards = dimensions[0::2], dimensions[1::2]
    order = [*range(1, len(shape), 2), *range(0, len(shape), 2)]
    rows = math.prod(len(level.options) for level in upwards)
    flat = values(archive).reshape(shape).transpose(order).reshape(rows, -1)
    columns = flat.shape[1]
    cell = SIDE / max(rows, columns)
    width, height = max(cell * columns, LEAST), max(cell * rows, LEAST)
    below = _labels(across, width, sideways=True)
    left = _labels(upwards, height, sideways=False)
    notes = _in_words(across, below.told, "across") + _in_words(upwards, left.told, "upwards")
    foot = 0.2 * len(notes) + 0.15
    full = left.room + width + 1.5, foot + below.room + height + 0.75
    figure = plt.figure(figsize=full)
    axes = figure.add_axes(
        (left.room / full[0], (foot + below.room) / full[1], width / full[0], height / full[1])
    )
    image = axes.imshow(flat, origin="lower", aspect="auto", cmap=colours())
    for some, line in ((across, axes.axvline), (upwards, axes.axhline)):
        for depth, step in enumerate(_steps(some)[:-1]):
            for edge in range(step, columns if some is across else rows, step):
                line(edge - 0.5, color="white", lw=2.6 / (1 + 1.6 * depth))
    below.put(axes)
    left.put(axes)
    axes.set_title(textwrap.fill(title(archive), int(14 * (width + 1.0))), fontsize=11, loc="left")
    bar = (left.room + width + 0.25) / full[0], (foot + below.room) / full[1]
    tall = height / full[1]
    figure.colorbar(image, cax=figure.add_axes((*bar, 0.18 / full[0], tall)), label="fitness")
    for k, words in enumerate(reversed(notes)):
        figure.text(0.1 / full[0], (0.1 + 0.2 * k) / full[1], words, fontsize=8.5)
    return figure


def _steps(some: Sequence[Level]) -> list[int]:
    """Return how many cells an option of each level takes, from the outermost to the innermost."""
    sizes = [len(level.options) for level in some]
    return [math.prod(sizes[k + 1 :]) for k in range(len(sizes))]


def _in_words(some: Sequence[Level], labelled: int, way: str) -> list[str]:
    """Return what the levels that have no labels are."""
    where = f"{way}, in each block" if labelled else way
    found = []
    for level in some[labelled:]:
        listed = textwrap.shorten(", ".join(level.options), 70, placeholder=" …")
        found.append(f"{where}: {level.name} ({listed})")
    return found


def _crowded(level: Level, ticks: int, length: float) -> bool:
    """Tell whether so many labels are too wide for an axis of this length (inches)."""
    longest = max(map(len, level.options))
    return ticks * (longest + 1) * LETTER * 8.5 / POINTS > length


@dataclass(frozen=True)
class _Label:
    """The labels of a level: how far from the axes they begin, and whether they are turned."""

    level: Level
    begin: float  # inches
    turned: bool
    repeated: int
    step: int


@dataclass(frozen=True)
class _Labels:
    """The labels along an axis: those of the innermost level that has any are nearest to it."""

    all: list[_Label]
    sideways: bool

    @property
    def told(self) -> int:
        """How many levels have labels, from the outermost."""
        return len(self.all)

    @property
    def room(self) -> float:
        """What the labels take (inches)."""
        return (self.all[0].begin + _depth(self.all[0], self.sideways)) if self.all else 0.3

    def put(self, axes: Axes) -> None:
        """Draw them."""
        box = axes.get_position()
        page = axes.figure.get_size_inches()  # type: ignore[union-attr]
        beside = box.height * page[1] if self.sideways else box.width * page[0]
        (axes.set_xticks if self.sideways else axes.set_yticks)([])
        for label in self.all:
            at = -label.begin / beside
            own = axes.secondary_xaxis(at) if self.sideways else axes.secondary_yaxis(at)
            axis: Any = own.xaxis if self.sideways else own.yaxis
            places = [
                (k + 0.5) * label.step - 0.5
                for k in range(label.repeated * len(label.level.options))
            ]
            turn = 90 if label.turned else 0
            names = label.level.options * label.repeated
            axis.set_ticks(places, names, rotation=turn, fontsize=8.5)
            axis.set_tick_params(length=0, pad=2)
            blocks = ", blocks" if label.step > 1 else ""
            axis.set_label_text(f"{label.level.name}{blocks}", fontsize=10)
            for spine in own.spines.values():
                spine.set_visible(False)


def _depth(label: _Label, sideways: bool) -> float:
    """Return what labels and their name take, away from the axes (inches)."""
    longest = max(map(len, label.level.options))
    along = label.turned if sideways else not label.turned
    return (longest * LETTER * 8.5 if along else 11.0) / POINTS + 0.3


def _labels(some: Sequence[Level], length: float, sideways: bool) -> _Labels:
    """Choose which levels get labels along an axis (inches), and where."""
    sizes = [len(level.options) for level in some]
    shown = 1
    while shown < len(some) and math.prod(sizes[: shown + 1]) <= MOST_TICKS:
        shown += 1
    found: list[_Label] = []
    begin = 0.03
    for k in reversed(range(shown)):
        ticks = math.prod(sizes[: k + 1])
        if ticks > MOST_TICKS:
            return _Labels([], sideways)
        turned = sideways and _crowded(some[k], ticks, length)
        label = _Label(some[k], begin, turned, math.prod(sizes[:k]), _steps(some)[k])
        found.insert(0, label)
        begin += _depth(label, sideways)
    return _Labels(found, sideways)


def colours() -> Any:
    """Return the colours, with grey for empty cells."""
    import matplotlib

    return matplotlib.colormaps[COLOURS].with_extremes(bad=EMPTY)
