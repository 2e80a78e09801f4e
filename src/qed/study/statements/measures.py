"""Numbers of a study that statements are about; algorithms without data are left out."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import pandas as pd

from qed.study import statistics
from qed.study.results import Results
from qed.study.signatures import kept

Numbers = dict[str, float]  # by algorithm
Given = ParamSpec("Given")
Found = TypeVar("Found")

LAST = 0.9  # of the evaluations: growth is what comes after
GRID = np.linspace(-0.5, 0.1, 241)  # where the most frequent value is looked for


def remembered(
    function: Callable[Concatenate[Results, Given], Found],
) -> Callable[Concatenate[Results, Given], Found]:
    """Let results keep what a function of them found: many statements ask for the same.

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


def _by_algorithm(
    results: Results, table: pd.DataFrame, column: str, how: Callable[[np.ndarray], float]
) -> Numbers:
    found = {}
    for name in results.algorithms:
        values = table.loc[table["algorithm"] == name, column].to_numpy(float)
        values = values[np.isfinite(values)]
        if len(values):
            found[name] = float(how(values))
    return found


@remembered
def medians(results: Results, column: str, task: str = "") -> Numbers:
    """Return medians of a column of the recoveries."""
    table = results.recoveries
    table = table[table["task"] == task] if task else table
    return _by_algorithm(results, table, column, lambda values: float(np.median(values)))


@remembered
def recovered(results: Results, algorithm: str, column: str, task: str = "") -> np.ndarray:
    """Return a column of an algorithm's recoveries."""
    table = results.recoveries[results.recoveries["algorithm"] == algorithm]
    table = table[table["task"] == task] if task else table
    values: np.ndarray = table[column].to_numpy(float)
    return values


@remembered
def iqrs(results: Results, column: str) -> Numbers:
    """Return interquartile ranges of a column of the recoveries."""
    return _by_algorithm(
        results, results.recoveries, column, lambda values: statistics.median_iqr(values)[1]
    )


@remembered
def means(results: Results, column: str, task: str = "") -> Numbers:
    """Return means of a column of the maps."""
    table = results.runs
    table = table[table["task"] == task] if task else table
    return _by_algorithm(results, table, column, np.mean)


@remembered
def map_medians(results: Results, column: str) -> Numbers:
    """Return medians of a column of the maps of all tasks."""
    return _by_algorithm(results, results.runs, column, lambda values: float(np.median(values)))


@remembered
def ends(results: Results, column: str, task: str, algorithm: str) -> tuple[float, float] | None:
    """Return the lowest and the highest value of the maps."""
    runs = results.runs[(results.runs["task"] == task) & (results.runs["algorithm"] == algorithm)]
    values = runs[column].dropna()
    return (float(values.min()), float(values.max())) if len(values) else None


@remembered
def shown(results: Results, column: str, algorithm: str) -> np.ndarray:
    """Return a column of the recoveries that the signatures show."""
    values: np.ndarray = kept(results.recoveries, algorithm)[0][column].to_numpy(float)
    return values


def of_shown(results: Results, column: str, how: Callable[[np.ndarray], float]) -> Numbers:
    """Return a number of each algorithm's recoveries that the signatures show."""
    found = {}
    for name in results.algorithms:
        values = shown(results, column, name)
        if len(values):
            found[name] = float(how(values))
    return {name: value for name, value in found.items() if np.isfinite(value)}


@remembered
def slopes(results: Results, column: str) -> Numbers:
    """Return the slopes of a column on impact, as in the signatures."""
    return _fits(results, column, lambda line: line.slope)


@remembered
def correlations(results: Results, column: str) -> Numbers:
    """Return the correlations of a column with impact, as in the signatures."""
    return _fits(results, column, lambda line: line.r)


def _fits(results: Results, column: str, part: Callable[[statistics.Fit], float]) -> Numbers:
    found = {}
    for name in results.algorithms:
        points = kept(results.recoveries, name)[0]
        found[name] = part(statistics.fit(points["impact"], points[column]))
    return {name: value for name, value in found.items() if np.isfinite(value)}


def most_frequent(values: np.ndarray) -> float:
    """Return where the density of values is highest (Gaussian kernel, Scott's bandwidth)."""
    from scipy.stats import gaussian_kde

    if len(values) < 5 or np.ptp(values) < 1e-9:
        return float("nan")
    return float(GRID[np.argmax(gaussian_kde(values)(GRID))])


@remembered
def finals(results: Results, column: str, task: str) -> Numbers:
    """Return a column of the progress at the end of evolution, the mean over replicates."""
    own = results.progress[results.progress["task"] == task]
    last = own.sort_values("evaluations").groupby(["algorithm", "replicate"])[column].last()
    mean = last.groupby("algorithm").mean()
    return {name: float(mean[name]) for name in results.algorithms if name in mean.index}


@remembered
def growth(results: Results, column: str, algorithm: str, task: str = "") -> float:
    """Return how much a column of the progress grew in the last tenth of the evaluations.

    As a part of what it was at the end; the mean over runs; NaN where progress is too coarse.
    """
    own = results.progress[results.progress["algorithm"] == algorithm]
    own = own[own["task"] == task] if task else own
    before, after = [], []
    for _, run in own.sort_values("evaluations").groupby(["task", "replicate"]):
        early = run[run["evaluations"] <= LAST * run["evaluations"].max()]
        if len(early):
            before.append(early[column].iloc[-1])
            after.append(run[column].iloc[-1])
    if not after or not np.mean(after) > 0:
        return float("nan")
    return float(1 - np.mean(before) / np.mean(after))
