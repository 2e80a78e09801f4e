"""Comparisons of archives that go on where they were stopped: steps, files, a command.

What why.py, baselines.py and unseen.py share; run these.  Each archive has a folder; a step of a
comparison is done for those that lack its file.  So a comparison may be killed at any time, go on
elsewhere with the folders that there are, and gather what is finished.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # searches run side by side, a process each

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, numpy 2.5 has it no more
    setattr(np, "row_stack", np.vstack)  # noqa: B010

from qed import compile as compiling
from qed import files, speed
from qed.evolution import Run, run_side_by_side
from qed.evolution.folder import PROGRESS
from qed.swarm.backend import chosen, described
from qed.swarm.simulate import cores

RESULTS = Path(__file__).parent / "results"
BETWEEN_CHECKPOINTS = 120.0  # s, of runs that may be killed
Plan = Mapping[str, Any]
# Kernels that evolution and combined faults need.
KERNELS: list[dict[str, Any]] = [
    {}, {"obstacles": 2}, {"sums": ("spread",), "obstacles": 2}, {"fault": "ROFS"},
    {"fault": "LW-H"},
]  # fmt: skip


class Clock:
    """So many minutes from now on."""

    def __init__(self, minutes: float) -> None:
        self.begin = time.perf_counter()
        self.end = self.begin + 60.0 * minutes

    @property
    def up(self) -> bool:
        """Whether they are over."""
        return time.perf_counter() > self.end

    def tell(self, *words: Any) -> None:
        """Print something, with the time since the beginning."""
        print(f"{time.perf_counter() - self.begin:5.0f} s:", *words, flush=True)


Step = Callable[[Path, Plan, Clock], None]  # for the archives in a folder


@dataclass(frozen=True)
class Comparison:
    """A comparison: its plan, which is written before it runs, its steps, and its command."""

    name: str
    plan: Callable[[str], dict[str, Any]]  # of a size: "full", or a smaller one
    steps: Mapping[str, Step]
    rows: str  # the file of an archive's rows
    kernels: Sequence[Mapping[str, Any]]  # that a GPU needs
    sizes: Sequence[str]

    @property
    def planned(self) -> Path:
        """The file of the plan."""
        return RESULTS / f"{self.name}-plan.json"

    @property
    def numbers(self) -> Path:
        """The file of what was found."""
        return RESULTS / f"{self.name}.json"

    def gather(self, folders: Sequence[Path], plan: Plan, out: Path) -> None:
        """Write the rows of finished archives: those of folders, and others that are on file."""
        there = json.loads(out.read_text("utf-8"))["archives"] if out.exists() else []
        there += [
            json.loads(path.read_text("utf-8"))
            for folder in folders
            for path in folder.glob(f"*/{self.rows}")
        ]
        others = {one.get("size", "full") for one in there} - {plan["size"]}
        if others:
            raise SystemExit(f"archives of another size than {plan['size']}: {', '.join(others)}")
        found = {tuple(one[key] for key in plan["keys"]): one for one in there}
        archives = [found[key] for key in sorted(found)]
        files.write_text(out, json.dumps({**plan, "archives": archives}) + "\n")
        print(f"{len(archives)} archives in {out.name}")

    def main(self, about: str, narrowed: Mapping[str, type] | None = None) -> None:
        """Run from the command line; ``narrowed`` are keys of the plan that may be cut down."""
        parser = argparse.ArgumentParser(description=about.partition("\n")[0])
        parser.add_argument("verb", choices=("plan", "run", *self.steps, "gather"))
        parser.add_argument("folders", type=Path, nargs="*")
        parser.add_argument("--minutes", type=float, default=1e6)
        parser.add_argument("--size", default="full", choices=("full", *self.sizes))
        parser.add_argument("--out", type=Path, default=self.numbers)
        for key, kind in (narrowed or {}).items():
            parser.add_argument(f"--{key}", type=kind, nargs="+")
        options = parser.parse_args()
        plan = self.plan(options.size)
        if options.verb == "plan":
            files.write_text(self.planned, json.dumps(plan, indent=1) + "\n")
        elif not options.folders:
            parser.error(f"{options.verb} needs a folder")
        elif options.verb == "gather":
            self.gather(options.folders, plan, options.out)
        else:
            clock, [folder] = Clock(options.minutes), options.folders
            asked = {key: getattr(options, key) for key in narrowed or {}}
            plan |= {key: values for key, values in asked.items() if values}
            compile_all(self.kernels, plan["tasks"])
            for name in self.steps if options.verb == "run" else (options.verb,):
                if not clock.up:
                    self.steps[name](folder, plan, clock)


def folders_of(folder: Path, plan: Plan) -> list[Path]:
    """Return the folders of all archives of a plan."""
    return [
        folder / f"{task}-{algorithm}-{seed}"
        for seed in plan["seeds"]
        for task in plan["tasks"]
        for algorithm in plan["maps"]
    ]


def lacking(folder: Path, plan: Plan, done: str, needed: str) -> list[Path]:
    """Return the folders of archives that lack a file but have the one that it needs."""
    each = folders_of(folder, plan)
    return [one for one in each if (one / needed).exists() and not (one / done).exists()]


def in_turn(do: Callable[[Path, Plan], Any], done: str, needed: str) -> Step:
    """Return the step that does something for archives, one after the other, while there is time.

    It makes the file ``done`` and needs another one.
    """

    def step(folder: Path, plan: Plan, clock: Clock) -> None:
        for place in lacking(folder, plan, done, needed):
            if clock.up:
                return
            do(place, plan)
            clock.tell(f"{place.name}: {do.__name__}")

    return step


def side_by_side(do: Callable[..., Any], each: Sequence[Path], *more: Any) -> list[Any]:
    """Call a function of an archive's folder for several of them, a process for each core."""
    if len(each) < 2:
        return [do(one, *more) for one in each]
    with ProcessPoolExecutor(min(len(each), cores()), mp_context=get_context("spawn")) as pool:
        return list(pool.map(do, each, *([one] * len(each) for one in more)))


def evolved(several: Sequence[Run], clock: Clock) -> None:
    """Evolve runs side by side to their end, or while there is time."""
    told = time.perf_counter()
    steps = run_side_by_side(several, every=BETWEEN_CHECKPOINTS)
    for _ in steps:
        if time.perf_counter() - told > 20.0:
            told = time.perf_counter()
            _tell(several, clock)
        if clock.up:
            break
    steps.close()
    _tell(several, clock)


def _tell(several: Sequence[Run], clock: Clock) -> None:
    done = sum(run.search.done for run in several)
    finished = sum(run.search.finished for run in several)
    clock.tell(f"{done:,} evaluations, {finished} of {len(several)} archives")


def compile_all(kinds: Sequence[Mapping[str, Any]], tasks: Sequence[str]) -> None:
    """Compile all kernels that a GPU needs."""
    begin = time.perf_counter()
    if chosen("auto") == "cuda":
        speed.compile_kernels([speed.Kernel(task, **kind) for kind in kinds for task in tasks])
    print(f"kernels: {time.perf_counter() - begin:.0f} s", flush=True)


def made() -> dict[str, Any]:
    """Return what made an archive's rows, with a digest of the package's code."""
    code = compiling.digest(Path(compiling.__file__).parent)
    return {**speed.machine(), "on": described(chosen("auto"), cores()), "code": code}


def history(place: Path, points: int = 30) -> dict[str, Any]:
    """Return the best and the mean of an archive in its evolution, and the best over evaluations.

    The last of so many points is the end, the others lie evenly on a scale of logarithms.
    """
    lines = (place / PROGRESS).read_text("utf-8").splitlines()[1:]
    rows = [[float(value) for value in line.split(",")] for line in lines]
    last = len(rows) - 1
    some = sorted({min(round(last ** (k / (points - 1))), last) for k in range(points)} | {0})
    done, _, best, mean, _ = rows[-1]
    return {
        "evaluations": int(done),
        "best": best,
        "mean": mean,
        "curve": [[int(rows[k][0]), rounded(rows[k][2])] for k in some],
    }


def save_json(path: Path, found: Any) -> None:
    """Write a file of numbers, whole or not at all."""
    files.write_text(path, json.dumps(found) + "\n")


def save(path: Path, found: Mapping[str, np.ndarray]) -> None:
    """Write arrays, whole or not at all."""
    with files.atomic_write(path) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, **found)


def rounded(value: float) -> float:
    """Return a fitness as a file of results holds it."""
    return round(float(value), 5)
