"""recover() with a kit: a search that does not know the fault, with a budget of trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from qed.controller.team import Team
from qed.descriptors import spirit
from qed.errors import InputError, choice, number, whole
from qed.recovery import metrics
from qed.recovery.by_fault import BY, ReadyTeam, drive
from qed.recovery.kit.diagnosis import diagnosed
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.live import Life, Stretch, lived
from qed.recovery.kit.play import Step, play
from qed.recovery.protocol import streams
from qed.recovery.recover import Recovery
from qed.recovery.search.search import Belief, Search
from qed.recovery.search.strategies import LEARNED
from qed.recovery.search.teams import TeamSearch
from qed.recovery.trials import Progress, Swarm, Trials
from qed.streams import stream
from qed.swarm.backend import chosen
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.job import Ready

NOTICED = 1  # trials of the present controller in which the fault was noticed; they are free


@dataclass(frozen=True)
class Searched(Recovery):
    """What a kit's search found, which did not know the fault; claimed numbers are its beliefs.

    Attributes
    ----------
    strategy : str
        How it searched.
    trace : tuple of Step
        What was tried, what it gave, and what was believed then.
    gain : Belief
        Of the leader over the controller that the swarm ran.
    worthwhile : bool
        Whether the gain was clear, so that the controller was changed.
    row : int
        The recovery controller's number in the kit.
    lived : tuple of Stretch
        The swarm's life where nothing was reset, else nothing.

    Examples
    --------
    >>> import qed
    >>> kit = qed.Kit.load("example:patrolling-kit")
    >>> broken = qed.Faults(["PMIN"] * 10)
    >>> found = qed.recover(kit, faults=broken, budget=3, fresh=4, seconds=20.0)
    >>> found.trials <= 3, found.trace[0].free
    (True, True)
    """

    strategy: str
    trace: tuple[Step, ...]
    gain: Belief
    worthwhile: bool
    row: int
    lived: tuple[Stretch, ...] = field(default=(), kw_only=True)

    @property
    def trials(self) -> int:
        """Trials that the search took; the free ones in which the fault was noticed come before."""
        return sum(not step.free for step in self.trace)


@dataclass(frozen=True)
class SearchedTeam(Searched):
    """What a search over teams found; ``controller`` is the one that most robots run.

    Attributes
    ----------
    team : Team
        A controller per robot.
    cells : tuple of int
        The archive's cells of these.
    diagnoses : Faults
        What the robots said is broken in them.
    wrong : float
        How often they are wrong, as the search was told, 0 to 1.

    Examples
    --------
    >>> import qed
    >>> kit = qed.Kit.load("example:patrolling-kit")
    >>> broken = qed.Faults(["PMIN"] * 5 + ["NONE"] * 5)
    >>> found = qed.recover(
    ...     kit, faults=broken, by="fault", budget=3, fresh=4, seconds=20.0
    ... )
    >>> len(found.team), found.diagnoses == broken
    (10, True)
    """

    team: Team
    cells: tuple[int, ...]
    diagnoses: Faults
    wrong: float

    @property
    def plays(self) -> dict[str, int]:
        """The cell of the controller for each diagnosis."""
        return dict(zip(self.diagnoses, self.cells, strict=True))


def recovered(
    kit: Kit,
    task: str | None,
    faults: Faults | Sequence[Faults],
    budget: int | None = None,
    strategy: str | None = None,
    *,
    full: bool = False,
    reset: bool = True,
    by: str | None = None,
    wrong: float | None = None,
    fresh: int = 50,
    seconds: float | None = None,
    seed: int = 1,
    environment: Environment | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    backend: str = "auto",
) -> Searched | list[Searched]:
    """Play a kit's search against the simulator, in each combined fault."""
    combined = [faults] if isinstance(faults, Faults) else list(faults)
    most = whole("budget", 10 if budget is None else budget, 1, 100_000)
    if full:
        raise InputError("full is for archives; for a kit use budget")
    if not combined:
        raise InputError("faults must hold at least one combined fault, got none")
    seeds = streams(seed)
    length = kit.seconds if seconds is None else seconds
    where = environment or kit.environment
    # A task of a user's own comes with the call, or with the file that defines it.
    how = Trials(kit.task if task is None else task, 10, fresh, length, seeds, where, threads)
    for fault in combined:
        if not isinstance(fault, Faults):
            raise InputError(f"faults must be qed.Faults, got {type(fault).__name__}")
        kit.check(task, len(fault) if environment is None else kit.environment.robots)
        how.check(fault)
    how = replace(how, backend=chosen(backend, [where], max(how.trials, how.fresh)))
    searches = _searches(kit, combined, strategy or LEARNED, by, wrong, seed)
    lives: list[Life] = []
    if reset:
        steps = simulated(kit, searches, combined, how, seed, most, progress)
    else:
        both = zip(searches, combined, strict=True)
        lives = [Life(kit, search, fault, how, seed) for search, fault in both]
        steps = lived(lives, most, NOTICED, threads, progress)
    found = _told(kit, searches, combined, steps, how)
    for k, life in enumerate(lives):
        found[k] = replace(found[k], lived=tuple(life.stretches))
    return found[0] if isinstance(faults, Faults) else found


def _searches(
    kit: Kit,
    faults: Sequence[Faults],
    strategy: str,
    by: str | None,
    wrong: float | None,
    seed: int,
) -> list[Search[Any]]:
    """Return a search for each fault, over teams if robots tell what is broken in them."""
    if by is None:
        if wrong is not None:
            raise InputError('wrong needs a search over teams; give by="fault" too')
        return [kit.search(strategy, seed=seed) for _ in faults]
    choice("by", by, BY)
    if strategy != LEARNED:
        raise InputError(f"strategy must be {LEARNED} by fault, got {strategy!r}")
    often = number("wrong", 0.0 if wrong is None else wrong, 0.0, 1.0)
    names = list(kit.playbook.plays)
    said = [
        diagnosed(fault, often, names, stream("diagnosis", seed, k))
        for k, fault in enumerate(faults)
    ]
    return [kit.search_teams(one, often) for one in said]


def trial_seed(seed: int, number: int, faults: Faults) -> int:
    """Return the seed of a trial of a search, by its number and the fault."""
    return stream("search trial", seed, number, ",".join(faults))


def simulated(
    kit: Kit,
    searches: Sequence[Search[Any]],
    faults: Sequence[Faults],
    how: Trials,
    seed: int,
    budget: int,
    progress: Progress | None = None,
    stop: bool = True,
) -> list[list[Step]]:
    """Let searches try what they ask for, in the simulator.

    Every trial of every fault has start poses and noise of its own.
    """
    solutions = Solutions(kit)

    def world(number: int, going: Sequence[int], rows: Sequence[int]) -> np.ndarray:
        swarms = [
            (solutions.of(searches[k].members(row)), faults[k])
            for k, row in zip(going, rows, strict=True)
        ]
        seeds = [trial_seed(seed, number, faults[k]) for k in going]
        found: np.ndarray = how.fitness(swarms, 1, seeds)[:, 0]
        if progress is not None:
            progress(number + 1, NOTICED + budget)
        return found

    return play(kit, searches, budget, world, NOTICED, stop)


def _told(
    kit: Kit,
    searches: Sequence[Search[Any]],
    faults: Sequence[Faults],
    steps: Sequence[list[Step]],
    how: Trials,
) -> list[Searched]:
    """Try what was found, and what the swarm ran before, on fresh trials."""
    teams = [search.members(search.best_row) for search in searches]
    solutions = Solutions(kit)
    unique = np.unique([kit.present, *(row for team in teams for row in team)])
    behaviours = how.behaviours([solutions[row] for row in unique.tolist()])
    home = behaviours[np.searchsorted(unique, kit.present)]
    apart = dict(zip(unique.tolist(), spirit.distance(home, behaviours).tolist(), strict=True))
    present = solutions[kit.present]
    swarms: list[Swarm] = [(present, None), *((present, fault) for fault in faults)]
    swarms += [(solutions.of(team), fault) for team, fault in zip(teams, faults, strict=True)]
    healthy, *others = how.again(swarms)
    kept, changed = others[: len(faults)], others[len(faults) :]
    found: list[Searched] = []
    for fault, search, team, trace, before, after in zip(
        faults, searches, teams, steps, kept, changed, strict=True
    ):
        row = max(team, key=team.count)
        numbers: dict[str, Any] = {
            "task": how.task,
            "faults": fault,
            "normal": float(healthy.mean()),
            "broken": float(before.mean()),
            "performance": float(after.mean()),
            "error": metrics.standard_error(after),
            "claimed_normal": float(kit.known.normal[kit.present]),
            "claimed_broken": search.belief(search.present).mean,
            "claimed": search.belief().mean,
            "distance": float(np.mean([apart[one] for one in team])),
            "normal_cell": int(kit.cells[kit.present]),
            "cell": int(kit.cells[row]),
            "normal_controller": kit.normal_best,
            "controller": kit.controllers[row],
            "fresh_seed": how.streams.fresh,
            "strategy": search.strategy,
            "trace": tuple(trace),
            "gain": search.gain_belief,
            "worthwhile": search.worthwhile,
            "row": row,
        }
        if isinstance(search, TeamSearch):
            said = search.diagnosed
            found.append(
                SearchedTeam(
                    **numbers,
                    team=search.best,
                    cells=tuple(kit.cells[team].tolist()),
                    diagnoses=Faults(said.faults),
                    wrong=said.wrong,
                )
            )
        else:
            found.append(Searched(**numbers))
    return found


class Solutions(dict[int, Ready]):
    """The networks of a kit's controllers, each made when it is first needed."""

    def __init__(self, kit: Kit) -> None:
        super().__init__()
        self.kit = kit

    def __missing__(self, row: int) -> Ready:
        self[row] = Ready(self.kit.controllers[row].network())
        return self[row]

    def of(self, rows: Sequence[int]) -> Ready | ReadyTeam:
        """Return what drives robots with these controllers."""
        return drive([self[row] for row in rows])
