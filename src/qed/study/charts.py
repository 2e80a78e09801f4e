"""Charts of a study: what the maps hold, how evolution went, and what faults cost."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullFormatter
from scipy.stats import t

from qed import paper
from qed.study import by_map as maps
from qed.study import statistics
from qed.study.blocks import ALL
from qed.study.results import Results
from qed.study.selection_bias import gains, measured
from qed.study.work import KINDS

# Okabe and Ito's colours, told apart by the colour-blind too.
SPARE = ("#56B4E9", "#E69F00", "#000000", "#8C6D31", "#7F7F7F")  # for a user's algorithms


class _Colours(dict[str, str]):
    """A colour for each algorithm, of which users may have others than the paper."""

    def __missing__(self, name: str) -> str:
        return self.setdefault(name, SPARE[len(self) % len(SPARE)])


COLOURS = _Colours(qed="#D55E00", hbd="#0072B2", sdbc="#009E73", spirit="#CC79A7")
MARKERS = "osD^v"  # of tasks
PART = "(fraction of normal performance)"
LABEL, TICK = 13, 11  # sizes of text (points), legible when a figure is halved
LINE = 0.05  # height of a line of text, as a part of the axes


def curves(progress: pd.DataFrame, algorithm: str, metric: str, task: str = "") -> pd.DataFrame:
    """Return a metric by evaluations (rows) and run (columns: task, replicate)."""
    own = progress[progress["algorithm"] == algorithm]
    if task:
        own = own[own["task"] == task]
    wide = own.pivot_table(metric, "evaluations", ["task", "replicate"])
    return wide.ffill().dropna()  # a run that wrote less often keeps its last value meanwhile


def coverage(results: Results) -> Figure:
    """Draw the filled cells over evaluations, beside the paper's final numbers."""
    figure = Figure(figsize=(8.4, 5.0), layout="constrained")
    axes = figure.subplots()
    ends: dict[str, float] = {}
    for name in results.algorithms:
        runs = curves(results.progress, name, "filled")
        mean = runs.mean(axis=1)
        spread = _half(runs.T.groupby(level="replicate").mean().T)
        axes.plot(mean.index, mean, color=COLOURS[name], lw=2.4)
        axes.fill_between(
            mean.index, (mean - spread).clip(lower=0.9), mean + spread, color=COLOURS[name],
            alpha=0.22, lw=0,
        )  # fmt: skip
        theirs = paper.value("coverage, cells", algorithm=name)
        if theirs:
            ends[name] = theirs[0]
    axes.margins(x=0)
    _logarithmic(axes)
    _marks_at_the_right(axes, ends)
    _dress(axes, "evaluations", "filled cells")
    axes.xaxis.set_major_formatter(_count)
    _legend(figure, results, [Line2D([], [], color="0.3", lw=3, label="paper, final")])
    return figure


def _half(runs: pd.DataFrame) -> pd.Series:
    """Return half of the interval of each row's mean; of one replicate there is none."""
    several = runs.shape[1]
    factor = t.ppf((1 + statistics.LEVEL) / 2, several - 1) if several > 1 else np.nan
    return factor * runs.std(axis=1, ddof=1) / np.sqrt(several)


def _limits(axes: Axes, found: statistics.Interval, place: float) -> None:
    """Draw the interval of a mean beside its box; of one replicate there is none."""
    if found.known:
        ends = [found.low, found.mean, found.high]
        axes.plot([place] * 3, ends, "_-", color="black", ms=6, lw=1.3, zorder=5)


def _marks_at_the_right(axes: Axes, ends: dict[str, float]) -> None:
    """Mark the paper's numbers beside the axes, with labels that keep clear of each other."""
    low, high = axes.get_ylim()
    low, high = min([low, *ends.values()]), max([high, *(1.3 * end for end in ends.values())])
    axes.set_ylim(low, high)
    names = sorted(ends, key=lambda name: ends[name])
    heights = np.log([ends[name] / low for name in names]) / np.log(high / low)
    for _ in range(50):
        for k in range(len(names) - 1):
            push = max(LINE - (heights[k + 1] - heights[k]), 0) / 2
            heights[k] -= push
            heights[k + 1] += push
    for name, height in zip(names, heights, strict=True):
        across = axes.get_yaxis_transform()
        axes.plot(
            [1.005, 1.035], [ends[name]] * 2, color=COLOURS[name], lw=3.5, transform=across,
            clip_on=False, solid_capstyle="butt",
        )  # fmt: skip
        axes.text(
            1.045, height, f"{ends[name]:,.0f}", color=COLOURS[name], transform=axes.transAxes,
            va="center", fontsize=TICK,
        )  # fmt: skip


def _logarithmic(axes: Axes) -> None:
    """Make the y axis logarithmic, with numbers that are easy to read over any range."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, 0.9), high)  # an empty map has no place there
    narrow = high < 30 * max(low, 0.9)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def best_performance(results: Results) -> Figure:
    """Draw the best performance of each map in the normal environment."""
    figure = Figure(figsize=(7.6, 5.0), layout="constrained")
    axes = figure.subplots()
    rng = np.random.default_rng(1)
    ticks = []
    for place, name in enumerate(results.algorithms):
        own = results.runs[results.runs["algorithm"] == name]
        values = own["best_relative_performance"].dropna()
        _box(axes, values, place, 0.55, COLOURS[name], dots=True)
        _limits(
            axes, maps.over_replicates(own, maps.means("best_relative_performance")), place + 0.36
        )
        for task, marker in zip(results.tasks, _markers(results.tasks), strict=True):
            dots = own.loc[own["task"] == task, "best_relative_performance"]
            axes.scatter(
                place + rng.uniform(-0.18, 0.18, len(dots)), dots, marker=marker, s=34,
                color=COLOURS[name], edgecolor="black", lw=0.6, zorder=3,
            )  # fmt: skip
        ticks.append(f"{name.upper()}\nn = {len(values)}")
    axes.set_xticks(range(len(ticks)), ticks)
    axes.set_xlim(-0.6, len(ticks) - 0.4)
    _dress(axes, "", "best performance\n(fraction of the empirical maximum)")
    axes.tick_params(axis="x", labelsize=LABEL)
    shapes = [
        Line2D([], [], color="0.4", marker=marker, ls="", markeredgecolor="black", label=task)
        for task, marker in zip(results.tasks, _markers(results.tasks), strict=True)
    ]
    figure.legend(handles=shapes, loc="outside upper center", ncols=3, frameon=False, fontsize=12)
    return figure


def evolution(results: Results) -> Figure:
    """Draw best and mean fitness and coverage over evaluations, task by task."""
    tasks = results.tasks
    rows = {"best": "best fitness", "mean": "mean fitness", "filled": "filled cells"}
    size = (max(2.3 * len(tasks) + 1.0, 5.2), 7.4)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(3, len(tasks), sharex=True, squeeze=False)
    for column, task in enumerate(tasks):
        for row, (metric, label) in enumerate(rows.items()):
            axes = grid[row, column]
            for name in results.algorithms:
                runs = curves(results.progress, name, metric, task)
                if runs.empty:
                    continue
                mean, spread = runs.mean(axis=1), _half(runs)
                lower = (mean - spread).clip(lower=0.9) if metric == "filled" else mean - spread
                axes.plot(mean.index, mean, color=COLOURS[name], lw=1.9)
                axes.fill_between(mean.index, lower, mean + spread, color=COLOURS[name],
                                  alpha=0.22, lw=0)  # fmt: skip
            _dress(axes, "", label if column == 0 else "")
            axes.xaxis.set_major_formatter(_count)
            axes.locator_params(axis="x", nbins=3)
            if metric == "filled":
                _logarithmic(axes)
        grid[0, column].set_title(task, fontsize=LABEL)
    for axes in grid[2, 1:]:
        axes.sharey(grid[2, 0])
        axes.tick_params(labelleft=False)
    figure.supxlabel("evaluations", fontsize=LABEL)
    _legend(figure, results)
    return figure


def by_map(results: Results) -> Figure:
    """Draw how QED differs from each other algorithm in the same faults, map by map."""
    frame, there = maps.differences(results), [ALL, *results.tasks]
    figure = Figure(figsize=(9.2, 1.0 + 0.75 * len(there)), layout="constrained")
    grid = figure.subplots(1, 2, sharey=True)
    others = list(dict.fromkeys(frame["against"]))
    for axes, name in zip(grid, maps.ENDPOINTS, strict=True):
        for row in frame.to_dict("records"):
            shift = 0.24 * (others.index(row["against"]) - (len(others) - 1) / 2)
            place, colour = there.index(row["task"]) + shift, COLOURS[row["against"]]
            if row["task"] != ALL:
                pairs = maps.paired(results, row["against"], name)
                dots = pairs.loc[pairs["task"] == row["task"], "difference"]
                axes.plot(dots, [place] * len(dots), "o", ms=4, mec=colour, mfc="white", zorder=3)
            axes.plot(row[name], place, "|", ms=9, mew=2, color=colour)
            if np.isfinite(row[f"{name}_low"]):
                axes.plot([row[f"{name}_low"], row[f"{name}_high"]], [place] * 2, lw=1.8,
                          color=colour)  # fmt: skip
        axes.axvline(0, color="0.6", lw=0.8, zorder=0)
        _dress(axes, maps.OUTCOMES[name].lower() + ",\nQED less the other", "")
    grid[0].set_yticks(range(len(there)), ["all tasks", *there[1:]], fontsize=LABEL)
    grid[0].invert_yaxis()
    handles = [Patch(color=COLOURS[name], label=f"against {name.upper()}") for name in others]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False, fontsize=12)
    return figure


def faults(results: Results) -> Figure:
    """Draw impact against the number of robots with each kind of fault."""
    figure = Figure(figsize=(11.0, 4.4), layout="constrained")
    grid = figure.subplots(1, 3, sharey=True)
    names = results.algorithms
    for axes, (kind, column) in zip(grid, KINDS.items(), strict=True):
        data = results.recoveries.dropna(subset=["impact"])
        for k, name in enumerate(names):
            for count, own in data[data["algorithm"] == name].groupby(column):
                place = float(count) + 0.17 * (k - (len(names) - 1) / 2)
                axes.plot(place, own["impact"].median(), "o", ms=5.5, color=COLOURS[name])
                found = maps.over_replicates(own, maps.medians("impact"))
                if found.known:
                    axes.plot([place] * 2, found[1:3], color=COLOURS[name], lw=1.8)
        axes.axhline(0, color="0.6", lw=0.8, zorder=0)
        _dress(axes, "", "")
        most = int(data[column].max()) if len(data) else 0
        axes.set_xticks(range(most + 1))
        axes.set_xlim(-0.6, most + 0.6)
        axes.set_ylim(-1.05, 0.15)  # where impacts are; intervals of few replicates go beyond
        axes.set_title(f"{kind} faults\n{_relation(data[column], data['impact'])}", fontsize=12)
    grid[0].set_ylabel(f"impact\n{PART}", fontsize=LABEL)
    figure.supxlabel("robots with a fault of this kind (of ten)", fontsize=LABEL)
    _legend(figure, results)
    return figure


def _relation(x: pd.Series, y: pd.Series) -> str:
    found = statistics.pearson(x, y)
    words = "unknown" if np.isnan(found) else f"{found:.2f}"
    return f"correlation {words}".replace("-", "\N{MINUS SIGN}")


def tasks(results: Results) -> Figure:
    """Draw impact and resilience of each task, beside the paper's."""
    names, there = results.algorithms, results.tasks
    figure = Figure(figsize=(max(1.9 * len(there) + 1.4, 5.2), 7.6), layout="constrained")
    grid = figure.subplots(2, 1, sharex=True)
    rng = np.random.default_rng(1)
    for axes, metric in zip(grid, ("impact", "resilience"), strict=True):
        for column, task in enumerate(there):
            span = paper.value("range of impact, percent drop", task)
            if span and metric == "impact":
                axes.fill_between([column - 0.45, column + 0.45], -span[0] / 100, -span[1] / 100,
                                  color="0.9", lw=0, zorder=0)  # fmt: skip
            for k, name in enumerate(names):
                place = column + 0.8 / len(names) * (k - (len(names) - 1) / 2)
                data = results.recoveries
                own = data.loc[(data["task"] == task) & (data["algorithm"] == name), metric]
                values, width = own.dropna(), 0.56 / len(names)
                dots = len(values) <= 60
                _box(axes, values, place, width, COLOURS[name], dots)
                if dots:
                    axes.scatter(place + rng.uniform(-0.3, 0.3, len(values)) * width, values,
                                 s=12, color=COLOURS[name], alpha=0.7, lw=0, zorder=3)  # fmt: skip
                rows = data[(data["task"] == task) & (data["algorithm"] == name)]
                _limits(axes, maps.over_replicates(rows, maps.medians(metric)), place + 0.7 * width)
                theirs = paper.value("resilience", task, name) if metric == "resilience" else None
                if theirs:
                    axes.plot(place, theirs[0], marker="D", ms=6, mfc="white", mec="black",
                              zorder=4)  # fmt: skip
        axes.axhline(0, color="0.6", lw=0.8, zorder=0)
        _dress(axes, "", f"{metric}\n{PART}")
    grid[1].set_xticks(range(len(there)), there, fontsize=LABEL)
    grid[1].set_xlim(-0.55, len(there) - 0.45)
    beside = [
        Patch(color="0.9", label="paper, impact"),
        Line2D([], [], marker="D", mfc="white", mec="black", ls="", label="paper, median"),
    ]
    _legend(figure, results, beside, columns=3 if len(there) < 4 else 6)
    return figure


def selection_bias(results: Results) -> Figure:
    """Draw what recovery wins on fresh trials, and what it claims to, task by task."""
    names, there = results.algorithms, results.tasks
    figure = Figure(figsize=(max(1.9 * len(there) + 1.4, 5.2), 4.6), layout="constrained")
    axes = figure.subplots()
    found = gains(results) if measured(results) else results.recoveries.iloc[:0]
    width = 0.8 / len(names)
    for column, task in enumerate(there):
        for k, name in enumerate(names):
            own = found[(found["task"] == task) & (found["algorithm"] == name)]
            if len(own):
                place = column + width * (k - (len(names) - 1) / 2)
                _box(axes, own["fresh"].dropna(), place, 0.7 * width, COLOURS[name], dots=False)
                _limits(
                    axes, maps.over_replicates(own, maps.medians("fresh")), place + 0.45 * width
                )
                axes.plot(place, own["claimed"].median(), marker="D", ms=6, mfc="white",
                          mec="black", zorder=4)  # fmt: skip
    axes.axhline(0, color="0.6", lw=0.8, zorder=0)
    axes.set_xticks(range(len(there)), there, fontsize=LABEL)
    axes.set_xlim(-0.55, len(there) - 0.45)
    _dress(axes, "", "gain of recovery\n(fraction of the empirical maximum)")
    label = "median, selection trials"
    beside = [Line2D([], [], marker="D", mfc="white", mec="black", ls="", label=label)]
    _legend(figure, results, beside, columns=3 if len(there) < 4 else 6)
    return figure


def _box(
    axes: Axes, values: pd.Series, place: float, width: float, colour: str, dots: bool
) -> None:
    """Draw a box with the paper's whiskers: the last data within 1.5 IQR of the box.

    Data beyond the whiskers are drawn too, unless ``dots`` show all data anyway.
    """
    if len(values):
        axes.boxplot(
            values.to_numpy(float), positions=[place], widths=width, patch_artist=True,
            manage_ticks=False, whis=1.5, showfliers=not dots,
            medianprops={"color": "black", "lw": 1.6},
            boxprops={"facecolor": colour + "40", "edgecolor": colour},
            whiskerprops={"color": colour}, capprops={"color": colour},
            flierprops={"marker": ".", "ms": 4, "mec": colour, "mfc": colour},
        )  # fmt: skip


def _markers(tasks: list[str]) -> list[str]:
    return [MARKERS[k % len(MARKERS)] for k in range(len(tasks))]


def _count(value: float, _: Any) -> str:
    """Write a number of evaluations in short: 2.4M, 20k, 500."""
    for unit, word in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:g}{word}"
    return f"{value:g}"


def _dress(axes: Axes, across: str, upwards: str) -> None:
    """Label an axes, and take away what is not needed."""
    axes.set_xlabel(across, fontsize=LABEL)
    axes.set_ylabel(upwards, fontsize=LABEL)
    axes.tick_params(labelsize=TICK)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(
    figure: Figure, results: Results, more: list[Any] | None = None, columns: int = 6
) -> None:
    """Name the algorithms above the axes."""
    known = [Patch(color=COLOURS[name], label=name.upper()) for name in results.algorithms]
    handles = [*known, *(more or [])]
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), columns),
                  frameon=False, fontsize=12, handlelength=1.3, columnspacing=1.4)  # fmt: skip
