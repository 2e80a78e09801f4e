"""Gather the files of finished runs into the study's tidy tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from qed.evolution.run import PROGRESS
from qed.study import work
from qed.study.plan import Name, Plan
from qed.study.results import TABLES
from qed.textfile import write


def collect(study: Path, plan: Plan) -> list[Name]:
    """Write the tables of all finished runs; return those runs, if any."""
    finished = [name for name in plan.runs() if not list(work.missing(study, plan, name))]
    if not finished:
        return []
    tables = {
        "runs": _runs(study, finished),
        "recoveries": _of_each(study, finished, lambda here: work.recoveries_of(here, plan)),
        "progress": _of_each(study, finished, lambda here: pd.read_csv(here / PROGRESS)),
    }
    _add_performance(tables["runs"], tables["recoveries"])
    (study / "tables").mkdir(exist_ok=True)
    for name, columns in TABLES.items():
        text = tables[name].reindex(columns=list(columns)).to_csv(index=False)
        write(study / "tables" / f"{name}.csv", text)
    return finished


def _add_performance(runs: pd.DataFrame, recoveries: pd.DataFrame) -> None:
    """Tell fitness as a part of the task's empirical maximum, the best of all its maps.

    What is claimed is a part of the highest that is claimed.
    """
    for best, pairs in {
        "best": (
            (runs, "best", "best_performance"),
            (runs, "mean", "average_performance"),
            (recoveries, "recovered", "performance"),
        ),
        "claimed_best": (
            (runs, "claimed_best", "claimed_best_performance"),
            (recoveries, "claimed_recovered", "claimed_performance"),
        ),
    }.items():
        highest = runs.groupby("task")[best].max()
        for table, column, part in pairs:
            table[part] = table[column] / table["task"].map(highest)


def _runs(study: Path, names: Sequence[Name]) -> pd.DataFrame:
    rows = []
    for name in names:
        header, normal, cells = work.normal_of(work.folder(study, name))
        rows.append(
            {
                **name._asdict(),
                "cells": header["cells"],
                "coverage": len(cells),
                "best": normal.fresh,
                "claimed_best": float(normal.fitness.max()),
                "mean": float(normal.fitness.mean()),
                "projected_coverage": header["projected_coverage"],
                "diversity": header["diversity"],
                "solution_diversity": header["solution_diversity"],
            }
        )
    return pd.DataFrame(rows, columns=[c for c in TABLES["runs"] if "performance" not in c])


def _of_each(
    study: Path, names: Sequence[Name], read: Callable[[Path], pd.DataFrame]
) -> pd.DataFrame:
    """Return the tables that runs have in their folders as one, with the runs' names in front."""
    parts = []
    for name in names:
        table = read(work.folder(study, name))
        for at, (key, value) in enumerate(name._asdict().items()):
            table.insert(at, key, value)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)
