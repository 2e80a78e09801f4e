"""What the paper says of its signatures: impact, resilience and distance together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from qed.study import paper
from qed.study.results import Results
from qed.study.statements import measures
from qed.study.statements.build import about, close, number, placed, ranged, row, span, yes_or_no
from qed.study.statements.measures import most_frequent, of_shown
from qed.study.statements.model import Answer, Statement, Tolerance
from qed.study.statements.needs import ALL_TASKS, BASELINES, PAPER, QED, Needs, printed

GROUP = "signatures"
FAR = 0.70  # distance beyond which a recovery is far from the normal behaviour
RARE, FREQUENT = 0.10, 0.25
SEVERE, VERY_SEVERE = -0.2, -0.4  # impacts
SLOPES = {"resilience": ("resilience", 0.05), "diversity": ("distance", 0.15)}
SLOPE_WHY = (
    "two to four standard errors of the paper's slope if its 1000 points were independent; those "
    "of one map are not"
)
DENSITY = Tolerance("within 0.03", "read from a figure in the paper")
ONE_DIGIT = Tolerance("within 0.05", "the paper prints one decimal")

_made = about(GROUP, "Results, fault recovery; figure 3")
_impact = partial(_made, where="Results, fault recovery; figure 3a")
_resilience = partial(_made, where="Results, fault recovery; figure 3b")
_distance = partial(_made, where="Results, fault recovery; figure 3c")


def _typical(column: str) -> Callable[[Results], measures.Numbers]:
    return lambda results: of_shown(results, column, most_frequent)


def _kept(results: Results) -> measures.Numbers:
    found = {}
    for name in results.algorithms:
        there = int((results.recoveries["algorithm"] == name).sum())
        if there:
            found[name] = len(measures.shown(results, "impact", name)) / there
    return found


def _inside(name: str, low: float, high: float) -> Callable[[Results], Answer | None]:
    def check(results: Results) -> Answer | None:
        values = measures.shown(results, "resilience", name)
        if not len(values):
            return None
        part = float(((values >= low) & (values <= high)).mean())
        return Answer(f"{part:.0%} of them", part > 0.5)

    return check


def _spectrum(results: Results) -> Answer | None:
    values = measures.shown(results, "distance", QED)
    if not len(values):
        return None
    low, high = np.quantile(values, (0.01, 0.99)).tolist()
    return Answer(span(low, high), low <= 0.1 and high >= 0.9)


def _largest(results: Results) -> measures.Numbers:
    return of_shown(results, "distance", lambda values: float(np.quantile(values, 0.99)))


def _all_of_a_sign(column: str, sign: int) -> Callable[[Results], Answer | None]:
    def check(results: Results) -> Answer | None:
        ours = measures.correlations(results, column)
        return Answer(row(ours), all(sign * r > 0 for r in ours.values())) if ours else None

    return check


def _very_severe(results: Results) -> measures.Numbers:
    return of_shown(results, "impact", lambda values: float((values < VERY_SEVERE).mean()))


def _exceed(results: Results) -> Answer | None:
    ours = _very_severe(results)
    others = {name: ours[name] for name in BASELINES if name in ours}
    return Answer(row(ours, "{:.1%}"), all(v > 0 for v in others.values())) if others else None


def _fewer(results: Results) -> Answer | None:
    ours = _very_severe(results)
    if QED not in ours or len(ours) < 2:
        return None
    holds = ours[QED] < min(value for name, value in ours.items() if name != QED)
    return Answer(row(ours, "{:.1%}"), holds)


def far(results: Results) -> measures.Numbers:
    """Return the fraction of recoveries from severe faults that are far from normal behaviour."""
    found = {}
    for name in results.algorithms:
        severe = measures.shown(results, "impact", name) < SEVERE
        if severe.any():
            found[name] = float((measures.shown(results, "distance", name)[severe] > FAR).mean())
    return found


def _rarely(results: Results) -> Answer | None:
    ours = {}
    for name in BASELINES:
        values = measures.shown(results, "distance", name)
        if len(values):
            ours[name] = float((values > FAR).mean())
    return Answer(row(ours, "{:.0%}"), all(v <= RARE for v in ours.values())) if ours else None


def _frequently(results: Results) -> Answer | None:
    ours = far(results).get(QED)
    return None if ours is None else Answer(f"{ours:.0%}", ours >= FREQUENT)


def _oftener(results: Results) -> Answer | None:
    ours = far(results)
    if QED not in ours or len(ours) < 2:
        return None
    holds = ours[QED] > max(value for name, value in ours.items() if name != QED)
    return Answer(row(ours, "{:.0%}"), holds)


def statements() -> list[Statement]:
    """Return the statements, in the paper's order."""
    share = paper.value("part of the recoveries in the signatures")
    together = paper.value("correlation of resilience with impact, range")
    assert share
    assert together
    base = _made(
        "signatures-kept",
        "Four fifths of the faults cost at most half of the performance.",
        "Fraction of each algorithm's recoveries.",
        tolerance=Tolerance("within 0.05", "the paper says about 1000 of 1250"),
        needs=ALL_TASKS,
    )
    made = [ranged(base, _kept, (share[0], share[0]), 0.05)]
    typical = "The most frequent value: where a Gaussian kernel density has its peak."
    base = _impact(
        "typical-impact",
        "QED's typical impact.",
        typical,
        tolerance=DENSITY,
        needs=ALL_TASKS,
    )
    theirs = printed("typical impact")[QED]
    made.append(number(base, _typical("impact"), QED, theirs, 0.03))
    base = _impact("typical-impact-least", "QED's typical impact is the smallest.", typical)
    made.append(placed(base, _typical("impact"), QED, 1, {QED: theirs}))
    for name in PAPER.algorithms:
        base = _impact(
            f"correlation-{name}",
            f"{name.upper()}'s correlation of resilience with impact.",
            "Pearson correlation over the recoveries in the signatures.",
            tolerance=ONE_DIGIT,
            needs=ALL_TASKS,
        )
        measure = partial(measures.correlations, column="resilience")
        made.append(ranged(base, measure, together, 0.05, (name,)))
    made += _sloped("resilience", _impact)
    theirs_ = printed("slope of resilience on impact")
    for who, place, word, means in (
        (QED, -1, "smallest", "its recovery depends least on the severity of a fault"),
        ("spirit", 1, "largest", "its recovery is worst for severe faults"),
    ):
        base = _impact(
            f"slope-{word}",
            f"{who.upper()} has the {word} slope of resilience on impact: {means}.",
            "Least-squares line through the recoveries in the signatures.",
        )
        made.append(
            placed(base, partial(measures.slopes, column="resilience"), who, place, theirs_)
        )
    for name in PAPER.algorithms:
        base = _resilience(
            f"typical-resilience-{name}",
            f"{name.upper()}'s typical resilience.",
            typical,
            tolerance=DENSITY,
            needs=ALL_TASKS,
        )
        value = printed("typical resilience")[name]
        made.append(number(base, _typical("resilience"), name, value, 0.03))
        low, high = paper.value("resilience, most of it in", algorithm=name) or (-1.0, 0.0)
        base = _resilience(
            f"bulk-resilience-{name}",
            f"Most of {name.upper()}'s recoveries have a resilience in a range.",
            "Fraction of the recoveries in the signatures.",
            tolerance=Tolerance("more than half", "most is more than half"),
            needs=Needs(PAPER.tasks, (name,)),
        )
        made.append(yes_or_no(base, _inside(name, low, high), f"most in {span(low, high)}"))
    return made + _distances()


def _sloped(relation: str, make: Callable[..., Statement]) -> list[Statement]:
    column, within = SLOPES[relation]
    made = []
    for name in PAPER.algorithms:
        base = make(
            f"slope-{relation}-{name}",
            f"{name.upper()}'s slope of {relation} on impact.",
            "Least-squares line through the recoveries in the signatures.",
            tolerance=close(within, SLOPE_WHY),
            needs=ALL_TASKS,
        )
        value = printed(f"slope of {relation} on impact")[name]
        made.append(number(base, partial(measures.slopes, column=column), name, value, within))
    return made


def _distances() -> list[Statement]:
    quantile = "99th percentile, because the paper reads a density."
    made = [
        yes_or_no(
            _resilience(
                "distance-spectrum",
                "QED's recoveries cover nearly all distances from the normal behaviour.",
                "1st to 99th percentile of the distance.",
                tolerance=Tolerance("from 0.1 or less to 0.9 or more", "the paper: nearly all"),
                needs=Needs((), (QED,)),
            ),
            _spectrum,
            "nearly 0 to 1",
        )
    ]
    for name in BASELINES:
        found = paper.value("largest distance to the normal behaviour", algorithm=name)
        assert found
        base = _resilience(
            f"distance-largest-{name}",
            f"The largest distance of {name.upper()}'s recoveries from the normal behaviour.",
            quantile,
            tolerance=ONE_DIGIT,
            needs=ALL_TASKS,
        )
        made.append(ranged(base, _largest, found, 0.05, (name,)))
    for column, word in (("distance", "distance"), ("resilience", "resilience")):
        base = _resilience(
            f"spirit-low-{column}",
            f"SPIRIT is QED's opposite: its recoveries have the lowest {word}.",
            "Median of the recoveries in the signatures.",
        )
        measure = partial(of_shown, column=column, how=lambda values: float(np.median(values)))
        made.append(placed(base, measure, "spirit", -1, {}))
        made[-1] = yes_or_no(made[-1], made[-1].check, "SPIRIT lowest")
    made.append(
        yes_or_no(
            _distance(
                "distance-falls",
                "With every algorithm, more severe faults need more distant behaviours.",
                "Pearson correlation of distance with impact is negative.",
            ),
            _all_of_a_sign("distance", -1),
            "negative with all",
        )
    )
    made += _sloped("diversity", _distance)
    return [
        *made,
        yes_or_no(
            _distance(
                "impact-graver",
                "Some of the baselines' faults cost more than 40%.",
                "Fraction of the recoveries in the signatures, by algorithm.",
            ),
            _exceed,
            "some with each baseline",
        ),
        yes_or_no(
            _distance(
                "impact-graver-qed",
                "Faults that cost more than 40% are rarer with QED than with each baseline.",
                "Fraction of the recoveries in the signatures with a loss of more than 40%.",
            ),
            _fewer,
            "QED fewest",
        ),
        yes_or_no(
            _distance(
                "far-baselines",
                f"The baselines rarely recover with behaviours beyond a distance of {FAR:.2f}.",
                "Fraction of the recoveries in the signatures.",
                tolerance=Tolerance(f"rarely is at most {RARE:.0%}", "the paper gives no number"),
            ),
            _rarely,
            "rarely",
        ),
        yes_or_no(
            _distance(
                "far-qed",
                f"QED frequently recovers beyond a distance of {FAR:.2f} if the fault costs more "
                f"than {-SEVERE:.0%}.",
                "Fraction of QED's recoveries from such faults.",
                tolerance=Tolerance(
                    f"frequently is at least {FREQUENT:.0%}", "the paper gives no number"
                ),
            ),
            _frequently,
            "frequently",
        ),
        yes_or_no(
            _distance(
                "far-most",
                f"If the fault costs more than {-SEVERE:.0%}, QED recovers beyond a distance of "
                f"{FAR:.2f} more often than any baseline.",
                "Fraction of the recoveries from such faults, by algorithm.",
            ),
            _oftener,
            "QED most often",
        ),
        yes_or_no(
            _distance(
                "film",
                "In the video of border-patrolling QED's recovery loses 2% at a distance of 0.8; "
                "the others lose 7 to 8% at 0.6 to 0.7.",
                "",
                never="the paper does not say which fault and which maps the video shows",
                where="Results, fault recovery, video",
            ),
            lambda _: None,
            "2% at 0.8; 7 to 8% at 0.6 to 0.7",
        ),
    ]
