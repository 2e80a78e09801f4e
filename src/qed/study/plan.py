"""What a study does: its presets, and the runs and faults that follow from its settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from qed import limits
from qed.errors import InputError, choice, whole
from qed.evolution.algorithms import ALGORITHMS
from qed.evolution.swarm_run import Settings
from qed.recovery.protocol import INDEPENDENT, PROTOCOLS
from qed.streams import stream
from qed.swarm.faults import Faults
from qed.swarm.tasks import TASKS

ROBOTS = 10  # of the normal environment, in which robots break


def _several(argument: str, given: Any, allowed: Any) -> tuple[str, ...]:
    """Return known names, at least one, none of them twice."""
    names = given.split(",") if isinstance(given, str) else list(given)
    known = tuple(dict.fromkeys(choice(argument, name.strip(), allowed) for name in names))
    if not known:
        raise InputError(f"{argument} must name at least one of {', '.join(allowed)}; got none")
    return known


class Name(NamedTuple):
    """Which run of a study."""

    task: str
    algorithm: str
    replicate: int  # 1, 2, ...

    def __str__(self) -> str:
        return f"{self.task}-{self.algorithm}-{self.replicate}"


@dataclass(frozen=True)
class Plan:
    """What makes a study; equal plans give equal tables."""

    tasks: tuple[str, ...]
    algorithms: tuple[str, ...]
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
    protocol: str = INDEPENDENT  # the trials that choose, see recovery.protocol

    def __post_init__(self) -> None:
        checked = {
            "tasks": _several("tasks", self.tasks, TASKS),
            "algorithms": _several("algorithms", self.algorithms, ALGORITHMS),
            "replicates": limits.replicates(self.replicates),
            "evaluations": limits.evaluations(self.evaluations),
            "initial": limits.evaluations(self.initial, "initial"),
            "batch": limits.batch(self.batch),
            "trials": limits.trials(self.trials),
            "seconds": limits.seconds(self.seconds),
            "faults": whole("faults", self.faults, 1, 10**5),
            "retrials": limits.trials(self.retrials, "retrials"),
            "fresh": limits.trials(self.fresh, "fresh"),
            "seed": limits.seed(self.seed),
            "protocol": choice("protocol", self.protocol, PROTOCOLS),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def read(cls, table: Mapping[str, Any], source: str) -> Plan:
        """Return the plan that a file has; InputError if a version without all fields wrote it."""
        lacking = [field.name for field in fields(cls) if field.name not in table]
        if lacking:
            raise InputError(
                f"out: {source} was begun by an older qed (it lacks {', '.join(lacking)}): their "
                "results must not be mixed; take another folder, or that version"
            )
        return cls(**{field.name: table[field.name] for field in fields(cls)})

    def changed(self, **given: Any) -> Plan:
        """Return this plan with what is given, where it is not None."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})

    def runs(self) -> Iterator[Name]:
        """Yield the runs, those of one task and algorithm side by side."""
        for task in self.tasks:
            for algorithm in self.algorithms:
                for replicate in range(1, self.replicates + 1):
                    yield Name(task, algorithm, replicate)

    def seed_of(self, replicate: int) -> int:
        """Return the seed of a replicate's runs, which the runs join with task and algorithm."""
        return stream("study", self.seed, replicate)

    def settings(self, name: Name) -> Settings:
        """Return the settings of a run."""
        return Settings(
            task=name.task,
            algorithm=name.algorithm,
            evaluations=self.evaluations,
            initial=self.initial,
            batch=self.batch,
            trials=self.trials,
            seconds=self.seconds,
            seed=self.seed_of(name.replicate),
        )

    def recovery_seed(self, name: Name) -> int:
        """Return the seed with which ``qed.recover`` finds what the study finds of a run."""
        return stream("recovery", name.task, name.algorithm, self.seed_of(name.replicate))

    def faults_of(self, replicate: int) -> list[Faults]:
        """Return the combined faults that the maps of a replicate meet, whatever their task."""
        seeds = (stream("fault", self.seed, replicate, k) for k in range(self.faults))
        return [Faults.sample(ROBOTS, seed=seed) for seed in seeds]


PRESETS: dict[str, Plan] = {
    "quick": Plan(
        tasks=("dispersion", "patrolling", "border-patrolling"),
        algorithms=("qed", "hbd", "sdbc", "spirit"),
        replicates=2,
        evaluations=4_000,
        initial=1_000,
        batch=80,
        trials=3,
        seconds=100.0,
        faults=7,
        retrials=3,
        fresh=30,
    ),
    "laptop": Plan(
        tasks=tuple(TASKS),
        algorithms=("qed", "hbd", "sdbc", "spirit"),
        replicates=2,
        evaluations=20_000,
        initial=2_000,
        batch=80,
        trials=5,
        seconds=200.0,
        faults=20,
        retrials=5,
        fresh=50,
    ),
    "paper": Plan(
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
    ),
}
