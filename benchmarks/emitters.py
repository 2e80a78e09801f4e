"""Whether a bandit over parents finds better archives than uniform parents, at equal evaluations.

    python benchmarks/emitters.py [--tasks aggregation border-patrolling] [--seeds 8]
                                  [--evaluations 12000]

Evolves QED archives with both emitters from the same seeds, so from the same random controllers,
and simulates all elites in their environments on fresh trials.  Prints the differences of pairs
with their 95 % intervals and saves JSON in benchmarks/results.  Runs that are there already are
not repeated, so that it can be stopped and goes on, and may be run for several sizes.  The bandit's
settings were chosen on other tasks (patrolling, dispersion).
"""

from __future__ import annotations

import argparse
import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

import qed
from qed import speed
from qed.evolution.algorithms import ALGORITHMS
from qed.streams import stream

OUT = Path(__file__).parent / "results" / "emitters.json"
EMITTERS = ("uniform", "bandit")
SIZE = {"trials": 2, "seconds": 30.0}
FRESH = 2  # trials of each elite


def row_of(task: str, evaluations: int, seed: int, emitter: str, backend: str) -> dict[str, Any]:
    """Evolve once, and tell how good the elites are on fresh trials."""
    archive = qed.evolve(
        task, emitter=emitter, evaluations=evaluations, seed=seed, backend=backend, **SIZE
    )
    options = archive.measures[archive.occupied].astype(int).tolist()
    outcome = qed.simulate(
        archive.controllers, [ALGORITHMS["qed"].condition(tuple(one))[0] for one in options],
        tasks=task, trials=FRESH, seconds=SIZE["seconds"], seed=stream("fresh", task, seed),
        backend=backend,
    )  # fmt: skip
    return {
        "task": task, "evaluations": evaluations, "seed": seed, "emitter": emitter,
        "filled": len(archive), "mean": archive.mean, "best": archive.best.fitness,
        "fresh": float(outcome.fitness[task].mean()),
    }  # fmt: skip


def compared(rows: list[dict[str, Any]], task: str, evaluations: int) -> dict[str, Any]:
    """Return the means of runs of a size, and the difference of pairs with its 95 % interval."""
    by = {
        (row["seed"], row["emitter"]): row["fresh"]
        for row in rows
        if (row["task"], row["evaluations"]) == (task, evaluations)
    }
    seeds = [seed for seed, emitter in by if emitter == "bandit" and (seed, "uniform") in by]
    uniform, bandit = (np.array([by[seed, one] for seed in seeds]) for one in EMITTERS)
    gains, n = bandit - uniform, len(seeds)
    half = float(student.ppf(0.975, n - 1) * gains.std(ddof=1) / math.sqrt(n)) if n > 1 else None
    return {
        "task": task, "evaluations": evaluations, "runs": n, "uniform": float(uniform.mean()),
        "bandit": float(bandit.mean()), "gain": float(gains.mean()), "interval": half,
        "won": int((gains > 0).sum()),
    }  # fmt: skip


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=["aggregation", "border-patrolling"])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--evaluations", type=int, default=12_000)
    parser.add_argument("--backend", default="auto")
    options = parser.parse_args()
    found: dict[str, Any] = json.loads(OUT.read_text("utf-8")) if OUT.exists() else {}
    if found.get("size") != SIZE:
        found = {"machine": speed.machine(), "size": SIZE, "fresh_trials": FRESH, "rows": []}
    names = ("task", "evaluations", "seed", "emitter")
    seeds = range(1, options.seeds + 1)
    for wanted in product(options.tasks, [options.evaluations], seeds, EMITTERS):
        rows = found["rows"]
        if wanted not in {tuple(row[name] for name in names) for row in rows}:
            rows.append(row_of(*wanted, options.backend))
            print(rows[-1], flush=True)
            if wanted[-1] == EMITTERS[-1]:
                sizes = sorted({(row["task"], row["evaluations"]) for row in rows})
                found["compared"] = [compared(rows, *size) for size in sizes]
            OUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for one in found["compared"]:
        print(
            f"{one['task']}, {one['evaluations']:,}: uniform {one['uniform']:.4f}, "
            f"bandit {one['bandit']:.4f}, "
            f"difference {one['gain']:+.4f} +- {one['interval'] or math.nan:.4f}, "
            f"{one['won']} of {one['runs']} runs"
        )


if __name__ == "__main__":
    main()
