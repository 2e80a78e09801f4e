"""What a film or a page shows: trials, with the robots, faults and scores at any time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qed.swarm.faults import Fault, Faults
from qed.swarm.laws.scoring import CELL_LIFE, GRID
from qed.swarm.robot import CYCLE
from qed.view import look

if TYPE_CHECKING:
    from qed.swarm.environment import Environment
    from qed.swarm.trace import Trace

HEALTHY = "healthy robot"
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


class Signs(NamedTuple):
    """How robots are told apart from a cycle on: their faults, and letters if they are a team."""

    begin: int
    faults: Faults
    letters: tuple[str, ...] = ()


class Pane:
    """A trial to look at.

    Parameters
    ----------
    watched : what every robot did in every cycle
    signs : of the robots, in the order of time (default: those of the trace, all along)
    """

    def __init__(self, watched: Trace, signs: Sequence[Signs] = ()) -> None:
        self.trace = watched
        faults = watched.faults or Faults.none(watched.x.shape[1])
        self.signs = list(signs) or [Signs(0, faults, letters_of(watched.parts))]
        start = watched.start
        self.x = np.concatenate([start[None, :, 0], watched.x])
        self.y = np.concatenate([start[None, :, 1], watched.y])
        self.heading = np.concatenate([start[None, :, 2], watched.heading])

    @property
    def cycles(self) -> int:
        """Control cycles of the trial."""
        return len(self.trace.x)

    def signs_at(self, cycle: float) -> Signs:
        """Return the signs of the robots after so many cycles."""
        return next(signs for signs in reversed(self.signs) if signs.begin <= cycle)

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


def joined(traces: Sequence[Trace]) -> Trace:
    """Return what happened in a world one after the other as one trace."""
    rows = ("x", "y", "heading", "proximity", "rab", "ground", "wheels", "score")
    series: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in traces]) for name in rows
    }
    return replace(traces[0], **series)


class Subject:
    """What a film shows: some trials of one task, as long as each other, in one environment."""

    task: str

    @property
    def panes(self) -> list[Pane]:
        """The trials in sight."""
        raise NotImplementedError

    @property
    def seconds(self) -> float:
        """Simulated time (s)."""
        return self.panes[0].cycles * CYCLE

    @property
    def environment(self) -> Environment:
        """Where the swarms work."""
        return self.panes[0].trace.environment

    @property
    def top_score(self) -> float:
        """The highest score that is drawn, never 0."""
        return max(max(float(pane.trace.score.max()) for pane in self.panes), 1e-6)

    @property
    def faults_in_sight(self) -> list[Fault]:
        """The faults of robots at any time, those of the paper first; healthy robots have NONE."""
        found = {fault.name: fault for signs in self._signs for fault in signs.faults.each}
        return [found[name] for name in dict.fromkeys([*look.SIGNS, *found]) if name in found]

    @property
    def legend(self) -> list[tuple[str, str]]:
        """What signs mean: a fault, or "robot", "letter" or "task", and its words."""
        entries = [
            (fault, look.sign_of(fault).words) if fault.name != "NONE" else ("robot", HEALTHY)
            for fault in self.faults_in_sight
        ]
        if any(signs.letters for signs in self._signs):
            entries.append(("letter", look.TEAM))
        if self.task in look.MARKS:
            entries.append(("task", look.MARKS[self.task]))
        return entries

    @property
    def _signs(self) -> Iterator[Signs]:
        return (signs for pane in self.panes for signs in pane.signs)
