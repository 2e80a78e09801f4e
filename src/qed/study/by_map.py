"""A study with the map as the unit: what each algorithm does, and how sure it is that QED differs.

Recoveries of one map are alike, and the algorithms of a replicate meet the same combined faults.
So a number is made of each map, differences are paired by fault first, and limits are Student's t
over maps; over all tasks, tasks count alike.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd

from qed.paper import QED
from qed.paper.measures import SEVERE, in_signatures, remembered
from qed.study import blocks, statistics
from qed.study.blocks import ALGORITHM, ALL, TASK, Key, Row, Table, listed, many
from qed.study.results import Results
from qed.study.statistics import Interval, interval, permutation_p
from qed.swarm.environment import PAPER, Environment

TABLES = ("by-map", "qed-by-map", "mechanism", "recovery-cells")  # names of their files
MARGIN = 0.03  # the paper calls performances close that differ by no more
FAR = 0.70  # distance from the normal behaviour, of which the paper says who goes beyond
FEWEST = 10  # recoveries of a map from which a slope or a share of them is told
OUTCOMES = {
    "normal": "Normal best",
    "recovered": "Recovered fitness",
    "relative_performance": "Recovered performance",
    "resilience": "Resilience",
}
ENDPOINTS = ("relative_performance", "resilience")
MECHANISM = {
    "resilience_slope": "slope of resilience on impact",
    "distance_slope": "slope of distance on impact",
    "far": f"fraction beyond {FAR:.2f}, severe faults",
}
ABOVE = {
    "max_speed": "Faster",
    "robots": "More robots",
    "arena": "Larger arena",
    "obstacles": "Obstacles",
    "rab_range": "Farther range and bearing",
    "proximity_range": "Farther proximity",
}


def limits(stem: str, found: Interval, fraction: bool = False) -> Row:
    """Return the columns of a number's limits; those of a fraction end at 0 and 1."""
    low, high = found.low, found.high
    if fraction and found.known:
        low, high = max(low, 0.0), min(high, 1.0)
    return {f"{stem}_low": low, f"{stem}_high": high}


def over_replicates(frame: pd.DataFrame, number: Callable[[pd.DataFrame], float]) -> Interval:
    """Return the mean, with limits, of a number that is made of each replicate's rows alone."""
    return interval(([number(own) for _, own in frame.groupby("replicate")], 0))


def medians(column: str) -> Callable[[pd.DataFrame], float]:
    """Return what makes the median of a column."""
    return lambda own: statistics.median_iqr(own[column])[0]


def means(column: str) -> Callable[[pd.DataFrame], float]:
    """Return what makes the mean of a column."""
    return lambda own: statistics.mean_sd(own[column])[0]


def correlations(x: str, y: str) -> Callable[[pd.DataFrame], float]:
    """Return what makes the Pearson correlation of two columns."""
    return lambda own: statistics.pearson(own[x], own[y])


def slopes(column: str) -> Callable[[pd.DataFrame], float]:
    """Return what makes the slope of a column on impact."""
    return lambda own: statistics.fit(own["impact"], own[column]).slope


@remembered
def maps(results: Results) -> pd.DataFrame:
    """Return a row for each map: means over its faults, slopes, and the share of far recoveries."""
    rows = []
    for (task, algorithm, replicate), own in results.recoveries.groupby(
        ["task", "algorithm", "replicate"], sort=False
    ):
        shown = in_signatures(own)
        severe = shown[shown["impact"] < SEVERE]
        row: Row = {"task": task, "algorithm": algorithm, "replicate": replicate}
        row |= {name: statistics.mean_sd(own[name])[0] for name in OUTCOMES}
        for name in ("resilience", "distance"):
            slope = statistics.fit(shown["impact"], shown[name]).slope
            row[f"{name}_slope"] = slope if len(shown) >= FEWEST else math.nan
        far = float((severe["distance"] > FAR).mean()) if len(severe) >= FEWEST else math.nan
        rows.append(row | {"far": far})
    columns = ["task", "algorithm", "replicate", *OUTCOMES, *MECHANISM]
    return pd.DataFrame(rows, columns=columns)


def _side(frame: pd.DataFrame, column: str) -> tuple[pd.Series, pd.Series]:
    return frame[column], frame["task"]


def _within(frame: pd.DataFrame, task: str) -> pd.DataFrame:
    return frame if task == ALL else frame[frame["task"] == task]


def outcomes(results: Results) -> pd.DataFrame:
    """Return means of each algorithm, with limits, over all tasks first, then task by task."""
    rows = []
    for task, algorithm, own in results.groups(maps(results)):
        row: Row = {"task": task, "algorithm": algorithm, "n": len(own)}
        for name in OUTCOMES:
            found = interval(_side(own, name))
            mean = found.mean if found.known else own.groupby("task")[name].mean().mean()
            row |= {name: mean, **limits(name, found)}
        rows.append(row)
    return pd.DataFrame(rows)


@remembered
def differences(results: Results) -> pd.DataFrame:
    """Return QED less each other algorithm, paired by fault, over all tasks first.

    Of recovered performance and of resilience: ``X``, its limits, ``X_p`` of a permutation of maps
    within tasks, and over all tasks ``X_p_without``, the largest p where one task is left out.
    ``close_p`` is that of the two one-sided tests that performance differs by less than MARGIN.
    """
    by_map, rows = maps(results), []
    for task in (ALL, *results.tasks):
        there = dict(results.by_algorithm(_within(by_map, task)))
        for other, theirs in there.items() if QED in there else ():
            if other == QED:
                continue
            row: Row = {"task": task, "against": other, "n": len(theirs)}
            for name in ENDPOINTS:
                pairs = _within(paired(results, other, name), task)
                found = interval(_side(pairs, "difference"))
                mean = pairs.groupby("task")["difference"].mean().mean()
                row |= {name: mean, **limits(name, found)}
                row[f"{name}_p"] = _p(there[QED], theirs, name)
                if task == ALL:
                    without = (
                        [side[side["task"] != one] for side in (there[QED], theirs)]
                        for one in results.tasks
                    )
                    row[f"{name}_p_without"] = max(
                        (_p(ours, others, name) for ours, others in without), default=math.nan
                    )
                if name == ENDPOINTS[0]:
                    row["close_p"] = statistics.equivalence_p(MARGIN, _side(pairs, "difference"))
            rows.append(row)
    return pd.DataFrame(rows)


def paired(results: Results, other: str, column: str) -> pd.DataFrame:
    """Return for each pair of maps of a replicate the mean of the differences in the same fault."""
    keys = ["task", "replicate", "fault", "faults"]
    ours, theirs = (
        results.recoveries.loc[results.recoveries["algorithm"] == name, [*keys, column]]
        for name in (QED, other)
    )
    both = ours.merge(theirs, on=keys, suffixes=("", "_other"))
    both["difference"] = both[column] - both[f"{column}_other"]
    return both.groupby(["task", "replicate"], as_index=False)["difference"].mean()


def _p(ours: pd.DataFrame, theirs: pd.DataFrame, column: str) -> float:
    return permutation_p(_side(ours, column), _side(theirs, column))


@remembered
def mechanism(results: Results) -> pd.DataFrame:
    """Return slopes within tasks and shares of far recoveries, and how QED's differ, with limits.

    These are what the paper explains QED's resilience by.
    """
    by_map, rows = maps(results), []
    for measure, words in MECHANISM.items():
        there = dict(results.by_algorithm(by_map))
        for algorithm, own in there.items():
            found = interval(_side(own, measure))
            row: Row = {"measure": words, "algorithm": algorithm, "n": found.n}
            row |= {"mean": found.mean, **limits("mean", found, fraction=measure == "far")}
            less = interval(_side(there[QED], measure), _side(own, measure)) if (
                QED in there and algorithm != QED
            ) else Interval(math.nan, math.nan, math.nan, 0)  # fmt: skip
            row |= {"difference": less.mean, **limits("difference", less)}
            row["p"] = _p(there[QED], own, measure) if less.known else math.nan
            rows.append(row)
    return pd.DataFrame(rows)


def recovery_cells(results: Results) -> pd.DataFrame:
    """Return how often QED recovers with a controller of an environment above the normal one.

    A row a task, a column an attribute, with limits over maps; "chance" is the first row.
    """
    data = results.recoveries[results.recoveries["algorithm"] == QED]
    cells = results.runs.loc[results.runs["algorithm"] == QED, "cells"]
    if data.empty or set(cells) != {PAPER.count}:
        return pd.DataFrame()
    normal = PAPER.options_of(Environment())
    assert normal is not None  # for the type checker
    options = np.array(np.unravel_index(data["recovery_cell"].to_numpy(int), PAPER.shape))
    above = pd.DataFrame(np.array(normal) < options.T, columns=list(PAPER), index=data.index)
    data = data[["task", "replicate"]].join(above)
    chance = {
        name: 1 - (option + 1) / size
        for name, option, size in zip(PAPER, normal, PAPER.shape, strict=True)
    }
    rows: list[Row] = [{"task": "chance", "n": 0, **chance}]
    for task in results.tasks:
        own = data[data["task"] == task]
        if len(own):
            row: Row = {"task": task, "n": len(own)}
            for name in PAPER:
                found = over_replicates(own.astype({name: float}), means(name))
                row |= {name: float(own[name].mean()), **limits(name, found, fraction=True)}
            rows.append(row)
    return pd.DataFrame(rows)


@remembered
def best_and_resilience(results: Results) -> dict[str, float]:
    """Return the correlation over maps of normal best and resilience, task by task."""
    found = {
        task: statistics.pearson(own["normal"], own["resilience"])
        for task, own in maps(results).groupby("task", sort=False)
        if len(own) >= FEWEST
    }
    return {str(task): r for task, r in found.items() if math.isfinite(r)}


def tables(results: Results) -> Iterator[Table]:
    """Yield the tables that the results suffice for."""
    if results.recoveries.empty:
        return
    frame = outcomes(results)
    yield blocks.described(
        "by-map",
        frame,
        (TASK, ALGORITHM),
        tuple(blocks.plain(heading, name, 3) for name, heading in OUTCOMES.items()),
        maps=blocks.counted("map", frame.to_dict("records")),
    )
    frame = differences(results)
    if len(frame):
        yield blocks.described(
            "qed-by-map",
            frame,
            (TASK, Key("Against", "against", str.upper)),
            (
                blocks.plain("Recovered performance", "relative_performance", 3),
                blocks.p_value("p", "relative_performance_p"),
                blocks.p_value("Without one task", "relative_performance_p_without"),
                blocks.p_value("Close", "close_p"),
                blocks.plain("Resilience", "resilience", 3),
                blocks.p_value("p ", "resilience_p"),
                blocks.p_value("Without one task ", "resilience_p_without"),
            ),
            margin=MARGIN,
        )
    yield blocks.described(
        "mechanism",
        mechanism(results),
        (Key("Measure", "measure", lambda words: words[:1].upper() + words[1:]), ALGORITHM),
        (
            blocks.plain("Mean", "mean"),
            blocks.plain("QED less it", "difference"),
            blocks.p_value("p", "p"),
            blocks.plain("Maps", "n", 0),
        ),
        severe=-SEVERE,
        fewest=FEWEST,
    )
    frame = recovery_cells(results)
    if len(frame):
        columns = tuple(blocks.plain(heading, name) for name, heading in ABOVE.items())
        yield blocks.described(
            "recovery-cells", frame, (Key("Task", "task", str.capitalize),), columns
        )


def with_limits(value: float, low: float, high: float, digits: int = 3) -> str:
    """Return a number with its limits, if there are any."""
    number = partial("{:z.{digits}f}".format, digits=digits)
    if not math.isfinite(low):
        return number(value)
    return f"{number(value)} [{number(low)}, {number(high)}]"


def sentences(results: Results) -> list[str]:
    """Tell how QED differs, map by map, and whether the paper's mechanism shows."""
    frame = differences(results)
    if frame.empty:
        return []
    together, apart = (frame[(frame["task"] == ALL) == whole] for whole in (True, False))
    return [
        _together(together, results),
        *_apart(apart, results),
        *_mechanism(results),
        *_best(results),
    ]


def _together(frame: pd.DataFrame, results: Results) -> str:
    rows = frame.to_dict("records")
    replicates = results.runs["replicate"].nunique()
    if replicates == 1:
        return (
            "Each task and algorithm has one map, so nothing can be said of how sure a difference "
            "between algorithms is. QED's mean resilience, less that of the others: "
            f"{listed(_difference(row, 'resilience') for row in rows)}; its recovered performance: "
            f"{listed(_difference(row, ENDPOINTS[0]) for row in rows)}."
        )
    said = (
        f"Recoveries of one map are alike, so the map is the unit ({many(replicates, 'replicate')} "
        f"in {many(len(results.tasks), 'task')}; 95% intervals over maps, p of permutations of "
        "maps within tasks). QED's mean resilience, less that of the others: "
        f"{listed(_difference(row, 'resilience') for row in rows)}. Its recovered performance, "
        f"what swarms do after recovery: {listed(_difference(row, ENDPOINTS[0]) for row in rows)}."
    )
    shown = [
        f"{words} {_shown(rows, name)}"
        for name, words in zip(ENDPOINTS, ("performance is", "resilience is"), strict=True)
    ]
    return f"{said} By these intervals QED's {' and its '.join(shown)}."


def _shown(rows: list[Row], name: str) -> str:
    """Return which of the others intervals show QED to be above or below."""
    above = [row["against"].upper() for row in rows if row[f"{name}_low"] > 0]
    below = [row["against"].upper() for row in rows if row[f"{name}_high"] < 0]
    parts = [f"above that of {listed(above)}"] if above else []
    parts += [f"below that of {listed(below)}"] if below else []
    return " and ".join(parts) or "neither above nor below that of any other"


def _difference(row: Row, name: str) -> str:
    words = with_limits(row[name], row[f"{name}_low"], row[f"{name}_high"])
    p = row[f"{name}_p"]
    number = "p<0.001" if p < 0.001 else f"p={p:.3f}"
    sure = f", {number}" if math.isfinite(p) and math.isfinite(row[f"{name}_low"]) else ""
    return f"{words} ({row['against'].upper()}{sure})"


def _apart(frame: pd.DataFrame, results: Results) -> list[str]:
    values = outcomes(results).query("task != @ALL").pivot_table("resilience", "task", "algorithm")
    best = [task for task in results.tasks if task in values.index
            and values.loc[task].idxmax() == QED]  # fmt: skip
    above, below = frame["resilience"] > 0, frame["resilience"] < 0
    sure, against = frame["resilience_low"] > 0, frame["resilience_high"] < 0
    return [
        f"By task, QED has the highest mean resilience in {len(best)} of {len(values)}"
        f"{f' ({listed(best)})' if best else ''}. Against each other algorithm in each task it is "
        f"higher in {above.sum()} of {many(len(frame), 'comparison')} (interval above 0 in "
        f"{sure.sum()}) and lower in {below.sum()} (interval below 0 in {against.sum()})."
    ]


def _mechanism(results: Results) -> list[str]:
    """Tell of each part of the mechanism against which algorithms intervals show it."""
    frame = mechanism(results)
    if frame.empty or not frame["mean"].notna().any():
        return []
    parts, found = [], 0
    for (measure, words), sign in zip(MECHANISM.items(), (-1, -1, 1), strict=True):
        own = frame[frame["measure"] == words].set_index("algorithm")
        if QED not in own.index or not math.isfinite(own.loc[QED, "mean"]):
            continue
        others = own.drop(index=QED)
        low, high = others["difference_low"], others["difference_high"]
        more, less = (list(others.index[ends].str.upper()) for ends in (low > 0, high < 0))
        yes, no = (more, less) if sign > 0 else (less, more)
        sure = f"shown against {listed(yes)}" + (f", the opposite against {listed(no)}" * bool(no))
        found += len(yes)
        means = listed(
            f"{mean:z.2f} ({str(name).upper()})" for name, mean in own["mean"].items()
            if math.isfinite(mean)
        )  # fmt: skip
        thing = {
            "resilience_slope": "Its resilience depends less on the impact, a smaller slope",
            "distance_slope": "The larger the impact, the more distant from the normal behaviour "
            "its recoveries are, a steeper slope",
            "far": f"In severe faults it recovers more often beyond a distance of {FAR:.2f}",
        }[measure]
        parts.append(f"{thing}: here {means}; {sure}.")
    if not parts:
        return []
    shows = "Intervals over maps show none of this. " if not found else ""
    return [
        "How the paper explains QED's resilience, and against whom intervals over maps show it. "
        f"{shows}{' '.join(parts)}"
    ]


def _best(results: Results) -> list[str]:
    found = best_and_resilience(results)
    if not found:
        return []
    low, high = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
    return [
        "Resilience is relative to a map's own normal best: over the maps of a task the two are "
        f"correlated by {found[low]:.2f} ({low}) to {found[high]:.2f} ({high}), so a map with a "
        "poor normal best may look resilient."
    ]
