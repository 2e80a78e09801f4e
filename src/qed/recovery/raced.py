"""Search an archive by a race: its end is that of the full search, as a rule, at a fifth of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qed.descriptors import spirit
from qed.recovery.race import Try, heats, race
from qed.recovery.trials import Normal, Progress, Trials
from qed.swarm.faults import Faults
from qed.swarm.job import Ready


def planned(solutions: int, trials: int, faults: int) -> int:
    """Return how many swarms of some trials each are tried at most."""
    return sum(count for count, _ in heats(solutions, trials)) * (1 + faults)


def raced(
    how: Trials,
    solutions: Sequence[Ready],
    faults: Sequence[Faults],
    progress: Progress | None = None,
) -> tuple[Normal, np.ndarray]:
    """Race all solutions in the normal environment and in each fault; return also (faults, n).

    The fitness of those who were given up is minus infinity.  The distance to the normal best is
    known of the winners only, and NaN of the others.
    """
    swarms = planned(len(solutions), how.trials, len(faults))
    done = 0

    def tries(fault: Faults | None, seed: int) -> Try:
        def attempt(rows: np.ndarray, met: int) -> np.ndarray:
            nonlocal done
            before = done

            def told(count: int, _: int) -> None:
                if progress is not None:
                    progress(min(before + count, swarms), swarms)

            some = [(solutions[row], fault) for row in rows.tolist()]
            done += len(some)
            found: np.ndarray = how.fitness(some, met, seed, told).mean(1)
            return found

        return attempt

    normal = race(len(solutions), how.trials, tries(None, how.streams.normal))
    always = [normal.winner]
    ends = [
        race(len(solutions), how.trials, tries(fault, how.streams.broken), always)
        for fault in faults
    ]
    chosen = np.unique([normal.winner, *(end.winner for end in ends)])
    behaviours = how.behaviours([solutions[row] for row in chosen.tolist()])
    apart = np.full(len(solutions), np.nan)
    best = behaviours[np.searchsorted(chosen, normal.winner)]
    apart[chosen] = spirit.distance(best, behaviours)
    fresh = float(how.again([(solutions[normal.winner], None)]).mean())
    return Normal(normal.fitness, apart, fresh), np.array([end.fitness for end in ends])
