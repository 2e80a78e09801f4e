"""How much of what recovery seems to win is the winner's luck.

The paper tells the best of a map by the very trials that chose it, and the more solutions a map
has, the luckier its best.  On fresh trials, which took no part in choosing, luck is gone.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from qed.study import paper
from qed.study.cells import Row, plain
from qed.study.layout import Key, Table
from qed.study.results import Results

NEEDED = ("claimed_broken", "claimed_recovered")


def luck(results: Results) -> pd.DataFrame:
    """Return what recovery wins, claimed and fresh, for each algorithm and task ("all" first).

    Gains are means, as a part of the normal best's fitness on fresh trials: of
    (recovered - broken).  ``share`` is the part of the claimed gain that is luck: 0 none, 1 all
    of it, above 1 if fresh trials show a loss; NaN if nothing is claimed.  Empty if the tables
    lack the paper's way.
    """
    data = results.recoveries
    if any(column not in data for column in NEEDED):
        return pd.DataFrame()
    data = data.assign(
        claimed_gain=(data["claimed_recovered"] - data["claimed_broken"]) / data["normal"],
        fresh_gain=(data["recovered"] - data["broken"]) / data["normal"],
        flattered=data["claimed_normal"] / data["normal"] - 1,
    ).replace([np.inf, -np.inf], np.nan)
    rows = []
    for algorithm in results.algorithms:
        own = data[data["algorithm"] == algorithm].dropna(subset=["claimed_gain", "fresh_gain"])
        for task in (paper.ALL, *results.tasks):
            there = own if task == paper.ALL else own[own["task"] == task]
            if len(there):
                rows.append({"algorithm": algorithm, "task": task, **_row(there)})
    return pd.DataFrame(rows)


def _row(there: pd.DataFrame) -> Row:
    claimed, fresh = float(there["claimed_gain"].mean()), float(there["fresh_gain"].mean())
    # Faults of one map share its solutions, so maps, not faults, are what varies independently.
    maps = there.groupby(["task", "replicate"])["fresh_gain"].mean()
    within = maps - maps.groupby("task").transform("mean")
    free = len(maps) - maps.index.get_level_values("task").nunique()
    error = math.sqrt(float((within**2).sum()) / free / len(maps)) if free > 0 else math.nan
    return {
        "n": len(there),
        "claimed_gain": claimed,
        "fresh_gain": fresh,
        "fresh_gain_se": error,
        "luck": claimed - fresh,
        "share": 1 - fresh / claimed if claimed > 0 else math.nan,
        "flattered": float(there["flattered"].mean()),
    }


def table(results: Results) -> Table | None:
    """Return the table of luck, if the study's tables have what it needs."""
    frame = luck(results)
    if frame.empty:
        return None
    return Table(
        "luck",
        "How much of recovery is luck",
        "Mean gain of recovery (fitness of the recovery less that of the normal best, both with "
        "the fault) as a part of the normal best's fitness. Claimed: by the trials that chose the "
        "recovery, as in the paper; fresh: by trials that took no part in choosing, with the "
        "standard error over maps. The last column is how much the trials that chose the normal "
        "best flatter it.",
        frame,
        (
            Key("Algorithm", "algorithm", str.upper),
            Key("Task", "task", lambda task: "All tasks" if task == paper.ALL else str(task)),
        ),
        (
            plain("Claimed gain", "claimed_gain", 3),
            plain("Fresh gain", "fresh_gain", 3),
            plain("± s.e.", "fresh_gain_se", 3),
            plain("Luck", "luck", 3),
            plain("Part that is luck", "share"),
            plain("Normal best flattered by", "flattered", 3),
            plain("n", "n", 0),
        ),
    )


def sentences(results: Results) -> list[str]:
    """Tell for each algorithm how much of its recovery is luck, over all tasks."""
    frame = luck(results)
    told = []
    for row in frame.to_dict("records"):
        if row["task"] != paper.ALL:
            continue
        by_task = frame[(frame["algorithm"] == row["algorithm"]) & (frame["task"] != paper.ALL)]
        told.append(_sentence(row, by_task))
    return told


def _sentence(row: Row, by_task: pd.DataFrame) -> str:
    name = row["algorithm"].upper()
    wins = (
        f"{name}: told by the trials that chose it, recovery wins {row['claimed_gain']:+.1%} of "
        f"the normal performance; on fresh trials it wins {row['fresh_gain']:+.1%}"
    )
    if not math.isfinite(row["share"]):
        return f"{wins}."
    wins += f": {max(row['share'], 0.0):.0%} of the claimed gain is luck"
    parts = by_task[np.isfinite(by_task["share"].to_numpy(float))]
    if len(parts) > 1:
        most = parts.loc[parts["share"].idxmax()]
        least = parts.loc[parts["share"].idxmin()]
        wins += f" (most in {most['task']}, {most['share']:.0%}; least in {least['task']}, "
        wins += f"{max(least['share'], 0.0):.0%})"
    return f"{wins}."
