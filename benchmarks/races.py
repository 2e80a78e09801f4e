"""Compare archives of QED that evolved with races and without them, on fresh trials.

    python benchmarks/races.py STUDY RACED [--trials 10] [--backend cuda]

Both are folders of studies that differ in `--race` only, so that their runs share seeds.  Every
controller of an archive is tried in the environment that it evolved in, with trials that took no
part in evolution.  Prints a short table and saves benchmarks/results/races.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, numpy 2.5 has it no more
    setattr(np, "row_stack", np.vstack)  # noqa: B010

import qed
from qed import speed
from qed.evolution.folder import ARCHIVE
from qed.streams import stream
from qed.study import paths
from qed.study.plan import Name, Plan
from qed.study.study import plan_of
from qed.swarm.backend import chosen, described

HERE = Path(__file__).parent


def pairs(study: Path, raced: Path) -> Iterator[Name]:
    """Yield the runs that both studies have finished; their plans must agree but for the race."""
    plans: list[Plan] = [plan_of(study), plan_of(raced)]
    if [plan.race for plan in plans] != [False, True]:
        raise SystemExit("STUDY must be without --race, RACED with it")
    differing = ("evaluations", "initial", "batch", "trials", "seconds", "seed")
    if unlike := [name for name in differing if getattr(plans[0], name) != getattr(plans[1], name)]:
        raise SystemExit(f"the studies differ in {', '.join(unlike)}")
    for name in plans[1].runs():
        if all((paths.run(folder, name) / ARCHIVE).exists() for folder in (study, raced)):
            yield name


def tried(folder: Path, name: Name, trials: int, backend: str) -> dict[str, float]:
    """Return an archive's mean fitness in evolution and on fresh trials, and its coverage."""
    archive = qed.Archive.load(paths.run(folder, name) / ARCHIVE)
    environments = [
        qed.Environment.from_options(archive.measures[cell]) for cell in archive.occupied
    ]
    outcome = qed.simulate(
        archive.controllers, environments, tasks=str(name.task), trials=trials,
        seed=stream("races", str(name)), backend=backend,
    )  # fmt: skip
    return {
        "coverage": len(archive),
        "evolved": float(archive.objective[archive.occupied].mean()),
        "fresh": float(outcome.fitness[str(name.task)].mean()),
    }


def compared(task: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the means of a task over its seeds, and the standard error of those without races."""
    of = {way: np.array([row[way]["fresh"] for row in rows]) for way in ("all", "race")}
    off = of["race"] - of["all"]
    count = len(rows)
    error = float(of["all"].std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan")
    return {
        "task": task,
        "seeds": count,
        "all": float(of["all"].mean()),
        "race": float(of["race"].mean()),
        "off": float(off.mean()),
        "off_error": float(off.std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan"),
        "error": error,
        "within": bool(off.mean() >= -error),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("raced", type=Path)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--backend", default="auto")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in pairs(options.study, options.raced):
        ways = {"all": options.study, "race": options.raced}
        found = {
            way: tried(folder, name, options.trials, options.backend)
            for way, folder in ways.items()
        }
        rows.append({"task": str(name.task), "replicate": name.replicate, **found})
        print(
            f"{name}: {found['all']['fresh']:.4f}, raced {found['race']['fresh']:.4f}", flush=True
        )
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    table = [compared(task, [row for row in rows if row["task"] == task]) for task in tasks]
    print(f"{'task':20s}{'all':>8s}{'race':>8s}{'off':>9s}{'error':>8s}")
    for one in table:
        print(
            f"{one['task']:20s}{one['all']:8.4f}{one['race']:8.4f}{one['off']:+9.4f}"
            f"{one['error']:8.4f}{'' if one['within'] else '  worse'}"
        )
    told = {
        "machine": speed.machine(),
        "on": described(chosen(options.backend), speed.cores()),
        "evaluations": plan_of(options.study).evaluations,
        "trials": options.trials,
    }
    path = HERE / "results" / "races.json"
    path.write_text(json.dumps({**told, "tasks": table, "runs": rows}, indent=1) + "\n", "utf-8")
    print(path)


if __name__ == "__main__":
    main()
