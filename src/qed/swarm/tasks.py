"""Tasks: what each adds up in a trial, and how that becomes a fitness."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from qed.definitions import Definition, defined, digest_of, one_each, reduce_definition
from qed.errors import InputError
from qed.swarm import user_defined
from qed.swarm.environment import Environment
from qed.swarm.measures import MEASURES, Measure, Sums

# From the sums of some trials, how many numbers each adds up, and the environment, to fitness.
Normalise = Callable[[np.ndarray, float, Environment], np.ndarray]
Most = Callable[[Environment], float]


class Task(Definition):
    """A task: what is added up for it, and how its mean becomes a fitness.

    Parameters
    ----------
    name : str
        A name of its own.
    words : str
        What it is about, in a few words.
    robot : law, optional
        A law of one robot in one cycle, averaged over robots and cycles.  Its arguments are any
        of x, y (m), heading (rad), speed (part of max_speed), turn (rad/s), arena (m), robots,
        max_speed (m/s), nearest (m), proximity (0 to 1), heard (cones), time (s).
    pair : law, optional
        Or a law of two robots in one cycle, averaged over pairs and cycles, of distance (m), turn
        (rad, from one's heading to the other's), speed_i, speed_k (parts of max_speed).
    score : function, optional
        Turns the mean of a trial into its fitness (default: it is the fitness); of the mean, or
        of the mean and the ``qed.Environment``.  Larger is better.

    Notes
    -----
    Laws are plain functions of numbers with the decorator ``@qed.law``; they are compiled for CPU
    and GPU.  A task equals its name and goes wherever the name of a task goes.

    Examples
    --------
    >>> import qed
    >>> @qed.law
    ... def slowness(speed):
    ...     return 1.0 - min(abs(speed), 1.0)
    >>> rest = qed.Task("rest", "stand still", robot=slowness)
    >>> swarm = qed.Controller([], bias=[0.0, 0.0])
    >>> qed.simulate(swarm, tasks=rest, trials=1, seconds=2.0).fitness["rest"].tolist()
    [[1.0]]
    """

    kind = "task"
    built_in = MappingProxyType({})
    measure: Measure
    normalise: Normalise
    score: user_defined.Plain | None
    most: Most  # no trial has more fitness
    made: dict[str, Any]  # what it was made of

    def __new__(
        cls,
        name: str,
        words: str = "",
        *,
        robot: Callable[..., float] | None = None,
        pair: Callable[..., float] | None = None,
        score: Callable[..., float] | None = None,
    ) -> Task:
        """Check the law: it must compile, and give numbers."""
        name = cls._checked(name)
        about = f"task {name}"
        if (robot is None) == (pair is None):
            raise InputError(f"{about}: give one law, robot=... or pair=...")
        over, function = ("robots", robot) if pair is None else ("pairs", pair)
        law = user_defined.checked(function, about, over)
        given = user_defined.plain(score, f"{about}: score") if score is not None else None
        digest = digest_of(law.key, given.digest if given else "")
        scored = _scored(about, law.name, score)
        made = {"robot": robot, "pair": pair, "score": score}
        more = {"score": given, "measure": law.measure, "normalise": scored, "made": made}
        return cls._new(name, str(words), digest, most=_unknown, **more)

    @classmethod
    def of_measure(
        cls,
        name: str,
        meaning: str,
        measure: str | user_defined.Law,
        normalise: Normalise,
        most: Most | None = None,
    ) -> Task:
        """Return a task that comes with QED: of a measure in the table, or of a law."""
        table = MEASURES[measure] if isinstance(measure, str) else measure.measure
        more = {"measure": table, "normalise": normalise, "score": None, "made": {}}
        digest = digest_of(name, table.name)
        return cls._new(name, meaning, digest, most=most or _unknown, **more)

    @property
    def sums(self) -> Any:
        """What a simulation is asked to add up for it: a measure's name, or a law."""
        return self.measure.law or self.measure.name

    def fitness(
        self, sums: Mapping[str, np.ndarray], cycles: int, environment: Environment
    ) -> np.ndarray:
        """Return the fitness of trials from what a simulation added up in so many cycles."""
        count = self.measure.count(cycles, environment)
        return self.normalise(sums[self.measure.name], count, environment)

    def alike(self, environment: Environment) -> Any:
        """Return what environments have in common whose sums become fitness in the same way."""
        if self.measure.law is not None:
            return environment
        return environment.robots, environment.arena

    def described(self) -> dict[str, Any]:
        """Return how it is defined, as JSON can hold it."""
        more: dict[str, Any] = {}
        if self.measure.law is not None:
            law = self.measure.law
            more = {"law": law.name, "over": law.over, "source": law.source}
            if self.score is not None:
                more["score"] = self.score.source
        return super().described() | more

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_definition(self)


def _scored(about: str, law: str, score: Callable[..., float] | None) -> Normalise:
    """Return how the sums of a user's law become fitness, one trial after the other."""
    takes = 1
    if score is not None:
        takes = len(inspect.signature(score).parameters)
        if takes not in (1, 2):
            raise InputError(
                f"{about}: score must be a function of the mean, or of the mean and the "
                f"environment; it has {takes} arguments"
            )

    def normalise(sums: np.ndarray, count: float, env: Environment) -> np.ndarray:
        means = sums / count
        if not np.isfinite(means).all():
            raise InputError(
                f"{about}: the law {law} returned NaN or infinity in a simulation; it must "
                "return a finite number everywhere (divide by nothing that may be 0)"
            )
        if score is None:
            return means
        more = (env,) if takes == 2 else ()
        found = [score(mean, *more) for mean in means.tolist()]
        try:
            fitness = np.array([float(one) for one in found])
        except (TypeError, ValueError):
            raise InputError(f"{about}: score must return a number, got {found[0]!r}") from None
        if not np.isfinite(fitness).all():
            raise InputError(f"{about}: score returned NaN or infinity; it must be finite")
        return fitness

    return normalise


def _diagonal(environment: Environment) -> float:
    return environment.arena * math.sqrt(2.0)


def _aggregation(sums: np.ndarray, count: float, env: Environment) -> np.ndarray:
    """One minus the mean distance to the swarm's centre over the arena's diagonal."""
    return 1.0 - sums / (count * _diagonal(env))


def _dispersion(sums: np.ndarray, count: float, env: Environment) -> np.ndarray:
    """Mean distance to the nearest other robot over half the arena's diagonal."""
    return sums / (count * _diagonal(env) / 2.0)


def _mean(sums: np.ndarray, count: float, env: Environment) -> np.ndarray:
    return sums / count


def _unknown(env: Environment) -> float:
    """No trial has more than any number."""
    return math.inf


def _one(env: Environment) -> float:
    """No distance is below 0, and no cell is worth more than 1."""
    return 1.0


def _packed(env: Environment) -> float:
    """Discs around robots, half as wide as the way to the nearest, do not overlap.

    At least a quarter of each lies in the arena, so that their areas have a sum.
    """
    if env.robots < 2:
        return math.inf
    widest = env.arena * 4.0 / math.sqrt(math.pi * env.robots)
    return min(widest, _diagonal(env)) / (_diagonal(env) / 2.0)


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task.of_measure("aggregation", "come together", "centre_distance", _aggregation, _one),
        Task.of_measure(
            "dispersion", "keep away from each other", "nearest_distance", _dispersion, _packed
        ),
        # Robots that are pushed may be faster than their wheels.
        Task.of_measure("flocking", "move together, the same way", "flock", _mean),
        Task.of_measure(
            "patrolling", "visit all cells of the arena again and again", "patrol", _mean, _one
        ),
        Task.of_measure("border-patrolling", "visit the cells at the walls", "border", _mean, _one),
    )
}
Task.built_in = MappingProxyType(TASKS)


def tasks_of(
    task: str | Task | None, tasks: str | Task | Sequence[str | Task] | None
) -> list[Task]:
    """Return the tasks that the arguments ``task`` and ``tasks`` name, of which one is given."""
    if task is not None and tasks is not None:
        raise InputError("give task or tasks, not both")
    argument, given = ("tasks", tasks) if task is None else ("task", [task])
    each = [given] if isinstance(given, str) else list(given or ())
    return one_each(argument, [defined(argument, one, Task) for one in each])


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
        some = added if len(rows) == len(added) else added[rows]
        scored = task.fitness({name: some.ravel()}, cycles, environments[rows[0]])
        found[rows] = scored.reshape(some.shape)
    return found
