"""Kit.recover: play a kit's search, which does not know the fault, against the simulator.

Each trial begins anew, or a swarm goes through a session in a world that goes on: nothing is reset,
and the fault strikes meanwhile.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from qed.controller.network import Controller, Team
from qed.errors import InputError, choice, integer, number
from qed.recovery.by_fault import BY
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.library import diagnosed
from qed.recovery.recovery import Event, OnEvent, Recovery, standard_error
from qed.recovery.search.search import Belief, Search
from qed.recovery.search.strategies import LEARNED
from qed.recovery.search.teams import TeamSearch
from qed.recovery.trials import Swarm, Trials, listed, streams
from qed.streams import stream
from qed.swarm.backend import chosen
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.simulate import cores
from qed.swarm.tasks import Task
from qed.swarm.trace import Trace
from qed.swarm.world import World

NOTICED = 1  # trials of the present controller in which the fault was noticed; they are free
NORMAL, STRUCK, TRIAL, AFTER = "normal", "fault", "trial", "after"  # when a trial was
# From the trial's number and, search by search, the controller's row to the fitness each gave.
Attempt = Callable[[int, Sequence[int], Sequence[int]], np.ndarray]


@dataclass(frozen=True)
class Step:
    """One trial, under one controller, and what a search believed after it.

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
        What it gave.
    best, best_cell : int
        The controller to use after it, by its number and its cell.
    believed : Belief
        Of that controller's fitness with the fault.
    kept : Belief
        Of the fitness of the controller that the swarm ran before.
    gain : Belief
        Of the leader over that controller.
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

    moment: str
    row: int
    cell: int
    controller: Controller | Team
    fitness: float
    best: int
    best_cell: int
    believed: Belief
    kept: Belief
    gain: Belief
    worthwhile: bool
    done: bool
    expected: tuple[float, ...] = field(repr=False)

    @property
    def free(self) -> bool:
        """Whether it is the present controller's trial in which the fault was noticed."""
        return self.moment == STRUCK


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
    for trial in range(noticed + budget):
        free = trial < noticed
        going = [k for k, one in enumerate(searches) if free or not (stop and one.done)]
        if not going:
            break
        asked = [searches[k].present if free else searches[k].ask() for k in going]
        rows = [searches[k].row(one) for k, one in zip(going, asked, strict=True)]
        given = attempt(trial, going, rows).tolist()
        for k, row, controller, fitness in zip(going, rows, asked, given, strict=True):
            searches[k].tell(fitness, controller if free else None)
            steps[k].append(_step(kit, searches[k], STRUCK if free else TRIAL, row, fitness))
            if watch is not None:
                watch(_event(steps[k][-1], faults[k], len(searches[k].controllers), trial, budget))
    return steps


def _step(kit: Kit, search: Search[Any], moment: str, row: int, fitness: float) -> Step:
    return Step(
        moment=moment,
        row=row,
        cell=cell_of(kit, search, row),
        controller=search.controllers[row],
        fitness=fitness,
        best=search.best_row,
        best_cell=cell_of(kit, search, search.best_row),
        believed=search.belief(),
        kept=search.belief(search.present),
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


def new_world(task: str | Task, environment: Environment, seed: int) -> World:
    """Return a world at its beginning, the same for all faults: others must not matter."""
    return World(environment, task, stream("world that goes on", seed))


def run_sessions(
    kit: Kit,
    searches: Sequence[Search[Any]],
    faults: Sequence[Faults],
    how: Trials,
    seed: int,
    budget: int,
    watch: OnEvent | None = None,
    stop: bool = True,
) -> list[list[Step]]:
    """Let swarms go on: a healthy trial, the fault, the search's trials, and its answer."""
    worlds = [new_world(how.task, how.environment, seed) for _ in searches]

    def run(k: int, row: int) -> float:
        return float(worlds[k].run(searches[k].controllers[row], how.seconds))

    # The first one alone: it loads the machine code that all of them use.
    fitness = [run(0, kit.present)]
    with ThreadPoolExecutor(how.threads or cores()) as pool:
        fitness += pool.map(lambda k: run(k, kit.present), range(1, len(worlds)))
        each = zip(searches, fitness, strict=True)
        begun = [_step(kit, search, NORMAL, kit.present, value) for search, value in each]

        def attempt(number: int, going: Sequence[int], rows: Sequence[int]) -> np.ndarray:
            for k in going if number == 0 else ():
                worlds[k].faults = faults[k]
            return np.array(list(pool.map(run, going, rows)))

        steps = play(kit, searches, faults, budget, attempt, watch, stop=stop)
        answers = [search.best_row for search in searches]
        ended = pool.map(run, range(len(worlds)), answers)
        after = [
            _step(kit, search, AFTER, row, value)
            for search, row, value in zip(searches, answers, ended, strict=True)
        ]
    return [[first, *trace, last] for first, trace, last in zip(begun, steps, after, strict=True)]


def replay_session(
    world: World, session: Sequence[Step], faults: Faults, seconds: float
) -> Iterator[Trace]:
    """Watch a session again, trial by trial, in the world it began in."""
    for step in session:
        if step.moment == STRUCK:
            world.faults = faults
        yield world.trace(step.controller, seconds)


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
