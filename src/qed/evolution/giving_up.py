"""Giving up losers early: a child whose cell is known needs no trial that cannot change its fate.

With environment diversity a child's cell, and so the incumbent it has to beat, is known before it
is evaluated.  Trials are simulated in rounds; a child is given up as soon as it could not win even
with the largest fitness that its task allows in all trials to come.  The archive is the same, bit
for bit, as if all trials had been simulated.

A race gives up more: all controllers meet the same starts, so a child is compared with its
incumbent trial by trial, and given up when it is three standard errors behind.  That is rarely
wrong, but the archive is another one.
"""

from __future__ import annotations

import numpy as np

ROUND = 12  # trials: warps of 5, 10, 15 and 20 robots are full then
WORTHWHILE = 0.1  # of the children that may be lost by the end of a round, to make it one
SPRINT = 6  # trials of a race before it may be decided
BEHIND = 3.0  # standard errors, to lose a race
ROUNDING = 1e-6  # of a fitness, for sums in single precision


def hopes(sums: np.ndarray, most: np.ndarray, done: int, trials: int) -> np.ndarray:
    """Return the largest mean fitness that children can still reach after some of their trials.

    Their fitness so far adds up to ``sums``, and no trial to come gives more than ``most``.
    """
    found: np.ndarray = (sums + (trials - done) * (most + ROUNDING)) / trials
    return found


def next_stop(
    sums: np.ndarray, most: np.ndarray, incumbents: np.ndarray, race: bool, done: int, trials: int
) -> int:
    """Return after how many trials to look next which children have lost.

    That is where enough of them would have if they got nothing until then; in a race it is soon.
    """
    if race:
        soon = SPRINT if done < SPRINT else ROUND * (done // ROUND + 1)
        return soon if soon < trials - SPRINT else trials
    for stop in range(done + ROUND, trials - ROUND // 2, ROUND):
        if np.mean(hopes(sums, most, stop, trials) < incumbents) >= WORTHWHILE:
            return stop
    return trials


def behind(fitness: np.ndarray, rivals: np.ndarray) -> np.ndarray:
    """Tell which children have lost a race (n, trials) against their rivals; NaN is no rival."""
    lead = fitness - rivals
    error = lead.std(1, ddof=1) / np.sqrt(lead.shape[1])
    found: np.ndarray = lead.mean(1) < -BEHIND * error
    return found


class Rivals:
    """The fitness of incumbents trial by trial, as far as it is known."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[float, np.ndarray]] = {}  # by cell, with the mean

    def find(self, cells: np.ndarray, incumbents: np.ndarray, trials: int) -> np.ndarray:
        """Return the fitness (n, trials) of those in some cells, NaN where it is not known."""
        found = np.full((len(cells), trials), np.nan)
        for row, (cell, objective) in enumerate(zip(cells.tolist(), incumbents, strict=True)):
            mean, fitness = self._known.get(cell, (np.nan, None))
            if mean == objective:
                found[row] = fitness
        return found

    def learn(self, cells: np.ndarray, objective: np.ndarray, fitness: np.ndarray) -> None:
        """Take note of controllers that an archive is offered in this order."""
        for cell, mean, trials in zip(cells.tolist(), objective.tolist(), fitness, strict=True):
            if cell not in self._known or mean > self._known[cell][0]:
                self._known[cell] = mean, trials.copy()
