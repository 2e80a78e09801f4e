"""A statement of the paper, and what becomes of it when it is held against a study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from qed.study.results import Results
from qed.study.statements.needs import ALL_ALGORITHMS, PAPER, Needs

HOLDS, DIFFERS, UNCHECKED = "holds", "differs", "not checkable here"


class Answer(NamedTuple):
    """What a study says to a statement."""

    ours: str  # its numbers, in words
    holds: bool
    lower: tuple[str, ...] = ()  # algorithms whose number is below what the paper says
    rival: str = ""  # algorithm that has the place which the paper gives to another


class Tolerance(NamedTuple):
    """What still counts as holding, and why so much."""

    words: str
    why: str


@dataclass(frozen=True)
class Statement:
    """A statement of the paper that has a number or a direction, in our own words."""

    id: str
    group: str
    where: str  # in the paper
    says: str
    how: str  # our number is found
    theirs: str  # the paper's number or direction
    tolerance: Tolerance
    check: Callable[[Results], Answer | None]  # None: the study's tables lack the data
    needs: Needs = ALL_ALGORITHMS
    chosen: bool = True  # its numbers are of controllers that trials chose
    progress: str = ""  # column of progress.csv that tells whether more evaluations raise it
    task: str = ""  # to which that column is limited
    who: str = ""  # algorithm whose place among the others is told
    sample: Callable[[Results, str], Any] | None = None  # data behind that place, by algorithm
    alone: bool = True  # a replicate alone can tell, with its fewer data
    never: str = ""  # why no study can check it

    def lacks(self, results: Results) -> str:
        """Return why a study cannot check this, "" if it can."""
        if self.never:
            return self.never
        tasks = [task for task in self.needs.tasks if task not in results.tasks]
        names = [name for name in self.needs.algorithms if name not in results.algorithms]
        if len(tasks) > 1 and self.needs.tasks == PAPER.tasks:
            return "the paper's number is over five tasks"
        lacking = [*tasks, *(name.upper() for name in names)]
        return f"the study lacks {', '.join(lacking)}" if lacking else ""


@dataclass(frozen=True)
class Judged:
    """A statement, held against a study."""

    statement: Statement
    verdict: str
    ours: str  # on fresh trials; of what is not checkable, why not
    claimed: str = ""  # the same the paper's way, where that reads differently
    claimed_holds: bool | None = None  # None where there is nothing of its own to tell
    agreeing: tuple[int, int] | None = None  # replicates that agree with the paper alone, of all
    reasons: tuple[str, ...] = ()  # for a difference, each backed by a measurement of the study


def count(judged: list[Judged]) -> dict[str, int]:
    """Return how many statements hold, differ and are not checkable."""
    return {word: sum(j.verdict == word for j in judged) for word in (HOLDS, DIFFERS, UNCHECKED)}
