"""What other robots evolve, beside the paper's.

    python benchmarks/robots.py [--seeds 5] [--evaluations 20000]

Evolves each robot for two tasks, tries all controllers of an archive in the robot's normal
environment, and the best of them on fresh trials as long as the paper's.  Prints means over runs
with their 95 % intervals, and saves JSON in benchmarks/results.  Runs that are there already are
not repeated, so that it can be stopped and goes on.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path
from typing import Any

import qed
from qed import speed
from qed.study.statistics import interval
from qed.swarm.robot import ROBOTS

TARGET = Path(__file__).parent / "results" / "robots.json"
TASKS = ("border-patrolling", "dispersion")
SIZE = {"trials": 5, "seconds": 120.0}
FRESH = {"trials": 50, "seconds": 400.0}


def best(name: str, task: str, seed: int, evaluations: int) -> float:
    """Return the fitness of the best controller of a run in the normal environment."""
    archive = qed.evolve(
        task, robot=ROBOTS[name], evaluations=evaluations, initial=evaluations // 4,
        trials=SIZE["trials"], seconds=SIZE["seconds"], seed=seed, backend="cpu",
    )  # fmt: skip
    normal = qed.Environment(robot=ROBOTS[name])
    tried = qed.simulate(
        archive.controllers, normal, task=task, trials=SIZE["trials"], seconds=SIZE["seconds"],
        seed=seed, backend="cpu",
    )  # fmt: skip
    chosen = archive.controllers[int(tried.fitness[task].mean(1).argmax())]
    fresh = qed.simulate(
        chosen, normal, task=task, trials=FRESH["trials"], seconds=FRESH["seconds"],
        seed=seed + 1000, backend="cpu",
    )  # fmt: skip
    return float(fresh.fitness[task].mean())


def main() -> None:
    """Run the comparison from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--evaluations", type=int, default=20_000)
    options = parser.parse_args()
    how = {**SIZE, "fresh": FRESH, "evaluations": options.evaluations}
    found: dict[str, Any] = json.loads(TARGET.read_text("utf-8")) if TARGET.exists() else {}
    if found.get("how") != how:
        found = {"machine": speed.machine(), "how": how, "rows": []}
    rows = found["rows"]
    for seed, name, task in product(range(1, options.seeds + 1), ROBOTS, TASKS):
        wanted = {"seed": seed, "robot": name, "task": task}
        if not any(wanted.items() <= row.items() for row in rows):
            rows.append({**wanted, "fitness": best(name, task, seed, options.evaluations)})
            print(rows[-1], flush=True)
            TARGET.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    found["robots"] = {}
    for name, robot in ROBOTS.items():
        found["robots"][name] = {"about": robot.meaning}
        for task in TASKS:
            each = [row["fitness"] for row in rows if (row["robot"], row["task"]) == (name, task)]
            over = interval((each, 0))
            found["robots"][name][task] = {
                "mean": over.mean, "low": over.low, "high": over.high, "runs": len(each),
            }  # fmt: skip
            print(f"{name:14s}{task:20s}{over.mean:.3f} [{over.low:.3f}, {over.high:.3f}]")
    TARGET.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"saved {TARGET}")


if __name__ == "__main__":
    main()
