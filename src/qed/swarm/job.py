"""What an engine is asked to simulate, checked."""

import operator
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed import limits
from qed.controller.network import Controller
from qed.controller.networks import Networks
from qed.controller.team import Team
from qed.errors import InputError, number
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.made_for import made_for
from qed.swarm.robot import CYCLE, Robot
from qed.swarm.start import Start


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
    if start is not None and not isinstance(start, Start):
        raise InputError(f"start must be a qed.Start, got {type(start).__name__}")
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
