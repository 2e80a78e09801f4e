"""How long the rest of some work takes, by how it went so far.

Work comes in kinds that go at different rates, and is counted in the seconds it was expected to
take.  Only what is done in this session tells anything about rates: what was there before it
began is neither done nor left.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

FIRST = 0.005  # of what is left: with less done, nothing is said
TRUST = 0.03  # of a kind's work: when so much is done, its own rate counts as much as that of all


class Pace:
    """Rates of the kinds of work, and what is left of each.

    Parameters
    ----------
    left : work of each kind (expected seconds) that is left when the session begins
    clock : tells the time (s)
    """

    def __init__(
        self, left: Mapping[str, float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.left = dict(left)
        self.done = dict.fromkeys(self.left, 0.0)
        self.spent = dict.fromkeys(self.left, 0.0)  # s
        self._clock = clock
        self._at = clock()
        self._going: Counter[str] = Counter()

    def going(self, kinds: Iterable[str]) -> None:
        """Note which kinds of work go on from now on, one entry for each part."""
        self._look()
        self._going = Counter(kinds)

    def did(self, kind: str, work: float) -> None:
        """Note that some work was done."""
        self._look()
        self.done[kind] += work
        self.left[kind] = max(self.left[kind] - work, 0.0)

    def drop(self, kind: str, work: float) -> None:
        """Note that some work will not be done."""
        self.left[kind] = max(self.left[kind] - work, 0.0)

    def seconds_left(self) -> float | None:
        """Return how long the rest takes (s), or None as long as too little is known."""
        self._look()
        done, left = sum(self.done.values()), sum(self.left.values())
        if left <= 0.0:
            return 0.0
        if done < FIRST * (done + left):
            return None
        common = sum(self.spent.values()) / done
        rest = 0.0
        for kind, work in self.left.items():
            trust = TRUST * (work + self.done[kind]) or 1.0
            rest += work * (self.spent[kind] + trust * common) / (self.done[kind] + trust)
        return rest

    def _look(self) -> None:
        """Share the time since the last look among the kinds that went on."""
        now = self._clock()
        parts = sum(self._going.values())
        for kind, count in self._going.items():
            self.spent[kind] += (now - self._at) * count / parts
        self._at = now
