"""Small runs of all algorithms on all tasks, to compare with the paper's.

    python benchmarks/small_runs.py [--evaluations 20000] [--trials 3] [--seconds 100]
                                    [--algorithms qed hbd ...] [--name small-runs]

Evolves each algorithm on each task once, and writes a table (docs/results/NAME.md), the curves
(docs/results/NAME.png) and all numbers (benchmarks/results/NAME.json); ``--redraw`` writes table
and curves from these numbers.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import qed
from qed import speed
from qed.evolution import Run, run_side_by_side
from qed.evolution.algorithms import ALGORITHMS
from qed.evolution.swarms import Swarms
from qed.streams import stream
from qed.swarm.backend import BACKENDS, chosen, described
from qed.swarm.tasks import TASKS

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "tests"))
import behaviours  # noqa: E402

DOCS = HERE.parent / "docs" / "results"
# Coverage after the paper's full budget, mean over its 25 maps of each algorithm.
PAPER_COVERAGE = {"qed": 4094, "hbd": 1091, "sdbc": 130, "spirit": 127}
# Which of its solutions is a run's best; the first runs did not re-evaluate theirs.
BEST = {
    False: "has the highest fitness in evolution",
    True: "has the highest fitness on ten selection trials in the normal environment, on which "
    "all its solutions are re-evaluated, as in the paper's protocol",
}
QED_ALONE = (
    "QED's best and mean fitness are over its environments, some of which are easier than the "
    "normal one, so they are not comparable with those of the other algorithms. "
)
# Okabe and Ito's colours, told apart by the colour-blind too.
COLOURS = {"qed": "#D55E00", "hbd": "#0072B2", "sdbc": "#009E73", "spirit": "#CC79A7"}


def evolve(tasks: list[str], algorithm: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the history of one run a task, side by side, and how long each took (s)."""
    runs = [
        Run(
            None,
            Swarms(
                task,
                algorithm,
                trials=options.trials,
                seconds=options.seconds,
                backend=options.backend,
            ),
            evaluations=options.evaluations,
        )
        for task in tasks
    ]
    begin = time.perf_counter()
    for _ in run_side_by_side(runs):
        pass
    seconds = (time.perf_counter() - begin) / len(runs)
    return [
        {
            "history": run.search.history,
            "checked": check(task, normal_best(run, options), options),
            "seconds": seconds,
            "coverage": len(run.search.archive),
            "best": run.search.archive.best.fitness,
            "mean": run.search.archive.mean,
        }
        for task, run in zip(tasks, runs, strict=True)
    ]


def normal_best(run: Run, options: argparse.Namespace) -> qed.Controller:
    """Return a run's best controller for the normal environment, on ten selection trials."""
    archive, own = run.search.archive, run.domain
    outcome = qed.simulate(
        archive.controllers,
        tasks=own.task,
        trials=10,
        seed=stream("choose: normal", own.task, own.algorithm, own.seed),
        backend=options.backend,
    )
    return archive.controllers[int(outcome.fitness[own.task].mean(axis=1).argmax())]


def check(task: str, controller: Any, options: argparse.Namespace) -> float:
    """Return a controller's fitness in the normal environment, on fresh trials.

    They are the same for all controllers of a task.
    """
    outcome = qed.simulate(
        controller, tasks=task, trials=20, seed=stream("fresh", task), backend=options.backend
    )
    return float(outcome.fitness[task].mean())


def table(found: dict[str, Any]) -> str:
    """Return the final numbers as a table in Markdown."""
    lines = [
        f"# {found['name'].replace('-', ' ').capitalize()}",
        "",
        f"One run per algorithm and task: {found['evaluations']:,} evaluations (the paper: "
        f"2,402,000), {found['trials']} trials (50) of {found['seconds']:g} s (400 s); "
        f"`benchmarks/small_runs.py` on {found['where']}, version {found['machine']['qed']}. "
        f"{QED_ALONE if 'qed' in found['algorithms'] else ''}Best fitness is given at the "
        "beginning (random controllers) and at the end.",
        "",
        "| algorithm | filled cells, paper | " + " | ".join(TASKS) + " |",
        "|---|---|" + "---|" * len(TASKS),
    ]
    for name in found["algorithms"]:
        cells = []
        for task in TASKS:
            run = found["runs"][f"{task} {name}"]
            first = run["history"][0][2]
            cells.append(
                f"{run['coverage']} cells, best {first:.3f} to {run['best']:.3f}, "
                f"mean {run['mean']:.3f}"
            )
        lines.append(f"| {name.upper()} | {PAPER_COVERAGE[name]} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "Fitness on 20 fresh trials of 400 s in the normal environment: the best controller of "
        "each run and, by hand, the best behaviour in `tests/behaviours.py`. A run's best "
        f"controller {BEST[found.get('reevaluated', False)]}.",
        "",
        "| | " + " | ".join(TASKS) + " |",
        "|---|" + "---|" * len(TASKS),
    ]
    for name in found["algorithms"]:
        tried = (f"{found['runs'][f'{task} {name}']['checked']:.3f}" for task in TASKS)
        lines.append(f"| {name.upper()} | " + " | ".join(tried) + " |")
    by_hand = (f"{found['by_hand'][task]:.3f}" for task in TASKS)
    lines.append("| by hand | " + " | ".join(by_hand) + " |")
    total = sum(run["seconds"] for run in found["runs"].values())
    lines += ["", f"The {len(found['runs'])} runs took {total / 60:.1f} minutes together.", ""]
    lines += [f"![Filled cells, best and mean fitness over evaluations]({found['name']}.png)", ""]
    return "\n".join(lines)


def draw(found: dict[str, Any], path: Path) -> None:
    """Draw coverage, best and mean fitness over evaluations, task by task."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 13})  # readable where the page is half as wide
    rows = (("cells filled", 1), ("best fitness", 2), ("mean fitness", 3))
    figure, grid = plt.subplots(
        len(rows), len(TASKS), figsize=(11.5, 7.2), sharex=True, layout="constrained"
    )
    for column, task in enumerate(TASKS):
        for row, (label, field) in enumerate(rows):
            axes = grid[row, column]
            for name in found["algorithms"]:
                history = np.array(found["runs"][f"{task} {name}"]["history"])
                axes.plot(history[:, 0] / 1000, history[:, field], color=COLOURS[name], lw=1.6)
            axes.spines[["top", "right"]].set_visible(False)
            if row == 0:
                axes.set_title(task, fontsize=13)
                axes.set_yscale("log")
            else:
                axes.locator_params(axis="y", nbins=4)
            if column == 0:
                axes.set_ylabel(label)
    for name in found["algorithms"]:
        grid[0, 0].plot([], [], color=COLOURS[name], label=name.upper(), lw=2.5)
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    figure.supxlabel("evaluations (thousands)", fontsize=13)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluations", type=int, default=20_000)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=100.0)
    parser.add_argument("--algorithms", nargs="+", default=list(ALGORITHMS), choices=ALGORITHMS)
    parser.add_argument("--backend", default="auto", choices=BACKENDS)
    parser.add_argument("--name", default="small-runs")
    parser.add_argument("--redraw", action="store_true", help="from the saved numbers")
    options = parser.parse_args()
    target = HERE / "results" / f"{options.name}.json"
    if options.redraw:
        found = json.loads(target.read_text())
    else:
        options.backend = chosen(options.backend)
        found = {"machine": speed.machine(), **vars(options), "runs": {}}
        found["reevaluated"] = True
        found["where"] = described(options.backend, speed.cores())
        hand = behaviours.BEST.items()
        found["by_hand"] = {task: check(task, swarm, options) for task, swarm in hand}
        groups = [list(TASKS)] if options.backend == "cuda" else [[task] for task in TASKS]
        for tasks, algorithm in product(groups, options.algorithms):
            for task, run in zip(tasks, evolve(tasks, algorithm, options), strict=True):
                found["runs"][f"{task} {algorithm}"] = run
                print(
                    f"{task:18s}{algorithm:8s}{run['coverage']:6d} cells  best {run['best']:.3f}  "
                    f"mean {run['mean']:.3f}  {run['seconds']:.0f} s",
                    flush=True,
                )
        target.write_text(json.dumps(found) + "\n")
    DOCS.mkdir(parents=True, exist_ok=True)
    (DOCS / f"{options.name}.md").write_text(table(found))
    draw(found, DOCS / f"{options.name}.png")


if __name__ == "__main__":
    main()
