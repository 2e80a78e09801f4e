"""A swarm that goes on, to look at: normal, the fault, a search trial by trial, recovered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from qed.controller.network import Team
from qed.errors import InputError
from qed.recovery.kit import play
from qed.swarm.faults import Faults
from qed.swarm.robot import CYCLE
from qed.view.film import Section, sections_of
from qed.view.pane import LETTERS, Pane, Signs, Subject, joined

if TYPE_CHECKING:
    from qed.controller.network import Controller
    from qed.recovery.kit.kit import Kit
    from qed.recovery.recovery import Recovery
    from qed.swarm.environment import Environment
    from qed.view.replay import Progress

MISTAKEN = "!"  # behind the letter of a robot that is wrong about its own fault
HEALTHY = "healthy"


@dataclass(frozen=True)
class Chapter:
    """A period of a story: when it was, and what is said of it."""

    period: play.Step
    begin: float  # s since the story's begin
    end: float
    mark: str  # a word below the chart: "normal", "fault", the trial's number, "after"
    title: str
    words: tuple[str, ...]  # a sentence each
    letters: tuple[str, ...] = ()  # which controller each robot runs, if a team is in the story


@dataclass(frozen=True)
class Story(Subject):
    """One swarm in one arena, all the time."""

    task: str
    pane: Pane
    chapters: tuple[Chapter, ...]
    ending: str  # what came out, on fresh trials
    knows: str  # what the search knows of the fault, a sentence
    speed: float | None = None  # times real time all through (default: slow where it matters)

    @property
    def panes(self) -> list[Pane]:
        """The only trial in sight."""
        return [self.pane]

    @property
    def title(self) -> str:
        """What a page of it is called."""
        return f"{self.task.capitalize()}: a swarm breaks, searches and recovers, without reset"

    @property
    def struck(self) -> float:
        """When the fault strikes (s)."""
        return self.chapters[0].end

    @property
    def believed_range(self) -> tuple[float, float]:
        """The lowest and the highest number that is believed, with a little room around."""
        parts = [part.period for part in self.chapters[1:]]
        low = min(min(part.kept.low, part.believed.low) for part in parts)
        high = max(max(part.kept.high, part.believed.high) for part in parts)
        room = 0.08 * max(high - low, 0.01)
        return low - room, high + room

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """How fast the film goes, chapter by chapter."""
        return sections_of([part.end - part.begin for part in self.chapters], self.speed)

    def chapter(self, seconds: float) -> Chapter:
        """Return what goes on at a time (s)."""
        later = (part for part in self.chapters if seconds < part.end - 1e-9)
        return next(later, self.chapters[-1])

    def score(self, seconds: float) -> float:
        """Return the score of the present period so far."""
        row = round(seconds / CYCLE - 1e-6)
        return float(self.pane.trace.score[row - 1]) if row else 0.0


def story(
    kit: Kit,
    found: Recovery,
    *,
    seconds: float | None = None,
    seed: int = 1,
    environment: Environment | None = None,
    speed: float | None = None,
    progress: Progress | None = None,
) -> Story:
    """Watch again what ``kit.recover(..., reset=False)`` found, with the same arguments."""
    if not found.session:
        raise InputError("found must be a result of kit.recover(..., reset=False)")
    world = play.new_world(found.task, environment or kit.environment, seed)
    length = kit.seconds if seconds is None else seconds
    traces = []
    for one in play.replay_session(world, found.session, found.faults, length):
        traces.append(one)
        if progress is not None:
            progress(len(traces), len(found.session))
    parts = chapters(found, [CYCLE * len(one.x) for one in traces], trusted=kit.playbook.trusted)
    healthy = Faults.none(len(found.faults))
    signs = [
        Signs(round(part.begin / CYCLE), found.faults if k else healthy, part.letters)
        for k, part in enumerate(parts)
    ]
    return Story(
        task=found.task,
        pane=Pane(joined(traces), signs=signs),
        chapters=tuple(parts),
        ending=(
            f"Fitness on fresh trials: {found.normal:.3f} healthy, {found.broken:.3f} if the "
            f"controller is kept, {found.performance:.3f} after the search."
        ),
        knows=(
            "it knows what each robot says is broken in it."
            if found.diagnoses is not None
            else "it does not know the fault."
        ),
        speed=speed,
    )


def chapters(found: Recovery, lengths: Sequence[float], *, trusted: bool = True) -> list[Chapter]:
    """Return what is said of each period of a swarm that goes on.

    Parameters
    ----------
    found : what a search found in it
    lengths : of its periods (s)
    trusted : whether the kit trusts its playbook in swarms of different faults
    """
    periods, faults = found.session, found.faults
    ends = np.cumsum(lengths).tolist()
    ill = sum(name != "NONE" for name in faults)
    trials = sum(part.moment == play.TRIAL for part in periods)
    present, number = periods[0].row, 0
    described = []
    for part, end, length, letters in zip(
        periods, ends, lengths, letters_through(found), strict=True
    ):
        number += part.moment == play.TRIAL
        again = part.row == present
        runs = f"{named(part)}{key(found, letters)}"
        mark, title, words = {
            play.NORMAL: (
                "normal",
                "All robots are healthy",
                (f"They run the normal best, {runs}.",),
            ),
            play.STRUCK: (
                "fault",
                f"The fault strikes: {ill} of {len(faults)} robots break",
                _struck(found, bool(letters), trusted),
            ),
            play.TRIAL: (
                str(number),
                f"Search: trial {number} of {trials}",
                (
                    f"It tries {'the normal best again, ' * again}{runs}.",
                    "Nothing is reset: robots stay where they are.",
                ),
            ),
            play.AFTER: (
                "after",
                "No clear gain: the controller stays" if again else "Recovered",
                (f"The swarm goes on with {runs}.",),
            ),
        }[part.moment]
        described.append(Chapter(part, end - length, end, mark, title, words, letters))
    return described


def named(part: play.Step) -> str:
    """Return what drove the robots, in words."""
    if part.cell >= 0:
        return f"the controller of cell {part.cell}"
    return f"a team of {len(set(_drivers(part, 1)))} controllers"


def letters_through(found: Recovery) -> list[tuple[str, ...]]:
    """Return the letter of each robot in each period; none if all share a controller all along.

    A controller keeps its letter from the first period to the last; A is the normal best.
    """
    drivers = [_drivers(part, len(found.faults)) for part in found.session]
    if all(len(set(robots)) == 1 for robots in drivers):
        return [()] * len(drivers)
    order = dict.fromkeys(controller for robots in drivers for controller in robots)
    letter = {one: LETTERS[min(k, len(LETTERS) - 1)] for k, one in enumerate(order)}
    mistaken = _mistaken(found)
    return [
        tuple(
            letter[one] + MISTAKEN * (wrong and part.moment != play.NORMAL)
            for one, wrong in zip(robots, mistaken, strict=True)
        )
        for part, robots in zip(found.session, drivers, strict=True)
    ]


def _drivers(part: play.Step, robots: int) -> tuple[Controller, ...]:
    """Return the controller of each robot."""
    driver = part.controller
    return driver.controllers if isinstance(driver, Team) else (driver,) * robots


def _mistaken(found: Recovery) -> list[bool]:
    """Return which robots are wrong about their own fault."""
    return [one != true for one, true in zip(_diagnoses(found), found.faults, strict=True)]


def _diagnoses(found: Recovery) -> Faults:
    """Return what each robot says is broken in it, where that is asked for."""
    return found.diagnoses or found.faults


def key(found: Recovery, letters: tuple[str, ...]) -> str:
    """Return what letters stand for: ' (A)' for all robots, or ' (A: healthy; B: PMIN, LW-H)'."""
    if not letters:
        return ""
    runs: dict[str, list[str]] = {}
    for letter, name in sorted(zip(letters, _diagnoses(found), strict=True)):
        names = runs.setdefault(letter.removesuffix(MISTAKEN), [])
        word = HEALTHY if name == "NONE" else str(name)
        if word not in names:
            names.append(word)
    if len(runs) == 1:
        return f" ({next(iter(runs))})"
    words = [f"{letter}: {', '.join(names)}" for letter, names in runs.items()]
    if any(letter.endswith(MISTAKEN) for letter in letters):
        words.append(f"{MISTAKEN}: wrong diagnosis")
    return f" ({'; '.join(words)})"


def _struck(found: Recovery, lettered: bool, trusted: bool) -> tuple[str, ...]:
    """Return what is said as the fault strikes: above all what the search knows."""
    if found.diagnoses is None:
        return (
            "They go on with the same controller; its score since the fault is told to the "
            "search, which does not know the fault.",
        )
    wrong, robots = sum(_mistaken(found)), len(found.faults)
    mark = f" ({MISTAKEN})" * lettered
    mistaken = f"; {wrong} of {robots} are wrong{mark}" if wrong else ""
    known = (
        "They go on with the same controller.",
        f"The search is told its score, and what each robot says is broken in it{mistaken}.",
    )
    if trusted or len(set(found.diagnoses)) == 1:
        return known
    return (*known, "The kit trusts no teams in this task: it tries one controller for all.")
