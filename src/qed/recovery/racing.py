"""Race controllers: all meet few trials, and only the better ones meet more.

All meet the same trials in the same order, so who goes on to the end has there exactly the
fitness that a search without a race gives.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

# Parts of all trials after which controllers are compared, and the part that goes on.
HEATS = ((0.1, 1 / 6.5), (0.3, 1 / 21))
FEWEST = (96, 32)  # controllers that go on in any case
# From controllers and a number of trials to their mean fitness over these trials.
Try = Callable[[np.ndarray, int], np.ndarray]


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
