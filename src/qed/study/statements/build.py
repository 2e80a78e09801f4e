"""The usual forms of statements: a number, a range, a place in a ranking."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from qed.study.results import Results
from qed.study.statements.measures import Numbers
from qed.study.statements.model import Answer, Statement, Tolerance
from qed.study.statements.needs import ALL_ALGORITHMS, Needs

Measure = Callable[[Results], Numbers]

CLOSE = 0.03
CLOSE_WHY = "the paper calls performances close that differ by at most 0.03"
PLACE = Tolerance("the rank must be the same", "numbers with all decimals have no ties")
DIRECTION = Tolerance("the direction must be the same", "the paper gives a direction only")


def close(within: float = CLOSE, why: str = CLOSE_WHY) -> Tolerance:
    """Return the tolerance of a number."""
    return Tolerance(f"within {within:.2g}", why)


def row(numbers: Mapping[str, float], how: str = "{:.2f}") -> str:
    """Return numbers by algorithm in words."""
    return ", ".join(f"{name.upper()} {how.format(value)}" for name, value in numbers.items())


def span(low: float, high: float, how: str = "{:.2f}") -> str:
    """Return a range in words, or the number if both ends read the same."""
    ends = how.format(low), how.format(high)
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def no_more(difference: float, bound: float) -> bool:
    """Return whether a difference is within a bound, up to the last bits of both."""
    return bool(difference <= bound + 1e-9)


def number(
    base: Statement, measure: Measure, algorithm: str, paper: float, within: float
) -> Statement:
    """Return the statement that an algorithm has a number."""
    how = "{:,.0f}" if abs(paper) >= 10 else "{:.2f}"

    def check(results: Results) -> Answer | None:
        ours = measure(results).get(algorithm)
        if ours is None:
            return None
        below = (algorithm,) if ours < paper else ()
        return Answer(how.format(ours), no_more(abs(ours - paper), within), below)

    needs = Needs(base.needs.tasks, (algorithm,))
    return replace(base, check=check, needs=needs, theirs=how.format(paper))


def ranged(
    base: Statement,
    measure: Measure,
    paper: tuple[float, float],
    within: float,
    names: Sequence[str] = (),
) -> Statement:
    """Return the statement that the numbers of some algorithms, or of all, are in a range."""
    low, high = paper

    def check(results: Results) -> Answer | None:
        ours = measure(results)
        ours = {name: ours[name] for name in names or ours if name in ours}
        if not ours:
            return None
        inside = all(low - within - 1e-9 <= v <= high + within + 1e-9 for v in ours.values())
        below = tuple(name for name, value in ours.items() if value < low - within)
        return Answer(row(ours), inside, below)

    needs = Needs(base.needs.tasks, tuple(names) or base.needs.algorithms)
    return replace(base, check=check, theirs=span(low, high), needs=needs)


def placed(
    base: Statement,
    measure: Measure,
    who: str,
    place: int,
    paper: Mapping[str, float],
    sample: Callable[[Results, str], Any] | None = None,
) -> Statement:
    """Return the statement that an algorithm has a place: 1 is highest, -1 is lowest.

    ``sample`` gives the data of an algorithm, to test whether a different place is significant.
    """

    def check(results: Results) -> Answer | None:
        ours = measure(results)
        if who not in ours or len(ours) < abs(place) or len(ours) < 2:
            return None
        order = sorted(ours, key=lambda name: ours[name], reverse=place > 0)
        there = order[abs(place) - 1]
        held = ours[there] == ours[who]
        return Answer(row(ours, _decimals(ours)), held, rival="" if held else there)

    return replace(base, check=check, theirs=row(paper), tolerance=PLACE, who=who, sample=sample)


def _decimals(numbers: Mapping[str, float]) -> str:
    """Return two decimals, or three where two would not tell the numbers apart."""
    two = [f"{value:.2f}" for value in numbers.values()]
    return "{:.2f}" if len(set(two)) == len(two) else "{:.3f}"


def yes_or_no(base: Statement, check: Callable[[Results], Answer | None], theirs: str) -> Statement:
    """Return a statement with a check of its own."""
    return replace(base, check=check, theirs=theirs)


def about(group: str, where: str) -> Callable[..., Statement]:
    """Return a maker of statements of one group and place, whose checks are still to come."""

    def make(id: str, says: str, how: str, **more: Any) -> Statement:  # noqa: A002
        more = {"tolerance": DIRECTION, "needs": ALL_ALGORITHMS, "theirs": "", **more}
        return Statement(
            id=id, group=group, where=more.pop("where", where), says=says, how=how,
            check=lambda _: None, **more,
        )  # fmt: skip

    return make


def spread(numbers: Mapping[str, float]) -> float:
    """Return the highest less the lowest."""
    values = list(numbers.values())
    return float(np.max(values) - np.min(values))
