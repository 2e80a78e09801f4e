"""How a statement of the paper is checked: one function for each form of statement."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from qed.paper import BASELINES, QED, measures
from qed.paper.measures import Numbers, rows
from qed.study.results import Results

if TYPE_CHECKING:
    from qed.paper.statements import Statement

TINY = 1e-9  # a number on a bound is within it, whatever its last bits are
ROW = "{name} {value:.2f}"
SIGNS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}


class Answer(NamedTuple):
    """What a study says to a statement."""

    ours: str  # its numbers, in words
    holds: bool
    lower: tuple[str, ...] = ()  # algorithms whose number is below what the paper says
    who: str = ""  # the algorithm to which the paper gives a place, and
    rival: str = ""  # the one that has it here


def check(said: Statement, results: Results) -> Answer | None:
    """Check a statement; None if the study's tables lack the data."""
    return CHECKS[said.check](said, results) if said.check else None


def holds(condition: str, ours: Numbers) -> bool | None:
    """Return whether numbers meet a condition, None if some of it has no numbers.

    Sides are compared each with each: names, "all", "baselines", "others" (than those on the left),
    or a number.

    >>> holds("qed > hbd > sdbc,spirit; baselines < 9", dict(qed=8, hbd=7, sdbc=6, spirit=5))
    True
    """
    met = []
    for part in condition.split(";"):
        sides = re.split(r"\s*(<=|>=|<|>)\s*", part.strip())
        for left, sign, right in zip(sides[::2], sides[1::2], sides[2::2], strict=False):
            pairs = [(a, b) for a in _side(left, ours) for b in _side(right, ours, left)]
            if not pairs:
                return None
            met.append(all(SIGNS[sign](a, b) for a, b in pairs))
    return all(met)


def _side(side: str, ours: Numbers, but: str = "") -> list[float]:
    if re.fullmatch(r"-?[\d.]+", side):
        return [float(side)]
    groups = {"all": list(ours), "baselines": BASELINES, "others": [n for n in ours if n != but]}
    return [ours[name] for name in groups.get(side, side.split(",")) if name in ours]


def span(low: float, high: float) -> str:
    """Return a range in words, or the number if both ends read the same."""
    ends = f"{low:.2f}", f"{high:.2f}"
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def row(numbers: Numbers, how: str = ROW) -> str:
    """Return numbers in words; algorithms are written in capitals."""
    capital = {QED, *BASELINES}
    return ", ".join(
        how.format(name=name.upper() if name in capital else name, value=value)
        for name, value in numbers.items()
    )


def _numbers(said: Statement, results: Results, task: str = "") -> Numbers:
    found = measures.numbers(results, said.quantity, said.table, said.column, task or said.task)
    return {name: v for name, v in found.items() if not said.algorithms or name in said.algorithms}


def _bounds(said: Statement) -> tuple[float, float]:
    """Return the paper's range with what counts as within it; no bound is infinitely far."""
    low = -math.inf if math.isnan(said.low) else said.low - said.within - TINY
    high = math.inf if math.isnan(said.high) else said.high + said.within + TINY
    return low, high


def _compare(said: Statement, results: Results) -> Answer | None:
    """Numbers meet a condition, or are in the paper's range."""
    ours = _numbers(said, results)
    low, high = _bounds(said)
    held = all(low <= v <= high for v in ours.values())
    met = holds(said.holds, ours) if said.holds else held
    if not ours or met is None:
        return None
    floor = said.low if said.low == said.high else said.low - said.within
    return Answer(row(ours, said.shown), met, tuple(n for n, v in ours.items() if v < floor))


def _rank(said: Statement, results: Results) -> Answer | None:
    """An algorithm has a place: 1 is highest, -1 is lowest."""
    ours = _numbers(said, results)
    who, _, place = said.holds.split()
    at = int(place)
    if who not in ours or len(ours) < max(abs(at), 2):
        return None
    order = sorted(ours, key=lambda name: ours[name], reverse=at > 0)
    there = order[abs(at) - 1]
    held = ours[there] == ours[who]
    two = {f"{value:.2f}" for value in ours.values()}  # three decimals where two would not do
    how = ROW if len(two) == len(ours) else ROW.replace("2", "3")
    return Answer(row(ours, how), held, who=who, rival="" if held else there)


def _spread(said: Statement, results: Results) -> Answer | None:
    """Numbers differ by no more than the bound."""
    ours = _numbers(said, results)
    if len(ours) < 2:
        return None
    apart = measures.spread(ours)
    centroids = row(measures.numbers(results, "mean", "runs", "diversity"))
    words = said.shown.format(spread=apart, row=row(ours), centroids=centroids)
    return Answer(words, apart <= said.within + TINY)


def _widest_task(said: Statement, results: Results) -> Answer | None:
    """In no task do numbers differ by more than the bound, as a part of the highest."""
    by_task = {task: _numbers(said, results, task) for task in results.tasks}
    apart = {t: measures.spread(n) / max(n.values()) for t, n in by_task.items() if len(n) > 1}
    if not apart:
        return None
    widest = max(apart, key=lambda task: apart[task])
    words = said.shown.format(name=widest, value=apart[widest])
    return Answer(words, apart[widest] <= said.within + TINY)


def _each_task(said: Statement, results: Results) -> Answer | None:
    """A condition is met in each task."""
    found = {task: holds(said.holds, _numbers(said, results, task)) for task in results.tasks}
    known = [task for task, met in found.items() if met is not None]
    if not known:
        return None
    failing = [task for task in known if not found[task]]
    words = f"in {len(known) - len(failing)} of {len(known)} tasks"
    return Answer(words + (f", not in {', '.join(failing)}" if failing else ""), not failing)


def _settled(said: Statement, results: Results) -> Answer | None:
    """Nothing grows by more than the bound in the last tenth of the evaluations."""
    grown = {
        (metric, name, task): measures.growth(results, metric, name, task)
        for metric in said.column.split()
        for name in results.algorithms
        for task in results.tasks
    }
    found = {key: value for key, value in grown.items() if np.isfinite(value)}
    if not found:
        return None
    (metric, name, task), most = max(found.items(), key=lambda item: item[1])
    still = sum(value > said.within for value in found.values())
    words = f"{still} of {len(found)} still rise; most {metric}, {name.upper()}, {task}: {most:.1%}"
    return Answer(words, still == 0)


def _values(said: Statement, results: Results) -> Answer | None:
    """Values of a column, of one algorithm if one is given, meet a condition."""
    own = rows(results, said.table, said.task, *said.algorithms)
    ours = measures.values(own, said.column) if said.column in own else np.empty(0)
    if not len(ours):
        return None
    low, high = _bounds(said)
    cuts = dict(
        zip(("q01", "q05", "q95", "q99"), np.quantile(ours, (0.01, 0.05, 0.95, 0.99)), strict=True)
    )
    found = {
        **cuts, "min": ours.min(), "max": ours.max(), "low": low, "high": high,
        "inside": ((ours >= low) & (ours <= high)).mean(),
        "exactly": ((ours >= said.low) & (ours <= said.high)).mean(),
    }  # fmt: skip
    ranges = {
        "ends": span(found["min"], found["max"]),
        "spectrum": span(found["q01"], found["q99"]),
        "bulk": span(found["q05"], found["q95"]),
    }
    words = said.shown.format(**found, **ranges)
    below = said.algorithms if found["min"] < low else ()
    return Answer(words, bool(holds(said.holds, found)), below)


def _kinds_by_task(said: Statement, results: Results) -> Answer | None:
    """In no task is a kind of fault correlated with the column."""
    found = {
        (task, kind): r
        for task in sorted(results.tasks)
        for kind, r in measures.numbers(
            results, "correlation by kind", said.table, said.column, task
        ).items()
    }
    if not found:
        return None
    (task, kind), r = max(found.items(), key=lambda item: abs(item[1]))
    strong = sum(abs(value) >= said.within for value in found.values())
    words = f"{strong} of {len(found)} beyond {said.within}; strongest: {kind}, {task}, {r:.2f}"
    return Answer(words, strong == 0)


def _on_par(said: Statement, results: Results) -> Answer | None:
    """QED's mean is at most a part lower than the mean of the others', in two columns."""
    words, held = [], []
    for column, how in zip(said.column.split(), ("{:.2f}", "{:.0f}"), strict=True):
        ours = measures.numbers(results, said.quantity, said.table, column)
        others = [value for name, value in ours.items() if name != QED]
        if QED not in ours or not others:
            return None
        mean = sum(others) / len(others)
        words.append(f"QED {how.format(ours[QED])}, the others' mean {how.format(mean)}")
        held.append(ours[QED] >= (1 - said.within) * mean)
    return Answer("; ".join(words), all(held))


@measures.remembered
def _met(results: Results, column: str, condition: str) -> pd.DataFrame:
    """Return the comparisons that could be made, and whether each meets a condition."""
    table = measures.comparisons(results, column)
    if table.empty:
        return table
    table = table[np.isfinite(table["p"])]
    return table.assign(met=table.eval(condition))


def _compared(said: Statement, results: Results) -> list[dict[str, Any]]:
    """Return the comparisons that a statement is about."""
    table = _met(results, said.column, said.holds)
    tasks = said.task.split() or results.tasks
    return [one for one in table.to_dict("records") if one["task"] in tasks]


def _comparisons(said: Statement, results: Results) -> Answer | None:
    """So many comparisons meet the condition."""
    found = _compared(said, results)
    if not found:
        return None
    lost = [f"{one['baseline'].upper()} in {one['task']}" for one in found if not one["met"]]
    but = f"; not against {', '.join(lost)}" if 0 < len(lost) <= 6 else ""
    won = len(found) - len(lost)
    low, high = _bounds(said)
    return Answer(f"{won} of {len(found)}{but}", low <= won <= high)


def _comparison(said: Statement, results: Results) -> Answer | None:
    """One comparison meets the condition."""
    for one in _compared(said, results):
        if one["baseline"] in said.algorithms:
            return Answer(said.shown.format(**one), bool(one["met"]))
    return None


CHECKS: dict[str, Callable[[Statement, Results], Answer | None]] = {
    "compare": _compare,
    "rank": _rank,
    "spread": _spread,
    "widest task": _widest_task,
    "each task": _each_task,
    "settled": _settled,
    "values": _values,
    "kinds by task": _kinds_by_task,
    "on par": _on_par,
    "comparisons": _comparisons,
    "comparison": _comparison,
}
