"""Measure the simulator's speed over swarms, trials and threads, its scaling, and its start.

    python benchmarks/throughput.py [--quick]

Prints a table and saves it, with every time that was taken, as JSON under benchmarks/results.
A robot-step is one control cycle of one robot.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

import qed
from qed.speed import (
    BATCH,
    STILL,
    STRAIGHT,
    TRIAL_SECONDS,
    Case,
    gathering,
    huddle,
    machine,
    random_networks,
    thread_counts,
    times,
    warm_up,
)
from qed.swarm.robot import CYCLE

HERE = Path(__file__).parent
# Controllers, how many robot-steps to measure (half a second or so on one core), and how much
# simulated time at least (s): straight drivers have to reach a wall first.
KINDS = {
    "still": ([STILL] * BATCH, 12e6, 0.0),
    "straight": ([STRAIGHT] * BATCH, 6e6, 100.0),
    "random": (random_networks(), 8e6, 0.0),
    "crowd": ([gathering()] * BATCH, 1.6e6, 0.0),
}
TRIALS = (5, 50)
THREADS = thread_counts()
CROWDED = 0.2  # m to the nearest robot, at most
TRIAL_COUNTS = (25, 50, 100, 200)
CYCLE_COUNTS = (250, 500, 1000, 2000)
ROBOT_COUNTS = (5, 10, 20, 40)
STARTS = {
    "first_call": "first result ever (compiles)",
    "warm_process": "first result of a new process",
    "large_batch": "80 controllers x 50 trials x 20 robots",
}

# Programs of a process of their own; each prints its peak memory.
PEAK = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
FIRST_RESULT = f"""
import qed
qed.simulate(qed.Controller.random(0), tasks="patrolling", trials=1, seconds=1.0)
{PEAK}
"""
LARGE_BATCH = f"""
import qed
networks = [qed.Controller.random(seed) for seed in range(80)]
qed.simulate(networks, qed.Environment(robots=20), tasks="patrolling", trials=50, seconds=4.0)
{PEAK}
"""


def measured(case: Case, repeats: int) -> dict[str, Any]:
    """Return the times (s) and the median speeds (robot-steps/s) of a case, by threads.

    ``processor_share`` is the part of a core that a thread had on average: much below 1 means
    that other programs were busy, or that the threads ran out of work.
    """
    begin = process_time()
    taken = times(case, THREADS, repeats)
    used = process_time() - begin
    thread_seconds = sum(count * sum(walls) for count, walls in taken.items())
    speeds = {count: case.robot_steps / median(walls) for count, walls in taken.items()}
    return {
        "simulated_seconds": case.seconds,
        "robot_steps": case.robot_steps,
        "times": taken,
        "speed": speeds,
        "ratio": speeds[THREADS[-1]] / speeds[1],
        "processor_share": used / thread_seconds,
    }


def bar(quick: bool) -> list[dict[str, Any]]:
    """Measure 10 robots driven by 80 random networks, for 5 and 50 trials of full length."""
    print(f"{'10 robots, 80 random networks':36s}{threads_heading()}")
    found = []
    for trials in TRIALS:
        seconds = 40.0 if quick else TRIAL_SECONDS
        case = Case(random_networks(), trials=trials, seconds=seconds)
        result = measured(case, 3)
        found.append({"trials": trials, **result})
        print(f"{f'  {trials} trials of {seconds:.0f} s':36s}{numbers(result)}", flush=True)
    return found


def grid(quick: bool) -> list[dict[str, Any]]:
    """Measure all kinds of controllers, numbers of robots, obstacles and trials."""
    print(f"\n{'':32s}{f'{TRIALS[0]} trials':23s}  {TRIALS[1]} trials")
    print(f"controllers  obstacles  robots{2 * f'  {threads_heading()}'}")
    found = []
    swarms = product(KINDS, (0, 6), (10,) if quick else (5, 10, 20))
    for kind, obstacles, robots in swarms:
        environment = qed.Environment(robots=robots, obstacles=obstacles)
        line = f"{kind:11s}{obstacles:11d}{robots:8d}"
        for trials in TRIALS:
            result = measured(sized(kind, environment, trials, 0.2 if quick else 1.0), 3)
            case = {"robots": robots, "obstacles": obstacles, "trials": trials}
            found.append({"controllers": kind, **case, **result})
            line += f"  {numbers(result)}"
        print(line, flush=True)
    return found


def sized(kind: str, environment: qed.Environment, trials: int, share: float) -> Case:
    """Return a case of a kind, with as much simulated time as its robot-steps allow."""
    controllers, robot_steps, least = KINDS[kind]
    cycles = math.ceil(share * robot_steps / (len(controllers) * environment.robots * trials))
    return Case(
        controllers,
        environment,
        trials,
        min(max(CYCLE * cycles, least), TRIAL_SECONDS),
        start=huddle(environment, trials) if kind == "crowd" else None,
    )


def threads_heading() -> str:
    """Return the heading of the columns of ``numbers``."""
    return f"{'1 thr':>8s}{f'{THREADS[-1]} thr':>8s}{'ratio':>7s}"


def numbers(result: dict[str, Any]) -> str:
    """Return the speeds of a case (million robot-steps/s) and their ratio, in columns."""
    one, all_cores = result["speed"][1], result["speed"][THREADS[-1]]
    return f"{one / 1e6:8.1f}{all_cores / 1e6:8.1f}{result['ratio']:7.2f}"


def crowding() -> dict[int, float]:
    """Return the mean distance to the nearest robot (m) in the crowd's second half, by robots.

    Raises RuntimeError if it is not crowded: its speed would then mean nothing.
    """
    found = {}
    for robots in (5, 10, 20):
        environment = qed.Environment(robots=robots)
        seen = qed.trace(
            gathering(), environment, seconds=TRIAL_SECONDS, start=huddle(environment, 1)
        )
        half = len(seen.x) // 2
        places = np.stack([seen.x[half:], seen.y[half:]], -1)
        apart = np.linalg.norm(places[:, :, None] - places[:, None], axis=-1)
        apart[:, range(robots), range(robots)] = np.inf
        found[robots] = float(apart.min(-1).mean())
        if found[robots] > CROWDED:
            raise RuntimeError(f"the crowd of {robots} robots is {found[robots]:.2f} m apart")
    return found


def scaling(quick: bool) -> dict[str, Any]:
    """Return the times over trials, cycles and robots, with the exponents of power laws."""
    networks = random_networks(16)
    cut = 0.2 if quick else 1.0

    def dense(robots: int) -> float:
        """Return the arena's side (m) for as many robots a square metre as normally."""
        return 4.0 * math.sqrt(robots / 10)

    def swarm(robots: int, arena: float = 4.0) -> Case:
        environment = qed.Environment(robots=robots, arena=arena)
        return Case(networks, environment, seconds=40.0 * cut)

    return {
        "trials": fitted((n, Case(networks, trials=n, seconds=40.0 * cut)) for n in TRIAL_COUNTS),
        "cycles": fitted((n, Case(networks, seconds=CYCLE * n * cut)) for n in CYCLE_COUNTS),
        "robots, same density": fitted((n, swarm(n, dense(n))) for n in ROBOT_COUNTS),
        "robots, same arena": fitted((n, swarm(n)) for n in ROBOT_COUNTS),
    }


def fitted(sweep: Iterable[tuple[int, Case]]) -> dict[str, Any]:
    """Return the median times (s) of a sweep on one core, and the exponent they grow with."""
    taken = {size: median(times(case, [1], 3)[1]) for size, case in sweep}
    exponent, _ = np.polyfit(np.log(list(taken)), np.log(list(taken.values())), 1)
    return {"times": taken, "exponent": float(exponent)}


def starting(quick: bool) -> dict[str, Any]:
    """Return times (s) to a first result in a new process, and peak memory (MB).

    The first has to compile the simulator, into an empty cache; the second finds it there.
    """
    with tempfile.TemporaryDirectory() as cache:
        cold = None if quick else process(FIRST_RESULT, QED_CACHE=cache)
        here = {} if quick else {"QED_CACHE": cache}
        warm = [process(FIRST_RESULT, **here) for _ in range(3)]
        batch = process(LARGE_BATCH, **here)
    return {
        "first_call": cold,
        "warm_process": {key: median(run[key] for run in warm) for key in warm[0]},
        "large_batch": batch,
    }


def process(program: str, **environment: str) -> dict[str, float]:
    """Run a program in a new Python; return its time (s) and peak memory (MB)."""
    begin = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | environment,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    unit = 1.0 if sys.platform == "darwin" else 1024.0  # bytes
    return {"seconds": perf_counter() - begin, "peak_mb": float(done.stdout) * unit / 1e6}


def report(quick: bool) -> dict[str, Any]:
    """Measure everything, print it, and return it."""
    here = machine()
    print(f"{here['cpu']}, {here['cores']} cores; speeds in million robot-steps/s\n")
    warm_up()
    found: dict[str, Any] = {"machine": here, "quick": quick}
    found["bar"] = bar(quick)
    found["grid"] = grid(quick)
    found["crowding"] = crowding()
    found["scaling"] = scaling(quick)
    found["starting"] = starting(quick)
    share = median(case["processor_share"] for case in found["bar"] + found["grid"])
    print(f"\n{'part of a core that a thread had (median)':52s}{share:7.2f}")
    for robots, apart in found["crowding"].items():
        print(f"{f'crowd of {robots}: mean distance to the nearest robot':52s}{apart:7.2f} m")
    for name, fit in found["scaling"].items():
        print(f"{f'time grows with {name}, to the power':52s}{fit['exponent']:7.2f}")
    for name, run in found["starting"].items():
        if run is not None:
            print(f"{STARTS[name]:52s}{run['seconds']:7.2f} s{run['peak_mb']:8.0f} MB")
    return found


def main() -> None:
    """Run the measurements from the command line."""
    parser = argparse.ArgumentParser(description="Measure the simulator's speed.")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter measurements")
    begin = perf_counter()
    found = report(parser.parse_args().quick)
    found["seconds"] = perf_counter() - begin
    target = HERE / "results" / "throughput.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(found, indent=1) + "\n")
    print(f"\nsaved {target} after {found['seconds']:.0f} s")


if __name__ == "__main__":
    main()
