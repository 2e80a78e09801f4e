"""Evolve the archives that hold the highest fitness of a task with the paper's budget.

    python benchmarks/maxima.py plan                       # what is run, before it is
    python benchmarks/maxima.py run FOLDER [--tasks dispersion] [--minutes 9]   # goes on
    python benchmarks/maxima.py gather FOLDER              # then maxima_page.py writes the page

Two numbers of the study differ from the paper's though its budget does not explain them: QED's best
in dispersion and QED's average in border-patrolling.  Both are fractions of the best of all
archives of a task.  In each of these tasks the algorithm that holds this maximum evolves once more,
with the paper's budget.  ``evolve`` makes checkpoints; ``judge`` measures how far the archives are
as the study does, finished or not.  ``--size tiny`` tries everything on a CPU.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import comparison
from comparison import RESULTS, Clock, Comparison, Plan, history, made, rounded, save_json
from full_runs import BUDGET, archive_of

from qed import paper
from qed.evolution import Run
from qed.evolution.folder import PROGRESS
from qed.evolution.swarms import Swarms
from qed.recovery.recover import trials_of
from qed.streams import stream
from qed.swarm.backend import chosen

STUDY = RESULTS.parent.parent / "docs" / "results" / "study" / "runs.csv"
ROWS = "rows.json"
WHAT = {"best": "best performance", "mean": "average performance"}  # columns, the paper's names
ASKED = {"dispersion": "best", "border-patrolling": "mean"}
QED = "qed"
TINY = {"evaluations": 400, "initial": 100, "trials": 2, "seconds": 20.0, "fresh": 8}


def plan(size: str = "full") -> dict[str, Any]:
    """Return what is run, and what is known before."""
    with STUDY.open(encoding="utf-8", newline="") as file:
        every = [row for row in csv.DictReader(file) if row["task"] in ASKED]
    study = [
        {"task": row["task"], "algorithm": row["algorithm"], "replicate": int(row["replicate"]),
         "best": float(row["best"]), "mean": float(row["mean"])}
        for row in every
    ]  # fmt: skip
    holders = {}
    for task in ASKED:
        own = [row for row in study if row["task"] == task]
        holders[task] = max(own, key=lambda row: float(row["best"]))["algorithm"]
    return {
        "size": size,
        "keys": ["task", "map", "seed"],
        "tasks": list(ASKED),
        "holders": holders,
        "seeds": [1],
        "evaluations": BUDGET,
        "initial": 2_000,
        "batch": 80,
        "trials": 50,
        "seconds": 400.0,
        "again": 10,
        "fresh": 50,
        "study": study,
        "asked": [
            {"task": task, "of": column, "what": WHAT[column],
             "paper": paper.value(WHAT[column], task, QED)}
            for task, column in ASKED.items()
        ],
        "measured": "as in the study: all controllers on 10 trials, the best of these on 50 fresh "
        "ones; the mean is that of the ten trials",
        "changes": [],
        **(TINY if size == "tiny" else {}),
    }  # fmt: skip


def places(folder: Path, plan: Plan) -> list[Path]:
    """Return the folders of the runs."""
    return [folder / f"{task}-{plan['holders'][task]}-1" for task in plan["tasks"]]


def evolve(folder: Path, plan: Plan, clock: Clock) -> None:
    """Evolve the holders of the maxima side by side."""
    several = []
    for place in places(folder, plan):
        task, algorithm, seed = place.name.rsplit("-", 2)
        how = plan["trials"], plan["seconds"], int(seed)
        swarms = Swarms(task, algorithm, *how, backend=chosen("auto"))
        sizes = {name: plan[name] for name in ("evaluations", "initial", "batch")}
        several.append(Run(place, swarms, **sizes, resume=(place / "config.toml").exists()))
    comparison.evolved(several, clock)


def judge(folder: Path, plan: Plan, clock: Clock) -> None:
    """Measure the archives, as far as they are."""
    for place in places(folder, plan):
        if not (place / PROGRESS).exists():
            continue
        task, algorithm, seed = place.name.rsplit("-", 2)
        archive = archive_of(place)
        how = trials_of(
            archive, task, trials=plan["again"], seconds=plan["seconds"], fresh=plan["fresh"],
            seed=stream("maxima", task), backend=chosen("auto"),
        )  # fmt: skip
        normal, _ = how.normal()
        table = {"task": task, "map": algorithm, "seed": int(seed), "size": plan["size"]}
        table |= {"best": rounded(normal.fresh), "claimed_best": rounded(normal.fitness.max())}
        table |= {"mean": rounded(normal.fitness.mean()), "filled": len(archive)}
        table |= {"evolved": history(place), "made": made()}
        save_json(place / ROWS, table)
        clock.tell(f"{place.name}: {table['evolved']['evaluations']:,} evaluations, judged")


KERNELS = [{}, {"sums": ("sdbc",)}, {"sums": ("spirit",)}]
COMPARISON = Comparison(
    "maxima", plan, {"evolve": evolve, "judge": judge}, ROWS, KERNELS, ("tiny",)
)


if __name__ == "__main__":
    COMPARISON.main(__doc__, narrowed={"tasks": str})
