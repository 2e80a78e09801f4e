"""A trial to look at: its robots at any time, its running score, its cells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from string import ascii_lowercase, ascii_uppercase
from typing import NamedTuple

import numpy as np

from qed.swarm.faults import Faults
from qed.swarm.laws.scoring import CELL_LIFE, GRID
from qed.swarm.trace import Trace

PATROLS = ("patrolling", "border-patrolling")
LETTERS = f"{ascii_uppercase}{ascii_lowercase}*"  # of a team's controllers; * for all others


def letters_of(parts: Sequence[int]) -> tuple[str, ...]:
    """Return a letter for each robot of a team; none if all run the same controller.

    >>> letters_of((0, 1, 0)), letters_of((0, 0, 0))
    (('A', 'B', 'A'), ())
    """
    if len(set(parts)) < 2:
        return ()
    return tuple(LETTERS[min(part, len(LETTERS) - 1)] for part in parts)


class Poses(NamedTuple):
    """Where the robots of a swarm are: x (m), y (m), heading (rad), each (robots,)."""

    x: np.ndarray
    y: np.ndarray
    heading: np.ndarray


class Pane:
    """A trial, and the mean fitness over the trials that the recovery was judged by."""

    def __init__(self, watched: Trace, mean: float) -> None:
        self.trace = watched
        self.mean = mean
        robots = watched.x.shape[1]
        self.faults = watched.faults or Faults.none(robots)
        self.letters = letters_of(watched.parts)
        start = watched.start
        self.x = np.concatenate([start[None, :, 0], watched.x])
        self.y = np.concatenate([start[None, :, 1], watched.y])
        self.heading = np.concatenate([start[None, :, 2], watched.heading])

    @property
    def cycles(self) -> int:
        """Control cycles of the trial."""
        return len(self.trace.x)

    def poses(self, cycle: float) -> Poses:
        """Return the poses after so many cycles, in between too; 0 is the start."""
        before = min(int(cycle), self.cycles)
        after = min(before + 1, self.cycles)
        part = np.float32(cycle - before)
        turn = self.heading[after] - self.heading[before]
        turn -= 2.0 * np.pi * np.round(turn / (2.0 * np.pi))  # the short way round
        return Poses(
            self.x[before] + part * (self.x[after] - self.x[before]),
            self.y[before] + part * (self.y[after] - self.y[before]),
            self.heading[before] + part * turn,
        )

    def score(self, cycle: float) -> float:
        """Return the fitness of the trial if it ended after so many cycles, 0 at the start."""
        done = min(int(cycle), self.cycles)
        return float(self.trace.score[done - 1]) if done else 0.0

    @cached_property
    def freshness(self) -> np.ndarray:
        """Value of the patrolling cells, (cycles + 1, columns, rows): 1 at a visit, fading to 0.

        Its mean over cycles and cells is the score of patrolling.
        """
        trace = self.trace
        per_cell = np.float32(GRID) / np.float32(trace.environment.arena)
        columns, rows = (
            np.clip((place * per_cell).astype(int), 0, GRID - 1) for place in (trace.x, trace.y)
        )
        value = np.zeros((self.cycles + 1, GRID, GRID), np.float32)
        for cycle in range(1, self.cycles + 1):
            np.maximum(value[cycle - 1] - np.float32(1.0 / CELL_LIFE), 0.0, out=value[cycle])
            value[cycle, columns[cycle - 1], rows[cycle - 1]] = 1.0
        return value
