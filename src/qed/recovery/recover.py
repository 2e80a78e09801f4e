"""recover(): find the controller of an archive that works best when robots break."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack, overload

import numpy as np

from qed.archive.archive import Archive
from qed.definitions import defined, same_as_stored
from qed.errors import InputError, choice, former
from qed.recovery import by_fault
from qed.recovery import trials as racing
from qed.recovery.recovery import ArchiveOptions, OnEvent, Recovery, Report, standard_error, watcher
from qed.recovery.trials import INDEPENDENT, Normal, Progress, Swarm, Trials, streams
from qed.swarm.backend import chosen
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.tasks import Task

KITS = "is for kits: kit.recover(faults=..., budget=10)"
TRIALS, SECONDS = 10, 400.0  # where an archive does not say what its own are


@overload
def recover(
    archive: Archive,
    task: str | Task | None = ...,
    faults: Faults = ...,
    **how: Unpack[ArchiveOptions],
) -> Recovery: ...


@overload
def recover(
    archive: Archive,
    task: str | Task | None = ...,
    faults: Sequence[Faults] = ...,
    **how: Unpack[ArchiveOptions],
) -> list[Recovery]: ...


@former(
    budget=KITS, strategy=KITS, reset=KITS, wrong="is for kits: kit.recover(misdiagnosis_rate=...)"
)
def recover(
    archive: Archive,
    task: str | Task | None = None,
    faults: Faults | Sequence[Faults] = (),
    *,
    by: str | None = None,
    trials: int | None = None,
    fresh: int = 50,
    seconds: float | None = None,
    seed: int = 1,
    protocol: str = INDEPENDENT,
    full: bool = False,
    environment: Environment | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    on_event: OnEvent | None = None,
    backend: str = "auto",
) -> Recovery | list[Recovery]:
    """Find the controller of an archive that works best in a broken swarm.

    The controllers race: all meet a tenth of the trials, and only the better ones meet them all.
    A search that does not know the fault, and needs about ten trials, is ``Kit.recover``.

    Parameters
    ----------
    archive : Archive
        From ``qed.evolve`` or a file.
    task : str or Task, optional
        What the swarm does (default: the archive's own).
    faults : Faults or sequence of Faults
        A combined fault, or several; several give a list of recoveries.
    by : {None, "fault"}
        "fault": a team, in which robots with the same fault share a controller; ``found.team``
        (default: one controller for all robots).
    trials : int, optional
        Trials of each controller, healthy and with each fault, to choose by (default: as many as
        in the archive's evolution).
    fresh : int, default 50
        Trials of the chosen controllers, which took no part in choosing.
    seconds : float, optional
        Simulated time of a trial (s; default: the archive's own).
    seed : int, default 1
        Decides start poses and noise, the same for every controller; independent of those of
        evolution, whatever its seed.
    protocol : {"independent", "authors"}
        "authors": choose on the very trials of evolution, as the paper's authors did; the fresh
        trials are the same.
    full : bool, default False
        Try every controller on all trials, without a race.
    environment : Environment, optional
        Where the swarm works (default: the normal environment).
    threads : int, optional
        CPU threads (default: all cores).
    progress : callable, optional
        Called with the number of swarms tried so far, and of all.
    on_event : callable, optional
        Called with an ``Event`` after each portion of swarms: what was tried, and what it gave.
        What it raises ends the search.
    backend : {"auto", "cpu", "cuda"}
        "cuda" is an NVIDIA GPU (at most 32 robots a swarm); "auto" takes it where it can be used,
        else the CPU.

    Returns
    -------
    Recovery, or a list of these
        One for each combined fault.

    Raises
    ------
    ValueError
        If an argument is wrong; the message names it and says what is allowed.

    Notes
    -----
    The normal best is the archive's best controller in that environment while all robots are
    healthy; impact and resilience are relative to its fitness.  The results of the two engines
    differ in rounding; each alone is reproducible.

    Examples
    --------
    >>> import qed
    >>> archive = qed.evolve(
    ...     "patrolling", evaluations=60, initial=20, trials=1, seconds=20.0
    ... )
    >>> broken = qed.Faults(["PMAX"] * 10)
    >>> found = qed.recover(archive, "patrolling", broken, trials=2, fresh=4)
    >>> -1.0 < found.impact < found.resilience  # about -0.56, and -0.08 after recovery
    True
    >>> found.controller in archive.controllers
    True
    """
    if not isinstance(archive, Archive):
        kind = type(archive).__name__
        kits = "; a kit searches with kit.recover(faults=...)" if kind == "Kit" else ""
        raise InputError(f"archive must be a qed.Archive, got {kind}{kits}")
    if by is not None:
        choice("by", by, by_fault.BY)
    how = trials_of(
        archive, task, trials=trials, fresh=fresh, seconds=seconds, seed=seed, protocol=protocol,
        environment=environment, threads=threads, watched=on_event is not None,
    )  # fmt: skip
    combined = how.checked(faults)
    how = replace(how, backend=chosen(backend, [how.environment], max(how.trials, how.fresh)))
    found = ArchiveSearch(archive, how, full).recover(combined, by, watcher(progress, on_event))
    return found[0] if isinstance(faults, Faults) else found


def trials_of(
    archive: Archive,
    task: str | Task | None = None,
    *,
    trials: int | None = None,
    seconds: float | None = None,
    seed: int = 1,
    protocol: str = INDEPENDENT,
    environment: Environment | None = None,
    **how: Any,
) -> Trials:
    """Return how an archive's controllers are tried; what is not given are the archive's own."""
    if len(archive) == 0:
        raise InputError("the archive is empty: it has no controller to recover with")
    settings = archive.header.get("settings", {})
    wanted = settings.get("task") if task is None else task
    if wanted is None:
        raise InputError("task: the archive does not name its task; give one")
    same_as_stored(archive.header, defined("task", wanted, Task))
    environment = environment or archive.environment
    return Trials(
        archive.genomes().networks(),
        wanted,
        trials=settings.get("trials", TRIALS) if trials is None else trials,
        seconds=settings.get("seconds", SECONDS) if seconds is None else seconds,
        streams=streams(seed, protocol, archive.header),
        environment=environment,
        robot=archive.robot,
        **how,
    )


class ArchiveSearch:
    """A search of all controllers of an archive; what healthy swarms did is kept for the next.

    Controllers race unless it is ``full``; a race ends as the full search does, as a rule, at a
    fifth of its cost.
    """

    def __init__(
        self, archive: Archive, how: Trials, full: bool = False, normal: Normal | None = None
    ) -> None:
        self.archive, self.how, self.normal = archive, how, normal
        self.controllers, self.cells = len(how.networks), archive.occupied
        self.full = full or not racing.races(self.controllers, how.trials)

    @property
    def planned(self) -> int:
        """How many swarms are tried, healthy or in a combined fault."""
        if self.full:
            return self.controllers
        return sum(count for count, _ in racing.heats(self.controllers, self.how.trials))

    def recover(
        self, faults: Sequence[Faults], by: str | None = None, watch: OnEvent | None = None
    ) -> list[Recovery]:
        """Find the best controller in each combined fault, or a team by fault."""
        each = self.planned
        conditions = len(faults) + (self.normal is None)
        total = each * conditions + (by_fault.planned(faults, self.controllers) if by else 0)
        report = Report(watch, self.cells, total)
        normal = self.healthy(report)
        fitness = self.broken(faults, normal, report)
        found = self._measured(faults, normal, fitness)
        if by is None:
            return found
        report.done, report.stage = each * conditions, "team"
        return by_fault.teams(self.archive, self.how, found, fitness, report)

    def healthy(self, report: Report) -> Normal:
        """Try the controllers while all robots are healthy, unless that was done before."""
        if self.normal is None:
            report.stage, report.candidates = "healthy", self.controllers
            if self.full:
                self.normal, _ = self.how.normal(report)
            else:
                race = self._race(None, self.how.streams.normal, (), report)
                fresh = float(self.how.evaluate_fresh([([race.winner], None)]).mean())
                self.normal = Normal(race.fitness, fresh)
        return self.normal

    def broken(self, faults: Sequence[Faults], normal: Normal, report: Report) -> np.ndarray:
        """Try the controllers in each combined fault; return their fitness, (faults, n)."""
        report.stage, report.candidates = "broken", self.controllers
        if self.full:
            return self.how.broken(faults, report)
        seed = self.how.streams.broken
        return np.array([self._race(one, seed, [normal.best], report).fitness for one in faults])

    def _race(
        self, faults: Faults | None, seed: int, always: Sequence[int], report: Report
    ) -> racing.RaceResult:
        def attempt(rows: np.ndarray, trials: int) -> np.ndarray:
            report.candidates = len(rows)
            swarms = [([row], faults) for row in rows.tolist()]
            found: np.ndarray = self.how.fitness(swarms, trials, seed, report).mean(1)
            return found

        return racing.race(self.controllers, self.how.trials, attempt, always)

    def _measured(
        self, faults: Sequence[Faults], normal: Normal, fitness: np.ndarray
    ) -> list[Recovery]:
        """Try the normal best and the best in each fault, by their fitness, on fresh trials."""
        how, before = self.how, normal.best
        winners = [int(np.argmax(values)) for values in fitness]
        each = zip(faults, winners, strict=True)
        swarms: list[Swarm] = [([row], one) for one, winner in each for row in (before, winner)]
        fresh = how.evaluate_fresh(swarms).reshape(len(faults), 2, how.fresh)
        distances = normal.distances
        if distances is None:
            known = how.distances(before, winners)
            distances = np.array([known.get(row, np.nan) for row in range(self.controllers)])
        genomes = self.archive.genomes()
        return [
            Recovery(
                task=how.task,
                faults=one,
                normal=normal.fresh,
                broken=float(kept.mean()),
                performance=float(changed.mean()),
                error=standard_error(changed),
                claimed_normal=float(normal.fitness[before]),
                claimed_broken=float(values[before]),
                claimed=float(values[after]),
                distance=float(distances[after]),
                normal_cell=int(self.cells[before]),
                cell=int(self.cells[after]),
                normal_controller=genomes.controller(before),
                controller=genomes.controller(after),
                fresh_seed=how.streams.fresh,
            )
            for one, after, values, (kept, changed) in zip(
                faults, winners, fitness, fresh, strict=True
            )
        ]
