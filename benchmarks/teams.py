"""What it costs that robots run different controllers, and how long a kit takes to prepare.

    python benchmarks/teams.py [--backend cuda] [--turns 5] [--prepare KIT]

Swarms of ten robots with ten controllers take turns with swarms that run one of these alone (each
controller drives as many robots in both), with 50 and with 10 trials, on one thread or on a GPU.
Teams whose members are equal do what swarms of one controller do: they cost what it costs to
simulate teams, without what different robots do.
Controllers are random networks, or those of the patrolling kit.  Each robot listens, and looks for
other robots, only with the sensors that its own controller reads.  Prints a short table and saves
JSON under benchmarks/results, a file for each backend; how long a kit takes stays as it was if it
is not timed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, numpy 2.5 has it no more
    setattr(np, "row_stack", np.vstack)  # noqa: B010

import qed
from qed import speed

HERE = Path(__file__).parent
ROBOTS = 10
RANDOM, EVOLVED = "random networks", "evolved controllers"


def timed(swarms: Sequence[Any], trials: int, backend: str) -> float:
    """Return how long (s) some swarms take, 400 s of patrolling each."""
    begin = time.perf_counter()
    qed.simulate(swarms, tasks="patrolling", trials=trials, seed=1, threads=1, backend=backend)
    return time.perf_counter() - begin


def controllers(of: str, count: int) -> list[qed.Controller]:
    """Return so many controllers."""
    if of == RANDOM:
        return speed.random_networks(count)
    few = qed.Kit.load("example:patrolling-kit").controllers
    return [few[k % len(few)] for k in range(count)]


def compare(of: str, trials: int, backend: str, turns: int) -> dict[str, Any]:
    """Return how long swarms of one controller and teams take, and the ratio of the medians."""
    count = 400 if backend == "cuda" else 2000 // trials
    alone = controllers(of, count)
    teams = [
        qed.Team([alone[(k + robot) % count] for robot in range(ROBOTS)]) for k in range(count)
    ]
    equals = [qed.Team([one] * ROBOTS) for one in alone]
    walls: dict[str, list[float]] = {"alone": [], "teams": [], "equals": []}
    for turn in range(turns + 1):
        for name, swarms in (("alone", alone), ("teams", teams), ("equals", equals)):
            wall = timed(swarms, trials, backend)
            if turn > 0:  # the first one compiles
                walls[name].append(wall)
    one, many, same = (median(wall) for wall in walls.values())
    print(
        f"{of}, {trials} trials: one {one:.2f} s, teams {many:.2f} s, {many / one - 1:+.0%}; "
        f"of equals {same / one - 1:+.0%}"
    )
    return {
        "of": of, "trials": trials, "swarms": count, "alone": one, "teams": many,
        "ratio": many / one, "equals": same / one,
    }  # fmt: skip


def prepared(backend: str, path: Path) -> float:
    """Return how long (s) a kit of the patrolling example takes; it is kept in a file."""
    begin = time.perf_counter()
    kit = qed.prepare(qed.load_example("patrolling"), "patrolling", seed=1, backend=backend)
    seconds = time.perf_counter() - begin
    kit.save(path)
    print(f"prepare, 4,096 controllers: {seconds:.0f} s")
    return seconds


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--backend", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--prepare", type=Path, metavar="KIT", help="time qed.prepare too")
    options = parser.parse_args()
    found: dict[str, Any] = {"machine": speed.machine(), "turns": options.turns}
    path = HERE / "results" / f"teams-{options.backend}.json"
    found["rows"] = [
        compare(of, trials, options.backend, options.turns)
        for of in (RANDOM, EVOLVED)
        for trials in (50, 10)
    ]
    if options.prepare:
        found["prepare_s"] = prepared(options.backend, options.prepare)
    elif path.exists():
        found["prepare_s"] = json.loads(path.read_text("utf-8"))["prepare_s"]
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
