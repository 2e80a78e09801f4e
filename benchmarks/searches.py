"""Archives, tables of their trials, and what searches' answers are worth on fresh ones.

What baselines.py and unseen.py share; run these.  An archive's controllers meet a fault in heats:
all meet few trials, the better ones more.  Any search is then played against such a table
(replayed.py).  What it answers meets fresh trials, which took no part in choosing, nor in telling
who is best.

Start poses and noise are the same for all archives of a task.  Within a search they must differ,
or controllers would be compared more exactly than a swarm can: the trials of a controller are one
of sixteen sequences, by a hash of its row, since neighbouring rows of an archive are alike.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from comparison import Plan, folders_of, history, made, rounded, save_json
from replayed import BUDGETS

import qed
from qed.chance import fold
from qed.evolution import Run
from qed.evolution.folder import ARCHIVE
from qed.evolution.swarms import Swarms
from qed.recovery.recover import trials_of
from qed.recovery.trials import Trials
from qed.streams import stream
from qed.swarm.backend import chosen
from qed.swarm.faults import DRAWN, Fault

LIKELY = 64  # best controllers in the normal environment, which meet all trials in all faults
GROUPS = 16  # sequences of start poses
DEEP = BUDGETS[-1] + 1  # trials that a search may want of a controller
SMALL = {  # to try the scripts on a CPU
    "small": {"tasks": ["patrolling", "flocking"], "evaluations": 2_000, "trials": 5,
              "seconds": 100.0, "fresh": 20},
    "tiny": {"tasks": ["patrolling", "flocking"], "evaluations": 400, "trials": 2, "seconds": 20.0,
             "fresh": 8},
}  # fmt: skip
LITTLE = {"surveyed": 8, "candidates": 64, "screened": 8, "controllers": 32, "faults": 24,
          "elsewhere": 4, "trials": 2}  # fmt: skip
KIT_KERNELS: list[dict[str, Any]] = [{"fault": "ROFS", "obstacles": 2}]  # beside those of evolution
# Beyond the paper's eight kinds: in no library, unless it says so.
NEW = {
    "DEAD": Fault("DEAD", "stands still and is not heard", dead=True),
    "DRIFT": Fault("DRIFT", "left wheel at 85 %", left=0.85),
    "WEAR": Fault("WEAR", "wheels lose 0.15 % of their speed a second", wear=0.0015),
    "RAB-H": Fault("RAB-H", "half the range of range and bearing", rab_range=0.5),
}


def runs(folder: Path, plan: Plan) -> list[Run]:
    """Return the runs of all archives, new or where they were stopped."""
    found = []
    for place in folders_of(folder, plan):
        task, algorithm, seed = place.name.rsplit("-", 2)
        how = plan["trials"], plan["seconds"], int(seed)
        swarms = Swarms(task, algorithm, *how, backend=chosen("auto"))
        sizes = {name: plan[name] for name in ("evaluations", "initial", "batch")}
        resume = (place / "config.toml").exists()
        found.append(Run(place, swarms, **sizes, resume=resume))
    return found


def opened(place: Path, plan: Plan) -> tuple[qed.Archive, Trials]:
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
    group = (fold(stream("searches", "group"), rows) % groups).tolist()
    return how.fitness(
        [([row], broken[one]) for row, one in zip(rows.tolist(), faults, strict=True)],
        trials,
        [seeds[one][k] for one, k in zip(faults, group, strict=True)],
    )


def tried(
    how: Trials,
    rows: np.ndarray,
    faults: Sequence[str],
    trials: int,
    *purpose: str | int,
    groups: int = 1,
) -> np.ndarray:
    """Return fitness of controllers in each fault, (faults, rows, trials)."""
    every = [one for one in faults for _ in rows]
    found = pairs(how, np.tile(rows, len(faults)), every, trials, *purpose, groups=groups)
    return found.reshape(len(faults), len(rows), trials)


def tables(
    how: Trials,
    faults: Sequence[str],
    heats: Sequence[tuple[int | None, int]],
    known: Sequence[np.ndarray],
    likely: np.ndarray,
) -> np.ndarray:
    """Return trials (faults, n, most) of an archive: NaN where a controller met no more.

    A heat is how many of the best go on, and how many trials they have met at its end.  Those
    likely to be tried again and again, such as the best in the normal environment, are in all
    heats; those that the kits of a fault know, in all but the last.
    """
    controllers, most = len(how.networks), heats[-1][1]
    found = np.full((len(faults), controllers, most), np.nan, np.float16)
    going, met = [np.arange(controllers)] * len(faults), 0
    for heat, (keep, until) in enumerate(heats):
        for k, rows in enumerate(going):
            if keep is not None and keep < len(rows):
                means = found[k, rows, :met].astype(np.float32).mean(1)
                best = rows[np.argsort(-means, kind="stable")[:keep]]
                more = known[k] if heat < len(heats) - 1 else likely
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


def judge(place: Path, plan: Plan, faults: Sequence[str], answers: str, rows: str) -> None:
    """Measure answers on fresh trials, and keep the rows of an archive."""
    _, how = opened(place, plan)
    told = json.loads((place / answers).read_text("utf-8"))
    found, spent = judged(how, told, faults)
    task, algorithm, seed = place.name.rsplit("-", 2)
    table = {"task": task, "map": algorithm, "seed": int(seed), "size": plan["size"]}
    table |= {key: told[key] for key in told if key not in found} | found
    table |= {"fresh_trials": spent, "made": made()}
    table["evolved"] = history(place)
    save_json(place / rows, table)


def kinds() -> list[str]:
    """Return the kinds of faults that a library knows, without the healthy robot."""
    return [name for name in DRAWN if name != "NONE"]
