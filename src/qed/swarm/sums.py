"""What an engine adds up, of all controllers, and the fitness that comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from qed.swarm.environment import Environment
from qed.swarm.tasks import Task

Sums = Mapping[str, Any]  # by name, (controllers, trials, ...); of visits a list, as arenas differ


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


def fitness(task: Task, sums: Sums, cycles: int, environments: Sequence[Environment]) -> np.ndarray:
    """Return the fitness of all controllers, (controllers, trials), after so many cycles.

    Those whose environments make no difference to the task are scored in one go.
    """
    name = task.measure.name
    added: np.ndarray = sums[name]
    groups: dict[Any, list[int]] = {}
    for k, env in enumerate(environments):
        groups.setdefault(task.alike(env), []).append(k)
    found = np.empty(added.shape)
    for rows in groups.values():
        own = added if len(rows) == len(added) else added[rows]
        scored = task.fitness({name: own.ravel()}, cycles, environments[rows[0]])
        found[rows] = scored.reshape(own.shape)
    return found
