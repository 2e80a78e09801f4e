"""What a search loses when nothing is reset between its trials.

    python benchmarks/live.py --kit FILE [--faults 16] [--seed 2027] [--name live]

Plays the learned search of a kit twice on the same faults, half of them uniform and half one-sided
(as benchmarks/recovery.py draws them, none of them in the kit's library): with a fresh start for
each trial, and in a world that goes on.  Regret is the fitness of the best controller on the kit's
short list, found by a race that knows the fault, less that of the search's answer, both on the same
fresh trials; after 1, 3, 5 and 10 trials.  Prints a table and writes benchmarks/results/NAME.json.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from recovery import one_sided, uniform

import qed
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.play import NOTICED, Step, run_sessions, simulated
from qed.recovery.trials import Trials, race, streams

HERE = Path(__file__).parent
BUDGETS = (1, 3, 5, 10)
WAYS = ("reset", "goes on")


def played(kit: Kit, faults: list[qed.Faults], how: Trials, seed: int) -> dict[str, Any]:
    """Return the steps of each search, by the way it was played."""
    most = BUDGETS[-1]
    searches = [[kit.search(seed=0) for _ in faults] for _ in WAYS]
    reset = simulated(kit, searches[0], faults, how, seed, most, stop=False)
    sessions = run_sessions(kit, searches[1], faults, how, seed, most, stop=False)
    return {
        "reset": reset,
        "goes on": [session[1:-1] for session in sessions],
        "lives": [[step.fitness for step in session] for session in sessions],
    }


def answer(steps: list[Step], budget: int) -> int:
    """Return the controller that a search would use after so many trials of its own."""
    return steps[NOTICED + budget - 1].best


def measured(kit: Kit, faults: dict[str, qed.Faults], how: Trials, seed: int) -> dict[str, Any]:
    """Play both ways on all faults; return every number."""
    ways = played(kit, list(faults.values()), how, seed)
    cases = []
    for k, (name, fault) in enumerate(faults.items()):

        def attempt(rows: np.ndarray, met: int, fault: qed.Faults = fault) -> np.ndarray:
            swarms = [([row], fault) for row in rows.tolist()]
            return how.fitness(swarms, met, how.streams.broken).mean(1)

        best = race(len(kit.controllers), how.trials, attempt).winner
        found = {way: {b: answer(ways[way][k], b) for b in BUDGETS} for way in WAYS}
        rows = sorted({kit.present, best, *(row for one in found.values() for row in one.values())})
        fresh = how.evaluate_fresh([([row], fault) for row in rows]).mean(1)
        value = dict(zip(rows, fresh.tolist(), strict=True))
        cases.append(
            {
                "name": name,
                "faults": ",".join(fault),
                "kept": value[kit.present],
                "best": value[best],
                "found": {
                    way: {str(b): value[row] for b, row in one.items()}
                    for way, one in found.items()
                },
                "stretches": ways["lives"][k],
            }
        )
        print(f"{name}: {cases[-1]['found']}", flush=True)
    return {"task": how.task, "seed": seed, "fresh": how.fresh, "cases": cases}


def table(result: dict[str, Any]) -> str:
    """Return regret x 1000, mean over faults of each kind and over all."""
    lines = [f"{result['task']}, regret x 1000 on {result['fresh']} fresh trials"]
    for kind in ("uniform", "one-sided", ""):
        cases = [case for case in result["cases"] if case["name"].startswith(kind)]
        lines += ["", f"{kind or 'all'} ({len(cases)} faults)"]
        lines.append(f"{'trials':10}" + "".join(f"{budget:8}" for budget in BUDGETS))
        kept = 1000 * np.mean([case["best"] - case["kept"] for case in cases])
        lines.append(f"{'keep':10}" + f"{kept:8.1f}" * len(BUDGETS))
        regret = {
            way: np.array(
                [[one["best"] - one["found"][way][str(b)] for b in BUDGETS] for one in cases]
            )
            for way in WAYS
        }
        for way in WAYS:
            lines.append(f"{way:10}" + "".join(f"{1000 * m:8.1f}" for m in regret[way].mean(0)))
        apart = regret["goes on"] - regret["reset"]
        error = apart.std(0, ddof=1) / np.sqrt(len(cases))
        lines.append(f"{'more':10}" + "".join(f"{1000 * m:8.1f}" for m in apart.mean(0)))
        lines.append(f"{'+-':10}" + "".join(f"{1000 * m:8.1f}" for m in error))
    return "\n".join(lines)


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kit", required=True)
    parser.add_argument("--faults", type=int, default=16, help="of each kind")
    parser.add_argument("--seed", type=int, default=2027)
    parser.add_argument("--fresh", type=int, default=50)
    parser.add_argument("--name", default="live")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    kit = Kit.load(options.kit)
    begun = time.perf_counter()
    how = Trials(
        kit.networks, kit.task, 10, options.fresh, kit.seconds, streams(options.seed),
        kit.environment, options.threads,
    )  # fmt: skip
    draws = {"uniform": uniform, "one-sided": one_sided}
    faults = {
        f"{name} {k}": draw(kit.environment.robots, options.seed, k)
        for k in range(options.faults)
        for name, draw in draws.items()
    }
    result = measured(kit, faults, how, options.seed)
    print(table(result))
    print(f"{time.perf_counter() - begun:.0f} s")
    path = HERE / "results" / f"{options.name}.json"
    path.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
