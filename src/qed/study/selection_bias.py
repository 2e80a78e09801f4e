"""The selection bias of recovery: gains on selection trials that fresh trials do not confirm."""

import math

import numpy as np
import pandas as pd

from qed.study.blocks import ALGORITHM, ALL, TASK, Row, Table, counted, described, plain
from qed.study.results import Results

COLUMNS = ("task", "algorithm", "n", "claimed_gain", "gain", "selection_bias")
BIAS = "selection_bias"
NEEDED = ("claimed_broken", "claimed_recovered")


def measured(results: Results) -> bool:
    """Return whether the study has gains both ways, claimed and on fresh trials."""
    data = results.recoveries
    return len(data) > 0 and all(column in data for column in NEEDED)


def gains(results: Results) -> pd.DataFrame:
    """Return each recovery's gain over the normal best, both with the fault.

    As a fraction of the task's empirical maximum: ``claimed`` on the selection trials, ``fresh``
    on fresh ones.  Needs what ``measured`` asks for.
    """
    data = results.recoveries
    unit = data["task"].map(results.runs.groupby("task")["best"].max())
    return data[["task", "algorithm", "replicate"]].assign(
        claimed=(data["claimed_recovered"] - data["claimed_broken"]) / unit,
        fresh=(data["recovered"] - data["broken"]) / unit,
    )


def bias(results: Results) -> pd.DataFrame:
    """Return claimed and fresh gains by recovery: over all tasks first, then task by task.

    A gain is what the recovery has above the normal best, both with the fault, as a part of the
    task's empirical maximum; its columns are medians.  ``selection_bias`` is the part
    of all that is claimed that fresh trials do not show: 0 is none, 1 all of it, more if recovery
    does harm; NaN if nothing is claimed.
    """
    rows = [
        (task, algorithm, len(own), *_summed(own))
        for task, algorithm, own in results.groups(gains(results))
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _summed(gains: pd.DataFrame) -> tuple[float, float, float]:
    """Return the median claimed and fresh gain, and the selection bias."""
    claimed, fresh = gains["claimed"], gains["fresh"]
    total = float(claimed.sum())
    part = 1.0 - float(fresh.sum()) / total if total > 0.0 else math.nan
    return float(claimed.median()), float(fresh.median()), part


def bias_table(results: Results) -> Table:
    """Return the selection bias of the recoveries, as a table."""
    frame = bias(results)
    return described(
        "table-selection-bias",
        frame,
        (TASK, ALGORITHM),
        (
            plain("Claimed gain", "claimed_gain", 3),
            plain("Fresh gain", "gain", 3),
            plain("Selection bias", "selection_bias"),
        ),
        recoveries=counted("recovery", frame.to_dict("records")),
    )


def sentences(results: Results) -> list[str]:
    """Say for each algorithm how much of its gain is selection bias, over all tasks."""
    if not measured(results):
        return []
    frame = bias(results)
    text = []
    for row in frame[frame["task"] == ALL].to_dict("records"):
        by_task = frame[(frame["algorithm"] == row["algorithm"]) & (frame["task"] != ALL)]
        text.append(_sentence(row, by_task))
    return text


def _sentence(row: Row, by_task: pd.DataFrame) -> str:
    text = (
        f"{row['algorithm'].upper()}: recovery gains a median of {row['claimed_gain']:.1%} of the "
        f"task's empirical maximum on the selection trials, and {row['gain']:.1%} on fresh trials"
    )
    if not math.isfinite(row[BIAS]):
        return f"{text}."
    text += f". Of the summed claimed gains, {part(row[BIAS])} is selection bias"
    known = by_task[np.isfinite(by_task[BIAS].to_numpy(float))]
    if len(known) > 1:
        most, least = known.loc[known[BIAS].idxmax()], known.loc[known[BIAS].idxmin()]
        text += f": most in {most['task']} ({part(most[BIAS])}), least in {least['task']} "
        text += f"({part(least[BIAS])})"
    return f"{text}."


def part(bias: float) -> str:
    """Return a selection bias in words: none and all of it are bounds."""
    if bias <= 0.0:
        return "none"
    return "all" if bias >= 1.0 else f"{bias:.0%}"


def sentence(results: Results) -> list[str]:
    """Say the range of selection bias over the algorithms, all tasks together."""
    if not measured(results):
        return []
    frame = bias(results)
    frame = frame[(frame["task"] == ALL) & np.isfinite(frame[BIAS].to_numpy(float))]
    if frame.empty:
        return []
    shares = {str(row["algorithm"]): float(row[BIAS]) for row in frame.to_dict("records")}
    low, high = (pick(shares, key=lambda name: shares[name]) for pick in (min, max))
    text = f"{part(shares[low])} ({low.upper()})"
    text += f" to {part(shares[high])} ({high.upper()})" if low != high else ""
    return [
        "Selected solutions are measured on fresh trials. On the selection trials, as in the "
        f"paper, recovery seems to gain more: {text} of that gain is selection bias."
    ]
