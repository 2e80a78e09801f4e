"""What the paper says of its maps before anything breaks: how much they hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from qed.study import paper
from qed.study.results import Results
from qed.study.statements import measures
from qed.study.statements.build import (
    DIRECTION,
    about,
    close,
    number,
    ranged,
    row,
    span,
    spread,
    yes_or_no,
)
from qed.study.statements.model import Answer, Statement, Tolerance
from qed.study.statements.needs import ALL_TASKS, BASELINES, PAPER, QED, Needs, printed

GROUP = "diversity"
TENTH = 0.10
CELLS = Tolerance("within a tenth", "the paper's own maps vary by up to 4% (SDBC)")
DENSE, SPARSE = 0.99, 0.5
MAPS = 25  # of an algorithm in the paper
HALF = 0.15

_made = partial(about(GROUP, "Results, map quality, behavioural diversity"), chosen=False)


def _mean(column: str) -> Callable[[Results], measures.Numbers]:
    return lambda results: measures.means(results, column)


def _order(results: Results) -> Answer | None:
    ours = measures.means(results, "coverage")
    others = [ours[name] for name in ("sdbc", "spirit") if name in ours]
    holds = ours[QED] > ours["hbd"] > max(others, default=0.0)
    return Answer(row(ours, "{:,.0f}"), holds)


def _dense(results: Results) -> Answer | None:
    runs = results.runs.assign(part=results.runs["coverage"] / results.runs["cells"])
    parts = runs.groupby("algorithm")["part"].mean()
    ours = {name: float(parts[name]) for name in results.algorithms}
    holds = ours[QED] >= DENSE and all(ours[name] < SPARSE for name in BASELINES)
    return Answer(row(ours), holds)


def _similar(results: Results) -> Answer | None:
    ours = measures.means(results, "solution_diversity")
    if len(ours) < 2:
        return None
    beside = row(measures.means(results, "diversity"))
    told = f"{spread(ours):.2f} ({row(ours)}; between centroids {beside})"
    return Answer(told, spread(ours) <= 0.05)


def _half(results: Results) -> Answer | None:
    ours = measures.means(results, "projected_coverage")
    others = [value for name, value in ours.items() if name != "sdbc"]
    if "sdbc" not in ours or not others:
        return None
    part = ours["sdbc"] / (sum(others) / len(others))
    return Answer(f"{part:.2f} of the others' mean", abs(part - 0.5) <= HALF)


def _on_par(results: Results) -> Answer | None:
    found = []
    for column, how in (("solution_diversity", "{:.2f}"), ("projected_coverage", "{:.0f}")):
        ours = measures.means(results, column)
        others = [value for name, value in ours.items() if name != QED]
        if QED not in ours or not others:
            return None
        mean = sum(others) / len(others)
        found.append((how.format(ours[QED]), how.format(mean), ours[QED] >= (1 - TENTH) * mean))
    told = "; ".join(f"QED {own}, the others' mean {mean}" for own, mean, _ in found)
    return Answer(told, all(held for *_, held in found))


def statements() -> list[Statement]:
    """Return the statements, in the paper's order."""
    made = []
    for name in PAPER.algorithms:
        theirs, _ = paper.value("coverage, cells", algorithm=name) or (0.0, 0.0)
        base = _made(
            f"coverage-{name}",
            f"Number of cells that {name.upper()} fills in its own map.",
            "Mean over all maps.",
            tolerance=CELLS,
            progress="coverage",
        )
        made.append(number(base, _mean("coverage"), name, theirs, TENTH * theirs))
    made += [
        yes_or_no(
            _made(
                "coverage-order",
                "QED fills the most cells, then HBD, then SDBC and SPIRIT.",
                "Mean cells over all maps.",
            ),
            _order,
            row(printed("coverage, cells"), "{:,.0f}"),
        ),
        yes_or_no(
            _made(
                "coverage-dense",
                "QED's space is dense, the baselines' spaces are sparse.",
                "Fraction of a map's cells that are filled, mean over all maps.",
                tolerance=Tolerance(
                    f"dense is at least {DENSE}, sparse below {SPARSE}", "the paper gives no bound"
                ),
            ),
            _dense,
            "all of QED's cells, not all of the baselines'",
        ),
    ]
    ends = [entry.value for entry in paper.entries("behavioural diversity of a map")]
    low, high = min(ends), max(ends)
    for name in PAPER.algorithms:
        base = _made(
            f"diversity-{name}",
            f"The behavioural diversity of {name.upper()}'s projected maps.",
            "Mean distance between the solutions of a projected map, mean over all maps. The "
            "paper's text uses the centroids of the cells; that number is in the table of maps.",
            tolerance=close(),
            needs=ALL_TASKS,
        )
        made.append(ranged(base, _mean("solution_diversity"), (low, high), 0.03, (name,)))
    made.append(
        yes_or_no(
            _made(
                "diversity-similar",
                "All algorithms' projected maps are about equally diverse.",
                "Highest minus lowest of the four mean diversities.",
                tolerance=Tolerance("up to 0.05", "the paper's 0.02, and 0.03 more"),
            ),
            _similar,
            f"{high - low:.2f} ({span(low, high)})",
        )
    )
    for name in PAPER.algorithms:
        theirs, sd = paper.value("projected coverage, cells", algorithm=name) or (0.0, 0.0)
        error = 2 * sd / MAPS**0.5
        base = _made(
            f"projected-{name}",
            f"Number of cells of the common space that {name.upper()}'s solutions fill.",
            "Mean over all maps.",
            tolerance=Tolerance(
                "within a tenth or two standard errors of the paper's mean, whichever is more",
                "the standard error follows from the paper's spread over 25 maps",
            ),
            needs=ALL_TASKS,
        )
        within = max(TENTH * theirs, error)
        made.append(number(base, _mean("projected_coverage"), name, theirs, within))
    return [
        *made,
        yes_or_no(
            _made(
                "projected-half",
                "SDBC fills half as many cells of the common space as the others.",
                "SDBC's mean divided by the mean of the other three.",
                tolerance=Tolerance(f"0.5 within {HALF}", "the paper rounds to a half"),
            ),
            _half,
            "0.50 of the others' mean",
        ),
        yes_or_no(
            _made(
                "diversity-on-par",
                "QED's behavioural diversity is at least on par with the baselines'.",
                "QED's mean distance and projected coverage, compared with the baselines' means.",
                tolerance=Tolerance("up to a tenth lower is on par", DIRECTION.why),
                needs=Needs((), PAPER.algorithms),
            ),
            _on_par,
            "QED 49 cells, the others' mean 44",
        ),
    ]
