"""The GPU kernels of a study, compiled before it begins by several processes at once.

A kernel is compiled for what it adds up and for whether there are obstacles and faults; a study of
all tasks and algorithms needs twenty, some seconds each, and one after the other the GPU would wait
for each where it is first needed.  Their code is kept in the user's cache, where the study finds
it.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import multiprocessing
import signal
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from typing import Any, NamedTuple

from qed.compile import code_cache
from qed.controller.network import Controller
from qed.definitions import defined
from qed.evolution.algorithms import ALGORITHMS, Algorithm
from qed.evolution.swarms import TRIALS_IN_ONE_GO
from qed.study.plan import ROBOTS, Plan
from qed.swarm import robot
from qed.swarm.backend import described
from qed.swarm.environment import Environment
from qed.swarm.faults import FAULTS, Faults
from qed.swarm.job import Job
from qed.swarm.own import Law
from qed.swarm.simulate import Pending, cores
from qed.swarm.tasks import TASKS

AT_ONCE = 8  # processes: each takes some hundred megabytes of the GPU


class Kernel(NamedTuple):
    """What a kernel is compiled for."""

    task: str
    sums: tuple[str | Law, ...] = ()
    obstacles: bool = False
    faults: bool = False


def kernels(plan: Plan) -> list[Kernel]:
    """Return the kernels of a study, those that are needed first at the beginning."""
    found: dict[Any, Kernel] = {}

    def need(kernel: Kernel) -> None:
        measure = TASKS[kernel.task].measure
        scored = measure.law or measure.stage  # patrolling and border-patrolling share a stage
        found.setdefault((scored, *kernel[1:]), kernel)

    alone = plan.trials * plan.batch >= TRIALS_IN_ONE_GO  # otherwise several tasks share a kernel
    # What calls laws of users is compiled where it is needed.
    algorithms = [defined("algorithm", name, Algorithm) for name in plan.algorithms if alone]
    for task in (str(task) for task in plan.tasks if task in TASKS):
        for algorithm in algorithms:
            if not algorithm.features:
                need(Kernel(task, algorithm.sums, algorithm.environments is not None))
        need(Kernel(task, ALGORITHMS["spirit"].sums))
        need(Kernel(task, faults=True))
    return list(found.values())


def compile_ahead(
    plan: Plan,
    progress: Callable[[int, int], Any],
    pool: Callable[[int], Executor] | None = None,
) -> None:
    """Compile the kernels of a study, unless that was done before.

    One that cannot be compiled here raises its error later, where it is needed.
    """
    wanted = kernels(plan)
    name = hashlib.sha256(repr((described("cuda", 1), wanted)).encode()).hexdigest()[:16]
    mark = code_cache(gpu=True) / f"all-of-{name}"
    if mark.exists():
        return
    progress(0, len(wanted))
    count = max(min(len(wanted), cores(), AT_ONCE), 1)
    with (pool or _processes)(count) as workers:
        waiting = [workers.submit(compiled, kernel) for kernel in wanted]
        for done, _ in enumerate(as_completed(waiting), 1):
            progress(done, len(wanted))
    if all(future.exception() is None for future in waiting):
        with contextlib.suppress(OSError):
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def compiled(kernel: Kernel) -> None:
    """Compile a kernel, by simulating one robot-cycle or a few with it."""
    misheard = next(fault for fault in FAULTS.values() if fault.rab_offset)
    job = Job(
        controllers=[Controller([], [0.0, 0.0])],
        environments=[Environment(robots=ROBOTS, obstacles=2 if kernel.obstacles else 0)],
        faults=[Faults([misheard] * ROBOTS) if kernel.faults else None],
        seeds=[1],
        trials=1,
        cycles=1,
        start=None,
        noise=robot.PROXIMITY_NOISE,
    )
    with contextlib.redirect_stderr(io.StringIO()):  # who waits was told already
        Pending(job, [kernel.task], kernel.sums, 1, None, "cuda").outcome()


def _processes(count: int) -> Executor:
    # An interrupt is for the process that waits.
    return ProcessPoolExecutor(
        count,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )
