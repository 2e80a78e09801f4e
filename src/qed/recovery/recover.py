"""recover(): find the controller of an archive that works best when robots break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from qed.archive.archive import Archive
from qed.controller.network import Controller
from qed.definitions import defined, same_as_stored
from qed.errors import InputError
from qed.recovery import metrics
from qed.recovery.kit.kit import Kit
from qed.recovery.protocol import INDEPENDENT, streams
from qed.recovery.race import races
from qed.recovery.raced import raced
from qed.recovery.trials import Normal, Progress, Trials
from qed.swarm.backend import chosen
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.job import Ready
from qed.swarm.tasks import Task

if TYPE_CHECKING:
    from qed.recovery.kit.recovered import Searched


@dataclass(frozen=True)
class Recovery:
    """What a combined fault does to a swarm, and what the archive has against it.

    The plain numbers come from fresh trials, which took no part in choosing a controller.  Those
    called claimed come from the very trials that chose, as in the paper: they flatter, since the
    best of many on a few trials was in part lucky there.
    """

    task: str
    faults: Faults
    normal: float  # fitness of the normal best while all robots are healthy
    broken: float  # its fitness with the fault
    performance: float  # fitness of the recovery controller with the fault
    error: float  # standard error of performance; NaN of a single fresh trial
    claimed_normal: float
    claimed_broken: float
    claimed: float  # fitness of the recovery controller on the trials that chose it
    distance: float  # from the normal best's behaviour to the recovery's, 0 to 1
    normal_cell: int
    cell: int  # of the recovery controller
    normal_controller: Controller
    controller: Controller  # the one to recover with
    fresh_seed: int  # the seed with which qed.simulate and qed.trace repeat the fresh trials

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


@overload
def recover(
    archive: Archive,
    task: str | Task,
    faults: Faults,
    *,
    trials: int = ...,
    fresh: int = ...,
    seconds: float | None = ...,
    seed: int = ...,
    protocol: str = ...,
    environment: Environment | None = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
    backend: str = ...,
    full: bool = ...,
) -> Recovery: ...


@overload
def recover(
    archive: Archive,
    task: str | Task,
    faults: Sequence[Faults],
    *,
    trials: int = ...,
    fresh: int = ...,
    seconds: float | None = ...,
    seed: int = ...,
    protocol: str = ...,
    environment: Environment | None = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
    backend: str = ...,
    full: bool = ...,
) -> list[Recovery]: ...


@overload
def recover(
    archive: Kit,
    task: str | Task | None = ...,
    faults: Faults = ...,
    *,
    full: bool = ...,
    reset: bool = ...,
    budget: int = ...,
    strategy: str = ...,
    fresh: int = ...,
    seconds: float | None = ...,
    seed: int = ...,
    environment: Environment | None = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
    backend: str = ...,
) -> Searched: ...


@overload
def recover(
    archive: Kit,
    task: str | Task | None = ...,
    faults: Sequence[Faults] = ...,
    *,
    full: bool = ...,
    reset: bool = ...,
    budget: int = ...,
    strategy: str = ...,
    fresh: int = ...,
    seconds: float | None = ...,
    seed: int = ...,
    environment: Environment | None = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
    backend: str = ...,
) -> list[Searched]: ...


def recover(
    archive: Archive | Kit,
    task: str | Task | None = None,
    faults: Faults | Sequence[Faults] = (),
    *,
    trials: int = 10,
    fresh: int = 50,
    seconds: float | None = None,
    seed: int = 1,
    protocol: str = INDEPENDENT,
    environment: Environment | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    backend: str = "auto",
    full: bool = False,
    budget: int | None = None,
    strategy: str | None = None,
    reset: bool = True,
) -> Any:
    """Find the controller that works best in a broken swarm: of an archive, or with a kit.

    An archive's controllers race: all meet a tenth of the trials, and only the better ones meet
    them all.  A kit's search does not know the fault and has a budget of trials, one after the
    other; so it works in a swarm without a simulator, too (``Kit.search``).

    Parameters
    ----------
    archive : from ``qed.evolve`` or a file; or a kit from ``qed.prepare``, which knows its task
    task : aggregation, dispersion, flocking, patrolling or border-patrolling, or a ``qed.Task``
    faults : a combined fault, or several; several give a list of recoveries
    trials : trials of each controller, healthy and with each fault, to choose by
    fresh : trials of the chosen controllers, which took no part in choosing
    seconds : simulated time of a trial (s; default: 400, or the kit's own)
    seed : decides start poses and noise, the same for every controller; independent of those of
        evolution, whatever its seed
    protocol : "independent", or "authors": choose on the very trials of evolution, as the
        paper's authors did; the fresh trials are the same
    environment : where the swarm works (default: the normal environment)
    threads : CPU threads (default: all cores)
    progress : called with the number of swarms tried so far, and of all
    backend : "cpu", "cuda" (an NVIDIA GPU, at most 32 robots a swarm), or "auto": the GPU where
        it can be used, else the CPU
    full : try every controller of an archive on all trials, without a race
    budget : trials of a kit's search (default: 10)
    strategy : of a kit's search (default: "learned"); see ``Kit.search``
    reset : False: a kit's search is played in a world that goes on (``qed.World``, on the CPU):
        robots stay where they are between trials, and break while the normal best runs

    The normal best is the archive's best controller in that environment while all robots are
    healthy; impact and resilience are told relative to its fitness.  The results of the two
    engines differ in rounding; each alone is reproducible.
    """
    one = isinstance(faults, Faults)
    if isinstance(archive, Kit):
        from qed.recovery.kit.recovered import recovered

        return recovered(
            archive, task, faults, budget, strategy, full=full, reset=reset, fresh=fresh,
            seconds=seconds, seed=seed, environment=environment, threads=threads,
            progress=progress, backend=backend,
        )  # fmt: skip
    combined: list[Faults] = [faults] if isinstance(faults, Faults) else list(faults)
    if not isinstance(archive, Archive):
        raise InputError(
            f"archive must be a qed.Archive or a qed.Kit, got {type(archive).__name__}"
        )
    if task is None:
        raise InputError("task must be named: an archive is searched for any task")
    for name, given in (("budget", budget), ("strategy", strategy)):
        if given is not None:
            raise InputError(f"{name} is for a kit's search; qed.prepare makes a kit of an archive")
    if not reset:
        raise InputError("reset=False is for a kit's search; qed.prepare makes a kit of an archive")
    length = 400.0 if seconds is None else seconds
    seeds = streams(seed, protocol, archive.header)
    same_as_stored(archive.header, defined("task", task, Task))
    how = Trials(task, trials, fresh, length, seeds, environment or Environment(), threads)
    for fault in combined:
        how.check(fault)
    if not combined:
        raise InputError("faults must hold at least one combined fault, got none")
    if len(archive) == 0:
        raise InputError("the archive is empty: it has no controller to recover with")
    how = replace(how, backend=chosen(backend, [how.environment], max(how.trials, how.fresh)))
    genomes, cells = archive.genomes(), archive.occupied
    solutions = [Ready(network) for network in genomes.networks()]
    swarms = len(cells) * (1 + len(combined))

    def told(before: int) -> Progress | None:
        return None if progress is None else lambda done, _: progress(before + done, swarms)

    if full or not races(len(solutions), how.trials):
        normal, _ = how.normal(solutions, told(0))
        founds = search(how, solutions, normal, combined, told(len(cells)))
    else:
        normal, fitness = raced(how, solutions, combined, progress)
        founds = again(how, solutions, normal, combined, fitness)
    recoveries = [
        Recovery(
            task=how.task,
            faults=fault,
            normal=found.normal,
            broken=found.broken,
            performance=found.performance,
            error=found.error,
            claimed_normal=found.claimed_normal,
            claimed_broken=found.claimed_broken,
            claimed=found.claimed,
            distance=found.distance,
            normal_cell=int(cells[found.normal_best]),
            cell=int(cells[found.recovery]),
            normal_controller=genomes.controller(found.normal_best),
            controller=genomes.controller(found.recovery),
            fresh_seed=seeds.fresh,
        )
        for fault, found in zip(combined, founds, strict=True)
    ]
    return recoveries[0] if one else recoveries
