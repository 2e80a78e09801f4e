"""Compare archives of environments with archives of as many cells that mean nothing.

    python benchmarks/why.py plan                          # what is compared, before anything runs
    python benchmarks/why.py run FOLDER --seeds 2 [--tasks patrolling] [--minutes 9]
    python benchmarks/why.py gather FOLDER [FOLDER ...]    # then why_page.py writes the page

Does an archive recover a swarm because of its environments, or because of its size?  ``plan``
writes benchmarks/results/why-plan.json: tasks, arms (arms.py), sizes of runs, combined faults and
changed environments.  ``run`` does what archives still lack, ``evolve`` and ``judge`` do one of it:
all arms of a replicate (its seed) evolve side by side in some tasks; each finished archive is
judged on trials that took no part in evolution, a file of rows per archive.  ``gather`` adds these
rows to benchmarks/results/why.json.  ``--size tiny`` tries everything on a CPU.

Everything is judged with the same combined faults, start poses and noise, whatever the arm.  The
best of an archive under a condition is chosen by a race: all controllers meet 3 trials, the best
400 of them 12, the best 60 of these 30; what is reported of the chosen comes from 50 fresh trials.
A kit of the archive is played in the same faults, and what it answers meets the same fresh trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import comparison
import numpy as np
import replayed
import searches
from arms import ARMS
from comparison import Clock, Comparison, Plan, folders_of, history, made, rounded, save_json

import qed
from qed.controller.genome import Networks
from qed.evolution import Run
from qed.evolution.algorithms import Condition
from qed.evolution.folder import ARCHIVE
from qed.recovery.kit.cached_trials import CachedTrials, TrialCache
from qed.recovery.kit.prepare import Effort, learn
from qed.recovery.recover import trials_of
from qed.streams import stream
from qed.swarm.backend import chosen
from qed.swarm.job import Job
from qed.swarm.robot import CYCLE, PROXIMITY_NOISE
from qed.swarm.simulate import Pending, cores
from qed.swarm.tasks import TASKS

ROWS = "rows.json"
REPLICATES = 5
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
SUBSAMPLES = (774, 136, 70)  # filled cells of HBD, SDBC and SPIRIT in the study of 60 maps
SUBSAMPLED = ("qed", "niches")
AT_ONCE = 40_960  # swarms x trials in a simulation
KIT_TRIALS = (1, 3, 10)  # after which a kit's answer is looked at
MARGIN = 0.01  # of fitness, within which arms are called alike
CHANGES = [
    "2026-11-19, after replicate 1 was judged and before any other: that niches less QED is the "
    "primary comparison, and in which conditions; the margin; when to stop; kits. Nothing else has "
    "changed since 2026-11-18, when the plan was made",
]
TINY = {"tasks": ["patrolling", "flocking"], "evaluations": 400, "initial": 100, "trials": 10,
        "seconds": 20.0, "heats": [[None, 1], [32, 3], [8, 6]], "fresh": 8,
        "subsamples": [70]}  # fmt: skip


def plan(size: str = "full") -> dict[str, Any]:
    """Return what is compared."""
    faults = [qed.Faults.sample(10, seed=stream("why", "fault", k)) for k in range(FAULTS)]
    found = {
        "size": size,
        "keys": ["task", "arm", "replicate"],
        "tasks": list(TASKS),
        "arms": {name: words for name, (_, _, words) in ARMS.items()},
        "maps": list(ARMS),
        "replicates": REPLICATES,
        "seeds": list(range(1, 1 + REPLICATES)),
        "evaluations": 40_000,
        "initial": 2_000,
        "batch": 80,
        "trials": 50,
        "seconds": 400.0,
        "faults": [" ".join(fault) for fault in faults],
        "changed": CHANGED,
        "heats": HEATS,
        "fresh": 50,
        "subsamples": SUBSAMPLES,
        "kit trials": KIT_TRIALS,
        "primary": "recovered fitness, mean over the combined faults, of each map; an arm is "
        "compared with QED by the differences of maps of one task and replicate",
        "comparison": "niches less QED, in combined faults and in changed environments, with the "
        "interval of Student's t over the pairs of maps, tasks as strata; all other arms, "
        "subsamples, kits and single environments are secondary, and their intervals are not "
        "adjusted for their number",
        "stopping": "replicates are made in their order as computing time allows, whatever those "
        "before have shown; the page tells how many there are",
        "margin": MARGIN,
        "alike": "two one-sided t tests with p < .05 that the difference is within the margin",
        "changes": CHANGES,
    }
    if size == "tiny":
        few = dict(list(CHANGED.items())[:2])
        found |= TINY | {"faults": found["faults"][:3], "changed": few, "effort": searches.LITTLE}
    return found


def runs(folder: Path, plan: Plan) -> list[Run]:
    """Return the runs of all arms that are not judged yet, new or where they were stopped."""
    found = []
    for place in folders_of(folder, plan):
        if (place / ROWS).exists():  # its archive may be elsewhere
            continue
        task, arm, replicate = place.name.rsplit("-", 2)
        kind, algorithm, _ = ARMS[arm]
        how = plan["trials"], plan["seconds"], int(replicate)
        swarms = kind(task, algorithm, *how, backend=chosen("auto"))
        sizes = {name: plan[name] for name in ("evaluations", "initial", "batch")}
        resume = (place / "config.toml").exists()
        found.append(Run(place, swarms, **sizes, resume=resume))
    return found


def evolve(folder: Path, plan: Plan, clock: Clock) -> None:
    """Evolve all arms side by side."""
    comparison.evolved(runs(folder, plan), clock)


class Judge:
    """Fitness of the controllers of an archive under conditions."""

    def __init__(self, networks: Networks, task: str, plan: Plan) -> None:
        self.networks, self.task, self.plan = networks, task, plan
        self.backend = chosen("auto")
        self.fresh = stream("why", "fresh", task)  # start poses and noise of fresh trials

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
                cycles=round(self.plan["seconds"] / CYCLE),
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
        for keep, trials in self.plan["heats"]:
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
        broken: list[Condition] = [
            (qed.Environment(), qed.Faults(names.split())) for names in self.plan["faults"]
        ]
        others: list[Condition] = [
            (qed.Environment(**options), None) for options in self.plan["changed"].values()
        ]
        best = self.best(rows, [normal], stream("why", "normal", self.task))[0]
        table: dict[str, Any] = {
            "cells": len(rows),
            "normal": self.fitness([(best, normal)], self.plan["fresh"], self.fresh).tolist()[0],
            "normal cell": int(cells[best]),
        }
        for name, conditions in {"faults": broken, "changed": others if changed else []}.items():
            if conditions:
                winners = self.best(rows, conditions, stream("why", "choose", self.task))
                pairs = [
                    (row, c) for c, w in zip(conditions, winners, strict=True) for row in (best, w)
                ]
                kept, recovered = (
                    self.fitness(pairs, self.plan["fresh"], self.fresh).reshape(-1, 2).T.tolist()
                )
                cell = [int(cells[row]) for row in winners]
                table[name] = {"kept": kept, "recovered": recovered, "cell": cell}
        return table


def kit(archive: qed.Archive, jury: Judge) -> dict[str, Any]:
    """Return what a kit of the archive recovers in the combined faults within few trials."""
    plan, task = jury.plan, jury.task
    seed = stream("why", "kit", task)
    how = trials_of(
        archive, task, trials=10, seconds=plan["seconds"], seed=seed, backend=jury.backend,
        environment=qed.Environment(),
    )  # fmt: skip
    cached = CachedTrials(how, seed, TrialCache(None, {}))
    lesson = learn(archive, cached, Effort(**plan.get("effort", {})))
    faults = [",".join(names.split()) for names in plan["faults"]]
    most, every = plan["kit trials"][-1] + 1, np.arange(len(lesson.rows))
    tables = searches.tried(how, lesson.rows, faults, most, "why", groups=searches.GROUPS)
    answers = []
    for table in tables:
        search = replayed.KitSearch(every, lesson.known, lesson.present)
        answers.append(replayed.play(search, table, lesson.present, plan["kit trials"])[0])
    pairs: list[tuple[int, Condition]] = [
        (int(lesson.rows[row]), (qed.Environment(), qed.Faults(names.split())))
        for names, rows in zip(plan["faults"], answers, strict=True)
        for row in rows
    ]
    found = jury.fitness(pairs, plan["fresh"], jury.fresh).reshape(len(faults), -1)
    after = {
        str(n): list(map(rounded, own)) for n, own in zip(plan["kit trials"], found.T, strict=True)
    }
    return {"controllers": len(lesson.rows), "trials": cached.done, "recovered": after}


def judge(place: Path, plan: Plan) -> None:
    """Measure a finished archive, and keep its rows."""
    task, arm, replicate = place.name.rsplit("-", 2)
    archive = qed.Archive.load(place / ARCHIVE)
    jury = Judge(archive.genomes().networks(), task, plan)
    cells, every = archive.occupied, np.arange(len(archive))
    table = {"task": task, "arm": arm, "replicate": int(replicate), "size": plan["size"]}
    table["archive"] = jury.rows(every, cells, changed=True)
    table["evolved"] = history(place)
    if arm in SUBSAMPLED:
        for size in plan["subsamples"]:
            chance = np.random.default_rng(stream("why", "subsample", place.name, size))
            some = np.sort(chance.choice(every, min(size, len(every)), replace=False))
            table[f"{size} of them"] = jury.rows(some, cells, changed=False)
    table["kit"] = kit(archive, jury)
    table["made"] = made()
    save_json(place / ROWS, table)


COMPARISON = Comparison(
    "why",
    plan,
    {"evolve": evolve, "judge": comparison.in_turn(judge, ROWS, ARCHIVE)},
    ROWS,
    [*comparison.KERNELS, *searches.KIT_KERNELS],
    ("tiny",),
)


if __name__ == "__main__":
    COMPARISON.main(__doc__, narrowed={"tasks": str, "seeds": int})
