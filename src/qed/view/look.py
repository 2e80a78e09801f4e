"""How a replay looks, the same in films and in the browser: colours, badges, words, outlines."""

import math
from dataclasses import dataclass
from typing import Any

from qed.swarm.faults import Fault
from qed.swarm.floor import Picture
from qed.swarm.robot import THYMIO, Robot

TITLES = ("before the fault", "after the fault", "after recovery")

# Colours by Okabe and Ito, which people with any colour vision tell apart.
ORANGE, PURPLE, GREEN = "#e69f00", "#cc79a7", "#009e73"
HEALTHY_COLOUR = "#3f5468"  # robots without a fault
INK, SOFT_INK, LINE = "#1c2329", "#5a6670", "#9aa5ae"
PAPER, FLOOR = "#f4f5f6", "#ffffff"
BLACK = "#868e96"  # a black floor: brighter than robots, which stay in sight on it
FRESH = "#b5daf0"  # a patrolling cell in the cycle of a visit; it fades to the floor
VEIL = 0.6  # how opaque that is on a floor of greys
STEPS = 16  # shades of that fading: more cannot be told apart, and would swell a film
OBSTACLE = "#c3c9ce"
MARK = "#0072b2"  # what belongs to the task: centre, links
NEAR = "#d55e00"  # a proximity sensor that feels something
SCORES = (HEALTHY_COLOUR, "#d55e00", MARK)  # colours of the three scores
# On light and on dark pages, where it would be too dark there, or too bright.
COLOURS: dict[str, tuple[Any, Any]] = {
    "healthy": (HEALTHY_COLOUR, "#8ea3b7"),
    "ink": (INK, "#e3e8ec"),
    "line": (LINE, "#6f7b85"),
    "floor": (FLOOR, "#20262c"),
    "black": (BLACK, "#000000"),
    "fresh": (FRESH, "#22587a"),
    "obstacle": (OBSTACLE, "#566069"),
    "mark": (MARK, "#56b4e9"),
    "near": (NEAR, "#ff8c42"),
    "scores": (SCORES, ("#8ea3b7", "#ff8c42", "#56b4e9")),
}
LIGHT, DARK = ({name: pair[k] for name, pair in COLOURS.items()} for k in (0, 1))

TRAIL = 30.0  # s of the past that a trail shows
NOTHING = 0.1  # proximity readings below are noise
POINTER = ((0.02, 0.034), (0.125, 0.0), (0.02, -0.034))  # m, ahead of a Thymio
ROUND = 32  # corners of a circle
CENTRE_SIZE = 0.09  # m, radius of the mark at the centre of an aggregating swarm


@dataclass(frozen=True)
class Sign:
    """How robots with a fault are told apart: a colour for its kind, a badge for itself."""

    badge: str
    colour: str
    words: str  # for the legend


SIGNS: dict[str, Sign] = {
    "NONE": Sign("", HEALTHY_COLOUR, "no fault"),
    "PMIN": Sign("P0", ORANGE, "PMIN: front sensors read 0"),
    "PMAX": Sign("P1", ORANGE, "PMAX: front sensors read 1"),
    "PRAND": Sign("P?", ORANGE, "PRAND: front sensors at random"),
    "LW-H": Sign("L½", PURPLE, "LW-H: left wheel at half speed"),
    "RW-H": Sign("R½", PURPLE, "RW-H: right wheel at half speed"),
    "BW-H": Sign("B½", PURPLE, "BW-H: both wheels at half speed"),
    "ROFS": Sign("≠", GREEN, "ROFS: others heard where they are not"),
}

DEAD = "#8d949a"
LONGEST_BADGE, LONGEST_WORDS = 4, 44  # letters


def sign_of(fault: str) -> Sign:
    """Return the sign of a fault; one of a user's own has the first letters of its name."""
    if fault in SIGNS:
        return SIGNS[fault]
    colour, words = ORANGE, str(fault)
    if isinstance(fault, Fault):
        words = f"{fault.name}: {fault.meaning}" if fault.meaning != fault.name else fault.name
        if fault.dead:
            colour = DEAD
        elif not fault.hits_sensors:
            colour = PURPLE if fault.hits_wheels else GREEN
    short = words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1]}…"
    return Sign(str(fault)[:LONGEST_BADGE], colour, short)


TEAM = "same letter: same controller"
# What is drawn for a task besides its robots, as the legend says it; for a user's own nothing is.
MARKS: dict[str, str] = {
    "aggregation": "centre of the swarm",
    "dispersion": "to the nearest robot",
    "flocking": "closer than 0.5 m",
    "patrolling": "visited lately",
    "border-patrolling": "visited lately",
}


def outline(robot: Robot) -> list[tuple[float, float]]:
    """Return the corners of a robot's body, in its own frame (x forward, y left; m).

    A round one has as many as a picture needs.
    """
    angles = [2.0 * math.pi * k / ROUND for k in range(ROUND)]
    circle = [(robot.outer_radius * math.cos(a), robot.outer_radius * math.sin(a)) for a in angles]
    return list(robot.body) or circle


def greys(floor: Picture | None) -> list[list[float]] | None:
    """Return how bright a floor's cells are, row by row from below, as pages draw it."""
    return None if floor is None else [[round(grey, 2) for grey in row] for row in floor]


def pointer(robot: Robot) -> list[tuple[float, float]]:
    """Return the corners of the mark that points ahead of a robot, in its own frame (m)."""
    scale = robot.outer_radius / THYMIO.outer_radius
    return [(scale * x, scale * y) for x, y in POINTER]


def percent(change: float) -> str:
    """Return a relative change as people read it, with a true minus sign.

    >>> percent(-0.254), percent(0.02), percent(-0.0001), percent(float("nan"))
    ('−25 %', '+2 %', '0 %', 'unknown')
    """
    if math.isnan(change):
        return "unknown"
    rounded = round(100.0 * change)
    sign = "−" if rounded < 0 else "+" if rounded > 0 else ""
    return f"{sign}{abs(rounded)} %"
