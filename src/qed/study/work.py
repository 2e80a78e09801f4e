"""The parts of a study's work: evolve a map, try it in the normal environment, break it.

A part leaves a file in the folder of its run and is done when the file is there, so parts can
be done by any process of any machine that sees the study's folder, and done again; ``paths``
names the files.

What is told of a chosen solution comes from fresh trials; what is claimed of it, from the trials
that chose it.
"""

import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from qed import files
from qed.archive.archive import Archive
from qed.archive.cvt import Centroids
from qed.descriptors import spirit_distance
from qed.errors import StoppedError
from qed.evolution import Run, run_side_by_side
from qed.evolution.algorithms import ALGORITHMS
from qed.evolution.folder import ARCHIVE, CONFIG
from qed.files import disk, write_text
from qed.recovery.recover import ArchiveSearch
from qed.recovery.recovery import change
from qed.recovery.trials import Normal, Swarm, Trials, streams
from qed.study import paths
from qed.study.plan import Name, Plan
from qed.swarm.faults import Faults, kinds

# Kinds of faults, and the columns that count the robots with such a fault.
KINDS = {
    "proximity": "proximity_faults",
    "range-and-bearing": "rab_faults",
    "wheel": "wheel_faults",
}
ANY = "any"
KINDS_AND_ANY = {**KINDS, ANY: "any_faults"}

FORMAT, VERSION = "qed-normal", 2
FAULTS_A_BATCH = 10
COLUMNS = (
    "fault", "faults", *KINDS_AND_ANY.values(),
    "normal", "broken", "recovered", "impact", "resilience",
    "claimed_normal", "claimed_broken", "claimed_recovered", "claimed_impact",
    "claimed_resilience", "distance", "normal_cell", "recovery_cell",
)  # fmt: skip

Tell = Callable[[float], Any]  # called with the part of the work done, 0 to 1


def batches(plan: Plan) -> list[range]:
    """Return the numbers of the faults that are tried together."""
    starts = range(0, plan.faults, FAULTS_A_BATCH)
    return [range(k, min(k + FAULTS_A_BATCH, plan.faults)) for k in starts]


@dataclass(frozen=True)
class Worker:
    """Who does parts of a study: where, with what, and who wants to know how far it is."""

    folder: Path  # of the study
    plan: Plan
    threads: int | None = None
    backend: str = "cpu"
    tell: Tell = lambda _: None

    def trials(self, name: Name, archive: Archive) -> Trials:
        """Return how the solutions of a map are tried."""
        plan = self.plan
        return Trials(
            archive.genomes().networks(), name.task, trials=plan.retrials, fresh=plan.fresh,
            seconds=plan.seconds, threads=self.threads, backend=self.backend,
            streams=streams(plan.recovery_seed(name), plan.protocol, archive.header),
            environment=archive.environment, robot=archive.robot,
        )  # fmt: skip


def evolve(worker: Worker, names: Sequence[Name]) -> None:
    """Evolve runs side by side, going on where they were."""
    plan, runs = worker.plan, []
    for name in names:
        here = paths.run(worker.folder, name)
        if not (here / ARCHIVE).exists():
            there = (here / CONFIG).exists()
            swarms = plan.swarms(name, worker.threads, worker.backend)
            run = Run(
                here, swarms, evaluations=plan.evaluations, initial=plan.initial,
                batch=plan.batch, resume=there,
            )  # fmt: skip
            runs.append(run)
    total = sum(run.search.evaluations for run in runs)
    for _ in run_side_by_side(runs):
        worker.tell(sum(run.search.done for run in runs) / total)


def reevaluate(worker: Worker, name: Name) -> None:
    """Try all solutions of a map in the normal environment, and see how they behave there."""
    here = paths.run(worker.folder, name)
    if (here / paths.NORMAL).exists():
        return
    archive = map_of(here)
    how = worker.trials(name, archive)
    tried = 0

    def seen(swarms: Sequence[Swarm], _: np.ndarray) -> None:
        nonlocal tried
        tried += len(swarms)
        worker.tell(tried / len(archive))

    normal, behaviour = how.normal(seen)
    space = ALGORITHMS["spirit"].space(worker.plan.evaluations, None)
    shadow = project(behaviour, normal.fitness, space)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "cells": archive.cells,
        "fresh": normal.fresh,
        "projected_coverage": shadow.coverage,
        "diversity": _json(shadow.diversity),
        "solution_diversity": _json(shadow.solution_diversity),
    }
    assert normal.distances is not None  # for the type checker
    arrays = {"fitness": normal.fitness, "apart": normal.distances, "cell": archive.occupied}
    with disk(here):
        files.write_arrays(here / paths.NORMAL, header, arrays)


def recover(worker: Worker, name: Name, batch: int) -> None:
    """Try all solutions of a map in a batch of combined faults."""
    plan, here = worker.plan, paths.run(worker.folder, name)
    target = here / paths.recovery(batch)
    if target.exists():
        return
    _, normal, _ = normal_of(here)
    archive = map_of(here)
    how = worker.trials(name, archive)
    numbers = batches(plan)[batch]
    faults = [plan.faults_of(name.replicate)[k] for k in numbers]
    rows = []
    recoveries = ArchiveSearch(archive, how, full=True, normal=normal).recover(
        faults, watch=lambda event: worker.tell(event.done / event.total)
    )
    for k, fault, found in zip(numbers, faults, recoveries, strict=True):
        rows.append(
            (
                k,
                ",".join(fault),
                *count_faults(fault),
                *_five(found.normal, found.broken, found.performance),
                *_five(found.claimed_normal, found.claimed_broken, found.claimed),
                found.distance,
                found.normal_cell,
                found.cell,
            )
        )
    with disk(here):
        write_text(target, csv_text(COLUMNS, rows))


def count_faults(faults: Faults) -> tuple[int, ...]:
    """Return how many robots have a fault of each kind, and any: the order of the columns."""
    return *kinds(faults), len(faults) - faults.names.count("NONE")


def normal_of(here: Path) -> tuple[dict[str, Any], Normal, list[int]]:
    """Return what is known of a run's map in the normal environment, and its solutions' cells."""
    try:
        header, arrays = files.read_arrays(here / paths.NORMAL, FORMAT, VERSION)
        cells = arrays["cell"].tolist()
        return header, Normal(arrays["fitness"], header["fresh"], arrays["apart"]), cells
    except (OSError, KeyError, ValueError) as error:
        raise StoppedError(f"{here / paths.NORMAL} is not usable: {error}; remove it") from error


def recoveries_of(here: Path, plan: Plan) -> pd.DataFrame:
    """Return the rows of all combined faults of a run."""
    parts = [pd.read_csv(here / paths.recovery(k)) for k in range(len(batches(plan)))]
    return pd.concat(parts, ignore_index=True)


def missing(study: Path, plan: Plan, name: Name) -> Iterator[str]:
    """Yield the files that a run still has to make, in order."""
    here = paths.run(study, name)
    wanted = [ARCHIVE, paths.NORMAL, *(paths.recovery(k) for k in range(len(batches(plan))))]
    return (file for file in wanted if not (here / file).exists())


def map_of(here: Path) -> Archive:
    """Return the map of a run."""
    path = here / ARCHIVE
    try:
        return _opened(path, path.stat().st_mtime_ns)
    except (OSError, ValueError) as error:
        raise StoppedError(f"{path} is not usable: {error}") from error


@lru_cache(maxsize=1)
def _opened(path: Path, _changed: int) -> Archive:
    """Open a map, once for all the batches of faults that follow each other."""
    return Archive.load(path)


def _five(normal: float, broken: float, recovered: float) -> tuple[float, ...]:
    """Return three fitnesses, and the impact and the resilience that follow from them."""
    return normal, broken, recovered, change(normal, broken), change(normal, recovered)


def _json(value: float) -> float | None:
    return None if math.isnan(value) else value


def csv_text(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table whose numbers keep every bit."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows([repr(v) if isinstance(v, float) else v for v in row] for row in rows)
    return text.getvalue()


def diversity(behaviours: np.ndarray) -> float:
    """Return the mean distance over all pairs of SPIRIT behaviours (n, 1024), NaN below two."""
    count = len(behaviours)
    if count < 2:
        return float("nan")
    each = (spirit_distance(behaviours[k], behaviours[k + 1 :]) for k in range(count - 1))
    return sum(float(some.sum()) for some in each) / (count * (count - 1) / 2)


@dataclass(frozen=True)
class Projection:
    """A map in SPIRIT space, one elite a centroid, where maps of all algorithms can be compared."""

    cells: np.ndarray  # centroids that are nearest to some solution, ascending
    elites: np.ndarray  # for each of them the solution with the highest fitness
    diversity: float  # mean distance between these centroids, 0 to 1
    solution_diversity: float  # and between the elites themselves

    @property
    def coverage(self) -> int:
        """Number of centroids taken."""
        return len(self.cells)


def project(behaviours: np.ndarray, fitness: np.ndarray, space: Centroids) -> Projection:
    """Return the projection of solutions with these SPIRIT behaviours (n, 1024) and fitness (n,).

    The first of equally fit solutions is kept.
    """
    nearest = space.find(behaviours)
    order = np.lexsort((np.arange(len(nearest)), -fitness, nearest))
    first = np.diff(nearest[order], prepend=-1) > 0
    elites = order[first]
    cells = nearest[elites]
    return Projection(cells, elites, diversity(space.points[cells]), diversity(behaviours[elites]))
