"""How much of recovery is the winner's luck, in words, and the gains behind it."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from qed.study import paper
from qed.study.cells import Row
from qed.study.luck import luck
from qed.study.results import Results

NEEDED = ("claimed_broken", "claimed_recovered")


def measured(results: Results) -> bool:
    """Return whether the study has gains both ways, claimed and on fresh trials."""
    data = results.recoveries
    return len(data) > 0 and all(column in data for column in NEEDED)


def gains(results: Results) -> pd.DataFrame:
    """Return each recovery's gain over the normal best, both with the fault.

    As a part of the task's empirical maximum: ``claimed`` by the trials that chose it, ``fresh``
    by others.  Needs what ``measured`` asks for.
    """
    data = results.recoveries
    unit = data["task"].map(results.runs.groupby("task")["best"].max())
    return data[["task", "algorithm", "replicate"]].assign(
        claimed=(data["claimed_recovered"] - data["claimed_broken"]) / unit,
        fresh=(data["recovered"] - data["broken"]) / unit,
    )


def sentences(results: Results) -> list[str]:
    """Tell for each algorithm how much of its recovery is luck, over all tasks."""
    if not measured(results):
        return []
    frame = luck(results)
    told = []
    for row in frame[frame["task"] == paper.ALL].to_dict("records"):
        by_task = frame[(frame["algorithm"] == row["algorithm"]) & (frame["task"] != paper.ALL)]
        told.append(_sentence(row, by_task))
    return told


def _sentence(row: Row, by_task: pd.DataFrame) -> str:
    told = (
        f"{row['algorithm'].upper()}: by the trials that chose it, recovery wins a median of "
        f"{row['claimed_gain']:.1%} of the task's empirical maximum; on fresh trials "
        f"{row['gain']:.1%}"
    )
    if not math.isfinite(row["luck"]):
        return f"{told}."
    told += f". Of all that is claimed, {part(row['luck'])} is luck"
    known = by_task[np.isfinite(by_task["luck"].to_numpy(float))]
    if len(known) > 1:
        most, least = known.loc[known["luck"].idxmax()], known.loc[known["luck"].idxmin()]
        told += f": most in {most['task']} ({part(most['luck'])}), least in {least['task']} "
        told += f"({part(least['luck'])})"
    return f"{told}."


def part(luck: float) -> str:
    """Return a part that is luck, in words: none and all of it are bounds."""
    if luck <= 0.0:
        return "none"
    return "all" if luck >= 1.0 else f"{luck:.0%}"


def sentence(results: Results) -> list[str]:
    """Tell the range of luck over the algorithms, all tasks together."""
    if not measured(results):
        return []
    frame = luck(results)
    frame = frame[(frame["task"] == paper.ALL) & np.isfinite(frame["luck"].to_numpy(float))]
    if frame.empty:
        return []
    shares = {str(row["algorithm"]): float(row["luck"]) for row in frame.to_dict("records")}
    low, high = (pick(shares, key=lambda name: shares[name]) for pick in (min, max))
    told = f"{part(shares[low])} ({low.upper()})"
    told += f" to {part(shares[high])} ({high.upper()})" if low != high else ""
    return [
        "All numbers of chosen controllers are from fresh trials. By the trials that chose them, "
        f"as in the paper, recovery would seem to win more: {told} of that gain is luck."
    ]
