"""Draws the charts of a story: the score of each stretch so far, and what the search believes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from qed.recovery.kit.play import AFTER, NORMAL, STRUCK, TRIAL
from qed.swarm.robot import CYCLE
from qed.view import ink
from qed.view.chapters import Chapter
from qed.view.look import FLOOR, HEALTHY_COLOUR, INK, LINE, MARK, NEAR, PAPER, SOFT_INK
from qed.view.story import Story

STEPS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0)  # between ticks
EDGE = 6  # pixels that are free at the right
POINTS = 60  # of a stretch's curve, at most
HEADROOM = 1.08  # of the highest number
MOMENTS = {NORMAL: HEALTHY_COLOUR, STRUCK: NEAR, AFTER: MARK}
TRIED = "#5a6670"  # trials of the search
BEST, KEPT = MARK, NEAR  # what is believed of the best controller, and of the one before

Face = ImageFont.FreeTypeFont
Box = tuple[int, int, int, int]  # left, top, right, bottom (pixels)


def colour_of(chapter: Chapter) -> str:
    """Return the colour of a stretch's score."""
    return MOMENTS.get(chapter.stretch.moment, TRIED)


@dataclass(frozen=True)
class Axes:
    """A chart over the time of a story."""

    box: Box
    seconds: float
    low: float  # the number at the lower edge
    high: float  # and at the upper

    def x(self, seconds: float) -> float:
        """Return where a time is (pixels)."""
        left, _, right, _ = self.box
        return left + (right - EDGE - left) * seconds / self.seconds

    def y(self, value: float) -> float:
        """Return where a number is (pixels)."""
        _, top, _, bottom = self.box
        share = (value - self.low) / (self.high - self.low)
        return bottom - (bottom - top) * min(max(share, 0.0), 1.0)

    def ticks(self) -> list[float]:
        """Return two to five round numbers."""
        step = next(step for step in STEPS if (self.high - self.low) / step >= 2.0)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [step * k for k in range(first, last + 1)]


class Charts:
    """Two charts, one above the other, over the same time.

    Parameters
    ----------
    story : what is shown
    size : width and height (pixels)
    face : font of the words
    """

    def __init__(self, story: Story, size: tuple[int, int], face: Face) -> None:
        self.story, self.face, self.size = story, face, size
        line = round(1.3 * face.size)
        left = ink.width("0.00 ", face)
        wide, high = size
        # Each chart has a heading above it; the names of the stretches stand between the charts.
        room = high - 4 * line - line // 2
        upper = line, line + round(0.52 * room)
        lower = upper[1] + 2 * line + line // 2, high - line // 2
        top = HEADROOM * story.top_score
        self.scores = Axes((left, upper[0], wide - 1, upper[1]), story.seconds, 0.0, top)
        box = (left, lower[0], wide - 1, lower[1])
        self.beliefs = Axes(box, story.seconds, *story.believed_range)
        self.line = line
        self.background = self._background()

    def draw(self, seconds: float) -> Image.Image:
        """Return the charts at a time (s)."""
        fine = ink.FINE
        image = self.background.resize((fine * self.size[0], fine * self.size[1]))
        pen = ImageDraw.Draw(image, "RGBA")
        for chapter in self.story.chapters:
            if chapter.begin < seconds:
                self._score(pen, chapter, seconds)
            if chapter.stretch.moment != NORMAL and chapter.end <= seconds:
                self._belief(pen, chapter, seconds)
        now = fine * self.scores.x(seconds)
        for axes in (self.scores, self.beliefs):
            _, top, _, bottom = axes.box
            pen.line((now, fine * top, now, fine * bottom), ink.colour(INK, 110), fine)
        return image.reduce(fine)

    def _score(self, pen: ImageDraw.ImageDraw, chapter: Chapter, seconds: float) -> None:
        """Draw the score of a stretch so far, and a dot where it has ended."""
        fine, axes = ink.FINE, self.scores
        first, last = round(chapter.begin / CYCLE), round(min(chapter.end, seconds) / CYCLE - 1e-6)
        if last <= first:
            return
        step = max(1, round((chapter.end - chapter.begin) / CYCLE) // POINTS)
        rows = np.unique([*range(first, last, step), last - 1])
        values = self.story.healthy.trace.score[rows]
        points = [
            (fine * axes.x((row + 1) * CYCLE), fine * axes.y(value))
            for row, value in zip(rows.tolist(), values.tolist(), strict=True)
        ]
        shade = ink.colour(colour_of(chapter))
        if len(points) > 1:
            pen.line(points, shade, 2 * fine, joint="curve")
        if chapter.end <= seconds + 1e-9:
            pen.circle(points[-1], 4 * fine, fill=shade)

    def _belief(self, pen: ImageDraw.ImageDraw, chapter: Chapter, seconds: float) -> None:
        """Draw what is believed from a stretch's end to that of the next."""
        axes, later = self.beliefs, [one for one in self.story.chapters if one.begin >= chapter.end]
        end = min(seconds, later[0].end if later else self.story.seconds)
        part = chapter.stretch
        if part.moment == AFTER or end <= chapter.end:
            return
        # One band if the best is the controller that was there before.
        bands = [(KEPT, part.kept)]
        if part.believed != part.kept:
            bands.append((BEST, part.believed))
        for name, belief in bands:
            left, right = (ink.FINE * axes.x(at) for at in (chapter.end, end))
            low, mean, high = (
                ink.FINE * axes.y(value) for value in (belief.low, belief.mean, belief.high)
            )
            pen.rectangle((left, high, right, low), ink.colour(name, 60))
            pen.line((left, mean, right, mean), ink.colour(name), round(2.5 * ink.FINE))

    def _background(self) -> Image.Image:
        """Draw what stays: frames, numbers, names of stretches, headings."""
        image = Image.new("RGB", self.size, PAPER)
        pen = ImageDraw.Draw(image)
        for axes in (self.scores, self.beliefs):
            pen.rectangle(axes.box, FLOOR)
            self._grid(pen, axes)
            pen.rectangle(axes.box, outline=LINE)
        self._heading(pen, self.scores, [("score of each stretch so far", INK)])
        self._heading(
            pen,
            self.beliefs,
            [("believed fitness (90 %):", INK), ("best", BEST), ("if kept", KEPT)],
        )
        self._names(pen)
        return image

    def _heading(self, pen: ImageDraw.ImageDraw, axes: Axes, words: list[tuple[str, str]]) -> None:
        left, top = float(axes.box[0]), axes.box[1]
        for text, shade in words:
            bold = shade != INK
            face = ink.font(self.face.size, bold=bold)
            if bold:
                height = top - round(0.75 * self.face.size)
                pen.line((left, height, left + self.face.size, height), shade, 4)
                left += round(1.3 * self.face.size)
            pen.text((left, top - round(0.3 * self.face.size)), text, shade, face, anchor="ls")
            left += ink.width(text, face) + self.face.size

    def _grid(self, pen: ImageDraw.ImageDraw, axes: Axes) -> None:
        """Draw lines at round numbers and at the ends of stretches."""
        for tick in axes.ticks():
            height = axes.y(tick)
            pen.line((axes.box[0], height, axes.box[2], height), "#e3e6e8")
            inside = min(max(height, axes.box[1] + self.face.size / 2), axes.box[3] - 2)
            anchor = "rs" if inside > axes.box[3] - self.face.size / 2 else "rm"
            pen.text((axes.box[0] - 5, inside), f"{tick:g}", SOFT_INK, self.face, anchor=anchor)
        for chapter in self.story.chapters[1:]:
            at, struck = axes.x(chapter.begin), chapter.stretch.moment == STRUCK
            ends = (at, axes.box[1], at, axes.box[3])
            pen.line(ends, NEAR if struck else "#c9cfd4", 2 if struck else 1)

    def _names(self, pen: ImageDraw.ImageDraw) -> None:
        """Write below the upper chart which stretch is which, as far as there is room."""
        top = self.scores.box[3] + round(0.25 * self.face.size)
        taken: list[tuple[float, float]] = []
        # What matters most first: the fault, and what came after the search.
        order = {STRUCK: 0, AFTER: 1, TRIAL: 2, NORMAL: 3}
        for chapter in sorted(self.story.chapters, key=lambda one: order[one.stretch.moment]):
            middle = self.scores.x((chapter.begin + chapter.end) / 2)
            half = ink.width(chapter.mark, self.face) / 2
            middle = min(max(middle, self.scores.box[0] + half), self.size[0] - 1 - half)
            if all(middle + half + 3 < begin or end + 3 < middle - half for begin, end in taken):
                taken.append((middle - half, middle + half))
                shade = colour_of(chapter)
                pen.text((middle, top), chapter.mark, shade, self.face, anchor="ma")
