"""A picture of an archive: which cells are filled, and how good their elites are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qed.swarm.environment import PAPER, Environment
from qed.view import cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from qed.archive.archive import Archive

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

    figure = _drawing(archive)(archive)
    figure.savefig(path, dpi=dpi)
    plt.close(figure)
    return Path(path)


def _drawing(archive: Archive) -> Callable[[Archive], Figure]:
    """Return what draws an archive: swarms' maps have a form of their own."""
    space = archive.space.describe()
    if space["kind"] == "centroids":
        return embedding
    shape = space["shape"]
    if space["kind"] == "grid":
        hbd = archive.header.get("settings", {}).get("algorithm") == "hbd"
        return slices if hbd and len(shape) == 3 else cells.picture
    swarms = "options" not in space and "domain" not in archive.header
    return nested if swarms and shape == [len(o) for o in PAPER.values()] else cells.picture


def _range(values: np.ndarray) -> tuple[float, float]:
    """Return the range of the colours, that of the values."""
    return float(np.nanmin(values)), float(np.nanmax(values))


def nested(archive: Archive) -> Figure:
    """Draw the 4096 environments as 4 x 4 grids of 4 x 4 grids of 4 x 4 cells."""
    import matplotlib.pyplot as plt

    names = list(PAPER)
    cube = cells.values(archive).reshape([len(PAPER[name]) for name in names])
    order = [names.index(name) for name in (*UPWARDS, *ACROSS)]
    flat = cube.transpose(order).reshape(64, 64)
    figure = plt.figure(figsize=(10.4, 8.4))
    axes = figure.add_axes((0.113, 0.125, 0.665, 0.823))
    low, high = _range(flat)
    image = axes.imshow(flat, origin="lower", cmap=cells.colours(), vmin=low, vmax=high)
    for width, step in ((2.5, 16), (0.9, 4)):
        for line in range(step, 64, step):
            axes.axvline(line - 0.5, color="white", lw=width)
            axes.axhline(line - 0.5, color="white", lw=width)
    _levels(axes, ACROSS, horizontal=True)
    _levels(axes, UPWARDS, horizontal=False)
    axes.set_title(cells.title(archive), fontsize=12)
    _mark_normal(axes)
    figure.colorbar(image, cax=figure.add_axes((0.815, 0.45, 0.024, 0.45)), label="fitness")
    _key(figure.add_axes((0.868, 0.125, 0.115, 0.142)))
    return figure


def _levels(axes: Axes, names: tuple[str, ...], horizontal: bool) -> None:
    """Label the options of the two outer levels: large blocks, and the blocks within them."""
    inner = [f"{value:g}" for value in PAPER[names[1]]]
    outer = [f"{value:g}" for value in PAPER[names[0]]]
    axis = axes.xaxis if horizontal else axes.yaxis
    axis.set_ticks([4 * k + 1.5 for k in range(16)], inner * 4, fontsize=8.5)
    axis.set_tick_params(length=0, pad=2)
    label = f"{TITLES[names[1]]}, in each large block"
    if horizontal:
        axes.set_xlabel(label, fontsize=10)
        above = axes.secondary_xaxis(-0.062)
        above.set_xlabel(f"{TITLES[names[0]]}, large blocks", fontsize=11)
        ticks: Any = above.xaxis
    else:
        axes.set_ylabel(label, fontsize=10)
        above = axes.secondary_yaxis(-0.062)
        above.set_ylabel(f"{TITLES[names[0]]}, large blocks", fontsize=11)
        ticks = above.yaxis
    ticks.set_ticks([16 * k + 7.5 for k in range(4)], outer, fontsize=11)
    ticks.set_tick_params(length=0, pad=3)
    for spine in above.spines.values():
        spine.set_visible(False)


def _mark_normal(axes: Axes) -> None:
    """Frame the cell of the normal environment."""
    from matplotlib.patches import Rectangle

    options = dict(zip(PAPER, Environment().options() or (), strict=True))
    x, y = (
        sum(options[name] * size for name, size in zip(level, (16, 4, 1), strict=True))
        for level in (ACROSS, UPWARDS)
    )
    for colour, width in (("white", 4.0), ("#D55E00", 2.0)):
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, ec=colour, lw=width))


def _key(axes: Axes) -> None:
    """Show what the 4 x 4 cells of a small block are."""
    axes.set_xlim(-0.5, 3.5)
    axes.set_ylim(-0.5, 3.5)
    axes.set_aspect("equal")
    for line in (0.5, 1.5, 2.5):
        axes.axvline(line, color="#999999", lw=0.7)
        axes.axhline(line, color="#999999", lw=0.7)
    axes.set_xticks(range(4), [f"{v:g}" for v in PAPER[ACROSS[2]]], fontsize=8)
    axes.set_yticks(range(4), [f"{v:g}" for v in PAPER[UPWARDS[2]]], fontsize=8)
    axes.tick_params(length=0)
    axes.set_xlabel("range and\nbearing (m)", fontsize=9)
    axes.set_ylabel("proximity (m)", fontsize=9)
    axes.set_title("in a small block\n(orange frame: the\nnormal environment)", fontsize=9)


def slices(archive: Archive) -> Figure:
    """Draw a three-dimensional grid as one picture for each value of the first feature."""
    import matplotlib.pyplot as plt

    values = cells.values(archive).reshape(archive.space.describe()["shape"])
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
            values[k].T,
            origin="lower",
            extent=(0, 1, 0, 1),
            cmap=cells.colours(),
            vmin=low,
            vmax=high,
        )
        axes.set_title(f"uniformity {k / depth:.2f}", fontsize=10)
        axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    figure.supxlabel("deviation: mean distance from the centre (0 to 1)", fontsize=11)
    figure.supylabel("coverage: fraction of the fine cells visited", fontsize=11)
    figure.suptitle(cells.title(archive), fontsize=11)
    figure.colorbar(image, ax=grid, label="fitness", shrink=0.6, pad=0.02)
    return figure


def embedding(archive: Archive) -> Figure:
    """Draw elites by their two measures, or in the plane that shows most of how they differ."""
    import matplotlib.pyplot as plt

    behaviours = archive.measures[archive.occupied].astype(float)
    names, share = cells.features(archive), ""
    shown = behaviours
    if len(names) != 2:
        shown, kept = _principal_plane(behaviours)
        names = [
            "first principal component of the elites' behaviour",
            "second principal component",
        ]
        share = f"\nthe plane shows {kept:.0%} of the variance"
    fitness = archive.objective[archive.occupied]
    best = int(fitness.argmax())
    figure, axes = plt.subplots(figsize=(7.6, 6.2), layout="constrained")
    x, y = shown.T
    points = axes.scatter(x, y, c=fitness, cmap=cells.COLOURS, s=45, edgecolor="white", lw=0.5)
    axes.scatter(
        x[best], y[best], s=170, facecolor="none", edgecolor="black", lw=1.5, label="best elite"
    )
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1])
    axes.set_title(f"{cells.title(archive)}{share}", fontsize=11)
    axes.legend(loc="upper right", frameon=False)
    figure.colorbar(points, ax=axes, label="fitness")
    return figure


def _principal_plane(behaviours: np.ndarray) -> tuple[np.ndarray, float]:
    """Return behaviours in the plane of most variance, and which part of it that is."""
    centred = behaviours - behaviours.mean(0)
    plane = np.linalg.svd(centred, full_matrices=False)[2][:2]
    if len(plane) < 2:  # a single elite has no plane of its own
        plane = np.eye(2, behaviours.shape[1])
    shown = centred @ plane.T
    spread = (centred**2).sum()
    return shown, float((shown**2).sum() / spread) if spread > 0 else 1.0
