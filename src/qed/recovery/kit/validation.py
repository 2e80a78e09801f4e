"""Try a kit in faults that took no part in making it, and say in words what was found.

A controller of the playbook was chosen where all robots have its fault.  Whether it also works
beside robots with other faults depends on the task: in patrolling it does, in dispersion it may do
harm.  So the playbook, and teams by fault, are tried in swarms whose robots have different faults.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qed.recovery.by_fault import Plan, Round, Sizes, rows_of
from qed.recovery.kit import library
from qed.recovery.kit.cached_trials import CachedTrials
from qed.recovery.kit.kit import Kit
from qed.recovery.kit.play import play
from qed.recovery.recovery import standard_error
from qed.recovery.trials import Swarm, race_trials
from qed.streams import stream
from qed.swarm.faults import Faults

BUDGETS = (1, 3, 5, 10)  # trials after which the answer is looked at
CHOOSE, FRESH = 10, 30  # trials that choose the best of the short list, and that measure the chosen
EVERY = 2  # of the faults one is uniform
SIZES = Sizes(candidates=64, trials=6, finalists=8, new=40)  # of the teams, less than recover's


def planned(controllers: int, faults: int, by_fault: int, robots: int) -> int:
    """Return how many trials a validation takes at most."""
    raced = race_trials(controllers, CHOOSE) + CHOOSE
    most = Faults([name for _, name in zip(range(robots), library.kinds_of(), strict=False)])
    team = SIZES.all_trials(most, controllers) + 3 * FRESH
    each = raced + 1 + BUDGETS[-1] + FRESH * (3 + len(BUDGETS))
    return faults * each + min(by_fault, faults) * team


@dataclass(frozen=True)
class Validated:
    """A fault of the validation, and fitness there on fresh trials."""

    name: str  # of its fresh trials
    faults: Faults
    raced: np.ndarray  # (n,): in the race for the best of the short list, not on fresh trials
    kept: float  # the controller is kept
    best: float  # the best for all robots
    found: float  # what the search found

    @property
    def mixed(self) -> bool:
        """Whether its robots have different faults."""
        return len(set(self.faults)) > 1


def validated(
    kit: Kit, cached: CachedTrials, rows: np.ndarray, count: int, extra: Sequence[Faults],
    by_fault: int,
) -> Kit:  # fmt: skip
    """Return the kit with what was found, and with what its playbook is worth in mixed swarms."""
    robots = kit.environment.robots
    faults = library.drawn("validation", cached.seed, count, robots, extra, EVERY)
    raced = [
        cached.race(f"best-{k}", rows, fault, CHOOSE, [kit.present])
        for k, fault in enumerate(faults)
    ]

    def attempt(number: int, going: Sequence[int], tried: Sequence[int]) -> np.ndarray:
        each = zip(going, tried, strict=True)
        swarms: list[Swarm] = [([int(rows[row])], faults[k]) for k, row in each]
        seeds = [stream("kit", "validation trial", cached.seed, number, k) for k in going]
        return cached.how.fitness(swarms, 1, seeds)[:, 0]

    searches = [kit.search(seed=0) for _ in faults]
    steps = play(kit, searches, faults, BUDGETS[-1], attempt, stop=False)
    chosen = np.array(
        [
            [kit.present, raced[k].winner, *(steps[k][budget].best for budget in BUDGETS)]
            for k in range(count)
        ]
    )
    fresh = np.empty(chosen.shape)
    for k, fault in enumerate(faults):
        # Each controller once: the answers after several trials are often the same.
        unique, places = np.unique(chosen[k], return_inverse=True)
        tried = cached.fitness(f"fresh-{k}", rows[unique], [fault], FRESH)[0].mean(1)
        fresh[k] = tried[places]
    cases = [
        Validated(f"fresh-{k}", faults[k], raced[k].fitness, *fresh[k, [0, 1, -1]].tolist())
        for k in range(count)
    ]
    gain, mixed = _playbook(kit, cached, rows, cases)
    uniform = [case for case in cases[::EVERY] if case.mixed][:by_fault]
    healthy = cached.fitness("healthy-again", rows[[kit.present]], [None], FRESH)
    findings = {
        **_means(fresh, race_trials(len(rows), CHOOSE)),
        "healthy": float(healthy.mean()),
        "mixed": mixed,
        "teams": _teams(kit, cached, rows, uniform),
    }
    cached.finished()
    return replace(kit, findings=findings, playbook=replace(kit.playbook, mixed=gain))


def _means(fresh: np.ndarray, trials: int) -> dict[str, Any]:
    """Return the mean fitness of what is kept, what is best, and what is found."""
    kept, reached, means = fresh[:, 0], fresh[:, -1], fresh.mean(0)
    error = float((reached - kept).std(ddof=1)) / np.sqrt(len(fresh))
    return {
        "faults": len(fresh),
        "trials": trials,
        "kept": float(means[0]),
        "best": float(means[1]),
        "found": {
            str(budget): float(mean) for budget, mean in zip(BUDGETS, means[2:], strict=True)
        },
        "gain": float(means[-1] - means[0]),
        "error": float(error),
    }


def _playbook(
    kit: Kit, cached: CachedTrials, rows: np.ndarray, cases: Sequence[Validated]
) -> tuple[tuple[float, float] | None, dict[str, Any]]:
    """Return the playbook's gain over one for all with its error, and means on fresh trials.

    None if there are less than two mixed swarms.
    """
    cases = [case for case in cases if case.mixed]
    if len(cases) < 2:
        return None, {}
    played = []
    for case in cases:
        plays = rows[[[kit.playbook.plays[name].row for name in case.faults]]]
        played.append(cached.teams(case.name, plays, case.faults, FRESH)[0].mean())
    gains = np.array(played) - [case.best for case in cases]
    means = {
        name: float(np.mean([getattr(case, name) for case in cases]))
        for name in ("kept", "best", "found")
    }
    found = {"faults": len(cases), **means, "playbook": float(np.mean(played))}
    return (float(gains.mean()), standard_error(gains)), found


def _teams(
    kit: Kit, cached: CachedTrials, rows: np.ndarray, cases: Sequence[Validated]
) -> dict[str, Any]:
    """Return what teams by fault reach in some mixed swarms, and the playbook there."""
    found, trials = [], 0
    for case in cases:

        def attempt(plans: Sequence[Plan], count: int, purpose: str, case: Validated = case) -> Any:
            teams = rows[[rows_of(plan, case.faults) for plan in plans]]
            return cached.teams(f"{case.name}-{purpose}", teams, case.faults, count)

        alike = {kind: kit.alike[kind] for kind in case.faults.each}
        book = {kind: kit.playbook.plays[kind].row for kind in case.faults.each}
        first, team = Round(attempt, case.faults, case.raced, alike, book, SIZES).teams(kit.present)
        three = rows[[rows_of(plan, case.faults) for plan in (first.plan, team.plan, book)]]
        found.append(cached.teams(case.name, three, case.faults, FRESH).mean(1))
        trials += SIZES.all_trials(case.faults, len(rows))
    if len(found) < 2:
        return {}
    best, team, playbook = np.array(found).T
    return {
        "faults": len(found),
        "trials": trials // len(found),
        "best": float(best.mean()),
        "team": float(team.mean()),
        "playbook": float(playbook.mean()),
        "gain": float((team - best).mean()),
        "error": standard_error(team - best),
    }


def describe(kit: Kit) -> list[str]:
    """Return what was found when a kit was prepared, a line each."""
    faults, others = (kit.library.get(name) for name in ("faults", "elsewhere"))
    lines = [
        f"{kit.task}: {len(kit.controllers)} controllers on the short list, "
        f"{len(faults) if isinstance(faults, list) else 'no'} faults simulated."
    ]
    if isinstance(others, list) and others:
        lines.append(f"With fewer robots or more obstacles: {len(others)} more.")
    lines += _lines(IN_ALL, kit.findings) or ["Not validated."]
    plays = [play for play in kit.playbook.plays.values() if play.fault != "NONE"]
    better = ", ".join(play.fault for play in plays if play.row != kit.present)
    if plays:
        lines.append("Playbook, where all robots have the same fault: another controller helps for")
        lines.append(f"  {better or 'none'}.")
    lines += _lines(IN_MIXED, kit.findings.get("mixed"))
    lines += _lines(OF_TEAMS, kit.findings.get("teams"))
    if not kit.playbook.plays:
        return lines
    if kit.playbook.mixed is None:
        return [*lines, "The playbook was not validated where faults differ: do not use it there."]
    gain, error = kit.playbook.mixed
    verdict = "Do not use the playbook where faults differ"
    if kit.playbook.trusted:
        verdict = "The playbook can be trusted here"
    return [*lines, f"{verdict}: {gain:+z.3f} ± {error:.3f} against the best."]


# What is said of findings, by their names in a kit's file.
IN_ALL = (
    "Fitness on fresh trials of {faults:.0f} faults not used for learning:",
    "  {healthy:.3f}  with healthy robots",
    "  {kept:.3f}  broken, if the controller is kept",
    "{searched}",
    "  {best:.3f}  with the best on the short list, found by {trials:,.0f} trials",
    "Searching is {worthwhile} here: {gain:+z.3f} ± {error:.3f} within ten trials.",
)
IN_MIXED = (
    "In {faults:.0f} of these swarms robots have different faults:",
    "  {kept:.3f}  if the controller is kept",
    "  {found:.3f}  with one controller for all, after a search of ten trials",
    "  {best:.3f}  with the best controller for all",
    "  {playbook:.3f}  with the playbook, if each robot knows its fault; no trial",
)
OF_TEAMS = (
    "In {faults:.0f} of them a team was searched for, one controller per fault:",
    "  {best:.3f}  with the best controller for all",
    "  {playbook:.3f}  with the playbook",
    "  {team:.3f}  with the team, found by {trials:,.0f} trials; gain {gain:+z.3f} ± {error:.3f}",
)


def _lines(templates: Sequence[str], found: Any) -> list[str]:
    """Return what is said of findings, or nothing if a file does not hold what that needs."""
    try:
        more: dict[str, str] = {}
        if templates is IN_ALL:
            clear = found["gain"] > 2.0 * found["error"]
            more["worthwhile"] = "worthwhile" if clear else "hardly worthwhile"
            more["searched"] = "\n".join(
                f"  {value:.3f}  after a search of {key} trial{'s' * (int(key) > 1)}"
                for key, value in found["found"].items()
            )
        lines = [template.format(**{**found, **more}) for template in templates]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return []
    return [part for line in lines for part in line.split("\n")]
