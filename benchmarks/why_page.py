"""Tell what benchmarks/why.py found: a page, and its figure.

    python benchmarks/why_page.py

Reads benchmarks/results/why.json and writes docs/results/why.md and why.png there.  Archives of a
task and replicate that have no archive of QED's beside them yet are not compared.
"""

from __future__ import annotations

from typing import Any

import archive_pages
import numpy as np
import pandas as pd
from archive_pages import (
    COLOURS,
    MARKS,
    NOT_ADJUSTED,
    alike,
    bar,
    judged,
    made_by,
    markdown,
    over_archives,
    over_faults,
    plain,
    spoken,
)
from matplotlib.figure import Figure

from qed.paper import PAPER
from qed.study.blocks import listed, many, minus

NUMBERS = archive_pages.RESULTS / "why.json"
PAGE = archive_pages.PAGES / "why.md"
JUDGED = {"faults": "combined faults", "changed": "changed environments"}
QED, NICHES = "qed", "niches"  # the primary comparison
KEYS = ["task", "replicate"]


def rows(found: dict[str, Any]) -> pd.DataFrame:
    """Return a row for each archive and subsample: means over what it was judged by."""
    kept = []
    last = str(found["kit trials"][-1])
    for one in found["archives"]:
        for part in ("archive", *(f"{size} of them" for size in found["subsamples"])):
            if part not in one:
                continue
            arm = one["arm"] if part == "archive" else f"{one['arm']}, {part.split()[0]} cells"
            row = {name: one[name] for name in KEYS} | {"arm": arm}
            row |= {"cells": one[part]["cells"], "normal": one[part]["normal"]}
            for name in JUDGED:
                each = one[part].get(name, {"recovered": [np.nan]})["recovered"]
                row[name] = float(np.mean(each))
            kit = one.get("kit", {}).get("recovered", {}).get(last, [np.nan])
            row["kit"] = float(np.mean(kit)) if part == "archive" else np.nan
            kept.append(row)
    frame = pd.DataFrame(kept)
    whole = frame["arm"].isin(list(found["arms"]))
    arms = [*found["arms"], *dict.fromkeys(frame.loc[~whole, "arm"])]
    order = frame["arm"].map(arms.index), frame["task"].map(found["tasks"].index)
    frame = frame.assign(whole=whole, arm_order=order[0], task_order=order[1])
    return frame.sort_values(["arm_order", "task_order", "replicate"], ignore_index=True)


def arms_of(table: pd.DataFrame) -> list[str]:
    """Return the arms, whole archives first, as they are told."""
    return list(dict.fromkeys(table["arm"]))


def less_qed(table: pd.DataFrame, arm: str, name: str) -> pd.Series:
    """Return an arm's number less that of QED's archive of the same task and replicate."""
    own, qed = (table[table["arm"] == one].set_index(KEYS)[name] for one in (arm, QED))
    return (own - qed).dropna()


def conditions(found: dict[str, Any], name: str) -> pd.DataFrame:
    """Return a row for each archive and condition: what was recovered there."""
    kept = [
        {**{key: one[key] for key in (*KEYS, "arm")}, "what": "", "fault": k, "recovered": value}
        for one in found["archives"]
        for k, value in enumerate(one["archive"][name]["recovered"])
    ]
    return pd.DataFrame(kept)


def paired(found: dict[str, Any], arm: str, name: str) -> pd.DataFrame:
    """Return differences from QED in the same condition, of archives of a task and replicate."""
    keys = [*KEYS, "what", "fault"]
    table = conditions(found, name)
    own, qed = (table[table["arm"] == one].set_index(keys)["recovered"] for one in (arm, QED))
    return (own - qed).dropna().rename("less").reset_index()


def difference(values: pd.Series) -> str:
    """Return a difference from QED with its limits, and in how many tasks the arm is ahead."""
    if not len(values):
        return ""
    by_task = values.groupby("task").mean()
    return f"{spoken(values)}; {(by_task > 0).sum()} of {len(by_task)}"


def verdict(found: dict[str, Any], table: pd.DataFrame) -> str:
    """Tell in sentences whether environments or size make an archive recover."""
    parts, shown = [], []
    for name, words in JUDGED.items():
        less = less_qed(table, NICHES, name)
        by_task = less.groupby("task").mean()
        ahead = f"above QED's in {(by_task > 0).sum()} of {len(by_task)} tasks"
        parts.append(f"{spoken(less)} in {words} ({ahead})")
        one = over_archives(less)
        if one.known:
            side = judged(one, "above", "below", "neither above nor below")
            close = "and" if alike(less, found["margin"]) else "but not"
            shown.append(f"{side} QED's in {words}, {close} shown to be equivalent")
    there = table[table["arm"] == NICHES].groupby("task")["replicate"].nunique()
    fewest, most = there.min(), there.max()
    count = f"{most}" if fewest == most else f"{fewest} to {most}"
    of_all = f"This is {count} of {found['replicates']} planned replicates"
    sure = (
        f"By these intervals it is {'; '.join(shown)} (within {found['margin']:g}). "
        if shown
        else ""
    )
    return (
        "The recovered fitness (0 to 1, mean over tasks) of archives of as many cells that mean "
        "nothing, evolved in the normal environment alone, differs from that of QED's by "
        f"{listed(parts)}. {sure}{of_all}{'' if shown else ', so nothing is sure'}."
    )


def arms_table(table: pd.DataFrame) -> str:
    """Return the table of arms."""
    columns = {**JUDGED, "kit": "kit"}
    if not table["kit"].notna().any():
        del columns["kit"]
    headings = ["arm", "archives", "cells", "normal best"]
    for words in columns.values():
        headings += [words, "less QED's"]
    lines = []
    for arm in arms_of(table):
        own = table[table["arm"] == arm].set_index(KEYS)
        line = [arm, str(len(own)), f"{own['cells'].mean():,.0f}", spoken(own["normal"])]
        for name in columns:
            less = "" if arm == QED else difference(less_qed(table, arm, name))
            line += [spoken(own[name]), less]
        lines.append(line)
    return markdown(headings, lines)


def tasks_table(table: pd.DataFrame) -> str:
    """Return the primary comparison by task."""
    lines = []
    for task in dict.fromkeys(table["task"]):
        own = table[table["task"] == task]
        less = [less_qed(own, NICHES, name) for name in JUDGED]
        lines.append([task, str(len(less[0])), *map(spoken, less)])
    return markdown(["task", "pairs of archives", *JUDGED.values()], lines)


def worlds_table(found: dict[str, Any]) -> str:
    """Return differences from QED in each changed environment."""
    others = [arm for arm in found["arms"] if arm != QED]
    pairs = {arm: paired(found, arm, "changed") for arm in others}
    lines = []
    for k, name in enumerate(found["changed"]):
        each = (own[own["fault"] == k].set_index(KEYS)["less"] for own in pairs.values())
        lines.append([name, *map(spoken, each)])
    return markdown(["changed environment", *others], lines)


def page(found: dict[str, Any]) -> str:
    """Return the page."""
    table = rows(found)
    known = over_archives(less_qed(table, NICHES, "faults")).known
    faults = over_faults(paired(found, NICHES, "faults"), "less")
    also = f" Of these archives over faults the first number is {spoken(faults)}. {NOT_ADJUSTED}"
    sure = (
        "Brackets are 95 % intervals of Student's t over archives, or over pairs of archives, "
        "tasks as strata."
        if known
        else "While not every task has two archives of each arm there are no intervals: how much "
        "archives of one arm differ by chance is not known yet."
    )
    kits = (
        f"*Kit* is what the search of a kit of the archive recovers after "
        f"{found['kit trials'][-1]} trials in the same combined faults, of which it knows the "
        "kinds. "
        if table["kit"].notna().any()
        else ""
    )
    missing = (
        "" if kits else "\n- Which archive makes the best kit is not measured in these replicates."
    )
    finished = {
        task: own.groupby("replicate")["arm"].nunique().eq(len(found["arms"])).sum()
        for task, own in table[table["whole"]].groupby("task", sort=False)
    }
    each = (
        f"{next(iter(finished.values()))}"
        if len(set(finished.values())) == 1
        else listed(f"{n} in {task}" for task, n in finished.items())
    )
    return minus(
        "\n\n".join(
            [
                "# Environments or size?",
                "QED's archives are large: each of 4,096 environments has a controller. Do they "
                "recover swarms because of their environments, or because of their size?",
                f"**So far**: {verdict(found, table)}{also if known else ''}",
                f"Arms, in {many(len(found['tasks']), 'task')}; {found['evaluations']:,} "
                f"evaluations of {found['trials']} trials of {found['seconds']:g} s each:",
                "\n".join(f"- `{arm}`: {words}" for arm, words in found["arms"].items()),
                "Subsamples are random controllers of an archive, as many as the archives of HBD, "
                "SDBC and SPIRIT had in [the study](study.md).",
                f"Each archive is judged by {len(found['faults'])} combined faults and "
                f"{len(found['changed'])} changed environments, which were written down before "
                "the runs (`benchmarks/results/why-plan.json`). Under each condition a race "
                f"chooses a controller; its fitness is that of {found['fresh']} fresh trials. "
                f"{kits}"
                "Numbers are means over conditions, then over tasks; differences are of archives "
                "of one task and replicate, in the same conditions; behind them, in how many "
                "tasks the arm is ahead of QED.",
                arms_table(table),
                f"{sure} Replicates in which all arms are finished, of {found['replicates']}: "
                f"{each}.",
                "![Differences from QED](why.png)",
                "**Recovered fitness of each arm, less that of QED's archive of the same task and "
                "replicate.** A dot is a task and replicate, a mean over conditions; a tick is the "
                "mean over tasks, with its interval; right of 0 the arm is better.",
                "## Cells that mean nothing, by task",
                "Recovered fitness less that of QED's archive.",
                tasks_table(table),
                "## By changed environment",
                "Recovered fitness less that of QED's archive, mean over tasks and replicates.",
                worlds_table(found),
                "## What this does not tell",
                f"- Runs have 1/{PAPER.evaluations / found['evaluations']:.0f} of the paper's "
                "evaluations: environments may pay with more.\n- Arms have as many evaluations and "
                "trials, not as many robot-steps: QED's environments have fewer or more robots "
                "than the normal one.\n- Of the changed environments some have options of QED's "
                "own, others lie between or beyond them.\n- `faults` evolves with the kinds of "
                "faults that it is judged by, though not with these combinations; the other arms "
                f"have never met a fault.\n- What is compared in the tasks are fitness values: a "
                f"task whose fitness is small, such as flocking, weighs little.{missing}",
                "## Made by",
                made_by(found, "why"),
            ]
        )
        + "\n"
    )


def figure(found: dict[str, Any]) -> Figure:
    """Draw each arm's difference from QED, task by task."""
    table = rows(found)
    arms = [arm for arm in arms_of(table) if arm != QED]
    tasks = list(dict.fromkeys(table["task"]))
    made = Figure(figsize=(10.5, 6.2), layout="constrained")
    grid = made.subplots(1, 2, sharey=True)
    for axes, (name, words) in zip(grid, JUDGED.items(), strict=True):
        for place, arm in enumerate(arms):
            less = less_qed(table, arm, name)
            for k, task in enumerate(tasks):
                own = less[less.index.get_level_values("task") == task]
                at = np.full(len(own), place + 0.11 * (k - len(tasks) / 2))
                axes.plot(own, at, MARKS[k], ms=5.5, color=COLOURS[k], alpha=0.85, mew=0)
            if len(less):
                bar(axes, over_archives(less), place + 0.33, "0.3")
        axes.axvline(0, color="0.6", lw=0.8, zorder=0)
        for place in range(1, len(arms)):
            axes.axhline(place - 0.5, color="0.9", lw=0.8, zorder=0)
        axes.set_title(words, fontsize=12)
        axes.set_xlabel("recovered fitness, arm less QED", fontsize=12)
    plain(*grid)
    grid[0].set_yticks(range(len(arms)), arms, fontsize=11)
    grid[0].set_ylim(len(arms) - 0.5, -0.5)
    for k, task in enumerate(tasks):
        grid[0].plot([], [], MARKS[k], ms=6, color=COLOURS[k], label=task)
    handles, labels = grid[0].get_legend_handles_labels()
    made.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False, fontsize=11)
    return made


if __name__ == "__main__":
    archive_pages.main("why", page, figure)
