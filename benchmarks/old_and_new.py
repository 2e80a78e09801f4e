"""Measure two versions of QED side by side, in turns, so that a noisy machine meets both alike.

    git worktree add ../old COMMIT
    python benchmarks/old_and_new.py --old ../old [--backend cuda] [--cases random ...] [--turns 7]

Each version has a process of its own, which simulates a case when asked and says how long that took
(s), from call to result (on a CPU: of one thread, as the process is charged), with a digest of the
fitness; evolution that goes on is timed without its first generation.  Prints for each case the
median speeds, the median of the ratios new/old of the turns with the range of the middle half of
them, and whether fitness is the same to the bit; saves all times as
benchmarks/results/old-and-new-cpu.json (or -cuda).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
CASES = ("random", "cluster", "patrolling", "aggregation", "environments", "faults", "evolve")
# QED taken up where a whole run ended: how many runs side by side, raced or not, and generations.
RUNS = {"one run": (1, False, 12), "five runs": (5, False, 6), "20 raced": (20, True, 6)}
# Controllers and seconds of a trial, 50 trials each, by engine: a second or two on each.
SIZES = {
    "cpu": {
        "random": (80, 80.0),
        "cluster": (80, 8.0),
        "patrolling": (80, 80.0),
        "aggregation": (80, 20.0),
        "environments": (80, 40.0),
        "faults": (80, 80.0),
        "evolve": (320, 10.0),
        **dict.fromkeys(RUNS, (80, 10.0)),
    },
    "cuda": {
        **dict.fromkeys(CASES, (400, 400.0)),
        "cluster": (400, 100.0),
        "evolve": (1_200, 100.0),
        **dict.fromkeys(RUNS, (80, 400.0)),
    },
}
TRIALS = 50


def work(backend: str) -> None:
    """Simulate the cases named on standard input, one a line, and print what each took."""
    from hashlib import blake2b
    from time import perf_counter, process_time

    if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, numpy 2.5 has it no more
        setattr(np, "row_stack", np.vstack)  # noqa: B010
    import qed

    how: dict[str, Any] = {"threads": 1, "backend": backend}
    broken = qed.Faults.sample(10, 7)

    def evolve(evaluations: int, seconds: float) -> tuple[np.ndarray, int]:
        archive = qed.evolve(
            "patrolling", "qed", evaluations=evaluations, initial=evaluations // 4, batch=80,
            trials=TRIALS, seconds=seconds, seed=1, **how,
        )  # fmt: skip
        robots = 12  # on average, about; the same in both versions
        return archive.objective[archive.occupied], evaluations * TRIALS * robots

    def go_on(count: int, race: bool, generations: int, seconds: float) -> tuple[Any, int, float]:
        runs, side_by_side = begun(count, race, seconds, backend)
        for run in runs:
            run.search.archive = qed.load_example("patrolling")
            run.search.done = run.search.initial
        steps = side_by_side(runs)
        while min(run.search.done for run in runs) < runs[0].search.initial + 80:
            next(steps)
        before, begin = sum(run.search.done for run in runs), clock()
        while sum(run.search.done for run in runs) < before + 80 * generations * count:
            next(steps)
        taken, told = clock() - begin, sum(run.search.done for run in runs) - before
        fitness = np.concatenate([run.search.archive.objective for run in runs])
        return fitness, told * TRIALS * 12, taken

    def simulate(name: str, count: int, seconds: float) -> tuple[np.ndarray, int]:
        where: Any = qed.Environment()
        task, start, faults = "patrolling", None, None
        if name in ("patrolling", "aggregation"):
            task = name
            if name not in made:
                made[name] = qed.load_example(name).controllers
            swarms = made[name][:: 4096 // count][:count]
        else:
            if "random" not in made:
                made["random"] = [qed.Controller.random(k) for k in range(400)]
            swarms = made["random"][:count]
        if name == "cluster":
            from qed.speed import gathering, huddle

            swarms, start = [gathering()] * count, huddle(where, TRIALS)
        if name == "environments":
            where = qed.Environment.sample(count, seed=0)
        if name == "faults":
            faults = broken
        fitness = qed.simulate(
            swarms, where, tasks=[task], trials=TRIALS, seconds=seconds, seed=1, faults=faults,
            start=start, **how,
        ).fitness[task]  # fmt: skip
        robots = sum(one.robots for one in where) if isinstance(where, list) else 10 * count
        return fitness, robots * TRIALS

    # One thread on a CPU: its own time, which other work on the machine does not count in.
    clock = process_time if backend == "cpu" else perf_counter
    made: dict[str, list[Any]] = {}
    print("ready", qed.__file__, flush=True)
    for line in sys.stdin:
        name, count, seconds = json.loads(line)
        if name not in (*RUNS, "evolve"):
            simulate(name, count, 0.2)  # networks and start poses are made
        begin = clock()
        if name in RUNS:
            *run, taken = go_on(*RUNS[name], seconds)
        else:
            run = evolve(count, seconds) if name == "evolve" else simulate(name, count, seconds)
            taken = clock() - begin
        digest = blake2b(np.ascontiguousarray(run[0]).tobytes(), digest_size=8).hexdigest()
        steps = run[1] * round(seconds / 0.2)
        print(json.dumps({"seconds": taken, "digest": digest, "steps": steps}), flush=True)


def begun(count: int, race: bool, seconds: float, backend: str) -> tuple[list[Any], Any]:
    """Return runs of QED, and what evolves them side by side."""
    sizes = {"evaluations": 49_999, "initial": 400}
    try:
        from qed.evolution import Run, run_side_by_side
        from qed.evolution.swarms import Swarms
    except ImportError:  # version 0.2.0
        from qed.evolution import drive  # type: ignore[attr-defined]
        from qed.evolution.swarm_run import Settings, SwarmRun  # type: ignore[import-not-found]

        given = {"trials": TRIALS, "seconds": seconds, "race": race, **sizes}
        some = [Settings("patrolling", "qed", seed=k + 1, **given) for k in range(count)]
        return [SwarmRun(one, backend=backend) for one in some], drive
    domains = [
        Swarms("patrolling", "qed", TRIALS, seconds, k + 1, race, backend=backend)
        for k in range(count)
    ]
    return [Run(None, domain, **sizes) for domain in domains], run_side_by_side


class Version:
    """A version of QED in a process of its own."""

    def __init__(self, source: Path, backend: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--work", "--backend", backend],
            env=os.environ | {"PYTHONPATH": str(source.resolve())},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        ready = self._answer()
        if str(source.resolve()) not in ready:
            raise SystemExit(f"{source} was not imported: {ready}")

    def run(self, name: str, count: int, seconds: float) -> dict[str, Any]:
        """Simulate a case; return seconds, digest and robot-steps."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, count, seconds]) + "\n")
        self.process.stdin.flush()
        return json.loads(self._answer())

    def _answer(self) -> str:
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            if line.startswith(("{", "ready")):
                return line
        raise SystemExit("a version stopped; its error is above")


def main() -> None:
    """Take turns."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", type=Path, help="worktree of the version to compare with")
    parser.add_argument("--backend", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--cases", nargs="+", choices=(*CASES, *RUNS), default=list(CASES))
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--add", action="store_true", help="keep what is saved of other cases")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.backend)
        return
    if given.old is None:
        parser.error("--old is missing: a worktree of the version to compare with")
    versions = {
        "old": Version(given.old / "src", given.backend),
        "new": Version(HERE.parent / "src", given.backend),
    }
    found = []
    print(f"{'':14s}{'old':>8s}{'new':>8s}   new/old    same bits  (million robot-steps/s)")
    for name in given.cases:
        count, seconds = SIZES[given.backend][name]
        short = seconds / 10 if name in RUNS else 1.0
        for version in versions.values():  # compiles
            version.run(name, 160 if name == "evolve" else 80, short)
        turns: dict[str, list[dict[str, Any]]] = {"old": [], "new": []}
        for turn in range(given.turns):
            for which in ("old", "new") if turn % 2 else ("new", "old"):
                turns[which].append(versions[which].run(name, count, seconds))
        old, new = ([one["seconds"] for one in turns[which]] for which in ("old", "new"))
        ratios = np.array(old) / np.array(new)
        low, ratio, high = np.quantile(ratios, (0.25, 0.5, 0.75))
        same = len({one["digest"] for which in turns.values() for one in which}) == 1
        steps = turns["old"][0]["steps"] / 1e6
        row = {
            "case": name,
            "controllers": count,
            "trials": TRIALS,
            "seconds": seconds,
            "old_seconds": old,
            "new_seconds": new,
            "ratio": float(ratio),
            "middle_half": [float(low), float(high)],
            "same_bits": same,
        }
        found.append(row)
        print(
            f"{name:14s}{steps / np.median(old):8.1f}{steps / np.median(new):8.1f}"
            f"   {ratio:.3f} ({low:.3f} to {high:.3f})  {'yes' if same else 'NO'}",
            flush=True,
        )
    from qed.speed import machine

    here: dict[str, Any] = dict(machine())
    if given.backend == "cuda":
        query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        here["gpu"] = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    target = HERE / "results" / f"old-and-new-{given.backend}.json"
    known = json.loads(target.read_text())["cases"] if target.exists() and given.add else []
    found = [row for row in known if row["case"] not in given.cases] + found
    target.write_text(json.dumps({"machine": here, "cases": found}, indent=1) + "\n")
    print(f"saved {target.name}")


if __name__ == "__main__":
    main()
