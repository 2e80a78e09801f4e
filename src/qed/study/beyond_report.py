"""What goes beyond the paper, in a report: a table, a figure, and words."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from qed.recovery.search.strategies import EXHAUSTIVE, LEARNED, MAP, PORTFOLIO, RANDOM
from qed.study.beyond import BEST, BUDGETS, KEEP, PLAYBOOK, TEAM
from qed.study.blocks import ALGORITHM, ALL, TASK, Row, Table, counted, described, many, plain
from qed.study.charts import LABEL, PART, TICK
from qed.study.results import Results
from qed.study.statistics import mean_sd

TABLE, FIGURE = "table-beyond", "beyond"  # names of their files
# Columns of the table: a way, and its trials.
WAYS = {
    "kept": (KEEP, 0, "Kept"),
    "trial": (LEARNED, 1, "Search, 1 trial"),
    "trials_3": (LEARNED, 3, "3 trials"),
    "trials_10": (LEARNED, 10, "10 trials"),
    "best": (BEST, 0, "Exhaustive"),
    "playbook": (PLAYBOOK, 0, "Playbook"),
    "team": (TEAM, 0, "Team"),
}
# Okabe and Ito's colours, and a mark each.
LINES = {
    LEARNED: ("learned prior", "#0072B2", "o"),
    PORTFOLIO: ("portfolio", "#009E73", "s"),
    MAP: ("map-based BO", "#D55E00", "^"),
    RANDOM: ("random", "#CC79A7", "v"),
    EXHAUSTIVE: ("in order of normal fitness", "#7F7F7F", "D"),
}
LEVELS = {
    KEEP: ("controller kept", "black", (0, (5, 3))),
    PLAYBOOK: ("playbook", "#E69F00", (0, (1, 1.5))),
    TEAM: ("team", "#56B4E9", (0, (6, 2, 1, 2))),
}


def measured(results: Results) -> bool:
    """Return whether the study has anything beyond the paper."""
    return len(results.beyond) > 0


def summed(results: Results) -> pd.DataFrame:
    """Return the mean resilience of each way: over all tasks first, then task by task."""
    rows: list[Row] = []
    for task, algorithm, own in results.groups(results.beyond):
        row: Row = {"task": task, "algorithm": algorithm, "n": int((own["way"] == KEEP).sum())}
        for column, (way, trials, _) in WAYS.items():
            there = own[(own["way"] == way) & (own["trials"] == trials)]["resilience"]
            if way != TEAM or _has_teams(results):
                row[column] = mean_sd(there)[0]
        rows.append(row)
    return pd.DataFrame(rows)


def table(results: Results) -> Table | None:
    """Return what each way recovers, as a table."""
    if not measured(results):
        return None
    frame = summed(results)
    teams = (
        " Team: robots with the same fault share a controller, found by a search that knows the "
        "faults."
        if _has_teams(results)
        else ""
    )
    return described(
        TABLE,
        frame,
        (TASK, ALGORITHM),
        tuple(
            plain(heading, column, 3) for column, (_, _, heading) in WAYS.items() if column in frame
        ),
        teams=teams,
        faults=counted("fault", frame.to_dict("records")),
    )


def sentences(results: Results) -> list[str]:
    """Tell what few trials, playbooks and teams recover, algorithm by algorithm."""
    if not measured(results):
        return []
    lines = [
        "The paper evaluates every solution of a map in simulations of the fault. A deployed swarm "
        "does not know its fault and has time for a few trials. A kit, learned beforehand from "
        "other simulated faults, selects what to try. Regret is the loss against the exhaustive "
        "search, as a fraction of the normal performance, both on fresh trials."
    ]
    for task, algorithm, own in results.groups(results.beyond):
        if task != ALL:
            continue
        kept, one, ten = (
            mean_sd(own[(own["way"] == way) & (own["trials"] == trials)]["regret"])[0]
            for way, trials in ((KEEP, 0), (LEARNED, 1), (LEARNED, 10))
        )
        line = (
            f"{algorithm.upper()}: mean regret {kept:z.3f} if the controller is kept, {one:z.3f} "
            f"after one search trial, {ten:z.3f} after ten"
        )
        for way, words in ((PLAYBOOK, "with the playbook"), (TEAM, "with a team")):
            there = own[own["way"] == way]["regret"]
            line += f", {mean_sd(there)[0]:z.3f} {words}" if len(there) else ""
        lines.append(f"{line}.")
    trials = many(results.settings["retrials"], "trial")
    maps = len(results.beyond.drop_duplicates(["task", "algorithm", "replicate"]))
    if maps < len(results.runs):
        lines.append(f"This was done for {maps} of the study's {len(results.runs)} maps.")
    return [
        *lines,
        "Regret below 0 means better than the exhaustive search, which selects on "
        f"{trials} and so with selection bias.",
    ]


def figure(results: Results) -> Figure:
    """Draw regret over trials for each strategy: a row an algorithm, a column a task."""
    found = {name: set(results.beyond[name]) for name in ("algorithm", "task")}
    algorithms = [one for one in results.algorithms if one in found["algorithm"]]
    tasks = [one for one in results.tasks if one in found["task"]]
    size = (max(2.6 * len(tasks) + 1.0, 5.6), 2.1 * len(algorithms) + 1.6)
    made = Figure(figsize=size, layout="constrained")
    grid = made.subplots(len(algorithms), len(tasks), sharex=True, squeeze=False)
    for across, task in enumerate(tasks):
        grid[0, across].set_title(task, fontsize=LABEL)
        for down, algorithm in enumerate(algorithms):
            data = results.beyond
            own = data[(data["task"] == task) & (data["algorithm"] == algorithm)]
            _panel(grid[down, across], own)
            if across == 0:
                grid[down, 0].set_ylabel(algorithm.upper(), fontsize=LABEL)
    made.supxlabel("search trials", fontsize=LABEL)
    made.supylabel(f"mean regret\n{PART}", fontsize=LABEL)
    lines = [
        Line2D([], [], color=colour, marker=mark, ms=6, lw=1.8, label=words)
        for words, colour, mark in LINES.values()
    ]
    lines += [
        Line2D([], [], color=colour, ls=dashes, lw=1.8, label=words)
        for way, (words, colour, dashes) in LEVELS.items()
        if way != TEAM or _has_teams(results)
    ]
    made.legend(handles=lines, loc="outside upper center", ncols=min(2 + len(tasks) // 2, 4),
                frameon=False, fontsize=11)  # fmt: skip
    return made


def _panel(axes: Axes, own: pd.DataFrame) -> None:
    """Draw the curves of one task and algorithm."""
    axes.axhline(0, color="0.75", lw=0.8, zorder=0)
    for strategy, (_, colour, mark) in LINES.items():
        there = own[own["way"] == strategy].groupby("trials")["regret"].mean()
        if len(there):
            axes.plot(there.index, there, color=colour, marker=mark, ms=4.5, lw=1.6)
    for way, (_, colour, dashes) in LEVELS.items():
        level = mean_sd(own[own["way"] == way]["regret"])[0]
        if np.isfinite(level):
            axes.axhline(level, color=colour, ls=dashes, lw=1.6, zorder=1)
    axes.set_xscale("log")
    axes.set_xticks(BUDGETS, [str(budget) for budget in BUDGETS])
    axes.minorticks_off()
    axes.locator_params(axis="y", nbins=4)
    axes.tick_params(labelsize=TICK)
    axes.spines[["top", "right"]].set_visible(False)


def _has_teams(results: Results) -> bool:
    return bool((results.beyond["way"] == TEAM).any())
