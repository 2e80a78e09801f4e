"""An exported program beside the simulator's controller: output by output, and in the world.

A program runs in a process of its own: one frame of values in, one of wheels out.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from qed.errors import StoppedError
from qed.programs.network import Network, Reference
from qed.swarm import robot
from qed.swarm.environment import Environment
from qed.swarm.tasks import Task
from qed.swarm.world import World

RANDOM_CYCLES, RANDOM_ROBOTS = 100, 20
LISTED = 10  # cycles that differ
ALIKE = 0.01  # fitness
SOURCES = Path(__file__).with_name("sources")


class Running:
    """A program that drives robots; ``hidden`` values are set before each step (0: its own)."""

    def __init__(
        self,
        command: Sequence[str],
        robots: int,
        scratch: TemporaryDirectory[str] | None = None,  # removed with it
        where: dict[str, str] | None = None,  # its environment
    ) -> None:
        self.robots, self._scratch = robots, scratch
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            list(command), stdin=pipe, stdout=pipe, stderr=pipe, env=where
        )

    def step(self, values: np.ndarray) -> np.ndarray:
        """Return the wheels (robots, 2) for inputs, and hidden values if they are set."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(values.astype("<f8").tobytes())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self._process.stdout.read(16 * self.robots)
        if len(answer) < 16 * self.robots:
            assert self._process.stderr is not None
            said = self._process.stderr.read().decode(errors="replace").strip().splitlines()
            raise StoppedError(f"the exported program failed: {said[-1] if said else 'no output'}")
        return np.frombuffer(answer, "<f8").reshape(self.robots, 2)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.communicate()
        if self._scratch is not None:
            self._scratch.cleanup()


def listed(numbers: Sequence[int]) -> str:
    """Return numbers as a word of a command."""
    return ",".join(str(int(number)) for number in numbers)


Start = Callable[[int, Sequence[int]], Running]  # hidden values set before a step; networks


@dataclass(frozen=True, eq=False)
class Recorded:
    """Trials driven by the simulator's arithmetic; lanes are the robots of all trials."""

    environment: Environment
    task: str | Task
    seed: int
    numbers: list[int]  # lanes: the network of each
    inputs: np.ndarray  # (cycles, lanes, inputs), float32
    hidden: np.ndarray  # (cycles, lanes, most hidden): before the cycle
    wheels: np.ndarray  # (cycles, lanes, 2)
    fitness: np.ndarray  # (trials,)


def record(
    nets: Sequence[Network],
    parts: Sequence[int],
    environment: Environment,
    task: str | Task,
    *,
    trials: int,
    seconds: float,
    seed: int,
    tick: Callable[[], None],
) -> Recorded:
    """Let the simulator's arithmetic drive some trials; ``parts`` are the robots' networks."""
    numbers = list(parts) * trials
    reference = Reference(nets, numbers)
    rows: list[tuple[np.ndarray, ...]] = []

    def step(inputs: np.ndarray) -> np.ndarray:
        before = reference.hidden
        wheels = reference.step(inputs)
        rows.append((inputs, before, wheels))
        return wheels

    cycles = round(seconds / robot.CYCLE)
    fitness = driven_fitness(step, environment, task, trials, cycles, seed, tick)
    inputs, hidden, wheels = (np.array(column) for column in zip(*rows, strict=True))
    return Recorded(environment, task, seed, numbers, inputs, hidden, wheels, fitness)


def driven_fitness(
    step: Callable[[np.ndarray], np.ndarray],
    environment: Environment,
    task: str | Task,
    trials: int,
    cycles: int,
    seed: int,
    tick: Callable[[], None],
) -> np.ndarray:
    """Return the fitness of trials whose robots a function drives: inputs in, wheels out."""
    world = World(environment, task=task, seed=seed, worlds=trials)
    shape = (trials, environment.robots, 2)
    wheels = np.zeros(shape)
    for _ in range(cycles):
        readings = world.step(wheels)
        inputs = np.concatenate(readings, axis=-1)
        wheels = step(inputs.reshape(-1, inputs.shape[-1])).reshape(shape)
        tick()
    found: np.ndarray = world.score
    return found


def compare(
    start: Start,
    nets: Sequence[Network],
    recorded: Recorded,
    tolerance: float,
    tick: Callable[[], None],
) -> dict[str, Any]:
    """Return how far a program's wheels are from the simulator's, as parts of the top speed."""
    same, free = np.zeros_like(recorded.wheels[..., 0]), np.zeros_like(recorded.wheels[..., 0])
    width = recorded.hidden.shape[-1]
    with start(width, recorded.numbers) as given, start(0, recorded.numbers) as own:
        for c, (inputs, hidden, wheels) in enumerate(
            zip(recorded.inputs, recorded.hidden, recorded.wheels, strict=True)
        ):
            free[c] = _apart(own.step(inputs), wheels)
            set_too = np.concatenate([inputs, hidden], axis=1)
            same[c] = _apart(given.step(set_too), wheels) if width else free[c]
            tick()
    return {
        "tolerance": tolerance,
        "recorded, from the same state": _shares(same, tolerance),
        "recorded, free-running": _shares(free, tolerance) | _exceptions(free, tolerance, recorded),
        "random, free-running": _shares(_random(start, nets, recorded), tolerance),
        "closed loop": _closed(start, recorded, tick),
    }


def _apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the larger difference of the two wheels, robot by robot."""
    found: np.ndarray = np.abs(one - other).max(axis=1)
    return found


def _shares(apart: np.ndarray, tolerance: float) -> dict[str, Any]:
    return {
        "cycles": int(apart.size),
        "within": float((apart <= tolerance).mean()),
        "largest": float(apart.max()),
    }


def _exceptions(apart: np.ndarray, tolerance: float, recorded: Recorded) -> dict[str, Any]:
    """Return the first cycles beyond the tolerance: (trial, robot, cycle, difference)."""
    robots = recorded.environment.robots
    places = np.argwhere(apart > tolerance)[:LISTED].tolist()
    listed = [[lane // robots, lane % robots, c, float(apart[c, lane])] for c, lane in places]
    return {"beyond": listed}


def _random(start: Start, nets: Sequence[Network], recorded: Recorded) -> np.ndarray:
    """Return differences for random inputs, a quarter of them at an end, for each network."""
    rng = np.random.default_rng(recorded.seed)
    numbers = list(range(len(nets))) * -(-RANDOM_ROBOTS // len(nets))
    reference = Reference(nets, numbers)
    inputs = rng.uniform(-1.0, 1.0, (RANDOM_CYCLES, len(numbers), recorded.inputs.shape[-1]))
    ends = rng.uniform(size=inputs.shape) < 0.25
    inputs = np.where(ends, np.sign(inputs), inputs).astype(np.float32)
    of = recorded.environment.robot
    for some, begin in ((of.messages, len(of.proximity)), (of.ground, -len(of.ground))):
        if some:  # from 0 on
            np.abs(inputs[..., begin:], out=inputs[..., begin:])
    with start(0, numbers) as own:
        return np.array([_apart(own.step(one), reference.step(one)) for one in inputs])


def _closed(start: Start, recorded: Recorded, tick: Callable[[], None]) -> dict[str, Any]:
    """Return the fitness of trials that the program drives beside that of the original."""
    trials, cycles = len(recorded.fitness), len(recorded.wheels)
    with start(0, recorded.numbers) as own:
        fitness = driven_fitness(
            own.step, recorded.environment, recorded.task, trials, cycles, recorded.seed, tick
        )
    apart = fitness - recorded.fitness
    error = float(apart.std(ddof=1) / math.sqrt(trials)) if trials > 1 else 0.0
    return {
        "trials": trials,
        "seconds": cycles * robot.CYCLE,
        "task": str(recorded.task),
        "fitness": float(fitness.mean()),
        "original": float(recorded.fitness.mean()),
        "difference": float(apart.mean()),
        "error": error,
        "alike": bool(abs(apart.mean()) <= max(2.0 * error, ALIKE)),
    }
