"""Tell what benchmarks/why.py found: a page, and its figure.

    python benchmarks/why_page.py

Reads benchmarks/results/why.json and writes docs/results/why.md and why.png there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from qed.paper import PAPER
from qed.study.blocks import listed, many, markdown_row, minus
from qed.study.by_map import with_limits
from qed.study.statistics import interval

ROOT = Path(__file__).parent.parent
NUMBERS = Path(__file__).with_name("results") / "why.json"
PAGE = ROOT / "docs" / "results" / "why.md"
JUDGED = {"faults": "combined faults", "changed": "changed environments"}
COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#999999",
           "#000000", "#8C6D31")  # fmt: skip


def rows(found: dict[str, Any]) -> pd.DataFrame:
    """Return a row for each archive and subsample: means over what it was judged by."""
    kept = []
    for one in found["archives"]:
        for part in ("archive", *(f"{size} of them" for size in found["subsamples"])):
            if part not in one:
                continue
            arm = one["arm"] if part == "archive" else f"{one['arm']}, {part.split()[0]} cells"
            row = {name: one[name] for name in ("task", "replicate")} | {"arm": arm}
            row |= {"cells": one[part]["cells"], "normal": one[part]["normal"]}
            for name in JUDGED:
                if name in one[part]:
                    row[name] = float(np.mean(one[part][name]["recovered"]))
            kept.append(row)
    return pd.DataFrame(kept)


def less_qed(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the differences from QED's archive of the same task and replicate."""
    keys = ["task", "replicate"]
    qed = table[table["arm"] == "qed"][[*keys, name]]
    both = table.merge(qed, on=keys, suffixes=("", "_qed"))
    return both.assign(less=both[name] - both[f"{name}_qed"]).dropna(subset=["less"])


def summed(table: pd.DataFrame) -> pd.DataFrame:
    """Return for each arm its means and differences from QED, with limits where maps allow any."""
    found = []
    for arm in dict.fromkeys(table["arm"]):
        own = table[table["arm"] == arm]
        row: dict[str, Any] = {"arm": arm, "maps": len(own), "cells": own["cells"].mean()}
        for name in ("normal", *JUDGED):
            row[name] = own.groupby("task")[name].mean().mean()
            less = less_qed(table, name)
            less = less[less["arm"] == arm]
            limits = interval((less["less"], less["task"]))
            by_task = less.groupby("task")["less"].mean()
            row[f"{name} less"] = by_task.mean()
            row[f"{name} low"], row[f"{name} high"] = limits.low, limits.high
            row[f"{name} ahead"] = f"{(by_task > 0).sum()} of {len(by_task)}"
        found.append(row)
    return pd.DataFrame(found)


def difference(row: dict[str, Any], name: str) -> str:
    """Return a difference from QED in words."""
    if row["arm"] == "qed" or not np.isfinite(row[f"{name} less"]):
        return ""
    number = with_limits(row[f"{name} less"], row[f"{name} low"], row[f"{name} high"])
    return f"{number}; {row[f'{name} ahead']}"


def figure(table: pd.DataFrame) -> Figure:
    """Draw each arm's difference from QED, task by task."""
    arms = [arm for arm in dict.fromkeys(table["arm"]) if arm != "qed"]
    tasks = list(dict.fromkeys(table["task"]))
    made = Figure(figsize=(10.0, 5.2), layout="constrained")
    grid = made.subplots(1, 2, sharey=True)
    for axes, (name, words) in zip(grid, JUDGED.items(), strict=True):
        less = less_qed(table, name)
        for k, task in enumerate(tasks):
            for own in less[less["task"] == task].to_dict("records"):
                if own["arm"] != "qed":
                    place = arms.index(own["arm"]) + 0.12 * (k - (len(tasks) - 1) / 2)
                    label = task if own["arm"] == arms[0] and own["replicate"] == 1 else None
                    axes.plot(own["less"], place, "o", ms=6, color=COLOURS[k], mec="black",
                              mew=0.4, label=label)  # fmt: skip
        axes.axvline(0, color="0.6", lw=0.8, zorder=0)
        axes.set_title(words, fontsize=12)
        axes.set_xlabel("recovered fitness, arm less QED", fontsize=12)
        axes.spines[["top", "right"]].set_visible(False)
    grid[0].set_yticks(range(len(arms)), arms, fontsize=11)
    grid[0].invert_yaxis()
    handles, labels = grid[0].get_legend_handles_labels()
    made.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False, fontsize=11)
    return made


def verdict(found: dict[str, Any], table: pd.DataFrame) -> str:
    """Tell in a sentence whether environments or size make an archive recover."""
    frame = summed(table).set_index("arm")
    replicates = table["replicate"].nunique()
    parts = []
    for name, words in JUDGED.items():
        row = {"arm": "niches", **frame.loc["niches"].to_dict()}
        number = with_limits(row[f"{name} less"], row[f"{name} low"], row[f"{name} high"])
        parts.append(f"{number} in {words} (above QED's in {row[f'{name} ahead']} tasks)")
    sure = (
        f"This is {replicates} of {found['replicates']} planned replicates"
        + (", so nothing is sure" if replicates == 1 else "")
        + "."
    )
    return (
        "Archives of as many cells that mean nothing, evolved in the normal environment alone, "
        "differ from QED's in recovered fitness (0 to 1, mean over tasks) by "
        f"{listed(parts)}. {sure}"
    )


def page(found: dict[str, Any]) -> str:
    """Return the page."""
    table = rows(found)
    frame = summed(table)
    replicates = sorted(table["replicate"].unique().tolist())
    made = {one["made"]["on"] for one in found["archives"]}
    versions = {one["made"]["qed"] for one in found["archives"]}
    headings = ["arm", "archives", "cells", "normal best", "combined faults", "less QED's",
                "changed environments", "less QED's"]  # fmt: skip
    lines = [markdown_row(headings), markdown_row(["---"] * len(headings))]
    for row in frame.to_dict("records"):
        changed = f"{row['changed']:.3f}" if np.isfinite(row["changed"]) else ""
        lines.append(
            markdown_row(
                [
                    row["arm"], str(row["maps"]), f"{row['cells']:,.0f}", f"{row['normal']:.3f}",
                    f"{row['faults']:.3f}", difference(row, "faults"), changed,
                    difference(row, "changed"),
                ]
            )
        )  # fmt: skip
    arms = "\n".join(f"- `{arm}`: {words}" for arm, words in found["arms"].items())
    worlds = ["changed environment", *(arm for arm in found["arms"] if arm != "qed")]
    by_world = [markdown_row(worlds), markdown_row(["---"] * len(worlds))]
    for k, name in enumerate(found["changed"]):
        each = {
            (one["task"], one["replicate"], one["arm"]): one["archive"]["changed"]["recovered"][k]
            for one in found["archives"]
        }
        less = {
            arm: [v - each[(*key, "qed")] for (*key, a), v in each.items() if a == arm]
            for arm in worlds[1:]
        }
        by_world.append(markdown_row([name, *(f"{np.mean(v):+.3f}" for v in less.values())]))
    sure = (
        "With one archive of each arm and task there are no intervals: how much archives of one "
        "arm differ by chance is not known yet."
        if len(replicates) == 1
        else "Brackets are 95% intervals of Student's t over pairs of archives, tasks alike."
    )
    return minus(
        "\n\n".join(
            [
                "# Environments or size?",
                "QED's archives are large: each of 4,096 environments has a controller. Do they "
                "recover swarms because of their environments, or because of their size?",
                f"**So far**: {verdict(found, table)}",
                f"Arms, in {many(len(found['tasks']), 'task')}; {found['evaluations']:,} "
                f"evaluations of {found['trials']} trials of {found['seconds']:g} s each:",
                arms,
                "Subsamples are random controllers of an archive, as many as the archives of HBD, "
                "SDBC and SPIRIT had in [the study](study.md).",
                f"Each archive is judged by {len(found['faults'])} combined faults and "
                f"{len(found['changed'])} changed environments, which were written down before "
                "the runs (`benchmarks/results/why-plan.json`). Under each condition a race "
                f"chooses a controller; its fitness is that of {found['fresh']} fresh trials. "
                "Numbers are means over conditions, then over tasks; differences are of archives "
                "of one task and replicate, in the same conditions; behind them, in how many "
                "tasks the arm is ahead of QED.",
                "\n".join(lines),
                f"{sure} Replicates that are finished: {listed(map(str, replicates))} of "
                f"{found['replicates']}.",
                "![Differences from QED](why.png)",
                "**Recovered fitness of each arm, less that of QED's archive of the same task and "
                "replicate.** A dot is a task and replicate, a mean over conditions; right of 0 "
                "the arm is better.",
                "## By changed environment",
                "Recovered fitness less that of QED's archive, mean over tasks and replicates.",
                "\n".join(by_world),
                "## What this does not tell",
                f"- Runs have 1/{PAPER.evaluations / found['evaluations']:.0f} of the paper's "
                "evaluations: environments may pay with more.\n- Of the changed environments some "
                "have options of QED's own, others lie between or beyond them.\n- Which archive "
                "makes the best kit is not measured yet.",
                "## Made by",
                f"`benchmarks/why.py` on {listed(sorted(made))} (qed {listed(sorted(versions))}), "
                "row by row in `benchmarks/results/why.json`; `benchmarks/why_page.py` wrote this "
                "page from it.",
            ]
        )
        + "\n"
    )


def main() -> None:
    """Write the page and its figure."""
    found = json.loads(NUMBERS.read_text("utf-8"))
    PAGE.write_text(page(found), "utf-8")
    figure(rows(found)).savefig(PAGE.with_suffix(".png"), dpi=80)
    print(f"wrote {PAGE.name} and {PAGE.stem}.png")


if __name__ == "__main__":
    main()
