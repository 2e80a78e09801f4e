"""What an engine is asked to simulate, checked, and start poses that a user gives."""

import operator
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed import limits
from qed.controller.genome import Networks
from qed.controller.network import Controller, Team
from qed.errors import InputError, instance, number
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.made_for import made_for
from qed.swarm.robot import CYCLE, Robot


class Start:
    """Where robots, and obstacles if there are any, begin.

    Parameters
    ----------
    poses : array of shape ``(trials, robots, 3)``, or ``(robots, 3)`` for one trial
        x (m), y (m) and heading (rad) of each robot; the arena begins at 0.
    obstacles : array of shape ``(trials, n, 2 or 3)`` or ``(n, 2 or 3)``, optional
        Centres (m) of the obstacles, or of those of every trial (default: there are none); a
        third column is their radii (m; default: 0.15).

    Examples
    --------
    >>> import qed
    >>> start = qed.Start([[1.0, 2.0, 0.0], [3.0, 2.0, 3.14]])
    >>> pair = qed.Environment(robots=2)
    >>> still = qed.Controller([], bias=[0.0, 0.0])
    >>> film = qed.trace(still, pair, seconds=1.0, start=start)
    >>> start.trials, film.x[-1].tolist()
    (1, [1.0, 3.0])
    """

    def __init__(self, poses: Any, obstacles: Any = None) -> None:
        self.poses = _finite("poses", poses, 3)
        trials = len(self.poses)
        if obstacles is None:
            obstacles = np.zeros((trials, 0, 2))
        given = np.asarray(obstacles, float)
        if given.ndim == 2:
            given = np.broadcast_to(given, (trials, *given.shape))
        self.obstacles = _finite("obstacles", given, 2, 3)
        sizes = self.obstacles[..., 2:]
        if sizes.size and not (sizes.min() >= 0.01 and sizes.max() <= 5.0):
            raise InputError("start: radii of obstacles must be from 0.01 to 5 m")
        if len(self.obstacles) != trials:
            raise InputError(
                f"start: obstacles are given for {len(self.obstacles)} trials, poses for {trials}"
            )

    @property
    def trials(self) -> int:
        """Number of trials."""
        return len(self.poses)

    def check(self, environment: Environment, trials: int) -> None:
        """Raise ValueError unless this fits an environment and a number of trials."""
        side = environment.arena
        for name, wanted, got in (
            ("trials", trials, self.trials),
            ("robots", environment.robots, self.poses.shape[1]),
            ("obstacles", environment.obstacles, self.obstacles.shape[1]),
        ):
            if wanted != got:
                raise InputError(f"start: has {got} {name}, but {name}={wanted} were asked for")
        for name, places in (
            ("poses", self.poses[..., :2]),
            ("obstacles", self.obstacles[..., :2]),
        ):
            if places.size and (places.min() < 0.0 or places.max() > side):
                raise InputError(f"start: {name} must lie within the arena, 0 to {side:g} m")


def _finite(name: str, values: Any, *widths: int) -> np.ndarray:
    """Return an array (trials, n, width) of finite numbers."""
    try:
        array = np.array(values, float)
    except (TypeError, ValueError):
        raise InputError(f"start: {name} must be an array of numbers") from None
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or array.shape[2] not in widths:
        columns = " or ".join(map(str, widths))
        raise InputError(
            f"start: {name} must have shape (trials, n, {columns}), got {np.shape(values)}"
        )
    if not np.isfinite(array).all():
        raise InputError(f"start: {name} must be finite")
    return array


@dataclass(frozen=True)
class Job:
    """A checked request; its swarms are counted by their seeds."""

    controllers: Networks  # those of all swarms, one after the other
    environments: list[Environment]
    faults: list[Faults | None]
    seeds: list[int]  # one per swarm
    trials: int
    cycles: int
    start: Start | None
    noise: float
    skipped: int = 0  # trials of the seed before these, which are not simulated
    members: Any = None  # networks of each swarm, an array: one (default) or as many as robots

    def __post_init__(self) -> None:
        if self.members is None:
            object.__setattr__(self, "members", np.ones(len(self.seeds), np.int64))

    @property
    def swarms(self) -> int:
        """Number of swarms."""
        return len(self.seeds)

    @property
    def robot(self) -> Robot:
        """What all swarms are made of."""
        return self.environments[0].robot

    def networks(self, some: slice) -> tuple[Networks, np.ndarray]:
        """Return the networks of some swarms as one table, and how many each swarm has."""
        ends = np.cumsum(self.members)
        each = self.members[some]
        last = ends[some]
        return self.controllers[slice(last[0] - each[0], last[-1])], each


def networks_of(swarms: Sequence[Controller | Team]) -> tuple[Networks, np.ndarray]:
    """Return the networks of many swarms as one table, and how many each of them has.

    They are of one kind of robot.
    """
    each = [one.controllers if isinstance(one, Team) else (one,) for one in swarms]
    different = {id(one): one for swarm in each for one in swarm}
    table = _table_of(list(different.values()))
    row = {key: k for k, key in enumerate(different)}
    rows = np.array([row[id(one)] for swarm in each for one in swarm])
    return table.take(rows), np.array([len(swarm) for swarm in each])


# The last ones: people simulate the same controllers again and again.
_tables: deque[tuple[list[Controller], Networks]] = deque(maxlen=4)


def _table_of(controllers: list[Controller]) -> Networks:
    """Return controllers of one kind of robot as a table of networks."""
    for known, table in list(_tables):
        if len(known) == len(controllers) and all(map(operator.is_, known, controllers)):
            return table
    genome = made_for(controllers[0].robot, "qed.controller.genome")
    made: Networks = genome.from_controllers(controllers).networks()
    _tables.append((controllers, made))
    return made


def checked(
    controllers: Any,
    environment: Any,
    *,
    trials: Any,
    seconds: Any,
    seed: Any,
    faults: Any,
    start: Any,
    noise: Any,
) -> Job:
    """Check all arguments and return them with one environment and one fault per controller."""
    swarms = _one_each("controllers", controllers, (Controller, Team), None)
    environment = environment or Environment(robot=swarms[0].robot)
    environments = _one_each("environment", environment, (Environment,), len(swarms))
    broken = _one_each("faults", faults, (Faults,), len(swarms), optional=True)
    if start is not None:
        instance("start", start, Start)
    if trials is None:
        trials = start.trials if start is not None else 50
    trials = limits.trials(trials)
    seconds = number("seconds", seconds, 0.0, 1e6, above=True)
    cycles = round(seconds / CYCLE)
    if cycles < 1:
        raise InputError(f"seconds must be at least one cycle, {CYCLE:g} s; got {seconds!r}")
    for k, swarm in enumerate(swarms):
        if swarm.robot.key != environments[k].robot.key:
            raise InputError(
                f"controllers: they drive the robot {swarm.robot}, but the environment's is "
                f"{environments[k].robot}; give qed.Environment(robot=...) theirs"
            )
    met: dict[tuple[int, ...], tuple[Any, Environment, Faults | None]] = {}
    for swarm, env, fault in zip(swarms, environments, broken, strict=True):
        team = id(swarm) if isinstance(swarm, Team) else 0
        met[team, id(env), id(fault)] = swarm, env, fault
    for swarm, env, fault in met.values():  # what is there several times is looked at once
        if env.robot.key != environments[0].robot.key:
            raise InputError(
                f"environment: all must be of one robot, got {environments[0].robot} and "
                f"{env.robot}"
            )
        if isinstance(swarm, Team) and len(swarm) != env.robots:
            raise InputError(
                f"controllers: a team of {len(swarm)} cannot drive {env.robots} robots; give it "
                "one controller for each"
            )
        if fault is not None and len(fault) != env.robots:
            raise InputError(
                f"faults must name one fault for each robot: {env.robots} robots, but "
                f"{len(fault)} faults"
            )
        sensors = len(env.robot.proximity)
        for one in () if fault is None else fault.each:
            if not one.ahead and max(one.sensors, default=0) >= sensors:
                raise InputError(
                    f"faults: {one} hits the proximity sensor {max(one.sensors)}, but of the "
                    f"{sensors} of the robot {env.robot} the last is {sensors - 1}"
                )
        if start is not None:
            start.check(env, trials)
    networks, members = networks_of(swarms)
    return Job(
        controllers=networks,
        environments=environments,
        faults=broken,
        seeds=[limits.seed(seed)] * len(swarms),
        trials=trials,
        cycles=cycles,
        start=start,
        noise=number("noise", noise, 0.0, 1.0),
        members=members,
    )


def _one_each(
    argument: str, given: Any, kinds: tuple[type, ...], count: int | None, optional: bool = False
) -> list[Any]:
    """Return a list with one value for each controller."""
    named = " or ".join(f"qed.{kind.__name__}" for kind in kinds)
    if isinstance(given, kinds) or (optional and given is None):
        return [given] * (1 if count is None else count)
    single = isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable)
    values = [given] if single else list(given)
    for value in values:
        if not (isinstance(value, kinds) or (optional and value is None)):
            raise InputError(f"{argument} must be of type {named}, got {type(value).__name__}")
    if count is None and not values:
        raise InputError(f"{argument} must hold at least one {kinds[0].__name__}, got none")
    if count is not None and len(values) != count:
        raise InputError(
            f"{argument} must be one for all or one for each of the {count} controllers, "
            f"got {len(values)}"
        )
    return values
