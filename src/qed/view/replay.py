"""A recovery to look at: the same start three times, before a fault, after it, after recovery."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qed.errors import InputError, number, whole
from qed.swarm.faults import Faults
from qed.swarm.laws.scoring import CELL_LIFE, GRID
from qed.swarm.robot import CYCLE
from qed.swarm.trace import Trace, trace

if TYPE_CHECKING:
    from qed.recovery.recover import Recovery
    from qed.swarm.environment import Environment
    from qed.view.film import Film

PATROLS = ("patrolling", "border-patrolling")
Progress = Callable[[int, int], Any]  # called with what is done and what there is in all


class Poses(NamedTuple):
    """Where the robots of a swarm are: x (m), y (m), heading (rad), each (robots,)."""

    x: np.ndarray
    y: np.ndarray
    heading: np.ndarray


class Pane:
    """One of the three trials: its robots at any time, its score, its cells."""

    def __init__(self, watched: Trace, mean: float) -> None:
        self.trace = watched
        self.mean = mean  # fitness over all trials of the recovery's search
        robots = watched.x.shape[1]
        self.faults = watched.faults or Faults.none(robots)
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


@dataclass(frozen=True)
class Replay:
    """Three trials from the same start, and what the search for the recovery found out."""

    task: str
    algorithm: str  # that made the archive; may be empty
    faults: Faults
    panes: tuple[Pane, Pane, Pane]
    impact: float
    resilience: float

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
        """The highest score any pane reaches, never 0."""
        return max(max(float(pane.trace.score.max()) for pane in self.panes), 1e-6)


def watch(
    found: Recovery,
    *,
    environment: Environment | None = None,
    seconds: float = 400.0,
    seed: int = 1,
    trial: int = 0,
    algorithm: str = "",
) -> Replay:
    """Simulate the three trials of a recovery.

    Parameters
    ----------
    found : from ``qed.recover``
    environment : the one it was searched in; the normal environment unless told
    seconds : simulated time of the trial (s)
    seed, trial : decide the start poses and the noise; those of the search show one of its trials
    algorithm : that made the archive, to be named in the replay
    """
    if not hasattr(found, "normal_controller"):
        raise InputError(f"found must be from qed.recover, got {type(found).__name__}")

    def pane(controller: Any, faults: Faults | None, mean: float) -> Pane:
        watched = trace(
            controller, environment, task=found.task, seconds=seconds, seed=seed, trial=trial,
            faults=faults,
        )  # fmt: skip
        return Pane(watched, mean)

    return Replay(
        task=found.task,
        algorithm=algorithm,
        faults=found.faults,
        panes=(
            pane(found.normal_controller, None, found.normal),
            pane(found.normal_controller, found.faults, found.broken),
            pane(found.controller, found.faults, found.performance),
        ),
        impact=found.impact,
        resilience=found.resilience,
    )


def replay(
    found: Recovery,
    out: str | Path,
    *,
    environment: Environment | None = None,
    seconds: float = 400.0,
    seed: int = 1,
    trial: int = 0,
    algorithm: str = "",
    speed: float | None = None,
    fps: int | None = None,
    size: int | None = None,
    trails: bool = False,
    sensors: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Show a recovery in a film (mp4 or gif) or in a page for the browser (html).

    Parameters
    ----------
    found : from ``qed.recover``
    out : the file; its ending tells what it becomes
    environment, seconds, seed, trial, algorithm : as in ``watch``
    speed : times real time; unless told, so that a film lasts about 20 s
    fps : frames of a film in a second; 25 for mp4 and 10 for gif unless told
    size : side of a pane of a film (pixels); 480 for mp4 and 320 for gif unless told
    trails, sensors : draw them too; in a browser they can be switched at any time
    progress : called with the frames drawn so far, and all
    """
    from qed.view.film import Film, kind

    film = Film.planned(kind(out), seconds, speed, fps, size, trails=trails, sensors=sensors)
    shown = watch(
        found, environment=environment, seconds=seconds, seed=seed, trial=trial,
        algorithm=algorithm,
    )  # fmt: skip
    return produce(shown, out, film, progress)


def produce(shown: Replay, out: str | Path, film: Film, progress: Progress | None = None) -> Path:
    """Write what is shown as a film or a page; return the file."""
    if film.ending != ".html":
        return film.write(shown, out, progress)
    from qed.view.player import write_page

    return write_page(shown, out, speed=film.speed, trails=film.trails, sensors=film.sensors)


def checked_speed(seconds: float, speed: float | None) -> float:
    """Return how many times faster than real time to play: given, or for a film of 20 s."""
    seconds = number("seconds", seconds, CYCLE, 1e6)
    if speed is None:
        return max(1.0, round(seconds / 20.0, 1))
    return number("speed", speed, 0.0, 1e4, above=True)


def checked_trial(trial: int) -> int:
    """Return the number of a trial to show."""
    return whole("trial", trial, 0, 10**6 - 1)


def faults_from(text: str, robots: int = 10) -> Faults:
    """Return the faults that a text names, or those drawn with the seed that it is."""
    text = text.strip()
    if text.isdecimal():
        return Faults.sample(robots, whole("faults", int(text), 0, 2**63 - 1))
    faults = Faults(text)
    if len(faults) != robots:
        raise InputError(
            f"faults must name one fault for each of the {robots} robots, got {len(faults)}"
        )
    return faults
