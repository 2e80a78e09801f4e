"""What the paper says of faults, and of recovery over all tasks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from qed.study import kinds, paper, statistics
from qed.study.results import Results
from qed.study.statements import measures
from qed.study.statements.build import about, close, placed, ranged, row, span, yes_or_no
from qed.study.statements.model import Answer, Statement, Tolerance
from qed.study.statements.needs import ALL_ALGORITHMS, ALL_TASKS, PAPER, QED, Needs, printed

FAULTS, RECOVERY = "faults", "recovery"
# In the paper's order.
KINDS = {kind: kinds.KINDS[kind] for kind in ("range-and-bearing", "proximity", "wheel")}
WEAK = 0.3  # a correlation nearer to 0 is no direct relation
MOST = 0.8  # of the impacts of a task must lie in its range
METRICS = {"impact": "impact", "recovered performance": "performance", "resilience": "resilience"}

_faults = about(FAULTS, "Results, fault recovery, fault injections")
_impacts = about(FAULTS, "Results, fault recovery; table S2")
_recovery = about(RECOVERY, "Results, fault recovery; table S2")


def _median(column: str) -> Callable[[Results], measures.Numbers]:
    return lambda results: measures.medians(results, column)


def _robots(column: str, low: float, high: float) -> Callable[[Results], Answer | None]:
    def check(results: Results) -> Answer | None:
        if column not in results.recoveries or results.recoveries.empty:
            return None
        counts = results.recoveries[column]
        ours = int(counts.min()), int(counts.max())
        inside = float(counts.between(low, high).mean())
        told = f"{ours[0]} to {ours[1]}; {inside:.0%} of the faults in the paper's range"
        return Answer(told, low - 1 <= ours[0] and ours[1] <= high + 1)

    return check


def _in_range(task: str, low: float, high: float) -> Callable[[Results], Answer | None]:
    def check(results: Results) -> Answer | None:
        own = results.recoveries.loc[results.recoveries["task"] == task, "impact"].dropna()
        if own.empty:
            return None
        inside = float(((own >= low - 0.03) & (own <= high + 0.03)).mean())
        ends = span(*np.quantile(own, (0.05, 0.95)).tolist())
        return Answer(f"{inside:.0%} in range; 5th to 95th percentile {ends}", inside >= MOST)

    return check


def _flocking_most(results: Results) -> Answer | None:
    found = results.recoveries.groupby("task")["impact"].median().dropna()
    ours = {task: float(found[task]) for task in results.tasks if task in found.index}
    if "flocking" not in ours or len(ours) < 2:
        return None
    told = ", ".join(f"{task} {value:.2f}" for task, value in ours.items())
    return Answer(told, min(ours, key=lambda task: ours[task]) == "flocking")


def _no_relation(results: Results) -> Answer | None:
    found = {
        kind: statistics.pearson(results.recoveries[column], results.recoveries["impact"])
        for kind, column in KINDS.items()
    }
    found = {kind: r for kind, r in found.items() if np.isfinite(r)}
    told = ", ".join(f"{kind} {r:.2f}" for kind, r in found.items())
    return Answer(told, all(abs(r) < WEAK for r in found.values())) if found else None


def _no_relation_by_task(results: Results) -> Answer | None:
    found = {}
    for task, own in results.recoveries.groupby("task"):
        for kind, column in KINDS.items():
            r = statistics.pearson(own[column], own["impact"])
            if np.isfinite(r):
                found[task, kind] = r
    if not found:
        return None
    (task, kind), r = max(found.items(), key=lambda item: abs(item[1]))
    strong = sum(abs(value) >= WEAK for value in found.values())
    told = f"{strong} of {len(found)} beyond {WEAK}; strongest: {kind}, {task}, {r:.2f}"
    return Answer(told, strong == 0)


def _factor(results: Results) -> Answer | None:
    impact, left = measures.medians(results, "impact"), measures.medians(results, "resilience")
    if not left or any(value >= 0 for value in left.values()):
        return None
    ours = {name: impact[name] / left[name] for name in left if name in impact}
    return Answer(row(ours, "{:.1f}"), all(1.5 <= value < 3.5 for value in ours.values()))


def _wins(results: Results) -> Answer | None:
    impact, left = measures.medians(results, "impact"), measures.medians(results, "resilience")
    gain = {name: left[name] - impact[name] for name in left if name in impact}
    return Answer(row(gain, "{:+.2f}"), all(v > 0 for v in gain.values())) if gain else None


def _injected() -> list[Statement]:
    """Return the statements on faults, in the paper's order."""
    made = []
    for kind, column in {**KINDS, kinds.ANY: kinds.COLUMNS[kinds.ANY]}.items():
        words = kinds.ANY if kind == kinds.ANY else f"a {kind}"
        low, high = paper.value(f"robots with {words} fault") or (0.0, 10.0)
        base = _faults(
            f"robots-{kind}",
            f"Number of robots, of ten, with {words} fault.",
            "Fewest and most robots in a combined fault.",
            tolerance=Tolerance(
                "one robot more at either end", "the ends are extremes of a random sample"
            ),
            needs=Needs(),
            chosen=False,
            alone=False,
        )
        made.append(yes_or_no(base, _robots(column, low, high), f"{low:.0f} to {high:.0f}"))
    for task in PAPER.tasks:
        from_, to = paper.value("range of impact, percent drop", task) or (0.0, 100.0)
        low, high = 0 - to / 100, 0 - from_ / 100
        base = _impacts(
            f"impact-range-{task}",
            f"The range of impacts in {task}.",
            "Fraction of all algorithms' impacts that lie in the paper's range.",
            tolerance=Tolerance(
                f"at least {MOST:.0%}, with 0.03 more at either end",
                "the paper does not say which part of its data the range covers",
            ),
            needs=Needs((task,), PAPER.algorithms),
        )
        made.append(yes_or_no(base, _in_range(task, low, high), span(low, high)))
    everywhere = Tolerance(f"correlations within {WEAK}", "the paper gives no number")
    return [
        *made,
        yes_or_no(
            _impacts(
                "impact-flocking",
                "The impact depends strongly on the task, and is largest in flocking.",
                "Median impact of all algorithms, by task.",
                needs=ALL_TASKS,
            ),
            _flocking_most,
            "flocking largest",
        ),
        yes_or_no(
            _impacts(
                "impact-kinds",
                "Impact has no direct relation to the number of robots with a kind of fault.",
                "Pearson correlation over all tasks and algorithms.",
                tolerance=everywhere,
                needs=Needs(),
            ),
            _no_relation,
            "no direct relation",
        ),
        yes_or_no(
            _impacts(
                "impact-kinds-by-task",
                "Within a task, too, impact has no direct relation to the number of robots with "
                "a kind of fault.",
                "Pearson correlation by task, over all algorithms.",
                tolerance=everywhere,
                needs=Needs(),
            ),
            _no_relation_by_task,
            "no direct relation",
        ),
    ]


def statements() -> list[Statement]:
    """Return the statements, in the paper's order."""
    made = _injected()
    for metric, column in METRICS.items():
        found = paper.value(f"{metric}, range")
        assert found
        base = _recovery(
            f"range-{column}",
            f"The median {metric} of every algorithm.",
            "Median over the recoveries of all tasks.",
            tolerance=close(),
            needs=ALL_TASKS,
            where="Results, fault recovery; Discussion; table S2",
        )
        made.append(ranged(base, _median(column), found, 0.03))
    both = partial(_recovery, where="Abstract; Conclusion")
    made += [
        yes_or_no(
            both(
                "factor",
                "Recovery reduces the loss by a factor of 2 to 3.",
                "Median impact divided by median resilience.",
                tolerance=Tolerance("1.5 to 3.5", "these round to 2 or 3"),
                needs=ALL_TASKS,
            ),
            _factor,
            "2 to 3",
        ),
        yes_or_no(
            both(
                "recovery-wins",
                "Recovery succeeds with every algorithm: it regains performance.",
                "Median resilience minus median impact, over all tasks.",
                needs=ALL_ALGORITHMS,
            ),
            _wins,
            "gains with all",
        ),
    ]
    for metric, column in METRICS.items():
        theirs = printed(metric)
        meaning = {"impact": "faults cost it least", "resilience": "it loses least after recovery"}
        for who, place, word in ((QED, 1, "highest"), ("spirit", -1, "lowest")):
            least = f" ({meaning[column]})" if place == 1 and column in meaning else ""
            base = _recovery(
                f"{word}-{column}",
                f"Over all tasks {who.upper()} has the {word} median {metric}{least}.",
                "Median over the recoveries of all tasks of the study.",
            )
            sample = partial(measures.recovered, column=column)
            made.append(placed(base, _median(column), who, place, theirs, sample))
    return made
