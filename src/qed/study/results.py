"""What a study found: tidy tables, one row a measurement.

Of a chosen solution they tell what it does on fresh trials, which took no part in choosing it;
"claimed" is what it did on the trials that chose it, the paper's way.

runs.csv          one row a run: its map, re-evaluated in the normal environment
recoveries.csv    one row a run and a combined fault
progress.csv      one row a run and a number of evaluations
beyond.csv        one row a run, a fault, a way to recover and a number of trials, if asked for

Every table, figure and page of the report is made from these alone.
"""

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pandas as pd

from qed.errors import InputError
from qed.evolution.folder import PROGRESS as PROGRESS_OF_A_RUN
from qed.files import write_text
from qed.study import beyond, paths, work
from qed.study.blocks import ALL
from qed.study.plan import Name, Plan

RUNS = (
    "task",
    "algorithm",
    "replicate",
    "cells",  # of the map, filled or not
    "filled",  # of them
    "best",  # fitness of the normal best in the normal environment, on fresh trials
    "claimed_best",  # on the trials that chose it: the highest fitness of a solution
    "mean",  # mean fitness of all solutions there
    "best_relative_performance",  # as a part of the task's empirical maximum, the highest best
    "claimed_best_relative_performance",  # as a part of the highest claimed best
    "average_relative_performance",  # the mean, as a part of the empirical maximum
    "projected_filled",  # cells of SPIRIT space that the map's solutions fill
    "diversity",  # mean distance between those cells' centroids, 0 to 1
    "solution_diversity",  # mean distance between the best solutions of those cells
)
RECOVERIES = (
    "task",
    "algorithm",
    "replicate",
    "fault",  # number of the combined fault within its replicate
    "faults",  # what is broken, robot by robot: "PMIN,LW-H,..."
    *work.KINDS_AND_ANY.values(),  # robots with such a fault
    "normal",  # fitness of the normal best in the normal environment, on fresh trials
    "broken",  # its fitness with the fault, on fresh trials
    "recovered",  # fitness of the solution chosen for that fault, on fresh trials
    "impact",  # (broken - normal) / normal
    "resilience",  # (recovered - normal) / normal; may be below the impact
    "relative_performance",  # recovered as a part of the task's empirical maximum
    "claimed_normal",  # the same six on the trials that chose, as in the paper
    "claimed_broken",
    "claimed_recovered",
    "claimed_impact",
    "claimed_resilience",
    "claimed_relative_performance",
    "distance",  # from the normal best's behaviour to the recovery's, 0 to 1
    "normal_cell",
    "recovery_cell",
)
PROGRESS = (
    "task",
    "algorithm",
    "replicate",
    "evaluations",
    "filled",  # cells
    "best",  # in the environments of evolution
    "mean",
    "qd_score",
)
BEYOND = (
    "task",
    "algorithm",
    "replicate",
    "fault",
    "faults",
    "way",  # keep, best (the exhaustive winner), playbook, team, or a strategy of a kit's search
    "trials",  # of the search
    "fitness",  # of what it would use, on fresh trials
    "resilience",
    "regret",  # the resilience of the exhaustive winner less this one
)
TABLES = {"runs": RUNS, "recoveries": RECOVERIES, "progress": PROGRESS}


def with_new_names(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with today's names of columns: until version 0.2 some had others.

    Filled cells were called coverage, fractions of the empirical maximum performance.
    """
    names = {} if "filled" in table else {"coverage": "filled"}
    names |= {"projected_coverage": "projected_filled"}
    for column in table:
        stem, word, rest = str(column).partition("performance")
        if word and not rest and not stem.endswith("relative_"):
            names[column] = f"{stem}relative_performance"
    return table.rename(columns=names)


@dataclass(frozen=True)
class Results:
    """The tables of a study, and the settings that made it."""

    settings: dict[str, Any]  # preset, and the fields of its plan
    runs: pd.DataFrame
    recoveries: pd.DataFrame
    progress: pd.DataFrame
    failures: list[str] = field(default_factory=list)  # runs that failed, and why
    # What goes beyond the paper; without rows where it was not asked for.
    beyond: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(BEYOND)))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the results of a study's folder, or of one that it was published in."""
        try:
            settings = tomllib.loads((folder / paths.SETTINGS).read_text(encoding="utf-8"))["study"]
            published = not paths.tables(folder).exists()  # then tables lie beside the settings
            place = folder if published else paths.tables(folder)
            optional = ("beyond", "progress") if published else ("beyond",)
            tables = {
                name: with_new_names(pd.read_csv(place / f"{name}.csv"))
                for name in (*TABLES, "beyond")
                if name not in optional or (place / f"{name}.csv").exists()
            }
            tables.setdefault("progress", pd.DataFrame(columns=list(PROGRESS)))
        except (OSError, KeyError, ValueError) as error:
            raise InputError(f"{folder} holds no finished study: {error}") from error
        wanted = {**TABLES, **({"beyond": BEYOND} if "beyond" in tables else {})}
        for name, columns in wanted.items():
            missing = [column for column in columns if column not in tables[name]]
            if missing:
                raise InputError(
                    f"{paths.table(folder, name)} lacks {', '.join(missing)}; run the study again"
                )
        failed = folder / paths.FAILURES
        lines = failed.read_text(encoding="utf-8").splitlines() if failed.exists() else []
        return cls(settings, **tables, failures=lines)

    @property
    def tasks(self) -> list[str]:
        """Tasks that have results, in the study's order."""
        there = set(self.runs["task"])
        return [task for task in self.settings["tasks"] if task in there]

    @property
    def algorithms(self) -> list[str]:
        """Algorithms that have results, in the study's order."""
        there = set(self.runs["algorithm"])
        return [name for name in self.settings["algorithms"] if name in there]

    def by_algorithm(self, table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield the rows of each algorithm that has some in a table, in the study's order."""
        for algorithm in self.algorithms:
            rows = table[table["algorithm"] == algorithm]
            if len(rows):
                yield algorithm, rows

    def groups(self, table: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
        """Yield the rows of each task, all of them together first, and each algorithm."""
        for task in (ALL, *self.tasks):
            there = table if task == ALL else table[table["task"] == task]
            for algorithm, rows in self.by_algorithm(there):
                yield task, algorithm, rows


def collect(study: Path, plan: Plan) -> list[Name]:
    """Write the tables of all finished runs; return those runs, if any."""
    finished = [name for name in plan.runs() if not list(work.missing(study, plan, name))]
    if not finished:
        return []

    def progress_of(here: Path) -> pd.DataFrame:
        return with_new_names(pd.read_csv(here / PROGRESS_OF_A_RUN))

    tables = {
        "runs": _runs(study, finished),
        "recoveries": _of_each(study, finished, lambda here: work.recoveries_of(here, plan)),
        "progress": _of_each(study, finished, progress_of),
    }
    _add_performance(tables["runs"], tables["recoveries"])
    paths.tables(study).mkdir(exist_ok=True)
    for name, columns in TABLES.items():
        text = tables[name].reindex(columns=list(columns)).to_csv(index=False)
        write_text(paths.table(study, name), text)
    _collect_beyond(study, plan, finished)
    return finished


def _collect_beyond(study: Path, plan: Plan, names: Sequence[Name]) -> None:
    """Write the table of what goes beyond the paper, of the runs that have it, if any."""
    target = paths.table(study, "beyond")
    there = [name for name in names if beyond.of_run(paths.run(study, name), plan) is not None]
    if not there:
        target.unlink(missing_ok=True)
        return
    found = _of_each(study, there, lambda here: beyond.of_run(here, plan))
    write_text(target, found.reindex(columns=list(BEYOND)).to_csv(index=False))


def _add_performance(runs: pd.DataFrame, recoveries: pd.DataFrame) -> None:
    """Tell fitness as a part of the task's empirical maximum, the best of all its maps.

    What is claimed is a part of the highest that is claimed.
    """
    for best, pairs in {
        "best": (
            (runs, "best", "best_relative_performance"),
            (runs, "mean", "average_relative_performance"),
            (recoveries, "recovered", "relative_performance"),
        ),
        "claimed_best": (
            (runs, "claimed_best", "claimed_best_relative_performance"),
            (recoveries, "claimed_recovered", "claimed_relative_performance"),
        ),
    }.items():
        highest = runs.groupby("task")[best].max()
        for table, column, part in pairs:
            table[part] = table[column] / table["task"].map(highest)


def _runs(study: Path, names: Sequence[Name]) -> pd.DataFrame:
    rows = []
    for name in names:
        header, normal, cells = work.normal_of(paths.run(study, name))
        rows.append(
            {
                **name._asdict(),
                "cells": header["cells"],
                "filled": len(cells),
                "best": normal.fresh,
                "claimed_best": float(normal.fitness.max()),
                "mean": float(normal.fitness.mean()),
                "projected_filled": header["projected_coverage"],
                "diversity": header["diversity"],
                "solution_diversity": header["solution_diversity"],
            }
        )
    return pd.DataFrame(rows, columns=[c for c in TABLES["runs"] if "performance" not in c])


def _of_each(study: Path, names: Sequence[Name], read: Callable[[Path], Any]) -> pd.DataFrame:
    """Return the tables that runs have in their folders as one, with the runs' names in front."""
    parts = []
    for name in names:
        table = read(paths.run(study, name))
        for at, (key, value) in enumerate(name._asdict().items()):
            table.insert(at, key, value)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)
