"""Robot swarms as a domain of MAP-Elites."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from qed import limits
from qed.archive.grid import Space
from qed.controller.dense import Dense
from qed.controller.genome import Genomes, Networks
from qed.definitions import defined, one_each
from qed.errors import InputError
from qed.evolution import early_stopping
from qed.evolution.algorithms import Algorithm, Condition
from qed.evolution.domain import Batch, Evaluated, Record
from qed.streams import trials_stream
from qed.swarm import backend as engines
from qed.swarm.environment import Environment, other_robot
from qed.swarm.floor import Picture, checked_floor, floor_in_words, rows_of
from qed.swarm.job import Job
from qed.swarm.made_for import made_for
from qed.swarm.robot import CYCLE, PROXIMITY_NOISE, THYMIO, Robot
from qed.swarm.simulate import Pending, cores
from qed.swarm.tasks import Task

TRIALS_IN_ONE_GO = 2000  # of a simulation on a GPU, at least, where there are so many


@dataclass(frozen=True)
class Swarms:
    """Swarms that learn a task; with equal sizes of a run, equal swarms give equal archives.

    Which engine simulates is no part of a run: one that began on a CPU may be resumed on a GPU.
    """

    task: Any  # a Task, or its name
    algorithm: Any = "qed"  # an Algorithm, or its name
    trials: int = 50  # of an evaluation
    seconds: float = 400.0  # simulated time of a trial (s)
    seed: int = 1  # with task and algorithm it decides everything random
    race: bool = False  # children that fall behind their incumbents are stopped early
    controller: Dense | None = None  # one topology for all, not one that evolves
    threads: int | None = field(default=None, compare=False)
    backend: str = field(default="cpu", compare=False)  # or "cuda"
    robot: Any = THYMIO  # a Robot, or its name
    floor: Any = None  # of all environments
    incumbents: early_stopping.IncumbentTrials = field(
        default_factory=early_stopping.IncumbentTrials, init=False, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        checked = {
            "task": defined("task", self.task, Task),
            "robot": (robot := defined("robot", self.robot, Robot)),
            "algorithm": defined("algorithm", self.algorithm, Algorithm).for_robot(robot),
            "trials": limits.trials(self.trials),
            "seconds": limits.seconds(self.seconds),
            "seed": limits.seed(self.seed),
            "floor": checked_floor(self.floor),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        kind = made_for(self.robot, "qed.controller.dense").Dense
        if not isinstance(self.controller, kind | None):
            raise InputError(
                "controller must be qed.Controller.dense(hidden=...) of the same robot, or None "
                f"for networks whose topology evolves; got {self.controller!r}"
            )
        if not isinstance(self.race, bool):
            raise InputError(f"race must be True or False, got {self.race!r}")
        if self.race and self.algorithm.environments is None:
            raise InputError(
                f"race is for algorithms whose cells are environments, such as qed; "
                f"{self.algorithm} finds a cell only when a child is evaluated"
            )

    def random(self, keys: np.ndarray) -> Genomes:
        """Return random genomes."""
        found: Genomes = (
            self._variation.random_genomes(keys)
            if self.controller is None
            else self.controller.random(keys)
        )
        return found

    def vary(self, parents: Genomes, keys: np.ndarray) -> Genomes:
        """Return mutated genomes."""
        found: Genomes = (self.controller or self._variation).vary(parents, keys)
        return found

    @property
    def _variation(self) -> Any:
        """What varies networks whose topology evolves."""
        return made_for(self.robot, "qed.controller.variation")

    def to_vectors(self, solutions: Genomes) -> np.ndarray:
        """Return dense networks as vectors."""
        return self._dense.vectors(solutions)

    def from_vectors(self, vectors: np.ndarray) -> Genomes:
        """Return vectors as dense networks."""
        return self._dense.genomes(vectors)

    @property
    def _dense(self) -> Dense:
        if self.controller is None:
            raise InputError(
                "this emitter searches among vectors, and networks whose topology evolves are "
                "none; give controller=qed.Controller.dense(hidden=8) (--hidden 8)"
            )
        return self.controller

    def evaluate(
        self, solutions: Genomes, environments: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return mean fitness over trials, and behaviour if cells are behaviours."""
        [result] = self.begin([self], [Batch(solutions, environments)]).results()
        return result.objective, result.measures

    def cells(self, evaluations: int, progress: Callable[[int, int], Any] | None = None) -> Space:
        """Return the cells for so many evaluations; progress is called while centroids are made."""
        space: Space = self.algorithm.space(evaluations, progress)
        return space

    def record(self, sizes: Mapping[str, Any]) -> Record:
        """Return what makes a run of these swarms."""
        settings = {
            "task": self.task.name,
            "algorithm": self.algorithm.name,
            **{name: sizes[name] for name in ("evaluations", "initial", "batch")},
            "trials": self.trials,
            "seconds": self.seconds,
            "seed": self.seed,
            **({"race": True} if self.race else {}),
            **({"hidden": self.controller.hidden} if self.controller else {}),
            **({"robot": self.robot.name} if other_robot(self.robot) else {}),
            **({"floor": floor_in_words(self.floor)} if self.floor else {}),
            **({"emitter": sizes["emitter"]} if "emitter" in sizes else {}),
        }
        tables: dict[str, dict[str, Any]] = {"run": settings}
        header: dict[str, Any] = {"settings": settings}
        if other_robot(self.robot):
            header["robot"] = self.robot.described()
        if self.floor:
            header["floor"] = rows_of(self.floor)
        users = [one for one in (self.task, self.algorithm, self.robot) if one.user_defined]
        if users:
            tables["definitions"] = {
                one.kind: f"{one.name}, defined as {one.digest}" for one in users
            }
            header["definitions"] = {one.kind: one.described() for one in users}
        if self.algorithm.features:
            header["features"] = [law.name for law in self.algorithm.features]
            header["ranges"] = [list(limits) for limits in self.algorithm.ranges]
        stream = self.task.name, self.algorithm.name
        environments = self.algorithm.environments
        return Record(tables, {"engine": self.backend}, header, stream, environments)

    @property
    def trials_seed(self) -> int:
        """Seed of the trials: decides start poses and noise."""
        return trials_stream(self.task.name, self.algorithm.name, self.seed)

    def conditions(self, batch: Batch) -> list[Condition]:
        """Return the environment of each solution of a batch, and what is broken there."""
        if batch.environments is None:
            normal = Environment(robot=self.robot, floor=self.floor)
            return [(normal, None)] * len(batch.solutions.hidden)
        rows = batch.environments.tolist()
        return [_condition(self.algorithm, self.robot, self.floor, tuple(row)) for row in rows]

    @staticmethod
    def together(domains: Sequence[Swarms], batch: int) -> list[list[int]]:
        """Return which of several searches are best simulated in one go.

        On a GPU several simulations go on at the same time, so that it has work while the host
        deals with the results of one; but a simulation of very few trials is not worth its launch.
        """
        groups: dict[Hashable, list[int]] = {}
        for k, domain in enumerate(domains):
            groups.setdefault(domain._group(), []).append(k)
        found = []
        for group in groups.values():
            first = domains[group[0]]
            size = len(group)
            if first.backend == "cuda":
                trials = early_stopping.FIRST_ROUND_OF_RACE if first.race else first.trials
                size = max(-(-TRIALS_IN_ONE_GO // (trials * batch)), 1)
            found += [group[k : k + size] for k in range(0, len(group), size)]
        return found

    def _group(self) -> Hashable:
        """Return what swarms must have in common to be simulated in one go."""
        same = (self.backend, self.trials, self.seconds, self.robot.key)
        # All swarms of a simulation add up the same things.  A CPU would lose time with what
        # only some of them need; a GPU gains more by having many swarms at once, but for
        # descriptors, which are much to add up and to bring back.
        alike = (
            self.algorithm.sums if self.backend == "cuda" else (self.task.key, self.algorithm.key)
        )
        return *same, alike, self.race

    @staticmethod
    def begin(domains: Sequence[Swarms], batches: Sequence[Batch]) -> Evaluation:
        """Begin to simulate a batch of each search."""
        return Evaluation(domains, batches)

    def describe_speed(self, rate: float) -> str:
        """Return in words how fast so many evaluations a second are."""
        steps = rate * self.trials * self.seconds / CYCLE * self.algorithm.robots
        return f"{steps / 1e6:.0f}M steps/s"


_conditions: dict[tuple[Any, ...], Condition] = {}  # by key: algorithms of one name are equal


def _condition(
    algorithm: Algorithm, robot: Robot, floor: Picture | None, options: tuple[int, ...]
) -> Condition:
    key = algorithm.key, robot.key, floor, options
    if key not in _conditions:
        environment, faults = algorithm.condition(options)
        if environment.robot.key != robot.key:  # the normal one
            environment = Environment(robot=robot)
        if floor:
            environment = replace(environment, floor=floor)
        _conditions[key] = environment, faults
    return _conditions[key]


class Evaluation:
    """Batches of several searches in one simulation, which adds up what any of them needs.

    It begins at once, as far as the engine does.  Where cells are environments it goes on in
    rounds of trials, with the children that may still beat their incumbents.
    """

    def __init__(self, domains: Sequence[Swarms], batches: Sequence[Batch]) -> None:
        self.domains = domains
        self.batches = batches
        conditions = [
            domain.conditions(batch) for domain, batch in zip(domains, batches, strict=True)
        ]
        self.by_domain = [[environment for environment, _ in some] for some in conditions]
        self.faults = [faults for some in conditions for _, faults in some]
        stops = np.cumsum([len(some) for some in self.by_domain]).tolist()
        self.slices = [
            slice(stop - len(some), stop) for some, stop in zip(self.by_domain, stops, strict=True)
        ]
        self.networks = Networks.joined([batch.solutions.networks() for batch in batches])
        self.environments = [env for some in self.by_domain for env in some]
        seeds = [domain.trials_seed for domain in domains]
        self.seeds = [seed for seed, some in zip(seeds, self.by_domain, strict=True) for _ in some]
        self.trials = domains[0].trials
        count = len(self.networks)
        self.fitness = np.zeros((count, self.trials))
        self.simulated = np.zeros((count, self.trials))  # fitness, in rounds to come as well
        self.incumbents = np.full(count, -np.inf)
        self.most = np.full(count, np.inf)  # the largest fitness of a trial
        for here, some, domain, batch in zip(
            self.slices, self.by_domain, domains, batches, strict=True
        ):
            if batch.incumbents is not None:
                self.incumbents[here] = batch.incumbents
                self.most[here] = [domain.task.most(env) for env in some]
        self.domain_of = np.repeat(np.arange(len(domains)), [len(some) for some in self.by_domain])
        self.race = any(domain.race for domain in domains)
        self.rival = np.full(count, -1)  # the row of a child's incumbent in a race
        self.rivals = np.full((1, self.trials), np.nan)  # their fitness, and nobody's
        self.unknown = np.empty(0, int)  # rows of rivals who may be simulated with the children
        if self.race:
            self._find_rivals()
        self.active = np.arange(count)  # children that are not stopped
        self.done = 0  # trials of them in the rounds so far
        self.ahead = 0  # trials simulated of them
        self.bounds = np.full(count, np.inf)  # what stopped children could have reached
        self._begin_round()

    def _find_rivals(self) -> None:
        """Find the incumbents whom children race, and what is known of them trial by trial.

        That is known of all that evolved since the run began, or was resumed.  Others are
        simulated again, as many trials of them as their challengers get, after whom they come in
        the tables.
        """
        known: list[np.ndarray] = []
        networks, challengers = [self.networks], []
        for domain, here, batch in zip(self.domains, self.slices, self.batches, strict=True):
            if batch.archive is None or batch.incumbents is None or batch.cells is None:
                continue
            raced = np.flatnonzero(np.isfinite(batch.incumbents))
            cells, first, rival = np.unique(
                batch.cells[raced], return_index=True, return_inverse=True
            )
            found = domain.incumbents.look_up(cells, batch.incumbents[raced[first]], self.trials)
            rows = sum(map(len, known)) + np.arange(len(cells))
            self.rival[here.start + raced] = rows[rival]
            known.append(found)
            if (unknown := np.isnan(found).any(1)).any():
                networks.append(batch.archive.take(cells[unknown]).networks())
                challengers += (here.start + raced[first][unknown]).tolist()
                self.unknown = np.append(self.unknown, rows[unknown])
        self.networks = Networks.joined(networks)
        self.environments += [self.environments[k] for k in challengers]
        self.faults += [self.faults[k] for k in challengers]
        self.seeds += [self.seeds[k] for k in challengers]
        self.domain_of = np.append(self.domain_of, self.domain_of[challengers])
        self.rivals = np.concatenate([*known, self.rivals])

    def _begin_round(self) -> None:
        active = self.active
        self.stop = early_stopping.next_stop(
            self.fitness[active].sum(1), self.most[active], self.incumbents[active], self.race,
            self.done, self.trials,
        )  # fmt: skip
        self.pending = None if self.stop <= self.ahead else self._simulate()

    def _simulate(self) -> Pending:
        """Begin to simulate the round, and with it those to come if a GPU has room for them.

        A child is stopped after the same round whether its other trials are simulated or not.
        """
        first, begin = self.domains[0], self.ahead
        self.ahead = self.stop
        if first.backend == "cuda":
            engine = engines.on_gpu(first.robot)
            while self.ahead < self.trials:
                more = early_stopping.stop_after(self.ahead, self.trials)
                rows = self._needed(begin, more)
                if not engine.has_room([self.environments[k] for k in rows], more - begin):
                    break
                self.ahead = more
        self.rows = self._needed(begin, self.ahead)
        job = Job(
            controllers=self.networks.take(self.rows),
            environments=[self.environments[k] for k in self.rows],
            faults=[self.faults[k] for k in self.rows],
            seeds=[self.seeds[k] for k in self.rows],
            trials=self.ahead - begin,
            cycles=round(first.seconds / CYCLE),
            start=None,
            noise=PROXIMITY_NOISE,
            skipped=begin,
        )
        tasks = one_each("task", [domain.task for domain in self.domains])
        sums = list(dict.fromkeys(name for one in self.domains for name in one.algorithm.sums))
        return Pending(job, tasks, sums, first.threads or cores(), None, first.backend)

    def _needed(self, begin: int, end: int) -> np.ndarray:
        """Return the rows to simulate in some trials: active children, rivals not known there."""
        raced = np.isin(self.unknown, self.rival[self.active])
        raced &= np.isnan(self.rivals[self.unknown, begin:end]).any(1)
        return np.append(self.active, len(self.fitness) + np.flatnonzero(raced))

    def _end_round(self) -> None:
        """Wait for the end of a round, and stop children that have lost."""
        if self.pending is not None:
            self.outcome = self.pending.outcome()
            count = len(self.fitness)
            for k, domain in enumerate(self.domains):
                mask = self.domain_of[self.rows] == k
                fitness = self.outcome.fitness[domain.task.name][mask]
                simulated = slice(self.ahead - fitness.shape[1], self.ahead)
                rows, children = self.rows[mask], self.rows[mask] < count
                self.simulated[rows[children], simulated] = fitness[children]
                rivals = self.unknown[rows[~children] - count]
                self.rivals[rivals, simulated] = fitness[~children]
        ended = slice(self.done, self.stop)
        self.fitness[self.active, ended] = self.simulated[self.active, ended]
        self.done = self.stop
        if self.done < self.trials:
            active = self.active
            sums = self.fitness[active].sum(1)
            self.bounds[active] = early_stopping.upper_bounds(
                sums, self.most[active], self.done, self.trials
            )
            may_win = self.bounds[active] >= self.incumbents[active]
            if self.race:
                lost = early_stopping.lost_race(
                    self.fitness[active, : self.done], self.rivals[self.rival[active], : self.done]
                )
                behind = active[lost]
                self.bounds[behind] = np.minimum(self.bounds, self.incumbents)[behind]
                may_win &= ~lost
            self.active = active[may_win]

    def _remember_trials(self, objective: np.ndarray) -> None:
        """Let races know the fitness, trial by trial, of incumbents, and children that may be."""
        ended = self.active if self.done == self.trials else self.active[:0]
        for k, (domain, here, batch) in enumerate(
            zip(self.domains, self.slices, self.batches, strict=True)
        ):
            if batch.cells is not None and batch.incumbents is not None:
                raced = np.flatnonzero(self.rival[here] >= 0)
                domain.incumbents.keep(
                    batch.cells[raced],
                    batch.incumbents[raced],
                    self.rivals[self.rival[here][raced]],
                )
                rows = ended[self.domain_of[ended] == k]
                cells = batch.cells[rows - here.start]
                domain.incumbents.update(cells, objective[rows], self.fitness[rows])

    @property
    def _finished(self) -> bool:
        return self.done == self.trials or not len(self.active)

    def ready(self) -> bool:
        """Return True if `results()` will not block, or if nothing happens until it is called."""
        if self.domains[0].backend != "cuda" or self._finished:
            return True
        while self.pending is None or self.pending.ready():
            self._end_round()
            if self._finished:
                return True
            self._begin_round()
        return False

    def results(self) -> list[Evaluated]:
        """Wait for its end; return what each search would get alone.

        Of children that are stopped the largest objective that they could have reached, or in a
        race no more than they would have had to beat.
        """
        while not self._finished:
            self._end_round()
            if not self._finished:
                self._begin_round()
        objective = self.bounds.copy()
        stopped = np.ones(len(objective), bool)
        if self.done == self.trials:
            stopped[self.active] = False
            objective[self.active] = self.fitness[self.active].mean(1)
        if self.race:
            self._remember_trials(objective)
        found = []
        for domain, some, here in zip(self.domains, self.by_domain, self.slices, strict=True):
            describe = domain.algorithm.describe
            # Where there are behaviours to describe, nobody is stopped.
            behaviour = None if describe is None else describe(self.outcome.part(here), some)
            found.append(Evaluated(objective[here], behaviour, stopped[here]))
        return found
