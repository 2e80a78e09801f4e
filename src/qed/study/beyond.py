"""Beyond the paper: what a swarm recovers that has few trials, a playbook, or a team.

For each map a kit is prepared (``qed.prepare``), which knows nothing of the study's faults.  In the
first of these its searches are played, with the fault unknown; the playbook is looked up; and a
team by fault is found, where ``qed.recover`` can.  All answers meet the fresh trials on which the
study tells of the exhaustive winner, so that regret is the difference of two resiliences.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from qed.archive.archive import Archive
from qed.controller.network import Team
from qed.errors import StoppedError
from qed.files import disk, write_text
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.play import NOTICED, Step, simulated
from qed.recovery.kit.prepare import Effort, prepare
from qed.recovery.recover import recover
from qed.recovery.recovery import change
from qed.recovery.search.strategies import STRATEGIES
from qed.recovery.trials import Trials
from qed.streams import stream
from qed.study import paths, work
from qed.study.plan import Name, Plan
from qed.swarm.faults import Faults
from qed.swarm.simulate import simulate

BUDGETS = (1, 3, 5, 10, 30, 100)  # trials after which a search's answer is looked at
KEEP, BEST, PLAYBOOK, TEAM = "keep", "best", "playbook", "team"  # ways that do not search
EFFORT = Effort(
    surveyed=12, candidates=256, screened=48, controllers=64, faults=96, elsewhere=0, trials=3,
    validation=8,
)  # fmt: skip
COLUMNS = ("fault", "faults", "way", "trials", "fitness", "resilience", "regret")
PREPARED = 0.8  # of the work is done when the kit is there, about


def search(worker: work.Worker, name: Name) -> None:
    """Play searches, the playbook and teams on a map, in the first faults of its replicate."""
    plan, here = worker.plan, paths.run(worker.folder, name)
    target = here / paths.beyond(plan.searched)
    if target.exists():
        return
    archive = work.map_of(here)
    how = worker.trials(name, archive)
    seed = stream("beyond", plan.recovery_seed(name))
    kit = _kit(here, archive, how, seed, worker.tell)
    known = work.recoveries_of(here, plan).head(plan.searched)
    faults = plan.faults_of(name.replicate)[: plan.searched]
    steps = played(kit, list(STRATEGIES), faults, how, seed, BUDGETS[-1])
    rows: list[tuple[Any, ...]] = []
    for k, (fault, row) in enumerate(zip(faults, known.to_dict("records"), strict=True)):
        found = {(way, n): answer(steps[way][k], n) for way in STRATEGIES for n in BUDGETS}
        values = tried(kit, fault, how, found, team_by_fault(archive, fault, how, seed))
        best = change(row["normal"], row["recovered"])
        values[BEST, 0] = row["recovered"]
        for (way, trials), fitness in values.items():
            left = change(row["normal"], fitness)
            rows.append((k, ",".join(fault), way, trials, fitness, left, best - left))
        worker.tell(PREPARED + (1.0 - PREPARED) * (k + 1) / len(faults))
    with disk(here):
        write_text(target, work.csv_text(COLUMNS, rows))


def _kit(here: Path, archive: Archive, how: Trials, seed: int, tell: work.Tell) -> Kit:
    """Return the map's kit; it is prepared once, and after a kill from where it was."""
    path, notes = here / paths.KIT, here / paths.NOTES
    if path.exists():
        try:
            return Kit.load(path)
        except (OSError, ValueError) as error:
            raise StoppedError(f"{path} is not usable: {error}; remove it") from error

    kit = prepare(
        archive, how.task, seed=seed, seconds=how.seconds, effort=EFFORT, notes=notes,
        threads=how.threads, backend=how.backend,
        progress=lambda done, total: tell(PREPARED * done / max(total, 1)),
    )  # fmt: skip
    with disk(here):
        kit.save(path)
        notes.unlink(missing_ok=True)
    return kit


def played(
    kit: Kit, strategies: Sequence[str], faults: Sequence[Faults], how: Trials, seed: int, most: int
) -> dict[str, list[list[Step]]]:
    """Return the steps of searches of a kit by each strategy in each fault, for so many trials."""
    searches = [kit.search(name, seed=k) for name in strategies for k in range(len(faults))]
    broken = [*faults] * len(strategies)
    how = replace(how, networks=kit.networks)
    steps = iter(simulated(kit, searches, broken, how, seed, most, stop=False))
    return {name: [next(steps) for _ in faults] for name in strategies}


def answer(steps: Sequence[Step], trials: int) -> int:
    """Return what a search would use after so many trials, by its row in the kit."""
    return steps[min(NOTICED + trials, len(steps)) - 1].best


def fresh(swarms: Sequence[Any], faults: Faults | Sequence[Faults], how: Trials) -> np.ndarray:
    """Return the fitness of swarms with a fault, or one each, on each fresh trial."""
    return simulate(
        swarms, how.environment, tasks=how.task, trials=how.fresh, seconds=how.seconds,
        seed=how.streams.fresh, faults=faults, threads=how.threads, backend=how.backend,
    ).fitness[how.task]  # fmt: skip


def tried(
    kit: Kit, fault: Faults, how: Trials, answers: dict[tuple[str, int], int], team: Team
) -> dict[tuple[str, int], float]:
    """Return the mean fitness on fresh trials of what each way would use, by way and trials."""
    rows = sorted({kit.present, *answers.values()})
    swarms: list[Any] = [*(kit.controllers[row] for row in rows), kit.playbook.team(fault), team]
    means = fresh(swarms, fault, how).mean(1).tolist()
    of_row = dict(zip(rows, means, strict=False))
    values = {(KEEP, 0): of_row[kit.present], (PLAYBOOK, 0): means[-2], (TEAM, 0): means[-1]}
    return values | {key: of_row[row] for key, row in answers.items()}


def team_by_fault(archive: Archive, fault: Faults, how: Trials, seed: int) -> Team:
    """Return a team in which robots with the same fault share a controller."""
    found = recover(
        archive, how.task, fault, by="fault", trials=how.trials, fresh=1, seconds=how.seconds,
        seed=seed, threads=how.threads, backend=how.backend,
    )  # fmt: skip
    assert found.team is not None  # for the type checker
    return found.team


def of_run(here: Path, plan: Plan) -> pd.DataFrame | None:
    """Return the rows of a run, if it has them."""
    path = here / paths.beyond(plan.searched)
    return pd.read_csv(path) if plan.searched and path.exists() else None
