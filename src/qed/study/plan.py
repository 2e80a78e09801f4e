"""What a study does: its presets, and the runs and faults that follow from its settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from qed import limits
from qed.definitions import Definition, Some, defined, known, one_each
from qed.errors import InputError, choice, integer
from qed.evolution.algorithms import Algorithm
from qed.evolution.swarms import Swarms
from qed.recovery.trials import INDEPENDENT, PROTOCOLS
from qed.streams import stream
from qed.swarm.environment import Attributes
from qed.swarm.faults import DRAWN, Fault, Faults
from qed.swarm.robot import THYMIO, Robot
from qed.swarm.tasks import TASKS, Task

ROBOTS = 10  # of the normal environment, in which robots break


def _several(argument: str, given: Any, kind: type[Some]) -> tuple[Some, ...]:
    """Return definitions, given as objects or by name, at least one, none of them twice."""
    names = [given] if isinstance(given, kind) else given
    names = names.split(",") if isinstance(names, str) else list(names)
    found = [
        defined(argument, name if isinstance(name, kind) else str(name).strip(), kind)
        for name in names
    ]
    if not found:
        raise InputError(f"{argument} must name at least one of {', '.join(known(kind))}; got none")
    return tuple(one_each(argument, found))


class Name(NamedTuple):
    """Which run of a study."""

    task: str | Task
    algorithm: str | Algorithm
    replicate: int  # 1, 2, ...

    def __str__(self) -> str:
        return f"{self.task}-{self.algorithm}-{self.replicate}"


@dataclass(frozen=True)
class Plan:
    """What makes a study; equal plans give equal tables."""

    tasks: tuple[str | Task, ...]
    algorithms: tuple[str | Algorithm, ...]
    replicates: int
    evaluations: int  # of a run
    initial: int  # random ones of them
    batch: int  # children of a generation
    trials: int  # of an evaluation in evolution
    seconds: float  # simulated time of a trial (s)
    faults: int  # combined faults for each replicate, the same for all tasks and algorithms
    retrials: int  # trials of a solution in the normal environment, and with each fault
    fresh: int  # trials of the solutions chosen by those, to tell how good they are
    seed: int = 1  # decides everything random
    protocol: str = INDEPENDENT  # the trials that choose, see recovery.trials
    among: tuple[str | Fault, ...] = DRAWN  # the kinds of faults that are drawn
    broken: int = 0  # robots of a swarm that break; 0: each draws for itself
    beyond: int = 0  # faults of a map in which searches, playbooks and teams are tried; 0: none
    robot: str | Robot = THYMIO  # what swarms are made of
    race: bool = False  # where cells are environments, children that fall behind are given up

    def __post_init__(self) -> None:
        checked = {
            "tasks": _several("tasks", self.tasks, Task),
            "robot": defined("robot", self.robot, Robot),
            "algorithms": _several("algorithms", self.algorithms, Algorithm),
            "replicates": limits.replicates(self.replicates),
            "evaluations": limits.evaluations(self.evaluations),
            "initial": limits.evaluations(self.initial, "initial"),
            "batch": limits.batch(self.batch),
            "trials": limits.trials(self.trials),
            "seconds": limits.seconds(self.seconds),
            "faults": integer("faults", self.faults, 1, 10**5),
            "retrials": limits.trials(self.retrials, "retrials"),
            "fresh": limits.trials(self.fresh, "fresh"),
            "seed": limits.seed(self.seed),
            "protocol": choice("protocol", self.protocol, PROTOCOLS),
            "among": _several("among", self.among, Fault),
            "broken": integer("broken", self.broken, 0, ROBOTS),
            "beyond": integer("beyond", self.beyond, 0, 10**5),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        self.faults_of(1)  # some cannot be drawn
        if not isinstance(self.race, bool):
            raise InputError(f"race must be True or False, got {self.race!r}")
        if self.race and not any(map(self.races, self.algorithms)):
            raise InputError(
                "race is for algorithms whose cells are environments, such as qed; "
                f"algorithms has {', '.join(map(str, self.algorithms))}"
            )

    @property
    def searched(self) -> int:
        """Faults of a map in which what goes beyond the paper is tried."""
        return min(self.beyond, self.faults)

    def races(self, algorithm: str | Algorithm) -> bool:
        """Tell whether an algorithm's children race against the incumbents of their cells."""
        one = defined("algorithm", algorithm, Algorithm)
        return self.race and one.environments is not None

    @property
    def user_defined(self) -> list[str]:
        """The definitions of users that make the study, with their digests."""
        all_ = (*self.tasks, *self.algorithms, *self.among, self.robot)
        users = [one for one in all_ if isinstance(one, Definition) and one.user_defined]
        return [f"{one.kind} {one.name}, defined as {one.digest}" for one in users]

    @classmethod
    def read(cls, table: Mapping[str, Any], source: str) -> Plan:
        """Return the plan that a file has."""
        cls.complete(table, source)
        # Before there were others, all robots were Thymios.
        return cls(**{one.name: table[one.name] for one in fields(cls) if one.name in table})

    @classmethod
    def complete(cls, table: Mapping[str, Any], source: str) -> None:
        """Raise InputError if a version without all fields wrote a file."""
        lacking = [one.name for one in fields(cls) if one.name not in (*table, "robot")]
        if lacking:
            raise InputError(
                f"out: {source} was started by an older qed (it lacks {', '.join(lacking)}); "
                "results of two versions must not be mixed; use another folder, or that version"
            )

    def changed(self, **given: Any) -> Plan:
        """Return this plan with what is given, where it is not None."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})

    def over(self, attributes: str | Attributes) -> Plan:
        """Return this plan with other environments, for algorithms whose cells are that."""
        all_ = [defined("algorithms", name, Algorithm) for name in self.algorithms]
        robot = defined("robot", self.robot, Robot)
        return self.changed(
            algorithms=[
                one if one.attributes is None else one.with_attributes(attributes, robot)
                for one in all_
            ]
        )

    def runs(self) -> Iterator[Name]:
        """Yield the runs, those of one task and algorithm side by side."""
        for task in self.tasks:
            for algorithm in self.algorithms:
                for replicate in range(1, self.replicates + 1):
                    yield Name(task, algorithm, replicate)

    def seed_of(self, replicate: int) -> int:
        """Return the seed of a replicate's runs, which the runs join with task and algorithm."""
        return stream("study", self.seed, replicate)

    def swarms(self, name: Name, threads: int | None = None, backend: str = "cpu") -> Swarms:
        """Return what a run evolves."""
        return Swarms(
            task=name.task,
            algorithm=name.algorithm,
            trials=self.trials,
            seconds=self.seconds,
            seed=self.seed_of(name.replicate),
            race=self.races(name.algorithm),
            threads=threads,
            backend=backend,
            robot=self.robot,
        )

    def recovery_seed(self, name: Name) -> int:
        """Return the seed with which ``qed.recover`` finds what the study finds of a run."""
        return stream("recovery", name.task, name.algorithm, self.seed_of(name.replicate))

    def faults_of(self, replicate: int) -> list[Faults]:
        """Return the combined faults that the maps of a replicate meet, whatever their task."""
        seeds = (stream("fault", self.seed, replicate, k) for k in range(self.faults))
        broken = self.broken or None
        return [Faults.sample(ROBOTS, seed, among=self.among, broken=broken) for seed in seeds]


_PAPER = Plan(
    tasks=tuple(TASKS),
    algorithms=("qed", "hbd", "sdbc", "spirit"),
    replicates=5,
    evaluations=2_000 + 30_000 * 80,
    initial=2_000,
    batch=80,
    trials=50,
    seconds=400.0,
    faults=50,
    retrials=10,
    fresh=50,
    beyond=20,
)
PRESETS: dict[str, Plan] = {
    "quick": _PAPER.changed(
        tasks=("dispersion", "patrolling", "border-patrolling"), replicates=2, evaluations=4_000,
        initial=1_000, trials=3, seconds=100.0, faults=7, retrials=3, fresh=30, beyond=0,
    ),
    "laptop": _PAPER.changed(
        replicates=2, evaluations=20_000, trials=5, seconds=200.0, faults=20, retrials=5, beyond=4
    ),
    "paper": _PAPER,
}  # fmt: skip
