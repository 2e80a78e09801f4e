"""recover(): find the controller of an archive that works best when robots break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np

from qed.archive.archive import Archive
from qed.controller.network import Controller
from qed.errors import InputError
from qed.recovery import metrics
from qed.recovery.trials import Normal, Progress, Trials
from qed.swarm.backend import chosen
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults


@dataclass(frozen=True)
class Recovery:
    """What a combined fault does to a swarm, and what the archive has against it."""

    task: str
    faults: Faults
    normal: float  # fitness of the normal best while all robots are sound
    broken: float  # its fitness with the fault
    performance: float  # fitness of the recovery controller with the fault
    distance: float  # from the normal best's behaviour to the recovery's, 0 to 1
    normal_cell: int
    cell: int  # of the recovery controller
    normal_controller: Controller
    controller: Controller  # the one to recover with

    @property
    def impact(self) -> float:
        """Relative change of fitness when the fault strikes; -0.25: a quarter is lost."""
        return metrics.impact(self.normal, self.broken)

    @property
    def resilience(self) -> float:
        """Relative change of fitness that is left after recovery."""
        return metrics.resilience(self.normal, self.performance)


@dataclass(frozen=True)
class Found:
    """The numbers of a recovery, with solutions counted in the order of their cells."""

    normal_best: int
    recovery: int
    normal: float
    broken: float
    performance: float
    distance: float


def best_for(normal: Normal, broken: np.ndarray) -> Found:
    """Return the recovery from a fault in which the solutions have this fitness (n,)."""
    before, after = normal.best, int(np.argmax(broken))
    return Found(
        normal_best=before,
        recovery=after,
        normal=float(normal.fitness[before]),
        broken=float(broken[before]),
        performance=float(broken[after]),
        distance=float(normal.apart[after]),
    )


@overload
def recover(
    archive: Archive,
    task: str,
    faults: Faults,
    *,
    trials: int = ...,
    seconds: float = ...,
    seed: int = ...,
    environment: Environment | None = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
    backend: str = ...,
) -> Recovery: ...


@overload
def recover(
    archive: Archive,
    task: str,
    faults: Sequence[Faults],
    *,
    trials: int = ...,
    seconds: float = ...,
    seed: int = ...,
    environment: Environment | None = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
    backend: str = ...,
) -> list[Recovery]: ...


def recover(
    archive: Archive,
    task: str,
    faults: Faults | Sequence[Faults],
    *,
    trials: int = 10,
    seconds: float = 400.0,
    seed: int = 1,
    environment: Environment | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    backend: str = "auto",
) -> Recovery | list[Recovery]:
    """Try every controller of an archive in a broken swarm, and return the best.

    Parameters
    ----------
    archive : from ``qed.evolve`` or a file
    task : aggregation, dispersion, flocking, patrolling or border-patrolling
    faults : a combined fault, or several; several give a list of recoveries
    trials : trials of each controller, sound and with each fault
    seconds : simulated time of a trial (s)
    seed : decides start poses and noise, the same for every controller
    environment : where the swarm works; the normal environment unless told
    threads : CPU threads; all cores unless told
    progress : called with the number of swarms tried so far, and of all
    backend : "cpu", "cuda" (an NVIDIA GPU, at most 32 robots a swarm), or "auto": the GPU where
        it can be used, else the CPU

    The normal best is the archive's best controller in that environment while all robots are
    sound; impact and resilience are told relative to its fitness.  The results of the two
    engines differ in rounding; each alone is reproducible.
    """
    one = isinstance(faults, Faults)
    combined: list[Faults] = [faults] if isinstance(faults, Faults) else list(faults)
    how = Trials(task, trials, seconds, seed, environment or Environment(), threads)
    for fault in combined:
        how.check(fault)
    if not isinstance(archive, Archive):
        raise InputError(f"archive must be a qed.Archive, got {type(archive).__name__}")
    if archive.coverage == 0:
        raise InputError("the archive is empty: it has no controller to recover with")
    how = replace(how, backend=chosen(backend, [how.environment], how.trials))
    solutions, cells = archive.genomes(), archive.occupied
    swarms = len(cells) * (1 + len(combined))

    def told(before: int) -> Progress | None:
        return None if progress is None else lambda done, _: progress(before + done, swarms)

    normal, _ = how.normal(solutions, told(0))
    fitness = how.broken(solutions, combined, told(len(cells)))
    recoveries = []
    for fault, values in zip(combined, fitness, strict=True):
        found = best_for(normal, values)
        recoveries.append(
            Recovery(
                task=how.task,
                faults=fault,
                normal=found.normal,
                broken=found.broken,
                performance=found.performance,
                distance=found.distance,
                normal_cell=int(cells[found.normal_best]),
                cell=int(cells[found.recovery]),
                normal_controller=solutions.controller(found.normal_best),
                controller=solutions.controller(found.recovery),
            )
        )
    return recoveries[0] if one else recoveries
