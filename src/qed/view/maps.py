"""A picture of an archive: which cells are filled, and how good their elites are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qed.swarm.environment import OPTIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from qed.archive.archive import Archive

EMPTY = "#e4e4e4"
COLOURS = "viridis"
# The attributes on the two axes of the QED map, from the outermost level to the innermost.
ACROSS = ("max_speed", "arena", "rab_range")
UPWARDS = ("robots", "obstacles", "proximity_range")
TITLES = {
    "max_speed": "max speed (m/s)",
    "robots": "robots",
    "arena": "arena side (m)",
    "obstacles": "obstacles",
    "rab_range": "range-and-bearing range (m)",
    "proximity_range": "proximity range (m)",
}


def draw(archive: Archive, path: str | Path, dpi: int = 150) -> Path:
    """Draw an archive to an image file, by the kind of its cells; return the file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    kind = archive.space.describe()["kind"]
    figure = {"categories": nested, "grid": slices, "centroids": embedding}[kind](archive)
    figure.savefig(path, dpi=dpi)
    plt.close(figure)
    return Path(path)


def _values(archive: Archive) -> np.ndarray:
    """Return the fitness of all cells, NaN where a cell is empty."""
    values = np.full(archive.cells, np.nan)
    values[archive.occupied] = [elite.fitness for elite in archive.elites()]
    return values


def _title(archive: Archive) -> str:
    settings = archive.header.get("settings", {})
    made = f"{settings['task']}, {settings['algorithm'].upper()}: " if settings else ""
    return (
        f"{made}{archive.coverage:,} of {archive.cells:,} cells, "
        f"best {archive.best.fitness:.3f}, mean {archive.mean:.3f}"
    )


def _range(values: np.ndarray) -> tuple[float, float]:
    """Return the range of the colours, that of the values."""
    return float(np.nanmin(values)), float(np.nanmax(values))


def nested(archive: Archive) -> Figure:
    """Draw the 4096 environments as 4 x 4 grids of 4 x 4 grids of 4 x 4 cells."""
    import matplotlib.pyplot as plt

    names = list(OPTIONS)
    cube = _values(archive).reshape([len(OPTIONS[name]) for name in names])
    order = [names.index(name) for name in (*UPWARDS, *ACROSS)]
    flat = cube.transpose(order).reshape(64, 64)
    figure, axes = plt.subplots(figsize=(8.6, 8.0), layout="constrained")
    low, high = _range(flat)
    image = axes.imshow(flat, origin="lower", cmap=_colours(), vmin=low, vmax=high)
    for width, step in ((2.5, 16), (0.9, 4)):
        for line in range(step, 64, step):
            axes.axvline(line - 0.5, color="white", lw=width)
            axes.axhline(line - 0.5, color="white", lw=width)
    _levels(axes, ACROSS, horizontal=True)
    _levels(axes, UPWARDS, horizontal=False)
    axes.set_title(_title(archive), fontsize=11)
    figure.colorbar(image, ax=axes, label="fitness", shrink=0.7, pad=0.02)
    return figure


def _levels(axes: Axes, names: tuple[str, ...], horizontal: bool) -> None:
    """Label the options: outermost level on every block, inner levels on the first block."""
    axis = axes.xaxis if horizontal else axes.yaxis
    places: list[float] = []
    words: list[str] = []
    for block, value in enumerate(OPTIONS[names[0]]):
        places.append(16 * block + 7.5)
        words.append(f"{value:g}")
    axis.set_ticks(places, words, fontsize=10)
    axis.set_tick_params(length=0)
    inside = "; ".join(
        f"{where}: {TITLES[name]} {', '.join(f'{v:g}' for v in OPTIONS[name])}"
        for where, name in zip(("in a block", "in a small block"), names[1:], strict=True)
    )
    label = f"{TITLES[names[0]]}\n{inside}"
    if horizontal:
        axes.set_xlabel(label, fontsize=9)
    else:
        axes.set_ylabel(label, fontsize=9)


def slices(archive: Archive) -> Figure:
    """Draw a three-dimensional grid as one picture for each value of the first feature."""
    import matplotlib.pyplot as plt

    values = _values(archive).reshape(archive.space.describe()["shape"])
    depth = values.shape[0]
    columns = 4
    lines = -(-depth // columns)
    figure, grid = plt.subplots(
        lines, columns, figsize=(8.6, 2.1 * lines + 0.7), layout="constrained",
        sharex=True, sharey=True, squeeze=False,
    )  # fmt: skip
    low, high = _range(values)
    for k, axes in enumerate(grid.flat):
        if k >= depth:
            axes.axis("off")
            continue
        image = axes.imshow(
            values[k].T, origin="lower", extent=(0, 1, 0, 1), cmap=_colours(), vmin=low, vmax=high
        )
        axes.set_title(f"uniformity {k / depth:.2f}", fontsize=9)
        axes.set_xticks([0, 0.5, 1])
        axes.set_yticks([0, 0.5, 1])
    figure.supxlabel("deviation from the centre", fontsize=10)
    figure.supylabel("coverage", fontsize=10)
    figure.suptitle(_title(archive), fontsize=11)
    figure.colorbar(image, ax=grid, label="fitness", shrink=0.6, pad=0.02)
    return figure


def embedding(archive: Archive) -> Figure:
    """Draw centroids in the plane that shows most of how the elites' behaviours differ."""
    import matplotlib.pyplot as plt

    behaviours = np.array([elite.measures for elite in archive.elites()], float)
    middle = behaviours.mean(0)
    axes_of_most = np.linalg.svd(behaviours - middle, full_matrices=False)[2][:2]
    if len(axes_of_most) < 2:  # a single elite has no plane of its own
        axes_of_most = np.eye(2, behaviours.shape[1])
    shown = (behaviours - middle) @ axes_of_most.T
    spread = ((behaviours - middle) ** 2).sum()
    kept = (shown**2).sum() / spread if spread > 0 else 1.0
    fitness = np.array([elite.fitness for elite in archive.elites()])
    best = int(fitness.argmax())
    figure, axes = plt.subplots(figsize=(7.6, 6.2), layout="constrained")
    x, y = shown.T
    points = axes.scatter(x, y, c=fitness, cmap=COLOURS, s=45, edgecolor="white", lw=0.5)
    axes.scatter(
        x[best], y[best], s=170, facecolor="none", edgecolor="black", lw=1.5, label="best elite"
    )
    axes.set_xlabel("first principal component of the elites' behaviour")
    axes.set_ylabel("second principal component")
    axes.set_title(f"{_title(archive)}\nthe plane shows {kept:.0%} of the variance", fontsize=11)
    axes.legend(loc="upper right", frameon=False)
    figure.colorbar(points, ax=axes, label="fitness")
    return figure


def _colours() -> Any:
    """Return the colours, with grey for empty cells."""
    import matplotlib

    return matplotlib.colormaps[COLOURS].with_extremes(bad=EMPTY)
