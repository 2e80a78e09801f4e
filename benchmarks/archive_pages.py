"""What pages about comparisons of archives share: numbers with intervals, words, a command.

The archive is the unit: each of its numbers is a mean over faults.  Tasks are strata and count
alike.  A number has limits where every task has two archives or more.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from comparison import RESULTS
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from qed.study.blocks import listed, markdown_row
from qed.study.by_map import with_limits
from qed.study.statistics import Interval, equivalence_p, interval

PAGES = RESULTS.parent.parent / "docs" / "results"
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#000000",
           "#8c6d31", "#b2abd2", "#7f3b08")  # fmt: skip
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
HOW_SURE = (
    "Brackets are 95 % intervals of Student's t over archives, tasks as strata: the archive is the "
    "unit, each of its numbers is a mean over faults, and nothing is said of other faults than "
    "these."
)
NOT_ADJUSTED = (
    "Intervals of all other comparisons are not adjusted for their number: some miss 0 by chance."
)

TOO_FEW = "There are too few archives for intervals."


def over_archives(values: pd.Series) -> Interval:
    """Return the mean of archives, tasks alike, with limits if each task has two or more."""
    values = values.dropna()
    by_task = values.groupby("task")
    mean = float(by_task.mean().mean()) if len(values) else math.nan
    if not len(values) or by_task.size().min() < 2:
        return Interval(mean, math.nan, math.nan, len(values))
    return interval((values.to_numpy(), values.index.get_level_values("task").to_numpy()))


def spoken(found: pd.Series | Interval) -> str:
    """Return a mean with its limits, if there are any."""
    one = found if isinstance(found, Interval) else over_archives(found)
    return with_limits(one.mean, one.low, one.high) if math.isfinite(one.mean) else ""


def short(values: pd.Series) -> str:
    """Return a mean without limits."""
    return f"{over_archives(values).mean:z.3f}"


def judged(found: Interval, above: str, below: str, neither: str) -> str:
    """Return which of these an interval shows, if there is one."""
    return above if found.low > 0 else below if found.high < 0 else neither


def alike(values: pd.Series, margin: float) -> bool:
    """Whether two one-sided tests (p < .05) show a difference within the margin."""
    if not over_archives(values).known:
        return False
    return equivalence_p(margin, (values, values.index.get_level_values("task"))) < 0.05


def over_faults(table: pd.DataFrame, column: str) -> Interval:
    """Return the mean with limits over faults, kinds as strata, of means over archives."""
    each = table.groupby(["what", "fault", "task"])[column].mean().groupby(["what", "fault"]).mean()
    return interval((each.to_numpy(), each.index.get_level_values("what").to_numpy()))


def markdown(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    rule = ["---"] * len(headings)
    return "\n".join(markdown_row(line) for line in (headings, rule, *lines))


def made_by(found: Mapping[str, Any], name: str) -> str:
    """Tell where the numbers come from."""
    on = sorted({one["made"]["on"] for one in found["archives"]})
    versions = sorted({one["made"]["qed"] for one in found["archives"]})
    codes = {one["made"].get("code", "") for one in found["archives"]}
    several = f", {len(codes)} states of its code" if len(codes) > 1 else ""
    changes = " ".join(f"Changed since the plan was first written: {c}." for c in found["changes"])
    return (
        f"`benchmarks/{name}.py` on {listed(on)} (qed {listed(versions)}{several}), row by row in "
        f"`benchmarks/results/{name}.json`; what is compared was written down before the runs "
        f"(`{name}-plan.json`). `benchmarks/{name}_page.py` wrote this page. {changes}"
    )


def bar(axes: Axes, found: Interval, place: float, colour: str, width: float = 3.0) -> None:
    """Draw an interval, if there is one, and a tick at its mean."""
    if found.known:
        axes.plot([found.low, found.high], [place] * 2, color=colour, lw=width, alpha=0.55)
    axes.plot(found.mean, place, "|", color="black", ms=11, mew=1.6, zorder=4)


def plain(*several: Axes) -> None:
    """Leave out the lines above and right of axes."""
    for axes in several:
        axes.spines[["top", "right"]].set_visible(False)


def main(
    name: str, page: Callable[[dict[str, Any]], str], figure: Callable[[dict[str, Any]], Figure]
) -> None:
    """Write a comparison's page and its figure from its numbers."""
    parser = argparse.ArgumentParser(description=f"Write the page of {name}.py and its figure.")
    parser.add_argument("--numbers", type=Path, default=RESULTS / f"{name}.json")
    parser.add_argument("--page", type=Path, default=PAGES / f"{name}.md")
    options = parser.parse_args()
    found = json.loads(options.numbers.read_text("utf-8"))
    options.page.write_text(page(found), "utf-8")
    figure(found).savefig(options.page.with_suffix(".png"), dpi=80)
    print(f"wrote {options.page.name} and its figure")
