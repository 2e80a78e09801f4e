"""How much time evolution spends besides simulating, for each algorithm.

    python benchmarks/overhead.py [--trials 50] [--seconds 400] [--generations 3]

Variation, pruning, descriptors, archive and a checkpoint after each generation are timed beside
the simulation, on all cores.  Prints a table and saves JSON under benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from qed import speed
from qed.evolution import Run, run_side_by_side
from qed.evolution.algorithms import ALGORITHMS
from qed.evolution.swarms import Swarms
from qed.swarm.simulate import Outcome, Pending

HERE = Path(__file__).parent


def measure(algorithm: str, trials: int, seconds: float, generations: int) -> dict[str, float]:
    """Return the time of a generation, of its simulation (s), and the rest's share."""
    simulating = 0.0

    def timed(pending: Pending) -> Outcome:
        nonlocal simulating
        started = time.perf_counter()
        try:
            return outcome(pending)
        finally:
            simulating += time.perf_counter() - started

    outcome = Pending.outcome
    Pending.outcome = timed  # type: ignore[method-assign]
    try:
        with tempfile.TemporaryDirectory() as folder:
            swarms = Swarms("patrolling", algorithm, trials=trials, seconds=seconds)
            run = Run(Path(folder) / "run", swarms, evaluations=80 * (generations + 2), initial=160)
            steps = run_side_by_side([run], every=0.0)
            next(steps), next(steps)  # the random ones, and everything compiled
            simulating = 0.0
            started = time.perf_counter()
            for _ in steps:
                pass
            whole = time.perf_counter() - started
    finally:
        Pending.outcome = outcome  # type: ignore[method-assign]
    return {
        "generation_s": whole / generations,
        "simulation_s": simulating / generations,
        "overhead": (whole - simulating) / simulating,
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=400.0)
    parser.add_argument("--generations", type=int, default=3)
    options = parser.parse_args()
    found: dict[str, Any] = {"machine": speed.machine(), **vars(options)}
    print(f"80 controllers x {options.trials} trials x {options.seconds:g} s")
    print(f"{'algorithm':12s}{'generation':>12s}{'simulation':>12s}{'overhead':>10s}")
    for algorithm in ALGORITHMS:
        row = measure(algorithm, options.trials, options.seconds, options.generations)
        found[algorithm] = row
        print(
            f"{algorithm:12s}{row['generation_s']:10.2f} s{row['simulation_s']:10.2f} s"
            f"{row['overhead']:10.1%}"
        )
    target = HERE / "results" / "overhead.json"
    target.write_text(json.dumps(found, indent=1) + "\n")
    print(f"saved {target.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
