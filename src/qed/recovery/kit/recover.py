"""Kit.recover: a search that does not know the fault, with a budget of trials, simulated."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from qed.errors import InputError, choice, integer, number
from qed.recovery.by_fault import BY
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.library import diagnosed
from qed.recovery.kit.play import NORMAL, STRUCK, TRIAL, Step, run_sessions, simulated
from qed.recovery.metrics import standard_error
from qed.recovery.recovery import OnEvent, Recovery
from qed.recovery.search.search import Search
from qed.recovery.search.strategies import LEARNED
from qed.recovery.search.teams import TeamSearch
from qed.recovery.trials import Swarm, Trials, listed, streams
from qed.streams import stream
from qed.swarm.backend import chosen
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.tasks import Task


def recover(
    kit: Kit,
    task: str | Task | None,
    faults: Faults | Sequence[Faults],
    *,
    budget: int,
    strategy: str,
    by: str | None,
    misdiagnosis_rate: float | None,
    reset: bool,
    seconds: float | None,
    seed: int,
    environment: Environment | None,
    backend: str,
    watch: OnEvent | None,
    **how: Any,
) -> list[Recovery]:
    """Play a kit's search against the simulator, in each combined fault."""
    most = integer("budget", budget, 1, 100_000)
    trials = Trials(
        kit.networks,
        kit.task if task is None else task,  # one of a user's own comes with the call, or by --with
        seconds=kit.seconds if seconds is None else seconds,
        streams=streams(seed),
        environment=environment or kit.environment,
        robot=kit.environment.robot,
        **how,
    )
    combined = listed(faults)
    for fault in combined:
        kit.check(task, len(fault) if environment is None else None)
    trials.checked(combined)
    backend = chosen(backend, [trials.environment], max(trials.trials, trials.fresh))
    trials = replace(trials, backend=backend)
    searches = _searches(kit, combined, strategy, by, misdiagnosis_rate, seed)
    played = simulated if reset else run_sessions
    steps = played(kit, searches, combined, trials, seed, most, watch)
    return _measured(kit, searches, combined, steps, trials)


def _searches(
    kit: Kit,
    faults: Sequence[Faults],
    strategy: str,
    by: str | None,
    misdiagnosis_rate: float | None,
    seed: int,
) -> list[Search[Any]]:
    """Return a search for each fault, over teams if robots diagnose themselves."""
    if by is None:
        if misdiagnosis_rate is not None:
            raise InputError('misdiagnosis_rate needs a search over teams; give by="fault" too')
        known = (kit.controllers, kit.known, kit.present, kit.digest)
        return [Search(*known, strategy, seed) for _ in faults]
    choice("by", by, BY)
    if strategy != LEARNED:
        raise InputError(f"strategy must be {LEARNED} by fault, got {strategy!r}")
    rate = number("misdiagnosis_rate", misdiagnosis_rate or 0.0, 0.0, 1.0)
    names = list(kit.playbook.plays)
    diagnoses = [
        diagnosed(fault, rate, names, stream("diagnosis", seed, k))
        for k, fault in enumerate(faults)
    ]
    return [kit.search_teams(one, rate) for one in diagnoses]


def _measured(
    kit: Kit,
    searches: Sequence[Search[Any]],
    faults: Sequence[Faults],
    steps: Sequence[list[Step]],
    how: Trials,
) -> list[Recovery]:
    """Try what was found, and what the swarm ran before, on fresh trials."""
    teams = [search.members(search.best_row) for search in searches]
    distances = how.distances(kit.present, [row for team in teams for row in team])
    swarms: list[Swarm] = [([kit.present], fault) for fault in (None, *faults)]
    fresh = how.evaluate_fresh([*swarms, *zip(teams, faults, strict=True)])
    healthy, kept, changed = fresh[0], fresh[1 : len(swarms)], fresh[len(swarms) :]
    found = []
    for fault, search, team, each, before, after in zip(
        faults, searches, teams, steps, kept, changed, strict=True
    ):
        row = max(team, key=team.count)
        one = Recovery(
            task=how.task,
            faults=fault,
            normal=float(healthy.mean()),
            broken=float(before.mean()),
            performance=float(after.mean()),
            error=standard_error(after),
            claimed_normal=float(kit.known.normal[kit.present]),
            claimed_broken=search.belief(search.present).mean,
            claimed=search.belief().mean,
            distance=float(np.mean([distances[one] for one in team])),
            normal_cell=int(kit.cells[kit.present]),
            cell=int(kit.cells[row]),
            normal_controller=kit.normal_best,
            controller=kit.controllers[row],
            fresh_seed=how.streams.fresh,
            gain=search.gain,
            strategy=search.strategy,
            trace=tuple(step for step in each if step.moment in (STRUCK, TRIAL)),
            session=tuple(each) if each[0].moment == NORMAL else (),
            gain_belief=search.gain_belief,
            worthwhile=search.worthwhile,
            row=row,
        )
        if isinstance(search, TeamSearch):
            one = replace(
                one,
                team=search.best,
                cells=tuple(kit.cells[team].tolist()),
                diagnoses=Faults(search.diagnoses),
                misdiagnosis_rate=search.misdiagnosis_rate,
            )
        found.append(one)
    return found
