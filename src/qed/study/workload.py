"""How much work a study is, how much of it is done, and how long the rest takes.

Work is counted in robot-steps: robots x control cycles x trials x controllers.  How long the rest
takes follows from the robot-steps done in this session; before it, from the speed of the simulator.
"""

import math
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple, Self

from qed import speed
from qed.definitions import defined
from qed.evolution.algorithms import Algorithm
from qed.evolution.folder import ARCHIVE, evaluations_done
from qed.recovery.search.strategies import STRATEGIES
from qed.study import beyond, paths, work
from qed.study.plan import ROBOTS, Name, Plan
from qed.swarm.environment import Environment
from qed.swarm.faults import Faults
from qed.swarm.robot import CYCLE
from qed.swarm.simulate import cores

Watch = Callable[[float, str], Any]  # called with the fraction of the work done, and what goes on
# The stages of a run.
EVOLVE, TRY, BREAK, BEYOND = "evolve", "reevaluate", "recover", "beyond"
DOING = {EVOLVE: "evolving", TRY: "trying", BREAK: "breaking", BEYOND: "searching"}
# Solutions of the paper's maps, and the power of the evaluations by which they grow, which fits
# runs of 4,000 to 2,402,000 evaluations.
SOLUTIONS = {"hbd": (1091, 0.24), "sdbc": (130, 0.24), "spirit": (127, 0.05)}
PAPERS = 2_402_000
# Trials of a recovery by a team: of each solution in a race, and of the candidates in each kind.
RACED, TEAMED, TEAMS_OF = 2, 130, 135
VALIDATED = 600  # trials of a fault that validates a kit
KNOWN = 0.005  # of what is left: with less done, nothing is said
# Speeds for ``Workload.forecast``: those of the runs of docs/results/study.md on an NVIDIA H200.
H200 = (1.9e9, 1.2e9, 1.4e9)
MEASURED = 0.4  # s to measure each of them here


class Part(NamedTuple):
    """A piece of work that one process does."""

    stage: str
    names: tuple[Name, ...]  # several only to evolve side by side
    batch: int = 0  # of faults

    def __str__(self) -> str:
        kinds = {f"{name.task} {name.algorithm}" for name in self.names}
        who = kinds.pop() if len(kinds) == 1 else f"{len(self.names)} runs"
        return f"{DOING[self.stage]} {who}"

    @property
    def each(self) -> list[Self]:
        """The parts of its runs, one by one."""
        return [self._replace(names=(name,)) for name in self.names]


def parts_of(plan: Plan, name: Name) -> list[Part]:
    """Return the parts of a run, in order."""
    batches = range(len(work.batches(plan)))
    parts = [Part(EVOLVE, (name,)), Part(TRY, (name,))]
    parts += [Part(BREAK, (name,), batch) for batch in batches]
    return parts + ([Part(BEYOND, (name,))] if plan.searched else [])


def solutions(algorithm: str, evaluations: int) -> float:
    """Return about how many solutions a map has after so many evaluations.

    A map over environments fills like a board at which darts are thrown.
    """
    known = defined("algorithm", algorithm, Algorithm)
    if known.environments is not None:
        cells = math.prod(known.environments)
        return cells * (1.0 - math.exp(-evaluations / cells))
    full, growth = SOLUTIONS.get(known.name, SOLUTIONS["hbd"])
    found: float = full * (evaluations / PAPERS) ** growth
    # A map of a user's own is taken for one of HBD with as many cells.
    return min(found, known.space(evaluations, None).cells) if known.user_defined else found


def robot_steps(plan: Plan, part: Part) -> float:
    """Return about how many robot-steps a part of one run takes."""
    algorithm = defined("algorithm", part.names[0].algorithm, Algorithm)
    cycles = round(plan.seconds / CYCLE)
    if part.stage == EVOLVE:
        return plan.evaluations * plan.trials * cycles * algorithm.robots
    count = solutions(algorithm, plan.evaluations)
    trials = count * plan.retrials
    if part.stage == BREAK:
        trials *= len(work.batches(plan)[part.batch])
    elif part.stage == BEYOND:
        trials = _beyond(plan, count)
    return trials * cycles * ROBOTS


def _beyond(plan: Plan, count: float) -> float:
    """Return about how many trials of a swarm what goes beyond the paper takes on one map."""
    effort = beyond.EFFORT
    kit = count * effort.surveyed + min(count, effort.candidates) * effort.screened
    kit += min(count, effort.controllers) * effort.faults * effort.trials
    kit += effort.validation * VALIDATED
    answers = len(STRATEGIES) * (beyond.BUDGETS[-1] + 0.5 * len(beyond.BUDGETS) * plan.fresh)
    team = RACED * count + TEAMED * min(count, TEAMS_OF)
    return kit + plan.searched * (answers + team)


class Workload:
    """The work of a study: what is done of it, and what is left.

    Parameters
    ----------
    plan : the study's
    folder : the study's folder, None if nothing is done yet
    watch : called when more is done
    clock : tells the time (s)
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path | None = None,
        watch: Watch | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.plan, self.folder, self.watch = plan, folder, watch
        parts = [part for name in plan.runs() for part in parts_of(plan, name)]
        self.steps = {part: robot_steps(plan, part) for part in parts}
        # Robot-steps that are left, and those done in this session: they alone tell the speed.
        self.left = {part: steps * (1.0 - self.there(part)) for part, steps in self.steps.items()}
        self.did = 0.0
        self.now: Part | None = None  # what is done in this process
        self._clock, self._since = clock, clock()

    def there(self, part: Part) -> float:
        """Return the fraction of a run's part that is on the disk."""
        if self.folder is None:
            return 0.0
        here = paths.run(self.folder, part.names[0])
        if part.stage == EVOLVE and not (here / ARCHIVE).exists():
            return min(evaluations_done(here) / self.plan.evaluations, 1.0)
        file = {
            EVOLVE: ARCHIVE,
            TRY: paths.NORMAL,
            BREAK: paths.recovery(part.batch),
            BEYOND: paths.beyond(self.plan.searched),
        }[part.stage]
        return float((here / file).exists())

    def tell(self, fraction: float) -> None:
        """Note how far the part in this process is, of what was not finished when it began."""
        if self.now is not None:
            self.end(self.now, fraction)

    def end(self, part: Part, fraction: float = 1.0) -> None:
        """Note that a fraction of a part is done, or all of it."""
        for one in part.each:
            self._did(one, fraction)
        self._show(str(part))

    def look(self, parts: Collection[Part]) -> None:
        """Note how far parts in other processes are, by the files they leave."""
        for part in parts:
            for one in part.each if part.stage == EVOLVE else ():
                self._did(one, self.there(one))
        if parts:
            self._show(f"{len(parts)} parts wait or run")

    def fail(self, part: Part) -> None:
        """Note that a run's part failed: neither it nor the stages that follow will be done."""
        parts = parts_of(self.plan, part.names[0])
        later = [one for one in parts[parts.index(part) :] if one.stage != part.stage]
        self.left |= dict.fromkeys([part, *later], 0.0)
        self._show(str(part))

    def _did(self, part: Part, fraction: float) -> None:
        left = min(self.left[part], self.steps[part] * (1.0 - fraction))
        self.did += self.left[part] - left
        self.left[part] = left

    @property
    def fraction(self) -> float:
        """The fraction of the work that is done."""
        return 1.0 - sum(self.left.values()) / sum(self.steps.values())

    def seconds_left(self) -> float | None:
        """Return how long the rest takes (s), or None as long as too little is known."""
        left = sum(self.left.values())
        if self.did < KNOWN * (self.did + left):
            return None if left > 0.0 else 0.0
        return left / self.did * (self._clock() - self._since)

    def forecast(
        self, normal: float, mixed: float, broken: float
    ) -> dict[str, tuple[float, float]]:
        """Return, for each algorithm, how long the rest of evolution and of recovery takes (s).

        At speeds (robot-steps/s) of swarms in the normal environment, in QED's environments, and
        of swarms that break.
        """
        found = dict.fromkeys(self.plan.algorithms, (0.0, 0.0))
        for part, left in self.left.items():
            algorithm = defined("algorithm", part.names[0].algorithm, Algorithm)
            evolving, recovering = found[algorithm]
            if part.stage == EVOLVE:
                evolving += left / (normal if algorithm.environments is None else mixed)
            else:
                recovering += left / broken
            found[algorithm] = evolving, recovering
        return found

    def _show(self, words: str) -> None:
        if self.watch is not None:
            self.watch(self.fraction, words)


def speeds_here(plan: Plan) -> list[float]:
    """Measure the speeds for ``Workload.forecast`` with all cores, for about a second."""
    networks, count = speed.random_networks(), cores()
    speed.warm_up()
    cases = (
        speed.Case(networks, trials=plan.trials),
        speed.Case(networks, Environment.sample(len(networks)), trials=plan.trials),
        speed.Case(networks, trials=plan.retrials, faults=Faults.sample(ROBOTS)),
    )
    timed = [case.lasting(MEASURED, count) for case in cases]
    return [speed.speeds(case, [count])[count] for case in timed]
