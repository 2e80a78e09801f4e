"""The tables of a study: the paper's, and those of what the paper tells in its text.

Each frame has our numbers and, in columns that start with ``paper_``, the paper's for the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from qed.study import paper
from qed.study.cells import Row, effects, known, plain, significance, span, spread
from qed.study.layout import Key, Table
from qed.study.results import Results
from qed.study.statistics import (
    LARGE,
    by_count,
    cliffs_delta,
    effect,
    fit,
    mean_sd,
    median_iqr,
    pearson,
    rank_sum_p,
    stars,
)

__all__ = ["STRONGEST", "Table", "tables"]

QED = "qed"
STRONGEST = -0.5  # impacts beyond it are left out of slopes, as in the paper
KINDS = {
    "proximity": "proximity_faults",
    "range-and-bearing": "rab_faults",
    "wheel": "wheel_faults",
}
PART = "Performance is a part of the task's empirical maximum, the best fitness in this study."

TASK = Key("Task", "task", str.capitalize)
ALGORITHM = Key("Algorithm", "algorithm", lambda name: "All" if name == paper.ALL else name.upper())


def tables(results: Results) -> list[Table]:
    """Return the tables that the results suffice for."""
    made = [
        _performance(results),
        _recovery(results),
        _comparison(results, "table-s3a", "Table S3a", "resilience", "resilience"),
        _comparison(results, "table-s3b", "Table S3b", "recovered performance", "performance"),
        _maps(results),
        _slopes(results),
        _fault_kinds(results),
        _fault_correlations(results),
    ]
    return [table for table in made if len(table.frame)]


def _performance(results: Results) -> Table:
    """Table S1."""
    shown = {
        "best_performance": "Best performance",
        "average_performance": "Average performance",
        "coverage": "Coverage",
    }
    rows = []
    for task in results.tasks:
        for algorithm, runs in _by_algorithm(results, results.runs[results.runs["task"] == task]):
            row: Row = {"task": task, "algorithm": algorithm, "n": len(runs)}
            for stem, heading in shown.items():
                values = runs[stem] / runs["cells"] if stem == "coverage" else runs[stem]
                row |= _beside(
                    stem, "sd", mean_sd(values), paper.value(heading.lower(), task, algorithm)
                )
            rows.append(row)
    return Table(
        "table-s1",
        "Table S1: the maps in the normal environment",
        f"Mean ± SD over {_many('replicate', rows)} (paper: 5). {PART} Best and average are over "
        "a map's solutions; coverage is the part of its cells that is filled.",
        pd.DataFrame(rows),
        (TASK, ALGORITHM),
        tuple(spread(heading, stem, "sd") for stem, heading in shown.items()),
    )


def _recovery(results: Results) -> Table:
    """Table S2."""
    shown = {
        "impact": "Impact",
        "performance": "Recovered performance",
        "resilience": "Resilience",
    }
    rows = []
    for algorithm, recoveries in _by_algorithm(results, results.recoveries):
        row: Row = {"algorithm": algorithm, "n": len(recoveries)}
        for stem, heading in shown.items():
            found = paper.value(heading.lower(), algorithm=algorithm)
            row |= _beside(stem, "iqr", median_iqr(recoveries[stem]), found)
        rows.append(row)
    return Table(
        "table-s2",
        "Table S2: faults, and recovery from them",
        f"Median ± IQR over all tasks and faults: {_many('recovery', rows)} an algorithm "
        f"(paper: 1250). Impact and resilience are the change of performance, before and after "
        f"recovery, as a part of the performance without a fault. {PART}",
        pd.DataFrame(rows),
        (ALGORITHM,),
        tuple(spread(heading, stem, "iqr") for stem, heading in shown.items()),
    )


def _comparison(results: Results, name: str, title: str, metric: str, stem: str) -> Table:
    """Table S3: QED against each baseline on a metric of the recoveries."""
    rows: list[Row] = []
    for task in results.tasks:
        there = dict(_by_algorithm(results, results.recoveries[results.recoveries["task"] == task]))
        if QED in there:
            ours = there.pop(QED)[stem]
            rows += [
                _compared(task, baseline, metric, stem, ours, recoveries[stem])
                for baseline, recoveries in there.items()
            ]
    made = sum(known(row["p"]) for row in rows)
    for row in rows:
        row["stars"] = stars(row["p"], max(made, 1))
    sizes = [{"n": row[column]} for row in rows for column in ("n_qed", "n")]
    return Table(
        name,
        f"{title}: {metric}, QED against the others",
        f"Median ± IQR over {_many('recovery', sizes)} a task and algorithm (paper: 250). "
        f"p of the Wilcoxon rank-sum test; * and ** mark p below 0.05/{made} and "
        f"0.001/{made}, Bonferroni's correction for the comparisons made (paper: 15). "
        "The effect is Cliff's δ, positive where QED is better, bold where large. "
        f"{PART if stem == 'performance' else ''}".rstrip(),
        pd.DataFrame(rows),
        (TASK, Key("Against", "baseline", str.upper)),
        (
            spread(f"QED's {metric}", f"qed_{stem}", "iqr", printed=1),
            spread("The other's", stem, "iqr", printed=1),
            significance("Significance"),
            effects("Effect"),
        ),
    )


def _compared(task: str, baseline: str, metric: str, stem: str, ours: Any, theirs: Any) -> Row:
    """Return a row of table S3, all but the stars, which depend on how many rows there are."""
    delta = cliffs_delta(ours, theirs)
    p_found = paper.entries(f"{metric}: p against QED", task, baseline)
    delta_found = paper.entries(f"{metric}: Cliff's delta of QED over it", task, baseline)
    # The paper's note on p ends with its stars, or "no".
    marked = p_found[0].note.rpartition(": ")[2].replace("no", "") if p_found else ""
    bold = LARGE if any(found.note == LARGE for found in delta_found) else f"not {LARGE}"
    return {
        "task": task,
        "baseline": baseline,
        "n_qed": len(ours),
        "n": len(theirs),
        **_beside(f"qed_{stem}", "iqr", median_iqr(ours), paper.value(metric, task, QED)),
        **_beside(stem, "iqr", median_iqr(theirs), paper.value(metric, task, baseline)),
        "p": rank_sum_p(ours, theirs),
        "stars": "",
        "paper_p_at_most": p_found[0].value if p_found else math.nan,
        "paper_stars": marked,
        "delta": delta,
        "effect": effect(delta),
        "paper_delta": delta_found[0].value if delta_found else math.nan,
        "paper_effect": bold if delta_found else "",
    }


def _maps(results: Results) -> Table:
    """What the paper tells of maps in its text."""
    shown = {"coverage": "Coverage, cells", "projected_coverage": "Projected coverage, cells"}
    diverse = {"diversity": "Diversity of cells", "solution_diversity": "Diversity of solutions"}
    ends = [entry.value for entry in paper.entries("behavioural diversity of a map")]
    rows = []
    for algorithm, runs in _by_algorithm(results, results.runs):
        row: Row = {"algorithm": algorithm, "n": len(runs)}
        for stem, heading in shown.items():
            found = paper.value(heading.lower(), algorithm=algorithm)
            row |= _beside(stem, "sd", mean_sd(runs[stem]), found)
        for stem in diverse:
            row[stem], row[f"{stem}_sd"] = mean_sd(runs[stem])
            row[f"paper_{stem}_low"], row[f"paper_{stem}_high"] = min(ends), max(ends)
        rows.append(row)
    return Table(
        "maps",
        "How much the maps hold",
        f"Mean ± SD over the maps of all tasks: {_many('map', rows)} an algorithm (paper: 25). "
        "Coverage counts the filled cells of a map. Its solutions, projected to SPIRIT space, "
        "fill the cells of projected coverage; diversity is the mean distance, 0 to 1, between "
        "the centroids of these cells, and between their best solutions. The paper defines it by "
        "centroids and gives its range over the algorithms. Ours are averages of many points and "
        "lie close together; the paper's numbers are near those of the solutions.",
        pd.DataFrame(rows),
        (ALGORITHM,),
        (
            *(spread(heading, stem, "sd", digits=0) for stem, heading in shown.items()),
            *(
                spread(heading, stem, "sd")._replace(paper=span(stem))
                for stem, heading in diverse.items()
            ),
        ),
    )


def _slopes(results: Results) -> Table:
    """What the paper tells of its signatures in its text."""
    rows = []
    for relation, column in (("resilience", "resilience"), ("diversity", "distance")):
        for algorithm, recoveries in _by_algorithm(results, results.recoveries):
            kept = recoveries[recoveries["impact"] >= STRONGEST]
            line = fit(kept["impact"], kept[column])
            found = paper.value(f"slope of {relation} on impact", algorithm=algorithm)
            rows.append(
                {
                    "of": f"{relation} on impact",
                    "algorithm": algorithm,
                    "n": line.n,
                    "left_out": int((recoveries["impact"] < STRONGEST).sum()),
                    "slope": line.slope,
                    "paper_slope": found[0] if found else math.nan,
                    "intercept": line.intercept,
                    "r": line.r,
                }
            )
    return Table(
        "slopes",
        "Slopes of resilience and diversity on impact",
        f"Least-squares lines over the recoveries of all tasks, {_many('point', rows)} each "
        "(paper: around 1000); r is the Pearson correlation. Faults that cost more than half the "
        "performance are left out, as in the paper. Diversity is the distance between the "
        "behaviours before and after recovery, 0 to 1.",
        pd.DataFrame(rows),
        (Key("Slope of", "of", str.capitalize), ALGORITHM),
        (
            plain("Slope", "slope", paper=True),
            plain("Intercept", "intercept"),
            plain("r", "r"),
            plain("n", "n", 0),
            plain("Left out", "left_out", 0),
        ),
    )


def _fault_kinds(results: Results) -> Table:
    """Impact against the number of robots with each kind of fault."""
    recoveries = results.recoveries
    rows = [
        {"kind": kind, "robots": robots, "n": n, "impact": median, "impact_iqr": iqr}
        for kind, column in KINDS.items()
        for robots, n, median, iqr in by_count(recoveries[column], recoveries["impact"])
    ]
    return Table(
        "fault-kinds",
        "Impact by the number of robots with a kind of fault",
        "Median ± IQR over all tasks and algorithms. The paper sees no direct relation.",
        pd.DataFrame(rows),
        (Key("Fault", "kind", str.capitalize), Key("Robots", "robots")),
        (spread("Impact", "impact", "iqr")._replace(paper=None), plain("n", "n", 0)),
    )


def _fault_correlations(results: Results) -> Table:
    """Correlation of impact with the number of robots with each kind of fault."""
    groups = [*_by_algorithm(results, results.recoveries), (paper.ALL, results.recoveries)]
    rows = [
        {"algorithm": algorithm, "n": len(recoveries)}
        | {
            kind: pearson(recoveries[column], recoveries["impact"])
            for kind, column in KINDS.items()
        }
        for algorithm, recoveries in groups
        if len(recoveries)
    ]
    return Table(
        "fault-correlations",
        "Correlation of impact with the number of robots with a kind of fault",
        "Pearson correlation over all tasks; below 0, more such faults cost more performance.",
        pd.DataFrame(rows),
        (ALGORITHM,),
        (
            *(plain(kind.capitalize(), kind) for kind in KINDS),
            plain("n", "n", 0),
        ),
    )


def _by_algorithm(results: Results, frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each algorithm that has some, in the study's order."""
    for algorithm in results.algorithms:
        rows = frame[frame["algorithm"] == algorithm]
        if len(rows):
            yield algorithm, rows


def _beside(
    stem: str, suffix: str, ours: tuple[float, float], found: tuple[float, float] | None
) -> Row:
    """Return the columns of a number and its spread, ours and the paper's."""
    theirs = found or (math.nan, math.nan)
    names = (stem, f"{stem}_{suffix}", f"paper_{stem}", f"paper_{stem}_{suffix}")
    return dict(zip(names, (*ours, *theirs), strict=True))


def _many(what: str, rows: Iterable[Row]) -> str:
    """Return how many of something the rows are made from, "2 maps" or "1 to 2 maps"."""
    counts = sorted({row["n"] for row in rows}) or [0]
    several = "recoveries" if what == "recovery" else f"{what}s"
    if len(counts) > 1:
        return f"{counts[0]} to {counts[-1]} {several}"
    return f"{counts[0]} {what if counts == [1] else several}"
