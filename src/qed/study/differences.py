"""What a study and the paper say alike and what not, and what the study's scale explains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from qed.study import paper, statistics
from qed.study.results import Results
from qed.study.signatures import kept
from qed.study.summary import PAPER, QED, listed, many, means, medians

NEAR = 0.05  # two medians of performance that differ less are called alike
CELLS = 0.10  # so are coverages that differ less than this part of the paper's
WEAK = 0.3  # a correlation nearer to 0 is no direct relation

# Reasons that the scale of a study can give.
LUCK = "few trials"
BUDGET = "few evaluations"
NOISE = "few trials in evolution"
SHORT = "short trials"
FEW = "few recoveries"
TASKS = "fewer tasks"
MAPS = "few replicates"
LOWERING = (LUCK, BUDGET, SHORT)  # these make numbers lower, and explain only that


class Difference(NamedTuple):
    """A statement of the paper, held against the study."""

    statement: str
    ours: str
    theirs: str
    same: bool
    why: tuple[str, ...]  # names of reasons that may explain a difference


def reasons(results: Results) -> dict[str, str]:
    """Return what is smaller than in the paper, and what may follow from it."""
    own = results.settings
    found = {}
    if own["retrials"] < PAPER.retrials:
        found[LUCK] = (
            f"Each solution was tried {_times(own['retrials'])} in each environment (paper: "
            f"{PAPER.retrials}). The best of a map without faults is then in part the luckiest, "
            "which sets its performance too high and pushes impact, and to a lesser degree "
            "resilience, downwards: a recovery is picked with some luck too."
        )
    if own["evaluations"] < PAPER.evaluations:
        found[BUDGET] = (
            f"A map had {own['evaluations']:,} evaluations (paper: {PAPER.evaluations:,}), so it "
            "fills fewer cells and its solutions are less refined."
        )
    if own["trials"] < PAPER.trials:
        found[NOISE] = (
            f"Evolution judged a solution by {own['trials']} of the paper's {PAPER.trials} "
            "trials, so more of those it kept were lucky, and chance in measuring their behaviour "
            "spread them over more cells."
        )
    if own["seconds"] < PAPER.seconds:
        found[SHORT] = (
            f"A trial lasted {own['seconds']:g} s (paper: {PAPER.seconds:g} s). Swarms have less "
            "time to meet, to spread or, when patrolling, to visit all places, so fitness is "
            "lower and varies more."
        )
    each = len(results.recoveries) // max(len(results.algorithms), 1)
    theirs = len(PAPER.tasks) * PAPER.replicates * PAPER.faults
    if each < theirs:
        found[FEW] = (
            f"There are {each:,} recoveries for an algorithm (paper: {theirs:,}), so another seed "
            "may change medians and the order of the algorithms."
        )
    if own["replicates"] < PAPER.replicates:
        found[MAPS] = (
            f"There {'is' if own['replicates'] == 1 else 'are'} {many(own['replicates'], 'map')} "
            f"of a task and algorithm (paper: {PAPER.replicates}), so chance weighs more in each."
        )
    if len(results.tasks) < len(PAPER.tasks):
        found[TASKS] = (
            f"The study has only {listed(results.tasks)}; the paper's numbers are over five "
            "tasks, and they depend strongly on the task."
        )
    return found


def differences(results: Results) -> list[Difference]:
    """Hold the paper's statements against the study, as far as it has the data."""
    possible = reasons(results)
    found = []
    for check in CHECKS:
        for statement, ours, theirs, same, why in check(results):
            named = () if same else tuple(reason for reason in why if reason in possible)
            found.append(Difference(statement, ours, theirs, same, named))
    return found


Check = tuple[str, str, str, bool, tuple[str, ...]]


def _impact(results: Results) -> Iterator[Check]:
    ours = medians(results, "impact")
    theirs = _paper("impact", ours)
    if not ours:
        return
    shown = _row(ours), _row(theirs)
    lower = all(value < 0 for value in ours.values())
    yield "Faults lower the performance: the median impact is below 0.", *shown, lower, (FEW, TASKS)
    why = (*_lowering(ours, theirs, NEAR), FEW, TASKS)
    yield f"The size of the median impact (alike within {NEAR}).", *shown, _near(ours, theirs), why


def _resilience(results: Results) -> Iterator[Check]:
    before, ours = medians(results, "impact"), medians(results, "resilience")
    theirs = _paper("resilience", ours)
    if not ours:
        return
    shown = _row(ours), _row(theirs)
    better = all(ours[name] > before[name] for name in ours if name in before)
    statement = "Recovery wins performance back: median resilience is above median impact."
    yield statement, *shown, better, (LUCK, BUDGET, FEW)
    if QED in ours and len(ours) > 1:
        best = max(ours, key=lambda name: ours[name]) == QED
        order = (LUCK, BUDGET, NOISE, FEW, TASKS)
        yield "QED loses least after recovery.", *shown, best, order
    why = (*_lowering(ours, theirs, NEAR), FEW, TASKS)
    statement = f"The size of median resilience (alike within {NEAR})."
    yield statement, *shown, _near(ours, theirs), why


def _recovered(results: Results) -> Iterator[Check]:
    ours = medians(results, "performance")
    theirs = _paper("recovered performance", ours)
    if ours:
        statement = f"The median recovered performance (alike within {NEAR})."
        why = (*_lowering(ours, theirs, NEAR), FEW, TASKS)
        yield statement, _row(ours), _row(theirs), _near(ours, theirs), why


def _best(results: Results) -> Iterator[Check]:
    ours = means(results, "best_performance")
    if QED not in ours or len(ours) < 2:
        return
    theirs = {}
    for name in ours:
        found = [paper.value("best performance", task, name) for task in results.tasks]
        theirs[name] = float(np.mean([value[0] for value in found if value]))
    lowest = min(ours, key=lambda name: ours[name]) == QED
    statement = (
        "QED gives up some performance in the normal environment: the mean best performance of "
        "its maps is the lowest (the paper's for the same tasks)."
    )
    yield statement, _row(ours), _row(theirs), lowest, (LUCK, BUDGET, NOISE, MAPS)


def _coverage(results: Results) -> Iterator[Check]:
    ours = means(results, "coverage")
    theirs = _paper("coverage, cells", ours)
    shown = _row(ours, "{:,.0f}"), _row(theirs, "{:,.0f}")
    if len(ours) > 1:
        # The paper's SDBC and SPIRIT maps are about equally large.
        rank = {QED: 0, "hbd": 1}
        order = sorted(ours, key=lambda name: -ours[name])
        ranks = [rank.get(name, 2) for name in order]
        same = ranks == sorted(ranks)
        yield "QED fills most cells, then HBD, then SDBC and SPIRIT.", *shown, same, (BUDGET,)
    if ours:
        off = {name: ours[name] / theirs[name] - 1 for name in theirs}
        same = all(abs(part) <= CELLS for part in off.values())
        why: tuple[str, ...] = (BUDGET,) if min(off.values(), default=0.0) < -CELLS else ()
        why += (NOISE,) if max(off.values(), default=0.0) > CELLS else ()
        yield f"The number of cells filled (alike within {CELLS:.0%}).", *shown, same, why


def _behaviours(results: Results) -> Iterator[Check]:
    ours = means(results, "projected_coverage")
    if ours:
        theirs = _paper("projected coverage, cells", ours)
        fewer = any(ours[name] < theirs[name] for name in theirs)
        why = (BUDGET, SHORT, MAPS, TASKS) if fewer else (MAPS, TASKS)
        found = {name: paper.value("projected coverage, cells", algorithm=name) for name in ours}
        same = all(abs(ours[name] - pair[0]) <= 2 * pair[1] for name, pair in found.items() if pair)
        statement = "Cells filled in the common behaviour space (alike within 2 of the paper's SD)."
        yield statement, _row(ours, "{:.0f}"), _row(theirs, "{:.0f}"), same, why
    ours = means(results, "solution_diversity")
    ends = [entry.value for entry in paper.entries("behavioural diversity of a map")]
    if ours and ends:
        low, high = min(ends), max(ends)
        same = all(low - NEAR <= value <= high + NEAR for value in ours.values())
        statement = f"All maps are about equally diverse in what they do (alike within {NEAR})."
        lower = min(ours.values()) < low - NEAR
        why = (BUDGET, SHORT, MAPS, TASKS) if lower else (MAPS, TASKS)
        yield statement, _row(ours), f"{low:.2f} to {high:.2f}", same, why


def _slopes(results: Results) -> Iterator[Check]:
    why = (FEW, LUCK, BUDGET, TASKS)
    ours = _fitted(results, "resilience")
    if ours:
        shown = _row(ours), _row(_paper("slope of resilience on impact", ours))
        rising = all(slope > 0 for slope in ours.values())
        yield "Graver faults leave more lost: resilience rises with impact.", *shown, rising, why
        if QED in ours and len(ours) > 1:
            least = min(ours, key=lambda name: ours[name]) == QED
            yield "QED's resilience depends least on impact.", *shown, least, why
    ours = _fitted(results, "distance")
    if ours:
        shown = _row(ours), _row(_paper("slope of diversity on impact", ours))
        falling = all(slope < 0 for slope in ours.values())
        statement = "Graver faults call for behaviours farther off: diversity falls with impact."
        yield statement, *shown, falling, why


def _fitted(results: Results, metric: str) -> dict[str, float]:
    """Return the slopes of a metric on impact that can be told."""
    found = {}
    for name in results.algorithms:
        shown = kept(results.recoveries, name)[0]
        found[name] = statistics.fit(shown["impact"], shown[metric]).slope
    return {name: slope for name, slope in found.items() if not np.isnan(slope)}


def _by_task(results: Results) -> Iterator[Check]:
    median = results.recoveries.groupby("task")["impact"].median().dropna()
    for task in results.tasks:
        span = paper.value("range of impact, percent drop", task)
        if span and task in median.index:
            low, high = 0 - span[1] / 100, 0 - span[0] / 100
            same = bool(low <= median[task] <= high)
            statement = f"Impact depends on the task: its median in {task} is in the paper's range."
            ours, theirs = f"{median[task]:.2f}", f"{low:.2f} to {high:.2f}"
            yield statement, ours, theirs, same, (*(LOWERING if median[task] < low else ()), FEW)


def _fault_kinds(results: Results) -> Iterator[Check]:
    kinds = {"proximity": "proximity_faults", "range and bearing": "rab_faults",
             "wheels": "wheel_faults"}  # fmt: skip
    found = {}
    for kind, column in kinds.items():
        r = statistics.pearson(results.recoveries[column], results.recoveries["impact"])
        if not np.isnan(r):
            found[kind] = r
    if found:
        same = all(abs(r) < WEAK for r in found.values())
        ours = ", ".join(f"{kind} {r:.2f}" for kind, r in found.items())
        statement = (
            "Impact has no direct relation to how many robots have a kind of fault (correlations "
            f"within {WEAK})."
        )
        yield statement, ours, "no direct relation", same, (FEW, TASKS)


CHECKS = (
    _impact,
    _resilience,
    _recovered,
    _best,
    _coverage,
    _behaviours,
    _slopes,
    _by_task,
    _fault_kinds,
)


def _paper(metric: str, ours: Mapping[str, float]) -> dict[str, float]:
    """Return the paper's numbers for the algorithms of a study."""
    found = {name: paper.value(metric, algorithm=name) for name in ours}
    return {name: value[0] for name, value in found.items() if value}


def _lowering(
    ours: Mapping[str, float], theirs: Mapping[str, float], apart: float
) -> tuple[str, ...]:
    """Return the reasons for lower numbers, if one of ours is lower."""
    return LOWERING if any(theirs[name] - ours[name] > apart for name in theirs) else ()


def _near(ours: Mapping[str, float], theirs: Mapping[str, float]) -> bool:
    # Rounded, because the paper's numbers are.
    return all(round(abs(ours[name] - theirs[name]), 2) <= NEAR for name in theirs)


def _row(numbers: Mapping[str, float], how: str = "{:.2f}") -> str:
    return ", ".join(f"{name.upper()} {how.format(value)}" for name, value in numbers.items())


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
