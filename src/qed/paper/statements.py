"""What the paper says, statement by statement, and whether it holds in a study.

A statement is a row of ``statements.csv``: our words for it, where the paper says it, the paper's
number or direction, which numbers of a study it is about, and what still counts as holding.  Those
in words come first, in the paper's order; the numbers of its supplementary tables follow.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qed import paper
from qed.paper import PAPER, checks, measures
from qed.study import statistics
from qed.study.results import Results

HOLDS, DIFFERS, UNCHECKED = "holds", "differs", "not checkable here"
RISING = 0.005  # growth in the last tenth of the evaluations from which something still rises
UNDECIDED = 0.05  # p from which maps of two algorithms are not shown to differ
SELECTED = ("normal", "broken", "recovered", "impact", "resilience", "relative_performance")
# The groups of statements, in words and in tables, with their titles.
IN_WORDS = {
    "performance": "The maps: performance",
    "diversity": "The maps: coverage and diversity",
    "faults": "Faults and their impact",
    "recovery": "Recovery over all tasks",
    "by-task": "Recovery by task",
    "signatures": "Signatures: impact, resilience and distance",
}
IN_TABLES = {
    "table-s1": "Numbers of table S1: the maps in the normal environment",
    "table-s2": "Numbers of table S2: medians and interquartile ranges over all tasks",
    "table-s3": "Numbers of table S3: medians by task",
    "table-s3-tests": "Tests of table S3: significance and effect sizes",
}
ON_FAULTS = {*IN_WORDS, *IN_TABLES} - {"performance", "diversity", "table-s1"}


@dataclass(frozen=True)
class Statement:
    """A statement of the paper that has a number or a direction; the columns of the file."""

    id: str
    group: str
    where: str  # in the paper
    statement: str  # in our words
    how: str  # our number is found
    paper: str  # the paper's number or direction
    tolerance: str  # what still counts as holding
    why_tolerance: str
    check: str  # a function of ``checks``
    table: str  # of the study, see ``measures.rows``
    quantity: str  # see ``measures.numbers``
    column: str  # of the table, or an expression of columns; some checks take several
    task: str  # to which the rows are limited
    algorithms: tuple[str, ...]  # whose numbers are looked at; none: all
    holds: str  # a condition, see ``checks.holds``; none: the bounds that follow
    low: float  # the paper's range; NaN: no such bound
    high: float
    within: float  # what counts as within the range on both sides
    shown: str  # how our numbers are written
    needs_tasks: tuple[str, ...]  # that a study must have
    needs_algorithms: tuple[str, ...]
    selected: bool  # its numbers are of controllers that trials selected
    alone: bool  # a replicate alone can tell, with its fewer data
    progress: str  # column of progress.csv that says whether more evaluations raise the number
    never: str  # why no study can check it

    def lacks(self, results: Results) -> str:
        """Return why a study cannot check this, "" if it can."""
        if self.never:
            return self.never
        tasks = [task for task in self.needs_tasks if task not in results.tasks]
        names = [name for name in self.needs_algorithms if name not in results.algorithms]
        if len(tasks) > 1 and self.needs_tasks == PAPER.tasks:
            return "the paper's number is over five tasks"
        lacking = [*tasks, *(name.upper() for name in names)]
        return f"the study lacks {', '.join(lacking)}" if lacking else ""


def _read(row: Mapping[str, str]) -> Statement:
    """Return the statement of a row of the file."""
    given: dict[str, Any] = dict(row)
    for name in ("low", "high", "within"):
        given[name] = float(row[name] or math.nan)
    for name, short in {
        "algorithms": {"baselines": paper.BASELINES},
        "needs_tasks": {"all": PAPER.tasks},
        "needs_algorithms": {"all": PAPER.algorithms},
    }.items():
        given[name] = short.get(row[name]) or tuple(row[name].split())
    for name in ("selected", "alone"):
        given[name] = row[name] != "no"
    return Statement(**given)


STATEMENTS: tuple[Statement, ...] = tuple(map(_read, paper.rows("statements.csv")))


@dataclass(frozen=True)
class Judged:
    """A statement, held against a study."""

    statement: Statement
    verdict: str
    ours: str  # on fresh trials; of what is not checkable, why not
    claimed: str = ""  # on the selection trials, where that reads differently
    claimed_holds: bool | None = None  # None where ``claimed`` is ""
    agreeing: tuple[int, int] | None = None  # replicates that agree with the paper alone, of all
    reasons: tuple[str, ...] = ()  # for a difference, each backed by a measurement of the study


def count(judged: list[Judged]) -> dict[str, int]:
    """Return how many statements hold, differ and are not checkable."""
    return {word: sum(j.verdict == word for j in judged) for word in (HOLDS, DIFFERS, UNCHECKED)}


def judged(results: Results) -> list[Judged]:
    """Hold all statements against a study; with other faults, only those on the maps.

    None where all tasks are users'.
    """
    if not paper.about(results.tasks):
        return []
    settings, statements = results.settings, STATEMENTS
    among, broken = settings.get("among", PAPER.among), settings.get("broken", 0)
    if set(among) != set(PAPER.among) or broken != PAPER.broken:
        why = "the study draws other faults than the paper"
        statements = tuple(
            replace(each, never=each.never or why) if each.group in ON_FAULTS else each
            for each in STATEMENTS
        )
    return judge(results, statements)


def by_chance(results: Results, shuffles: int) -> dict[str, float]:
    """Return how many statements hold where maps have the names of algorithms at random.

    The mean over shuffles, for those in words and those in tables.  Maps of one task and replicate
    exchange their names; so what only says of a task what all algorithms do holds as before.
    """
    rng = np.random.default_rng(1)
    keys = list(results.runs.groupby(["task", "replicate"]).groups)
    found = dict.fromkeys(("words", "tables"), 0.0)
    for _ in range(shuffles):
        names = {
            (*key, old): new
            for key in keys
            for old, new in zip(
                results.algorithms, rng.permutation(results.algorithms), strict=True
            )
        }
        tables = {}
        for name in ("runs", "recoveries", "progress"):
            table = getattr(results, name)
            rows = zip(table["task"], table["replicate"], table["algorithm"], strict=True)
            tables[name] = table.assign(algorithm=[names[row] for row in rows])
        shuffled = replace(results, **tables)
        for each in STATEMENTS:
            answer = None if each.lacks(shuffled) else checks.check(each, shuffled)
            kind = "words" if each.group in IN_WORDS else "tables"
            found[kind] += bool(answer and answer.holds) / shuffles
    return found


def judge(results: Results, statements: Iterable[Statement]) -> list[Judged]:
    """Hold statements against a study."""
    claimed = on_selection_trials(results)
    alone = []
    for replicate in sorted(results.runs["replicate"].unique()):
        tables = {name: getattr(results, name) for name in ("runs", "recoveries", "progress")}
        own = {name: table[table["replicate"] == replicate] for name, table in tables.items()}
        alone.append(replace(results, **own))
    return [_judged(each, results, claimed, alone) for each in statements]


def on_selection_trials(results: Results) -> Results | None:
    """Return results as the paper measures: by the trials that selected the solutions.

    None if the study's tables lack these numbers.
    """
    recoveries, runs = results.recoveries, results.runs
    if "claimed_resilience" not in recoveries or "claimed_best" not in runs:
        return None
    claimed = {name: recoveries[f"claimed_{name}"] for name in SELECTED}
    highest = runs["claimed_best"] / runs["claimed_best_relative_performance"]
    return replace(
        results,
        recoveries=recoveries.assign(**claimed),
        runs=runs.assign(
            best=runs["claimed_best"],
            best_relative_performance=runs["claimed_best_relative_performance"],
            average_relative_performance=runs["mean"] / highest,
        ),
    )


def _judged(
    statement: Statement, results: Results, claimed: Results | None, alone: list[Results]
) -> Judged:
    lacks = statement.lacks(results)
    answer = None if lacks else checks.check(statement, results)
    if answer is None:
        return Judged(statement, UNCHECKED, lacks or "the study's tables lack the numbers")
    found = Judged(statement, HOLDS if answer.holds else DIFFERS, answer.ours)
    theirs = checks.check(statement, claimed) if claimed and statement.selected else None
    if theirs is not None and theirs != answer:
        found = replace(found, claimed=theirs.ours, claimed_holds=theirs.holds)
    if answer.holds:
        return found
    given = [checks.check(statement, one) for one in alone] if statement.alone else []
    known = [each for each in given if each is not None]
    if known and len(alone) > 1:
        found = replace(found, agreeing=(sum(each.holds for each in known), len(known)))
    return replace(found, reasons=tuple(_reasons(found, answer, results)))


def _p_of_maps(results: Results, statement: Statement, answer: checks.Answer) -> float:
    """Return the p that the medians of two algorithms' maps are alike."""
    rows = measures.rows(results, statement.table, statement.task)
    medians = rows.groupby(["algorithm", "task", "replicate"])[statement.column].median()
    sides = (medians.loc[[name]].reset_index() for name in (answer.who, answer.rival))
    ours, theirs = ((side[statement.column], side["task"]) for side in sides)
    return statistics.permutation_p(ours, theirs)


def _reasons(found: Judged, answer: checks.Answer, results: Results) -> Iterable[str]:
    """Yield what a measurement of the study says on a difference."""
    statement, evaluations = found.statement, results.settings["evaluations"]
    if found.claimed_holds:
        yield (
            "Selection bias: on the selection trials, which the paper uses, the statement "
            f"holds ({found.claimed})."
        )
    if evaluations < PAPER.evaluations and statement.progress:
        what = {"filled": "filled cells", "best": "best fitness", "mean": "mean fitness"}
        for name in answer.lower:
            grown = measures.growth(results, statement.progress, name, statement.task)
            if np.isfinite(grown) and grown > RISING:
                yield (
                    f"Fewer evaluations: {name.upper()} is below the paper, and its "
                    f"{what[statement.progress]} still grew by {grown:.1%} in the last tenth of "
                    f"{evaluations:,} evaluations (paper: {PAPER.evaluations:,})."
                )
    if answer.rival and statement.table == "recoveries":
        p = _p_of_maps(results, statement, answer)
        if p >= UNDECIDED:
            yield (
                f"Not shown: that {answer.who.upper()} and {answer.rival.upper()} differ here "
                f"(medians of maps, permuted within tasks, p={p:.2f})."
            )
    if found.agreeing and found.agreeing[0] > found.agreeing[1] / 2:
        agree, of = found.agreeing
        yield f"Replicates: {agree} of {of}, taken alone, agree{'s' * (agree == 1)} with the paper."
