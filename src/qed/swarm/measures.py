"""Measures: what a simulation adds up, for tasks and descriptors alike.

A measure is a law of a robot, of a pair or of a swarm in a cycle, added up over what the table
says and over the cycles of a trial.  Both engines, ``Outcome`` and the descriptors read this one
table.  The paper's measures have loops of their own in each engine (a *stage*); a user's are laws
(``swarm.user_defined``) that both engines call in the same two loops, over robots and over pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qed.swarm.environment import Environment

if TYPE_CHECKING:
    from qed.swarm.user_defined import Law

Sums = Mapping[str, Any]  # by name, (controllers, trials, ...); of visits a list, as arenas differ
# Stages of a cycle, a bit each: the paper's measures,
AGGREGATION, DISPERSION, FLOCKING, PATROLLING, VISITS, FEATURES, SITUATIONS = (
    1 << n for n in range(7)
)
# a user's laws of robots or of pairs, and what these may need first.
USER_DEFINED, PAIRED, SPEEDS, OTHERS, INPUTS = (1 << n for n in range(7, 12))

PATROL_CELLS = 100
BORDER_CELLS = 36
# SPIRIT: six groups of inputs (``inputs.GROUPS``) are active or not, and a quarter of the speeds
# for each wheel.
STATES = 64
ACTIONS = 16
# SDBC: speed, turning, walls, robots, nearest; of each the sum and the sum of squares.
SDBC_SUMS = (5, 2)
SPREAD = 4  # numbers that HBD needs of a trial's visits


def robots(env: Environment) -> float:
    """Return the number of robots."""
    return env.robots


def pairs(env: Environment) -> float:
    """Return the number of pairs of robots, at least 1."""
    return max(env.robots * (env.robots - 1) / 2.0, 1.0)


@dataclass(frozen=True)
class Measure:
    """Something that is added up.

    ``over`` is the unit that a cycle is averaged over; None if the sum is no mean.  ``shape`` is
    that of a trial's numbers, or of a controller's if they are pooled.
    """

    name: str
    stage: int
    over: str | None = None  # "robots", "pairs", "cells", "border"
    shape: tuple[int, ...] | None = ()  # None: as many as the arena has fine cells
    pooled: bool = False  # over the trials of a controller
    law: Law | None = None  # a user's

    def count(self, cycles: int, env: Environment) -> float:
        """Return how many numbers are added up in so many cycles."""
        number = {
            "robots": env.robots,
            "pairs": pairs(env),
            "cells": PATROL_CELLS,
            "border": BORDER_CELLS,
        }
        return cycles * number[self.over or ""]


MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("centre_distance", AGGREGATION, "robots"),  # to the swarm's centre (m)
        Measure("nearest_distance", DISPERSION, "robots"),  # to the nearest other robot (m)
        Measure("flock", FLOCKING, "pairs"),  # near, aligned and moving the same way
        Measure("patrol", PATROLLING, "cells"),  # values of cells
        Measure("border", PATROLLING, "border"),  # and of those at the walls
        Measure("visits", VISITS, None, None),  # robot-cycles in each fine cell
        Measure("spread", VISITS, None, (SPREAD,)),  # what HBD needs of them
        Measure("radius", VISITS, "robots"),  # distance to the arena's centre (m)
        Measure("features", FEATURES, None, SDBC_SUMS),  # of SDBC
        Measure("situations", SITUATIONS, None, (STATES, ACTIONS), pooled=True),  # of SPIRIT
    )
}
# What descriptors need; "spread" stands for "hbd" without the visits, which are much to bring back.
DESCRIPTORS: dict[str, tuple[str, ...]] = {
    "hbd": ("visits", "spread", "radius"),
    "sdbc": ("features",),
    "spirit": ("situations",),
}
GROUPED = {**DESCRIPTORS, "spread": ("spread", "radius")}


class Wanted(NamedTuple):
    """What a simulation is asked to add up."""

    stages: int  # bits
    names: frozenset[str]  # of the paper's measures
    laws: tuple[Law, ...]  # of users

    @property
    def all_inputs(self) -> bool:
        """Whether inputs are read that the network may not read."""
        return bool(self.stages & (SITUATIONS | INPUTS))


def wanted(sums: Sequence[str | Law]) -> Wanted:
    """Return what is wanted, given measures or descriptors by name, and laws of users."""
    stages = 0
    names: set[str] = set()
    laws: dict[str, Law] = {}
    for one in sums:
        if isinstance(one, str):
            for name in GROUPED.get(one, (one,)):
                names.add(name)
                stages |= MEASURES[name].stage
        else:
            laws[one.key] = one
            stages |= one.stages
    return Wanted(stages, frozenset(names), tuple(laws.values()))


def stacked(each: Sequence[Mapping[str, np.ndarray]], names: Iterable[str]) -> dict[str, Any]:
    """Return the sums of single controllers as those of all."""
    return {
        name: [one[name] for one in each]
        if name == "visits"
        else np.array([one[name] for one in each])
        for name in names
    }


def joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sums of several parts of all controllers, one after the other."""
    if len(parts) == 1:
        return dict(parts[0])
    return {
        name: [one for part in parts for one in part[name]]
        if name == "visits"
        else np.concatenate([part[name] for part in parts])
        for name in parts[0]
    }
