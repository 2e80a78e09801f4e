"""Draws a frame of a story: the arena, what goes on, the scores, and what the search believes."""

from __future__ import annotations

from PIL import Image, ImageDraw

from qed.swarm.robot import CYCLE
from qed.view import ink
from qed.view.arena import Arena
from qed.view.chapters import Chapter
from qed.view.legend import Legend
from qed.view.look import INK, PAPER, SOFT_INK
from qed.view.stage import even, scale_bar
from qed.view.story import Story
from qed.view.story_charts import Charts, colour_of

FEWEST, MOST = 3, 6  # lines of the words beside the arena; a team's need more of them


class StoryStage:
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
        self.story, self.size, self.trails = story, size, trails
        self.text = ink.font(max(11, round(0.034 * size)))
        self.strong = ink.font(self.text.size, bold=True)
        self.title = ink.font(max(14, round(0.052 * size)), bold=True)
        self.digits = ink.font(max(17, round(0.075 * size)), bold=True)
        self.line = round(1.35 * self.text.size)
        self.margin = max(10, size // 24)
        self.width = even(2 * size + 3 * self.margin)
        self.healthy, self.broken = (
            Arena(pane, size, trails=trails, sensors=sensors)
            for pane in (story.healthy, story.broken)
        )
        self.top = self.margin + round(1.5 * self.title.size)
        self.right = 2 * self.margin + size
        self.words_top = self.top + round(1.25 * self.digits.size)
        lines = max(len(self._sentences(chapter)) for chapter in story.chapters)
        charts_top = self.words_top + max(lines, FEWEST) * self.line + self.line // 2
        self.charts_top = charts_top
        self.charts = Charts(story, (size, self.top + size - charts_top), self.text)
        room = self.width - 2 * self.margin
        self.legend = Legend(story, self.text, room, self.margin, self.broken.badge_height)
        self.legend_top = self.top + size + self.margin
        self.last_top = self.legend_top + self.legend.height + self.margin // 3
        self.height = even(self.last_top + self.legend.row + self.margin // 2)
        self.background = self._background()

    def draw(self, seconds: float) -> Image.Image:
        """Return the frame at a time (s) since the start."""
        story = self.story
        seconds = min(seconds, story.seconds)
        cycle = round(seconds / CYCLE, 6)
        frame = self.background.copy()
        pen = ImageDraw.Draw(frame)
        chapter, gait = story.chapter(seconds), story.pace.gait(seconds)
        arena = self.healthy if seconds < story.struck - 1e-9 else self.broken
        arena.trails, arena.pane.letters = self.trails or gait.lapse, chapter.letters
        frame.paste(arena.draw(cycle), (self.margin, self.top))
        shade = colour_of(chapter)
        pen.text((self.margin, self.margin), chapter.title, shade, self.title)
        self._score(pen, chapter, seconds, shade)
        for k, words in enumerate(self._sentences(chapter)):
            pen.text((self.right, self.words_top + k * self.line), words, INK, self.text)
        frame.paste(self.charts.draw(seconds), (self.right, self.charts_top))
        pen.text((self.margin, self.last_top), self._clock(seconds), INK, self.text)
        speed = f"{gait.speed:g}× real time{': time-lapse' if gait.lapse else ''}"
        at = (self.width - self.margin, self.margin + round(1.05 * self.title.size))
        pen.text(at, speed, INK if gait.lapse else SOFT_INK, self.strong, anchor="rs")
        return frame

    def _score(
        self, pen: ImageDraw.ImageDraw, chapter: Chapter, seconds: float, shade: str
    ) -> None:
        """Write the score so far of the present stretch."""
        score = f"{self.story.score(seconds):.3f}"
        base = self.top + self.digits.size
        pen.text((self.right, base), score, shade, self.digits, anchor="ls")
        left = self.right + ink.width("0.000", self.digits) + self.margin // 2
        gone, whole = seconds - chapter.begin, chapter.end - chapter.begin
        words = f"score in this stretch, {gone:.0f} s of {whole:.0f} s"
        pen.text((left, base), words, SOFT_INK, self.text, anchor="ls")

    def _sentences(self, chapter: Chapter) -> list[str]:
        """Return what is said of the present stretch, in lines that fit."""
        words = list(chapter.words)
        if chapter is self.story.chapters[-1]:
            words.append(self.story.ending)
        lines = [line for one in words for line in ink.wrapped(one, self.text, self.size)]
        return lines[:MOST]

    def _clock(self, seconds: float) -> str:
        story = self.story
        return f"{story.task} · {clock(seconds)} of {clock(story.seconds)} · one world, no reset"

    def _background(self) -> Image.Image:
        """Draw what stays the same in all frames."""
        image = Image.new("RGB", (self.width, self.height), PAPER)
        self.legend.draw(image, self.margin, self.legend_top)
        middle = self.last_top + round(0.6 * self.text.size)
        right = self.width - self.margin - 1
        scale_bar(ImageDraw.Draw(image), right, middle, self.healthy, self.text)
        return image


def clock(seconds: float) -> str:
    """Return a time in minutes and seconds.

    >>> clock(75.2), clock(3600)
    ('1:15', '60:00')
    """
    whole = int(seconds + 1e-6)
    return f"{whole // 60}:{whole % 60:02d}"
