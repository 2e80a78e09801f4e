"""How a replay looks, the same in films and in the browser: colours, badges, words, outlines.

Also what films are drawn with: fonts, and badges with their places in a crowd.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

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


FINE = 2  # shapes are drawn this many times larger, then averaged down, to be smooth
Colour = tuple[int, ...]
Face = ImageFont.FreeTypeFont

# Badges lie near their robots, none on another or on a body.
ROUNDS = 40  # of pushing apart, at most
OFF_BODIES = 25  # rounds in which bodies push too; later badges only make way for one another
BIAS = 0.6  # how much a badge likes to be above its robot, against one neighbour at touch
EDGE = 3.0  # pixels that stay free at the walls


@lru_cache
def colour(name: str) -> Colour:
    """Return a colour like '#e69f00' as numbers."""
    return ImageColor.getrgb(name)


@lru_cache
def mixed(one: str, other: str, share: float) -> Colour:
    """Return the colour between two, with so much of the second (0 to 1)."""
    pairs = zip(colour(one), colour(other), strict=True)
    return tuple(round(a + share * (b - a)) for a, b in pairs)


@lru_cache
def font(pixels: int, bold: bool = False) -> Face:
    """Return DejaVu Sans, which comes with matplotlib, so that every machine draws the same."""
    import matplotlib

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name
    # Basic layout does not depend on which shaping library a machine has.
    return ImageFont.truetype(str(path), pixels, layout_engine=ImageFont.Layout.BASIC)


def width(text: str, face: Face) -> int:
    """Return the width of a line of text (pixels)."""
    return round(face.getlength(text))


def wrapped(text: str, face: Face, room: int) -> list[str]:
    """Return a text in lines that fit a width (pixels); a word that is too long is cut."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, face) <= room:
            lines[-1] = longer
        else:
            lines.append(cut(word, face, room))
    return lines


def cut(text: str, face: Face, room: int) -> str:
    """Return a text that fits a width (pixels): its middle is left out where it is too long."""
    if width(text, face) <= room:
        return text
    for kept in range(len(text) - 1, 0, -1):
        shorter = f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"
        if width(shorter, face) <= room:
            return shorter
    return "…"


@lru_cache
def badge(fault: str, height: int) -> Image.Image:
    """Return a fault's badge, transparent around, with text so that colour is not all."""
    sign = sign_of(fault)
    face = font(round(0.82 * height), bold=True)
    across = max(width(sign.badge, face) + round(0.36 * height), height)
    fine = 4
    shape = Image.new("RGBA", (fine * across, fine * height))
    ImageDraw.Draw(shape).rounded_rectangle(
        (0, 0, fine * across - 1, fine * height - 1), fine * height // 4,
        fill=sign.colour, outline="white", width=fine,
    )  # fmt: skip
    small = shape.reduce(fine)
    # The middle of capital letters, not of the whole font, is what looks centred.
    capital = -face.getbbox("P", anchor="ls")[1]
    ImageDraw.Draw(small).text(
        (across / 2, (height + capital) / 2), sign.badge, INK, face, anchor="ms"
    )
    return small


def badge_places(
    robots: np.ndarray, owners: np.ndarray, sizes: np.ndarray, reach: float, side: float
) -> np.ndarray:
    """Return the centres of badges (n, 2) in a square picture; all lengths are in pixels.

    Parameters
    ----------
    robots : (robots, 2) centres of all robots, x to the right and y down
    owners : (n,) the robot of each badge
    sizes : (n, 2) width and height of each badge
    reach : radius of a robot
    side : side of the picture

    A badge begins above its robot, or on the side away from others that are near.  Badges that
    overlap one another or a robot are then pushed apart the short way, a little at a time, so
    that they move smoothly from frame to frame.
    """
    home = robots[owners]
    away = home[:, None] - robots[None]
    distance = np.hypot(away[..., 0], away[..., 1])
    near = np.clip(2.0 - distance / (2.5 * reach), 0.0, 1.0)  # 1 at touch, 0 at two bodies off
    tendency = (away / np.maximum(distance, 1e-6)[..., None] * near[..., None]).sum(1)
    no_room = home[:, 1] - reach - sizes[:, 1] < EDGE
    tendency[:, 1] += np.where(no_room, 1.0, -1.0) * BIAS
    tendency /= np.maximum(np.hypot(tendency[:, 0], tendency[:, 1]), 1e-6)[:, None]
    centres = home + tendency * (reach + sizes / 2)
    low, high = EDGE + sizes / 2, side - EDGE - sizes / 2
    both = (sizes[:, None] + sizes[None]) / 2
    body = sizes[:, None] / 2 + 0.75 * reach
    order = np.sign(np.arange(len(owners))[:, None] - np.arange(len(owners)))
    for turn in range(ROUNDS):
        centres = np.clip(centres, low, high)
        apart = centres[:, None] - centres[None]
        # Of badges at the very same place the later one goes down.
        apart[..., 1] += 1e-3 * order
        push = 0.5 * _short_way(apart, both)
        push[np.arange(len(owners)), np.arange(len(owners))] = 0.0
        step = push.sum(1)
        if turn < OFF_BODIES:
            step += 0.5 * _short_way(centres[:, None] - robots[None], body).sum(1)
        if np.abs(step).max(initial=0.0) < 0.25:
            break
        centres = centres + 0.6 * step
    settled: np.ndarray = np.clip(centres, low, high)
    return settled


def _short_way(apart: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Return the shortest way out of an overlap, 0 where there is none.

    ``apart`` is from the middle of one box to that of another, ``room`` what they need.
    """
    missing = room - np.abs(apart)
    overlap = (missing > 0).all(-1)
    sideways = missing[..., 0] < missing[..., 1]
    way = np.zeros_like(apart)
    way[..., 0] = np.where(overlap & sideways, missing[..., 0], 0.0)
    way[..., 1] = np.where(overlap & ~sideways, missing[..., 1], 0.0)
    return way * np.where(apart < 0, -1.0, 1.0)
