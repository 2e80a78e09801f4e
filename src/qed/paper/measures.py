"""The numbers of a study that statements are about: by algorithm, by task, or by kind of fault.

A row of ``statements.csv`` names a table of the study, a column of it (or an expression of columns,
as ``DataFrame.eval`` reads it) and a quantity.  What has no data is left out.
"""

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import pandas as pd

from qed.paper import BASELINES, QED
from qed.study import statistics
from qed.study.results import Results
from qed.study.work import KINDS

Numbers = dict[str, float]
Given = ParamSpec("Given")
Found = TypeVar("Found")

STRONGEST = -0.5  # impacts beyond it are left out of signatures and slopes, as in the paper
SEVERE = -0.2  # impact of a severe fault
LAST = 0.9  # of the evaluations: growth is what comes after
GRID = np.linspace(-0.5, 0.1, 241)  # where the most frequent value is looked for


def remembered(
    function: Callable[Concatenate[Results, Given], Found],
) -> Callable[Concatenate[Results, Given], Found]:
    """Cache what a function finds in results: many statements ask for the same.

    All of them get the same object, which they must not change.
    """

    @wraps(function)
    def known(results: Results, /, *given: Given.args, **named: Given.kwargs) -> Found:
        kept: dict[Any, Found] = vars(results).setdefault("_remembered", {})
        key = (function.__module__, function.__qualname__, given, *named.items())
        if key not in kept:
            kept[key] = function(results, *given, **named)
        return kept[key]

    return known


def in_signatures(recoveries: pd.DataFrame) -> pd.DataFrame:
    """Return the recoveries that the signatures show."""
    numbers = recoveries[["impact", "resilience", "distance"]].to_numpy(float)
    return recoveries[np.isfinite(numbers).all(1) & (numbers[:, 0] >= STRONGEST)]


@remembered
def rows(results: Results, table: str, task: str = "", algorithm: str = "") -> pd.DataFrame:
    """Return rows of runs, recoveries, progress, signatures, or severe (faults in signatures)."""
    if task or algorithm:
        found = rows(results, table)
        found = found[found["task"] == task] if task else found
        return found[found["algorithm"] == algorithm] if algorithm else found
    if table == "signatures":
        return in_signatures(results.recoveries)
    if table == "severe":
        shown = rows(results, "signatures")
        return shown[shown["impact"] < SEVERE]
    found = getattr(results, table)
    assert isinstance(found, pd.DataFrame)
    return found


def values(frame: pd.DataFrame, column: str) -> np.ndarray:
    """Return the finite values of a column, or of an expression of columns."""
    found = frame[column] if column in frame else frame.eval(column)
    array: np.ndarray = found.to_numpy(float)
    finite: np.ndarray = array[np.isfinite(array)]
    return finite


def most_frequent(values: np.ndarray) -> float:
    """Return where the density of values is highest (Gaussian kernel, Scott's bandwidth)."""
    from scipy.stats import gaussian_kde

    if len(values) < 5 or np.ptp(values) < 1e-9:
        return float("nan")
    return float(GRID[np.argmax(gaussian_kde(values)(GRID))])


STATISTICS: dict[str, Callable[[np.ndarray], Any]] = {
    "mean": np.mean,
    "median": np.median,
    "iqr": lambda found: statistics.median_iqr(found)[1],
    "peak": most_frequent,
    "99th percentile": lambda found: np.quantile(found, 0.99),
}


@remembered
def numbers(
    results: Results, quantity: str, table: str = "", column: str = "", task: str = ""
) -> Numbers:
    """Return a quantity of a table: mostly by algorithm, some by task or by kind of fault."""
    if quantity in SPECIAL:
        found = SPECIAL[quantity](results, table, column, task)
    else:
        own = {
            name: values(rows(results, table, task, name), column) for name in results.algorithms
        }
        found = {name: STATISTICS[quantity](given) for name, given in own.items() if len(given)}
    return {name: float(value) for name, value in found.items() if np.isfinite(value)}


def spread(numbers: Numbers) -> float:
    """Return the highest less the lowest."""
    return max(numbers.values()) - min(numbers.values())


@remembered
def growth(results: Results, column: str, algorithm: str, task: str = "") -> float:
    """Return how much a column of the progress grew in the last tenth of the evaluations.

    As a part of what it was at the end; the mean over runs; NaN where progress is too coarse.
    """
    before, after = [], []
    own = rows(results, "progress", task, algorithm)
    for _, run in own.sort_values("evaluations").groupby(["task", "replicate"]):
        early = run[run["evaluations"] <= LAST * run["evaluations"].max()]
        if len(early):
            before.append(early[column].iloc[-1])
            after.append(run[column].iloc[-1])
    if not after or not np.mean(after) > 0:
        return float("nan")
    return float(1 - np.mean(before) / np.mean(after))


@remembered
def comparisons(results: Results, column: str) -> pd.DataFrame:
    """Compare QED with each other algorithm in each task, as the paper does.

    Stars are of Bonferroni's correction for all comparisons that could be made; delta is Cliff's,
    positive where QED is better.
    """
    found: list[dict[str, Any]] = []
    for task in results.tasks:
        there = dict(results.by_algorithm(rows(results, "recoveries", task)))
        ours = there.pop(QED)[column] if QED in there else []
        for name, theirs in there.items() if len(ours) else ():
            qed, other = (statistics.median_iqr(given) for given in (ours, theirs[column]))
            delta = statistics.cliffs_delta(ours, theirs[column])
            found.append(
                {
                    "task": task, "baseline": name, "n_qed": len(ours), "n": len(theirs),
                    "qed": qed[0], "qed_iqr": qed[1], "other": other[0], "other_iqr": other[1],
                    "p": statistics.rank_sum_p(ours, theirs[column]), "delta": delta,
                }
            )  # fmt: skip
    made = sum(math.isfinite(one["p"]) for one in found) or 1
    for one in found:
        one["stars"] = statistics.stars(one["p"], made)
        one |= in_words(one["p"], one["delta"], one["stars"])
    return pd.DataFrame(found)


def in_words(p: float, delta: float, stars: str) -> dict[str, str]:
    """Return how sure a comparison is, how large the effect, and which is better for sure."""
    return {
        "p_words": "p<0.001" if p <= 0.001 else f"p={p:.3f}",
        "effect": statistics.effect(delta),
        "outcome": ("QED better" if delta > 0 else "QED worse") if stars else "no difference",
    }


def _final(results: Results, table: str, column: str, task: str) -> Numbers:
    """The value at the end of evolution, mean over replicates."""
    own = rows(results, table, task)
    last = own.sort_values("evaluations").groupby(["algorithm", "replicate"])[column].last()
    mean = last.groupby("algorithm").mean()
    return {name: mean[name] for name in results.algorithms if name in mean.index}


def _final_outside_baselines(results: Results, table: str, column: str, task: str) -> Numbers:
    """How far QED's final value is outside the baselines', as a part of the highest."""
    ends = numbers(results, "final", table, column, task)
    others = [ends[name] for name in BASELINES if name in ends]
    if QED not in ends or not others:
        return {}
    outside = max(min(others) - ends[QED], ends[QED] - max(others))
    return {QED: outside / max(ends.values())}


def _final_less_normal(results: Results, table: str, column: str, task: str) -> Numbers:
    """The final value in evolution less the mean in the normal environment."""
    ends = numbers(results, "final", table, column, task)
    normal = numbers(results, "mean", "runs", column, task)
    return {name: ends[name] - normal[name] for name in ends if name in normal}


def _mean_over_others(results: Results, table: str, column: str, task: str) -> Numbers:
    """The mean divided by the mean of the other algorithms' means."""
    ours = numbers(results, "mean", table, column, task)
    return {
        name: value * (len(ours) - 1) / (sum(ours.values()) - value)
        for name, value in ours.items()
        if len(ours) > 1
    }


def _gain_of_recovery(results: Results, table: str, column: str, task: str) -> Numbers:
    before, after = (numbers(results, "median", table, c) for c in ("impact", "resilience"))
    return {name: after[name] - before[name] for name in after if name in before}


def _factor_of_recovery(results: Results, table: str, column: str, task: str) -> Numbers:
    """The loss before recovery divided by that after it, if all algorithms lose."""
    before, after = (numbers(results, "median", table, c) for c in ("impact", "resilience"))
    if any(value >= 0 for value in after.values()):
        return {}
    return {name: before[name] / after[name] for name in after if name in before}


def _kept(results: Results, table: str, column: str, task: str) -> Numbers:
    """The part of the recoveries that signatures show."""
    there = {name: len(rows(results, "recoveries", "", name)) for name in results.algorithms}
    return {name: len(rows(results, table, "", name)) / n for name, n in there.items() if n}


def _spread_by_task(results: Results, table: str, column: str, task: str) -> Numbers:
    found = {task: numbers(results, "mean", table, column, task) for task in results.tasks}
    return {task: spread(ours) for task, ours in found.items() if ours}


def _median_by_task(results: Results, table: str, column: str, task: str) -> Numbers:
    found = {task: values(rows(results, table, task), column) for task in results.tasks}
    return {task: float(np.median(ours)) for task, ours in found.items() if len(ours)}


def _correlation_by_kind(results: Results, table: str, column: str, task: str) -> Numbers:
    """The correlation of a column with the number of robots with each kind of fault."""
    own = rows(results, table, task)
    # In the paper's order.
    kinds = ("range-and-bearing", "proximity", "wheel")
    return {kind: statistics.pearson(own[KINDS[kind]], own[column]) for kind in kinds}


def _fits(part: str) -> Callable[[Results, str, str, str], Numbers]:
    """A part of the least-squares line of a column on impact."""

    def measure(results: Results, table: str, column: str, task: str) -> Numbers:
        own = {name: rows(results, table, task, name) for name in results.algorithms}
        return {
            name: getattr(statistics.fit(frame["impact"], frame[column]), part)
            for name, frame in own.items()
        }

    return measure


SPECIAL: dict[str, Callable[[Results, str, str, str], Numbers]] = {
    "slope": _fits("slope"),
    "correlation": _fits("r"),
    "final": _final,
    "final outside baselines": _final_outside_baselines,
    "final less normal": _final_less_normal,
    "mean over others": _mean_over_others,
    "gain of recovery": _gain_of_recovery,
    "factor of recovery": _factor_of_recovery,
    "kept": _kept,
    "spread by task": _spread_by_task,
    "median by task": _median_by_task,
    "correlation by kind": _correlation_by_kind,
}
