"""How much of what recovery claims to win back is luck."""

from __future__ import annotations

import math

import pandas as pd

from qed.study import paper
from qed.study.cells import plain
from qed.study.layout import Table
from qed.study.results import Results
from qed.study.rows import ALGORITHM, TASK, many

COLUMNS = ("task", "algorithm", "n", "claimed_gain", "gain", "luck")


def luck(results: Results) -> pd.DataFrame:
    """Return claimed and fresh gains by recovery: over all tasks first, then task by task.

    A gain is what the recovery has above the normal best, both with the fault, as a part of the
    task's empirical maximum; its columns are medians.  ``luck`` is the part of all that is
    claimed that fresh trials do not show: 0 is none, 1 all of it, more if recovery does harm; NaN
    if nothing is claimed.
    """
    highest = results.runs.groupby("task")["best"].max()
    found = results.recoveries
    unit = found["task"].map(highest)
    gains = pd.DataFrame(
        {
            "task": found["task"],
            "algorithm": found["algorithm"],
            "claimed": (found["claimed_recovered"] - found["claimed_broken"]) / unit,
            "fresh": (found["recovered"] - found["broken"]) / unit,
        }
    )
    rows = []
    for task in (paper.ALL, *results.tasks):
        there = gains if task == paper.ALL else gains[gains["task"] == task]
        for algorithm in results.algorithms:
            own = there[there["algorithm"] == algorithm]
            if len(own):
                rows.append((task, algorithm, len(own), *_told(own)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _told(gains: pd.DataFrame) -> tuple[float, float, float]:
    """Return the median claimed and fresh gain, and the part of the claimed ones that is luck."""
    claimed, fresh = gains["claimed"], gains["fresh"]
    total = float(claimed.sum())
    part = 1.0 - float(fresh.sum()) / total if total > 0.0 else math.nan
    return float(claimed.median()), float(fresh.median()), part


def luck_table(results: Results) -> Table:
    """Return how much of the recoveries is luck, as a table."""
    frame = luck(results)
    return Table(
        "table-luck",
        "How much of the recovery is luck",
        "What the recovery controller has above the normal best, both with the fault, as a part "
        "of the task's empirical maximum: medians on the trials that chose it (claimed) and on "
        "fresh ones. Luck is the part of all that is claimed which fresh trials do not show: 0 "
        f"is none, 1 all of it. {many('recovery', frame.to_dict('records'))} a row.",
        frame,
        (TASK, ALGORITHM),
        (
            plain("Claimed gain", "claimed_gain", 3),
            plain("Fresh gain", "gain", 3),
            plain("Luck", "luck"),
        ),
    )
