"""The paper's tables, and those of what it tells in its text, with the paper's numbers beside ours.

Columns that start with ``paper_`` are the paper's.  Tables S2 and S3 exist twice: from fresh trials
of the selected controllers, and, with "-claimed" in their names, as in the paper from the trials
that selected them.  Brackets are 95% intervals over replicates, of the number of each alone.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from qed import paper
from qed.paper import QED
from qed.paper.measures import STRONGEST, comparisons
from qed.study import blocks
from qed.study.blocks import Column, Key, Part, Row, Table, counted, described, known, rounded
from qed.study.by_map import limits, means, medians, over_replicates, slopes
from qed.study.results import Results
from qed.study.statistics import LARGE, fit, interval, mean_sd, median_iqr

FRESH, CLAIMED = "", "claimed_"  # what columns of the results begin with
ON = {
    FRESH: "Measured on fresh trials, which were not used to select the solutions.",
    CLAIMED: "Measured on the selection trials, as in the paper; this overestimates the selected "
    "solutions.",
}


def beside(
    stem: str, suffix: str, ours: tuple[float, float], found: tuple[float, float] | None
) -> Row:
    """Return the columns of a number and its spread, ours and the paper's."""
    theirs = found or (math.nan, math.nan)
    names = (stem, f"{stem}_{suffix}", f"paper_{stem}", f"paper_{stem}_{suffix}")
    return dict(zip(names, (*ours, *theirs), strict=True))


def span(stem: str) -> Callable[[Row], Part | None]:
    """Return how a range of the paper is shown."""

    def paper(row: Row) -> Part | None:
        low, high = row[f"paper_{stem}_low"], row[f"paper_{stem}_high"]
        return Part(f"{rounded(low, 2)}{blocks.DASH}{rounded(high, 2)}") if known(low) else None

    return paper


def significance(heading: str) -> Column:
    """Return a column of p with its stars."""

    def ours(row: Row) -> Part:
        p = row["p"]
        if not known(p):
            return Part(blocks.DASH)
        return Part("p<0.001" if p < 0.001 else f"p={rounded(p, 3)}", row["stars"])

    def paper(row: Row) -> Part | None:
        p = row["paper_p_at_most"]
        # All that is printed of a smaller one is that it is below 0.001.
        number = "p<0.001" if p <= 0.001 else f"p={rounded(p, 3)}"
        return Part(number, row["paper_stars"]) if known(p) else None

    return Column(heading, ours, paper)


def effects(heading: str) -> Column:
    """Return a column of Cliff's delta and its word, bold if it is large."""

    def ours(row: Row) -> Part:
        return Part(rounded(row["delta"], 2), word=row["effect"], large=row["effect"] == LARGE)

    def paper(row: Row) -> Part | None:
        delta = row["paper_delta"]
        large = row["paper_effect"] == LARGE
        return Part(rounded(delta, 2), large=large) if known(delta) else None

    return Column(heading, ours, paper)


def maps_table(results: Results) -> Table:
    """Table S1."""
    shown = {
        "best_relative_performance": "Best performance",
        "average_relative_performance": "Average performance",
        "coverage": "Coverage",
    }
    rows = []
    for task in results.tasks:
        for algorithm, runs in results.by_algorithm(results.runs[results.runs["task"] == task]):
            row: Row = {"task": task, "algorithm": algorithm, "n": len(runs)}
            for stem, heading in shown.items():
                values = runs["filled"] / runs["cells"] if stem == "coverage" else runs[stem]
                row |= beside(
                    stem, "sd", mean_sd(values), paper.value(heading.lower(), task, algorithm)
                )
                row |= limits(stem, interval((values, 0)))
            rows.append(row)
    return described(
        "table-s1",
        pd.DataFrame(rows),
        (blocks.TASK, blocks.ALGORITHM),
        tuple(blocks.spread(heading, stem, "sd") for stem, heading in shown.items()),
        replicates=counted("replicate", rows),
    )


def recovery_tables(results: Results, trials: str) -> list[Table]:
    """Tables S2, S3a and S3b, from fresh trials or as claimed."""
    return [
        _recovery(results, trials),
        _comparison(results, "s3a", "resilience", "resilience", trials),
        _comparison(results, "s3b", "recovered performance", "relative_performance", trials),
    ]


def _named(table: Table, number: str, trials: str) -> Table:
    """Return one of the paper's tables under its name, which says on which trials it is."""
    if trials == FRESH:
        return replace(table, name=f"table-{number}")
    return replace(
        table, name=f"table-{number}-claimed", title=f"{table.title}, on selection trials"
    )


def _recovery(results: Results, trials: str) -> Table:
    """Table S2."""
    shown = {
        "impact": "Impact",
        "relative_performance": "Recovered performance",
        "resilience": "Resilience",
    }
    rows = []
    for algorithm, recoveries in results.by_algorithm(results.recoveries):
        row: Row = {"algorithm": algorithm, "n": len(recoveries)}
        for stem, heading in shown.items():
            found = paper.value(heading.lower(), algorithm=algorithm)
            row |= beside(stem, "iqr", median_iqr(recoveries[trials + stem]), found)
            row |= limits(stem, over_replicates(recoveries, medians(trials + stem)))
        rows.append(row)
    table = described(
        "table-s2",
        pd.DataFrame(rows),
        (blocks.ALGORITHM,),
        tuple(blocks.spread(heading, stem, "iqr") for stem, heading in shown.items()),
        recoveries=counted("recovery", rows),
        trials=ON[trials],
    )
    return _named(table, "s2", trials)


def _comparison(results: Results, number: str, metric: str, stem: str, trials: str) -> Table:
    """Table S3: QED against each baseline on a metric of the recoveries."""
    found = comparisons(results, trials + stem).to_dict("records")
    made = sum(known(one["p"]) for one in found)
    sizes = [{"n": one[column]} for one in found for column in ("n_qed", "n")]
    table = described(
        "table-s3",
        pd.DataFrame(
            [
                _beside_paper(one, metric, stem) | _limits(results, one, stem, trials + stem)
                for one in found
            ]
        ),
        (blocks.TASK, Key("Against", "baseline", str.upper)),
        (
            blocks.spread(f"QED's {metric}", f"qed_{stem}", "iqr", printed=1),
            blocks.spread("The other's", stem, "iqr", printed=1),
            significance("Significance"),
            effects("Effect"),
        ),
        number=number.capitalize(),
        metric=metric,
        recoveries=counted("recovery", sizes),
        made=made,
        performance=f"{blocks.PART} " if stem == "relative_performance" else "",
        trials=ON[trials],
    )
    return _named(table, number, trials)


def _limits(results: Results, one: Row, stem: str, column: str) -> Row:
    """Return the limits of both medians of a row of table S3."""
    own = results.recoveries[results.recoveries["task"] == one["task"]]
    return {
        name: limit
        for label, algorithm in ((f"qed_{stem}", QED), (stem, one["baseline"]))
        for name, limit in limits(
            label, over_replicates(own[own["algorithm"] == algorithm], medians(column))
        ).items()
    }


def _beside_paper(one: Row, metric: str, stem: str) -> Row:
    """Return a row of table S3: a comparison, and what the paper says of it."""
    task, baseline = one["task"], one["baseline"]
    p_found = paper.entries(f"{metric}: p against QED", task, baseline)
    delta_found = paper.entries(f"{metric}: Cliff's delta of QED over it", task, baseline)
    # The paper's note on p ends with its stars, or "no".
    marked = p_found[0].note.rpartition(": ")[2].replace("no", "") if p_found else ""
    bold = LARGE if any(found.note == LARGE for found in delta_found) else f"not {LARGE}"
    ours, theirs = (one["qed"], one["qed_iqr"]), (one["other"], one["other_iqr"])
    return {
        **{name: one[name] for name in ("task", "baseline", "n_qed", "n")},
        **beside(f"qed_{stem}", "iqr", ours, paper.value(metric, task, QED)),
        **beside(stem, "iqr", theirs, paper.value(metric, task, baseline)),
        "p": one["p"],
        "stars": one["stars"],
        "paper_p_at_most": p_found[0].value if p_found else math.nan,
        "paper_stars": marked,
        "delta": one["delta"],
        "effect": one["effect"],
        "paper_delta": delta_found[0].value if delta_found else math.nan,
        "paper_effect": bold if delta_found else "",
    }


def coverage_table(results: Results) -> Table:
    """What the paper tells of maps in its text."""
    shown = {"filled": "Coverage, cells", "projected_filled": "Projected coverage, cells"}
    diverse = {"diversity": "Diversity of cells", "solution_diversity": "Diversity of solutions"}
    ends = [entry.value for entry in paper.entries("behavioural diversity of a map")]
    rows = []
    for algorithm, runs in results.by_algorithm(results.runs):
        row: Row = {"algorithm": algorithm, "n": len(runs)}
        for stem, heading in shown.items():
            found = paper.value(heading.lower(), algorithm=algorithm)
            row |= beside(stem, "sd", mean_sd(runs[stem]), found)
            row |= limits(stem, over_replicates(runs, means(stem)))
        for stem in diverse:
            row[stem], row[f"{stem}_sd"] = mean_sd(runs[stem])
            row |= limits(stem, over_replicates(runs, means(stem)))
            if stem == "solution_diversity":
                row[f"paper_{stem}_low"], row[f"paper_{stem}_high"] = min(ends), max(ends)
        rows.append(row)
    return described(
        "maps",
        pd.DataFrame(rows),
        (blocks.ALGORITHM,),
        (
            *(blocks.spread(heading, stem, "sd", digits=0) for stem, heading in shown.items()),
            *(
                blocks.spread(heading, stem, "sd")._replace(
                    paper=span(stem) if stem == "solution_diversity" else None
                )
                for stem, heading in diverse.items()
            ),
        ),
        maps=counted("map", rows),
    )


def slopes_table(results: Results) -> Table:
    """What the paper tells of its signatures in its text."""
    rows = []
    for relation, column in (("resilience", "resilience"), ("diversity", "distance")):
        for algorithm, recoveries in results.by_algorithm(results.recoveries):
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
                    **limits("slope", over_replicates(kept, slopes(column))),
                    "paper_slope": found[0] if found else math.nan,
                    "intercept": line.intercept,
                    "r": line.r,
                }
            )
    return described(
        "slopes",
        pd.DataFrame(rows),
        (Key("Slope of", "of", str.capitalize), blocks.ALGORITHM),
        (
            blocks.plain("Slope", "slope", paper=True),
            blocks.plain("Intercept", "intercept"),
            blocks.plain("r", "r"),
            blocks.plain("n", "n", 0),
            blocks.plain("Left out", "left_out", 0),
        ),
        points=counted("point", rows),
    )
