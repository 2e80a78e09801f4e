"""What other robots evolve, beside the paper's.

    python benchmarks/robots.py [--seeds 3] [--evaluations 4000]

Evolves each robot for two tasks, tries all controllers of an archive in the robot's normal
environment, and the best of them on fresh trials.  Prints a table, and saves it as JSON in
benchmarks/results/robots.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import qed
from qed.swarm.robot import ROBOTS

TARGET = Path(__file__).parent / "results" / "robots.json"
TASKS = ("border-patrolling", "dispersion")
TRIALS, FRESH, SECONDS = 3, 30, 60.0


def best(robot: qed.Robot, task: str, seed: int, evaluations: int) -> float:
    """Return the fitness of the best controller of a run in the normal environment."""
    archive = qed.evolve(
        task, robot=robot, evaluations=evaluations, initial=evaluations // 4, trials=TRIALS,
        seconds=SECONDS, seed=seed, backend="cpu",
    )  # fmt: skip
    given = {"task": task, "seconds": SECONDS, "backend": "cpu"}
    tried = qed.simulate(archive.controllers, trials=TRIALS, seed=seed, **given)
    chosen = archive.controllers[int(tried.fitness[task].mean(1).argmax())]
    return float(qed.simulate(chosen, trials=FRESH, seed=seed + 1000, **given).fitness[task].mean())


def main() -> None:
    """Run the comparison from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--evaluations", type=int, default=4000)
    options = parser.parse_args()
    found: dict[str, Any] = {}
    for name, robot in ROBOTS.items():
        found[name] = {"about": robot.meaning}
        for task in TASKS:
            each = [best(robot, task, 1 + k, options.evaluations) for k in range(options.seeds)]
            spread = stdev(each) if len(each) > 1 else 0.0
            found[name][task] = {"mean": round(mean(each), 4), "sd": round(spread, 4)}
            print(f"{name:14s}{task:20s}{mean(each):.3f} +- {spread:.3f}", flush=True)
    sizes = {"seeds": options.seeds, "evaluations": options.evaluations, "trials": TRIALS}
    how = {**sizes, "fresh": FRESH, "seconds": SECONDS}
    TARGET.write_text(json.dumps({"how": how, "robots": found}, indent=1) + "\n")
    print(f"saved {TARGET}")


if __name__ == "__main__":
    main()
