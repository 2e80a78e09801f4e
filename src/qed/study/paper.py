"""What the paper reports, to put beside what a study finds."""

from __future__ import annotations

import csv
import math
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

ALL = "all"  # tasks, or algorithms, together


class Entry(NamedTuple):
    """A number of the paper."""

    value: float  # of a p that is printed as "<0.001", 0.001
    spread: float  # SD or IQR, as the note says; NaN if the paper gives none
    note: str


@lru_cache(maxsize=1)
def _entries() -> dict[tuple[str, str, str], tuple[Entry, ...]]:
    """Return the paper's numbers by metric, task and algorithm."""
    text = files("qed.study").joinpath("paper.csv").read_text(encoding="utf-8")
    found: dict[tuple[str, str, str], tuple[Entry, ...]] = {}
    for row in csv.DictReader(text.splitlines()):
        key = _key(row["metric"], row["task"], row["algorithm"])
        entry = Entry(_number(row["value"]), _number(row["spread"]), row["note"])
        found[key] = (*found.get(key, ()), entry)
    return found


def entries(metric: str, task: str = ALL, algorithm: str = ALL) -> tuple[Entry, ...]:
    """Return what the paper says of a metric: mostly one number, none, or the ends of a range."""
    return _entries().get(_key(metric, task, algorithm), ())


def value(metric: str, task: str = ALL, algorithm: str = ALL) -> tuple[float, float] | None:
    """Return the paper's value and its spread (NaN if not given); None if it has no such value."""
    found = entries(metric, task, algorithm)
    return (found[0].value, found[0].spread) if found else None


def _key(metric: str, task: str, algorithm: str) -> tuple[str, str, str]:
    """Return what a number is found by; the paper writes algorithms in capitals, we do not."""
    return metric, task, algorithm.lower()


def _number(text: str) -> float:
    """Return a number of the file: that below which it is, if that is all that is printed."""
    return float(text.removeprefix("<")) if text else math.nan
