"""What a story says of each period, and the letters that tell a team's controllers apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qed.controller.network import Controller
from qed.controller.team import Team
from qed.recovery.kit.play import AFTER, NORMAL, STRUCK, TRIAL, Period
from qed.view.pane import LETTERS

if TYPE_CHECKING:
    from qed.recovery.recovery import Recovery
    from qed.swarm.faults import Faults

MISTAKEN = "!"  # behind the letter of a robot that is wrong about its own fault
HEALTHY = "healthy"


@dataclass(frozen=True)
class Chapter:
    """A period of a story: when it was, and what is said of it."""

    stretch: Period
    begin: float  # s since the story's begin
    end: float
    mark: str  # a word below the chart: "normal", "fault", the trial's number, "after"
    title: str
    words: tuple[str, ...]  # a sentence each
    letters: tuple[str, ...] = ()  # which controller each robot runs, if a team is in the story


def chapters(found: Recovery, lengths: Sequence[float], *, trusted: bool = True) -> list[Chapter]:
    """Return what is said of each period of a session.

    Parameters
    ----------
    found : with the session
    lengths : of its periods (s)
    trusted : whether the kit trusts its playbook in swarms of different faults
    """
    periods, faults = found.session, found.faults
    ends = np.cumsum(lengths).tolist()
    ill = sum(name != "NONE" for name in faults)
    trials = sum(part.moment == TRIAL for part in periods)
    present, number = periods[0].row, 0
    told = []
    for part, end, length, letters in zip(
        periods, ends, lengths, letters_through(found), strict=True
    ):
        number += part.moment == TRIAL
        again = part.row == present
        runs = f"{named(part)}{key(found, letters)}"
        mark, title, words = {
            NORMAL: ("normal", "All robots are healthy", (f"They run the normal best, {runs}.",)),
            STRUCK: (
                "fault",
                f"The fault strikes: {ill} of {len(faults)} robots break",
                _struck(found, bool(letters), trusted),
            ),
            TRIAL: (
                str(number),
                f"Search: trial {number} of {trials}",
                (
                    f"It tries {'the normal best again, ' * again}{runs}.",
                    "Nothing is reset: robots stay where they are.",
                ),
            ),
            AFTER: (
                "after",
                "No clear gain: the controller stays" if again else "Recovered",
                (f"The swarm goes on with {runs}.",),
            ),
        }[part.moment]
        told.append(Chapter(part, end - length, end, mark, title, words, letters))
    return told


def named(part: Period) -> str:
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
            letter[one] + MISTAKEN * (wrong and part.moment != NORMAL)
            for one, wrong in zip(robots, mistaken, strict=True)
        )
        for part, robots in zip(found.session, drivers, strict=True)
    ]


def _drivers(part: Period, robots: int) -> tuple[Controller, ...]:
    """Return the controller of each robot."""
    driver = part.controller
    return driver.controllers if isinstance(driver, Team) else (driver,) * robots


def _mistaken(found: Recovery) -> list[bool]:
    """Return which robots are wrong about their own fault."""
    return [one != true for one, true in zip(_said(found), found.faults, strict=True)]


def _said(found: Recovery) -> Faults:
    """Return what each robot says is broken in it, where somebody asks for it."""
    return found.diagnoses or found.faults


def key(found: Recovery, letters: tuple[str, ...]) -> str:
    """Return what letters stand for: ' (A)' for all robots, or ' (A: healthy; B: PMIN, LW-H)'."""
    if not letters:
        return ""
    runs: dict[str, list[str]] = {}
    for letter, name in sorted(zip(letters, _said(found), strict=True)):
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
    told = (
        "They go on with the same controller.",
        f"The search is told its score, and what each robot says is broken in it{mistaken}.",
    )
    if trusted or len(set(found.diagnoses)) == 1:
        return told
    return (*told, "The kit trusts no teams in this task: it tries one controller for all.")
