"""Play a kit's search against the simulator, which alone knows the fault.

Each trial begins anew, or a swarm goes through a session in a world that goes on: nothing is reset,
and the fault strikes meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qed.controller.network import Controller
from qed.controller.team import Team
from qed.recovery.kit.kit import Kit
from qed.recovery.recovery import Event, OnEvent
from qed.recovery.search.search import Belief, Search
from qed.recovery.trials import Swarm, Trials
from qed.streams import stream
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.simulate import cores
from qed.swarm.tasks import Task
from qed.swarm.trace import Trace
from qed.swarm.world import World

NOTICED = 1  # trials of the present controller in which the fault was noticed; they are free
NORMAL, STRUCK, TRIAL, AFTER = "normal", "fault", "trial", "after"  # what a period is
# From the trial's number and, search by search, the controller's row to the fitness each gave.
Attempt = Callable[[int, Sequence[int], Sequence[int]], np.ndarray]


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
    expected : tuple of float
        Of all controllers of the search, by their numbers: expected fitness.

    Examples
    --------
    >>> import qed
    >>> kit = qed.Kit.load("example:patrolling-kit")
    >>> broken = qed.Faults(["PMIN"] * 10)
    >>> found = kit.recover(faults=broken, budget=2, fresh=1, seconds=20.0)
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
    expected: tuple[float, ...] = field(repr=False)


@dataclass(frozen=True)
class Period:
    """A part of a swarm's session, as long as a trial, under one controller.

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
        Of this period.
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
    >>> found = kit.recover(faults=broken, budget=2, fresh=1, seconds=20.0, reset=False)
    >>> [period.moment for period in found.session][:3]
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


def play(
    kit: Kit,
    searches: Sequence[Search[Any]],
    faults: Sequence[Faults],
    budget: int,
    attempt: Attempt,
    watch: OnEvent | None = None,
    *,
    noticed: int = NOTICED,
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
        given = attempt(number, going, rows).tolist()
        for k, row, controller, fitness in zip(going, rows, asked, given, strict=True):
            searches[k].tell(fitness, controller if free else None)
            steps[k].append(_step(kit, searches[k], row, fitness, free))
            if watch is not None:
                watch(_event(steps[k][-1], faults[k], len(searches[k].controllers), number, budget))
    return steps


def _step(kit: Kit, search: Search[Any], row: int, fitness: float, free: bool) -> Step:
    return Step(
        row=row,
        cell=cell_of(kit, search, row),
        fitness=fitness,
        free=free,
        best=search.best_row,
        best_cell=cell_of(kit, search, search.best_row),
        believed=search.belief(),
        gain=search.gain_belief,
        worthwhile=search.worthwhile,
        done=search.done,
        expected=tuple(search.expected.tolist()),
    )


def _event(step: Step, faults: Faults, candidates: int, number: int, budget: int) -> Event:
    done, total = number + 1, NOTICED + budget
    cells, fitness = np.array([step.cell]), np.array([step.fitness])
    return Event(TRIAL, faults, cells, fitness, candidates, done, total, step)


def cell_of(kit: Kit, search: Search[Any], row: int) -> int:
    """Return the cell of what is tried, -1 of a team of several controllers."""
    members = set(search.members(row))
    return int(kit.cells[members.pop()]) if len(members) == 1 else -1


def simulated(
    kit: Kit,
    searches: Sequence[Search[Any]],
    faults: Sequence[Faults],
    how: Trials,
    seed: int,
    budget: int,
    watch: OnEvent | None = None,
    stop: bool = True,
) -> list[list[Step]]:
    """Let searches try what they ask for, in the simulator; ``how`` has the kit's networks.

    Every trial of every fault has start poses and noise of its own.
    """

    def attempt(number: int, going: Sequence[int], rows: Sequence[int]) -> np.ndarray:
        each = list(zip(going, rows, strict=True))
        swarms: list[Swarm] = [(searches[k].members(row), faults[k]) for k, row in each]
        seeds = [stream("search trial", seed, number, ",".join(faults[k])) for k in going]
        found: np.ndarray = how.fitness(swarms, 1, seeds)[:, 0]
        return found

    return play(kit, searches, faults, budget, attempt, watch, stop=stop)


class Session:
    """A swarm that goes on: healthy first, then broken, while a search tries controllers in it."""

    def __init__(
        self, kit: Kit, search: Search[Any], faults: Faults, how: Trials, seed: int
    ) -> None:
        self.kit, self.search, self.faults, self.seconds = kit, search, faults, how.seconds
        self.world = new_world(how.task, how.environment, seed)
        self.periods: list[Period] = []
        self._pending: tuple[str, int, float] | None = None

    def step(self, moment: str, row: int) -> float:
        """Let a controller drive the robots for the length of a trial; return its fitness."""
        self.settle()
        if moment == STRUCK:
            self.world.faults = self.faults
        fitness = self.world.run(self.search.controllers[row], self.seconds)
        self._pending = moment, row, fitness
        return fitness

    def settle(self) -> None:
        """Note what is believed after a period, once the search was told its fitness."""
        if self._pending is None:
            return
        moment, row, fitness = self._pending
        search, self._pending = self.search, None
        self.periods.append(
            Period(
                moment=moment,
                row=row,
                cell=cell_of(self.kit, search, row),
                controller=search.controllers[row],
                fitness=fitness,
                best=search.best_row,
                believed=search.belief(),
                kept=search.belief(search.present),
            )
        )


def new_world(task: str | Task, environment: Environment, seed: int) -> World:
    """Return a world at its beginning, the same for all faults: others must not matter."""
    return World(environment, task, stream("world that goes on", seed))


def replay_session(
    world: World, session: Sequence[Period], faults: Faults, seconds: float
) -> Iterator[Trace]:
    """Watch a session again, period by period, in the world it began in."""
    for period in session:
        if period.moment == STRUCK:
            world.faults = faults
        yield world.trace(period.controller, seconds)


def run_sessions(
    sessions: Sequence[Session],
    budget: int,
    threads: int | None = None,
    watch: OnEvent | None = None,
    stop: bool = True,
) -> list[list[Step]]:
    """Run a healthy period, the fault, the search's trials, and its answer, in each session."""
    kit = sessions[0].kit
    # The first one alone: it loads the machine code that all of them use.
    sessions[0].step(NORMAL, kit.present)
    with ThreadPoolExecutor(threads or cores()) as pool:
        list(pool.map(lambda one: one.step(NORMAL, kit.present), sessions[1:]))

        def attempt(number: int, going: Sequence[int], rows: Sequence[int]) -> np.ndarray:
            moment = TRIAL if number >= NOTICED else STRUCK
            found = pool.map(lambda k, row: sessions[k].step(moment, row), going, rows)
            return np.array(list(found))

        searches, faults = [one.search for one in sessions], [one.faults for one in sessions]
        steps = play(kit, searches, faults, budget, attempt, watch, stop=stop)
        list(pool.map(lambda one: one.step(AFTER, one.search.best_row), sessions))
    for one in sessions:
        one.settle()
    return steps
