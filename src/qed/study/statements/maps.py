"""What the paper says of its maps before anything breaks: how well they perform."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from qed.study import paper
from qed.study.results import Results
from qed.study.statements import measures
from qed.study.statements.build import (
    CLOSE,
    about,
    close,
    no_more,
    placed,
    ranged,
    row,
    span,
    spread,
    yes_or_no,
)
from qed.study.statements.evolution import GROUP
from qed.study.statements.model import Answer, Statement, Tolerance
from qed.study.statements.needs import (
    ALL_ALGORITHMS,
    ALL_TASKS,
    BASELINES,
    PAPER,
    QED,
    Needs,
    printed,
)

CLOSE_TASKS = ("aggregation", "patrolling", "border-patrolling")
WIDE_TASKS = ("flocking", "dispersion")

_made = about(GROUP, "Results, map quality, performance")
_table = partial(_made, where="Results, map quality; table S1")


def best(task: str) -> Callable[[Results], measures.Numbers]:
    """Return what measures the mean best performance of a task's maps."""
    return lambda results: measures.means(results, "best_performance", task)


def average(task: str) -> Callable[[Results], measures.Numbers]:
    """Return what measures the mean average performance of a task's maps."""
    return lambda results: measures.means(results, "average_performance", task)


def _varies(results: Results) -> Answer | None:
    apart = {task: spread(best(task)(results)) for task in PAPER.tasks if best(task)(results)}
    least = min(apart[task] for task in WIDE_TASKS)
    most = max(apart[task] for task in CLOSE_TASKS)
    return Answer(", ".join(f"{t} {v:.2f}" for t, v in apart.items()), least > most)


def _difference(task: str, at_most: float) -> Callable[[Results], Answer | None]:
    def check(results: Results) -> Answer | None:
        ours = best(task)(results)
        if len(ours) < 2:
            return None
        # The paper's 3% is of rounded numbers.
        return Answer(f"{spread(ours):.3f} ({row(ours)})", no_more(spread(ours), at_most + 0.005))

    return check


def _within(task: str, algorithm: str, low: float, high: float) -> Callable[..., Answer | None]:
    def check(results: Results) -> Answer | None:
        ours = measures.ends(results, "best_performance", task, algorithm)
        if ours is None:
            return None
        inside = ours[0] >= low - CLOSE - 1e-9 and ours[1] <= high + CLOSE + 1e-9
        return Answer(span(*ours), inside, (algorithm,) if ours[0] < low - CLOSE else ())

    return check


def _overall(results: Results) -> measures.Numbers:
    return measures.means(results, "average_performance")


def statements() -> list[Statement]:
    """Return the statements, in the paper's order."""
    made = []
    for task in CLOSE_TASKS:
        found = paper.value("best performance, largest difference", task)
        assert found
        made.append(
            yes_or_no(
                _table(
                    f"best-close-{task}",
                    f"In {task} all algorithms are close in best performance.",
                    "Highest minus lowest mean best performance of the four.",
                    needs=Needs((task,), PAPER.algorithms),
                    tolerance=Tolerance("up to 0.035", "0.03, from numbers rounded to 0.01"),
                ),
                _difference(task, found[0]),
                f"at most {found[0]:.2f} ({row(printed('best performance', task))})",
            )
        )
    made.append(
        yes_or_no(
            _table(
                "best-varies",
                "Best performance varies more between algorithms in flocking and dispersion than "
                "in the other tasks.",
                "Highest minus lowest mean best performance of the four, by task.",
                needs=ALL_TASKS,
            ),
            _varies,
            ", ".join(f"{t} {spread(printed('best performance', t)):.2f}" for t in PAPER.tasks),
        )
    )
    for task in WIDE_TASKS:
        for name in PAPER.algorithms:
            low, high = paper.value("best performance, range", task, name) or (0.0, 1.0)
            made.append(
                yes_or_no(
                    _table(
                        f"best-range-{task}-{name}",
                        f"The best performance of {name.upper()}'s maps in {task}.",
                        "Lowest and highest of the maps; all must lie in the paper's range.",
                        needs=Needs((task,), (name,)),
                        tolerance=close(),
                        alone=False,
                        progress="" if name == QED else "best",
                        task=task,
                    ),
                    _within(task, name, low, high),
                    span(low, high),
                )
            )
    pooled = {
        name: float(np.mean([printed("best performance", t)[name] for t in PAPER.tasks]))
        for name in PAPER.algorithms
    }
    for id_, who, place, says in (
        ("best-qed-lowest", QED, -1, "QED loses performance in the normal environment: its "
         "best performance over all tasks is the lowest."),
        ("best-hbd-highest", "hbd", 1, "HBD is most specialised to the normal environment: its "
         "best performance over all tasks is the highest."),
    ):  # fmt: skip
        how = "Mean best performance over the maps of all tasks; the paper's from table S1."
        base = _made(id_, says, how, where="Results, map quality; figure 2b")
        made.append(
            placed(base, lambda r: measures.means(r, "best_performance"), who, place, pooled)
        )
    return made + _averages()


def _averages() -> list[Statement]:
    made = []
    for task in PAPER.tasks:
        theirs = printed("average performance", task)
        needs = Needs((task,), PAPER.algorithms)
        how = "Mean performance of a map's solutions, mean over replicates."
        make = partial(_table, how=how, needs=needs, chosen=False)
        says = f"SPIRIT's average performance in {task} is the highest."
        base = make(f"average-spirit-{task}", says)
        made.append(placed(base, average(task), "spirit", 1, theirs))
        if task in CLOSE_TASKS:
            says = f"QED's average performance in {task} is the second highest."
            base = make(f"average-second-{task}", says)
            made.append(placed(base, average(task), QED, 2, theirs))
            found = paper.value("average performance, second in rank", algorithm=QED)
            assert found
            around = (found[0] - CLOSE, found[0] + CLOSE)
            says = f"QED's average performance in {task} is around {found[0]:.1f}."
            base = make(f"average-around-{task}", says, tolerance=close())
            base = ranged(base, average(task), around, 0.0, (QED,))
            made.append(yes_or_no(base, base.check, f"around {found[0]:.1f}"))
        if task in WIDE_TASKS:
            span_ = paper.value("average performance of the baselines, range", task)
            assert span_
            says = f"The average performance of the baselines in {task}."
            ten = Tolerance("within 0.05", "the paper rounds to tens of percent")
            base = make(
                f"average-baselines-{task}", says, tolerance=ten, progress="mean", task=task
            )
            made.append(ranged(base, average(task), span_, 0.05, BASELINES))
        if task != "flocking":
            least = paper.value("average performance, at least", algorithm="spirit")
            assert least
            says = f"SPIRIT's average performance in {task} is above {least[0]:.1f}."
            base = make(f"average-spirit-high-{task}", says, progress="mean", task=task)
            base = ranged(base, average(task), (least[0], 2.0), 0.0, ("spirit",))
            made.append(yes_or_no(base, base.check, f"above {least[0]:.2f}"))
    says = "QED's average performance in dispersion is the lowest."
    base = _table(
        "average-qed-dispersion", says, how, needs=Needs(("dispersion",), PAPER.algorithms)
    )
    made.append(
        placed(base, average("dispersion"), QED, -1, printed("average performance", "dispersion"))
    )
    overall = {
        name: float(np.mean([printed("average performance", t)[name] for t in PAPER.tasks]))
        for name in PAPER.algorithms
    }
    for who, place, words in (("spirit", 1, "highest"), (QED, 2, "second highest")):
        base = _table(
            f"average-overall-{who}",
            f"Over all tasks {who.upper()}'s average performance is the {words}.",
            "Mean performance of a map's solutions, mean over the maps of all tasks.",
            needs=ALL_ALGORITHMS,
            chosen=False,
        )
        made.append(placed(base, _overall, who, place, overall))
    cost = _made(
        "time",
        "A run takes 900 hours on 40 cores with QED, and 300 to 700 hours with a baseline.",
        "",
        never="the study's tables do not include run times",
        where="Results, map quality, footnote",
    )
    return [*made, yes_or_no(cost, lambda _: None, "900 h; 300 to 700 h")]
