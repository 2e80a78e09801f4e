"""Try a kit on faults that took no part in making it, and keep what came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from qed.recovery.kit import library
from qed.recovery.kit.field import Field
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.mixed import SIZES, Case, mixed, teams
from qed.recovery.kit.play import play
from qed.recovery.race import heats
from qed.streams import stream
from qed.swarm.faults import Faults

BUDGETS = (1, 3, 5, 10)  # trials after which the answer is looked at
CHOOSE, FRESH = 10, 30  # trials that choose the best of the short list, and that tell of the chosen
EVERY = 2  # of the faults one is uniform


def planned(controllers: int, faults: int, by_fault: int, robots: int) -> int:
    """Return how many trials a validation takes at most."""
    raced = planned_race(controllers) + CHOOSE
    most = Faults([name for _, name in zip(range(robots), library.kinds_of(), strict=False)])
    team = SIZES.all_trials(most, controllers) + 3 * FRESH
    each = raced + 1 + BUDGETS[-1] + FRESH * (3 + len(BUDGETS))
    return faults * each + min(by_fault, faults) * team


def planned_race(controllers: int) -> int:
    """Return how many trials it takes to find the best of a short list."""
    return sum(count * met for count, met in heats(controllers, CHOOSE))


def validated(
    kit: Kit, field: Field, rows: np.ndarray, count: int, own: Sequence[Faults], by_fault: int
) -> Kit:
    """Return the kit with what was found, and with what its playbook is worth in mixed swarms."""
    robots = kit.environment.robots
    faults = library.drawn("validation", field.seed, count, robots, own, EVERY)
    raced = [
        field.race(f"best-{k}", rows, fault, CHOOSE, [kit.present])
        for k, fault in enumerate(faults)
    ]
    searches = [kit.search(seed=0) for _ in faults]

    def world(step: int, going: Sequence[int], tried: Sequence[int]) -> np.ndarray:
        swarms = [
            (field.solutions[rows[row]], faults[k]) for k, row in zip(going, tried, strict=True)
        ]
        seeds = [stream("kit", "validation trial", field.seed, step, k) for k in going]
        return field.how.fitness(swarms, 1, seeds)[:, 0]

    steps = play(kit, searches, BUDGETS[-1], world, noticed=1, stop=False)
    chosen = np.array(
        [
            [kit.present, raced[k].winner, *(steps[k][budget].best for budget in BUDGETS)]
            for k in range(count)
        ]
    )
    fresh = np.empty(chosen.shape)
    for k, fault in enumerate(faults):
        # Each controller once: the answers after several trials are often the same.
        unique, places = np.unique(chosen[k], return_inverse=True)
        tried = field.fitness(f"fresh-{k}", rows[unique], [fault], FRESH)[0].mean(1)
        fresh[k] = tried[places]
    cases = [
        Case(f"fresh-{k}", faults[k], raced[k].fitness, *fresh[k, [0, 1, -1]].tolist())
        for k in range(count)
    ]
    gain, in_mixed = mixed(kit, field, rows, cases, FRESH)
    uniform = [case for case in cases[::EVERY] if case.mixed][:by_fault]
    findings = {
        **_means(fresh, planned_race(len(rows))),
        "healthy": float(field.fitness("healthy-again", rows[[kit.present]], [None], FRESH).mean()),
        "mixed": in_mixed,
        "teams": teams(kit, field, rows, uniform, FRESH),
    }
    field.finished()
    return replace(kit, findings=findings, playbook=replace(kit.playbook, mixed=gain))


def _means(fresh: np.ndarray, trials: int) -> dict[str, Any]:
    """Return the mean fitness of what is kept, what is best, and what is found."""
    kept, reached, means = fresh[:, 0], fresh[:, -1], fresh.mean(0)
    error = float((reached - kept).std(ddof=1)) / np.sqrt(len(fresh))
    return {
        "faults": len(fresh),
        "trials": trials,
        "kept": float(means[0]),
        "best": float(means[1]),
        "found": {
            str(budget): float(mean) for budget, mean in zip(BUDGETS, means[2:], strict=True)
        },
        "gain": float(means[-1] - means[0]),
        "error": float(error),
    }
