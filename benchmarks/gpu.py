"""Compare the GPU engine with the CPU's, and measure its speed.

    python benchmarks/gpu.py [--quick] [--parts around throughput evolution parity switch laws]

Prints short tables and saves all numbers as benchmarks/results/gpu.json, with the figure
docs/results/gpu.png, which is drawn from the part throughput.  Each part is saved as soon as it is
measured, with a digest of the code it measured; parts that are not asked for stay as they were.  A
robot-step is one control cycle of one robot.  All parts take about four minutes on an H200, of
which a quarter is for kernels that are compiled first, several at once.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, numpy 2.5 has it no more
    setattr(np, "row_stack", np.vstack)  # noqa: B010

import around as around_kernel
import law_parity

import qed
from qed import compile as compiling
from qed import speed
from qed.evolution import Run, run_side_by_side
from qed.evolution.swarms import Swarms
from qed.swarm.backend import gpu_name, problem
from qed.swarm.cpu import engine as cpu
from qed.swarm.cuda import engine, packing
from qed.swarm.cuda.workspace import Workspace
from qed.swarm.job import Job, checked
from qed.swarm.measures import wanted
from qed.swarm.simulate import Pending
from qed.swarm.tasks import TASKS

HERE = Path(__file__).parent
NETWORKS = speed.random_networks(1600)
BUDGET = 2_000 + 30_000 * 80  # evaluations of a run in the paper
INITIAL = 400  # random controllers that an evolution begins with
LONG_ENOUGH = 1.0  # s of launches; longer ones are not measured again
# What the kernels of all parts add up, and whether there are obstacles.
KERNELS: tuple[tuple[tuple[str, ...], bool], ...] = (
    (("patrol",), False),
    (("patrol",), True),
    (("patrol", "spread"), False),
    (("patrol", "sdbc"), False),
    (("patrol", "spirit"), False),
    (tuple(task.sums for task in TASKS.values()), False),
)


def job(count: int, environment: Any = None, trials: int = 50, seconds: float = 400.0) -> Job:
    """Return random networks in an environment, or in one each."""
    return checked(
        NETWORKS[:count], environment, trials=trials, seconds=seconds, seed=1, faults=None,
        start=None, noise=0.05,
    )  # fmt: skip


def laws(quick: bool) -> list[dict[str, Any]]:
    """Compare every law on both engines."""
    rows = law_parity.compare(samples=10_000 if quick else 100_000)
    print(*(law_parity.printed(row) for row in rows if not row["within"]), sep="\n")
    print(f"{sum(row['within'] for row in rows)} of {len(rows)} laws agree", flush=True)
    return rows


def parity(quick: bool) -> list[dict[str, Any]]:
    """Compare fitness of 100 random controllers, task by task, and short runs.

    Twenty trials each: 100 s, and 4 s, after which chaos has not come far.
    """
    names = list(TASKS)

    def both(seconds: float) -> list[Any]:
        given = job(20 if quick else 100, trials=20, seconds=seconds)
        return [
            Pending(given, names, [], speed.cores(), None, backend).outcome().fitness
            for backend in ("cuda", "cpu")
        ]

    long, short = both(100.0), both(4.0)
    rows = []
    for name in names:
        gpu, cpu = (fitness[name] for fitness in long)
        off = gpu.mean(1) - cpu.mean(1)
        error = np.sqrt((gpu.var(1, ddof=1) + cpu.var(1, ddof=1)) / gpu.shape[1])
        apart = np.abs(short[0][name] - short[1][name])
        rows.append(
            {
                "task": name,
                "bias": float(off.mean()),
                "bias_error": float(off.std(ddof=1) / np.sqrt(len(off))),
                "largest": float(np.abs(off).max()),
                "largest_z": float(np.abs(off / np.maximum(error, 1e-9)).max()),
                "after_4_s": float(apart.max()),
            }
        )
        print(
            f"{name:18s} bias {off.mean():+.5f} +- {rows[-1]['bias_error']:.5f}, largest "
            f"{np.abs(off).max():.4f} (z {rows[-1]['largest_z']:.2f}), after 4 s "
            f"{apart.max():.1e}",
            flush=True,
        )
    return rows


def switch(quick: bool) -> dict[str, Any]:
    """Evolve on the CPU, go on with the GPU and again with the CPU, from checkpoints."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, backend in enumerate(("cpu", "cuda", "cpu")):
            swarms = Swarms("patrolling", "qed", trials=3, seconds=60.0, backend=backend)
            run = Run(Path(folder) / "run", swarms, evaluations=960, initial=320, resume=number > 0)
            steps = run_side_by_side([run])
            for _ in range(4):
                next(steps)
            steps.close()
            found.append({"backend": backend, "evaluations": run.search.done})
    print(*(f"{row['backend']} to {row['evaluations']}" for row in found), sep=", ", flush=True)
    return {"stages": found, "finished": run.search.finished}


def throughput(quick: bool) -> list[dict[str, Any]]:
    """Measure launches: kernel, memory and transfers, without packing.

    Short ones are measured three times, and the median counts.
    """
    normal = qed.Environment()
    cases: list[tuple[str, int, Any, Sequence[str]]] = [
        ("10 robots", count, normal, ["patrol"]) for count in (20, 80, 160, 400, 800, 1600)
    ]
    cases += [(f"{n} robots", 400, qed.Environment(robots=n), ["patrol"]) for n in (5, 15, 20, 30)]
    cases += [
        ("20 robots", 80, qed.Environment(robots=20), ["patrol"]),
        ("2 obstacles", 400, qed.Environment(obstacles=2), ["patrol"]),
        ("QED's environments", 80, qed.Environment.sample(80, seed=0), ["patrol"]),
        ("QED's environments", 400, qed.Environment.sample(400, seed=0), ["patrol"]),
    ]
    cases += [
        (f"with {name}", 400, normal, ["patrol", name]) for name in ("spread", "sdbc", "spirit")
    ]
    rows = []
    workspace = Workspace()
    for label, count, env, sums in cases[:: 4 if quick else 1]:
        whole = job(count, env)
        wants = wanted(sums)
        begin = time.perf_counter()
        tables = packing.packed(whole, slice(0, count), engine._starts, wants.all_inputs)
        packed = time.perf_counter() - begin
        engine.launch(workspace, tables, engine._starts, wants, 5).fetch()
        walls: list[float] = []
        while len(walls) < 3 and sum(walls) < LONG_ENOUGH:
            begin = time.perf_counter()
            engine.launch(workspace, tables, engine._starts, wants, whole.cycles).fetch()
            walls.append(time.perf_counter() - begin)
        steps = sum(env.robots for env in whole.environments) * whole.trials * whole.cycles
        rate = steps / median(walls)
        rows.append(
            {"case": label, "controllers": count, "robots": whole.environments[0].robots,
             "speed": rate, "seconds": walls, "packing": packed}
        )  # fmt: skip
        print(f"{label:20s}{count:5d} x 50 trials {rate / 1e9:6.2f} G/s", flush=True)
    return rows


def evolution(quick: bool) -> list[dict[str, Any]]:
    """Evolve for a while, alone and side by side, and say how long a whole run would take.

    Runs are young: of the random controllers they begin with, and some children.  QED's are also
    taken up where a whole run ended, with the archive that comes with QED.
    """
    rows = []
    kinds = [("hbd", 1, False), ("hbd", 5, False), ("sdbc", 5, False), ("spirit", 5, False)]
    kinds += [("qed", count, evolved) for evolved in (False, True) for count in (1, 5)]
    for algorithm, count, evolved in kinds[:: 4 if quick else 1]:
        # Below the size from which on centroids are those of a full run: the cells are no
        # fewer, and nobody waits for k-means.
        runs = [
            Run(
                None,
                Swarms("patrolling", algorithm, seed=k + 1, backend="cuda"),
                evaluations=49_999,
                initial=INITIAL,
            )
            for k in range(count)
        ]
        for run in runs if evolved else ():
            run.search.archive = qed.load_example("patrolling")
            run.search.done = run.search.initial
        steps = run_side_by_side(runs)
        while min(run.search.done for run in runs) < INITIAL + 2 * 80:
            next(steps)
        before = sum(run.search.done for run in runs)
        begin = time.perf_counter()
        while time.perf_counter() - begin < (1.0 if quick else 3.0):
            next(steps)
        rate = (sum(run.search.done for run in runs) - before) / (time.perf_counter() - begin)
        rows.append(
            {"algorithm": algorithm, "side_by_side": count, "evolved": evolved,
             "evaluations": rate}
        )  # fmt: skip
        print(
            f"{algorithm:8s}{count} side by side, {'evolved' if evolved else 'young':8s}"
            f"{rate:7.0f} evaluations/s, a run of the paper {BUDGET / rate / 60:.1f} min each",
            flush=True,
        )
    return rows


def around(quick: bool) -> list[dict[str, Any]]:
    """Measure ``qed.simulate`` from call to result, its kernel, and what the host does around it.

    Controllers and seed are new in each call, as if nothing were known of them.
    """
    mix = qed.Environment.sample(400, seed=0)
    rows = []
    print(around_kernel.HEADING)
    for seconds in (60.0, 400.0):
        for label, count, where in (
            ("10 robots", 80, None),
            ("10 robots", 400, None),
            ("10 robots", 1600, None),
            ("QED's environments", 400, mix),
        ):
            if quick and (seconds > 60.0 or count > 400):
                continue
            row = around_kernel.measured(NETWORKS[:count], where, seconds=seconds)
            rows.append({"case": label, "controllers": count, "trial_s": seconds, **row})
            print(around_kernel.printed(rows[-1]), flush=True)
    return rows


def compiled(sums: tuple[str, ...], obstacles: bool) -> None:
    """Compile a kernel, and with the first the CPU's engine, by simulating one cycle."""
    tiny = job(1, qed.Environment(obstacles=2 if obstacles else 0), trials=1, seconds=0.2)
    engine.simulate(tiny, sums)
    if (sums, obstacles) == KERNELS[0]:
        cpu.simulate(tiny, sums, 1, None)


def compile_all() -> None:
    """Compile the kernels of all parts, several at once; their code is kept in the cache."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(len(KERNELS), speed.cores()), mp_context=spawn) as pool:
        list(pool.map(compiled, *zip(*KERNELS, strict=True)))


PARTS: dict[str, Callable[[bool], Any]] = {
    "around": around,
    "throughput": throughput,
    "evolution": evolution,
    "parity": parity,
    "switch": switch,
    "laws": laws,
}


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw speed over controllers, and over robots."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 11.5})
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.7), layout="constrained")
    by_count = [row for row in rows if row["case"] == "10 robots"]
    left.plot(
        [r["controllers"] for r in by_count],
        [r["speed"] / 1e9 for r in by_count],
        "o-",
        c="#0072B2",
    )
    left.set_xscale("log")
    left.set_xticks([20, 80, 400, 1600], ["20", "80", "400", "1600"])
    left.set_xlabel("controllers (50 trials, 10 robots)")
    by_robots = sorted(
        (r["robots"], r["speed"] / 1e9)
        for r in rows
        if r["case"].endswith("robots") and r["controllers"] == 400
    )
    right.plot(*zip(*by_robots, strict=True), "s-", c="#D55E00")
    right.set_xlabel("robots (400 controllers, 50 trials)")
    for axes in (left, right):
        axes.set_ylabel("robot-steps/s ($10^9$)")
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=180)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer cases, shorter; not saved")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    if why := problem():
        raise SystemExit(f"no GPU can be used here: {why}")
    target = HERE / "results" / "gpu.json"
    code = compiling.digest(Path(engine.__file__).parents[1])
    began = time.perf_counter()
    if set(options.parts) - {"laws"}:
        compile_all()
        print(f"kernels compiled in {time.perf_counter() - began:.0f} s", flush=True)
    for part in options.parts:
        begin = time.perf_counter()
        print(f"\n{part}", flush=True)
        found = PARTS[part](options.quick)
        now = time.perf_counter()
        print(f"{part}: {now - begin:.0f} s, {now - began:.0f} s in all", flush=True)
        if options.quick:
            continue
        known = json.loads(target.read_text()) if target.exists() else {}
        known[part] = {
            "gpu": gpu_name(), "machine": speed.machine(), "code": code, "found": found
        }  # fmt: skip
        target.write_text(json.dumps(known, indent=1) + "\n")
        if part == "throughput":
            draw(found, HERE.parent / "docs" / "results" / "gpu.png")


if __name__ == "__main__":
    main()
