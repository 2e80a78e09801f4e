"""Hold statements against a study: verdicts, and reasons that a measurement backs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from qed.study import statistics
from qed.study.results import Results
from qed.study.statements import measures
from qed.study.statements.model import DIFFERS, HOLDS, UNCHECKED, Answer, Judged, Statement
from qed.study.statements.needs import PAPER

RISING = 0.005  # growth in the last tenth of the evaluations from which something still rises
UNDECIDED = 0.05  # p from which two algorithms are not told apart
CHOSEN = ("normal", "broken", "recovered", "impact", "resilience", "performance")


def the_papers_way(results: Results) -> Results | None:
    """Return results as the paper measures: winners told by the trials that chose them.

    None if the study's tables lack these numbers.
    """
    recoveries, runs = results.recoveries, results.runs
    if "claimed_resilience" not in recoveries or "claimed_best" not in runs:
        return None
    claimed = {name: recoveries[f"claimed_{name}"] for name in CHOSEN}
    highest = runs["claimed_best"] / runs["claimed_best_performance"]
    return replace(
        results,
        recoveries=recoveries.assign(**claimed),
        runs=runs.assign(
            best=runs["claimed_best"],
            best_performance=runs["claimed_best_performance"],
            average_performance=runs["mean"] / highest,
        ),
    )


def judge(results: Results, statements: Iterable[Statement]) -> list[Judged]:
    """Hold statements against a study."""
    claimed = the_papers_way(results)
    alone = list(_each_replicate(results))
    return [_judged(each, results, claimed, alone) for each in statements]


def _judged(
    statement: Statement, results: Results, claimed: Results | None, alone: list[Results]
) -> Judged:
    lacks = statement.lacks(results)
    answer = None if lacks else statement.check(results)
    if answer is None:
        return Judged(statement, UNCHECKED, lacks or "the study's tables lack the numbers")
    found = Judged(statement, HOLDS if answer.holds else DIFFERS, answer.ours)
    theirs = statement.check(claimed) if claimed is not None and statement.chosen else None
    if theirs is not None and theirs != answer:
        found = replace(found, claimed=theirs.ours, claimed_holds=theirs.holds)
    if answer.holds:
        return found
    given = [statement.check(each) for each in alone] if len(alone) > 1 and statement.alone else []
    known = [each for each in given if each is not None]
    if known:
        found = replace(found, agreeing=(sum(each.holds for each in known), len(known)))
    return replace(found, reasons=tuple(_reasons(statement, found, answer, results)))


def _reasons(
    statement: Statement, found: Judged, answer: Answer, results: Results
) -> Iterable[str]:
    """Yield what a measurement of the study says on a difference."""
    if found.claimed_holds:
        yield (
            "Luck: on the selection trials, which the paper uses, the statement holds "
            f"({found.claimed})."
        )
    if results.settings["evaluations"] < PAPER.evaluations and statement.progress:
        for name in answer.lower:
            grown = measures.growth(results, statement.progress, name, statement.task)
            if np.isfinite(grown) and grown > RISING:
                what = {"coverage": "filled cells", "best": "best fitness", "mean": "mean fitness"}
                yield (
                    f"Fewer evaluations: {name.upper()} is below the paper, and its "
                    f"{what[statement.progress]} still grew by {grown:.1%} in the last tenth of "
                    f"{results.settings['evaluations']:,} evaluations (paper: "
                    f"{PAPER.evaluations:,})."
                )
    if answer.rival and statement.sample is not None:
        p = statistics.rank_sum_p(
            statement.sample(results, statement.who), statement.sample(results, answer.rival)
        )
        if p >= UNDECIDED:
            yield (
                f"Not significant: the difference between {statement.who.upper()} and "
                f"{answer.rival.upper()} here (rank-sum test, p={p:.2f})."
            )
    if found.agreeing and found.agreeing[0]:
        agree, of = found.agreeing
        yield f"Replicates: {agree} of {of}, taken alone, agree{'s' * (agree == 1)} with the paper."


def _each_replicate(results: Results) -> Iterable[Results]:
    """Yield the results of each replicate alone."""
    for replicate in sorted(results.runs["replicate"].unique()):
        tables = {
            name: table[table["replicate"] == replicate]
            for name, table in (
                ("runs", results.runs),
                ("recoveries", results.recoveries),
                ("progress", results.progress),
            )
        }
        yield replace(results, **tables)
