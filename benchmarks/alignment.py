"""How much of the fitness descriptors tell, and so whether one is aligned with fitness.

    python benchmarks/alignment.py [--controllers 600] [--minutes 9]
    python benchmarks/alignment.py --page

Of the archives of QED that come with it: describes controllers in the normal environment, and
predicts the fitness of each, on other trials, by that of its five nearest neighbours in the space
of a descriptor.  Also compares what follows from positions, HBD and SDBC's distances, in swarms
recorded in ARGoS and here.  Goes on where it was stopped, task by task; rows go to
benchmarks/results/alignment.json, from which docs/results/alignment.md is written.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import recordings

import qed
from qed import speed
from qed.descriptors import HBD, hbd, sdbc, spirit
from qed.streams import stream
from qed.study.blocks import listed, markdown_row, minus
from qed.study.by_map import with_limits
from qed.study.statistics import interval, pearson
from qed.swarm.backend import chosen, described
from qed.swarm.laws.scoring import FINE_CELL, fine_side
from qed.swarm.robot import CYCLE
from qed.swarm.tasks import TASKS

NUMBERS = Path(__file__).with_name("results") / "alignment.json"
PAGE = Path(__file__).parent.parent / "docs" / "results" / "alignment.md"
RECORDED = Path(__file__).parent.parent / "tests" / "data" / "argos"
NEIGHBOURS = 5
TRIALS, SECONDS = 2, 400.0
DESCRIBED = {
    "hbd": hbd,
    "sdbc": sdbc,
    "spirit": lambda outcome, _: spirit(outcome),
}


def by_neighbours(places: np.ndarray, fitness: np.ndarray) -> float:
    """Return the part of the variance of fitness that neighbours tell; below 0: less than nothing.

    Each one's own fitness takes no part in its prediction.
    """
    squares = (places**2).sum(1)
    apart = squares[:, None] + squares - 2.0 * places @ places.T
    np.fill_diagonal(apart, np.inf)
    near = np.argpartition(apart, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
    wrong = fitness - fitness[near].mean(1)
    return float(1.0 - (wrong**2).mean() / fitness.var())


def measured(task: str, count: int) -> dict[str, Any]:
    """Return what descriptors tell of the fitness of some controllers of an archive."""
    archive = qed.load_example(task)
    chance = np.random.default_rng(stream("descriptors", task))
    some = np.sort(chance.choice(len(archive), min(count, len(archive)), replace=False))
    networks = archive.genomes().take(some).controllers()
    home = qed.Environment()
    how: dict[str, Any] = {"tasks": task, "trials": TRIALS, "seconds": SECONDS}
    seeds = (stream("descriptors", name, task) for name in ("behaviour", "fitness"))
    seen = qed.simulate(networks, home, **how, seed=next(seeds), descriptors=[*DESCRIBED])
    fitness = qed.simulate(networks, home, **how, seed=next(seeds)).fitness[task].mean(1)
    row: dict[str, Any] = {"task": task, "controllers": len(some)}
    row["trials"] = pearson(seen.fitness[task].mean(1), fitness) ** 2
    for name, describe in DESCRIBED.items():
        places = describe(seen, [home] * len(some))
        row[name] = by_neighbours(places, fitness)
        if name == "hbd":
            row["features"] = {
                feature: pearson(column, fitness)
                for feature, column in zip(HBD, places.T, strict=True)
            }
    row["made"] = {**speed.machine(), "on": described(chosen("auto"), speed.cores())}
    return row


def of_positions(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return HBD's features and SDBC's mean distances (m) of a swarm's positions, (cycles, robots).

    In the normal environment.
    """
    side = qed.Environment().arena
    cells = np.floor(x / FINE_CELL).astype(int) * fine_side(side) + np.floor(y / FINE_CELL).astype(
        int
    )
    visits = np.unique(cells, return_counts=True)[1] / cells.size
    away = np.hypot(x - side / 2, y - side / 2).mean() / (side * math.sqrt(0.5))
    apart = np.hypot(x[:, :, None] - x[:, None], y[:, :, None] - y[:, None])
    robots = x.shape[1]
    others = apart + np.where(np.eye(robots, dtype=bool), np.inf, 0.0)
    count = len(visits)
    return {
        "uniformity": float(1 - 1 / count - np.abs(visits - 1 / count).sum() / 2),
        "deviation": float(away),
        "coverage": count / fine_side(side) ** 2,
        "distance": float(apart.sum() / (len(x) * robots * (robots - 1))),
        "nearest": float(others.min(2).mean()),
    }


def recorded() -> list[dict[str, Any]]:
    """Return the same of each recorded swarm of the normal environment, in ARGoS and here."""
    known, rows = recordings.controllers(RECORDED), []
    for path in sorted((RECORDED / "traj").glob("*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        if name not in known:  # another environment
            continue
        table = recordings.read(path)
        x, y = np.moveaxis(recordings.stack(table, ["x", "y"]), -1, 0)
        here = qed.trace(
            known[name], qed.Environment(), seconds=len(x) * CYCLE, noise=0.0,
            start=qed.Start(recordings.begin(table)),
        )  # fmt: skip
        rows.append(
            {"name": name, "argos": of_positions(x, y), "ours": of_positions(here.x, here.y)}
        )
    return rows


def page(found: dict[str, Any]) -> str:
    """Return the page."""
    swarms = found["recorded"]
    features = list(swarms[0]["argos"])
    lines = [markdown_row(["swarm", *features]), markdown_row(["---"] * (1 + len(features)))]
    for swarm in swarms:
        pairs = [f"{swarm['ours'][one]:.3f} ({swarm['argos'][one]:.3f})" for one in features]
        lines.append(markdown_row([f"`{swarm['name']}`", *pairs]))
    most = [max(abs(one["ours"][name] - one["argos"][name]) for one in swarms) for name in features]
    lines.append(markdown_row(["largest difference", *(f"{number:.3f}" for number in most)]))
    return _aligned(found["archives"]) + minus(
        "\n\n".join(
            [
                "\n# Are they the same in ARGoS?",
                "What follows from positions, here and (in brackets) in ARGoS, of "
                f"{len(swarms)} recorded swarms from the same start, without noise, 50 s: HBD's "
                "features, and SDBC's mean distance of pairs and to the nearest robot (m). SDBC's "
                "speeds and turns are not compared here, and SPIRIT's inputs were not recorded "
                "(single readings are compared in [fidelity](fidelity.md)).",
                "\n".join(lines),
            ]
        )
        + "\n"
    )


def _aligned(rows: list[dict[str, Any]]) -> str:
    """Return the part on fitness."""
    columns = ("trials", *DESCRIBED)
    headings = ("archive", "other trials", *(name.upper() for name in DESCRIBED), *HBD)
    lines = [markdown_row(headings), markdown_row(["---"] * len(headings))]
    for row in rows:
        numbers = [row[name] for name in columns] + list(row["features"].values())
        lines.append(markdown_row([row["task"], *(f"{number:.2f}" for number in numbers)]))
    limits = [interval(([row[name] for row in rows], 0)) for name in columns]
    lines.append(
        markdown_row(
            [
                "mean",
                *(with_limits(*found[:3], digits=2) for found in limits),
                *[""] * len(HBD),
            ]
        )
    )
    made = sorted({row["made"]["on"] for row in rows})
    return minus(
        "\n\n".join(
            [
                "# Do descriptors tell fitness?",
                "A descriptor that is aligned with fitness makes the cells of a map good and bad, "
                "instead of different. Of "
                f"{min(row['controllers'] for row in rows)} controllers of each archive of QED "
                "that comes with it, in the normal environment: the part of the variance of "
                "fitness that the fitness of the five nearest neighbours in a descriptor's space "
                "tells (a controller's own takes no part; descriptors and fitness are of different "
                f"trials, {TRIALS} each of {SECONDS:g} s). 1 is all, 0 nothing. *Other trials*: "
                "what the fitness of the descriptors' own trials tells, which is noisier than a "
                "mean of five neighbours. "
                "The last three columns are correlations of fitness with HBD's features.",
                "\n".join(lines),
                "Brackets: 95% interval of Student's t over archives. There is one archive "
                "per task, so this says nothing of how archives of one task differ; and its "
                "controllers are QED's, of which few are bad. Random ones would be told apart "
                "more easily.",
                f"Made by `benchmarks/alignment.py` on {listed(made)}, row by row in "
                "`benchmarks/results/alignment.json`.",
            ]
        )
        + "\n"
    )


def main() -> None:
    """Measure the archives that are not measured yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--controllers", type=int, default=600)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--page", action="store_true", help="only write the page again")
    options = parser.parse_args()
    begin = time.perf_counter()
    found = json.loads(NUMBERS.read_text("utf-8")) if NUMBERS.exists() else {"archives": []}
    if not options.page:
        found["recorded"] = recorded()
    rows = found["archives"]
    for task in TASKS:
        known = any(
            row["task"] == task and row["controllers"] == options.controllers for row in rows
        )
        if known or options.page or time.perf_counter() - begin > 60.0 * options.minutes:
            continue
        rows = [row for row in rows if row["task"] != task] + [measured(task, options.controllers)]
        found["archives"] = rows
        NUMBERS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        print(f"{task}: {time.perf_counter() - begin:.0f} s", flush=True)
    NUMBERS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    PAGE.write_text(page(found), "utf-8")
    print(f"wrote {PAGE.name}: {len(rows)} archives")


if __name__ == "__main__":
    main()
