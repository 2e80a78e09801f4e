"""Try networks of a table in swarms, healthy and broken, on trials that are kept apart; race them.

Whoever did best on some trials was in part lucky there, so a fitness that chose a controller says
too much of it.  Three kinds of trials are kept apart: those that choose the normal best, those
that choose the recovery, and fresh ones, which only the chosen meet.  Within each kind all
controllers meet the same start poses and the same noise.

In a race all meet few trials, and only the better ones meet more.  All meet the same trials in the
same order, so who goes on to the end has there exactly the fitness that a search without a race
gives.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from qed import limits
from qed.controller.genome import Networks
from qed.definitions import defined
from qed.descriptors import spirit, spirit_distance
from qed.errors import InputError, choice, instance
from qed.streams import evolution_trials, stream
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.job import Job
from qed.swarm.robot import CYCLE, PROXIMITY_NOISE, THYMIO, Robot
from qed.swarm.simulate import Outcome, Pending, cores
from qed.swarm.tasks import Task

INDEPENDENT, AUTHORS = "independent", "authors"
PROTOCOLS = {
    INDEPENDENT: "controllers are chosen on trials of their own",
    AUTHORS: "they are chosen on the trials of evolution, as the paper's authors did",
}
AT_ONCE = 512  # swarms simulated in one go; bounds memory, and how often progress is reported
FILLS_GPU = 20_480  # swarms x trials; a launch of fewer leaves part of a GPU idle
UNDER_WAY = 3  # simulations begun: a GPU has work while the host prepares and gathers
WATCHED_BLOCKS = 2  # of lanes that each core simulates in one go while somebody watches
# Parts of all trials after which controllers are compared, and the part that goes on.
HEATS = ((0.1, 1 / 6.5), (0.3, 1 / 21))
FEWEST = (96, 32)  # controllers that go on in any case
# From controllers and a number of trials to their mean fitness over these trials.
Try = Callable[[np.ndarray, int], np.ndarray]
# Rows of the networks that drive a swarm (one for all robots, or one each), and what is broken.
Swarm = tuple[Sequence[int], Faults | None]
Progress = Callable[[int, int], Any]  # called with what is done, and with all there is to do
# Called with swarms that were just tried, and their fitness (swarms, trials).
Seen = Callable[[Sequence[Swarm], np.ndarray], Any]


class Streams(NamedTuple):
    """Seeds of the three kinds of trials."""

    normal: int  # choose the normal best
    broken: int  # choose the recovery
    fresh: int  # measure the chosen


def streams(
    seed: int, protocol: str = INDEPENDENT, header: Mapping[str, Any] | None = None
) -> Streams:
    """Return the seeds of trials; the authors' way needs the header of the archive."""
    seed = limits.seed(seed)
    fresh = stream("fresh", seed)
    if choice("protocol", protocol, PROTOCOLS) == INDEPENDENT:
        return Streams(stream("choose: normal", seed), stream("choose: broken", seed), fresh)
    seen = evolution_trials(header or {})
    if seen is None:
        raise InputError(
            "protocol: the archive does not record the trials of its evolution, which "
            "'authors' needs; use 'independent'"
        )
    return Streams(seen, seen, fresh)


def listed(faults: Any) -> list[Faults]:
    """Return one or several combined faults as a list; InputError if it is something else."""
    several = [faults] if isinstance(faults, Faults) else faults
    if isinstance(several, str | bytes) or not isinstance(several, Iterable):
        kind = type(faults).__name__
        raise InputError(f"faults must be qed.Faults, or a list of these, got {kind}")
    found = list(several)
    for one in found:
        if not isinstance(one, Faults):
            raise InputError(f"faults must be qed.Faults, got {type(one).__name__}")
    if not found:
        raise InputError("faults must hold at least one combined fault, got none")
    return found


@dataclass(frozen=True)
class Normal:
    """All networks of a table while all robots are healthy, in its order."""

    fitness: np.ndarray  # (n,) mean over the trials that choose the best; -inf: given up in a race
    fresh: float  # the best's mean over fresh trials
    distances: np.ndarray | None = None  # (n,) of behaviours from that of the best, 0 to 1

    @property
    def best(self) -> int:
        """The row with the highest fitness, the first of equals."""
        return int(np.argmax(self.fitness))


@dataclass(frozen=True)
class Trials:
    """How networks are tried; the same start poses and noise for all of them."""

    networks: Networks
    task: str | Task
    trials: int = 10  # of each network, to choose
    fresh: int = 50  # of the chosen
    seconds: float = 400.0  # simulated time of a trial (s)
    streams: Streams = streams(1)  # noqa: RUF009 (it is immutable)
    environment: Environment = Environment()  # noqa: RUF009 (it is immutable)
    threads: int | None = None
    backend: str = "cpu"  # or "cuda"
    robot: Robot = THYMIO  # that the networks drive
    watched: bool = False  # in small portions, so that somebody who watches hears of them soon

    def __post_init__(self) -> None:
        instance("environment", self.environment, Environment)
        if self.environment.robot.key != self.robot.key:
            raise InputError(
                f"environment: its robot is {self.environment.robot}, but the controllers drive "
                f"{self.robot}; give one with their robot"
            )
        checked: dict[str, Any] = {
            "task": defined("task", self.task, Task),
            "trials": limits.trials(self.trials),
            "fresh": limits.trials(self.fresh, "fresh"),
            "seconds": limits.seconds(self.seconds),
            "threads": limits.threads(self.threads),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def normal(self, seen: Seen | None = None) -> tuple[Normal, np.ndarray]:
        """Try each network while all robots are healthy; return also its SPIRIT behaviour."""
        swarms: list[Swarm] = [([row], None) for row in range(len(self.networks))]
        fitness, behaviour = [], []
        for part in self._each(swarms, self.trials, self.streams.normal, ("spirit",), seen):
            fitness.append(part.fitness[self.task].mean(1))
            behaviour.append(spirit(part))
        found, behaviours = np.concatenate(fitness), np.concatenate(behaviour)
        best = int(np.argmax(found))
        distances = spirit_distance(behaviours[best], behaviours)
        return Normal(found, float(self.evaluate_fresh([([best], None)]).mean()), distances), (
            behaviours
        )

    def distances(self, best: int, rows: Sequence[int]) -> dict[int, float]:
        """Return how far behaviours are from the normal best's, all robots healthy, 0 to 1."""
        unique = np.unique([best, *rows]).tolist()
        swarms: list[Swarm] = [([row], None) for row in unique]
        parts = self._each(swarms, self.trials, self.streams.normal, ("spirit",))
        behaviours = np.concatenate([spirit(part) for part in parts])
        apart = spirit_distance(behaviours[unique.index(best)], behaviours)
        return dict(zip(unique, apart.tolist(), strict=True))

    def broken(self, faults: Sequence[Faults], seen: Seen | None = None) -> np.ndarray:
        """Return the mean fitness of each network in each combined fault, (faults, n)."""
        swarms: list[Swarm] = [
            ([row], fault) for fault in faults for row in range(len(self.networks))
        ]
        found: np.ndarray = self.fitness(swarms, self.trials, self.streams.broken, seen).mean(1)
        return found.reshape(len(faults), len(self.networks))

    def evaluate_fresh(self, swarms: Sequence[Swarm]) -> np.ndarray:
        """Return the fitness of chosen swarms on each fresh trial, (swarms, trials)."""
        return self.fitness(swarms, self.fresh, self.streams.fresh)

    def fitness(
        self,
        swarms: Sequence[Swarm],
        trials: int,
        seed: int | Sequence[int],
        seen: Seen | None = None,
        environments: Sequence[Environment] | None = None,
    ) -> np.ndarray:
        """Return the fitness of swarms on each trial of a stream, or of one each, (swarms, trials).

        Streams are named by their seeds.  All swarms are in the same environment unless each has
        one of ``environments``.
        """
        parts = self._each(swarms, trials, seed, (), seen, environments)
        return np.concatenate([part.fitness[self.task] for part in parts])

    def at_once(self, trials: int) -> int:
        """Return how many swarms are simulated in one go, with so many trials each."""
        if self.backend == "cuda":
            return max(AT_ONCE, FILLS_GPU // trials)
        if not self.watched:
            return AT_ONCE
        from qed.swarm.cpu.layout import LANES, VECTOR

        lanes = -(-self.environment.robots * trials // VECTOR) * VECTOR
        return min(max(1, WATCHED_BLOCKS * cores() * LANES // lanes), AT_ONCE)

    def checked(self, faults: Any) -> list[Faults]:
        """Return one or several combined faults; InputError unless each has a fault per robot."""
        found, robots = listed(faults), self.environment.robots
        for one in found:
            if len(one) != robots:
                raise InputError(
                    f"faults must name one fault for each of the {robots} robots, got {len(one)}"
                )
        return found

    def _each(
        self,
        swarms: Sequence[Swarm],
        trials: int,
        seed: int | Sequence[int],
        descriptors: Sequence[str] = (),
        seen: Seen | None = None,
        environments: Sequence[Environment] | None = None,
    ) -> Iterator[Outcome]:
        """Simulate swarms, so many at a time, and yield what comes of them in order."""
        seeds = [seed] * len(swarms) if isinstance(seed, int) else seed
        where = environments or [self.environment] * len(swarms)
        size = self.at_once(trials)
        portions = [slice(k, k + size) for k in range(0, len(swarms), size)]
        begun = (
            self._begin(swarms[some], where[some], trials, seeds[some], descriptors)
            for some in portions
        )
        under_way = deque(islice(begun, UNDER_WAY))
        for some in portions:
            outcome = under_way.popleft().outcome()
            under_way.extend(islice(begun, 1))
            if seen is not None:
                seen(swarms[some], outcome.fitness[self.task])
            yield outcome

    def _begin(
        self,
        swarms: Sequence[Swarm],
        environments: Sequence[Environment],
        trials: int,
        seeds: Sequence[int],
        descriptors: Sequence[str],
    ) -> Pending:
        # Robots that all run the same network are driven by it together, which is faster.
        members = [rows[:1] if len(set(rows)) == 1 else rows for rows, _ in swarms]
        job = Job(
            controllers=self.networks.take(np.array([row for rows in members for row in rows])),
            environments=list(environments),
            faults=[fault for _, fault in swarms],
            seeds=list(seeds),
            trials=trials,
            cycles=round(self.seconds / CYCLE),
            start=None,
            noise=PROXIMITY_NOISE,
            members=np.array([len(rows) for rows in members]),
        )
        threads = self.threads or cores()
        return Pending(job, [self.task], descriptors, threads, None, self.backend)


@dataclass(frozen=True)
class RaceResult:
    """The end of a race; fitness is minus infinity for those that were given up."""

    fitness: np.ndarray  # (n,) mean over all trials of those that came to the end
    trials: int  # simulated in all

    @property
    def winner(self) -> int:
        """The best at the end, the first of equals."""
        return int(np.argmax(self.fitness))


def heats(controllers: int, trials: int) -> Iterator[tuple[int, int]]:
    """Yield how many controllers meet how many trials, heat by heat."""
    going = controllers
    for (part, share), fewest in zip(HEATS, FEWEST, strict=True):
        met = max(round(part * trials), 1)
        after = min(going, max(round(share * controllers), fewest))
        if met < trials and after < going:
            yield going, met
            going = after
    yield going, trials


def race(controllers: int, trials: int, attempt: Try, always: Sequence[int] = ()) -> RaceResult:
    """Race so many controllers; those named in ``always`` come to the end whatever they do."""
    going = np.arange(controllers)
    means = np.zeros(0)
    simulated = 0
    for count, met in heats(controllers, trials):
        if count < len(going):
            ahead = np.argsort(-means, kind="stable")[:count]
            going = np.union1d(going[ahead], np.asarray(always, np.int64))
        means = attempt(going, met)
        simulated += len(going) * met
    fitness = np.full(controllers, -np.inf)
    fitness[going] = means
    return RaceResult(fitness, simulated)


def races(controllers: int, trials: int) -> bool:
    """True if any of so many would be given up in a race."""
    return len(list(heats(controllers, trials))) > 1


def race_trials(controllers: int, trials: int) -> int:
    """Return how many trials a race of so many takes."""
    return sum(count * met for count, met in heats(controllers, trials))
