"""Compare archives of environments with archives of as many cells that mean nothing.

    python benchmarks/why.py plan                          # what is compared, before anything runs
    python benchmarks/why.py evolve FOLDER --replicate 1 [--tasks patrolling] [--minutes 9]
    python benchmarks/why.py judge FOLDER [--minutes 9]
    python benchmarks/why.py gather FOLDER [FOLDER ...]    # then why_page.py writes the page

Does an archive recover a swarm because of its environments, or because of its size?  ``plan``
writes benchmarks/results/why-plan.json: tasks, arms, sizes of runs, combined faults and changed
environments.  ``evolve`` evolves all arms in all tasks side by side, and goes on where it was
stopped; ``judge`` measures each finished archive on trials that took no part in evolution, a file
of rows per archive; ``gather`` adds these rows to benchmarks/results/why.json.

Everything is judged with the same combined faults, start poses and noise, whatever the arm.  The
best of an archive under a condition is chosen by a race: all controllers meet 3 trials, the best
400 of them 12, the best 60 of these 30; what is reported of the chosen comes from 50 fresh trials.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, numpy 2.5 has it no more
    setattr(np, "row_stack", np.vstack)  # noqa: B010

import qed
from qed import speed
from qed.chance import fold
from qed.controller.genome import Networks
from qed.descriptors import hbd
from qed.evolution import Run, run_side_by_side
from qed.evolution.algorithms import ALGORITHMS, Algorithm, Condition, Niches
from qed.evolution.domain import Batch, Evaluated
from qed.evolution.folder import ARCHIVE
from qed.evolution.swarms import Swarms
from qed.streams import stream
from qed.swarm.backend import chosen, described
from qed.swarm.environment import PAPER
from qed.swarm.job import Job
from qed.swarm.robot import CYCLE, PROXIMITY_NOISE
from qed.swarm.simulate import Pending, cores
from qed.swarm.tasks import TASKS

RESULTS = Path(__file__).parent / "results"
PLAN, NUMBERS = RESULTS / "why-plan.json", RESULTS / "why.json"
REPLICATES = 5
SIZES = {"evaluations": 40_000, "initial": 2_000, "batch": 80}
TRIALS, SECONDS = 50, 400.0
FAULTS = 30
CHANGED: dict[str, dict[str, float]] = {
    "5 robots": {"robots": 5},
    "8 robots": {"robots": 8},
    "4 obstacles": {"obstacles": 4},
    "8 obstacles": {"obstacles": 8},
    "arena of 2.5 m": {"arena": 2.5},
    "arena of 5 m": {"arena": 5.0},
    "range and bearing 0.3 m": {"rab_range": 0.3},
    "proximity 0.06 m": {"proximity_range": 0.06},
    "slow wheels": {"max_speed": 0.06},
    "7 robots, 3 obstacles, 3.5 m": {"robots": 7, "obstacles": 3, "arena": 3.5},
}
HEATS = ((None, 3), (400, 12), (60, 30))  # best controllers that go on, trials that they meet
FRESH = 50
SUBSAMPLES = (774, 136, 70)  # filled cells of HBD, SDBC and SPIRIT in the study of 60 maps
SUBSAMPLED = ("qed", "niches")
AT_ONCE = 40_960  # swarms x trials in a simulation
WORLDS = 10  # of domain randomisation, 5 trials in each


class Independent(Swarms):
    """QED, but a child's cell says nothing of the environment that it is evaluated in.

    Both are drawn, independently; the environment follows from the child's genome, so that it is
    known again when a run is resumed.
    """

    def conditions(self, batch: Batch) -> list[Condition]:
        """Return a random environment for each solution."""
        genomes = batch.solutions
        keys = []
        for row, (hidden, links) in enumerate(zip(genomes.hidden, genomes.links, strict=True)):
            columns = (genomes.source, genomes.target, genomes.weight)
            parts = [genomes.bias[row, : 2 + hidden], *(column[row, :links] for column in columns)]
            keys.append(zlib.crc32(b"".join(part.tobytes() for part in parts)))
        draws = fold(self.seed, np.array(keys)[:, None], np.arange(len(PAPER))).astype(np.uint64)
        options = (draws * np.array(PAPER.shape, np.uint64)) >> np.uint64(32)
        return [(PAPER.environment(row), None) for row in options.tolist()]


class Randomised(Swarms):
    """HBD with domain randomisation: every child meets the same ten random environments."""

    @property
    def worlds(self) -> list[qed.Environment]:
        """The environments of a run."""
        return qed.Environment.sample(WORLDS, stream("why", "worlds", self.task.name, self.seed))

    @staticmethod
    def together(domains: Sequence[Any], batch: int) -> list[list[int]]:
        """Return each alone."""
        return [[k] for k in range(len(domains))]

    @staticmethod
    def begin(domains: Sequence[Any], batches: Sequence[Batch]) -> Any:
        """Begin to simulate a batch."""
        return RandomisedEvaluation(domains[0], batches[0])


class RandomisedEvaluation:
    """A batch in several environments, under way."""

    def __init__(self, domain: Randomised, batch: Batch) -> None:
        self.domain, self.count = domain, len(batch.solutions.hidden)
        networks = batch.solutions.networks()
        self.job = Job(
            controllers=networks.take(np.repeat(np.arange(self.count), WORLDS)),
            environments=domain.worlds * self.count,
            faults=[None] * self.count * WORLDS,
            seeds=[domain.trials_seed + k for k in range(WORLDS)] * self.count,
            trials=domain.trials // WORLDS,
            cycles=round(domain.seconds / CYCLE),
            start=None,
            noise=PROXIMITY_NOISE,
        )
        threads = domain.threads or cores()
        self.pending = Pending(self.job, [domain.task], ["spread"], threads, None, domain.backend)

    def ready(self) -> bool:
        """Return True if `results()` will not block, or if nothing happens until it is called."""
        return self.domain.backend != "cuda" or self.pending.ready()

    def results(self) -> list[Evaluated]:
        """Return means over the environments."""
        outcome = self.pending.outcome()
        fitness = outcome.fitness[self.domain.task.name].reshape(self.count, -1).mean(1)
        behaviour = hbd(outcome, self.job.environments)
        return [(fitness, behaviour.reshape(self.count, WORLDS, -1).mean(1))]


HBD, NICHES = ALGORITHMS["hbd"], Niches()
ARMS: dict[str, tuple[type[Swarms], Any, str]] = {
    "qed": (Swarms, "qed", "QED: a cell is an environment"),
    "niches": (Swarms, "niches", "cells mean nothing, normal environment"),
    "independent": (
        Independent,
        Algorithm.of_package(
            "independent",
            "a cell means nothing",
            lambda *_: NICHES.space(),
            "independent",
            drawn=NICHES,
        ),
        "cell and environment drawn independently",
    ),
    "randomised": (
        Randomised,
        Algorithm.of_package(
            "randomised",
            HBD.meaning,
            HBD.space,
            "randomised",
            sums=HBD.sums,
            describe=hbd,
        ),
        "HBD, each child in the same ten random environments",
    ),
    "faults": (Swarms, "faults", "a cell is what is broken, normal environment"),
}


def combined_faults() -> list[qed.Faults]:
    """Return the combined faults that all archives meet."""
    return [qed.Faults.sample(10, seed=stream("why", "fault", k)) for k in range(FAULTS)]


def plan() -> dict[str, Any]:
    """Return what is compared."""
    return {
        "tasks": list(TASKS),
        "arms": {name: words for name, (_, _, words) in ARMS.items()},
        "replicates": REPLICATES,
        **SIZES,
        "trials": TRIALS,
        "seconds": SECONDS,
        "faults": [" ".join(fault) for fault in combined_faults()],
        "changed": CHANGED,
        "heats": HEATS,
        "fresh": FRESH,
        "subsamples": SUBSAMPLES,
        "primary": "recovered fitness, mean over the combined faults, of each map; an arm is "
        "compared with QED by the differences of maps of one task and replicate",
    }


def runs(folder: Path, replicate: int, tasks: Sequence[str], sizes: dict[str, Any]) -> list[Run]:
    """Return the runs of a replicate in some tasks, new or where they were stopped."""
    found = []
    for task in tasks:
        for arm, (kind, algorithm, _) in ARMS.items():
            swarms = kind(
                task, algorithm, sizes["trials"], sizes["seconds"], replicate,
                backend=chosen("auto"),
            )  # fmt: skip
            place = folder / f"{task}-{arm}-{replicate}"
            resume = (place / "config.toml").exists()
            parts = {name: sizes[name] for name in SIZES}
            found.append(Run(place, swarms, **parts, resume=resume))
    return found


KERNELS: list[dict[str, Any]] = [
    {}, {"obstacles": 2}, {"sums": ("spread",), "obstacles": 2}, {"fault": "ROFS"},
    {"fault": "LW-H"},
]  # fmt: skip


def compile_all(
    kinds: Sequence[dict[str, Any]] = KERNELS, tasks: Sequence[str] = tuple(TASKS)
) -> None:
    """Compile all kernels that a GPU needs."""
    begin = time.perf_counter()
    if chosen("auto") == "cuda":
        speed.compile_kernels([speed.Kernel(task, **kind) for kind in kinds for task in tasks])
    print(f"kernels: {time.perf_counter() - begin:.0f} s", flush=True)


def evolve(
    folder: Path, replicate: int, tasks: Sequence[str], minutes: float, sizes: dict[str, Any]
) -> None:
    """Evolve a replicate of all arms in some tasks for so long, or to its end."""
    begin = time.perf_counter()
    compile_all(tasks=tasks)
    several = runs(folder, replicate, tasks, sizes)
    go_on(several, begin + 60.0 * minutes)
    for arm in ARMS:
        some = [run.search.done for run in several if f"-{arm}-" in str(run.folder)]
        print(f"{arm}: {some}", flush=True)


def go_on(several: Sequence[Run], until: float) -> None:
    """Evolve runs side by side to their end, or until then by the clock of processes."""
    begin = told = time.perf_counter()
    steps = run_side_by_side(several, every=1e9)  # checkpoints at the end
    for _ in steps:
        now = time.perf_counter()
        if now - told > 20.0:
            told = now
            done = sum(run.search.done for run in several)
            going = sum(not run.search.finished for run in several)
            print(f"{now - begin:5.0f} s: {done:,} evaluations, {going} runs go on", flush=True)
        if now > until:
            break
    steps.close()


class Judge:
    """Fitness of the controllers of an archive under conditions."""

    def __init__(self, networks: Networks, task: str, seconds: float) -> None:
        self.networks, self.task, self.seconds = networks, task, seconds
        self.backend = chosen("auto")

    def fitness(self, pairs: Sequence[tuple[int, Condition]], trials: int, seed: int) -> np.ndarray:
        """Return the mean fitness of controllers, each under a condition."""
        found: list[np.ndarray] = []
        under_way: list[Pending] = []
        size = max(AT_ONCE // trials, 1)
        for k in range(0, len(pairs), size):
            some = pairs[k : k + size]
            job = Job(
                controllers=self.networks.take(np.array([row for row, _ in some])),
                environments=[environment for _, (environment, _) in some],
                faults=[faults for _, (_, faults) in some],
                seeds=[seed] * len(some),
                trials=trials,
                cycles=round(self.seconds / CYCLE),
                start=None,
                noise=PROXIMITY_NOISE,
            )
            under_way.append(Pending(job, [self.task], [], cores(), None, self.backend))
            if len(under_way) > 2:
                found.append(under_way.pop(0).outcome().fitness[self.task].mean(1))
        found += [one.outcome().fitness[self.task].mean(1) for one in under_way]
        return np.concatenate(found)

    def best(self, rows: np.ndarray, conditions: Sequence[Condition], seed: int) -> list[int]:
        """Return the controller that wins a race under each condition, among these rows."""
        going = [rows] * len(conditions)
        means: list[np.ndarray] = []
        for keep, trials in HEATS:
            if keep is not None:
                going = [
                    np.sort(some[np.argsort(-mean, kind="stable")[:keep]])
                    for some, mean in zip(going, means, strict=True)
                ]
            pairs = [
                (int(row), condition)
                for some, condition in zip(going, conditions, strict=True)
                for row in some
            ]
            bounds = np.cumsum([len(some) for some in going])[:-1]
            means = np.split(self.fitness(pairs, trials, seed), bounds)
        return [int(some[np.argmax(mean)]) for some, mean in zip(going, means, strict=True)]

    def rows(self, rows: np.ndarray, cells: np.ndarray, changed: bool) -> dict[str, Any]:
        """Return what is measured of an archive, or of some of its controllers."""
        normal: Condition = (qed.Environment(), None)
        broken: list[Condition] = [(qed.Environment(), fault) for fault in combined_faults()]
        others: list[Condition] = [
            (qed.Environment(**options), None)  # type: ignore[arg-type]
            for options in CHANGED.values()
        ]
        best = self.best(rows, [normal], stream("why", "normal", self.task))[0]
        fresh = stream("why", "fresh", self.task)
        table: dict[str, Any] = {
            "cells": len(rows),
            "normal": self.fitness([(best, normal)], FRESH, fresh).tolist()[0],
            "normal cell": int(cells[best]),
        }
        for name, conditions in {"faults": broken, "changed": others if changed else []}.items():
            if conditions:
                winners = self.best(rows, conditions, stream("why", "choose", self.task))
                pairs = [
                    (row, c) for c, w in zip(conditions, winners, strict=True) for row in (best, w)
                ]
                kept, recovered = self.fitness(pairs, FRESH, fresh).reshape(-1, 2).T.tolist()
                cell = [int(cells[row]) for row in winners]
                table[name] = {"kept": kept, "recovered": recovered, "cell": cell}
        return table


def judge(folder: Path, minutes: float, seconds: float) -> None:
    """Measure finished archives, for so long."""
    begin = time.perf_counter()
    for place in sorted(folder.glob("*-*-*")):
        path = place / "rows.json"
        if path.exists() or not (place / ARCHIVE).exists():
            continue
        if time.perf_counter() - begin > 60.0 * minutes:
            break
        name, arm, replicate = place.name.rsplit("-", 2)
        archive = qed.Archive.load(place / ARCHIVE)
        jury = Judge(archive.genomes().networks(), name, seconds)
        cells, every = archive.occupied, np.arange(len(archive))
        table = {"task": name, "arm": arm, "replicate": int(replicate)}
        table["archive"] = jury.rows(every, cells, changed=True)
        table["evolved"] = {"best": archive.best.fitness, "mean": archive.mean}
        if arm in SUBSAMPLED:
            for size in SUBSAMPLES:
                chance = np.random.default_rng(stream("why", "subsample", place.name, size))
                some = np.sort(chance.choice(every, min(size, len(every)), replace=False))
                table[f"{size} of them"] = jury.rows(some, cells, changed=False)
        table["made"] = {**speed.machine(), "on": described(chosen("auto"), speed.cores())}
        path.write_text(json.dumps(table) + "\n", "utf-8")
        found = table["archive"]
        print(
            f"{place.name}: {found['cells']} cells, normal {found['normal']:.4f}, "
            f"kept {np.mean(found['faults']['kept']):.4f}, "
            f"recovered {np.mean(found['faults']['recovered']):.4f}, "
            f"changed {np.mean(found['changed']['kept']):.4f}, "
            f"{np.mean(found['changed']['recovered']):.4f} "
            f"({time.perf_counter() - begin:.0f} s)",
            flush=True,
        )


def gathered(folders: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Yield the rows of all archives: those on file, and those of folders."""
    found = {}
    tables = json.loads(NUMBERS.read_text())["archives"] if NUMBERS.exists() else []
    for folder in folders:
        tables += [json.loads(path.read_text()) for path in sorted(folder.glob("*/rows.json"))]
    for table in tables:
        found[table["task"], table["arm"], table["replicate"]] = table
    for key in sorted(found):
        yield found[key]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("verb", choices=("plan", "evolve", "judge", "gather"))
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--replicate", type=int, default=1)
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--evaluations", type=int, help="smaller runs, to try the script")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    sizes = {**SIZES, "trials": TRIALS, "seconds": options.seconds}
    if options.evaluations:
        sizes |= {"evaluations": options.evaluations, "initial": options.evaluations // 4}
    if options.verb == "plan":
        PLAN.write_text(json.dumps(plan(), indent=1) + "\n", "utf-8")
    elif options.verb == "evolve":
        evolve(options.folders[0], options.replicate, options.tasks, options.minutes, sizes)
    elif options.verb == "judge":
        judge(options.folders[0], options.minutes, options.seconds)
    else:
        archives = list(gathered(options.folders))
        NUMBERS.write_text(json.dumps({**plan(), "archives": archives}) + "\n", "utf-8")
        print(f"{len(archives)} archives in {NUMBERS.name}")


if __name__ == "__main__":
    main()
