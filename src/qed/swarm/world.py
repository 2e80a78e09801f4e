"""A world that goes on: controllers follow one another without reset, robots break meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from qed import limits
from qed.controller.network import Controller
from qed.controller.team import Team
from qed.definitions import defined
from qed.errors import InputError
from qed.swarm import robot
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.job import checked
from qed.swarm.measures import wanted
from qed.swarm.start import Start
from qed.swarm.tasks import Task

if TYPE_CHECKING:
    from qed.swarm.trace import Trace


class World:
    """One swarm in one arena that is never reset: controllers change and robots break meanwhile.

    It runs on the CPU.

    Parameters
    ----------
    environment : Environment, optional
        Where the swarm is (default: the normal environment).
    task : str or Task, default "patrolling"
        What ``run`` scores.
    seed : int, default 1
        Decides start poses, obstacles and noise.
    faults : Faults, optional
        A fault per robot (default: all robots are healthy); may be set at any time.
    start : Start, optional
        Start poses, instead of drawing them (one trial).
    noise : float, default 0.05
        Half width of the proximity sensors' uniform noise (readings are 0 to 1).

    Attributes
    ----------
    cycle : int
        Control cycles of 0.2 s so far.

    Examples
    --------
    >>> import qed
    >>> world = qed.World(task="patrolling", seed=1)
    >>> swarm = qed.Controller([], bias=[1.0, 0.8])  # drives in a circle
    >>> score = world.run(swarm, seconds=2.0)
    >>> world.faults = qed.Faults.sample(robots=10, seed=7)
    >>> score = world.run(swarm, seconds=2.0)
    >>> round(world.time, 6), world.poses.shape
    (4.0, (10, 3))
    """

    def __init__(
        self,
        environment: Environment | None = None,
        task: str | Task = "patrolling",
        seed: int = 1,
        *,
        faults: Faults | None = None,
        start: Start | None = None,
        noise: float = robot.PROXIMITY_NOISE,
    ) -> None:
        self.task = defined("task", task, Task)
        self.environment = environment or Environment()
        self.cycle = 0  # control cycles so far
        self._faults = faults
        self._near = 0  # near pairs that the last cycle listed
        self._block: Any = None
        still = Controller([], [0.0, 0.0])
        self._segment = self._checked(still, faults, seed=seed, start=start, noise=noise)

    def run(self, controller: Controller | Team, seconds: float) -> float:
        """Let a controller, or a team, drive the robots on from where they are.

        Networks begin anew, robots do not: they keep their places, their motion and what they
        push against.

        Parameters
        ----------
        controller : Controller or Team
            What drives the robots from now on.
        seconds : float
            For how long (s).

        Returns
        -------
        float
            The fitness of this stretch alone.
        """
        from qed.swarm.cpu.packing import results, run

        cycles = self._begin(controller, seconds)
        self._near = run(self._block, self.cycle + 1, self.cycle + cycles + 1, self._near)
        self.cycle += cycles
        laws = wanted([self.task.sums]).laws
        [sums] = results(self._block, [self._segment], self.cycle, laws)
        return float(self.task.fitness(sums, cycles, self.environment)[0])

    def trace(
        self, controller: Controller | Team, seconds: float, *, since_start: bool = False
    ) -> Trace:
        """Do as ``run`` does, to the bit, and return what every robot did in every cycle.

        Parameters
        ----------
        controller : Controller or Team
            What drives the robots from now on.
        seconds : float
            For how long (s).
        since_start : bool, default False
            Score all the time since the world began, not this stretch alone, if that was asked
            for in every stretch before.

        Returns
        -------
        Trace
            Poses, sensors, wheels and score of this stretch.

        Examples
        --------
        >>> import qed
        >>> world = qed.World(seed=1)
        >>> world.trace(qed.Controller.random(seed=1), seconds=2.0).x.shape
        (10, 10)
        """
        from qed.swarm.cpu.engine import record
        from qed.swarm.trace import empty, parts_of

        start = self.poses
        cycles = self._begin(controller, seconds, all_inputs=True, sums=since_start)
        before = self.cycle if since_start else 0
        seen = empty(cycles, self.task.name, self._segment)
        seen = replace(seen, start=start, parts=parts_of(controller))
        self._near = record(
            seen, self._block, self._segment, self.task, self.cycle, self._near, before
        )
        self.cycle += cycles
        return seen

    def _begin(
        self,
        controller: Controller | Team,
        seconds: float,
        all_inputs: bool = False,
        sums: bool = False,
    ) -> int:
        """Hand the robots over to a controller; return how many cycles it has."""
        from qed.swarm.cpu.engine import announce_compilation
        from qed.swarm.cpu.packing import build

        cycles = round(limits.seconds(seconds) / robot.CYCLE)
        swarm = self._checked(controller, self._faults)
        self._segment = replace(
            self._segment, networks=swarm.networks, rows=swarm.rows, faults=self._faults
        )
        announce_compilation()
        block = build([self._segment], wanted([self.task.sums]), all_inputs=all_inputs)
        if self._block is not None:
            _go_on(self._block, block, sums)
        self._block = block
        return cycles

    @property
    def faults(self) -> Faults | None:
        """The robots' faults (None: all healthy); those that are set strike at once."""
        return self._faults

    @faults.setter
    def faults(self, faults: Faults | None) -> None:
        self._checked(Controller([], [0.0, 0.0]), faults)
        self._faults = faults

    @property
    def poses(self) -> np.ndarray:
        """Where the robots are now: (robots, 3) x (m), y (m), heading (rad)."""
        if self._block is None:
            return np.array(self._segment.poses[0])
        from qed.swarm.cpu.layout import HEADING, X, Y

        robots = self.environment.robots
        rows = [self._block.f[row : row + robots] for row in (X, Y, HEADING)]
        return np.stack(rows, -1)

    @property
    def obstacles(self) -> np.ndarray:
        """Where the obstacles are: (n, 2) centres (m)."""
        return np.array(self._segment.obstacles[0])

    @property
    def time(self) -> float:
        """Simulated time so far (s)."""
        return self.cycle * robot.CYCLE

    def _checked(self, controller: Any, faults: Any, **more: Any) -> Any:
        """Return a swarm's segment in the engine, or raise an error that names what is wrong."""
        from qed.swarm.cpu.engine import segments_of

        if not isinstance(controller, Controller | Team):
            kind = type(controller).__name__
            raise InputError(f"controller must be a qed.Controller or a qed.Team, got {kind}")
        given = {"seed": 1, "start": None, "noise": robot.PROXIMITY_NOISE, **more}
        job = checked(
            controller, self.environment, trials=1, seconds=robot.CYCLE, faults=faults, **given
        )
        [segment] = segments_of(job)
        return segment


def _go_on(before: Any, after: Any, sums: bool) -> None:
    """Let a new block begin where another one ended: places, motion, and what is pushed against.

    With ``sums`` also what tasks have added up.
    """
    from qed.swarm.cpu import layout

    def rows(first: int, count: int) -> slice:
        return slice(first, first + count * layout.STRIDE)

    # Poses, velocities and impulses; the wheels' last command; the impulses of walls.
    for some in (rows(layout.X, 11), rows(layout.LEFT, 2), rows(layout.KEPT_X, 12)):
        after.f[some] = before.f[some]
    after.n[rows(layout.WALLED_X, 2)] = before.n[rows(layout.WALLED_X, 2)]
    near = slice(layout.NEAR_I, layout.NEAR_I + 3 * layout.PAIR_STRIDE)
    after.m[near] = before.m[near]
    for kept in ("pair_impulse", "pair_step", "obstacle_impulse", "obstacle_step"):
        getattr(after, kept)[:] = getattr(before, kept)
    if sums:
        after.f[rows(layout.AGGREGATION, 3)] = before.f[rows(layout.AGGREGATION, 3)]
        after.n[rows(layout.CELL, 1)] = before.n[rows(layout.CELL, 1)]
        for kept in ("since", "crowd", "patrol", "user_sums"):
            getattr(after, kept)[:] = getattr(before, kept)
