"""Try a kit on faults that took no part in making it, and keep what came out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qed.recovery.kit import library
from qed.recovery.kit.field import Field
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.play import play
from qed.recovery.race import heats
from qed.streams import stream
from qed.swarm.faults import Faults

BUDGETS = (1, 3, 5, 10)  # trials after which the answer is looked at
CHOOSE, FRESH = 10, 30  # trials that choose the best of the short list, and that tell of the chosen


def planned(controllers: int, faults: int) -> int:
    """Return how many trials a validation takes at most."""
    raced = planned_race(controllers) + CHOOSE
    return faults * (raced + 1 + BUDGETS[-1] + FRESH * (2 + len(BUDGETS)))


def planned_race(controllers: int) -> int:
    """Return how many trials it takes to find the best of a short list."""
    return sum(count * met for count, met in heats(controllers, CHOOSE))


def validate(
    kit: Kit, field: Field, rows: np.ndarray, count: int, own: Sequence[Faults]
) -> dict[str, Any]:
    """Return the mean fitness on fresh trials of what is kept, what is best, and what is found."""
    robots = kit.environment.robots
    faults = library.drawn("validation", field.seed, count, robots, own)
    best = [
        field.race(f"best-{k}", rows, fault, CHOOSE, [kit.present]).winner
        for k, fault in enumerate(faults)
    ]
    searches = [kit.search() for _ in faults]

    def world(step: int, going: Sequence[int], tried: Sequence[int]) -> np.ndarray:
        swarms = [
            (field.solutions[rows[row]], faults[k]) for k, row in zip(going, tried, strict=True)
        ]
        seed = stream("kit", "validation trial", field.seed, step)
        return field.how.fitness(swarms, 1, seed)[:, 0]

    steps = play(kit, searches, BUDGETS[-1], world, noticed=1, stop=False)
    chosen = np.array(
        [
            [kit.present, best[k], *(steps[k][budget].best for budget in BUDGETS)]
            for k in range(count)
        ]
    )
    fresh = np.empty(chosen.shape)
    for k, fault in enumerate(faults):
        # Each controller once: the answers after several trials are often the same.
        unique, places = np.unique(chosen[k], return_inverse=True)
        tried = field.fitness(f"fresh-{k}", rows[unique], [fault], FRESH)[0].mean(1)
        fresh[k] = tried[places]
    field.finished()
    means = fresh.mean(0)
    kept, reached = fresh[:, 0], fresh[:, -1]
    error = float((reached - kept).std(ddof=1)) / np.sqrt(count)
    return {
        "faults": count,
        "trials": planned_race(len(rows)),
        "healthy": float(field.fitness("healthy-again", rows[[kit.present]], [None], FRESH).mean()),
        "kept": float(means[0]),
        "best": float(means[1]),
        "found": {
            str(budget): float(mean) for budget, mean in zip(BUDGETS, means[2:], strict=True)
        },
        "gain": float(means[-1] - means[0]),
        "error": float(error),
    }
