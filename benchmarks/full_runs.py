"""Runs of the paper's full budget on a GPU, and their curves and numbers beside the paper's.

    python benchmarks/full_runs.py evolve FOLDER [--minutes 9]
    python benchmarks/full_runs.py report FOLDER [--faults 50] [--trials 10] [--fresh 50]
    python benchmarks/full_runs.py redraw
    python benchmarks/full_runs.py ship FOLDER

``evolve`` evolves QED and HBD side by side for so long, or until they end; called again, it goes
on with the runs in the folder.  ``report`` breaks robots, recovers, and writes
docs/results/full-runs.md, its figure, and all numbers as benchmarks/results/full-runs.json;
``redraw`` writes page and figure from these numbers.  ``ship`` makes the QED archive the example
that comes with the package.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, numpy 2.5 has it no more
    setattr(np, "row_stack", np.vstack)  # noqa: B010

import qed
from qed import paper, speed
from qed.archive import stored
from qed.evolution import Run, run_side_by_side
from qed.evolution.folder import ARCHIVE, CHECKPOINT, PROGRESS
from qed.evolution.swarms import Swarms
from qed.recovery.trials import streams
from qed.streams import evolution_trials, stream
from qed.swarm.backend import chosen, described

HERE = Path(__file__).parent
NUMBERS = HERE / "results" / "full-runs.json"
DOCS = HERE.parent / "docs" / "results"
TASK = "patrolling"
ALGORITHMS = ("qed", "hbd")
SITTINGS = "sittings.json"
BUDGET = 2_402_000
# Okabe and Ito's colours, told apart by the colour-blind too.
COLOURS = {"qed": "#D55E00", "hbd": "#0072B2"}


def evolve(folder: Path, minutes: float) -> None:
    """Evolve for so long, and note how far each run came."""
    engine = chosen("auto")
    runs = []
    for algorithm in ALGORITHMS:
        place = folder / algorithm
        swarms = Swarms(TASK, algorithm, backend=engine)
        resume = (place / "config.toml").exists()
        runs.append(Run(place, swarms, evaluations=2_402_000, resume=resume))
    before = [run.search.done for run in runs]
    begin = told = time.perf_counter()
    ended: dict[int, float] = {}
    steps = run_side_by_side(runs)
    for _ in steps:
        now = time.perf_counter()
        for k, run in enumerate(runs):
            if run.search.finished:
                ended.setdefault(k, now - begin)
        if now - told > 30.0:
            told = now
            print(
                f"{now - begin:5.0f} s", *(f"{r.search.statistics()[:4]}" for r in runs), flush=True
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
    print(*(f"{r.domain.algorithm}: {r.search.done:,} evaluations" for r in runs), sep="\n")


def standing(run: Run) -> str:
    """Return in words how far a run is."""
    done, filled, best, mean, _ = run.search.statistics()
    name = run.domain.algorithm
    return f"{name} {done:,.0f} done, {filled:.0f} cells, best {best:.3f}, mean {mean:.3f};"


def archive_of(folder: Path) -> qed.Archive:
    """Return a run's archive, or that of its last checkpoint."""
    there = [folder / name for name in (ARCHIVE, CHECKPOINT) if (folder / name).exists()]
    return qed.Archive.load(there[0])


def recovered(
    algorithm: str, archive: qed.Archive, faults: int, trials: int, fresh: int
) -> dict[str, Any]:
    """Return how an archive does in the normal environment, and after combined faults.

    Selected controllers are measured on fresh trials; what is claimed is from selection trials.
    """
    seed = stream("recovery", TASK, algorithm, 1)
    print(f"{algorithm}: {len(archive):,} controllers, {faults} combined faults", flush=True)
    again = qed.simulate(archive.controllers, tasks=TASK, trials=trials, seed=streams(seed).normal)
    normal = again.fitness[TASK].mean(1)
    broken = [qed.Faults.sample(10, seed=stream("fault", 1, k)) for k in range(faults)]
    found = qed.recover(archive, TASK, broken, trials=trials, fresh=fresh, seed=seed)
    lists = ("impact", "resilience", "performance", "claimed_resilience", "claimed")
    return {
        "best": found[0].normal,
        "claimed_best": float(normal.max()),
        "average": float(normal.mean()),
        **{name: [getattr(one, name) for one in found] for name in lists},
    }


def again_on_the_cpu(algorithm: str, archive: qed.Archive, count: int = 250) -> dict[str, float]:
    """Evaluate some elites again on the CPU, as they were in evolution; return how they differ.

    Elites are selected for high fitness, so they do a little worse when they are evaluated again.
    """
    chance = np.random.default_rng(1)
    cells = np.sort(chance.choice(archive.occupied, count, replace=False))
    environments = [
        qed.Environment.from_options(archive.measures[cell]) if algorithm == "qed" else None
        for cell in cells
    ]
    normal = qed.Environment()
    outcome = qed.simulate(
        archive.take(cells).controllers(),
        [environment or normal for environment in environments],
        tasks=TASK,
        seed=evolution_trials(archive.header),
        backend="cpu",
    ).fitness[TASK]
    off = outcome.mean(1) - archive.objective[cells]
    error = np.sqrt(2 * outcome.var(1, ddof=1) / outcome.shape[1])
    return {
        "count": count,
        "off": float(off.mean()),
        "off_error": float(off.std(ddof=1) / np.sqrt(count)),
        "largest_z": float(np.abs(off / np.maximum(error, 1e-9)).max()),
    }


def report(folder: Path, faults: int, trials: int, fresh: int) -> None:
    """Measure the archives, and write numbers, page and figure."""
    sittings = json.loads((folder / SITTINGS).read_text())
    runs: dict[str, Any] = {}
    for k, algorithm in enumerate(ALGORITHMS):
        archive = archive_of(folder / algorithm)
        with (folder / algorithm / PROGRESS).open() as lines:
            curve = [[float(x) for x in row] for row in list(csv.reader(lines))[1:]]
        runs[algorithm] = {
            "evaluations": sum(sitting["evaluations"][k] for sitting in sittings),
            "seconds": sum(sitting["seconds"][k] for sitting in sittings),
            "coverage": len(archive),
            "curve": curve,
            "cpu": again_on_the_cpu(algorithm, archive),
            **recovered(algorithm, archive, faults, trials, fresh),
        }
    found = {"on": sittings[0]["on"], "faults": faults, "trials": trials, "fresh": fresh}
    found |= {"version": speed.machine()["qed"], "runs": runs}
    NUMBERS.write_text(json.dumps(found) + "\n")
    redraw()


def redraw() -> None:
    """Write page and figure from the numbers."""
    found = json.loads(NUMBERS.read_text())
    (DOCS / "full-runs.md").write_text(table(found))
    draw(found["runs"], DOCS / "full-runs.png")


def protocol(found: dict[str, Any]) -> str:
    """Tell on which trials controllers are measured; the first runs had no fresh ones."""
    if "fresh" not in found:
        return (
            f"As in the paper's protocol, controllers are measured on the {found['trials']} trials "
            "on which they are selected. "
        )
    return (
        f"Controllers are selected on {found['trials']} trials, independent of those of evolution, "
        f"and measured on {found['fresh']} fresh trials; the last two rows are of the selection "
        "trials, as in the paper's protocol. "
    )


def table(found: dict[str, Any]) -> str:
    """Return the final numbers beside the paper's, as a table in Markdown."""
    runs = found["runs"]
    largest = max(run["best"] for run in runs.values())
    version = (
        f"version {found['version']}"
        if "version" in found
        else "an earlier version, whose contacts were less exact and which was faster"
    )
    lines = [
        "# Runs of the full budget",
        "",
        f"One run each of {' and '.join(name.upper() for name in ALGORITHMS)} at {TASK}, with the "
        "paper's budget: 2,000 random controllers and 30,000 generations of 80, 50 trials of "
        f"400 s. They ran side by side on one {found['on']} until one had ended, and were resumed "
        "from checkpoints several times (`benchmarks/full_runs.py`, data in "
        "`benchmarks/results/full-runs.json`), with "
        f"{version}.",
        "",
        "Performance is fitness in the normal environment, as a fraction of the best found here "
        f"({largest:.3f}; the paper: of the best of its 20 runs). {protocol(found)}"
        "Impact, resilience and recovered performance are medians "
        f"over {found['faults']} combined faults (the paper: 250; its impact is over all tasks).",
        "",
        "| | " + " | ".join(f"{name.upper()} | paper" for name in ALGORITHMS) + " |",
        "|---|" + "---|---|" * len(ALGORITHMS),
    ]
    rows: list[tuple[str, Any, tuple[str, str] | None, str]] = [
        ("evaluations", lambda run: run["evaluations"], None, "{:,.0f}"),
        ("minutes on the GPU, compiling included", lambda run: run["seconds"] / 60, None, "{:.1f}"),
        ("filled cells", lambda run: run["coverage"], ("coverage, cells", paper.ALL), "{:.0f}"),
        ("best performance", lambda run: run["best"] / largest, ("best performance", TASK), ""),
        (
            "average performance",
            lambda run: run["average"] / largest,
            ("average performance", TASK),
            "",
        ),
        ("impact", lambda run: median(run["impact"]), ("impact", paper.ALL), ""),
        ("resilience", lambda run: median(run["resilience"]), ("resilience", TASK), ""),
        (
            "recovered performance",
            lambda run: median(run["performance"]) / largest,
            ("recovered performance", TASK),
            "",
        ),
    ]
    if "fresh" in found:
        claimed_largest = max(run["claimed_best"] for run in runs.values())
        rows += [
            (
                "resilience on selection trials",
                lambda run: median(run["claimed_resilience"]),
                ("resilience", TASK),
                "",
            ),
            (
                "recovered performance on selection trials",
                lambda run: median(run["claimed"]) / claimed_largest,
                ("recovered performance", TASK),
                "",
            ),
        ]
    for name, ours, theirs, form in rows:
        cells = []
        for algorithm in ALGORITHMS:
            told = paper.value(*theirs, algorithm) if theirs else None
            cells.append((form or "{:.2f}").format(ours(runs[algorithm])))
            cells.append((form or "{:.2f}").format(told[0]) if told else "")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    checks = "; ".join(
        f"{name.upper()} {run['cpu']['off']:+.5f} ± {run['cpu']['off_error']:.5f} (largest z "
        f"{run['cpu']['largest_z']:.1f})"
        for name, run in runs.items()
    )
    lines += [
        "",
        f"{runs['qed']['cpu']['count']} elites of each map were re-evaluated on the CPU, in their "
        f"own environments, on the trials of their evolution. Mean difference: {checks}. "
        "Elites are selected for high fitness, so a small decrease is expected (selection bias).",
    ]
    if any(run["evaluations"] < BUDGET for run in runs.values()):
        lines += ["", "**The runs have not used their whole budget yet.**"]
    return "\n".join([*lines, "", "![Cells and fitness over evaluations](full-runs.png)"]) + "\n"


def draw(runs: dict[str, Any], path: Path) -> None:
    """Draw cells, best and mean fitness over evaluations."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 11.5})
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 4), layout="constrained")
    for name, run in runs.items():
        done, cells, best, mean, _ = zip(*run["curve"], strict=True)
        look: dict[str, Any] = {"c": COLOURS[name]}
        left.plot(done, cells, label=f"{name.upper()}", **look)
        right.plot(done, best, label=f"{name.upper()}, best of all cells", **look)
        right.plot(done, mean, "--", label=f"{name.upper()}, mean of the archive", **look)
        told = paper.value("coverage, cells", algorithm=name)
        if told:
            left.plot([BUDGET], [told[0]], "o", mfc="none", **look)
    left.plot([], [], "o", mfc="none", c="0.3", label="the paper, all tasks")
    left.set_ylabel("cells filled (of 4,096)")
    right.set_ylabel("fitness in evolution")
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xlabel("evaluations")
        axes.set_ylim(0)
        axes.set_xlim(right=1.3 * BUDGET)
        axes.legend(frameon=False, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=180)


def ship(folder: Path) -> None:
    """Make the QED archive the example that comes with the package."""
    archive = archive_of(folder / "qed")
    if "state" in archive.header:
        archive.header["state"].pop("history")
    plain = folder / "example.npz"
    archive.save(plain)
    path = stored.FOLDER / f"{TASK}{stored.ENDING}"
    path.write_bytes(gzip.compress(plain.read_bytes(), 9, mtime=0))
    plain.unlink()
    print(f"{path}: {path.stat().st_size:,} bytes")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("evolve", "report", "redraw", "ship"))
    parser.add_argument("folder", type=Path, nargs="?", help="of the runs; redraw needs none")
    parser.add_argument("--minutes", type=float, default=1e6, help="stop evolving after so long")
    parser.add_argument("--faults", type=int, default=50, help="combined faults of the report")
    parser.add_argument("--trials", type=int, default=10, help="of a controller in the report")
    parser.add_argument("--fresh", type=int, default=50, help="of selected controllers")
    options = parser.parse_args()
    if options.what == "redraw":
        redraw()
        return
    if options.folder is None:
        parser.error(f"{options.what} needs the folder of the runs")
    if options.what == "evolve":
        options.folder.mkdir(parents=True, exist_ok=True)
        evolve(options.folder, options.minutes)
    elif options.what == "report":
        report(options.folder, options.faults, options.trials, options.fresh)
    else:
        ship(options.folder)


if __name__ == "__main__":
    main()
