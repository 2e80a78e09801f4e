"""What the paper says of evolution itself, by the fitness that evolution saw."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qed.study.results import Results
from qed.study.statements import measures
from qed.study.statements.build import about, no_more, yes_or_no
from qed.study.statements.model import Answer, Statement, Tolerance
from qed.study.statements.needs import BASELINES, QED, Needs

GROUP = "performance"
SETTLED = 0.02  # growth in the last tenth of the evaluations up to which a run has settled
ALIKE = 0.16  # of the best: baselines that differ less do not vary widely
SIMILAR = 0.10  # of the best: how far QED's average may lie outside the baselines'

_evolution = about(GROUP, "Results, map quality; figure S1")


def in_all(results: Results, holds: Callable[[str], bool | None]) -> tuple[str, bool] | None:
    """Return in which tasks something holds, in words, and whether it does in all."""
    found = {task: holds(task) for task in results.tasks}
    known = {task: held for task, held in found.items() if held is not None}
    if not known:
        return None
    failing = [task for task, held in known.items() if not held]
    told = f"in {len(known) - len(failing)} of {len(known)} tasks"
    return (f"{told}, not in {', '.join(failing)}" if failing else told), not failing


def _converged(results: Results) -> Answer | None:
    found = {
        (metric, name, task): measures.growth(results, metric, name, task)
        for metric in ("best", "mean")
        for name in results.algorithms
        for task in results.tasks
    }
    found = {key: value for key, value in found.items() if np.isfinite(value)}
    if not found:
        return None
    (metric, name, task), most = max(found.items(), key=lambda item: item[1])
    still = sum(value > SETTLED for value in found.values())
    told = f"{still} of {len(found)} still rise; most {metric}, {name.upper()}, {task}: {most:.1%}"
    return Answer(told, still == 0)


def _baselines_alike(results: Results) -> Answer | None:
    apart = {}
    for task in results.tasks:
        ends = measures.finals(results, "best", task)
        values = [ends[name] for name in BASELINES if name in ends]
        if len(values) > 1:
            apart[task] = (max(values) - min(values)) / max(values)
    if not apart:
        return None
    widest = max(apart, key=lambda task: apart[task])
    told = f"they differ by at most {apart[widest]:.0%} ({widest})"
    return Answer(told, no_more(apart[widest], ALIKE))


def _qed_highest(results: Results) -> Answer | None:
    def holds(task: str) -> bool | None:
        ends = measures.finals(results, "best", task)
        return ends[QED] >= max(ends.values()) if QED in ends and len(ends) > 1 else None

    found = in_all(results, holds)
    return Answer(*found) if found else None


def _qed_average(results: Results) -> Answer | None:
    def holds(task: str) -> bool | None:
        ends = measures.finals(results, "mean", task)
        others = [ends[name] for name in BASELINES if name in ends]
        if QED not in ends or not others:
            return None
        room = SIMILAR * max(ends.values())
        return min(others) - room <= ends[QED] <= max(others) + room

    found = in_all(results, holds)
    return Answer(*found) if found else None


def _better_at_home(results: Results) -> Answer | None:
    def holds(task: str) -> bool | None:
        home = measures.finals(results, "best", task).get(QED)
        normal = measures.means(results, "best", task).get(QED)
        return None if home is None or normal is None else home > normal

    found = in_all(results, holds)
    return Answer(*found) if found else None


def statements() -> list[Statement]:
    """Return the statements, in the paper's order."""
    return [
        yes_or_no(
            _evolution(
                "evolution-converged",
                "Best and average fitness have nearly converged at the end of evolution.",
                "Growth of best and mean fitness in the last tenth of the evaluations, for each "
                "task and algorithm.",
                needs=Needs(),
                chosen=False,
                tolerance=Tolerance(f"growth up to {SETTLED:.0%}", "the paper gives no number"),
            ),
            _converged,
            "at least weakly converged",
        ),
        yes_or_no(
            _evolution(
                "evolution-baselines-alike",
                "During evolution the baselines' best fitness does not vary widely.",
                "Highest minus lowest best fitness of the three at the end, as a fraction of the "
                "highest; the task with the largest.",
                tolerance=Tolerance(
                    f"up to {ALIKE:.0%}", "their largest difference in table S1 (flocking)"
                ),
            ),
            _baselines_alike,
            "no wide variation",
        ),
        yes_or_no(
            _evolution(
                "evolution-qed-highest",
                "During evolution, over its own environments, QED has the highest best fitness.",
                "Best fitness at the end of evolution, mean over replicates, by task.",
            ),
            _qed_highest,
            "QED highest",
        ),
        yes_or_no(
            _evolution(
                "evolution-qed-average",
                "During evolution QED's average fitness is similar to the baselines'.",
                "Mean fitness at the end of evolution lies between the baselines', by task.",
                tolerance=Tolerance(
                    f"or outside by up to {SIMILAR:.0%} of the best", "the paper gives no number"
                ),
            ),
            _qed_average,
            "similar",
        ),
        yes_or_no(
            _evolution(
                "best-better-at-home",
                "QED's best performance is higher in the environments it evolved in.",
                "QED's best fitness in evolution is above that in the normal environment, by task.",
                needs=Needs((), (QED,)),
                where="Results, map quality; figures 2b and S1",
            ),
            _better_at_home,
            "higher",
        ),
    ]
