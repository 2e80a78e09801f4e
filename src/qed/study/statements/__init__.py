"""What the paper says, statement by statement, and whether it holds in a study.

A statement is data: its words (our own), where the paper has it, how our number is found, the
paper's number, and what still counts as holding.  Those in words come first, in the paper's
order; the numbers of its supplementary tables follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from qed.study.results import Results
from qed.study.statements import (
    by_task,
    diversity,
    evolution,
    maps,
    recovery,
    signatures,
    tables,
)
from qed.study.statements.judge import judge
from qed.study.statements.model import DIFFERS, HOLDS, UNCHECKED, Judged, Statement, count
from qed.study.statements.needs import PAPER

__all__ = ["DIFFERS", "HOLDS", "IN_TABLES", "IN_WORDS", "ON_FAULTS", "STATEMENTS", "UNCHECKED",
           "Judged", "Statement", "count", "judged"]  # fmt: skip

IN_WORDS = {
    evolution.GROUP: "The maps: performance",
    diversity.GROUP: "The maps: coverage and diversity",
    recovery.FAULTS: "Faults and their impact",
    recovery.RECOVERY: "Recovery over all tasks",
    by_task.GROUP: "Recovery by task",
    signatures.GROUP: "Signatures: impact, resilience and distance",
}
IN_TABLES = {
    tables.S1: "Numbers of table S1: the maps in the normal environment",
    tables.S2: "Numbers of table S2: medians and interquartile ranges over all tasks",
    tables.S3: "Numbers of table S3: medians by task",
    tables.TESTS: "Tests of table S3: significance and effect sizes",
}
ON_FAULTS = {
    recovery.FAULTS, recovery.RECOVERY, by_task.GROUP, signatures.GROUP,
    tables.S2, tables.S3, tables.TESTS,
}  # fmt: skip
STATEMENTS: tuple[Statement, ...] = (
    *evolution.statements(),
    *maps.statements(),
    *diversity.statements(),
    *recovery.statements(),
    *by_task.statements(),
    *signatures.statements(),
    *tables.statements(),
)


def judged(results: Results) -> list[Judged]:
    """Hold all statements against a study; with other faults, only those on the maps."""
    statements = STATEMENTS
    if _draws_other_faults(results.settings):
        why = "the study draws other faults than the paper"
        statements = tuple(
            replace(each, never=each.never or why) if each.group in ON_FAULTS else each
            for each in STATEMENTS
        )
    return judge(results, statements)


def _draws_other_faults(settings: Mapping[str, Any]) -> bool:
    """Tell whether robots break in other ways than the paper's."""
    among = settings.get("among", PAPER.among)
    return set(among) != set(PAPER.among) or settings.get("broken", 0) != PAPER.broken
