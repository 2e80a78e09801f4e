"""The numbers of the paper's tables S1 to S3, each as a statement."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from qed.study import paper
from qed.study.results import Results
from qed.study.statements import by_task, measures
from qed.study.statements.build import CLOSE, CLOSE_WHY, about, number, yes_or_no
from qed.study.statements.model import Answer, Statement, Tolerance
from qed.study.statements.needs import BASELINES, PAPER, QED, Needs

S1, S2, S3, TESTS = "table-s1", "table-s2", "table-s3", "table-s3-tests"
MAPS = 5  # of a task and algorithm in the paper
MEDIAN = 1.25 / 1.35  # standard error of a normal sample's median over IQR / sqrt(n)
TENTH = Tolerance(
    "within a tenth and 0.005", "the paper's maps vary by up to 4%; it prints two decimals"
)
WORDS = {
    "best performance": "best_performance",
    "average performance": "average_performance",
    "coverage": "coverage_part",
}


def _sure(error: float) -> tuple[float, Tolerance]:
    """Return a bound, and its words, for a paper's number of a standard error."""
    within = max(CLOSE, 2 * error)
    if within > CLOSE:
        return within, Tolerance(
            f"within {within:.2f}", "two standard errors of the paper's number"
        )
    return within, Tolerance(f"within {within:.2f}", CLOSE_WHY)


def _mean(column: str, task: str) -> Callable[[Results], measures.Numbers]:
    def measure(results: Results) -> measures.Numbers:
        if column != "coverage_part":
            return measures.means(results, column, task)
        cells = measures.means(results, "cells", task)
        return {n: v / cells[n] for n, v in measures.means(results, "coverage", task).items()}

    return measure


def _maps() -> list[Statement]:
    make = about(S1, "Table S1")
    made = []
    for task in PAPER.tasks:
        for metric, column in WORDS.items():
            for name in PAPER.algorithms:
                theirs, sd = paper.value(metric, task, name) or (0.0, 0.0)
                within, tolerance = _sure(sd / MAPS**0.5)
                if metric == "coverage":
                    within, tolerance = 0.1 * theirs + 0.005, TENTH
                progress = {"coverage": "coverage", "best performance": "best"}.get(metric, "mean")
                base = make(
                    f"s1-{column.partition('_')[0]}-{task}-{name}",
                    f"{metric.capitalize()} of {name.upper()} in {task}.",
                    "Mean over replicates.",
                    tolerance=tolerance,
                    needs=Needs((task,), (name,)),
                    chosen=metric != "coverage",
                    # QED's fitness in evolution is of other environments than the normal one.
                    progress=progress if name != QED or metric == "coverage" else "",
                    task=task,
                )
                made.append(number(base, _mean(column, task), name, theirs, within))
    return made


def _recovery() -> list[Statement]:
    make = about(S2, "Table S2")
    made = []
    metrics = {"impact": "impact", "recovered performance": "performance",
               "resilience": "resilience"}  # fmt: skip
    for metric, column in metrics.items():
        for name in PAPER.algorithms:
            theirs, iqr = paper.value(metric, algorithm=name) or (0.0, 0.0)
            within, tolerance = _sure(MEDIAN * iqr / 1250**0.5)
            needs = Needs(PAPER.tasks, (name,))
            says = f"{metric.capitalize()} of {name.upper()}"
            base = make(f"s2-{column}-{name}", f"{says}: median.", "Over all recoveries.",
                        tolerance=tolerance, needs=needs)  # fmt: skip
            measure = partial(measures.medians, column=column)
            made.append(number(base, measure, name, theirs, within))
            base = make(f"s2-{column}-iqr-{name}", f"{says}: interquartile range.",
                        "Over all recoveries.", tolerance=tolerance, needs=needs)  # fmt: skip
            made.append(number(base, partial(measures.iqrs, column=column), name, iqr, within))
    return made


def _recovery_by_task() -> list[Statement]:
    make = about(S3, "Table S3")
    made = []
    for metric, column in by_task.METRICS.items():
        for task in PAPER.tasks:
            for name in PAPER.algorithms:
                theirs, iqr = paper.value(metric, task, name) or (0.0, 0.0)
                within, tolerance = _sure(MEDIAN * iqr / 250**0.5)
                base = make(
                    f"s3-{column}-{task}-{name}",
                    f"{metric.capitalize()} of {name.upper()} in {task}: median.",
                    "Over the recoveries of the task.",
                    tolerance=tolerance,
                    needs=Needs((task,), (name,)),
                )
                measure = partial(measures.medians, column=column, task=task)
                made.append(number(base, measure, name, theirs, within))
    return made


def _tested(column: str, theirs: by_task.Compared, word: str) -> Callable[[Results], Answer | None]:
    def check(results: Results) -> Answer | None:
        ours = by_task.compared(results, column, theirs.task, theirs.baseline)
        if ours is None:
            return None
        if word == "significance":
            return Answer(_outcome(ours), ours.outcome == theirs.outcome)
        same_side = ours.delta * theirs.delta > 0 or ours.effect == "negligible"
        return Answer(_effect(ours), ours.effect == theirs.effect and same_side)

    return check


def _outcome(found: by_task.Compared) -> str:
    p = "p<0.001" if found.p <= 0.001 else f"p={found.p:.3f}"
    return f"{found.outcome}, {p}{found.stars}"


def _effect(found: by_task.Compared) -> str:
    return f"{found.delta:.2f} {found.effect}"


def _tests() -> list[Statement]:
    make = about(TESTS, "Table S3")
    made = []
    for metric, column in by_task.METRICS.items():
        for task in PAPER.tasks:
            for baseline in BASELINES:
                theirs = by_task.tested(metric, task, baseline)
                for word, how, tolerance, shown in (
                    ("significance", "Rank-sum test with Bonferroni's correction.",
                     Tolerance("the same outcome", "better, worse or neither"), _outcome(theirs)),
                    ("effect", "Cliff's δ, positive where QED is better.",
                     Tolerance("the same word for its size", "the paper's bounds 0.11, 0.28, 0.43"),
                     _effect(theirs)),
                ):  # fmt: skip
                    base = make(
                        f"s3-{column}-{word}-{task}-{baseline}",
                        f"{metric.capitalize()} in {task}, QED against {baseline.upper()}: {word}.",
                        how,
                        tolerance=tolerance,
                        needs=Needs((task,), (QED, baseline)),
                        alone=False,
                    )
                    made.append(yes_or_no(base, _tested(column, theirs, word), shown))
    return made


def statements() -> list[Statement]:
    """Return the statements, table by table."""
    return [*_maps(), *_recovery(), *_recovery_by_task(), *_tests()]
