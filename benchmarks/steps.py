"""How fast many worlds are stepped from outside, beside ``qed.simulate`` of what drives them.

    python benchmarks/steps.py [--worlds 256] [--cycles 500] [--repeats 12]

A controller that reads all inputs is simulated in as many trials as there are worlds; then its
wheel commands, which a pass before has kept, are given to the worlds from outside, so that robots
do the same.  Both take turns; the quickest of all repeats counts.  Prints a table and saves JSON
under benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import qed
from qed import speed
from qed.controller.inputs import CONSTANT, LEFT
from qed.controller.network import GAIN

HERE = Path(__file__).parent
WEIGHTS = np.random.default_rng(1).uniform(-1.0, 1.0, (CONSTANT, 2)).astype(np.float32)
BIAS = 0.5


def controller() -> qed.Controller:
    """Return a network without hidden neurons that reads all inputs with both wheels."""
    links = [(k, LEFT + side, w) for (k, side), w in np.ndenumerate(WEIGHTS)]
    return qed.Controller(links, [BIAS, BIAS])


def commands(task: str, worlds: int, cycles: int) -> np.ndarray:
    """Return what the controller commands, (cycles, worlds, robots, 2)."""
    world = qed.World(task=task, worlds=worlds)
    wheels = np.zeros((cycles, worlds, world.environment.robots, 2), np.float32)
    for t in range(cycles):
        sensed = np.concatenate(world.step(wheels[t]), -1)
        if t + 1 < cycles:
            wheels[t + 1] = np.tanh(np.float32(GAIN) * (sensed @ WEIGHTS) + np.float32(BIAS))
    return wheels


def measure(task: str, worlds: int, cycles: int, repeats: int) -> dict[str, float]:
    """Return the time of a cycle of all worlds (s), simulated, stepped, and stepped and scored."""
    wheels = commands(task, worlds, cycles)
    swarm, seconds = controller(), cycles * 0.2

    def simulated() -> None:
        qed.simulate(swarm, task=task, trials=worlds, seconds=seconds, backend="cpu")

    def stepped(scored: bool = False) -> None:
        world = qed.World(task=task, worlds=worlds)
        for one in wheels:
            world.step(one)
            if scored:
                world.score  # noqa: B018

    ways: dict[str, Callable[[], None]] = {
        "simulate": simulated, "step": stepped, "step_and_score": lambda: stepped(True)
    }  # fmt: skip
    best = dict.fromkeys(ways, np.inf)
    for _ in range(repeats):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            best[name] = min(best[name], (time.perf_counter() - started) / cycles)
    return best


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--cycles", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=12)
    options = parser.parse_args()
    found: dict[str, Any] = {"machine": speed.machine(), **vars(options), "tasks": {}}
    print(f"{options.worlds} worlds x {options.cycles} cycles; a cycle of all worlds takes")
    titles = ("simulate", "step", "and score")
    print(f"{'task':18s}" + "".join(f"{title:>10s}" for title in titles) + f"{'speed':>8s}")
    for task in ("aggregation", "patrolling"):
        row = measure(task, options.worlds, options.cycles, options.repeats)
        found["tasks"][task] = row
        print(
            f"{task:18s}"
            + "".join(f"{1e6 * seconds:7.0f} us" for seconds in row.values())
            + f"{row['simulate'] / row['step']:8.0%}"
        )
    target = HERE / "results" / "steps.json"
    target.write_text(json.dumps(found, indent=1) + "\n")
    print(f"saved {target.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
