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
    # A task's empirical maximum: the best fitness of all its maps in the normal environment.
    highest = tables["runs"].groupby("task")["best"].max()

    def part(table: pd.DataFrame, column: str) -> pd.Series:
        return table[column] / table["task"].map(highest)

    tables["runs"]["best_performance"] = part(tables["runs"], "best")
    tables["runs"]["average_performance"] = part(tables["runs"], "mean")
    tables["recoveries"]["performance"] = part(tables["recoveries"], "recovered")
    (study / "tables").mkdir(exist_ok=True)
    for name, columns in TABLES.items():
        text = tables[name].reindex(columns=list(columns)).to_csv(index=False)
        write(study / "tables" / f"{name}.csv", text)
    return finished


def _runs(study: Path, names: Sequence[Name]) -> pd.DataFrame:
    rows = []
    for name in names:
        header, normal, cells = work.normal_of(work.folder(study, name))
        rows.append(
            {
                **name._asdict(),
                "cells": header["cells"],
                "coverage": len(cells),
                "best": float(normal.fitness.max()),
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
