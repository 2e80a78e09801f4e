"""A picture of an archive: which cells are filled, and how good their elites are.

What is on the axes is what the archive's file says, so archives of any domain have a picture.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from qed.archive.grid import Categories
from qed.errors import integer
from qed.files import user_file
from qed.swarm.environment import PAPER, Environment
from qed.view import map_layout as geometry
from qed.view.map_layout import Axis, Dimension, MapLayout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from qed.archive.archive import Archive

EMPTY = "#e4e4e4"
COLOURS = "viridis"
SIDE = 6.4  # longer side of a map (inches)
SHORTEST = 1.1  # shorter side, at least
MOST_TICKS = 32  # labels along an axis; more are listed below the map
POINTS = 72.0  # of an inch
LETTER = 0.58  # mean width of a letter, in parts of the size of its font
FONT = 8.5  # points of labels
TITLES = {
    "max_speed": "max speed (m/s)",
    "robots": "robots",
    "arena": "arena side (m)",
    "obstacles": "obstacles",
    "rab_range": "range-and-bearing range (m)",
    "proximity_range": "proximity range (m)",
}
HBD = (
    "deviation: mean distance from the centre (0 to 1)",
    "coverage: fraction of the fine cells visited",
)


def draw_map(archive: Archive, path: str | Path, dpi: int = 150) -> Path:
    """Draw the filled cells of an archive and their fitness.

    Parameters
    ----------
    archive : Archive
        Of any domain; what its cells are decides what is drawn.
    path : str or Path
        The image file, png, pdf or svg.
    dpi : int, default 150
        Pixels to an inch, 10 to 1200.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import qed
    >>> qed.draw_map(qed.load_example("patrolling"), "map.png").name
    'map.png'
    """
    dpi = integer("dpi", dpi, 10, 1200)
    # Names are no formulas, whatever is in them.
    with matplotlib.rc_context({"text.parse_math": False}):
        figure = draw_figure(archive)
        drawn = io.BytesIO()  # what draws does not stop well where a file cannot be written
        figure.savefig(drawn, dpi=dpi, format=Path(path).suffix[1:] or "png")
    with user_file(path) as unfinished:
        unfinished.write_bytes(drawn.getvalue())
    return Path(path)


def draw_figure(archive: Archive) -> Figure:
    """Draw an archive by the kind of its cells; maps of swarms have a form of their own."""
    space = archive.space.describe()
    if space["kind"] == "centroids":
        return _draw_points(archive)
    if "options" not in space and geometry.environment_attributes(archive) is not None:
        return _draw_environments(archive)
    dimensions = geometry.dimensions_of(archive)
    if len(dimensions) == 1:
        return _draw_line(archive, dimensions[0])
    if len(dimensions) <= 3 and space["kind"] == "grid":
        return _draw_panels(archive, dimensions)
    return _draw_nested(archive, dimensions)


def _draw_line(archive: Archive, dimension: Dimension) -> Figure:
    """Draw the elites over the only dimension there is."""
    figure = Figure(figsize=(7.6, 4.2), layout="constrained")
    axes = figure.subplots()
    cells, options = archive.occupied, dimension.options
    fitness = archive.objective[cells]
    counted = isinstance(archive.space, Categories)
    [(low, high)] = geometry.ranges(archive)
    place = cells if counted else low + (high - low) * cells / len(options)
    axes.scatter(place, fitness, c=fitness, cmap=COLOURS, s=30, edgecolor="#333333", lw=0.4)
    if counted and len(options) <= MOST_TICKS:
        turn = 90 if _crowded(dimension, len(options), SIDE) else 0
        axes.set_xticks(range(len(options)), options, rotation=turn)
    axes.set_xlabel(dimension.name)
    axes.set_ylabel("fitness")
    axes.set_title(geometry.title(archive), fontsize=11)
    return figure


def _draw_panels(archive: Archive, dimensions: Sequence[Dimension]) -> Figure:
    """Draw a grid of two dimensions, or of three as one panel for each value of the first."""
    hbd = archive.header.get("settings", {}).get("algorithm") == "hbd" and len(dimensions) == 3
    if hbd:
        first = [f"{k / len(dimensions[0].options):.2f}" for k in range(len(dimensions[0].options))]
        rest = [Dimension(name, one.options) for name, one in zip(HBD, dimensions[1:], strict=True)]
        dimensions = [Dimension("uniformity", first), *rest]
    layout = geometry.map_layout(archive, dimensions)
    blocks = [tuple(map(round, block)) for block in layout.blocks]
    columns, lines = (len({block[k] for block in blocks}) for k in (0, 1))
    # A panel alone is large; many share about the same page.
    side = SIDE * 0.8 if len(blocks) == 1 else min(2.3, 9.0 / columns)
    size = (8.6, 2.1 * lines + 0.7) if hbd else (side * columns + 1.6, side * lines + 1.0)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    fitness = archive.objective[archive.occupied]
    image = layout.image(fitness)
    limits: dict[str, Any] = {"vmin": float(fitness.min()), "vmax": float(fitness.max())}
    for k, axes in enumerate(grid.flat):
        if k >= len(blocks):
            axes.axis("off")
            continue
        x, y, wide, high = blocks[k]
        panel = axes.imshow(
            image[y : y + high, x : x + wide], origin="lower", extent=(0, 1, 0, 1),
            cmap=_colours(), **limits,
        )  # fmt: skip
        across, upwards = geometry.ranges(archive)[-2:]
        axes.set_xticks([0, 0.5, 1], _marks(across))
        axes.set_yticks([0, 0.5, 1], _marks(upwards))
        if layout.titles:
            axes.set_title(layout.titles[k], fontsize=10 if hbd else 9)
    figure.supxlabel(layout.across, fontsize=11)
    figure.supylabel(layout.upwards, fontsize=11)
    figure.suptitle(geometry.title(archive), fontsize=11)
    shrink, pad = (0.6, 0.02) if hbd else (0.8, 0.03)
    figure.colorbar(panel, ax=grid, label="fitness", shrink=shrink, pad=pad)
    return figure


def _marks(limits: tuple[float, float]) -> list[str]:
    """Return the numbers at the ends and in the middle of an axis."""
    low, high = limits
    return [f"{value:.3g}" for value in (low, (low + high) / 2, high)]


def _draw_nested(archive: Archive, dimensions: Sequence[Dimension]) -> Figure:
    """Draw cells of many dimensions as blocks of blocks, dimensions across and upwards in turn."""
    layout = geometry.map_layout(archive, dimensions)
    across, upwards = layout.axes
    cell = SIDE / max(layout.width, layout.height)
    width, height = max(cell * layout.width, SHORTEST), max(cell * layout.height, SHORTEST)
    below = _labels(across, width, sideways=True)
    left = _labels(upwards, height, sideways=False)
    notes = _unlabelled(across, len(below), "across") + _unlabelled(upwards, len(left), "upwards")
    foot = 0.2 * len(notes) + 0.15
    room_left, room_below = _room(left), _room(below)
    full = room_left + width + 1.5, foot + room_below + height + 0.75
    figure = Figure(figsize=full)
    corner = room_left / full[0], (foot + room_below) / full[1]
    axes = figure.add_axes((*corner, width / full[0], height / full[1]))
    widths = [2.6 / (1 + 1.6 * level) for level in range(len(dimensions))]
    image = _show_cells(axes, layout, archive, widths, "auto")
    _put(axes, below, height, sideways=True)
    _put(axes, left, width, sideways=False)
    wrapped = textwrap.fill(geometry.title(archive), int(14 * (width + 1.0)))
    axes.set_title(wrapped, fontsize=11, loc="left")
    bar = ((room_left + width + 0.25) / full[0], corner[1], 0.18 / full[0], height / full[1])
    figure.colorbar(image, cax=figure.add_axes(bar), label="fitness")
    for k, words in enumerate(reversed(notes)):
        figure.text(0.1 / full[0], (0.1 + 0.2 * k) / full[1], words, fontsize=FONT)
    return figure


def _show_cells(
    axes: Axes, layout: MapLayout, archive: Archive, widths: Sequence[float], aspect: Any
) -> Any:
    """Draw nested blocks, with white lines of these widths between them; return the image."""
    cells = layout.image(archive.objective[archive.occupied])
    image = axes.imshow(cells, origin="lower", aspect=aspect, cmap=_colours())
    for axis, line in zip(layout.axes, (axes.axvline, axes.axhline), strict=True):
        for level in range(len(axis.sizes) - 1):
            for edge in axis.begins(level)[1:]:
                line(edge - 0.5, color="white", lw=widths[level])
    return image


def _unlabelled(axis: Axis, labelled: int, way: str) -> list[str]:
    """Return what the levels that have no labels are."""
    where = f"{way}, in each block" if labelled else way
    found = []
    for dimension in axis.dimensions[labelled:]:
        listed = textwrap.shorten(", ".join(dimension.options), 70, placeholder=" …")
        found.append(f"{where}: {dimension.name} ({listed})")
    return found


def _crowded(dimension: Dimension, ticks: int, length: float) -> bool:
    """Return whether so many labels are too wide for an axis of this length (inches)."""
    longest = max(map(len, dimension.options))
    return ticks * (longest + 1) * LETTER * FONT / POINTS > length


@dataclass(frozen=True)
class _Label:
    """The labels of a level: how far from the axes they begin, what they need, their places."""

    dimension: Dimension
    begin: float  # inches
    depth: float
    turned: bool
    places: list[float]
    blocks: bool  # whether an option of it is a block of cells


def _labels(axis: Axis, length: float, sideways: bool) -> list[_Label]:
    """Choose which levels get labels along an axis (inches), the innermost nearest to it.

    Returned from the outermost level on.
    """
    ticks = [math.prod(axis.sizes[: level + 1]) for level in range(len(axis.sizes))]
    shown = max(1, sum(count <= MOST_TICKS for count in ticks))
    if ticks[shown - 1] > MOST_TICKS:
        return []
    found: list[_Label] = []
    begin = 0.03
    for level in reversed(range(shown)):
        dimension = axis.dimensions[level]
        turned = sideways and _crowded(dimension, ticks[level], length)
        longest = max(map(len, dimension.options))
        across = longest * LETTER * FONT if turned == sideways else 11.0
        depth = across / POINTS + 0.3
        places = [centre - 0.5 for centre in axis.centres(level)]
        blocks = level < len(axis.sizes) - 1
        found.insert(0, _Label(dimension, begin, depth, turned, places, blocks))
        begin += depth
    return found


def _room(labels: Sequence[_Label]) -> float:
    """Return what labels take beside the axes (inches)."""
    return labels[0].begin + labels[0].depth if labels else 0.3


def _put(axes: Axes, labels: Sequence[_Label], beside: float, sideways: bool) -> None:
    """Draw labels along axes of a size (inches) in the other direction."""
    (axes.set_xticks if sideways else axes.set_yticks)([])
    for label in labels:
        axis = _second_axis(axes, -label.begin / beside, sideways)
        repeated = len(label.places) // len(label.dimension.options)
        names = label.dimension.options * repeated
        axis.set_ticks(label.places, names, rotation=90 if label.turned else 0, fontsize=FONT)
        axis.set_tick_params(length=0, pad=2)
        blocks = ", blocks" if label.blocks else ""
        axis.set_label_text(f"{label.dimension.name}{blocks}", fontsize=10)


def _second_axis(axes: Axes, at: float, sideways: bool) -> Any:
    """Return a further axis without a line beside axes."""
    second = axes.secondary_xaxis(at) if sideways else axes.secondary_yaxis(at)
    for spine in second.spines.values():
        spine.set_visible(False)
    return second.xaxis if sideways else second.yaxis


def _draw_environments(archive: Archive) -> Figure:
    """Draw the paper's 4096 environments as 4 x 4 grids of 4 x 4 grids of 4 x 4 cells."""
    dimensions = [
        Dimension(TITLES[name], [f"{value:g}" for value in options])
        for name, options in PAPER.items()
    ]
    layout = geometry.map_layout(archive, dimensions, list(PAPER))
    figure = Figure(figsize=(10.4, 8.4))
    axes = figure.add_axes((0.113, 0.125, 0.665, 0.823))
    image = _show_cells(axes, layout, archive, (2.5, 0.9), "equal")
    for axis, sideways in zip(layout.axes, (True, False), strict=True):
        outer, inner = axis.dimensions[:2]
        ticks: Any = axes.xaxis if sideways else axes.yaxis
        ticks.set_ticks([at - 0.5 for at in axis.centres(1)], inner.options * 4, fontsize=FONT)
        ticks.set_tick_params(length=0, pad=2)
        ticks.set_label_text(f"{inner.name}, in each large block", fontsize=10)
        above = _second_axis(axes, -0.062, sideways)
        above.set_label_text(f"{outer.name}, large blocks", fontsize=11)
        above.set_ticks([at - 0.5 for at in axis.centres(0)], outer.options, fontsize=11)
        above.set_tick_params(length=0, pad=3)
    axes.set_title(geometry.title(archive), fontsize=12)
    options = dict(zip(PAPER, Environment().options() or (), strict=True))
    x, y = (
        sum(options[name] * step for name, step in zip(names, axis.steps, strict=True))
        for names, axis in zip((geometry.ACROSS, geometry.UPWARDS), layout.axes, strict=True)
    )
    for colour, width in (("white", 4.0), ("#D55E00", 2.0)):
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, ec=colour, lw=width))
    figure.colorbar(image, cax=figure.add_axes((0.815, 0.45, 0.024, 0.45)), label="fitness")
    _draw_key(figure.add_axes((0.868, 0.125, 0.115, 0.142)), layout)
    return figure


def _draw_key(axes: Axes, layout: MapLayout) -> None:
    """Show what the 4 x 4 cells of a small block are."""
    axes.set_xlim(-0.5, 3.5)
    axes.set_ylim(-0.5, 3.5)
    axes.set_aspect("equal")
    for line in (0.5, 1.5, 2.5):
        axes.axvline(line, color="#999999", lw=0.7)
        axes.axhline(line, color="#999999", lw=0.7)
    across, upwards = (axis.dimensions[-1].options for axis in layout.axes)
    axes.set_xticks(range(4), across, fontsize=8)
    axes.set_yticks(range(4), upwards, fontsize=8)
    axes.tick_params(length=0)
    axes.set_xlabel("range and\nbearing (m)", fontsize=9)
    axes.set_ylabel("proximity (m)", fontsize=9)
    axes.set_title("in a small block\n(orange frame: the\nnormal environment)", fontsize=9)


def _draw_points(archive: Archive) -> Figure:
    """Draw elites by their two measures, or in the plane that shows most of how they differ."""
    points, names, share = geometry.embedding(archive)
    shown = "" if share is None else f"\nthe plane shows {share:.0%} of the variance"
    fitness = archive.objective[archive.occupied]
    best = int(fitness.argmax())
    figure = Figure(figsize=(7.6, 6.2), layout="constrained")
    axes = figure.subplots()
    x, y = points.T
    drawn = axes.scatter(x, y, c=fitness, cmap=COLOURS, s=45, edgecolor="white", lw=0.5)
    ring: dict[str, Any] = {"facecolor": "none", "edgecolor": "black", "lw": 1.5}
    axes.scatter(x[best], y[best], s=170, label="best elite", **ring)
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1])
    axes.set_title(f"{geometry.title(archive)}{shown}", fontsize=11)
    axes.legend(loc="upper right", frameon=False)
    figure.colorbar(drawn, ax=axes, label="fitness")
    return figure


def _colours() -> Any:
    """Return the colours, with grey for empty cells."""
    return matplotlib.colormaps[COLOURS].with_extremes(bad=EMPTY)
