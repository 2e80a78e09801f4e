"""What a study found: tidy tables, one row a measurement.

Of a chosen solution they tell what it does on fresh trials, which took no part in choosing it;
"claimed" is what it did on the trials that chose it, the paper's way.

runs.csv          one row a run: its map, re-evaluated in the normal environment
recoveries.csv    one row a run and a combined fault
progress.csv      one row a run and a number of evaluations

Every table, figure and page of the report is made from these alone.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from qed.errors import InputError

STUDY = "study.toml"
RUNS = (
    "task",
    "algorithm",
    "replicate",
    "cells",  # of the map, filled or not
    "coverage",  # cells filled
    "best",  # fitness of the normal best in the normal environment, on fresh trials
    "claimed_best",  # on the trials that chose it: the highest fitness of a solution
    "mean",  # mean fitness of all solutions there
    "best_performance",  # as a part of the task's empirical maximum, the highest best
    "claimed_best_performance",  # as a part of the highest claimed best
    "average_performance",  # the mean, as a part of the empirical maximum
    "projected_coverage",  # cells of SPIRIT space that the map's solutions fill
    "diversity",  # mean distance between those cells' centroids, 0 to 1
    "solution_diversity",  # mean distance between the best solutions of those cells
)
RECOVERIES = (
    "task",
    "algorithm",
    "replicate",
    "fault",  # number of the combined fault within its replicate
    "faults",  # what is broken, robot by robot: "PMIN,LW-H,..."
    "proximity_faults",  # robots with such a fault
    "rab_faults",
    "wheel_faults",
    "any_faults",
    "normal",  # fitness of the normal best in the normal environment, on fresh trials
    "broken",  # its fitness with the fault, on fresh trials
    "recovered",  # fitness of the solution chosen for that fault, on fresh trials
    "impact",  # (broken - normal) / normal
    "resilience",  # (recovered - normal) / normal; may be below the impact
    "performance",  # recovered as a part of the task's empirical maximum
    "claimed_normal",  # the same six on the trials that chose, as in the paper
    "claimed_broken",
    "claimed_recovered",
    "claimed_impact",
    "claimed_resilience",
    "claimed_performance",
    "distance",  # from the normal best's behaviour to the recovery's, 0 to 1
    "normal_cell",
    "recovery_cell",
)
PROGRESS = (
    "task",
    "algorithm",
    "replicate",
    "evaluations",
    "coverage",
    "best",  # in the environments of evolution
    "mean",
    "qd_score",
)
TABLES = {"runs": RUNS, "recoveries": RECOVERIES, "progress": PROGRESS}


@dataclass(frozen=True)
class Results:
    """The tables of a study, and the settings that made it."""

    settings: dict[str, Any]  # preset, and the fields of its plan
    runs: pd.DataFrame
    recoveries: pd.DataFrame
    progress: pd.DataFrame
    failures: list[str] = field(default_factory=list)  # runs that failed, and why

    @classmethod
    def load(cls, folder: Path) -> Results:
        """Return the results of a study's folder."""
        try:
            settings = tomllib.loads((folder / STUDY).read_text(encoding="utf-8"))["study"]
            tables = {name: pd.read_csv(folder / "tables" / f"{name}.csv") for name in TABLES}
        except (OSError, KeyError, ValueError) as error:
            raise InputError(f"{folder} holds no finished study: {error}") from error
        for name, columns in TABLES.items():
            missing = [column for column in columns if column not in tables[name]]
            if missing:
                raise InputError(f"{folder}/tables/{name}.csv lacks {', '.join(missing)}")
        failed = folder / "failures.txt"
        lines = failed.read_text(encoding="utf-8").splitlines() if failed.exists() else []
        return cls(settings, **tables, failures=lines)

    @property
    def tasks(self) -> list[str]:
        """Tasks that have results, in the study's order."""
        return [task for task in self.settings["tasks"] if task in set(self.runs["task"])]

    @property
    def algorithms(self) -> list[str]:
        """Algorithms that have results, in the study's order."""
        there = set(self.runs["algorithm"])
        return [name for name in self.settings["algorithms"] if name in there]
