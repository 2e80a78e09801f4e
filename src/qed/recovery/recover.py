"""recover(): find the controller of an archive that works best when robots break."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

from qed.archive.archive import Archive
from qed.definitions import defined, same_as_stored
from qed.errors import InputError, choice
from qed.recovery.by_fault import BY, TeamRecovery, as_teams
from qed.recovery.by_fault import planned as planned_team
from qed.recovery.found import Found, Recovery, again, search
from qed.recovery.kit.kit import Kit
from qed.recovery.protocol import INDEPENDENT, streams
from qed.recovery.race import races
from qed.recovery.raced import planned as planned_race
from qed.recovery.raced import raced
from qed.recovery.trials import Progress, Trials
from qed.swarm.backend import chosen
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.job import Ready
from qed.swarm.tasks import Task

if TYPE_CHECKING:
    from qed.recovery.kit.recovered import Searched, SearchedTeam

__all__ = ["Found", "Recovery", "TeamRecovery", "recover", "search"]

TRIALS = 10  # of each controller of an archive, by default


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
    by: Literal["fault"],
) -> TeamRecovery: ...


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
    by: Literal["fault"],
) -> list[TeamRecovery]: ...


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
    by: None = ...,
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
    by: None = ...,
) -> list[Recovery]: ...


@overload
def recover(
    archive: Kit,
    task: str | Task | None = ...,
    faults: Faults = ...,
    *,
    full: bool = ...,
    reset: bool = ...,
    by: Literal["fault"],
    wrong: float | None = ...,
    budget: int = ...,
    strategy: str = ...,
    fresh: int = ...,
    seconds: float | None = ...,
    seed: int = ...,
    environment: Environment | None = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
    backend: str = ...,
) -> SearchedTeam: ...


@overload
def recover(
    archive: Kit,
    task: str | Task | None = ...,
    faults: Sequence[Faults] = ...,
    *,
    full: bool = ...,
    reset: bool = ...,
    by: Literal["fault"],
    wrong: float | None = ...,
    budget: int = ...,
    strategy: str = ...,
    fresh: int = ...,
    seconds: float | None = ...,
    seed: int = ...,
    environment: Environment | None = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
    backend: str = ...,
) -> list[SearchedTeam]: ...


@overload
def recover(
    archive: Kit,
    task: str | Task | None = ...,
    faults: Faults = ...,
    *,
    full: bool = ...,
    reset: bool = ...,
    by: None = ...,
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
    by: None = ...,
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
    trials: int = TRIALS,
    fresh: int = 50,
    seconds: float | None = None,
    seed: int = 1,
    protocol: str = INDEPENDENT,
    environment: Environment | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    backend: str = "auto",
    full: bool = False,
    by: str | None = None,
    wrong: float | None = None,
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
    archive : Archive or Kit
        From ``qed.evolve`` or a file; or a kit from ``qed.prepare``, which knows its task.
    task : str or Task, optional
        Aggregation, dispersion, flocking, patrolling or border-patrolling, or a ``qed.Task``; for
        a kit its own by default.
    faults : Faults or sequence of Faults
        A combined fault, or several; several give a list of recoveries.
    trials : int, default 10
        Trials of each controller, healthy and with each fault, to choose by.
    fresh : int, default 50
        Trials of the chosen controllers, which took no part in choosing.
    seconds : float, optional
        Simulated time of a trial (s; default: 400, or the kit's own).
    seed : int, default 1
        Decides start poses and noise, the same for every controller; independent of those of
        evolution, whatever its seed.
    protocol : {"independent", "authors"}
        "authors": choose on the very trials of evolution, as the paper's authors did; the fresh
        trials are the same.
    environment : Environment, optional
        Where the swarm works (default: the normal environment, or the kit's own).
    threads : int, optional
        CPU threads (default: all cores).
    progress : callable, optional
        Called with the number of swarms tried so far, and of all.
    backend : {"auto", "cpu", "cuda"}
        "cuda" is an NVIDIA GPU (at most 32 robots a swarm); "auto" takes it where it can be used,
        else the CPU.
    full : bool, default False
        Try every controller of an archive on all trials, without a race.
    by : {None, "fault"}
        "fault": a team, in which robots with the same fault share a controller; ``found.team``
        (default: one controller for all robots).  With a kit each robot tells its own fault.
    wrong : float, optional
        Probability that a robot of a kit's search by fault is wrong about itself (default: 0).
    budget : int, optional
        Trials of a kit's search (default: 10).
    strategy : str, optional
        Of a kit's search (default: "learned"); see ``Kit.search``.
    reset : bool, default True
        False: a kit's search is played in a world that goes on (``qed.World``, on the CPU): robots
        stay where they are between trials, and break while the normal best runs.

    Returns
    -------
    Recovery, or a list of these
        One for each combined fault; of an archive by fault ``TeamRecovery``, of a kit ``Searched``,
        and by fault ``SearchedTeam``.

    Raises
    ------
    ValueError
        If an argument is wrong; the message names it and says what is allowed.

    Notes
    -----
    The normal best is the archive's best controller in that environment while all robots are
    healthy; impact and resilience are told relative to its fitness.  The results of the two
    engines differ in rounding; each alone is reproducible.

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
    >>> -1.0 < found.impact < found.resilience  # about -0.56, and -0.08 after recovery
    True
    >>> found.controller in archive.controllers
    True
    """
    one = isinstance(faults, Faults)
    if not isinstance(faults, Faults | Iterable):
        kind = type(faults).__name__
        raise InputError(f"faults must be qed.Faults, or a list of these, got {kind}")
    if isinstance(archive, Kit):
        from qed.recovery.kit.recovered import recovered

        if trials != TRIALS:
            raise InputError("trials is for an archive; a kit's search has a budget")
        if protocol != INDEPENDENT:
            raise InputError("protocol is for an archive; a kit's trials are its own")
        return recovered(
            archive, task, faults, budget, strategy, full=full, reset=reset, by=by, wrong=wrong,
            fresh=fresh,
            seconds=seconds, seed=seed, environment=environment, threads=threads,
            progress=progress, backend=backend,
        )  # fmt: skip
    combined: list[Faults] = [faults] if isinstance(faults, Faults) else list(faults)
    if not isinstance(archive, Archive):
        raise InputError(
            f"archive must be a qed.Archive or a qed.Kit, got {type(archive).__name__}"
        )
    if task is None:
        raise InputError("task is missing: give the task to recover")
    for name, given in (("budget", budget), ("strategy", strategy), ("wrong", wrong)):
        if given is not None:
            raise InputError(f"{name} needs a kit; qed.prepare makes one from an archive")
    if not reset:
        raise InputError("reset=False needs a kit; qed.prepare makes one from an archive")
    if by is not None:
        choice("by", by, BY)
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
    racing = not full and races(len(solutions), how.trials)
    searched = len(cells) * (1 + len(combined))
    if racing:
        searched = planned_race(len(cells), how.trials, len(combined))
    swarms = searched + (planned_team(combined, len(cells)) if by else 0)

    def told(before: int) -> Progress | None:
        return None if progress is None else lambda done, _: progress(before + done, swarms)

    if racing:
        normal, fitness = raced(how, solutions, combined, told(0))
    else:
        normal, _ = how.normal(solutions, told(0))
        fitness = how.broken(solutions, combined, told(len(cells)))
    founds = again(how, solutions, normal, combined, fitness)
    recoveries: Sequence[Recovery] = [
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
    if by is not None:
        recoveries = as_teams(how, solutions, archive, recoveries, fitness, told(searched))
    return recoveries[0] if one else recoveries
