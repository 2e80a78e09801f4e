"""Play a kit's search in worlds that go on: nothing is reset, the fault strikes meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.controller.network import Controller
from qed.controller.team import Team
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.play import Step, play
from qed.recovery.search.search import Belief, Search
from qed.recovery.trials import Progress, Trials
from qed.streams import stream
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.simulate import cores
from qed.swarm.tasks import Task
from qed.swarm.trace import Trace
from qed.swarm.world import World

NORMAL, STRUCK, TRIAL, AFTER = "normal", "fault", "trial", "after"  # what a stretch is


@dataclass(frozen=True)
class Stretch:
    """A stretch of a swarm's life, as long as a trial, under one controller.

    Attributes
    ----------
    moment : {"normal", "fault", "trial", "after"}
        Before the fault, as it struck, a trial of the search, or after the search.
    row, cell : int
        The controller, by its number in the search and by its cell in the archive (-1: a team of
        several).
    controller : Controller or Team
        The controller itself.
    fitness : float
        Of this stretch.
    best : int
        The controller that the search would use when it ended, by its number.
    believed : Belief
        Of that controller's fitness with the fault.
    kept : Belief
        Of the fitness of the controller that the swarm ran before.

    Examples
    --------
    >>> import qed
    >>> kit = qed.Kit.load("example:patrolling-kit")
    >>> broken = qed.Faults(["PMIN"] * 10)
    >>> found = qed.recover(
    ...     kit, faults=broken, budget=2, fresh=1, seconds=20.0, reset=False
    ... )
    >>> [stretch.moment for stretch in found.lived][:3]
    ['normal', 'fault', 'trial']
    """

    moment: str
    row: int
    cell: int
    controller: Controller | Team
    fitness: float
    best: int
    believed: Belief
    kept: Belief


class Life:
    """A swarm that goes on: healthy first, then broken, while a search tries controllers in it."""

    def __init__(
        self, kit: Kit, search: Search[Any], faults: Faults, how: Trials, seed: int
    ) -> None:
        self.kit, self.search, self.faults, self.seconds = kit, search, faults, how.seconds
        self.world = begun(how.task, how.environment, seed)
        self.stretches: list[Stretch] = []
        self._pending: tuple[str, int, float] | None = None

    def go_on(self, moment: str, row: int) -> float:
        """Let a controller drive the robots for the length of a trial; return its fitness."""
        self.settle()
        if moment == STRUCK:
            self.world.faults = self.faults
        fitness = self.world.run(self.search.controllers[row], self.seconds)
        self._pending = moment, row, fitness
        return fitness

    def settle(self) -> None:
        """Note what is believed after a stretch, once the search was told of it."""
        if self._pending is None:
            return
        moment, row, fitness = self._pending
        search, self._pending = self.search, None
        self.stretches.append(
            Stretch(
                moment=moment,
                row=row,
                cell=self._cell(row),
                controller=search.controllers[row],
                fitness=fitness,
                best=search.best_row,
                believed=search.belief(),
                kept=search.belief(search.present),
            )
        )

    def _cell(self, row: int) -> int:
        """Return the cell of a controller; a search over teams has them after the kit's."""
        cells = self.kit.cells
        return int(cells[row]) if row < len(cells) else -1


def begun(task: str | Task, environment: Environment, seed: int) -> World:
    """Return a world at its beginning, the same for all faults: others must not matter."""
    return World(environment, task, stream("world that goes on", seed))


def relived(
    world: World, stretches: Sequence[Stretch], faults: Faults, seconds: float
) -> Iterator[Trace]:
    """Watch a life again, stretch by stretch, in the world it began in."""
    for part in stretches:
        if part.moment == STRUCK:
            world.faults = faults
        yield world.trace(part.controller, seconds)


def lived(
    lives: Sequence[Life],
    budget: int,
    noticed: int,
    threads: int | None = None,
    progress: Progress | None = None,
    stop: bool = True,
) -> list[list[Step]]:
    """Let swarms live: a healthy stretch, the fault, the search's trials, and its answer.

    ``noticed`` stretches of the present controller after the fault are free, as in ``play``.
    """
    kit = lives[0].kit
    stretches = 2 + noticed + budget

    def tell(done: int) -> None:
        if progress is not None:
            progress(done, stretches)

    # The first one alone: it loads the machine code that all of them use.
    lives[0].go_on(NORMAL, kit.present)
    with ThreadPoolExecutor(threads or cores()) as pool:
        list(pool.map(lambda life: life.go_on(NORMAL, kit.present), lives[1:]))
        tell(1)

        def world(number: int, going: Sequence[int], rows: Sequence[int]) -> np.ndarray:
            moment = TRIAL if number >= noticed else STRUCK
            found = pool.map(lambda k, row: lives[k].go_on(moment, row), going, rows)
            told = np.array(list(found))
            tell(2 + number)
            return told

        searches = [life.search for life in lives]
        steps = play(kit, searches, budget, world, noticed, stop)
        list(pool.map(lambda life: life.go_on(AFTER, life.search.best_row), lives))
    for life in lives:
        life.settle()
    tell(stretches)
    return steps
