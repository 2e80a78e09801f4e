"""The paper: what it prints, its statements, and whether they hold in a study.

Here is what the paper prints, from numbers.csv, to put beside what a study finds.

statements    what it says, from statements.csv, and the verdict on each in a study
checks        how a statement is checked           measures   the numbers of a study it is about
verdicts      the verdicts in a report
tables        tables S1 to S3, and what the text says of maps and slopes, beside the paper's numbers
signatures    its figures of impact, resilience and diversity

Only a report of a study asks for any of this: studies of users' tasks and algorithms need no paper.
"""

import csv
import math
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from qed.study.blocks import ALL
from qed.study.plan import PRESETS

PAPER = PRESETS["paper"]
QED = "qed"
BASELINES = tuple(str(name) for name in PAPER.algorithms if name != QED)


def about(tasks: Iterable[str]) -> bool:
    """Return whether the paper says anything of tasks: of users' it does not."""
    return not set(PAPER.tasks).isdisjoint(tasks)


class Entry(NamedTuple):
    """A number of the paper."""

    value: float  # of a p that is printed as "<0.001", 0.001
    spread: float  # SD or IQR, as the note says; NaN if the paper gives none
    note: str


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file of this package."""
    text = files("qed.paper").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@lru_cache(maxsize=1)
def _entries() -> dict[tuple[str, str, str], tuple[Entry, ...]]:
    found: dict[tuple[str, str, str], tuple[Entry, ...]] = {}
    for row in rows("numbers.csv"):
        # The paper writes algorithms in capitals, we do not.
        key = row["metric"], row["task"], row["algorithm"].lower()
        entry = Entry(_number(row["value"]), _number(row["spread"]), row["note"])
        found[key] = (*found.get(key, ()), entry)
    return found


def entries(metric: str, task: str = ALL, algorithm: str = ALL) -> tuple[Entry, ...]:
    """Return what the paper says of a metric: mostly one number, none, or the ends of a range."""
    return _entries().get((metric, task, algorithm.lower()), ())


def value(metric: str, task: str = ALL, algorithm: str = ALL) -> tuple[float, float] | None:
    """Return the paper's value and its spread (NaN if not given); None if it has no such value."""
    found = entries(metric, task, algorithm)
    return (found[0].value, found[0].spread) if found else None


def _number(text: str) -> float:
    return float(text.removeprefix("<")) if text else math.nan
