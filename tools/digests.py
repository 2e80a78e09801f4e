"""Digests of results, to see that a change of the code changes none of them.

    python tools/digests.py --out before.json        # about two minutes on two cores
    python tools/digests.py --against before.json    # prints what differs, exit status 1

Every argument that decides a result is given, so that changed defaults change no digest.  Arrays
are compared by their bits, tables column by column: a column that only has another name is listed
as renamed.  `tools/digests.json` holds the digests of version 0.2.0.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import qed
from qed.evolution.algorithms import Algorithm
from qed.recovery.kit.prepare import Effort

# Files and words of a study that have other names since: digests are of the former ones.
FORMER_NAMES = {"table-selection-bias.csv": "table-luck.csv"}
FORMER_WORDS = {"Selection bias: on": "Luck: on"}
HOW: dict[str, Any] = {"threads": 2, "backend": "cpu"}
BROKEN = ["PMIN", "LW-H", "NONE", "ROFS", "PMAX", "RW-H", "BW-H", "PRAND", "NONE", "PMIN"]


@qed.law
def near_centre(x, y, heading, speed, arena):  # type: ignore[no-untyped-def]
    """1 in the middle of the arena, less further away."""
    return max(0.0, 1.0 - math.hypot(x - arena / 2, y - arena / 2) / arena)


@qed.law
def closeness(distance):  # type: ignore[no-untyped-def]
    """1 for pairs that touch, 0 for those more than a metre apart."""
    return max(0.0, 1.0 - distance)


gather = qed.Task("gather", "meet in the middle of the arena", robot=near_centre)
tidy = Algorithm(
    "tidy", "where robots are, and how close", features=[near_centre, closeness],
    ranges=[(0.0, 1.0), (0.0, 1.0)], cells=qed.Grid((16, 16)),
)  # fmt: skip
weak = qed.Fault("WEAK", "hears half as far", rab_range=0.5)
limping = qed.Fault("LIMP", "left wheel at a tenth", left=0.1)
blind = qed.Fault("BLIND", "the front sensor sees nothing", gain=0.0, noise=0.0, sensors=[2])


def digest(*arrays: Any) -> str:
    """Return a digest of the bits of arrays."""
    hashed = blake2b(digest_size=8)
    for array in arrays:
        array = np.ascontiguousarray(array)
        hashed.update(f"{array.dtype.str} {array.shape}".encode() + array.tobytes())
    return hashed.hexdigest()


def of_archive(archive: qed.Archive) -> str:
    """Return the digest of an archive's elites."""
    cells = archive.occupied
    columns = archive.solutions()
    return digest(
        cells, archive.objective[cells], archive.measures[cells], *(columns[k] for k in columns)
    )


def archives() -> Iterator[tuple[str, str]]:
    """Evolve small archives."""
    small = {"evaluations": 400, "initial": 200, "batch": 40, "trials": 3, "seconds": 40.0, **HOW}
    for task in ("patrolling", "aggregation"):
        for algorithm in ("qed", "hbd", "sdbc", "spirit"):
            archive = qed.evolve(task, algorithm, seed=5, race=False, **small)
            yield f"archive/{task}-{algorithm}", of_archive(archive)
    for task in ("dispersion", "flocking", "border-patrolling", gather):
        yield (
            f"archive/{task}-qed",
            of_archive(qed.evolve(task, "qed", seed=6, race=False, **small)),
        )
    yield (
        "archive/patrolling-tidy",
        of_archive(qed.evolve("patrolling", tidy, seed=6, race=False, **small)),
    )
    small["trials"] = 12
    yield (
        "archive/patrolling-raced",
        of_archive(qed.evolve("patrolling", "qed", seed=7, race=True, **small)),
    )
    yield (
        "archive/patrolling-scripts",
        of_archive(
            qed.evolve("patrolling", "qed", attributes="scripts", seed=7, race=False, **small)
        ),
    )


def simulations() -> Iterator[tuple[str, str]]:
    """Simulate shipped and random controllers, alone, broken, in teams, among obstacles."""
    tasks = ["aggregation", "dispersion", "flocking", "patrolling", "border-patrolling", gather]
    how = {"tasks": tasks, "trials": 4, "seconds": 80.0, "seed": 3, "noise": 0.05, **HOW}
    controllers = [qed.Controller.random(seed) for seed in range(24)]
    for task in ("patrolling", "aggregation", "flocking"):
        controllers += qed.load_example(task).controllers[5:4000:400]
    teams = [
        qed.Team([controllers[(7 * k + j) % len(controllers)] for j in range(10)]) for k in range(6)
    ]
    crowded = qed.Environment(robots=20, obstacles=4, arena=3.0, rab_range=0.5, max_speed=0.15)
    own = qed.Faults([weak, limping, blind, "NONE", "PMIN", *["NONE"] * 5])
    for name, swarms, environment, faults in (
        ("normal", controllers, qed.Environment(), None),
        ("crowded", controllers, crowded, None),
        ("broken", controllers, qed.Environment(), qed.Faults(BROKEN)),
        ("own-faults", controllers, qed.Environment(), own),
        ("teams", [*teams, *controllers[:4]], qed.Environment(), None),
        ("broken-teams", teams, qed.Environment(obstacles=4), qed.Faults(BROKEN)),
    ):
        outcome = qed.simulate(swarms, environment, faults=faults, **how)
        yield f"simulate/{name}", digest(*(outcome.fitness[str(task)] for task in tasks))
    film = qed.trace(
        controllers[30], qed.Environment(obstacles=2), task="patrolling", seconds=60.0, seed=4,
        trial=1, faults=qed.Faults(BROKEN), noise=0.05,
    )  # fmt: skip
    columns = (film.x, film.y, film.heading, film.proximity, film.rab, film.wheels, film.score)
    yield "simulate/trace", digest(*columns)
    world = qed.World(qed.Environment(), task="patrolling", seed=2)
    scores = [world.run(controllers[24], seconds=40.0)]
    world.faults = qed.Faults(BROKEN)
    scores += [world.run(controllers[25], seconds=40.0), world.run(teams[0], seconds=20.0)]
    yield "simulate/world", digest(scores, world.poses)


def recoveries() -> Iterator[tuple[str, str]]:
    """Search archives and kits; prepare a kit."""
    archive = qed.evolve(
        "patrolling", "hbd", evaluations=600, initial=300, batch=60, trials=3, seconds=60.0,
        seed=8, race=False, **HOW,
    )  # fmt: skip
    faults = [qed.Faults(BROKEN), *(qed.Faults.sample(10, seed) for seed in (1, 2))]
    how = {"trials": 10, "fresh": 8, "seconds": 60.0, "seed": 3, "protocol": "independent", **HOW}
    for full in (False, True):
        found = qed.recover(archive, "patrolling", faults, full=full, **how)
        yield (
            f"recover/archive-{'full' if full else 'raced'}",
            digest([numbers_of(one) for one in found]),
        )
    found = qed.recover(archive, "patrolling", faults, full=False, by="fault", **how)
    yield "recover/archive-by-fault", digest([numbers_of(one) for one in found])
    found = qed.recover(
        qed.load_example("patrolling"), "patrolling", faults[0], full=False, trials=10, fresh=8,
        seconds=10.0, seed=3, protocol="independent", **HOW,
    )  # fmt: skip
    yield "recover/shipped-raced", digest(numbers_of(found))
    effort = Effort(
        surveyed=4, candidates=40, screened=8, controllers=24, faults=16, elsewhere=4, trials=2,
        validation=4, teams=1, portfolio=8,
    )  # fmt: skip
    kit = qed.prepare(archive, "patrolling", seed=4, seconds=60.0, effort=effort, **HOW)
    prior = kit.known.prior
    yield (
        "kit/made",
        digest(kit.cells, prior.mean, prior.loadings, prior.centres, prior.width, prior.scale),
    )
    shipped = qed.Kit.load("example:patrolling-kit")
    how = {"fresh": 8, "seconds": 60.0, "seed": 3, **HOW}
    for name, one in (("made", kit), ("shipped", shipped)):
        for strategy in ("learned", "map", "portfolio", "random"):
            found = one.recover(faults=faults, budget=6, strategy=strategy, **how)
            yield f"kit/{name}-{strategy}", digest([numbers_of(each) for each in found])
        found = one.recover(faults=faults[:1], budget=4, by="fault", **how)
        yield f"kit/{name}-by-fault", digest([numbers_of(each) for each in found])
    found = shipped.recover(faults=faults[0], budget=4, reset=False, **how)
    yield "kit/shipped-live", digest(numbers_of(found))
    for task in ("patrolling", "aggregation", "dispersion", "flocking", "border-patrolling"):
        one = qed.Kit.load(f"example:{task}-kit")
        asked = []
        search = one.search("learned", seed=1)
        teams = one.search("learned", diagnoses=BROKEN)
        for k in range(8):
            asked.append(one.controllers.index(search.ask()))
            search.tell(0.3 + 0.05 * ((k * 7) % 5))
            asked += [one.controllers.index(each) for each in teams.ask().controllers]
            teams.tell(0.3 + 0.05 * ((k * 3) % 5))
        yield f"search/{task}", digest(asked, [search.gain, teams.gain])


def numbers_of(found: Any) -> list[float]:
    """Return the numbers of a recovery."""
    team = getattr(found, "team", None)
    return [
        found.normal, found.broken, found.performance, found.impact, found.resilience,
        *([found.distance, found.cell] if team is None else []),
    ]  # fmt: skip


def study() -> Iterator[tuple[str, str]]:
    """Run a small study, and digest its tables column by column."""
    from qed.cli import main

    with tempfile.TemporaryDirectory() as folder:
        command = (
            "study --preset quick --tasks patrolling,dispersion --algorithms qed,hbd,spirit "
            "--replicates 2 --faults 3 --evaluations 300 --initial 200 --trials 2 --retrials 3 "
            "--fresh 4 --protocol independent --seconds 20 --seed 1 --threads 2 --backend cpu "
            f"--beyond 0 --out {folder}/s"
        )
        sys.argv = ["qed", *command.split()]
        try:
            main()
        except SystemExit as stop:
            if stop.code:
                raise
        for path in sorted(Path(folder, "s").rglob("*.csv")):
            table = pd.read_csv(path)
            where = path.relative_to(Path(folder, "s"))
            where = where.with_name(FORMER_NAMES.get(where.name, where.name))
            for column in table:
                if column not in ("seconds", "evaluations_per_second"):  # wall-clock time
                    text = table[column].to_csv(index=False, header=False)
                    for word, former in FORMER_WORDS.items():
                        text = text.replace(word, former)
                    name = f"study/{where}:{column}"
                    yield name, blake2b(text.encode(), digest_size=8).hexdigest()


def compared(before: dict[str, str], now: dict[str, str]) -> bool:
    """Print what differs, and return whether nothing but names does."""
    gone = {name: value for name, value in before.items() if name not in now}
    new = {name: value for name, value in now.items() if name not in before}
    for name, value in list(gone.items()):
        for other, its in list(new.items()):
            if its == value and name in gone and name.split(":")[0] == other.split(":")[0]:
                print(f"renamed   {name} -> {other}")
                del gone[name], new[other]
    changed = [name for name in before if name in now and before[name] != now[name]]
    for word, names in (("changed", changed), ("gone", gone), ("new", new)):
        for name in names:
            print(f"{word:9} {name}")
    same = len(before) - len(changed) - len(gone)
    print(f"{same} of {len(before)} digests are the same")
    return not changed and not gone


def main() -> None:
    """Compute, and write or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--only", help="archive, simulate, recover or study")
    given = parser.parse_args()
    parts = {"archive": archives, "simulate": simulations, "recover": recoveries, "study": study}
    found: dict[str, str] = {}
    for name, part in parts.items():
        if given.only in (None, name):
            for what, value in part():
                print(what, value, file=sys.stderr, flush=True)
                found[what] = value
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n")
    if given.against:
        before = json.loads(given.against.read_text())
        if given.only:
            roots = {"recover": ("recover/", "kit/", "search/")}.get(
                given.only, (given.only + "/",)
            )
            before = {name: value for name, value in before.items() if name.startswith(roots)}
        sys.exit(not compared(before, found))


if __name__ == "__main__":
    main()
