"""Small things to draw with: colours, fonts, badges and their places in a crowd."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

from qed.view.look import INK, sign_of

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
