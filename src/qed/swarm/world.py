"""A world that goes on: controllers follow one another without reset, robots break meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qed import limits
from qed.controller.network import Controller, Team
from qed.definitions import defined
from qed.errors import InputError, instance, integer
from qed.swarm import robot
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.job import Start, checked
from qed.swarm.made_for import made_for
from qed.swarm.measures import wanted
from qed.swarm.tasks import Task

if TYPE_CHECKING:
    from qed.swarm.trace import Trace

FASTEST = 1.0  # m/s, of a wheel that is commanded from outside
MAX_WORLDS = 100_000


class Readings(NamedTuple):
    """What robots read after a cycle, as networks do: 1 nothing, -1 touching or here.

    Attributes
    ----------
    proximity : array of shape ``(robots, sensors)``, float32
        The proximity sensors.
    rab : array of shape ``(robots, cones)``, float32
        Range and bearing, a cone each.  Of robots with messages these, a sensor each: 0 nothing,
        1 next to an emitter.
    ground : array of shape ``(robots, sensors)``, float32
        Ground sensors: 0 black, 1 white.

    Examples
    --------
    >>> import qed
    >>> world = qed.World(qed.Environment(robots=1), seed=1)
    >>> readings = world.step([[1.0, 1.0]])
    >>> readings.rab.tolist()  # it is alone
    [[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]
    """

    proximity: np.ndarray
    rab: np.ndarray
    ground: np.ndarray


class World:
    """One swarm in one arena that is never reset: controllers change and robots break meanwhile.

    It runs on the CPU.  With ``worlds`` there are many of them, each with its own start poses and
    noise, which do the same at once.

    Parameters
    ----------
    environment : Environment, optional
        Where the swarm is (default: the normal environment).
    task : str or Task, default "patrolling"
        What ``run`` and ``score`` score.
    seed : int, default 1
        Decides start poses, obstacles and noise.
    faults : Faults, optional
        A fault per robot (default: all robots are healthy); may be set at any time.
    start : Start, optional
        Start poses, instead of drawing them (a trial for each world).
    noise : float, default 0.05
        Half width of the proximity sensors' uniform noise (readings are 0 to 1).
    worlds : int, optional
        So many worlds, as the trials of ``simulate`` with this seed; all arrays then have an axis
        of worlds before the others.
    threads : int, optional
        CPU threads of many worlds (default: all cores).

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
        worlds: int | None = None,
        threads: int | None = None,
    ) -> None:
        from qed.swarm.simulate import cores

        self.task = defined("task", task, Task)
        self.environment = environment or Environment()
        self._still = Controller([], [0.0, 0.0], self.environment.robot)
        self.cycle = 0
        self._since = 0  # cycles before the stretch that is scored
        self._stepping = False  # whether that stretch is of steps
        self._outdated = False  # whether faults have changed since blocks were built
        self._faults = faults
        self._one = worlds is None
        count = 1 if worlds is None else integer("worlds", worlds, 1, MAX_WORLDS)
        shares = limits.threads(threads) or cores()
        # As many blocks for each thread, about alike.
        at_once = self._made("packing").trials_at_once
        shares *= -(-count // (at_once(self.environment.robots) * shares))
        given = {"trials": count, "seed": seed, "start": start, "noise": noise}
        segments = self._checked(self._still, faults, most=-(-count // shares), **given)
        self._worlds = self._made("stepping").Worlds(segments, limits.threads(threads) or cores())
        self._shape = (*(() if worlds is None else (count,)), self.environment.robots, 2)

    def step(self, wheels: Any) -> Readings:
        """Let a control cycle pass with wheel commands from outside; return what is read then.

        What controllers of a ``run`` do in a cycle: robots move, then they sense.  A network
        commands for the first time after the first cycle, so a step of zeros comes before what
        it commands.  Faults act on wheels and readings.  Steps in a row are one stretch.

        Parameters
        ----------
        wheels : array of shape ``(robots, 2)``
            The left and the right wheel of each robot, as parts of ``environment.max_speed``; more
            than 1 is allowed, up to 1 m/s.

        Returns
        -------
        Readings
            ``proximity``, ``rab`` and ``ground``, as a network reads them.

        Examples
        --------
        >>> import numpy as np
        >>> import qed
        >>> world = qed.World(task="aggregation", seed=1)
        >>> readings = world.step(np.full((10, 2), 0.5))
        >>> readings.proximity.shape, readings.rab.shape
        ((10, 7), (10, 8))
        >>> many = qed.World(task="aggregation", seed=1, worlds=3)
        >>> many.step(np.zeros((3, 10, 2))).rab.shape, many.score.shape
        ((3, 10, 8), (3,))
        """
        given, fastest = self._commands(wheels)
        if not self._stepping or self._outdated:
            self._since = self._since if self._stepping else self.cycle
            self._build(self._stepping, all_inputs=True, commanded=True)
            self._stepping = True
        sensed = self._worlds.step(self.cycle + 1, given, fastest)
        self.cycle += 1
        sensed = sensed[0] if self._one else sensed
        of = self.environment.robot
        return Readings(*np.split(sensed, np.cumsum([len(of.proximity), of.heard]), -1))

    def run(self, controller: Controller | Team, seconds: float) -> Any:
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
        float, or array of shape ``(worlds,)``
            The fitness of this stretch alone.
        """
        cycles = self._begin(controller, seconds)
        self._worlds.run(self.cycle + 1, self.cycle + cycles + 1)
        self.cycle += cycles
        return self.score

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
        from qed.swarm.trace import empty, parts_of

        if not self._one:
            raise InputError("worlds: a trace is of one world; leave worlds out")
        start = self.poses
        cycles = self._begin(controller, seconds, all_inputs=True, sums=since_start)
        [block], [segment], near = self._worlds.blocks, self._worlds.segments, self._worlds.near
        seen = replace(
            empty(cycles, self.task.name, segment), start=start, parts=parts_of(controller)
        )
        summed = self.cycle - self._since
        record = self._made("engine").record
        near[0] = record(seen, block, segment, self.task, self.cycle, near[0], summed)
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
        cycles = round(limits.seconds(seconds) / robot.CYCLE)
        swarm = self._checked(controller, self._faults)[0]
        networks = {"networks": swarm.networks, "rows": swarm.rows}
        self._build(sums, all_inputs=all_inputs, commanded=False, **networks)
        self._stepping = False
        self._since = 0 if sums else self.cycle
        return cycles

    def _build(self, sums: bool, **how: Any) -> None:
        """Let blocks with the present faults go on, with what tasks added up or without."""
        self._made("engine").announce_compilation()
        self._worlds.build(wanted([self.task.sums]), sums, faults=self._faults, **how)
        self._outdated = False

    def _commands(self, wheels: Any) -> tuple[np.ndarray, float]:
        """Return wheel commands, checked, as (worlds, robots, 2), and the fastest (m/s)."""
        try:
            given = np.asarray(wheels, np.float64, order="C")
        except (TypeError, ValueError):
            raise InputError(f"wheels must be numbers, of shape {self._shape}") from None
        if given.shape != self._shape:
            axes = "(robots, 2)" if self._one else "(worlds, robots, 2)"
            raise InputError(f"wheels must have shape {axes} = {self._shape}, got {given.shape}")
        fastest = self.environment.max_speed * max(given.max(), -given.min())
        if not fastest <= FASTEST:  # NaN is not, either
            most = FASTEST / self.environment.max_speed
            raise InputError(
                f"wheels must be finite and within +-{most:g} (parts of max_speed, up to "
                f"{FASTEST:g} m/s), got {given[~(np.abs(given) <= most)][0]:g}"
            )
        return (given[None] if self._one else given), float(fastest)

    @property
    def score(self) -> Any:
        """The fitness of the present stretch: of a run, a trace, or all steps in a row.

        A number, or an array of shape ``(worlds,)``; NaN before the first cycle.
        """
        cycles = self.cycle - self._since
        found = np.full(self._shape[:-2] or 1, np.nan)
        if cycles:
            for some, sums in self._worlds.sums(self.cycle, wanted([self.task.sums])):
                found[some] = self.task.fitness(sums, cycles, self.environment)
        return float(found[0]) if self._one else found

    @property
    def faults(self) -> Faults | None:
        """The robots' faults (None: all healthy); those that are set strike at once."""
        return self._faults

    @faults.setter
    def faults(self, faults: Faults | None) -> None:
        self._checked(self._still, faults)
        self._faults, self._outdated = faults, True

    @property
    def poses(self) -> np.ndarray:
        """Where the robots are now: (robots, 3) x (m), y (m), heading (rad)."""
        found: np.ndarray = self._worlds.poses()
        return found[0] if self._one else found

    @property
    def obstacles(self) -> np.ndarray:
        """Where the obstacles are: (n, 2) centres (m), with radii (m) if a ``Start`` gave them."""
        found = np.concatenate([segment.obstacles for segment in self._worlds.segments])
        return found[0] if self._one else found

    @property
    def time(self) -> float:
        """Simulated time so far (s)."""
        return self.cycle * robot.CYCLE

    def _checked(self, controller: Any, faults: Any, most: int = 1, **more: Any) -> list[Any]:
        """Return a swarm's segments in the engine, or raise an error that names what is wrong."""
        instance("controller", controller, Controller, Team)
        given = {
            "trials": 1, "seed": 1, "start": None, "noise": robot.PROXIMITY_NOISE, **more
        }  # fmt: skip
        job = checked(controller, self.environment, seconds=robot.CYCLE, faults=faults, **given)
        segments: list[Any] = self._made("engine").segments_of(job, most)
        return segments

    def _made(self, name: str) -> Any:
        """Return a module of the engine for CPU cores, made for the robot."""
        return made_for(self.environment.robot, f"qed.swarm.cpu.{name}")
