"""The settings that many functions and commands take, each checked in one place.

Each function returns the value, or raises an ``InputError`` that names the setting, what was given
and what is allowed.
"""

from typing import Any

from qed.errors import integer, number
from qed.swarm.robot import CYCLE


def trials(value: Any, name: str = "trials") -> int:
    """Return a number of trials."""
    return integer(name, value, 1, 10**6)


def seconds(value: Any) -> float:
    """Return the simulated time of a trial (s), a control cycle at least."""
    return number("seconds", value, CYCLE, 1e6)


def seed(value: Any) -> int:
    """Return what decides everything random."""
    return integer("seed", value, 0, 2**63 - 1)


def threads(value: Any) -> int | None:
    """Return a number of CPU threads; None stands for all cores."""
    return None if value is None else integer("threads", value, 1, 1024)


def evaluations(value: Any, name: str = "evaluations") -> int:
    """Return how many solutions a run evaluates, or how many of them are random."""
    return integer(name, value, 1, 10**12)


def batch(value: Any) -> int:
    """Return the number of children of a generation."""
    return integer("batch", value, 1, 10**6)


def replicates(value: Any) -> int:
    """Return how often a run is repeated with other seeds."""
    return integer("replicates", value, 1, 1000)


def checkpoint(value: Any) -> float:
    """Return the time between checkpoints (s)."""
    return number("checkpoint", value, 0.0, 1e9)
