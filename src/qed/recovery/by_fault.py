"""Teams by fault: robots with the same fault share a controller, and one round finds them.

The round begins with the best controller for all, or with the controllers that are best where all
robots have the same fault, if these are clearly better together.  Then, for each kind of fault
present, healthy robots being a kind too, candidates take over the robots with it while the others
keep what they have; the best of them meet new trials beside the one they would replace, and have
to be clearly better there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from qed.archive.archive import Archive
from qed.controller.network import Team
from qed.recovery.recovery import Recovery, Report, standard_error
from qed.recovery.trials import Trials
from qed.streams import stream
from qed.swarm.faults import Fault, Faults

BY = {"fault": "robots with the same fault share a controller"}
PLAYS = 24  # solutions tried again where all robots have the same fault
CLEAR = 2.0  # paired standard errors by which a finalist must be better there
Plan = Mapping[Fault, int]  # the solution that robots with each fault run
# From plans, a number of trials and their purpose to the fitness on each trial.
Attempt = Callable[[Sequence[Plan], int, str], np.ndarray]


@dataclass(frozen=True)
class Sizes:
    """How much is tried for a team."""

    candidates: int = 135  # for each kind of fault
    trials: int = 10  # of each candidate
    finalists: int = 12  # the best of them
    new: int = 60  # trials that they meet beside the incumbent

    def swarms(self, faults: Faults, solutions: int) -> tuple[int, int]:
        """Return how many candidates and how many finalists are tried at most."""
        kinds = len(kinds_in(faults))
        return kinds * min(self.candidates, solutions), 2 + (1 + kinds) * (self.finalists + 1)

    def all_trials(self, faults: Faults, solutions: int) -> int:
        """Return how many trials they meet at most."""
        candidates, finalists = self.swarms(faults, solutions)
        return candidates * self.trials + finalists * self.new


@dataclass(frozen=True)
class Teamed:
    """A team in numbers, with solutions counted in the order of their cells."""

    plan: Plan
    claimed: float  # its fitness on the trials of the last decision


def kinds_of(several: Sequence[Faults]) -> list[Fault]:
    """Return the kinds of fault in several swarms, each once."""
    return list(dict.fromkeys(kind for faults in several for kind in kinds_in(faults)))


def planned(several: Sequence[Faults], solutions: int) -> int:
    """Return how many swarms are tried at most for a team in each fault."""
    teams = sum(sum(Sizes().swarms(faults, solutions)) for faults in several)
    return teams + len(kinds_of(several)) * (solutions + min(PLAYS, solutions))


def rows_of(plan: Plan, faults: Faults) -> list[int]:
    """Return the solution that each robot runs."""
    return [plan[fault] for fault in faults.each]


def kinds_in(faults: Faults) -> list[Fault]:
    """Return the kinds of fault present, that of most robots first."""
    kinds = list(dict.fromkeys(faults.each))
    return sorted(kinds, key=lambda kind: -faults.each.count(kind))


def candidates(fitness: np.ndarray, alike: np.ndarray, count: int) -> np.ndarray:
    """Return so many solutions for the robots with one kind of fault.

    A third are the best in all robots of the swarm, by ``fitness``; the others are the best where
    all robots have this kind of fault, by ``alike``: they need not be good beside other faults.
    """
    both = [np.argsort(-values, kind="stable").tolist() for values in (fitness, alike)]
    found = dict.fromkeys(both[0][: -(-count // 3)])
    for row in both[1]:
        if len(found) >= min(count, len(fitness)):
            break
        found.setdefault(row)
    return np.array(list(found), np.int64)


@dataclass(frozen=True)
class Round:
    """One round over the kinds of fault in a swarm."""

    attempt: Attempt
    faults: Faults
    fitness: np.ndarray  # of each solution in all robots: what the search for one found
    alike: Mapping[Fault, np.ndarray]  # the same where all robots have this fault
    plays: Plan  # the best solution where all robots have this fault
    sizes: Sizes = Sizes()

    def best_for_all(self, also: int) -> Teamed:
        """Try the best of the search again, and one more, on new trials; return the winner."""
        kinds = kinds_in(self.faults)
        ahead = np.argsort(-self.fitness, kind="stable")[: self.sizes.finalists].tolist()
        plans = [dict.fromkeys(kinds, row) for row in dict.fromkeys([*ahead, also])]
        means = self.attempt(plans, self.sizes.new, "one for all").mean(1)
        best = int(np.argmax(means))
        return Teamed(plans[best], float(means[best]))

    def played(self, now: Teamed) -> Teamed:
        """Return the team of the plays if it is clearly better on new trials."""
        plan = {kind: self.plays[kind] for kind in kinds_in(self.faults)}
        return now if plan == now.plan else self._better(now, [plan], "plays")

    def improved(self, now: Teamed, kind: Fault) -> Teamed:
        """Return the team after robots with this fault got a better controller, if there is one."""
        rows = candidates(self.fitness, self.alike[kind], self.sizes.candidates)
        plans = [{**now.plan, kind: row} for row in rows.tolist() if row != now.plan[kind]]
        if not plans:
            return now
        few = self.attempt(plans, self.sizes.trials, f"try {kind.name}").mean(1)
        ahead = np.argsort(-few, kind="stable")[: self.sizes.finalists].tolist()
        return self._better(now, [plans[k] for k in ahead], f"again {kind.name}")

    def teams(self, also: int) -> tuple[Teamed, Teamed]:
        """Return the best controller for all robots, and the team that the round makes of it."""
        first = self.best_for_all(also)
        now = self.played(first)
        for kind in kinds_in(self.faults):
            now = self.improved(now, kind)
        return first, now

    def _better(self, now: Teamed, plans: Sequence[Plan], purpose: str) -> Teamed:
        """Return the best of these plans if it is clearly better than what is there."""
        met = self.attempt([now.plan, *plans], self.sizes.new, purpose)
        incumbent, others = met[0], met[1:]
        best = int(np.argmax(others.mean(1)))
        better = others[best] - incumbent
        if better.mean() > CLEAR * standard_error(better):
            return Teamed(plans[best], float(others[best].mean()))
        return Teamed(now.plan, float(incumbent.mean()))


def teams(
    archive: Archive,
    how: Trials,
    recoveries: Sequence[Recovery],
    fitness: np.ndarray,
    report: Report,
) -> list[Recovery]:
    """Go on from recoveries with one controller for all, by their fitness (faults, n), to teams."""
    cells, found = archive.occupied, []

    def attempt(plans: Sequence[Plan], trials: int, purpose: str) -> np.ndarray:
        swarms = [(rows_of(plan, faults), faults) for plan in plans]
        seed = stream("team", how.streams.broken, purpose)
        return how.fitness(swarms, trials, seed, report)

    alike, plays = {}, {}
    for kind in kinds_of([recovery.faults for recovery in recoveries]):
        faults = Faults([kind] * how.environment.robots)
        plans = [{kind: row} for row in range(len(cells))]
        alike[kind] = attempt(plans, 1, f"alike {kind.name}")[:, 0]
        ahead = np.argsort(-alike[kind], kind="stable")[:PLAYS].tolist()
        again = attempt([plans[row] for row in ahead], Sizes().trials, f"play {kind.name}")
        plays[kind] = ahead[int(np.argmax(again.mean(1)))]
    for recovery, values in zip(recoveries, fitness, strict=True):
        faults, last = (
            recovery.faults,
            report.done + sum(Sizes().swarms(recovery.faults, len(cells))),
        )
        normal_best = int(np.searchsorted(cells, recovery.normal_cell))
        first, team = Round(attempt, faults, values, alike, plays).teams(normal_best)
        report.reach(last)
        rows = rows_of(team.plan, faults)
        alone, together = how.evaluate_fresh(
            [(rows_of(one.plan, faults), faults) for one in (first, team)]
        )
        distances = how.distances(normal_best, rows)
        one_for_all = first.plan[faults.each[0]]
        controllers = archive.genomes().take(np.array([one_for_all, *rows])).controllers()
        found.append(
            replace(
                recovery,
                performance=float(together.mean()),
                error=standard_error(together),
                claimed=team.claimed,
                distance=float(np.mean([distances[row] for row in rows])),
                cell=int(cells[one_for_all]),
                controller=controllers[0],
                team=Team(controllers[1:]),
                cells=tuple(cells[rows].tolist()),
                one_for_all=float(alone.mean()),
                gain=float((together - alone).mean()),
                gain_error=standard_error(together - alone),
            )
        )
    return found
