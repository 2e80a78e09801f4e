"""How a statement of the paper is checked: one function for each form of statement."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from qed.paper import measures
from qed.paper.measures import Numbers, rows
from qed.paper.numbers import BASELINES, QED
from qed.study import statistics
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


def _own_values(said: Statement, results: Results) -> np.ndarray:
    """Return the values of a column, of one algorithm if one is given; none if it is not there."""
    own = rows(results, said.table, said.task, *said.algorithms)
    return measures.values(own, said.column) if said.column in own else np.empty(0)


def _ends(said: Statement, results: Results) -> Answer | None:
    """All values are in the paper's range."""
    ours = _own_values(said, results)
    if not len(ours):
        return None
    low, high = _bounds(said)
    inside = bool(low <= ours.min() and ours.max() <= high)
    return Answer(span(ours.min(), ours.max()), inside, said.algorithms if ours.min() < low else ())


def _covers(said: Statement, results: Results) -> Answer | None:
    """Values cover the paper's range, but for the bound at either end."""
    ours = _own_values(said, results)
    if not len(ours):
        return None
    low, high = np.quantile(ours, (0.01, 0.99)).tolist()
    covered = low <= said.low + said.within and high >= said.high - said.within
    return Answer(span(low, high), covered)


def _robots(said: Statement, results: Results) -> Answer | None:
    """The number of robots with a fault is in the paper's range."""
    ours = _own_values(said, results)
    if not len(ours):
        return None
    low, high = _bounds(said)
    inside = float(((ours >= said.low) & (ours <= said.high)).mean())
    words = f"{ours.min():.0f} to {ours.max():.0f}; {inside:.0%} of the faults in the paper's range"
    return Answer(words, bool(low <= ours.min() and ours.max() <= high))


def _most_inside(said: Statement, results: Results) -> Answer | None:
    """At least a part of the values, which ``holds`` gives, is in the paper's range."""
    ours = _own_values(said, results)
    if not len(ours):
        return None
    low, high = _bounds(said)
    inside = float(((ours >= low) & (ours <= high)).mean())
    ends = span(*np.quantile(ours, (0.05, 0.95)).tolist())
    words = f"{inside:.0%} in range; 5th to 95th percentile {ends}"
    return Answer(words, inside >= float(said.holds))


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
def comparisons(results: Results, column: str) -> pd.DataFrame:
    """Compare QED with each baseline in each task, as table S3 does."""
    baselines = [name for name in results.algorithms if name != QED]
    made = len(results.tasks) * len(baselines)
    found = []
    for task in results.tasks:
        ours = rows(results, "recoveries", task, QED)[column]
        for baseline in baselines:
            theirs = rows(results, "recoveries", task, baseline)[column]
            p, delta = statistics.rank_sum_p(ours, theirs), statistics.cliffs_delta(ours, theirs)
            if math.isfinite(p):
                found.append((task, baseline, *compared(p, delta, statistics.stars(p, made))))
    return pd.DataFrame(found, columns=["task", "baseline", *Compared._fields])


class Compared(NamedTuple):
    """QED against a baseline."""

    p: float
    p_words: str
    stars: str  # of Bonferroni's correction for all comparisons
    delta: float  # Cliff's; positive where QED is better
    effect: str  # word for its size
    outcome: str  # which is better, where that is significant


def compared(p: float, delta: float, stars: str) -> Compared:
    """Return a comparison in numbers and words."""
    outcome = ("QED better" if delta > 0 else "QED worse") if stars else "no difference"
    p_words = "p<0.001" if p <= 0.001 else f"p={p:.3f}"
    return Compared(p, p_words, stars, delta, statistics.effect(delta), outcome)


@measures.remembered
def _met(results: Results, column: str, condition: str) -> pd.Series:
    """Return which comparisons meet a condition."""
    table = comparisons(results, column)
    met: pd.Series = table.eval(condition) if len(table) else pd.Series(dtype=bool)
    return met


def _comparisons(said: Statement, results: Results) -> Answer | None:
    """So many comparisons meet the condition."""
    table, met = comparisons(results, said.column), _met(results, said.column, said.holds)
    there = table["task"].isin(said.task.split() or results.tasks)
    if not there.any():
        return None
    won, lost = int(met[there].sum()), table[there & ~met]
    names = [f"{e['baseline'].upper()} in {e['task']}" for e in lost.to_dict("records")]
    but = f"; not against {', '.join(names)}" if 0 < len(names) <= 6 else ""
    low, high = _bounds(said)
    return Answer(f"{won} of {there.sum()}{but}", low <= won <= high)


def _comparison(said: Statement, results: Results) -> Answer | None:
    """One comparison meets the condition."""
    table, met = comparisons(results, said.column), _met(results, said.column, said.holds)
    there = (table["task"] == said.task) & table["baseline"].isin(said.algorithms)
    for found in table[there].to_dict("records"):
        return Answer(said.shown.format(**found), bool(met[there].iloc[0]))
    return None


CHECKS: dict[str, Callable[[Statement, Results], Answer | None]] = {
    "compare": _compare,
    "rank": _rank,
    "spread": _spread,
    "widest task": _widest_task,
    "each task": _each_task,
    "settled": _settled,
    "ends": _ends,
    "covers": _covers,
    "robots": _robots,
    "most inside": _most_inside,
    "kinds by task": _kinds_by_task,
    "on par": _on_par,
    "comparisons": _comparisons,
    "comparison": _comparison,
}
