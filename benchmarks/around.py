"""What the host does around the kernel: ``qed.simulate`` on a GPU with a stopwatch at each step.

``benchmarks/gpu.py --parts around`` uses it.
"""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any
from unittest.mock import patch

from numba import cuda

import qed
from qed.swarm import simulate as front
from qed.swarm.cuda import engine, packing
from qed.swarm.cuda.device import SIMULATED
from qed.swarm.cuda.workspace import Workspace
from qed.swarm.robot import CYCLE

SEEDS = itertools.count(1)  # one for each call: places are drawn anew
# What the host does, in this order.  Packing is without placing; sending is to lay out memory, copy
# and launch; while the kernel runs the host waits.
STEPS = ("checking", "placing", "packing", "sending", "waiting", "fetching", "collecting")
HEADING = (
    f"{'':19s}{'':5s}{'trial':>6s}{'G/s':>6s}{'kernel':>7s}{'share':>6s}   around it, ms\n"
    f"{'':19s}{'':5s}{'s':>6s}{'':19s}check place pack send fetch collect"
)


class Stopwatch:
    """The seconds of each step, and those of the kernels by the GPU's own clock."""

    def __init__(self) -> None:
        self.steps = dict.fromkeys(STEPS, 0.0)
        self._launches: list[tuple[Any, Any]] = []

    def timed(self, step: str, function: Callable[..., Any], within: str = "") -> Any:
        """Return a function that adds its time to a step, and takes it from the one around it."""

        def run(*args: Any, **more: Any) -> Any:
            begin = time.perf_counter()
            try:
                return function(*args, **more)
            finally:
                taken = time.perf_counter() - begin
                self.steps[step] += taken
                if within:
                    self.steps[within] -= taken

        return run

    def launching(self, ready: Callable[..., Any]) -> Any:
        """Return what makes kernels ready, with events of the GPU before and after each."""

        def made(kernel: Any, blocks: int, threads: int, stream: Any, shared: int = 0) -> Any:
            run = ready(kernel, blocks, threads, stream, shared)

            def launch(*arguments: Any) -> None:
                begin, end = cuda.event(), cuda.event()
                begin.record(stream)
                run(*arguments)
                end.record(stream)
                self._launches.append((begin, end))

            return launch

        return made

    def fetching(self, fetch: Callable[..., Any]) -> Any:
        """Return what fetches results, with the wait for the kernel apart."""
        wait = self.timed("waiting", lambda place: place.stream.synchronize())

        def run(place: Workspace, *wanted: tuple[str, int]) -> Any:
            if not SIMULATED:
                wait(place)
            return self.timed("fetching", fetch)(place, *wanted)

        return run

    def kernel(self) -> float:
        """Return the seconds of all launches."""
        if SIMULATED:
            return max(self.steps["sending"], 1e-9)
        return sum(begin.elapsed_time(end) for begin, end in self._launches) / 1e3


@contextmanager
def watched() -> Iterator[Stopwatch]:
    """Measure all steps of the simulations that are made meanwhile."""
    watch = Stopwatch()
    places = watch.timed("placing", packing.StartTables.find, within="packing")
    with ExitStack() as stack:
        for where, name, replaced in (
            (front, "checked", watch.timed("checking", front.checked)),
            (packing.StartTables, "find", lambda *given: places(*given)),
            (engine, "packed", watch.timed("packing", engine.packed)),
            (engine, "launch", watch.timed("sending", engine.launch)),
            (engine, "ready", watch.launching(engine.ready)),
            (Workspace, "fetch", watch.fetching(Workspace.fetch)),
            (engine, "_results", watch.timed("collecting", engine._results)),
            (front, "_outcome", watch.timed("collecting", front._outcome)),
        ):
            stack.enter_context(patch.object(where, name, replaced))
        yield watch


def measured(
    networks: Sequence[qed.Controller],
    environment: Any,
    seconds: float,
    trials: int = 50,
    repeats: int = 3,
) -> dict[str, Any]:
    """Return medians (s) of some calls: from call to result, of the kernel, and of all steps."""

    def simulated(lasting: float) -> float:
        new = [qed.Controller(one.connections, one.bias) for one in networks]
        gc.collect()  # what was made here is not for the simulation to look through
        begin = time.perf_counter()
        qed.simulate(
            new, environment, tasks="patrolling", trials=trials, seconds=lasting, seed=next(SEEDS),
            backend="cuda",
        )  # fmt: skip
        return time.perf_counter() - begin

    simulated(CYCLE)  # loads the kernel, and takes as much memory as is needed
    walls, kernels, steps = [], [], []
    for _ in range(repeats):
        with watched() as watch:
            walls.append(simulated(seconds))
            kernels.append(watch.kernel())
            steps.append(watch.steps)
    each = [environment] * len(networks) if environment is None else environment
    robots = sum((env or qed.Environment()).robots for env in each)
    robot_steps = robots * trials * round(seconds / CYCLE)
    return {
        "seconds": median(walls),
        "kernel_s": median(kernels),
        "speed": robot_steps / median(walls),
        "kernel_speed": robot_steps / median(kernels),
        "share": median(kernel / wall for kernel, wall in zip(kernels, walls, strict=True)),
        "steps": {step: median(one[step] for one in steps) for step in STEPS},
        "walls": walls,
    }


def printed(row: dict[str, Any]) -> str:
    """Return a line about one case; the share is that of the kernel's rate."""
    given = f"{row['case']:19s}{row['controllers']:5d}{row['trial_s']:6g}"
    speeds = f"{row['speed'] / 1e9:6.2f}{row['kernel_speed'] / 1e9:7.2f}{row['share']:6.0%}"
    times = "".join(f"{1e3 * row['steps'][step]:5.1f}" for step in STEPS if step != "waiting")
    return f"{given}{speeds}{times}"
