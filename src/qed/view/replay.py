"""Recoveries to look at: the same start before a fault, after it, and after recovery."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qed.errors import InputError, integer
from qed.swarm.faults import Faults
from qed.swarm.trace import trace
from qed.view.look import TITLES, percent
from qed.view.pane import Pane, Subject

if TYPE_CHECKING:
    from qed.recovery.recovery import Recovery
    from qed.swarm.environment import Environment

MOST = 8  # archives side by side
JUDGED = "fresh trials"  # which the means of a recovery are over
Progress = Callable[[int, int], Any]  # called with what is done and what there is in all


@dataclass(frozen=True)
class Entry:
    """A recovery to show, with the name of its archive and where its controller comes from."""

    found: Recovery
    name: str = ""
    origin: str = ""


@dataclass(frozen=True)
class View:
    """A pane in its place, with its words."""

    pane: Pane
    title: str
    moment: int  # the colour of its score: 0 before a fault, 1 after it, 2 after recovery
    notes: tuple[str, ...] = ()  # below the score
    compared: bool = False  # whether the score of the column's ``before`` is drawn too, in grey


@dataclass(frozen=True)
class Column:
    """Views that belong together: those of an archive, or all there are."""

    name: str  # the algorithm as a rule; may be empty
    views: tuple[View, ...]
    before: Pane  # whose score others are compared with
    aside: str = ""  # at the right of the name
    caption: tuple[str, ...] = ()  # a sentence or two below


@dataclass(frozen=True)
class Replay(Subject):
    """Trials from one start: views side by side, or a column of them for each archive."""

    task: str
    columns: tuple[Column, ...]
    judged: str = ""  # the trials that means are over, of a recovery

    @property
    def alone(self) -> bool:
        """Whether there is one column only, whose views then stand side by side."""
        return len(self.columns) == 1

    @property
    def views(self) -> list[View]:
        """All views, column by column."""
        return [view for column in self.columns for view in column.views]

    @property
    def panes(self) -> list[Pane]:
        """The trials in sight."""
        return [view.pane for view in self.views]

    @property
    def top_score(self) -> float:
        """The highest score that is drawn, never 0; grey curves count too."""
        before = [float(column.before.trace.score.max()) for column in self.columns]
        return max(*before, super().top_score)

    @property
    def title(self) -> str:
        """What a page of it is called."""
        task, name = self.task.capitalize(), self.columns[0].name
        if not self.alone:
            return f"{task}: {len(self.columns)} archives recover from the same fault"
        if not self.judged:
            return f"{task}: {', '.join(view.title for view in self.views)}"
        return f"{task}{f' ({name})' if name else ''}: a swarm breaks and recovers"


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
    for entry in entries:
        one = entry.found
        trials = (
            (one.normal_controller, None),
            (one.normal_controller, one.faults),
            (one.team or one.controller, one.faults),
        )
        panes = []
        for controller, faults in trials:
            watched = trace(
                controller, environment, task=one.task, seconds=seconds, seed=seed, trial=trial,
                faults=faults,
            )  # fmt: skip
            panes.append(Pane(watched))
            if progress is not None:
                progress(3 * len(columns) + len(panes), 3 * len(entries))
        columns.append(_column(entry, panes, len(entries) == 1))
    return Replay(entries[0].found.task, tuple(columns), JUDGED)


def _column(entry: Entry, panes: Sequence[Pane], alone: bool) -> Column:
    """Return the three panes of a recovery with their words; of several only the broken ones."""
    found = entry.found
    means = found.normal, found.broken, found.performance
    changes = "", f"impact {percent(found.impact)}", f"resilience {percent(found.resilience)}"
    views = tuple(
        View(pane, TITLES[k], k, (f"{JUDGED} {means[k]:.3f}", changes[k]), compared=k > 0)
        for k, pane in enumerate(panes)
    )
    kept = set(found.cells) == {found.normal_cell}
    stays = ": the normal controller stays" if kept else ""
    caption = (f"behavioural distance {found.distance:.2f}{stays}", entry.origin)
    return Column(
        entry.name,
        views if alone else views[1:],
        panes[0],
        f"{TITLES[0]} {found.normal:.3f}",
        tuple(filter(None, caption)),
    )


def _entries(found: Recovery | Sequence[Entry], algorithm: str) -> list[Entry]:
    """Return what was given as entries that can be shown together."""
    from qed.recovery.recovery import Recovery

    if isinstance(found, Recovery):
        return [Entry(found, algorithm.upper())]
    given: list[Any] = list(found) if isinstance(found, list | tuple) else [found]
    for entry in given:
        if not isinstance(getattr(entry, "found", None), Recovery):
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
    from qed.view import film

    archives = len(_entries(found, algorithm))
    form = film.film_of(
        film.ending_of(out), [seconds], speed, fps, size, archives=archives, trails=trails,
        sensors=sensors,
    )  # fmt: skip
    shown = watch(
        found, environment=environment, seconds=seconds, seed=seed, trial=trial,
        algorithm=algorithm,
    )  # fmt: skip
    return film.write(shown, out, form, progress)


def checked_trial(trial: int) -> int:
    """Return the number of a trial to show."""
    return integer("trial", trial, 0, 10**6 - 1)


def faults_from(text: str, robots: int = 10) -> Faults:
    """Return the faults that a text names, or those drawn with the seed that it is."""
    text = text.strip()
    if text.isdecimal():
        return Faults.sample(robots, integer("faults", int(text), 0, 2**63 - 1))
    faults = Faults(text)
    if len(faults) != robots:
        raise InputError(
            f"faults must name one fault for each of the {robots} robots, got {len(faults)}"
        )
    return faults
