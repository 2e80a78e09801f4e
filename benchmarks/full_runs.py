"""Runs of the paper's full budget on a GPU, and their curves and numbers beside the paper's.

    python benchmarks/full_runs.py evolve FOLDER [--minutes 9] [--task patrolling]
    python benchmarks/full_runs.py report FOLDER

``evolve`` evolves QED and HBD side by side for so long, or until they end; called again, it goes
on with the runs in the folder.  ``report`` writes docs/results/full-runs.md, its figure, and all
numbers as benchmarks/results/full-runs.json.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, numpy 2.5 has it no more
    setattr(np, "row_stack", np.vstack)  # noqa: B010

from qed.evolution.run import Run, Settings, drive
from qed.swarm.backend import chosen, described

ALGORITHMS = ("qed", "hbd")
SITTINGS = "sittings.json"


def evolve(folder: Path, task: str, minutes: float) -> None:
    """Evolve for so long, and note how far each run came."""
    engine = chosen("auto")
    runs = []
    for algorithm in ALGORITHMS:
        place = folder / algorithm
        settings = Settings(task, algorithm)
        resume = (place / "config.toml").exists()
        runs.append(Run(settings, place, resume=resume, backend=engine))
    before = [run.search.done for run in runs]
    begin = told = time.perf_counter()
    ended: dict[int, float] = {}
    steps = drive(runs)
    for _ in steps:
        now = time.perf_counter()
        for k, run in enumerate(runs):
            if run.search.finished:
                ended.setdefault(k, now - begin)
        if now - told > 30.0:
            told = now
            print(
                f"{now - begin:5.0f} s", *(f"{r.search.standing()[:4]}" for r in runs), flush=True
            )
        if now - begin > 60.0 * minutes:
            break
    steps.close()  # leaves checkpoints
    seconds = time.perf_counter() - begin
    path = folder / SITTINGS
    sittings = json.loads(path.read_text()) if path.exists() else []
    sittings.append(
        {
            "on": described(engine, 1),
            "seconds": [ended.get(k, seconds) for k in range(len(runs))],
            "evaluations": [r.search.done - b for r, b in zip(runs, before, strict=True)],
        }
    )
    path.write_text(json.dumps(sittings, indent=1) + "\n")
    print(*(f"{r.settings.algorithm}: {r.search.done:,} evaluations" for r in runs), sep="\n")


def standing(run: Run) -> str:
    """Return in words how far a run is."""
    done, coverage, best, mean, _ = run.search.standing()
    name = run.settings.algorithm
    return f"{name} {done:,.0f} done, {coverage:.0f} cells, best {best:.3f}, mean {mean:.3f};"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("evolve", "report"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", default="patrolling")
    parser.add_argument("--minutes", type=float, default=1e6, help="stop after so long")
    options = parser.parse_args()
    if options.what == "evolve":
        options.folder.mkdir(parents=True, exist_ok=True)
        evolve(options.folder, options.task, options.minutes)


if __name__ == "__main__":
    main()
