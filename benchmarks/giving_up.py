"""How much faster QED evolves by giving up children early: not at all, exactly, and by races.

    python benchmarks/giving_up.py [--backend cuda] [--tasks patrolling aggregation]

Runs are taken up with the archives that come with QED, so that they are late ones.  The ways take
turns in one process, and generations are the same in all of them.  Before that, one run of each
task evolves with all trials and giving up exactly, and the archives are compared bit for bit.
Prints a short table and saves JSON under benchmarks/results, a file for each backend.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, numpy 2.5 has it no more
    setattr(np, "row_stack", np.vstack)  # noqa: B010

import qed
from qed import speed
from qed.evolution import Batch, Run, early_stopping, run_side_by_side, swarms
from qed.evolution.swarms import Swarms
from qed.swarm.simulate import Outcome, Pending
from qed.swarm.tasks import TASKS

HERE = Path(__file__).parent
WAYS = ("all trials", "exact", "race")
LATE = 200_000  # evaluations: children are those of a run that has come so far


@contextmanager
def all_trials(wanted: bool) -> Iterator[None]:
    """Let no round end before the last trial, if so wanted."""
    before = early_stopping.next_stop
    if wanted:
        early_stopping.next_stop = lambda *given: given[-1]
    try:
        yield
    finally:
        early_stopping.next_stop = before


@contextmanager
def counted() -> Iterator[list[tuple[int, int]]]:
    """Count the children that begin, and the trials, of each simulation that ends."""
    trials: list[tuple[int, int]] = []

    class Counting(Pending):
        def outcome(self) -> Outcome:
            swarms = self.job.swarms
            trials.append((0 if self.job.skipped else swarms, swarms * self.job.trials))
            return super().outcome()

    swarms.Pending = Counting  # type: ignore[misc]
    try:
        yield trials
    finally:
        swarms.Pending = Pending  # type: ignore[misc]


def late_runs(task: str, way: str, count: int, backend: str) -> list[Run]:
    """Return runs that have come far."""
    runs = []
    for seed in range(1, count + 1):
        domain = Swarms(task, "qed", seed=seed, race=way == "race", backend=backend)
        run = Run(None, domain, evaluations=10**7)
        run.search.resume_with(qed.load_example(task))
        run.search.done = LATE
        runs.append(run)
    return runs


def know_incumbents(domain: Any, batch: Batch) -> None:
    """Let a race know the incumbents that a batch has to beat, trial by trial."""
    cells = np.unique(batch.cells[np.isfinite(batch.incumbents)])
    archive = batch.archive
    options = archive.measures[cells].astype(np.int64)
    again = swarms.Evaluation([replace(domain, race=False)], [Batch(archive.take(cells), options)])
    again.results()
    domain.incumbents.keep(cells, archive.objective[cells], again.fitness)


def measure(task: str, way: str, count: int, backend: str, generations: int) -> dict[str, float]:
    """Return evaluations/s and trials of an evaluation, over some generations of late runs."""
    runs = late_runs(task, way, count, backend)
    with all_trials(way == "all trials"), counted() as trials:
        if way == "race":  # incumbents are known when a run was not just taken up
            for run in runs:
                done = run.search.done
                for generation in range(generations + 1):
                    run.search.done = done + generation * run.search.batch
                    know_incumbents(run.domain, run.search.ask())
                run.search.done = done
        steps = run_side_by_side(runs)
        wanted = LATE + generations * runs[0].search.batch
        trials.clear()
        begin = time.perf_counter()
        while min(run.search.done for run in runs) < wanted:
            next(steps)
        seconds = time.perf_counter() - begin
        done = sum(run.search.done - LATE for run in runs)
        steps.close()
    begun, simulated = np.sum(trials, 0)
    return {"evaluations": done / seconds, "trials": float(simulated / begun)}


def same_archives(task: str, backend: str, generations: int) -> dict[str, Any]:
    """Tell whether a late run ends with the same archive if children are given up exactly."""
    archives, trials = [], []
    for whole in (True, False):
        run = late_runs(task, "exact", 1, backend)[0]
        with all_trials(whole), counted() as simulated:
            steps = run_side_by_side([run])
            while run.search.done < LATE + generations * run.search.batch:
                next(steps)
            steps.close()
        archives.append(run.search.archive)
        trials.append(int(np.sum(simulated, 0)[1]))
    return {"task": task, "same": archives[0].equal(archives[1]), "trials": trials}


def main(given: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--backend", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--tasks", nargs="+", default=["patrolling"])
    parser.add_argument("--runs", type=int, default=None, help="side by side (cpu: 1, cuda: 5)")
    parser.add_argument("--generations", type=int, default=None, help="default: cpu 1, cuda 20")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--same", nargs="*", default=None, help="tasks compared (default: all)")
    options = parser.parse_args(given)
    count = options.runs or (5 if options.backend == "cuda" else 1)
    generations = options.generations or (20 if options.backend == "cuda" else 1)
    compared = []
    for task in TASKS if options.same is None else options.same:
        compared.append(same_archives(task, options.backend, generations))
        all_, some = compared[-1]["trials"]
        words = "the same archive" if compared[-1]["same"] else "ANOTHER ARCHIVE"
        print(f"{task:20s}{words} with {some:,} of {all_:,} trials", flush=True)
    rows = []
    print(f"{'task':20s}{'way':12s}{'trials':>8s}{'evaluations/s':>15s}{'ratio':>8s}")
    for task in options.tasks:
        measure(task, "all trials", count, options.backend, 1)  # all is compiled then
        found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
        for _ in range(options.turns):
            for way in WAYS:
                found[way].append(measure(task, way, count, options.backend, generations))
        whole = median(turn["evaluations"] for turn in found["all trials"])
        for way in WAYS:
            rate = median(turn["evaluations"] for turn in found[way])
            trials = found[way][0]["trials"]
            rows.append({"task": task, "way": way, "trials": trials, "evaluations": rate,
                         "ratio": rate / whole})  # fmt: skip
            print(f"{task:20s}{way:12s}{trials:8.1f}{rate:15.1f}{rate / whole:8.2f}", flush=True)
    path = HERE / "results" / f"giving-up-{options.backend}.json"
    told = {"machine": speed.machine(), "side_by_side": count, "generations": generations}
    saved = {**told, "compared": compared, "rows": rows}
    path.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
