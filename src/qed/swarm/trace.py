"""A trial watched cycle by cycle: trace()."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qed.controller.network import Controller, Team
from qed.errors import InputError, instance, integer
from qed.swarm import robot
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.job import Start, checked
from qed.swarm.made_for import made_for
from qed.swarm.tasks import TASKS, Task, tasks_of


@dataclass
class Trace:
    """What happened in a trial; the first axis is the cycle, the second the robot.

    A row holds the pose after the motion of that cycle, what the robot sensed there, and the
    wheel command it then gave, which acts in the next cycle.  A cycle is 0.2 s.

    Attributes
    ----------
    task : str
        The task that ``score`` is of.
    environment : Environment
        Where the swarm was.
    faults : Faults or None
        What was broken.
    x, y : array of shape ``(cycles, robots)``
        Position (m); the arena begins at 0.
    heading : array of shape ``(cycles, robots)``
        Heading (rad), -pi to pi.
    proximity : array of shape ``(cycles, robots, sensors)``
        As the network reads it: 1 nothing, -1 touching.
    rab : array of shape ``(cycles, robots, cones)``
        Range and bearing as the network reads it, a cone each: 1 nobody, -1 here.  Of robots with
        messages these, a sensor each: 0 nobody, 1 here.
    ground : array of shape ``(cycles, robots, ground sensors)``
        Ground sensors: 0 black, 1 white.
    wheels : array of shape ``(cycles, robots, 2)``
        Left and right wheel, as commanded after faults (m/s).
    score : array of shape ``(cycles,)``
        Fitness of the trial if it ended here.
    start : array of shape ``(robots, 3)``
        x (m), y (m) and heading (rad) before the first cycle.
    obstacles : array of shape ``(n, 2)``, or ``(n, 3)`` where a ``Start`` gave radii
        Centres (m), and radii (m).
    parts : tuple of int
        Of a team, which of its controllers each robot runs (``Team.parts``); else empty.

    Examples
    --------
    >>> import qed
    >>> film = qed.trace(qed.Controller.random(seed=1), seconds=10.0)
    >>> film.x.shape, film.rab.shape, film.score.shape
    ((50, 10), (50, 10, 8), (50,))
    >>> round(float(film.time[-1]), 3)
    10.0
    """

    task: str
    environment: Environment
    faults: Faults | None
    x: np.ndarray
    y: np.ndarray
    heading: np.ndarray
    proximity: np.ndarray
    rab: np.ndarray
    ground: np.ndarray
    wheels: np.ndarray
    score: np.ndarray
    start: np.ndarray
    obstacles: np.ndarray
    parts: tuple[int, ...] = ()

    @property
    def time(self) -> np.ndarray:
        """Time at the end of each cycle (s)."""
        return robot.CYCLE * np.arange(1, len(self.x) + 1)


def trace(
    controller: Controller | Team,
    environment: Environment | None = None,
    *,
    task: str | Task | None = None,
    tasks: str | Task | Sequence[str | Task] | None = None,
    seconds: float = 400.0,
    seed: int = 1,
    trial: int = 0,
    faults: Faults | None = None,
    start: Start | None = None,
    noise: float = robot.PROXIMITY_NOISE,
) -> Trace:
    """Simulate one trial of a controller or a team; return what every robot did in every cycle.

    It is the trial number ``trial`` of ``simulate`` on the CPU with the same arguments, to the bit.

    Parameters
    ----------
    controller : Controller or Team
        What drives the robots.
    environment : Environment, optional
        Where the swarm is (default: the normal environment).
    task : str or Task, default "patrolling"
        What ``Trace.score`` is of.
    tasks : str, Task, or a sequence of one
        The same, as ``simulate`` takes it.
    seconds : float, default 400.0
        Simulated time (s).
    seed : int, default 1
        Decides start poses, obstacles and noise.
    trial : int, default 0
        Which of the trials with this seed.
    faults : Faults, optional
        A fault per robot (default: all robots are healthy).
    start : Start, optional
        Start poses, instead of drawing them.
    noise : float, default 0.05
        Half width of the proximity sensors' uniform noise (readings are 0 to 1).

    Returns
    -------
    Trace
        Poses, sensors, wheels and score, cycle by cycle.

    Examples
    --------
    >>> import qed
    >>> swarm = qed.Controller.random(seed=1)
    >>> film = qed.trace(swarm, task="flocking", seconds=10.0, seed=5, trial=1)
    >>> outcome = qed.simulate(swarm, tasks="flocking", trials=2, seconds=10.0, seed=5)
    >>> bool(film.score[-1] == outcome.fitness["flocking"][0, 1])
    True
    """
    instance("controller", controller, Controller, Team)
    trial = integer("trial", trial, 0, 10**6 - 1 if start is None else start.trials - 1)
    trials = trial + 1 if start is None else start.trials
    job = checked(
        controller, environment, trials=trials, seconds=seconds, seed=seed, faults=faults,
        start=start, noise=noise,
    )  # fmt: skip
    scored = tasks_of(task, tasks) or [TASKS["patrolling"]]
    if len(scored) > 1:
        raise InputError(f"a trace scores one task; got {', '.join(scored)}")
    seen: Trace = made_for(job.robot, "qed.swarm.cpu.engine").watch(job, trial, scored[0])
    return replace(seen, parts=parts_of(controller))


def parts_of(controller: Controller | Team) -> tuple[int, ...]:
    """Return which controller each robot of a team runs; nothing if it is one for all."""
    return controller.parts if isinstance(controller, Team) else ()


def empty(cycles: int, task: str, segment: Any) -> Trace:
    """Return a trace with room for so many cycles."""
    robots = segment.environment.robots

    def room(*shape: int) -> np.ndarray:
        return np.zeros((cycles, *shape), np.float32)

    return Trace(
        task=task,
        environment=segment.environment,
        faults=segment.faults,
        x=room(robots),
        y=room(robots),
        heading=room(robots),
        proximity=room(robots, len(segment.environment.robot.proximity)),
        rab=room(robots, segment.environment.robot.heard),
        ground=room(robots, len(segment.environment.robot.ground)),
        wheels=room(robots, 2),
        score=np.zeros(cycles),
        start=segment.poses[0].copy(),
        obstacles=segment.obstacles[0].copy(),
    )
