"""What a recovery is in numbers, on the trials that chose a controller and on fresh ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypedDict

import numpy as np

if TYPE_CHECKING:
    from qed.controller.network import Controller, Team
    from qed.recovery.kit.play import Step
    from qed.recovery.search.search import Belief
    from qed.recovery.trials import Progress, Swarm
    from qed.swarm.environment import Environment
    from qed.swarm.faults import Faults

FORMER = {"luck": "selection_bias", "lived": "session", "wrong": "misdiagnosis_rate"}


def change(before: float, after: float) -> float:
    """Return (after - before) / before: impact and resilience; NaN if there was nothing to lose."""
    return (after - before) / before if before else math.nan


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of the mean of trials (n,), NaN below two."""
    if len(values) < 2:
        return math.nan
    return float(values.std(ddof=1)) / math.sqrt(len(values))


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """What a combined fault does to a swarm, and what an archive or a kit has against it.

    The plain numbers come from fresh trials, which took no part in choosing a controller.  Those
    called claimed come from the very trials that chose, as in the paper: they flatter, since the
    best of many on a few trials was in part lucky there.  Of a kit's search they are what it
    believes.

    Attributes
    ----------
    task : str
        What the swarm does.
    faults : Faults
        What is broken.
    normal : float
        Fitness of the normal best, the best controller while all robots are healthy.
    broken : float
        Its fitness with the fault.
    performance : float
        Fitness with the fault of the recovery controller, or of the team.
    error : float
        Standard error of ``performance``; NaN of a single fresh trial.
    claimed_normal, claimed_broken, claimed : float
        The same three on the trials that chose; of a team by fault ``claimed`` is that on the
        trials which decided on the last kind of fault.
    distance : float
        From the normal best's behaviour to the recovery's, 0 to 1; of a team the mean over robots.
    normal_cell, cell : int
        The archive's cells of the normal best and of the recovery controller.
    normal_controller, controller : Controller
        The normal best, and the one to recover with: of an archive's team the best for all robots,
        of a kit's team the one that most robots run.
    fresh_seed : int
        The seed with which ``qed.simulate`` and ``qed.trace`` repeat the fresh trials.
    team : Team or None
        By fault: a controller per robot.
    cells : tuple of int
        The archive's cells of what robots run: a single one, or by fault one per robot.
    one_for_all : float or None
        By fault, of an archive: fitness of ``controller`` in all robots, on fresh trials.
    gain : float or None
        By fault, of an archive: ``performance`` less that; of a kit: what its search expects the
        leader to gain over the controller that the swarm ran.
    gain_error : float or None
        By fault, of an archive: standard error of the gain, trial by trial.
    strategy : str or None
        Of a kit: how it searched.
    trace : tuple of Step
        Of a kit: what was tried, what it gave, and what was believed then.
    gain_belief : Belief or None
        Of a kit: the gain with an interval.
    worthwhile : bool or None
        Of a kit: whether the gain was clear, so that the controller was changed.
    row : int or None
        Of a kit: the recovery controller's number in it.
    diagnoses : Faults or None
        Of a kit, by fault: what the robots said is broken in them.
    misdiagnosis_rate : float or None
        Of a kit, by fault: how often they are wrong, as the search was told, 0 to 1.
    session : tuple of Step
        Of a kit, where nothing was reset: all that the swarm did, from before the fault to after
        the search.

    Examples
    --------
    >>> import qed
    >>> archive = qed.evolve(
    ...     "patrolling", evaluations=60, initial=20, trials=1, seconds=20.0
    ... )
    >>> broken = qed.Faults(["PMAX"] * 5 + ["NONE"] * 5)
    >>> found = qed.recover(archive, "patrolling", broken, trials=2, fresh=4)
    >>> found.impact == (found.broken - found.normal) / found.normal
    True
    >>> again = qed.simulate(
    ...     found.controller, tasks="patrolling", trials=4, seconds=20.0, faults=broken,
    ...     seed=found.fresh_seed,
    ... )
    >>> bool(again.fitness["patrolling"].mean() == found.performance)
    True
    >>> by_fault = qed.recover(archive, faults=broken, by="fault", trials=2, fresh=4)
    >>> len(by_fault.team), sorted(by_fault.plays)
    (10, ['NONE', 'PMAX'])
    """

    task: str
    faults: Faults
    normal: float
    broken: float
    performance: float
    error: float
    claimed_normal: float
    claimed_broken: float
    claimed: float
    distance: float
    normal_cell: int
    cell: int
    normal_controller: Controller
    controller: Controller
    fresh_seed: int
    team: Team | None = None
    cells: tuple[int, ...] = ()
    one_for_all: float | None = None
    gain: float | None = None
    gain_error: float | None = None
    strategy: str | None = None
    trace: tuple[Step, ...] = ()
    gain_belief: Belief | None = None
    worthwhile: bool | None = None
    row: int | None = None
    diagnoses: Faults | None = None
    misdiagnosis_rate: float | None = None
    session: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", self.cells or (self.cell,))

    @property
    def impact(self) -> float:
        """Relative change of fitness when the fault strikes; -0.25: a quarter is lost."""
        return change(self.normal, self.broken)

    @property
    def resilience(self) -> float:
        """Relative change of fitness that is left after recovery.

        It may be below the impact: on fresh trials the chosen controller can do worse than the
        normal best does with the fault.
        """
        return change(self.normal, self.performance)

    @property
    def claimed_impact(self) -> float:
        """The impact on the trials that chose."""
        return change(self.claimed_normal, self.claimed_broken)

    @property
    def claimed_resilience(self) -> float:
        """The resilience on the trials that chose, never below the impact there."""
        return change(self.claimed_normal, self.claimed)

    @property
    def selection_bias(self) -> float:
        """By how much the claimed fitness of what was chosen exceeds that on fresh trials."""
        return self.claimed - self.performance

    @property
    def one_for_all_resilience(self) -> float:
        """The resilience with one controller for all robots; NaN unless by fault of an archive."""
        best = self.one_for_all
        return math.nan if best is None else change(self.normal, best)

    @property
    def plays(self) -> dict[str, int]:
        """By fault: the cell of the controller for each fault, as the robots diagnosed it."""
        each = zip(self.diagnoses or self.faults, self.cells, strict=self.team is not None)
        return {} if self.team is None else dict(each)

    @property
    def trials(self) -> int:
        """Trials that a kit's search took; those in which the fault was noticed are free."""
        return sum(not step.free for step in self.trace)

    def __getattr__(self, name: str) -> NoReturn:
        new = f"; it is now {FORMER[name]}" if name in FORMER else ""
        raise AttributeError(f"a Recovery has no attribute {name!r}{new}")


@dataclass(frozen=True, eq=False)
class Event:
    """What ``on_event`` is told while a recovery is searched for; to raise there ends the search.

    Attributes
    ----------
    stage : {"healthy", "broken", "team", "trial"}
        Controllers of an archive are tried in healthy swarms, or in broken ones; controllers for
        the robots with one kind of fault are tried; or a kit's search has made a trial.
    faults : Faults or None
        What is broken, in the last of the swarms if it differs; None while all robots are healthy.
    cells : array of shape ``(n,)``
        The archive's cells of the controllers that were just tried, -1 for teams of several.
    fitness : array of shape ``(n,)``
        What each gave, mean over trials.
    candidates : int
        Controllers of the archive that are still in the race; of a kit all of them.
    done, total : int
        Swarms tried so far, and at most; of a kit rounds, in each of which every search that goes
        on makes a trial.
    step : Step or None
        Of a kit: the trial, and what is believed after it.
    """

    stage: str
    faults: Faults | None
    cells: np.ndarray
    fitness: np.ndarray
    candidates: int
    done: int
    total: int
    step: Step | None = None


OnEvent = Callable[[Event], Any]


class Options(TypedDict, total=False):
    """What archives and kits both take to recover a swarm."""

    by: Literal["fault"] | None
    fresh: int
    seconds: float | None
    seed: int
    environment: Environment | None
    threads: int | None
    progress: Progress | None
    on_event: OnEvent | None
    backend: str


class ArchiveOptions(Options, total=False):
    """What an archive takes."""

    trials: int | None
    protocol: str
    full: bool


class KitOptions(Options, total=False):
    """What a kit takes."""

    budget: int
    strategy: str
    misdiagnosis_rate: float | None
    reset: bool


@dataclass
class Report:
    """Counts swarms of a search as they are tried, and tells who watches."""

    watch: OnEvent | None
    cells: np.ndarray
    total: int
    stage: str = ""
    candidates: int = 0
    done: int = 0

    def __call__(self, swarms: Sequence[Swarm], fitness: np.ndarray) -> None:
        """Report some swarms and their fitness (swarms, trials)."""
        self.done += len(swarms)
        if self.watch is not None:
            cells = [self.cells[rows[0]] if len(set(rows)) == 1 else -1 for rows, _ in swarms]
            faults = swarms[-1][1] if swarms else None
            done = min(self.done, self.total)
            self.watch(
                Event(
                    self.stage, faults, np.array(cells), fitness.mean(1), self.candidates, done,
                    self.total,
                )
            )  # fmt: skip

    def reach(self, done: int) -> None:
        """Report that so many swarms are done with; some of them need not have been tried."""
        self.done = done
        self([], np.zeros((0, 1)))


def watcher(progress: Progress | None, on_event: OnEvent | None) -> OnEvent | None:
    """Return one callback for both."""
    if progress is None:
        return on_event

    def watch(event: Event) -> None:
        progress(event.done, event.total)
        if on_event is not None:
            on_event(event)

    return watch
