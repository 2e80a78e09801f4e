"""Compare the GPU engine with the CPU's, and measure its speed.

    python benchmarks/gpu.py [--quick] [--keep-parity]

Prints a short table and saves all numbers as benchmarks/results/gpu.json, with the figure
docs/results/gpu.png.  A robot-step is one control cycle of one robot.
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
from qed.evolution.run import Run, Settings, drive
from qed.swarm.cuda import available, engine, packing
from qed.swarm.simulate import Job, checked, perform
from qed.swarm.tasks import TASKS

HERE = Path(__file__).parent
NETWORKS = speed.random_networks(1600)
BUDGET = 2_000 + 30_000 * 80  # evaluations of a run in the paper


def job(count: int, environment: Any = None, trials: int = 50, seconds: float = 400.0) -> Job:
    """Return random networks in an environment, or in one each."""
    return checked(
        NETWORKS[:count], environment, trials=trials, seconds=seconds, seed=1, faults=None,
        start=None, noise=0.05,
    )  # fmt: skip


def parity() -> list[dict[str, Any]]:
    """Compare fitness of 100 random controllers, task by task, and short runs."""
    rows = []
    for name in TASKS:
        both = [
            perform(job(100, trials=20, seconds=100.0), [name], [], speed.cores(), None, backend)
            for backend in ("cuda", "cpu")
        ]
        gpu, cpu = (outcome.fitness[name] for outcome in both)
        off = gpu.mean(1) - cpu.mean(1)
        error = np.sqrt((gpu.var(1, ddof=1) + cpu.var(1, ddof=1)) / gpu.shape[1])
        short = [
            perform(job(100, trials=20, seconds=4.0), [name], [], speed.cores(), None, backend)
            for backend in ("cuda", "cpu")
        ]
        apart = np.abs(short[0].fitness[name] - short[1].fitness[name])
        rows.append(
            {
                "task": name,
                "bias": float(off.mean()),
                "bias_error": float(off.std(ddof=1) / 10),
                "largest": float(np.abs(off).max()),
                "largest_z": float(np.abs(off / np.maximum(error, 1e-9)).max()),
                "after_4_s": float(apart.max()),
            }
        )
        print(
            f"{name:18s} bias {off.mean():+.5f}, largest of 100 {np.abs(off).max():.4f} "
            f"(z {rows[-1]['largest_z']:.2f}), after 4 s {apart.max():.1e}",
            flush=True,
        )
    return rows


def throughput(quick: bool) -> list[dict[str, Any]]:
    """Measure launches: kernel, memory and transfers, without packing."""
    normal = qed.Environment()
    cases: list[tuple[str, int, Any, Sequence[str]]] = [
        ("10 robots", count, normal, ["patrol"]) for count in (20, 80, 160, 400, 800, 1600)
    ]
    cases += [(f"{n} robots", 400, qed.Environment(robots=n), ["patrol"]) for n in (5, 15, 20, 30)]
    cases += [
        ("20 robots", 80, qed.Environment(robots=20), ["patrol"]),
        ("2 obstacles", 400, qed.Environment(obstacles=2), ["patrol"]),
        ("QED's environments", 80, qed.Environment.sample(80), ["patrol"]),
        ("QED's environments", 400, qed.Environment.sample(400), ["patrol"]),
    ]
    cases += [(f"with {name}", 400, normal, ["patrol", name]) for name in ("hbd", "sdbc", "spirit")]
    rows = []
    for label, count, env, sums in cases[:: 4 if quick else 1]:
        whole = job(count, env)
        wants = sum({engine.WANTS[name] for name in sums})
        begin = time.perf_counter()
        tables = packing.packed(whole, slice(0, count), engine._ground, "spirit" in sums)
        packed = time.perf_counter() - begin
        engine.launch(tables, engine._ground, wants, 5)
        walls = []
        for _ in range(3):
            begin = time.perf_counter()
            engine.launch(tables, engine._ground, wants, whole.cycles)
            walls.append(time.perf_counter() - begin)
        steps = sum(env.robots for env in whole.environments) * whole.trials * whole.cycles
        rate = steps / median(walls)
        rows.append(
            {"case": label, "controllers": count, "robots": whole.environments[0].robots,
             "speed": rate, "seconds": walls, "packing": packed}
        )  # fmt: skip
        print(f"{label:20s}{count:5d} x 50 trials {rate / 1e9:6.2f} G/s", flush=True)
    return rows


def evolution(seconds: float) -> list[dict[str, Any]]:
    """Evolve for so long, alone and five side by side, and say how long a whole run would take."""
    rows = []
    for algorithm, count in (("hbd", 1), ("hbd", 5), ("spirit", 5), ("qed", 1), ("qed", 5)):
        runs = [
            Run(Settings("patrolling", algorithm, seed=k + 1), backend="cuda") for k in range(count)
        ]
        steps = drive(runs)
        for _ in range(30):  # the random ones, and a few generations
            next(steps)
        before = sum(run.search.done for run in runs)
        begin = time.perf_counter()
        while time.perf_counter() - begin < seconds:
            next(steps)
        rate = (sum(run.search.done for run in runs) - before) / (time.perf_counter() - begin)
        rows.append({"algorithm": algorithm, "side_by_side": count, "evaluations": rate})
        print(
            f"{algorithm:8s}{count} side by side: {rate:7.0f} evaluations/s, "
            f"a run of the paper {BUDGET / rate / 60:.1f} min each",
            flush=True,
        )
    return rows


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw speed over controllers, and over robots."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    by_count = [row for row in rows if row["case"] == "10 robots"]
    left.plot(
        [r["controllers"] for r in by_count],
        [r["speed"] / 1e9 for r in by_count],
        "o-",
        c="#0072B2",
    )
    left.set_xscale("log")
    left.set_xticks([20, 80, 400, 1600], ["20", "80", "400", "1600"])
    left.set_xlabel("controllers in a launch (x 50 trials x 10 robots)")
    by_robots = sorted(
        (r["robots"], r["speed"] / 1e9)
        for r in rows
        if r["case"].endswith("robots") and r["controllers"] == 400
    )
    right.plot(*zip(*by_robots, strict=True), "s-", c="#D55E00")
    right.set_xlabel("robots in a swarm (400 controllers x 50 trials)")
    for axes in (left, right):
        axes.set_ylabel("billion robot-steps/s")
        axes.set_ylim(0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=140)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer cases, shorter")
    parser.add_argument("--keep-parity", action="store_true", help="as it was measured before")
    parser.add_argument("--seconds", type=float, default=12.0, help="of each evolution")
    options = parser.parse_args()
    if problem := available.problem():
        raise SystemExit(f"no GPU can be used here: {problem}")
    target = HERE / "results" / "gpu.json"
    known = json.loads(target.read_text())["parity"] if options.keep_parity else parity()
    found = {"gpu": available.name(), "machine": speed.machine(), "parity": known}
    found["throughput"] = throughput(options.quick)
    found["evolution"] = evolution(2.0 if options.quick else options.seconds)
    target.write_text(json.dumps(found, indent=1) + "\n")
    if not options.quick:
        draw(found["throughput"], HERE.parent / "docs" / "results" / "gpu.png")


if __name__ == "__main__":
    main()
