"""What an engine is asked to simulate, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from qed import limits
from qed.controller.network import Controller, Network
from qed.controller.networks import Networks
from qed.controller.team import Team
from qed.errors import InputError, number
from qed.swarm import robot
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.start import Start


class Brain(Protocol):
    """What the simulator needs of a controller."""

    def network(self) -> Network:
        """Return the pruned network."""


@dataclass(frozen=True)
class Ready:
    """A controller whose network is made already."""

    made: Network

    def network(self) -> Network:
        """Return the network."""
        return self.made


@dataclass(frozen=True)
class Job:
    """A checked request."""

    controllers: Sequence[Brain | Team | Network]  # or Networks: many in one table
    environments: list[Environment]
    faults: list[Faults | None]
    seeds: list[int]  # one per controller
    trials: int
    cycles: int
    start: Start | None
    noise: float
    skipped: int = 0  # trials of the seed before these, which are not simulated


def networks_of(brain: Brain | Team | Network) -> tuple[Network, ...]:
    """Return the network of all robots, or one for each."""
    if isinstance(brain, Network):
        return (brain,)
    return brain.networks() if isinstance(brain, Team) else (brain.network(),)


def networks_of_all(
    controllers: Sequence[Brain | Team | Network],
) -> tuple[Networks, np.ndarray]:
    """Return the networks of many controllers as one table, and how many each of them has."""
    from qed.controller.pruning import table_of  # compiled code: not before it is needed

    table: Networks | None = None
    sizes = np.ones(len(controllers), np.int64)
    if isinstance(controllers, Networks):
        table = controllers
    elif all(isinstance(one, Controller) for one in controllers):
        table = table_of(cast(Sequence[Controller], controllers))
    elif all(type(one) in (Controller, Team) for one in controllers):  # not those made ready
        swarms = cast(Sequence[Controller | Team], controllers)
        each = [one.controllers if isinstance(one, Team) else (one,) for one in swarms]
        table = table_of([one for swarm in each for one in swarm])
        sizes = np.array([len(swarm) for swarm in each])
    if table is not None:
        return table, sizes
    members = [networks_of(one) for one in controllers]
    table = Networks.of([network for each in members for network in each])
    return table, np.array([len(each) for each in members])


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
    environment = environment or Environment()
    environments = _one_each("environment", environment, (Environment,), len(swarms))
    broken = _one_each("faults", faults, (Faults,), len(swarms), optional=True)
    if start is not None and not isinstance(start, Start):
        raise InputError(f"start must be a qed.Start, got {type(start).__name__}")
    if trials is None:
        trials = start.trials if start is not None else 50
    trials = limits.trials(trials)
    seconds = number("seconds", seconds, 0.0, 1e6, above=True)
    cycles = round(seconds / robot.CYCLE)
    if cycles < 1:
        raise InputError(f"seconds must be at least one cycle, {robot.CYCLE:g} s; got {seconds!r}")
    met: dict[tuple[int, ...], tuple[Any, Environment, Faults | None]] = {}
    for swarm, env, fault in zip(swarms, environments, broken, strict=True):
        team = id(swarm) if isinstance(swarm, Team) else 0
        met[team, id(env), id(fault)] = swarm, env, fault
    for swarm, env, fault in met.values():  # what is there several times is looked at once
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
        if start is not None:
            start.check(env, trials)
    return Job(
        controllers=swarms,
        environments=environments,
        faults=broken,
        seeds=[limits.seed(seed)] * len(swarms),
        trials=trials,
        cycles=cycles,
        start=start,
        noise=number("noise", noise, 0.0, 1.0),
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
