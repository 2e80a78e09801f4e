"""Play a kit's search against the simulator, which alone knows the fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.recovery.kit.kit import Kit
from qed.recovery.search.search import Belief, Search

# From step and, search by search, the controller's number to the fitness of one trial each.
World = Callable[[int, Sequence[int], Sequence[int]], np.ndarray]


@dataclass(frozen=True)
class Step:
    """One trial of a search, and what was believed after it.

    Attributes
    ----------
    row, cell : int
        The controller tried, by its number in the kit and by its cell in the archive (-1: a team of
        several).
    fitness : float
        What it gave.
    free : bool
        Whether it is the present controller's trial in which the fault was noticed.
    best, best_cell : int
        The controller to use after it, by its number and its cell.
    believed : Belief
        Of that controller's fitness.
    gain : Belief
        Of the leader over the present controller.
    worthwhile : bool
        Whether the gain is clear.
    done : bool
        Whether further trials are not expected to pay.

    Examples
    --------
    >>> import qed
    >>> kit = qed.Kit.load("example:patrolling-kit")
    >>> broken = qed.Faults(["PMIN"] * 10)
    >>> found = qed.recover(kit, faults=broken, budget=2, fresh=1, seconds=20.0)
    >>> step = found.trace[1]
    >>> step.free, step.believed.low <= step.believed.mean <= step.believed.high
    (False, True)
    """

    row: int
    cell: int
    fitness: float
    free: bool
    best: int
    best_cell: int
    believed: Belief
    gain: Belief
    worthwhile: bool
    done: bool


def play(
    kit: Kit,
    searches: Sequence[Search[Any]],
    budget: int,
    world: World,
    noticed: int,
    stop: bool = True,
) -> list[list[Step]]:
    """Search in several swarms side by side, one trial of each at a time; return their steps.

    ``noticed`` trials of the present controller come first, and are free.  With ``stop`` a search
    ends before its budget when further trials are not expected to pay.
    """
    steps: list[list[Step]] = [[] for _ in searches]
    for number in range(noticed + budget):
        free = number < noticed
        going = [k for k, one in enumerate(searches) if free or not (stop and one.done)]
        if not going:
            break
        asked = [searches[k].present if free else searches[k].ask() for k in going]
        rows = [searches[k].row(one) for k, one in zip(going, asked, strict=True)]
        given = world(number, going, rows)
        for k, row, controller, fitness in zip(going, rows, asked, given.tolist(), strict=True):
            search = searches[k]
            if free:
                search.tell(fitness, controller)
            else:
                search.tell(fitness)
            steps[k].append(
                Step(
                    row=row,
                    cell=_cell(kit, search, row),
                    fitness=fitness,
                    free=free,
                    best=search.best_row,
                    best_cell=_cell(kit, search, search.best_row),
                    believed=search.belief(),
                    gain=search.gain_belief,
                    worthwhile=search.worthwhile,
                    done=search.done,
                )
            )
    return steps


def _cell(kit: Kit, search: Search[Any], row: int) -> int:
    """Return the cell of what was tried, -1 of a team of several controllers."""
    members = set(search.members(row))
    return int(kit.cells[members.pop()]) if len(members) == 1 else -1
