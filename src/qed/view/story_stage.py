"""Draws a frame of a story: the arena, what goes on, the scores, and what the search believes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from qed.recovery.kit.play import AFTER, NORMAL, STRUCK, TRIAL
from qed.swarm.robot import CYCLE
from qed.view import look
from qed.view.arena import Arena
from qed.view.film import section_at
from qed.view.stage import Stage
from qed.view.story import Chapter, Story

FEWEST, MOST = 3, 6  # lines of the words beside the arena; a team's need more of them
STEPS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0)  # between ticks
EDGE = 6  # pixels that are free at the right
POINTS = 60  # of a period's curve, at most
HEADROOM = 1.08  # of the highest number
MOMENTS = {NORMAL: look.HEALTHY_COLOUR, STRUCK: look.NEAR, AFTER: look.MARK}
TRIED = "#5a6670"  # trials of the search
BEST, KEPT = look.MARK, look.NEAR  # what is believed of the best controller, and of the one before


Box = tuple[int, int, int, int]  # left, top, right, bottom (pixels)
Pen = ImageDraw.ImageDraw


def colour_of(chapter: Chapter) -> str:
    """Return the colour of a period's score."""
    return MOMENTS.get(chapter.period.moment, TRIED)


class StoryStage(Stage):
    """Draws a story frame by frame.

    Parameters
    ----------
    story : what to draw
    size : side of the arena (pixels)
    trails : draw where robots came from; in time-lapse it is drawn anyway
    sensors : draw what robots sense
    """

    def __init__(
        self, story: Story, size: int, *, trails: bool = False, sensors: bool = False
    ) -> None:
        super().__init__(story, size, title=0.052, digits=0.075)
        self.story, self.trails = story, trails
        self.width = 2 * size + 3 * self.margin
        self.arena = Arena(story.pane, size, trails=trails, sensors=sensors)
        self.top = self.margin + round(1.5 * self.title.size)
        self.right = 2 * self.margin + size
        self.words_top = self.top + round(1.25 * self.digits.size)
        lines = max(len(self.sentences(chapter)) for chapter in story.chapters)
        self.charts_top = self.words_top + max(lines, FEWEST) * self.line + self.line // 2
        self.charts = Charts(story, (size, self.top + size - self.charts_top), self.text)
        self.end(self.arena, self.top + size + self.margin)

    def draw_at(self, frame: Image.Image, seconds: float, cycle: float) -> None:
        """Draw the arena, what goes on, and the charts."""
        pen = ImageDraw.Draw(frame)
        chapter = self.story.chapter(seconds)
        section = section_at(self.story.sections, seconds)
        self.arena.trails = self.trails or section.lapse
        frame.paste(self.arena.draw(cycle), (self.margin, self.top))
        shade = colour_of(chapter)
        pen.text((self.margin, self.margin), chapter.title, shade, self.title)
        self._score(pen, chapter, seconds, shade)
        for k, words in enumerate(self.sentences(chapter)):
            pen.text((self.right, self.words_top + k * self.line), words, look.INK, self.text)
        frame.paste(self.charts.draw(seconds), (self.right, self.charts_top))
        speed = f"{section.speed:g}× real time{': time-lapse' if section.lapse else ''}"
        at = (self.width - self.margin, self.margin + round(1.05 * self.title.size))
        pen.text(at, speed, look.INK if section.lapse else look.SOFT_INK, self.strong, anchor="rs")

    def _score(self, pen: Pen, chapter: Chapter, seconds: float, shade: str) -> None:
        """Write the score so far of the present period."""
        score = f"{self.story.score(seconds):.3f}"
        base = self.top + self.digits.size
        pen.text((self.right, base), score, shade, self.digits, anchor="ls")
        left = self.right + look.width("0.000", self.digits) + self.margin // 2
        gone, length = seconds - chapter.begin, chapter.end - chapter.begin
        words = f"score in this period, {gone:.0f} s of {length:.0f} s"
        pen.text((left, base), words, look.SOFT_INK, self.text, anchor="ls")

    def sentences(self, chapter: Chapter) -> list[str]:
        """Return what is said of the present period, in lines that fit."""
        words = list(chapter.words)
        if chapter is self.story.chapters[-1]:
            words.append(self.story.ending)
        lines = [line for one in words for line in look.wrapped(one, self.text, self.size)]
        return lines[:MOST]

    def last_lines(self, seconds: float) -> list[str]:
        """Return the clock."""
        now, end = clock(seconds), clock(self.story.seconds)
        return [f"{self.story.task} · {now} of {end} · one world, no reset"]


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

    def __init__(self, story: Story, size: tuple[int, int], face: look.Face) -> None:
        self.story, self.face, self.size = story, face, size
        line = round(1.3 * face.size)
        left = look.width("0.00 ", face)
        wide, high = size
        # Each chart has a heading above it; the names of the periods stand between the charts.
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
        fine = look.FINE
        image = self.background.resize((fine * self.size[0], fine * self.size[1]))
        pen = ImageDraw.Draw(image, "RGBA")
        for chapter in self.story.chapters:
            if chapter.begin < seconds:
                self._score(pen, chapter, seconds)
            if chapter.period.moment != NORMAL and chapter.end <= seconds:
                self._belief(pen, chapter, seconds)
        now = fine * self.scores.x(seconds)
        for axes in (self.scores, self.beliefs):
            _, top, _, bottom = axes.box
            pen.line((now, fine * top, now, fine * bottom), look.INK + "6e", fine)
        return image.reduce(fine)

    def _score(self, pen: Pen, chapter: Chapter, seconds: float) -> None:
        """Draw the score of a period so far, and a dot where it has ended."""
        fine, axes = look.FINE, self.scores
        first, last = round(chapter.begin / CYCLE), round(min(chapter.end, seconds) / CYCLE - 1e-6)
        if last <= first:
            return
        step = max(1, round((chapter.end - chapter.begin) / CYCLE) // POINTS)
        rows = np.unique([*range(first, last, step), last - 1])
        values = self.story.pane.trace.score[rows]
        points = [
            (fine * axes.x((row + 1) * CYCLE), fine * axes.y(value))
            for row, value in zip(rows.tolist(), values.tolist(), strict=True)
        ]
        shade = colour_of(chapter)
        if len(points) > 1:
            pen.line(points, shade, 2 * fine, joint="curve")
        if chapter.end <= seconds + 1e-9:
            pen.circle(points[-1], 4 * fine, fill=shade)

    def _belief(self, pen: Pen, chapter: Chapter, seconds: float) -> None:
        """Draw what is believed from a period's end to that of the next."""
        axes, later = self.beliefs, [one for one in self.story.chapters if one.begin >= chapter.end]
        end = min(seconds, later[0].end if later else self.story.seconds)
        part = chapter.period
        if part.moment == AFTER or end <= chapter.end:
            return
        # One band if the best is the controller that was there before.
        bands = [(KEPT, part.kept)]
        if part.believed != part.kept:
            bands.append((BEST, part.believed))
        for name, belief in bands:
            left, right = (look.FINE * axes.x(at) for at in (chapter.end, end))
            low, mean, high = (
                look.FINE * axes.y(value) for value in (belief.low, belief.mean, belief.high)
            )
            pen.rectangle((left, high, right, low), name + "3c")
            pen.line((left, mean, right, mean), name, round(2.5 * look.FINE))

    def _background(self) -> Image.Image:
        """Draw what stays: frames, numbers, names of periods, headings."""
        image = Image.new("RGB", self.size, look.PAPER)
        pen = ImageDraw.Draw(image)
        for axes in (self.scores, self.beliefs):
            pen.rectangle(axes.box, look.FLOOR)
            self._grid(pen, axes)
            pen.rectangle(axes.box, outline=look.LINE)
        self._heading(pen, self.scores, "score of each period so far")
        keys = (("best", BEST), ("if kept", KEPT))
        self._heading(pen, self.beliefs, "believed fitness (90 %):", keys)
        self._names(pen)
        return image

    def _heading(
        self, pen: Pen, axes: Axes, title: str, keys: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Write above a chart what it shows, and what the colours of its lines mean."""
        left, top, size = float(axes.box[0]), axes.box[1], self.face.size
        base, bold = top - round(0.3 * size), look.font(size, bold=True)
        pen.text((left, base), title, look.INK, self.face, anchor="ls")
        left += look.width(title, self.face) + size
        for text, shade in keys:
            height = top - round(0.75 * size)
            pen.line((left, height, left + size, height), shade, 4)
            left += round(1.3 * size)
            pen.text((left, base), text, shade, bold, anchor="ls")
            left += look.width(text, bold) + size

    def _grid(self, pen: Pen, axes: Axes) -> None:
        """Draw lines at round numbers and at the ends of periods."""
        for tick in axes.ticks():
            height = axes.y(tick)
            pen.line((axes.box[0], height, axes.box[2], height), "#e3e6e8")
            inside = min(max(height, axes.box[1] + self.face.size / 2), axes.box[3] - 2)
            anchor = "rs" if inside > axes.box[3] - self.face.size / 2 else "rm"
            pen.text(
                (axes.box[0] - 5, inside), f"{tick:g}", look.SOFT_INK, self.face, anchor=anchor
            )
        for chapter in self.story.chapters[1:]:
            at, struck = axes.x(chapter.begin), chapter.period.moment == STRUCK
            ends = (at, axes.box[1], at, axes.box[3])
            pen.line(ends, look.NEAR if struck else "#c9cfd4", 2 if struck else 1)

    def _names(self, pen: Pen) -> None:
        """Write below the upper chart which period is which, as far as there is room."""
        top = self.scores.box[3] + round(0.25 * self.face.size)
        taken: list[tuple[float, float]] = []
        # What matters most first: the fault, and what came after the search.
        order = {STRUCK: 0, AFTER: 1, TRIAL: 2, NORMAL: 3}
        for chapter in sorted(self.story.chapters, key=lambda one: order[one.period.moment]):
            middle = self.scores.x((chapter.begin + chapter.end) / 2)
            half = look.width(chapter.mark, self.face) / 2
            middle = min(max(middle, self.scores.box[0] + half), self.size[0] - 1 - half)
            if all(middle + half + 3 < begin or end + 3 < middle - half for begin, end in taken):
                taken.append((middle - half, middle + half))
                shade = colour_of(chapter)
                pen.text((middle, top), chapter.mark, shade, self.face, anchor="ma")


def clock(seconds: float) -> str:
    """Return a time in minutes and seconds.

    >>> clock(75.2), clock(3600)
    ('1:15', '60:00')
    """
    now = int(seconds + 1e-6)
    return f"{now // 60}:{now % 60:02d}"
