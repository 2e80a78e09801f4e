"""Figures of how evolved controllers do in the original simulator and here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from recordings import TASKS

# Okabe and Ito's colours, told apart by the colour-blind too, and a shape each.
COLOURS = dict(zip(TASKS, ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7"), strict=True))
SHAPES = dict(zip(TASKS, "osD^v", strict=True))
# Legible at half of their size.
STYLE = {"font.size": 19, "axes.spines.top": False, "axes.spines.right": False}


def pair_of_axes() -> tuple[Figure, Axes, Axes]:
    """Return a figure with two panels."""
    figure = Figure(figsize=(15, 7.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    return figure, left, right


def dots(axes: Axes, task: str, x: list[float], y: list[float], **more: Any) -> None:
    """Draw the points of a task."""
    axes.errorbar(
        x, y, fmt=SHAPES[task], color=COLOURS[task], label=task, ms=9, mec="white", mew=0.8,
        elinewidth=1.6, alpha=0.9, **more,
    )  # fmt: skip


def diagonal(axes: Axes, low: float, high: float) -> None:
    """Draw where both agree."""
    axes.plot([low, high], [low, high], color="#666666", lw=1.5, zorder=0)
    axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")


def finish(figure: Figure, axes: Axes, path: Path) -> None:
    """Put the legend below both panels, and save."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=5, frameon=False, handletextpad=0.1,
        columnspacing=1.2,
    )  # fmt: skip
    figure.savefig(path, dpi=100)
    print(f"wrote {path.name}")


def fitness(evolved: dict[str, Any], path: Path) -> None:
    """Draw fitness here over fitness there, and the difference, with two standard errors."""
    with mpl.rc_context(STYLE):
        figure, left, right = pair_of_axes()
        for task in TASKS:
            points = [p for p in evolved["controllers"] if p["task"] == task]
            argos = [p["argos"] for p in points]
            dots(left, task, argos, [p["ours"] for p in points])
            spread = [2 * (p["argos_error"] ** 2 + p["ours_error"] ** 2) ** 0.5 for p in points]
            dots(right, task, argos, [p["ours"] - p["argos"] for p in points], yerr=spread)
        diagonal(left, -0.02, 1.0)
        left.set(xlabel="fitness in ARGoS", ylabel="fitness here", title="Healthy swarms")
        right.axhline(0.0, color="#666666", lw=1.5, zorder=0)
        right.set(
            xlim=(-0.02, 1), xlabel="fitness in ARGoS", ylabel="here minus ARGoS",
            title="Difference, with two standard errors",
        )  # fmt: skip
        finish(figure, left, path)


def resilience(recoveries: dict[str, Any], path: Path) -> None:
    """Draw resilience here over resilience there, and what recovery gains."""
    with mpl.rc_context(STYLE):
        figure, left, right = pair_of_axes()
        pairs = recoveries["pairs"]
        for task in TASKS:
            points = [p for p in pairs if p["task"] == task]
            dots(
                left, task, [p["argos"]["resilience"] for p in points],
                [p["ours"]["resilience"] for p in points],
            )  # fmt: skip
            another = [p for p in points if p["another_controller"]]
            dots(
                right, task, [p["argos"]["gain"] for p in another],
                [p["ours"]["gain"] for p in another],
                xerr=[2 * p["argos"]["gain_error"] for p in another],
                yerr=[2 * p["ours"]["gain_error"] for p in another],
            )  # fmt: skip
        sides = [p[side] for p in pairs for side in ("argos", "ours")]
        diagonal(left, min(s["resilience"] for s in sides) - 0.05, 0.05)
        left.set(
            xlabel="resilience in ARGoS",
            ylabel="resilience here",
            title="What stays lost (0: nothing)",
        )
        gains = [s["gain"] + sign * 2 * s["gain_error"] for s in sides for sign in (-1, 1)]
        diagonal(right, min(gains) - 0.02, max(gains) + 0.02)
        for line in (right.axhline, right.axvline):
            line(0.0, color="#666666", lw=1.5, ls=":", zorder=0)
        right.set(
            xlabel="gained by recovery in ARGoS", ylabel="gained by recovery here",
            title="Gain, with two standard errors",
        )  # fmt: skip
        finish(figure, left, path)
