"""How fast a long film goes: slow where something begins, in time-lapse between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qed.errors import number

SLOW = 10.0  # times real time, where robots can be followed
# Seconds of film in which the first, the second, any other and the last stretch go slowly.
FIRST, SECOND, OTHER, LAST = 5.0, 4.0, 1.2, 5.0
LAPSE = 1.8  # s of film for the rest of a stretch


@dataclass(frozen=True)
class Gait:
    """Some time of a film at one speed."""

    begin: float  # simulated time (s)
    end: float
    speed: float  # times real time

    @property
    def lasts(self) -> float:
        """Seconds of film."""
        return (self.end - self.begin) / self.speed

    @property
    def lapse(self) -> bool:
        """Whether it is too fast to follow a robot."""
        return self.speed > 2.0 * SLOW


@dataclass(frozen=True)
class Pace:
    """The gaits of a film, one after the other."""

    gaits: tuple[Gait, ...]

    @property
    def lasts(self) -> float:
        """Seconds of film."""
        return sum(gait.lasts for gait in self.gaits)

    def times(self, fps: int) -> list[float]:
        """Return the simulated time of each frame (s), from the start to the very end."""
        shown = np.concatenate([[0.0], np.cumsum([gait.lasts for gait in self.gaits])])
        simulated = [self.gaits[0].begin, *(gait.end for gait in self.gaits)]
        frames = 1 + max(1, math.ceil(self.lasts * fps - 1e-9))
        at = np.minimum(np.arange(frames) / fps, shown[-1])
        found: list[float] = np.interp(at, shown, simulated).tolist()
        return found

    def gait(self, seconds: float) -> Gait:
        """Return how fast the film goes at a simulated time (s)."""
        later = (gait for gait in self.gaits if seconds < gait.end - 1e-9)
        return next(later, self.gaits[-1])


def film_pace(stretches: Sequence[float], speed: float | None = None) -> Pace:
    """Return the pace of a film of stretches (s): one speed, or slow at their beginnings.

    The last stretch ends slowly instead.
    """
    if speed is not None:
        fixed = number("speed", speed, 0.0, 1e4, above=True)
        return Pace((Gait(0.0, sum(stretches), fixed),))
    gaits: list[Gait] = []
    begin = 0.0
    last = len(stretches) - 1
    for k, length in enumerate(stretches):
        looked = LAST if k == last else {0: FIRST, 1: SECOND}.get(k, OTHER)
        slow = min(SLOW * looked, length)
        fast = length - slow
        parts = [(slow, SLOW), (fast, max(SLOW, float(f"{fast / LAPSE:.2g}")))]
        for part, times in reversed(parts) if k == last else parts:
            if part > 0.0:
                gaits.append(Gait(begin, begin + part, times))
                begin += part
    return Pace(tuple(gaits))
