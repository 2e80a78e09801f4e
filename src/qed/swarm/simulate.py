"""The front door of the simulator: simulate()."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qed import limits
from qed.controller.network import Controller, Team
from qed.definitions import defined
from qed.errors import InputError, choice
from qed.swarm import backend as engines
from qed.swarm import robot
from qed.swarm.backend import chosen
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.job import Job, Start, checked
from qed.swarm.made_for import made_for
from qed.swarm.measures import ACTIONS, DESCRIPTORS, STATES, Sums, stacked
from qed.swarm.measures import wanted as wanted_sums
from qed.swarm.tasks import TASKS, Task, fitness, tasks_of
from qed.swarm.user_defined import Law


@dataclass
class Outcome:
    """What a simulation gives: fitness, and what descriptors need where asked for.

    Attributes
    ----------
    fitness : dict of str to array
        For each task its fitness, (controllers, trials); larger is better.
    visits : list of array
        For "hbd": of each controller (trials, fine cells), the robot-cycles spent in each fine
        cell of 0.11 m; arenas of other sizes have other numbers of cells.
    spread : array or None
        For "hbd": (controllers, trials, 4), the sum of all visits, the number of visited cells,
        and sum and number of those visited more often than the average of the visited.
    radius : array or None
        For "hbd": (controllers, trials), mean distance to the arena's centre (m).
    features : array or None
        For "sdbc": (controllers, trials, 5, 2), mean and mean square over cycles of the mean over
        robots of speed, turning, distance to the walls' middles (m), distance to other robots (m),
        distance to the nearest other robot (m).
    situations : array or None
        For "spirit": (controllers, 64, 16), how often an action was taken in a state.
    means : dict of str to array
        For each law of a user that is a feature its mean, (controllers, trials).

    Examples
    --------
    >>> import qed
    >>> swarm = qed.Controller.random(seed=1)
    >>> outcome = qed.simulate(
    ...     swarm, tasks="flocking", trials=3, seconds=10.0, descriptors=["sdbc"]
    ... )
    >>> outcome.fitness["flocking"].shape, outcome.features.shape
    ((1, 3), (1, 3, 5, 2))
    """

    fitness: dict[str, np.ndarray]
    visits: list[np.ndarray] = field(default_factory=list)
    spread: np.ndarray | None = None
    radius: np.ndarray | None = None
    features: np.ndarray | None = None
    situations: np.ndarray | None = None
    means: dict[str, np.ndarray] = field(default_factory=dict)

    def part(self, rows: slice) -> Outcome:
        """Return the outcome of some of the controllers."""
        return Outcome(
            {name: values[rows] for name, values in self.fitness.items()},
            self.visits[rows],
            None if self.spread is None else self.spread[rows],
            None if self.radius is None else self.radius[rows],
            None if self.features is None else self.features[rows],
            None if self.situations is None else self.situations[rows],
            {key: values[rows] for key, values in self.means.items()},
        )


def simulate(
    controllers: Controller | Team | Sequence[Controller | Team],
    environment: Environment | Sequence[Environment] | None = None,
    *,
    tasks: str | Task | Sequence[str | Task] | None = None,
    task: str | Task | None = None,
    trials: int | None = None,
    seconds: float = 400.0,
    seed: int = 1,
    faults: Faults | Sequence[Faults | None] | None = None,
    start: Start | None = None,
    noise: float = robot.PROXIMITY_NOISE,
    descriptors: Sequence[str] = (),
    threads: int | None = None,
    progress: Callable[[int], Any] | None = None,
    backend: str = "auto",
) -> Outcome:
    """Simulate swarms of robots, each driven by one controller, or by a team of them.

    Parameters
    ----------
    controllers : Controller, Team, or a sequence of these
        What drives the robots; a team has a controller per robot.
    environment : Environment or a sequence of these, optional
        One for all controllers, or one for each (default: the normal environment, with
        the robots that the controllers drive).
    tasks : str, Task, or a sequence of these
        The tasks to score, all in the same simulation.
    task : str or Task
        The same for a single one.
    trials : int, optional
        Trials of each controller (default: 50, or as many as ``start`` has).
    seconds : float, default 400.0
        Simulated time of a trial (s).
    seed : int, default 1
        Decides start poses, obstacles and noise; the same for every controller.
    faults : Faults or a sequence of Faults and None, optional
        One combined fault for all controllers, or one for each (default: all robots are healthy).
    start : Start, optional
        Start poses, instead of drawing them.
    noise : float, default 0.05
        Half width of the proximity sensors' uniform noise (readings are 0 to 1).
    descriptors : sequence of str
        Of "hbd", "sdbc" and "spirit": what to add up for behavioural descriptors.
    threads : int, optional
        CPU threads (default: all cores).
    progress : callable, optional
        Called with the number of robot-steps each time a part is done.
    backend : {"auto", "cpu", "cuda"}
        "cuda" is an NVIDIA GPU (at most 32 robots, 31 obstacles and 200,000 trials); "auto" takes
        it where it can be used, else the CPU.

    Returns
    -------
    Outcome
        Fitness, task by task, and what was asked for of descriptors.

    Raises
    ------
    ValueError
        If an argument is wrong; the message names it and says what is allowed.

    Notes
    -----
    The result depends on these arguments alone: not on threads, nor on what else is simulated
    in the same call.  The results of the two engines differ in rounding; each alone is
    reproducible.

    Examples
    --------
    >>> import qed
    >>> swarms = [qed.Controller.random(seed) for seed in (1, 2)]
    >>> broken = qed.Faults.sample(robots=10, seed=7)
    >>> outcome = qed.simulate(
    ...     swarms, tasks="patrolling", trials=3, seconds=10.0, faults=broken
    ... )
    >>> outcome.fitness["patrolling"].shape
    (2, 3)
    """
    job = checked(
        controllers, environment, trials=trials, seconds=seconds, seed=seed, faults=faults,
        start=start, noise=noise,
    )  # fmt: skip
    scored = tasks_of(task, tasks)
    descriptors = [descriptors] if isinstance(descriptors, str) else descriptors
    wanted = [choice("descriptors", one, DESCRIPTORS) for one in descriptors]
    if not scored and not wanted:
        raise InputError(f"tasks must name at least one of {', '.join(TASKS)}; got none")
    workers = limits.threads(threads) or cores()
    engine = chosen(backend, set(job.environments), job.trials, start)
    return Pending(job, scored, list(dict.fromkeys(wanted)), workers, progress, engine).outcome()


class Pending:
    """A simulation of a checked job that has begun, on the "cpu" or with "cuda".

    A GPU works while others wait; a CPU begins when somebody waits.  Descriptors are named, or
    are laws of users.  Of the names "spread" stands for "hbd" without the visits themselves.
    """

    def __init__(
        self,
        job: Job,
        tasks: Sequence[str | Task],
        descriptors: Sequence[str | Law],
        threads: int,
        progress: Callable[[int], Any] | None = None,
        backend: str = "cpu",
    ) -> None:
        self.job, self.descriptors = job, descriptors
        self.tasks = [defined("task", task, Task) for task in tasks]
        self.ready: Callable[[], bool] = lambda: True
        sums: list[str | Law] = [*(task.sums for task in self.tasks), *descriptors]
        if backend == "cuda":
            under_way = engines.on_gpu(job.robot).Simulation(job, sums, progress)
            self.ready, self._results = under_way.ready, under_way.results
        else:
            engine = made_for(job.robot, "qed.swarm.cpu.engine")
            wants = wanted_sums(sums)
            names = [*wants.names, *(law.key for law in wants.laws)]
            self._results = lambda: stacked(engine.simulate(job, sums, threads, progress), names)

    def outcome(self) -> Outcome:
        """Wait for its end."""
        return _outcome(self.job, self.tasks, self.descriptors, self._results())


def cores() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _outcome(
    job: Job, tasks: Sequence[Task], descriptors: Sequence[str | Law], found: Sums
) -> Outcome:
    """Turn sums into an outcome."""
    outcome = Outcome(
        {task.name: fitness(task, found, job.cycles, job.environments) for task in tasks}
    )
    if "hbd" in descriptors:
        outcome.visits = found["visits"]
    if "hbd" in descriptors or "spread" in descriptors:
        robots = np.array([[env.robots] for env in job.environments])
        outcome.spread = found["spread"]
        outcome.radius = found["radius"] / (robots * job.cycles)
    if "sdbc" in descriptors:
        outcome.features = found["features"] / job.cycles
    if "spirit" in descriptors:
        outcome.situations = found["situations"].reshape(-1, STATES, ACTIONS)
    for law in descriptors:
        if isinstance(law, Law):
            counts = [law.measure.count(job.cycles, env) for env in job.environments]
            outcome.means[law.key] = found[law.key] / np.array(counts)[:, None]
    return outcome
