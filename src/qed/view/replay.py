"""Recoveries to look at: the same start before a fault, after it, and after recovery."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qed import limits
from qed.errors import InputError, number, whole
from qed.swarm.faults import Faults
from qed.swarm.robot import CYCLE
from qed.swarm.trace import trace
from qed.view.look import NOTES, TITLES, percent
from qed.view.pane import Pane

if TYPE_CHECKING:
    from qed.recovery.recovery import Recovery
    from qed.swarm.environment import Environment
    from qed.view.film import Film

MOST = 8  # archives side by side
Progress = Callable[[int, int], Any]  # called with what is done and what there is in all


@dataclass(frozen=True)
class Entry:
    """A recovery to show, with the name of its archive and where its controller comes from."""

    found: Recovery
    name: str = ""
    origin: str = ""


@dataclass(frozen=True)
class View:
    """A pane in its place: what it is called, and what is told of it."""

    pane: Pane
    moment: int  # 0 before the fault, 1 after it, 2 after recovery
    title: str
    note: str  # the change of fitness against before the fault; empty before it


@dataclass(frozen=True)
class Column:
    """What is shown of an archive: three trials from the same start, and what the search found."""

    name: str  # the algorithm as a rule; may be empty
    panes: tuple[Pane, Pane, Pane]
    impact: float
    resilience: float
    distance: float  # from the normal best's behaviour to the recovery's, 0 to 1
    origin: str = ""  # of the recovery controller; may be empty
    kept: bool = False  # whether the normal best itself is what recovers best

    @property
    def views(self) -> tuple[View, View, View]:
        """The three panes with their words."""
        changes = ("", percent(self.impact), percent(self.resilience))
        before, after, recovered = (
            View(pane, moment, TITLES[moment], f"{NOTES[moment]} {change}".strip())
            for moment, (pane, change) in enumerate(zip(self.panes, changes, strict=True))
        )
        return before, after, recovered

    @property
    def caption(self) -> tuple[str, ...]:
        """What is told of the recovery controller, in one or two sentences."""
        kept = ": the normal controller stays" if self.kept else ""
        distance = f"behavioural distance {self.distance:.2f}{kept}"
        return (distance, self.origin) if self.origin else (distance,)


@dataclass(frozen=True)
class Replay:
    """Trials from one start with one combined fault, three for each archive."""

    task: str
    faults: Faults
    columns: tuple[Column, ...]
    fresh: bool = False  # whether means are over trials that took no part in the choice

    @property
    def alone(self) -> bool:
        """Whether there is one archive only; then the swarm before the fault is shown too."""
        return len(self.columns) == 1

    def shown(self, column: Column) -> tuple[View, ...]:
        """Return the views of a column that are shown."""
        return column.views if self.alone else column.views[1:]

    @property
    def some_healthy(self) -> bool:
        """Whether a robot without a fault is in sight."""
        return self.alone or "NONE" in self.faults.names

    @property
    def some_team(self) -> bool:
        """Whether robots of a swarm in sight run different controllers."""
        return any(view.pane.letters for column in self.columns for view in self.shown(column))

    @property
    def seconds(self) -> float:
        """Simulated time (s)."""
        return self.columns[0].panes[0].cycles * CYCLE

    @property
    def environment(self) -> Environment:
        """Where the swarms work."""
        return self.columns[0].panes[0].trace.environment

    @property
    def top_score(self) -> float:
        """The highest score any swarm reaches, never 0."""
        panes = [pane for column in self.columns for pane in column.panes]
        return max(max(float(pane.trace.score.max()) for pane in panes), 1e-6)

    @property
    def judged(self) -> str:
        """The trials that means are over, in words."""
        return "fresh trials" if self.fresh else "all trials"


def watch(
    found: Recovery | Sequence[Entry],
    *,
    environment: Environment | None = None,
    seconds: float = 400.0,
    seed: int = 1,
    trial: int = 0,
    algorithm: str = "",
    progress: Progress | None = None,
) -> Replay:
    """Simulate the trials that show a recovery, or those of several archives side by side.

    Parameters
    ----------
    found : from ``qed.recover``, or an entry for each archive (1 to 8), all of one task and fault
    environment : the one it was searched in; default: the normal environment
    seconds : simulated time of the trial (s)
    seed, trial : decide the start poses, the same for all, and the noise
    algorithm : that made the archive, to be named in the replay, if ``found`` is a recovery
    progress : called with the trials simulated so far, and all
    """
    entries = _entries(found, algorithm)
    columns: list[Column] = []
    for k, entry in enumerate(entries):
        one = entry.found
        trials = (
            (one.normal_controller, None, one.normal),
            (one.normal_controller, one.faults, one.broken),
            (one.team or one.controller, one.faults, one.performance),
        )
        panes = []
        for controller, faults, mean in trials:
            watched = trace(
                controller, environment, task=one.task, seconds=seconds, seed=seed, trial=trial,
                faults=faults,
            )  # fmt: skip
            panes.append(Pane(watched, mean))
            if progress is not None:
                progress(3 * k + len(panes), 3 * len(entries))
        columns.append(
            Column(
                name=entry.name,
                panes=(panes[0], panes[1], panes[2]),
                impact=one.impact,
                resilience=one.resilience,
                distance=one.distance,
                origin=entry.origin,
                kept=set(one.cells) == {one.normal_cell},
            )
        )
    first = entries[0].found
    fresh = all(hasattr(entry.found, "claimed") for entry in entries)
    return Replay(first.task, first.faults, tuple(columns), fresh)


def _entries(found: Recovery | Sequence[Entry], algorithm: str) -> list[Entry]:
    """Return what was given as entries that can be shown together."""
    given: list[Any] = list(found) if isinstance(found, list | tuple) else [found]
    if hasattr(found, "normal_controller"):
        given = [Entry(given[0], algorithm.upper())]
    for entry in given:
        if not hasattr(getattr(entry, "found", None), "normal_controller"):
            raise InputError(f"found must be a result of qed.recover, got {type(entry).__name__}")
    if not 1 <= len(given) <= MOST:
        raise InputError(f"found must hold 1 to {MOST} recoveries, got {len(given)}")
    if len({(entry.found.task, entry.found.faults) for entry in given}) > 1:
        raise InputError("found must be recoveries of one task from one combined fault")
    return given


def replay(
    found: Recovery | Sequence[Entry],
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
    """Film a swarm before a fault, after it, and after recovery, from the same start.

    Parameters
    ----------
    found : Recovery, or a sequence of qed.view.replay.Entry
        From ``qed.recover``; or an entry for each archive (1 to 8), all of one task and fault.
    out : str or Path
        The file: a film (mp4 or gif), or a page for the browser (html).
    environment : Environment, optional
        The one it was searched in (default: the normal environment).
    seconds : float, default 400.0
        Simulated time of the trial (s).
    seed, trial : int, default 1 and 0
        Decide the start poses, the same for all, and the noise.
    algorithm : str, optional
        Made the archive, to be named in the film, if ``found`` is a recovery.
    speed : float, optional
        Times real time (default: so that a film lasts about 20 s).
    fps : int, optional
        Frames in a second (default: 25 for mp4, 10 for gif).
    size : int, optional
        Side of a pane in pixels (default: by the number of archives).
    trails, sensors : bool, default False
        Draw them too; in a browser they can be switched at any time.
    progress : callable, optional
        Called with the frames drawn so far, and all.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import qed
    >>> archive = qed.evolve(
    ...     "patrolling", evaluations=60, initial=20, trials=1, seconds=5.0
    ... )
    >>> broken = qed.Faults.sample(robots=10, seed=7)
    >>> found = qed.recover(archive, "patrolling", broken, trials=2, fresh=2, seconds=5.0)
    >>> qed.replay(found, "film.html", seconds=5.0).name
    'film.html'
    """
    from qed.view.film import Film, kind

    archives = len(_entries(found, algorithm))
    film = Film.planned(
        kind(out), seconds, speed, fps, size, trails=trails, sensors=sensors, archives=archives
    )
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
    seconds = limits.seconds(seconds)
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
