"""Tell what benchmarks/maxima.py found: a page, and its figure.

    python benchmarks/maxima_page.py

Reads benchmarks/results/maxima.json, and of why.json and baselines.json, where they are, the best
over evaluations; writes docs/results/maxima.md and maxima.png there.
"""

from __future__ import annotations

import json
from typing import Any

import archive_pages
import numpy as np
import pandas as pd
from archive_pages import COLOURS, MARKS, made_by, markdown, plain, spoken
from matplotlib.figure import Figure

from qed.paper import PAPER
from qed.study.blocks import listed, minus
from qed.study.statistics import interval

QED = "qed"
NORMAL = ("hbd", "sdbc", "spirit", "niches")  # what evolves in the normal environment alone


def numbers(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the numbers that differ: the study's, the paper's, and with the maximum so far."""
    study, rows = pd.DataFrame(found["study"]), []
    for asked in found["asked"]:
        own = study[study["task"] == asked["task"]]
        each = own.loc[own["algorithm"] == QED, asked["of"]]
        ours, before, told = float(each.mean()), float(own["best"].max()), asked["paper"][0]
        runs = [one for one in found["archives"] if one["task"] == asked["task"]]
        row = {**asked, "fitness": ours, "before": before, "study": ours / before, "told": told}
        row["limits"] = interval((each / before, 0))
        row |= {"needed": ours / told, "run": runs[0] if runs else None}
        if runs:
            row["maximum"] = max(before, runs[0]["best"])
            row["now"] = ours / row["maximum"]
            row["share"] = (row["study"] - row["now"]) / (row["study"] - told)
        rows.append(row)
    return rows


def said(row: dict[str, Any], found: dict[str, Any]) -> str:
    """Tell of one of these numbers what its denominator explains."""
    holder = found["holders"][row["task"]].upper()
    first = (
        f"QED's {row['what']} in {row['task']} is {spoken(row['limits'])} of the study's maximum, "
        f"{row['before']:.3f} (held by {holder}; brackets: 95 % interval over QED's "
        f"{row['limits'].n} archives); the paper has {row['told']:.2f} ± {row['paper'][1]:.2f}. "
        f"To explain that, the maximum would have to be {row['needed']:.3f}"
    )
    run = row["run"]
    if run is None:
        return f"{first}; the run of {holder} with the paper's budget is not made yet."
    done = run["evolved"]["evaluations"]
    far = (
        f"with the paper's budget, {done:,} evaluations,"
        if done == found["evaluations"]
        else f"after {done:,} of {found['evaluations']:,} evaluations"
    )
    what = "is higher" if row["maximum"] > row["before"] else "is not higher"
    return (
        f"{first}. {far[:1].upper()}{far[1:]} the best of {holder} {what}: {run['best']:.3f}. "
        f"Relative to the larger of both the number is {row['now']:.3f}, so the denominator "
        f"explains {100 * row['share']:.0f} % of the difference."
    )


def curves(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the best in evolution over evaluations, where that is in the normal environment."""
    kept = [
        {"task": one["task"], "algorithm": one["map"], "curve": one["evolved"]["curve"],
         "whole": True}
        for one in found["archives"]
    ]  # fmt: skip
    for name in ("why", "baselines"):
        path = archive_pages.RESULTS / f"{name}.json"
        others = json.loads(path.read_text("utf-8")) if path.exists() else {"archives": []}
        kept += [
            {"task": one["task"], "algorithm": one.get("arm") or one["map"],
             "curve": one["evolved"].get("curve")
             or [[others["evaluations"], one["evolved"]["best"]]], "whole": False,
             "trials": others["trials"]}
            for one in others["archives"]
            if one["task"] in found["tasks"] and (one.get("arm") or one["map"]) in NORMAL
        ]  # fmt: skip
    return kept


def page(found: dict[str, Any]) -> str:
    """Return the page."""
    study = pd.DataFrame(found["study"])
    algorithms = list(dict.fromkeys(study["algorithm"]))
    lines = []
    for algorithm in algorithms:
        own = study[study["algorithm"] == algorithm]
        each = [own.loc[own["task"] == task, "best"] for task in found["tasks"]]
        lines.append(
            [algorithm.upper(), *(", ".join(f"{v:.3f}" for v in sorted(one)) for one in each)]
        )
    runs = [
        [one["task"], one["map"].upper(), f"{one['evolved']['evaluations']:,}",
         f"{one['best']:.3f}", f"{one['claimed_best']:.3f}", f"{one['evolved']['best']:.3f}"]
        for one in found["archives"]
    ]  # fmt: skip
    headings = ["task", "algorithm", "evaluations", "best, fresh trials", "on selection trials",
                "in evolution"]  # fmt: skip
    full = ["## Runs with the paper's budget", markdown(headings, runs)] if runs else []
    drawn = curves(found)
    budgets = sorted(
        {f"{each['curve'][-1][0]:,} evaluations of {each['trials']} trials"
         for each in drawn if not each["whole"]}
    )  # fmt: skip
    also = (
        " Small marks, and thin lines that lead to them: the best in the evolution of other runs, "
        f"of {listed(budgets)}."
        if budgets
        else ""
    )
    return minus(
        "\n\n".join(
            [
                "# Maxima",
                "Performance in the paper, and in [the study](study.md), is fitness as a fraction "
                "of the best of all archives of a task. That maximum depends on the budget, "
                f"{PAPER.evaluations:,} evaluations of an archive in the paper. Two numbers "
                "differ from the paper's though they exceed them with less effort. Is it the "
                "denominator?",
                *(said(row, found) for row in numbers(found)),
                "## In the study",
                "Fitness of the best controller of each archive, of 50 fresh trials.",
                markdown(["algorithm", *found["tasks"]], lines),
                *full,
                "![The best over evaluations](maxima.png)",
                "**Fitness of the best controller over evaluations.** Dots: archives of the "
                "study, on fresh trials. Thick lines: the best in the evolution of the runs with "
                "the paper's budget, which is a maximum of noisy means and so somewhat too high; "
                f"rings: their best on fresh trials.{also} Dashed: the maximum that would "
                "explain the paper's number.",
                "## What this does not tell",
                "- One run more of one algorithm: a maximum over more archives can only be "
                "higher, for the paper has five of each algorithm.\n- The numerators are of "
                "archives of the study, with its budget.",
                "## Made by",
                made_by(found, "maxima")
                if runs
                else "`benchmarks/maxima.py`, of the study's tables.",
            ]
        )
        + "\n"
    )


def figure(found: dict[str, Any]) -> Figure:
    """Draw the best over evaluations."""
    study, drawn = pd.DataFrame(found["study"]), curves(found)
    names = list(dict.fromkeys([*study["algorithm"], *(each["algorithm"] for each in drawn)]))
    look = {name: (COLOURS[k], MARKS[k]) for k, name in enumerate(names)}
    made = Figure(figsize=(10.5, 4.6), layout="constrained")
    grid = made.subplots(1, len(found["tasks"]))
    several = zip(grid, found["tasks"], numbers(found), strict=True)
    for axes, task, row in several:
        for each in drawn:
            if each["task"] == task:
                done, best = np.array(each["curve"]).T
                colour, mark = look[each["algorithm"]]
                axes.plot(done, best, color=colour, lw=2.5 if each["whole"] else 0.8)
                if not each["whole"]:
                    axes.plot(done[-1], best[-1], mark, color=colour, ms=3.5, mew=0)
        for k, name in enumerate(dict.fromkeys(study["algorithm"])):
            own = study[(study["task"] == task) & (study["algorithm"] == name)]
            at = np.full(len(own), 80_000 * 1.06 ** (k - 1.5))
            axes.plot(at, own["best"], look[name][1], color=look[name][0], ms=6, mew=0)
        for one in found["archives"]:
            if one["task"] == task:
                axes.plot(one["evolved"]["evaluations"], one["best"], "o", ms=9, mfc="none",
                          color=look[one["map"]][0], mew=1.6)  # fmt: skip
        axes.axhline(row["needed"], color="0.4", ls="--", lw=1)
        axes.set(xscale="log", xlabel="evaluations", title=task)
        axes.set_xlim(left=1_500, right=1.3 * PAPER.evaluations)
    for name, (colour, mark) in look.items():
        grid[0].plot([], [], mark, color=colour, label=name)
    grid[0].set_ylabel("best fitness")
    plain(*grid)
    handles, labels = grid[0].get_legend_handles_labels()
    made.legend(handles, labels, loc="outside upper center", ncols=8, frameon=False)
    return made


if __name__ == "__main__":
    archive_pages.main("maxima", page, figure)
