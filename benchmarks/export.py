"""Exported programs beside the simulator's controllers, for the best controllers of all tasks.

    python benchmarks/export.py [--trials 20] [--seconds 400] [--random 1000] [--searches 100]

Writes results/export.json and docs/results/export.md; --parts without names writes the page anew
from the results that are there.  Aseba and MicroPython run where
QED_ASEBA and QED_MICROPYTHON name them (.ci/robots gets them).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import qed
from qed.errors import InputError
from qed.programs import aseba, python
from qed.programs.network import networks

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "export.json"
PAGE = HERE.parent / "docs" / "results" / "export.md"
TASKS = ("aggregation", "patrolling", "border-patrolling", "dispersion", "flocking")
LANGUAGES = ("python", "c", "aseba", "micropython")
SLOW = {"micropython": 10}  # how many times fewer trials it is compared in
PARTS = ("best", "searches", "random")
TEXT = """\
# Programs for robots

What `qed export` writes, beside the simulator's controllers, for the best controllers of the
archives that come with QED. `benchmarks/export.py` wrote this page and
`benchmarks/results/export.json`.

Outputs are compared in {trials} trials of {seconds:g} s ({fewer}), robot by robot and cycle by
cycle: *same state* begins each cycle with the simulator's hidden neurons, *running* with the
program's own. Shares are those of the cycles within 0.00001 of the simulator's outputs for programs
with floating point, within 0.02 for whole numbers. Then programs drive the simulated swarm:
*fitness* is theirs, *original* the simulator's controller's in the same trials, with the standard
error of the difference; they are *alike* if the difference is below two of these, or 0.01.

{rows}

## Cycles outside the tolerance

Cycles of *running* whose outputs differ by more: how many, and the first of them as trial, robot
and cycle.

{beyond}

## Sizes on a Thymio II

{sizes}

## Random networks

{networks:,} networks of the sizes that evolution begins with, {large} too large for a Thymio II:

{lists}

## Searches

The search of an exported kit decided as `kit.search()` in {same} of {total} searches of ten trials,
in faults like those the kits were made with; what was expected differed by {apart:.0e} at most.
"""
AT_ONCE = 50  # random networks in a swarm


def best(task: str, trials: int, seconds: float) -> dict[str, Any]:
    """Export the best controller of a task's archive to all languages."""
    elite = qed.load_example(task).best
    parity: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for to in LANGUAGES:
            few = max(trials // SLOW.get(to, 1), 1)
            made = qed.export(
                elite.controller, to, Path(folder) / to, task=task, trials=few, seconds=seconds
            )
            parity |= made.parity
    [net] = networks([elite.controller])
    size = aseba.size_of(net)
    print(task, json.dumps(parity), flush=True)
    return {
        "cell": elite.cell,
        "links": sum(len(neuron.links) for neuron in net),
        "words": size.words,
        "variables": size.variables,
        "parity": parity,
    }


def searches(task: str, count: int) -> dict[str, Any]:
    """Compare the search of a task's kit with the exported one."""
    kit = qed.Kit.load(f"example:{task}-kit")
    found = python.compare_search(kit, python.search_of(kit), count, 1)
    print(task, found, flush=True)
    return found


def random(count: int) -> dict[str, Any]:
    """Export random networks of the paper's first sizes to all languages, and run them."""
    found: dict[str, Any] = {"networks": count, "too large for a Thymio II": 0}
    for first in range(0, count, AT_ONCE):
        some = [qed.Controller.random(seed) for seed in range(first, first + AT_ONCE)]
        team, where = qed.Team(some), qed.Environment(robots=AT_ONCE, arena=8.0)
        with tempfile.TemporaryDirectory() as folder:
            for to in LANGUAGES:
                try:
                    made = qed.export(
                        team, to, Path(folder) / to, environment=where, trials=1, seconds=4.0
                    )
                except InputError as error:
                    found["too large for a Thymio II"] += 1
                    print(error)
                    continue
                for name, report in made.parity.items():
                    if isinstance(report, str):
                        found[name] = report
                        continue
                    runs = found.setdefault(name, {"within": 0.0, "networks": 0})
                    share = report["random, free-running"]["within"]
                    runs["within"] += share * AT_ONCE / count
                    runs["networks"] += AT_ONCE
        print(first + AT_ONCE, found, flush=True)
    return found


def page(told: dict[str, Any]) -> str:
    """Return the page of the results."""
    rows = [
        "| task | program | same state | running | random | fitness | original | alike |",
        "|---|---|---|---|---|---|---|---|",
    ]
    missing: set[str] = set()
    for task, one in told["best"].items():
        for name, report in one["parity"].items():
            if isinstance(report, str):
                missing.add(f"{name}: {report}")
                continue
            kinds = (
                "recorded, from the same state", "recorded, free-running", "random, free-running",
            )  # fmt: skip
            shares = [f"{100 * report[kind]['within']:.2f} %" for kind in kinds]
            loop = report["closed loop"]
            fitness = f"{loop['fitness']:.4f} | {loop['original']:.4f} ± {loop['error']:.4f}"
            alike = "yes" if loop["alike"] else "no"
            rows.append(f"| {task} | {name} | {' | '.join(shares)} | {fitness} | {alike} |")
    beyond = [
        f"- {task}, {name}: {_outside(report['recorded, free-running'])}."
        for task, one in told["best"].items()
        for name, report in one["parity"].items()
        if not isinstance(report, str) and report["recorded, free-running"]["beyond"]
    ]
    sizes = ["| task | cell | links | words | variables |", "|---|---|---|---|---|"]
    for task, one in told["best"].items():
        sizes.append(
            f"| {task} | {one['cell']} | {one['links']} | {one['words']:,} of {aseba.WORDS:,} | "
            f"{one['variables']} of {aseba.VARIABLES} |"
        )
    lists = [f"- Not run: {words}." for words in sorted(missing)]
    drawn, asked = told["random"], told["searches"]
    for name, runs in drawn.items():
        if isinstance(runs, dict):
            lists.append(
                f"- {name}: {runs['networks']:,} random networks ran without overflow or crash, "
                f"{100 * runs['within']:.2f} % of their cycles within the tolerance."
            )
    same = sum(one["same"] for one in asked.values())
    total = sum(one["searches"] for one in asked.values())
    apart = max(one["beliefs apart"] for one in asked.values())
    named = ", ".join(f"{name}: {told['trials'] // few}" for name, few in SLOW.items())
    return TEXT.format(
        trials=told["trials"], fewer=named, seconds=told["seconds"], rows="\n".join(rows),
        beyond="\n".join(beyond) or "None.", sizes="\n".join(sizes), networks=drawn["networks"],
        large=drawn["too large for a Thymio II"], lists="\n".join(lists), same=same, total=total,
        apart=apart,
    )  # fmt: skip


def _outside(running: dict[str, Any]) -> str:
    """Return how many cycles of a comparison are outside the tolerance, and which, as words."""
    count = round((1.0 - running["within"]) * running["cycles"])
    places = ", ".join("/".join(map(str, place[:3])) for place in running["beyond"])
    return (
        f"{count} of {running['cycles']:,} cycles, by {running['largest']:.2g} at most "
        f"({places}{', ...' * (count > len(running['beyond']))})"
    )


def main() -> None:
    """Measure, save and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=400.0)
    parser.add_argument("--random", type=int, default=1000)
    parser.add_argument("--searches", type=int, default=100)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    given = parser.parse_args()
    told: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    if "best" in given.parts:
        told |= {"trials": given.trials, "seconds": given.seconds}
        told["best"] = {task: best(task, given.trials, given.seconds) for task in TASKS}
    if "searches" in given.parts:
        told["searches"] = {task: searches(task, given.searches // len(TASKS)) for task in TASKS}
    if "random" in given.parts:
        told["random"] = random(given.random)
    RESULTS.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    if all(part in told for part in PARTS):
        PAGE.write_text(page(told), encoding="utf-8")


if __name__ == "__main__":
    main()
