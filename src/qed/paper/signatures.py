"""The paper's three signatures: how impact, resilience and diversity go together."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from qed import paper
from qed.paper.measures import STRONGEST, in_signatures
from qed.study import statistics
from qed.study.by_map import over_replicates, slopes
from qed.study.results import Results

GRID = 100  # cells of the density along each axis
FEWEST = 5  # points below which a density would only show the kernel
MANY = 300  # points from which they would hide the density
COLOURS = "magma_r"
LABELS = {
    "impact": "impact (fraction of normal performance)",
    "resilience": "resilience (fraction of normal performance)",
    "distance": "distance from the\nnormal behaviour (0 to 1)",
}
DISTANCES = (0.0, 1.0)


@dataclass(frozen=True)
class Window:
    """What a panel shows of the plane."""

    x: tuple[float, float]
    y: tuple[float, float]

    def centres(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the middles of the grid's cells along x and along y."""
        along = (np.arange(GRID) + 0.5) / GRID
        return tuple(low + along * (high - low) for low, high in (self.x, self.y))  # type: ignore[return-value]

    @property
    def cell(self) -> float:
        """Area of a cell of the grid."""
        return (self.x[1] - self.x[0]) * (self.y[1] - self.y[0]) / GRID**2

    def hidden(self, x: np.ndarray, y: np.ndarray) -> int:
        """Return how many points lie outside."""
        within = (x >= self.x[0]) & (x <= self.x[1]) & (y >= self.y[0]) & (y <= self.y[1])
        return int((~within).sum())


def kept(recoveries: pd.DataFrame, algorithm: str) -> tuple[pd.DataFrame, int]:
    """Return an algorithm's recoveries that the signatures show, and how many are left out."""
    own = recoveries[recoveries["algorithm"] == algorithm]
    shown = in_signatures(own)
    return shown, len(own) - len(shown)


def density(x: Any, y: Any, window: Window) -> np.ndarray | None:
    """Return the part of the probability in each cell, [row of y, column of x].

    None if there are too few points, or if they do not spread in both directions.
    """
    from scipy.stats import gaussian_kde

    points = np.vstack([np.asarray(x, float), np.asarray(y, float)])
    if points.shape[1] < FEWEST or (np.ptp(points, axis=1) < 1e-9).any():
        return None
    if abs(statistics.pearson(*points)) > 1 - 1e-9:  # on a line, the kernel has no width
        return None
    across, upwards = np.meshgrid(*window.centres())
    heights = gaussian_kde(points)(np.vstack([across.ravel(), upwards.ravel()]))
    return np.asarray(heights.reshape(GRID, GRID) * window.cell)


def _upper(values: pd.Series) -> float:
    """Return where an axis of impact or resilience ends: at 0.1, or farther if need be."""
    finite = values[np.isfinite(values)]
    highest = finite.max() if len(finite) else 0.0
    return min(max(0.1, math.ceil(round(10 * highest, 6)) / 10), 0.5)


def impact_resilience(results: Results) -> Figure:
    """Draw resilience against impact."""
    data = results.recoveries
    window = Window((STRONGEST, _upper(data["impact"])), (STRONGEST, _upper(data["resilience"])))
    figure = _row(results, "impact", "resilience", window, "slope of resilience on impact")
    for axes in figure.axes[: len(results.algorithms)]:
        low, high = window.x[0], min(window.x[1], window.y[1])
        axes.plot([low, high], [low, high], "--", color="0.35", lw=1.2, label="identity")
    return figure


def diversity_resilience(results: Results) -> Figure:
    """Draw the distance to the normal behaviour against resilience."""
    window = Window((-0.4, _upper(results.recoveries["resilience"])), DISTANCES)
    return _row(results, "resilience", "distance", window)


def diversity_impact(results: Results) -> Figure:
    """Draw the distance to the normal behaviour against impact."""
    window = Window((STRONGEST, _upper(results.recoveries["impact"])), DISTANCES)
    return _row(results, "impact", "distance", window, "slope of diversity on impact")


def _row(results: Results, x: str, y: str, window: Window, slope: str = "") -> Figure:
    """Draw a panel for each algorithm, all with one scale of colours."""
    names = results.algorithms
    figure = Figure(figsize=(max(2.5 * len(names) + 1.8, 5.0), 3.9), layout="constrained")
    grid = figure.subplots(1, len(names), sharex=True, sharey=True, squeeze=False)[0]
    points = {name: kept(results.recoveries, name) for name in names}
    masses = {name: density(own[x], own[y], window) for name, (own, _) in points.items()}
    most = max((float(mass.max()) for mass in masses.values() if mass is not None), default=0.0)
    image = None
    for axes, name in zip(grid, names, strict=True):
        own, left_out = points[name]
        image = _panel(axes, own[x], own[y], window, masses[name], most) or image
        title = [f"n = {len(own):,}, {left_out:,} left out"]
        if slope:
            title += _slope(own, y, slope, name)
        hidden = window.hidden(own[x].to_numpy(), own[y].to_numpy())
        if hidden:
            title.append(f"{hidden:,} outside the axes")
        axes.set_title(name.upper() + "\n" + "\n".join(title), fontsize=11.5, linespacing=1.3)
    grid[0].set_ylabel(LABELS[y].replace(" (fraction", "\n(fraction"), fontsize=13)
    figure.supxlabel(LABELS[x], fontsize=13)
    if image is not None:
        bar = figure.colorbar(image, ax=list(grid), pad=0.015, aspect=25)
        bar.set_label("probability per grid cell (%)", fontsize=12)
        bar.ax.tick_params(labelsize=11)
    return figure


def _slope(own: pd.DataFrame, column: str, metric: str, algorithm: str) -> list[str]:
    """Return the slope of a column on impact, with its interval, and the paper's."""
    ours = slopes(column)(own)
    lines = ["slope unknown" if math.isnan(ours) else f"slope {ours:.2f}"]
    found = over_replicates(own, slopes(column))
    lines[0] += f" [{found.low:.2f}, {found.high:.2f}]" if found.known else ""
    theirs = paper.value(metric, algorithm=algorithm)
    lines += [f"(paper {theirs[0]:.2f})"] if theirs else []
    return [line.replace("-", "\N{MINUS SIGN}") for line in lines]


def _panel(
    axes: Axes, x: pd.Series, y: pd.Series, window: Window, mass: np.ndarray | None, most: float
) -> Any:
    """Draw one algorithm; return the image of its density, if it has one."""
    axes.set_xlim(window.x)
    axes.set_ylim(window.y)
    axes.tick_params(labelsize=11)
    image = None
    if mass is not None:
        image = axes.imshow(
            100 * mass, origin="lower", extent=(*window.x, *window.y), aspect="auto",
            cmap=COLOURS, norm=Normalize(0, 100 * most), interpolation="bilinear",
        )  # fmt: skip
        axes.set_facecolor("#fcfdbf")
    elif len(x):
        _say(axes, "no density: too few\npoints, or on a line")
    else:
        _say(axes, "no data")
    if len(x) < MANY:
        lone = mass is None
        axes.scatter(
            x, y, s=26 if lone else 10, facecolor="#555" if lone else "white",
            edgecolor="black", lw=0.5, alpha=0.75, zorder=3,
        )  # fmt: skip
    return image


def _say(axes: Axes, words: str) -> None:
    """Write why a panel shows no density, at its foot."""
    axes.text(
        0.5, 0.04, words, transform=axes.transAxes, ha="center", va="bottom", fontsize=11,
        color="0.3", bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85}, zorder=2.5,
    )  # fmt: skip
