"""A world that goes on: controllers follow one another without reset, robots break meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qed import limits
from qed.controller.inputs import CONSTANT, FIRST_RAB
from qed.controller.network import Controller
from qed.controller.team import Team
from qed.definitions import defined
from qed.errors import InputError, integer
from qed.swarm import robot
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.job import checked
from qed.swarm.measures import wanted
from qed.swarm.start import Start
from qed.swarm.tasks import Task

if TYPE_CHECKING:
    from qed.swarm.trace import Trace

FASTEST = 1.0  # m/s, of a wheel that is commanded from outside
MAX_WORLDS = 100_000


class Readings(NamedTuple):
    """What robots read after a cycle, as networks do: 1 nothing, -1 touching or here.

    Attributes
    ----------
    proximity : array of shape ``(robots, 7)``, float32
        The proximity sensors.
    rab : array of shape ``(robots, 8)``, float32
        Range and bearing, a cone each.
    """

    proximity: np.ndarray
    rab: np.ndarray


STILL = Controller([], [0.0, 0.0])


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
        from qed.swarm.cpu.packing import trials_at_once
        from qed.swarm.simulate import cores

        self.task = defined("task", task, Task)
        self.environment = environment or Environment()
        self.cycle = 0  # control cycles so far
        self._since = 0  # cycles before the stretch that is scored
        self._fastest = self.environment.max_speed  # m/s, of a wheel so far
        self._faults = faults
        self._one = worlds is None
        count = 1 if worlds is None else integer("worlds", worlds, 1, MAX_WORLDS)
        self._threads = limits.threads(threads) or cores()
        # As many blocks for each thread, about alike.
        rounds = -(-count // (trials_at_once(self.environment.robots) * self._threads))
        given = {"trials": count, "seed": seed, "start": start, "noise": noise}
        self._segments = self._checked(
            STILL, faults, most=-(-count // (rounds * self._threads)), **given
        )
        self._blocks: list[Any] = []
        self._near = [0] * len(self._segments)  # near pairs that the last cycle listed
        self._stepping = False  # whether the present stretch is of steps
        self._outdated = False  # whether faults have changed since the blocks were built
        self._pool: ThreadPoolExecutor | None = None

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
            ``proximity`` and ``rab``, as a network reads them.

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
        from qed.swarm.cpu import stepping

        given, fastest = self._commands(wheels)
        if not self._stepping or self._outdated:
            self._since = self._since if self._stepping else self.cycle
            self._build({}, stepping.commanded, sums=self._stepping)
            self._stepping = True
        sensed = np.empty((*given.shape[:2], CONSTANT), np.float32)
        if fastest > self._fastest:
            self._near = [
                stepping.hasten(block, segment, fastest)
                for block, segment in zip(self._blocks, self._segments, strict=True)
            ]
            self._fastest = fastest

        def advance(k: int) -> None:
            block, some = self._blocks[k], self._segments[k].trials
            stepping.command(block.f, given[some])
            self._near[k] = stepping.run(block, self.cycle + 1, self.cycle + 2, self._near[k])
            stepping.observe(block.a, sensed[some])

        self._each(advance)
        self.cycle += 1
        sensed = sensed[0] if self._one else sensed
        return Readings(sensed[..., :FIRST_RAB], sensed[..., FIRST_RAB:])

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
        from qed.swarm.cpu.packing import run

        cycles = self._begin(controller, seconds)
        first, stop = self.cycle + 1, self.cycle + cycles + 1

        def advance(k: int) -> None:
            self._near[k] = run(self._blocks[k], first, stop, self._near[k])

        self._each(advance)
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
        from qed.swarm.cpu.engine import record
        from qed.swarm.trace import empty, parts_of

        if not self._one:
            raise InputError("worlds: a trace is of one world; leave worlds out")
        start = self.poses
        cycles = self._begin(controller, seconds, all_inputs=True, sums=since_start)
        [block], [segment] = self._blocks, self._segments
        seen = empty(cycles, self.task.name, segment)
        seen = replace(seen, start=start, parts=parts_of(controller))
        summed = self.cycle - self._since
        self._near = [record(seen, block, segment, self.task, self.cycle, self._near[0], summed)]
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
        from qed.swarm.cpu.packing import build

        cycles = round(limits.seconds(seconds) / robot.CYCLE)
        swarm = self._checked(controller, self._faults)[0]
        self._build(
            {"networks": swarm.networks, "rows": swarm.rows},
            lambda segment, sums: build([segment], sums, all_inputs=all_inputs),
            sums,
        )
        self._stepping = False
        self._since = 0 if sums else self.cycle
        return cycles

    def _build(self, changes: dict[str, Any], build: Any, sums: bool) -> None:
        """Let new blocks go on where the present ones are, with what tasks added up or without."""
        from qed.swarm.cpu.engine import announce_compilation
        from qed.swarm.cpu.stepping import go_on

        announce_compilation()
        before = self._blocks
        changes = {**changes, "faults": self._faults}
        self._segments = [replace(segment, **changes) for segment in self._segments]
        self._blocks = [build(segment, wanted([self.task.sums])) for segment in self._segments]
        for old, new in zip(before, self._blocks, strict=False):
            go_on(old, new, sums)
        self._outdated = False

    def _each(self, advance: Callable[[int], None]) -> None:
        """Let all blocks advance, over several threads where there are several blocks."""
        blocks, shares = len(self._blocks), min(len(self._blocks), self._threads)
        if shares > 1 and self._pool is None:
            self._pool = ThreadPoolExecutor(shares - 1)

        def work(first: int) -> None:
            for k in range(first, blocks, shares):
                advance(k)

        others = [self._pool.submit(work, k) for k in range(1, shares)] if self._pool else []
        try:
            work(0)
        finally:
            for other in others:
                other.result()

    def _commands(self, wheels: Any) -> tuple[np.ndarray, float]:
        """Return wheel commands, checked, as (worlds, robots, 2), and the fastest (m/s)."""
        shape: tuple[int, ...] = (self.environment.robots, 2)
        if not self._one:
            shape = (self._segments[-1].trials.stop, *shape)
        try:
            given = np.asarray(wheels, np.float64, order="C")
        except (TypeError, ValueError):
            raise InputError(f"wheels must be an array of numbers, of shape {shape}") from None
        if given.shape != shape:
            axes = "(robots, 2)" if self._one else "(worlds, robots, 2)"
            raise InputError(f"wheels must have shape {axes} = {shape}, got {given.shape}")
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
        from qed.swarm.cpu.packing import results

        cycles, worlds = self.cycle - self._since, self._segments[-1].trials.stop
        found = np.full(worlds, np.nan)
        laws = wanted([self.task.sums]).laws
        for block, segment in zip(self._blocks, self._segments, strict=False):
            [sums] = results(block, [segment], self.cycle, laws)
            if cycles:
                found[segment.trials] = self.task.fitness(sums, cycles, self.environment)
        return float(found[0]) if self._one else found

    @property
    def faults(self) -> Faults | None:
        """The robots' faults (None: all healthy); those that are set strike at once."""
        return self._faults

    @faults.setter
    def faults(self, faults: Faults | None) -> None:
        self._checked(STILL, faults)
        self._faults, self._outdated = faults, True

    @property
    def poses(self) -> np.ndarray:
        """Where the robots are now: (robots, 3) x (m), y (m), heading (rad)."""
        from qed.swarm.cpu.layout import HEADING, X, Y
        from qed.swarm.cpu.stepping import lanes

        found = np.concatenate([segment.poses for segment in self._segments])
        robots = self.environment.robots
        for block, segment in zip(self._blocks, self._segments, strict=False):
            rows = [lanes(block.f, row, robots, segment.size) for row in (X, Y, HEADING)]
            found[segment.trials] = np.stack(rows, -1)
        return found[0] if self._one else found

    @property
    def obstacles(self) -> np.ndarray:
        """Where the obstacles are: (n, 2) centres (m)."""
        found = np.concatenate([segment.obstacles for segment in self._segments])
        return found[0] if self._one else found

    @property
    def time(self) -> float:
        """Simulated time so far (s)."""
        return self.cycle * robot.CYCLE

    def _checked(self, controller: Any, faults: Any, most: int = 1, **more: Any) -> list[Any]:
        """Return a swarm's segments in the engine, or raise an error that names what is wrong."""
        from qed.swarm.cpu.engine import segments_of

        if not isinstance(controller, Controller | Team):
            kind = type(controller).__name__
            raise InputError(f"controller must be a qed.Controller or a qed.Team, got {kind}")
        given = {
            "trials": 1, "seed": 1, "start": None, "noise": robot.PROXIMITY_NOISE, **more
        }  # fmt: skip
        job = checked(controller, self.environment, seconds=robot.CYCLE, faults=faults, **given)
        return segments_of(job, most)
