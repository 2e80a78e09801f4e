"""Rows of tables: what names them, which there are, and ours beside the paper's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import pandas as pd

from qed.paper.numbers import ALL
from qed.study.layout import Key, Row
from qed.study.results import Results

TASK = Key("Task", "task", lambda name: "All tasks" if name == ALL else name.capitalize())
ALGORITHM = Key("Algorithm", "algorithm", lambda name: "All" if name == ALL else name.upper())


def by_algorithm(results: Results, frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each algorithm that has some, in the study's order."""
    for algorithm in results.algorithms:
        rows = frame[frame["algorithm"] == algorithm]
        if len(rows):
            yield algorithm, rows


def beside(
    stem: str, suffix: str, ours: tuple[float, float], found: tuple[float, float] | None
) -> Row:
    """Return the columns of a number and its spread, ours and the paper's."""
    theirs = found or (math.nan, math.nan)
    names = (stem, f"{stem}_{suffix}", f"paper_{stem}", f"paper_{stem}_{suffix}")
    return dict(zip(names, (*ours, *theirs), strict=True))


def many(what: str, rows: Iterable[Row]) -> str:
    """Return how many of something the rows are made from, "2 maps" or "1 to 2 maps"."""
    counts = sorted({row["n"] for row in rows}) or [0]
    several = "recoveries" if what == "recovery" else f"{what}s"
    if len(counts) > 1:
        return f"{counts[0]} to {counts[-1]} {several}"
    return f"{counts[0]} {what if counts == [1] else several}"
