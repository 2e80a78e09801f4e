"""How fast the simulator is on this machine: cases to simulate, and a stopwatch.

Speed is counted in robot-steps a second: robots x control cycles x trials x controllers,
divided by the seconds that ``simulate`` takes to score patrolling.
"""

import math
import platform
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple, Self

import numpy as np

from qed.compile import code_cache
from qed.controller.inputs import FIRST_RAB, LEFT, RIGHT
from qed.controller.network import GAIN, Controller
from qed.definitions import digest_of
from qed.swarm.backend import described
from qed.swarm.environment import Environment
from qed.swarm.faults import Fault, Faults
from qed.swarm.job import Start, checked
from qed.swarm.robot import CYCLE, THYMIO, Robot
from qed.swarm.simulate import Pending, cores, simulate
from qed.text import made_by

TRIAL_SECONDS = 400.0  # the paper's trial, s of simulated time
PROBE_SECONDS = 4.0  # simulated time that is enough to guess a speed
SHORTEST = 1e-3  # s of real time, below which a difference is noise
BATCH = 80  # controllers of a generation
KERNELS_AT_ONCE = 12  # processes: each takes some hundred megabytes of the GPU
SATURATED = 12.0  # a bias at which tanh is 1

STILL = Controller([], [0.0, 0.0])
STRAIGHT = Controller([], [SATURATED, SATURATED])  # until a wall, where it grinds


def gathering(turn: float = 1.0, ahead: float = 2.0, search: float = 0.4) -> Controller:
    """Return a controller that makes a swarm a tight cluster.

    A robot turns to the side where its range-and-bearing cones see others, and drives on into
    them.  One that sees nobody drives wide circles to the left, until it meets somebody.
    """
    left_side = [1, 2, 3, 4]  # cones at 45, 90, 135 and 180 degrees: behind counts as left
    right_side = [5, 6, 7]  # cones at -135, -90 and -45 degrees
    links = []
    for cones, sign in ((left_side, 1.0), (right_side, -1.0)):
        for cone in cones:
            heard = FIRST_RAB + cone
            links += [(heard, LEFT, sign * turn), (heard, RIGHT, -sign * turn)]
    # Cones that see nobody read 1; the left has one cone more, which would turn the robot.
    surplus = GAIN * turn * (len(left_side) - len(right_side))
    return Controller(links, [ahead - search - surplus, ahead + search + surplus])


def huddle(environment: Environment, trials: int) -> Start:
    """Return starts 0.16 m apart in the middle, headed anywhere; obstacles stand 1 m off."""
    middle = 0.5 * environment.arena
    robot = np.arange(environment.robots)
    columns = math.ceil(math.sqrt(environment.robots))
    places = 0.16 * (np.stack([robot % columns, robot // columns], -1) - 0.5 * (columns - 1))
    poses = np.empty((trials, environment.robots, 3))
    poses[..., :2] = middle + places
    poses[..., 2] = 2.4 * np.arange(poses[..., 2].size).reshape(trials, -1)
    angles = 2.0 * math.pi * np.arange(environment.obstacles) / max(environment.obstacles, 1)
    ring = middle + np.stack([np.cos(angles), np.sin(angles)], -1)
    return Start(poses, ring)


def random_networks(count: int = BATCH) -> list[Controller]:
    """Return the random networks of seeds 0, 1, 2, ..."""
    return [Controller.random(seed) for seed in range(count)]


@dataclass(frozen=True)
class Case:
    """What to simulate: controllers in one environment, or in one each."""

    controllers: Sequence[Controller]
    environment: Environment | Sequence[Environment] = field(default_factory=Environment)
    trials: int = 50
    seconds: float = TRIAL_SECONDS  # simulated time of a trial
    faults: Faults | None = None
    start: Start | None = None

    @property
    def robots(self) -> int:
        """Number of robots of all controllers together, in one trial of each."""
        if isinstance(self.environment, Environment):
            return self.environment.robots * len(self.controllers)
        return sum(environment.robots for environment in self.environment)

    @property
    def robot_steps(self) -> int:
        """Number of robot-steps."""
        return self.robots * self.trials * round(self.seconds / CYCLE)

    def time(self, threads: int) -> float:
        """Simulate once, and return the time it took (s)."""
        begin = perf_counter()
        simulate(
            self.controllers, self.environment, tasks="patrolling", trials=self.trials,
            seconds=self.seconds, faults=self.faults, start=self.start, threads=threads,
            backend="cpu",
        )  # fmt: skip
        return perf_counter() - begin

    def lasting(self, wall: float, threads: int) -> Self:
        """Return this case, with trials so short or long that it takes about ``wall`` s.

        A trial lasts no longer than the paper's 400 s of simulated time.
        """
        setup = replace(self, seconds=CYCLE).time(threads)
        probe = replace(self, seconds=PROBE_SECONDS).time(threads)
        guess = PROBE_SECONDS * (wall - setup) / max(probe - setup, SHORTEST)
        return replace(self, seconds=min(max(guess, CYCLE), TRIAL_SECONDS))


def warm_up(robot: Robot = THYMIO) -> None:
    """Compile or load the simulator of a robot, so that no measurement does."""
    still = Controller([], STILL.bias, robot=robot)
    Case([still], Environment(robot=robot), trials=1, seconds=CYCLE).time(threads=1)


class Kernel(NamedTuple):
    """What a GPU's kernel is compiled for; no text means without."""

    task: str
    sums: tuple[str, ...] = ()
    obstacles: int = 0
    fault: str | Fault = ""
    robot: Robot = THYMIO


def compile_kernels(kernels: Sequence[Kernel]) -> None:
    """Compile a GPU's kernels, several at once, and keep their code in the user's cache.

    One takes about ten seconds, and a study of all tasks and algorithms needs twenty: one after
    the other the GPU would wait for each where it is first needed.
    """
    asked = [(*kernel[:-1], kernel.robot.key) for kernel in kernels]
    mark = code_cache(gpu=True) / f"all-of-{digest_of(described('cuda', 1), asked)}"
    if mark.exists():
        return
    processes = min(len(kernels), cores(), KERNELS_AT_ONCE)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        done = [pool.submit(_compile, kernel) for kernel in kernels]
    # One that cannot be compiled raises its error where it is needed.
    if not any(future.exception() for future in done):
        with suppress(OSError):
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def _compile(kernel: Kernel) -> None:
    """Compile a kernel by simulating one cycle with it."""
    where = Environment(robot=kernel.robot, obstacles=kernel.obstacles)
    still = Controller([], STILL.bias, robot=kernel.robot)
    faults = Faults([kernel.fault] * where.robots) if kernel.fault else None
    job = checked(
        still, where, trials=1, seconds=CYCLE, seed=1, faults=faults, start=None, noise=0.0
    )
    Pending(job, [kernel.task], kernel.sums, 1, None, "cuda").outcome()


def thread_counts() -> list[int]:
    """Return one thread, and as many as there are cores."""
    return sorted({1, cores()})


def times(case: Case, threads: Sequence[int], repeats: int) -> dict[int, list[float]]:
    """Return the times (s) of a case with each number of threads.

    They take turns, so that whatever else the machine does meets all of them alike.
    """
    found: dict[int, list[float]] = {count: [] for count in threads}
    for _ in range(repeats):
        for count in threads:
            found[count].append(case.time(count))
    return found


def speeds(case: Case, threads: Sequence[int], repeats: int = 1) -> dict[int, float]:
    """Return the median speed (robot-steps/s) of a case with each number of threads."""
    taken = times(case, threads, repeats)
    return {count: case.robot_steps / median(walls) for count, walls in taken.items()}


def machine() -> dict[str, str | int]:
    """Return what a speed depends on: processor, cores, and versions."""
    return {"cpu": processor(), "cores": cores(), **made_by()}


def processor() -> str:
    """Return the processor's model."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
