"""Draws running scores as curves."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from qed.view import ink
from qed.view.look import FLOOR, LINE, SCORES
from qed.view.pane import Pane

CURVE_POINTS = 160  # at most
ROOM = 5 * ink.FINE  # between curve and frame, in the enlarged picture


def curve(
    pane: Pane, before: Pane, moment: int, cycle: float, box: tuple[int, int], top: float
) -> Image.Image:
    """Return the running score of a swarm up to a cycle, with that before the fault in grey.

    Parameters
    ----------
    pane, before : the swarm, and the same before the fault
    moment : 0 before the fault, 1 after it, 2 after recovery
    cycle : control cycles since the start
    box : width and height of the picture (pixels)
    top : the score at its upper edge
    """
    image = Image.new("RGB", (ink.FINE * box[0], ink.FINE * box[1]), FLOOR)
    pen = ImageDraw.Draw(image)
    if moment > 0:
        _line(pen, before, cycle, image.size, top, LINE)
    last = _line(pen, pane, cycle, image.size, top, SCORES[moment])
    if last is not None:
        pen.circle(last, 3 * ink.FINE, fill=SCORES[moment])
    right, bottom = image.width - 1, image.height - 1
    pen.rectangle((0, 0, right, bottom), outline=LINE, width=ink.FINE)
    return image.reduce(ink.FINE)


def _line(
    pen: ImageDraw.ImageDraw,
    pane: Pane,
    cycle: float,
    box: tuple[int, int],
    top: float,
    colour: str,
) -> tuple[float, float] | None:
    """Draw a score up to now; return its end."""
    now = int(cycle)
    if now == 0:
        return None
    step = max(1, pane.cycles // CURVE_POINTS)
    rows = np.unique([*range(0, now, step), now - 1])
    x = ROOM + (box[0] - 2 * ROOM) * (rows + 1) / pane.cycles
    y = box[1] - ROOM - (box[1] - 2 * ROOM) * pane.trace.score[rows] / top
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    pen.line(points, colour, 2 * ink.FINE, joint="curve")
    return points[-1]
