"""Try a playbook, and teams by fault, in swarms of different faults that took no part in making it.

A play was chosen where all robots have its fault.  Whether it also works beside robots with other
faults depends on the task: in patrolling it does, in dispersion it may do harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.recovery.by_fault import Plan, Round, Sizes, rows_of
from qed.recovery.kit.field import Field
from qed.recovery.kit.kit import Kit
from qed.recovery.metrics import standard_error
from qed.swarm.faults import Faults

SIZES = Sizes(candidates=64, trials=6, finalists=8, new=40)  # of the teams, less than recover's


@dataclass(frozen=True)
class Case:
    """A fault of the validation, and what is known of it so far."""

    name: str  # of its fresh trials
    faults: Faults
    raced: np.ndarray  # (n,): fitness in the race for the best of the short list
    kept: float  # on fresh trials: the controller is kept
    best: float  # the best for all robots
    found: float  # what the search found

    @property
    def mixed(self) -> bool:
        """Whether its robots have different faults."""
        return len(set(self.faults)) > 1


def mixed(
    kit: Kit, field: Field, rows: np.ndarray, cases: Sequence[Case], fresh: int
) -> tuple[tuple[float, float] | None, dict[str, Any]]:
    """Return the playbook's gain over one for all with its error, and means on fresh trials.

    None if there are less than two mixed swarms.
    """
    cases = [case for case in cases if case.mixed]
    if len(cases) < 2:
        return None, {}
    played = []
    for case in cases:
        plays = [[kit.playbook.plays[name].row for name in case.faults]]
        played.append(field.teams(case.name, rows[plays], case.faults, fresh)[0].mean())
    gains = np.array(played) - [case.best for case in cases]
    gain, error = float(gains.mean()), standard_error(gains)
    means = {
        name: float(np.mean([getattr(case, name) for case in cases]))
        for name in ("kept", "best", "found")
    }
    told = {"faults": len(cases), **means, "playbook": float(np.mean(played))}
    return (gain, error), told


def teams(
    kit: Kit, field: Field, rows: np.ndarray, cases: Sequence[Case], fresh: int
) -> dict[str, Any]:
    """Return what teams by fault reach in some mixed swarms, and the playbook there."""
    found, trials = [], 0
    for case in cases:

        def attempt(plans: Sequence[Plan], count: int, purpose: str, case: Case = case) -> Any:
            given = rows[[rows_of(plan, case.faults) for plan in plans]]
            return field.teams(f"{case.name}-{purpose}", given, case.faults, count)

        alike = {kind: kit.alike[kind] for kind in case.faults.each}
        book = {kind: kit.playbook.plays[kind].row for kind in case.faults.each}
        first, team = Round(attempt, case.faults, case.raced, alike, book, SIZES).teams(kit.present)
        plays = [kit.playbook.plays[name].row for name in case.faults]
        three = [rows_of(first.plan, case.faults), rows_of(team.plan, case.faults), plays]
        found.append(field.teams(case.name, rows[three], case.faults, fresh).mean(1))
        trials += SIZES.all_trials(case.faults, len(rows))
    if len(found) < 2:
        return {}
    best, team, playbook = np.array(found).T
    return {
        "faults": len(found),
        "trials": trials // len(found),
        "best": float(best.mean()),
        "team": float(team.mean()),
        "playbook": float(playbook.mean()),
        "gain": float((team - best).mean()),
        "error": standard_error(team - best),
    }
