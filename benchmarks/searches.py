"""Archives, tables of their trials, and what searches' answers are worth on fresh ones.

What baselines.py and unseen.py share; run these.  An archive's controllers meet a fault in heats:
all meet few trials, the better ones more.  Any search is then played against such a table
(replayed.py).  What it answers meets fresh trials, which took no part in choosing, nor in telling
who is best.

Start poses and noise are the same for all archives of a task.  Within a search they must differ,
or controllers would be compared more exactly than a swarm can: the trials of a controller are one
of sixteen sequences, by its row.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # searches run side by side, a process each

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, numpy 2.5 has it no more
    setattr(np, "row_stack", np.vstack)  # noqa: B010

from replayed import BUDGETS

import qed
from qed import files
from qed.evolution import Run
from qed.evolution.folder import ARCHIVE
from qed.evolution.swarms import Swarms
from qed.recovery.recover import trials_of
from qed.recovery.trials import Trials
from qed.streams import stream
from qed.swarm.backend import chosen
from qed.swarm.faults import DRAWN, Fault
from qed.swarm.simulate import cores

RESULTS = Path(__file__).parent / "results"
LIKELY = 64  # best controllers in the normal environment, which meet all trials in all faults
GROUPS = 16  # sequences of start poses
DEEP = BUDGETS[-1] + 1  # trials that a search may want of a controller
SMALL = {  # to try the scripts on a CPU
    "small": {"tasks": ["patrolling", "flocking"], "evaluations": 2_000, "trials": 5,
              "seconds": 100.0, "fresh": 20},
    "tiny": {"tasks": ["patrolling", "flocking"], "evaluations": 400, "trials": 2, "seconds": 20.0,
             "fresh": 8},
}  # fmt: skip
# Beyond the paper's eight kinds: in no library, unless it says so.
NEW = {
    "DEAD": Fault("DEAD", "stands still and is not heard", dead=True),
    "DRIFT": Fault("DRIFT", "left wheel at 85 %", left=0.85),
    "WEAR": Fault("WEAR", "wheels lose 0.15 % of their speed a second", wear=0.0015),
    "RAB-H": Fault("RAB-H", "half the range of range and bearing", rab_range=0.5),
}


def runs(folder: Path, plan: Mapping[str, Any]) -> list[Run]:
    """Return the runs of all archives, new or where they were stopped."""
    found = []
    for seed in plan["seeds"]:
        for task in plan["tasks"]:
            for algorithm in plan["maps"]:
                place = folder / f"{task}-{algorithm}-{seed}"
                how = plan["trials"], plan["seconds"], seed
                swarms = Swarms(task, algorithm, *how, backend=chosen("auto"))
                sizes = {name: plan[name] for name in ("evaluations", "initial", "batch")}
                resume = (place / "config.toml").exists()
                found.append(Run(place, swarms, **sizes, resume=resume))
    return found


def places(
    folder: Path, plan: Mapping[str, Any], done: str, needed: str, every: bool = False
) -> list[Path]:
    """Return the folders of the plan's archives that lack a file but have the one it needs."""
    all_of_them = [
        folder / f"{task}-{algorithm}-{seed}"
        for seed in plan["seeds"]
        for task in plan["tasks"]
        for algorithm in plan["maps"]
    ]
    there = [one for one in all_of_them if (one / needed).exists()]
    return [one for one in there if every or not (one / done).exists()]


def opened(place: Path, plan: Mapping[str, Any]) -> tuple[qed.Archive, Trials]:
    """Return an archive, and how its controllers are tried."""
    archive = qed.Archive.load(place / ARCHIVE)
    how = trials_of(
        archive, trials=plan["healthy"], seconds=plan["seconds"], fresh=plan["fresh"],
        seed=stream("searches", str(archive.header["settings"]["task"])), backend=chosen("auto"),
    )  # fmt: skip
    return archive, how


def named(faults: str) -> qed.Faults:
    """Return the combined fault of these names, new kinds included."""
    return qed.Faults([NEW.get(name, name) for name in faults.split(",")])


def pairs(
    how: Trials,
    rows: np.ndarray,
    faults: Sequence[str],
    trials: int,
    *purpose: str | int,
    groups: int = 1,
) -> np.ndarray:
    """Return fitness of controllers, each with a fault of its own, (rows, trials)."""
    each = list(dict.fromkeys(faults))
    broken = {one: named(one) for one in each}
    seeds = {
        one: [stream("searches", *purpose, one, group) for group in range(groups)] for one in each
    }
    several = list(zip(rows.tolist(), faults, strict=True))
    return how.fitness(
        [([row], broken[one]) for row, one in several],
        trials,
        [seeds[one][row % groups] for row, one in several],
    )


def tried(
    how: Trials, rows: np.ndarray, faults: Sequence[str], trials: int, *purpose: str | int
) -> np.ndarray:
    """Return fitness of controllers in each fault, (faults, rows, trials)."""
    every = [one for one in faults for _ in rows]
    found = pairs(how, np.tile(rows, len(faults)), every, trials, *purpose)
    return found.reshape(len(faults), len(rows), trials)


def tables(
    how: Trials,
    faults: Sequence[str],
    heats: Sequence[tuple[int | None, int]],
    known: np.ndarray,
    likely: np.ndarray,
) -> np.ndarray:
    """Return trials (faults, n, most) of an archive: NaN where a controller met no more.

    A heat is how many of the best go on, and how many trials they have met at its end.  Those
    likely to be tried again and again, such as the best in the normal environment, are in all
    heats; those that a kit knows, in all but the last.
    """
    controllers, most = len(how.networks), heats[-1][1]
    found = np.full((len(faults), controllers, most), np.nan, np.float16)
    going, met = [np.arange(controllers)] * len(faults), 0
    for heat, (keep, until) in enumerate(heats):
        for k, rows in enumerate(going):
            if keep is not None and keep < len(rows):
                means = found[k, rows, :met].astype(np.float32).mean(1)
                best = rows[np.argsort(-means, kind="stable")[:keep]]
                more = known if heat < len(heats) - 1 else likely
                going[k] = np.union1d(best, np.union1d(likely, more))
        several = np.concatenate(going)
        names = [fault for fault, rows in zip(faults, going, strict=True) for _ in rows]
        more = pairs(how, several, names, until - met, "heat", heat, groups=GROUPS)
        parts = np.split(more, np.cumsum([len(rows) for rows in going])[:-1])
        for k, (rows, part) in enumerate(zip(going, parts, strict=True)):
            found[k, rows, met:until] = part
        met = until
    return found


def likely(normal: np.ndarray, present: int) -> np.ndarray:
    """Return the best controllers in the normal environment, and the present one."""
    return np.union1d(np.argsort(-normal, kind="stable")[:LIKELY], [present])


def winners(tables: Sequence[np.ndarray]) -> list[int]:
    """Return the best controller of the last heat in each fault."""
    found = []
    for table in tables:
        full = np.flatnonzero(np.isfinite(table[:, -1]))
        found.append(int(full[np.argmax(table[full].astype(np.float64).mean(1))]))
    return found


def save(path: Path, found: dict[str, np.ndarray]) -> None:
    """Write arrays, whole or not at all."""
    with files.atomic_write(path) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, **found)


def side_by_side(task: Callable[..., Any], each: Sequence[Path], *more: Any) -> list[Any]:
    """Call a function of an archive's folder for several of them, a process for each core."""
    if len(each) < 2:
        return [task(one, *more) for one in each]
    with ProcessPoolExecutor(min(len(each), cores()), mp_context=get_context("spawn")) as pool:
        return list(pool.map(task, each, *([one] * len(each) for one in more)))


def judged(
    how: Trials, answers: Mapping[str, Any], faults: Sequence[str]
) -> tuple[dict[str, Any], int]:
    """Return what searches' answers are worth on fresh trials, and how many trials that took.

    ``answers`` holds the present controller's row, and for each fault the winner's, and those of
    each strategy after some trials, or none.  Of each answer there is the mean, and the standard
    error of how far it is from that of the present controller.
    """
    wanted = [
        sorted({answers["present"], answers["winner"][k],
                *(row for own in answers["found"].values() for row in own[k])})
        for k in range(len(faults))
    ]  # fmt: skip
    names = [fault for fault, rows in zip(faults, wanted, strict=True) for _ in rows]
    flat = np.array([row for rows in wanted for row in rows])
    # Of one group, so that all answers meet the same start poses.
    fresh = pairs(how, flat, names, how.fresh, "fresh")
    met = dict(zip(zip(names, flat.tolist(), strict=True), fresh, strict=True))
    found: dict[str, Any] = {"kept": [], "winner": [], "found": {}, "error": {}}
    for k, fault in enumerate(faults):
        kept = met[fault, answers["present"]]
        found["kept"].append(rounded(kept.mean()))
        found["winner"].append(rounded(met[fault, answers["winner"][k]].mean()))
        for name, each in answers["found"].items():
            own = [met[fault, row] for row in each[k]]
            errors = [(one - kept).std(ddof=1) / len(one) ** 0.5 for one in own]
            found["found"].setdefault(name, []).append([rounded(one.mean()) for one in own])
            found["error"].setdefault(name, []).append([rounded(one) for one in errors])
    return found, fresh.size


def in_turn(
    step: Callable[[Path, Mapping[str, Any]], Any],
    each: Sequence[Path],
    plan: Mapping[str, Any],
    clock: Clock,
) -> None:
    """Do a step for archives, one after the other, until the time is up."""
    for place in each:
        if clock.up:
            return
        step(place, plan)
        clock.tell(f"{place.name}: {step.__name__}")


def gathered(folders: Sequence[Path], name: str, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of all archives of some folders."""
    found = [json.loads(path.read_text()) for one in folders for path in one.glob(f"*/{name}")]
    return sorted(found, key=lambda one: [one[key] for key in keys])


def rounded(value: float) -> float:
    """Return a fitness as a file of results holds it."""
    return round(float(value), 5)


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


def kinds() -> list[str]:
    """Return the kinds of faults that a library knows, without the healthy robot."""
    return [name for name in DRAWN if name != "NONE"]
