"""What a study found, in a few plain sentences, and how large it is beside the paper's."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from qed import paper
from qed.evolution.algorithms import cells_in_words
from qed.paper import PAPER
from qed.study import by_map, selection_bias
from qed.study.blocks import Block, Column, Key, Part, Table, Text, listed, many
from qed.study.results import Results


def medians(results: Results, metric: str) -> dict[str, float]:
    """Return the median of a metric of the recoveries for each algorithm that has any."""
    return _by_algorithm(results, results.recoveries, metric, "median")


def means(results: Results, metric: str) -> dict[str, float]:
    """Return the mean of a metric of the maps for each algorithm that has any."""
    return _by_algorithm(results, results.runs, metric, "mean")


def _by_algorithm(results: Results, table: pd.DataFrame, metric: str, how: str) -> dict[str, float]:
    finite = table[np.isfinite(table[metric].to_numpy(float))]
    found = finite.groupby("algorithm")[metric].agg(how)
    return {name: float(found[name]) for name in results.algorithms if name in found.index}


def sentences(results: Results, frames: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return the summary; ``frames`` are those of the tables, by name."""
    if results.runs.empty:
        return ["No run of this study has finished, so there is nothing to report yet."]
    maps, recoveries = many(len(results.runs), "map"), len(results.recoveries)
    opening = [
        f"{maps} {'was' if len(results.runs) == 1 else 'were'} evolved, on "
        f"{many(len(results.tasks), 'task')} ({listed(results.tasks)}) with "
        f"{many(len(results.algorithms), 'algorithm')} "
        f"({listed(name.upper() for name in results.algorithms)}). "
        f"{recoveries:,} {'recovery was' if recoveries == 1 else 'recoveries were'} measured: "
        "robots break, and the solution of the map that does best with the fault is selected."
    ]
    return [
        *opening,
        scale_sentence(results.settings),
        *_losses(results),
        *by_map.sentences(results),
        *_significance(frames.get("table-s3a")),
        *selection_bias.sentence(results),
        *_coverage(results),
    ]


def _losses(results: Results) -> list[str]:
    """Tell what faults cost, before and after recovery."""
    impact = results.recoveries["impact"]
    impact = impact[np.isfinite(impact.to_numpy(float))]
    after = medians(results, "resilience")
    if impact.empty or not after:
        return ["No recovery was measured."]
    ranked = sorted(after, key=lambda name: -after[name])
    best, worst = ranked[0], ranked[-1]
    if max(after.values()) > 0 or impact.median() > 0:  # odd, so plain numbers with signs
        text = (
            f"Faults change performance by a median of {impact.median():+z.0%}; after "
            f"recovery the median change is {after[best]:+z.0%} ({best.upper()})"
        )
        return [
            f"{text} to {after[worst]:+z.0%} ({worst.upper()})." if best != worst else f"{text}."
        ]
    text = f"Faults reduce performance by a median of {-impact.median():z.0%}; after recovery the "
    text += f"median loss is {-after[best]:z.0%} ({best.upper()})"
    return [f"{text} to {-after[worst]:z.0%} ({worst.upper()})." if best != worst else f"{text}."]


def _significance(frame: pd.DataFrame | None) -> list[str]:
    """Tell how often QED is more resilient than another algorithm, task by task."""
    if frame is None or frame.empty:
        return []
    better, worse = frame[frame["delta"] > 0], frame[frame["delta"] < 0]
    sure, against = ((part["stars"] != "").sum() for part in (better, worse))
    theirs = frame[frame["paper_delta"] > 0]
    theirs_sure = (theirs["paper_stars"] != "").sum()
    return [
        "The paper's own tests (Cliff's delta and rank sums of single recoveries) take the "
        "recoveries of a map for independent. By the sign of that delta QED is more "
        f"resilient in {len(better)} of {many(len(frame), 'comparison')} ({sure} significant) and "
        f"less in {len(worse)} ({against} significant); in the paper it is more resilient in "
        f"{len(theirs)} of the same comparisons ({theirs_sure} significant)."
    ]


def _coverage(results: Results) -> list[str]:
    """Tell how many cells the maps fill."""
    parts = []
    for name, mean in means(results, "filled").items():
        theirs = paper.value("coverage, cells", algorithm=name)
        beside = f" (paper: {theirs[0]:,.0f})" if theirs else ""
        parts.append(f"{mean:,.0f} with {name.upper()}{beside}")
    return [f"Filled cells per map, of 4,096, on average: {listed(parts)}."] if parts else []


def scale(results: Results) -> list[Block]:
    """Return how large a study is beside the paper's, and how it was made."""
    settings = results.settings
    parts = (protocol_sentence(settings), race_sentence(settings), cells_sentence(results))
    return [*(Text(words) for words in parts if words), scale_table(settings)]


def scale_table(settings: Mapping[str, Any]) -> Table:
    """Return the settings that make a study large or small, beside the paper's."""
    rows = [
        ("tasks", str(len(settings["tasks"])), str(len(PAPER.tasks))),
        ("algorithms", str(len(settings["algorithms"])), str(len(PAPER.algorithms))),
    ]
    for field, what in {
        "replicates": "replicates per task and algorithm",
        "evaluations": "evaluations per map",
        "trials": "trials per evaluation",
        "seconds": "seconds per trial",
        "faults": "combined faults per replicate",
        "retrials": "selection trials per solution, healthy and with each fault",
    }.items():
        rows.append((what, f"{settings[field]:,.12g}", f"{getattr(PAPER, field):,.12g}"))
    if "fresh" in settings:
        rows.append(("fresh trials per selected solution", f"{settings['fresh']:,}", "none"))
    columns = ("what", "ours", "paper")
    return Table(
        "scale",
        "Scale of this study and the paper's",
        "",
        pd.DataFrame(rows, columns=columns),
        (Key("", "what", str.capitalize),),
        (
            Column("This study", lambda row: Part(row["ours"])),
            Column("Paper", lambda row: Part(row["paper"])),
        ),
    )


def protocol_sentence(settings: Mapping[str, Any]) -> str:
    """Tell on which trials solutions were judged after evolution."""
    own = (
        "with the seed of evolution, as in the authors' scripts"
        if settings.get("protocol") == "authors"
        else "independent of those of evolution"
    )
    text = (
        "After evolution, all solutions of a map were re-evaluated, healthy and with each fault, "
        f"on trials {own}."
    )
    if "fresh" not in settings:
        return text
    fresh = many(settings["fresh"], "fresh trial")
    return f"{text} The selected solution was measured on {fresh}, not used for selection."


def race_sentence(settings: Mapping[str, Any]) -> str:
    """Tell that children raced, if they did."""
    if not settings.get("race"):
        return ""
    return (
        "Where a cell is an environment, children raced: a child three standard errors behind the "
        "incumbent of its cell was dropped early. The paper evaluates every child "
        "on all trials; with the same seed it would give other archives."
    )


def cells_sentence(results: Results) -> str:
    """Tell which cells the maps have."""
    parts = [f"{name.upper()}: {_cells(results, name)}" for name in results.algorithms]
    return f"Cells of the maps. {'; '.join(parts)}."


def _cells(results: Results, algorithm: str) -> str:
    """Tell which cells a map has, unless it has another number of them than the words say."""
    text = cells_in_words(algorithm, results.settings["evaluations"])
    there = results.runs.loc[results.runs["algorithm"] == algorithm, "cells"]
    count = f"{int(there.iloc[0]):,} cells"
    return text if text.startswith(count) else f"{count}, user-defined"


def times_smaller(settings: Mapping[str, Any]) -> tuple[float, float]:
    """Return the paper's simulated time in evolution over ours: of a map, and of all maps."""
    of_a_map = 1.0
    for field in ("evaluations", "trials", "seconds"):
        of_a_map *= getattr(PAPER, field) / settings[field]
    maps = len(settings["tasks"]) * len(settings["algorithms"]) * settings["replicates"]
    return of_a_map, of_a_map * len(list(PAPER.runs())) / maps


def scale_sentence(settings: Mapping[str, Any]) -> str:
    """Tell how much smaller the study is."""
    of_a_map, of_all = times_smaller(settings)
    if of_all <= 1.0:
        return "In evolution this study simulated at least as many robot-steps as the paper."
    return (
        f"In evolution this study simulated about 1/{_rounded(of_all)} of the paper's robot-steps"
        f" (1/{_rounded(of_a_map)} per map). Keep this in mind when you compare numbers."
    )


def _rounded(number: float) -> str:
    """Return a number with two digits that count: 48,000, 3.7, 12."""
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"
