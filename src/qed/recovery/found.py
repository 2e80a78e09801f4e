"""What a recovery is in numbers, on the trials that chose a controller and on fresh ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qed.controller.network import Controller
from qed.recovery import metrics
from qed.recovery.trials import Normal, Progress, Trials
from qed.swarm.faults import Faults
from qed.swarm.job import Ready


@dataclass(frozen=True)
class Recovery:
    """What a combined fault does to a swarm, and what the archive has against it.

    The plain numbers come from fresh trials, which took no part in choosing a controller.  Those
    called claimed come from the very trials that chose, as in the paper: they flatter, since the
    best of many on a few trials was in part lucky there.

    Attributes
    ----------
    task : str
        What the swarm does.
    faults : Faults
        What is broken.
    normal : float
        Fitness of the normal best, the archive's best controller while all robots are healthy.
    broken : float
        Its fitness with the fault.
    performance : float
        Fitness of the recovery controller with the fault.
    error : float
        Standard error of ``performance``; NaN of a single fresh trial.
    claimed_normal, claimed_broken, claimed : float
        The same three on the trials that chose.
    distance : float
        From the normal best's behaviour to the recovery's, 0 to 1.
    normal_cell, cell : int
        The archive's cells of the normal best and of the recovery controller.
    normal_controller, controller : Controller
        The normal best, and the one to recover with.
    fresh_seed : int
        The seed with which ``qed.simulate`` and ``qed.trace`` repeat the fresh trials.

    Examples
    --------
    >>> import qed
    >>> archive = qed.evolve(
    ...     "patrolling", evaluations=60, initial=20, trials=1, seconds=20.0
    ... )
    >>> broken = qed.Faults(["PMAX"] * 10)
    >>> found = qed.recover(
    ...     archive, "patrolling", broken, trials=2, fresh=4, seconds=20.0
    ... )
    >>> found.impact == (found.broken - found.normal) / found.normal
    True
    >>> again = qed.simulate(
    ...     found.controller, tasks="patrolling", trials=4, seconds=20.0, faults=broken,
    ...     seed=found.fresh_seed,
    ... )
    >>> bool(again.fitness["patrolling"].mean() == found.performance)
    True
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

    @property
    def impact(self) -> float:
        """Relative change of fitness when the fault strikes; -0.25: a quarter is lost."""
        return metrics.impact(self.normal, self.broken)

    @property
    def resilience(self) -> float:
        """Relative change of fitness that is left after recovery.

        It may be below the impact: on fresh trials the chosen controller can do worse than the
        normal best does with the fault.
        """
        return metrics.resilience(self.normal, self.performance)

    @property
    def claimed_impact(self) -> float:
        """The impact on the trials that chose."""
        return metrics.impact(self.claimed_normal, self.claimed_broken)

    @property
    def claimed_resilience(self) -> float:
        """The resilience on the trials that chose, never below the impact there."""
        return metrics.resilience(self.claimed_normal, self.claimed)

    @property
    def luck(self) -> float:
        """What the claimed fitness of the recovery controller owes to luck."""
        return self.claimed - self.performance


@dataclass(frozen=True)
class Found:
    """The numbers of a recovery, with solutions counted in the order of their cells."""

    normal_best: int
    recovery: int
    normal: float
    broken: float
    performance: float
    error: float
    claimed_normal: float
    claimed_broken: float
    claimed: float
    distance: float


def search(
    how: Trials,
    solutions: Sequence[Ready],
    normal: Normal,
    faults: Sequence[Faults],
    progress: Progress | None = None,
) -> list[Found]:
    """Choose the solution that does best in each combined fault, and try the chosen again."""
    return again(how, solutions, normal, faults, how.broken(solutions, faults, progress))


def again(
    how: Trials,
    solutions: Sequence[Ready],
    normal: Normal,
    faults: Sequence[Faults],
    fitness: np.ndarray,
) -> list[Found]:
    """Try the normal best and the best in each fault, by their fitness (faults, n), once more."""
    before = normal.best
    winners = [int(np.argmax(values)) for values in fitness]
    fresh = how.again(
        [
            (solutions[chosen], fault)
            for fault, winner in zip(faults, winners, strict=True)
            for chosen in (before, winner)
        ]
    ).reshape(len(faults), 2, how.fresh)
    return [
        Found(
            normal_best=before,
            recovery=after,
            normal=normal.fresh,
            broken=float(kept.mean()),
            performance=float(changed.mean()),
            error=metrics.standard_error(changed),
            claimed_normal=float(normal.fitness[before]),
            claimed_broken=float(values[before]),
            claimed=float(values[after]),
            distance=float(normal.apart[after]),
        )
        for after, values, (kept, changed) in zip(winners, fitness, fresh, strict=True)
    ]
