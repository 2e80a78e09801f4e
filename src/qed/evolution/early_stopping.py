"""Early stopping: a child whose cell is known needs no trial that cannot change its fate.

With environment diversity a child's cell, and so the incumbent it has to beat, is known before it
is evaluated.  Trials are simulated in rounds; a child is stopped as soon as it could not win even
with the largest fitness that its task allows in all trials to come.  The archive is the same, bit
for bit, as if all trials had been simulated.

A race stops more children: all controllers meet the same starts, so a child is compared with its
incumbent trial by trial, and stopped when it is three standard errors behind.  That is rarely
wrong, but the archive is another one.
"""

import numpy as np

ROUND = 12  # trials: warps of 5, 10, 15 and 20 robots are full then
WORTHWHILE = 0.1  # fraction of the children that may be stopped at the end of a round
FIRST_ROUND_OF_RACE = 6  # trials of a race before it may be decided
STANDARD_ERRORS = 3.0  # behind the incumbent, to lose a race
ROUNDING = 1e-6  # of a fitness, for sums in single precision


def upper_bounds(sums: np.ndarray, most: np.ndarray, done: int, trials: int) -> np.ndarray:
    """Return the largest mean fitness that children can still reach after some of their trials.

    Their fitness so far adds up to ``sums``, and no trial to come gives more than ``most``.
    """
    bounds: np.ndarray = (sums + (trials - done) * (most + ROUNDING)) / trials
    return bounds


def next_stop(
    sums: np.ndarray, most: np.ndarray, incumbents: np.ndarray, race: bool, done: int, trials: int
) -> int:
    """Return after how many trials to look next which children have lost.

    That is where enough of them would have if they got nothing until then; in a race it is soon.
    """
    if race:
        first = FIRST_ROUND_OF_RACE
        stop = first if done < first else ROUND * (done // ROUND + 1)
        return stop if stop < trials - first else trials
    for stop in range(done + ROUND, trials - ROUND // 2, ROUND):
        if np.mean(upper_bounds(sums, most, stop, trials) < incumbents) >= WORTHWHILE:
            return stop
    return trials


def stop_after(stop: int, trials: int) -> int:
    """Return where a round ends that begins after so many trials."""
    later = ROUND * (stop // ROUND + 1)
    return later if later < trials - ROUND // 2 else trials


def lost_race(fitness: np.ndarray, incumbents: np.ndarray) -> np.ndarray:
    """Return which children (n, trials) are far behind their incumbents; NaN: no incumbent."""
    lead = fitness - incumbents
    error = lead.std(1, ddof=1) / np.sqrt(lead.shape[1])
    lost: np.ndarray = lead.mean(1) < -STANDARD_ERRORS * error
    return lost


class IncumbentTrials:
    """The fitness of incumbents trial by trial, as far as it is known.

    It is kept in memory only: after a resume it is evaluated again where it is needed, which gives
    the same.
    """

    def __init__(self) -> None:
        self._by_cell: dict[int, tuple[float, np.ndarray]] = {}  # mean, and fitness by trial

    def look_up(self, cells: np.ndarray, objective: np.ndarray, trials: int) -> np.ndarray:
        """Return the fitness (n, trials) of the incumbents of cells, NaN where it is not known."""
        found = np.full((len(cells), trials), np.nan)
        for row, (cell, value) in enumerate(zip(cells.tolist(), objective, strict=True)):
            mean, fitness = self._by_cell.get(cell, (np.nan, None))
            if mean == value:
                found[row] = fitness
        return found

    def update(self, cells: np.ndarray, objective: np.ndarray, fitness: np.ndarray) -> None:
        """Remember controllers that an archive is offered in this order."""
        for cell, mean, trials in zip(cells.tolist(), objective.tolist(), fitness, strict=True):
            if cell not in self._by_cell or mean > self._by_cell[cell][0]:
                self._by_cell[cell] = mean, trials.copy()

    def keep(self, cells: np.ndarray, objective: np.ndarray, fitness: np.ndarray) -> None:
        """Remember the incumbents of cells, NaN where their fitness is not known."""
        for cell, mean, trials in zip(cells.tolist(), objective.tolist(), fitness, strict=True):
            self._by_cell[cell] = mean, trials.copy()
