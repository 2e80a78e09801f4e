"""What the paper says of recovery task by task, QED against the baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from qed.study import paper, statistics
from qed.study.results import Results
from qed.study.statements import measures
from qed.study.statements.build import about, close, placed, ranged, yes_or_no
from qed.study.statements.model import Answer, Statement, Tolerance
from qed.study.statements.needs import ALL_TASKS, BASELINES, PAPER, QED, Needs, printed

GROUP = "by-task"
METRICS = {"resilience": "resilience", "recovered performance": "performance"}
BIG = ("medium", statistics.LARGE)
ONE = Tolerance("one comparison more or less", "a comparison at the threshold can fall either way")

_made = about(GROUP, "Results, fault recovery; table S3")
_table = partial(_made, how="Median over the recoveries of the task.")
_discussed = partial(_table, where="Results, fault recovery; Discussion; table S3")


class Compared(NamedTuple):
    """QED against a baseline in a task."""

    task: str
    baseline: str
    p: float
    stars: str  # of Bonferroni's correction for all comparisons
    delta: float  # Cliff's; positive where QED is better

    @property
    def effect(self) -> str:
        """Word for the size of the difference."""
        return statistics.effect(self.delta)

    @property
    def outcome(self) -> str:
        """Which is better, where that is significant."""
        if not self.stars:
            return "no difference"
        return "QED better" if self.delta > 0 else "QED worse"


@measures.remembered
def compared(results: Results, column: str, task: str, baseline: str) -> Compared | None:
    """Compare QED with a baseline; None without recoveries of both."""
    own = results.recoveries[results.recoveries["task"] == task]
    ours, theirs = (own.loc[own["algorithm"] == name, column] for name in (QED, baseline))
    p, delta = statistics.rank_sum_p(ours, theirs), statistics.cliffs_delta(ours, theirs)
    if not np.isfinite(p) or not np.isfinite(delta):
        return None
    made = len(results.tasks) * sum(name != QED for name in results.algorithms)
    return Compared(task, baseline, p, statistics.stars(p, made), delta)


def all_compared(results: Results, column: str) -> Iterator[Compared]:
    """Compare QED with all baselines in all tasks."""
    for task in results.tasks:
        for baseline in results.algorithms:
            found = compared(results, column, task, baseline) if baseline != QED else None
            if found is not None:
                yield found


def tested(metric: str, task: str, baseline: str) -> Compared:
    """Return what the paper's table S3 says."""
    p = paper.entries(f"{metric}: p against QED", task, baseline)[0]
    delta = paper.entries(f"{metric}: Cliff's delta of QED over it", task, baseline)[0]
    # The paper's note on p ends with its stars, or "no"; a 0.43 that is not bold was rounded up.
    marks = p.note.rpartition(": ")[2].replace("no", "")
    rounded_up = delta.value >= 0.43 and delta.note != statistics.LARGE
    return Compared(task, baseline, p.value, marks, 0.4299 if rounded_up else delta.value)


def _median(column: str, task: str) -> Callable[[Results], measures.Numbers]:
    return lambda results: measures.medians(results, column, task)


def _counted(
    column: str, counts: Callable[[Compared], bool], tasks: tuple[str, ...], theirs: int
) -> Callable[[Results], Answer | None]:
    def check(results: Results) -> Answer | None:
        found = [each for each in all_compared(results, column) if each.task in tasks]
        if not found:
            return None
        won = sum(map(counts, found))
        lost = [f"{e.baseline.upper()} in {e.task}" for e in found if not counts(e)]
        but = f"; not against {', '.join(lost)}" if 0 < len(lost) <= 6 else ""
        return Answer(f"{won} of {len(found)}{but}", abs(won - theirs) <= 1)

    return check


def _clearly(each: Compared) -> bool:
    return each.outcome == "QED better" and each.effect in BIG


def _exception(task: str, baseline: str) -> Callable[[Results], Answer | None]:
    def check(results: Results) -> Answer | None:
        found = compared(results, "resilience", task, baseline)
        if found is None:
            return None
        told = f"{found.outcome}, p={found.p:.2g}, δ={found.delta:.2f} ({found.effect})"
        return Answer(told, not _clearly(found))

    return check


def statements() -> list[Statement]:
    """Return the statements, in the paper's order."""
    made = []
    for task in PAPER.tasks:
        needs = Needs((task,), PAPER.algorithms)
        base = _table(
            f"least-lost-{task}", f"QED loses least after recovery in {task}.", needs=needs
        )
        theirs = printed("resilience", task)
        sample = partial(measures.recovered, column="resilience", task=task)
        made.append(placed(base, _median("resilience", task), QED, 1, theirs, sample))
    made.append(
        yes_or_no(
            _made(
                "resilience-won",
                "QED is significantly more resilient, with at least a medium effect, in all "
                "comparisons but two.",
                "Comparisons of QED with a baseline in a task; rank-sum test with Bonferroni's "
                "correction, Cliff's δ.",
                tolerance=ONE,
                alone=False,
                needs=ALL_TASKS,
            ),
            _counted("resilience", _clearly, PAPER.tasks, 13),
            "13 of 15",
        )
    )
    for task, baseline, told in (
        ("aggregation", "hbd", "no difference, p=0.396, δ=0.04 (negligible)"),
        (
            "patrolling",
            "sdbc",
            "small effect, δ=0.17; p=0.038 in the text, p<0.001 in table S3",
        ),
    ):
        base = _made(
            f"resilience-exception-{task}",
            f"In {task} QED is not clearly more resilient than {baseline.upper()}.",
            "Not significant, or an effect below medium.",
            needs=Needs((task,), (QED, baseline)),
            alone=False,
        )
        made.append(yes_or_no(base, _exception(task, baseline), told))
    made.append(
        yes_or_no(
            _made(
                "recovered-won",
                "QED's recovered performance is higher in 9 of 15 comparisons.",
                "Comparisons with a positive Cliff's δ, significant or not.",
                tolerance=ONE,
                alone=False,
                needs=ALL_TASKS,
            ),
            _counted("performance", lambda each: each.delta > 0, PAPER.tasks, 9),
            "9 of 15",
        )
    )
    patrols = ("patrolling", "border-patrolling")
    places = [(QED, task, 1, "highest") for task in patrols]
    places.append((QED, "dispersion", -1, "lowest"))
    places += [("hbd", task, 1, "highest") for task in ("aggregation", "dispersion", "flocking")]
    places += [("hbd", "border-patrolling", -1, "lowest"),
               ("hbd", "patrolling", -2, "second lowest")]  # fmt: skip
    for who, task, place, word in places:
        base = _discussed(
            f"recovered-{who}-{task}",
            f"{who.upper()} has the {word} median recovered performance in {task}.",
            needs=Needs((task,), PAPER.algorithms),
        )
        theirs = printed("recovered performance", task)
        sample = partial(measures.recovered, column="performance", task=task)
        made.append(placed(base, _median("performance", task), who, place, theirs, sample))
    made += [
        yes_or_no(
            _made(
                "recovered-patrols",
                "In patrolling and border-patrolling QED's recovered performance is higher with "
                "a medium or large effect.",
                "Comparisons with such an effect; the paper's own table has four.",
                tolerance=ONE,
                alone=False,
                needs=Needs(patrols, PAPER.algorithms),
            ),
            _counted("performance", lambda e: e.delta > 0 and e.effect in BIG, patrols, 4),
            "4 of 6",
        ),
        yes_or_no(
            _made(
                "recovered-dispersion",
                "In dispersion QED's recovered performance is lower with a large effect.",
                "Comparisons with such an effect.",
                tolerance=ONE,
                alone=False,
                needs=Needs(("dispersion",), PAPER.algorithms),
            ),
            _counted(
                "performance",
                lambda e: e.delta < 0 and e.effect == statistics.LARGE,
                ("dispersion",),
                3,
            ),
            "3 of 3",
        ),
    ]
    for metric, column in (("recovered performance", "performance"), ("resilience", "resilience")):
        found = paper.value(f"{metric}, range", "flocking")
        assert found
        base = _discussed(
            f"flocking-{column}",
            f"Flocking is not solved well by any algorithm: its median {metric}.",
            needs=Needs(("flocking",), PAPER.algorithms),
            tolerance=close(),
        )
        made.append(ranged(base, _median(column, "flocking"), found, 0.03))
    return made


__all__ = [
    "BASELINES",
    "METRICS",
    "Compared",
    "all_compared",
    "compared",
    "statements",
    "tested",
]
