"""Draws a frame of a film: arenas in their places, scores, what is told, a legend, a last line.

One archive: before the fault, after it and after recovery, side by side.  Several: a column
each, after the fault above and after recovery below.
"""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image, ImageDraw

from qed.swarm.robot import CYCLE
from qed.view import ink
from qed.view.arena import Arena
from qed.view.legend import Legend
from qed.view.look import INK, PAPER, SCORES, SOFT_INK, TITLES
from qed.view.pane import Pane
from qed.view.replay import Replay, View
from qed.view.scores import curve


@dataclass(frozen=True)
class Place:
    """A view, and where its arena is drawn (pixels from the top left)."""

    view: View
    before: Pane  # the same swarm before the fault
    arena: Arena
    left: int
    top: int


class Stage:
    """Draws a replay frame by frame.

    Parameters
    ----------
    replay : what to draw
    size : side of a pane (pixels)
    speed : times real time, as the last line tells it
    trails, sensors : draw them too
    """

    def __init__(
        self,
        replay: Replay,
        size: int,
        *,
        speed: float = 1.0,
        trails: bool = False,
        sensors: bool = False,
    ) -> None:
        self.replay, self.size, self.speed = replay, size, speed
        self.text = ink.font(max(12, round(0.034 * size)))
        self.strong = ink.font(self.text.size, bold=True)
        self.title = ink.font(max(13, round(0.044 * size)), bold=True)
        self.digits = ink.font(max(15, round(0.058 * size)), bold=True)
        self.line = round(1.35 * self.text.size)
        self.margin = max(10, size // 24)
        self.edge = self.margin if replay.alone else self.margin + round(1.5 * self.title.size)
        across = 3 if replay.alone else len(replay.columns)
        self.width = width(across, size, self.edge, self.margin)
        self.score_height = round(1.25 * self.digits.size) + 2 * self.line
        self.captions = self._captions()
        self.places = self._places(trails=trails, sensors=sensors)
        lowest = max(place.top for place in self.places)
        self.caption_top = self.score_top(lowest) + self.score_height + self.line // 4
        lines = max(map(len, self.captions))
        arena = self.places[0].arena
        self.metre = round(arena.scale)
        self.legend = Legend(
            replay, self.text, self.width - 2 * self.margin, self.margin, arena.badge_height
        )
        self.legend_top = self.caption_top + lines * self.line + self.margin
        self.last_top = self.legend_top + self.legend.height + self.margin // 2
        self.last = self._last_lines(replay.seconds)
        self.height = _even(self.last_top + len(self.last) * self.legend.row + self.margin // 2)
        self.background = self._background()

    def score_top(self, pane_top: int) -> int:
        """Return the upper edge of the score below an arena (pixels)."""
        return pane_top + self.size + round(0.5 * self.text.size)

    def draw(self, seconds: float) -> Image.Image:
        """Return the frame at a time (s) since the start."""
        cycle = min(seconds / CYCLE, self.replay.seconds / CYCLE)
        # 0.2 s is not a binary fraction: 0.6 / 0.2 must not be cycle 2.
        cycle = round(cycle, 6)
        frame = self.background.copy()
        pen = ImageDraw.Draw(frame)
        for place in self.places:
            view, top = place.view, self.score_top(place.top)
            frame.paste(place.arena.draw(cycle), (place.left, place.top))
            score = f"{view.pane.score(cycle):.3f}"
            pen.text((place.left, top), score, SCORES[view.moment], self.digits)
            box = (self.size - self._words_width(), self.score_height)
            drawn = curve(view.pane, place.before, view.moment, cycle, box, self.replay.top_score)
            frame.paste(drawn, (place.left + self.size - drawn.width, top))
        for number, words in enumerate(self._last_lines(min(seconds, self.replay.seconds))):
            pen.text((self.margin, self.last_top + number * self.legend.row), words, INK, self.text)
        return frame

    def _places(self, *, trails: bool, sensors: bool) -> list[Place]:
        """Return the places of all views, archive by archive."""
        step = self.size + self.margin
        first = self.margin + round(1.6 * self.title.size)
        places = []
        for number, column in enumerate(self.replay.columns):
            for k, view in enumerate(self.replay.shown(column)):
                arena = Arena(view.pane, self.size, trails=trails, sensors=sensors)
                if self.replay.alone:
                    left, top = self.edge + k * step, first
                else:
                    below = self.score_top(0) + self.score_height + self.margin
                    left, top = self.edge + number * step, first + k * below
                places.append(Place(view, column.panes[0], arena, left, top))
        return places

    def _words_width(self) -> int:
        """Return the width of the words beside a curve (pixels)."""
        longest = [f"{self.replay.judged} 0.000", "resilience −100 %"]
        words = max(ink.width(words, self.text) for words in longest)
        return min(words + self.margin, round(0.7 * self.size))

    def _captions(self) -> list[list[str]]:
        """Return what is told of each recovery, in lines that fit."""
        room = self.width - 2 * self.margin if self.replay.alone else self.size
        return [
            [line for words in column.caption for line in ink.wrapped(words, self.text, room)]
            for column in self.replay.columns
        ]

    def _last_lines(self, seconds: float) -> list[str]:
        """Return the words at the bottom, in lines that fit whatever the time is."""
        replay = self.replay
        named = f" · {replay.columns[0].name}" if replay.alone and replay.columns[0].name else ""
        words = [
            f"{replay.task}{named} · {seconds:.0f} s of {replay.seconds:.0f} s",
            f"{self.speed:g}× real time",
            "large numbers: this trial so far",
            "grey curves: before the fault",
        ]
        # A little room to spare: numbers grow while time goes by, and nothing should jump.
        room = self.width - 2 * self.margin - self.metre - 5 * self.text.size
        lines = words[:1]
        for more in words[1:]:
            longer = f"{lines[-1]} · {more}"
            if ink.width(f"{longer}000", self.text) <= room:
                lines[-1] = longer
            else:
                lines.append(more)
        return lines

    def _background(self) -> Image.Image:
        """Draw what stays the same in all frames."""
        image = Image.new("RGB", (self.width, self.height), PAPER)
        pen = ImageDraw.Draw(image)
        for place in self.places:
            left, top = place.left, self.score_top(place.top)
            mean = f"{self.replay.judged} {place.view.pane.mean:.3f}"
            under = top + round(1.2 * self.digits.size)
            pen.text((left, under), mean, SOFT_INK, self.text)
            pen.text((left, under + self.line), place.view.note, INK, self.text)
        if self.replay.alone:
            for place in self.places:
                pen.text((place.left, self.margin), place.view.title, INK, self.title)
            lefts = [self.margin]
        else:
            lefts = self._headings(image)
        for left, lines in zip(lefts, self.captions, strict=True):
            for number, words in enumerate(lines):
                pen.text((left, self.caption_top + number * self.line), words, INK, self.text)
        self.legend.draw(image, self.margin, self.legend_top)
        self._scale_bar(pen)
        return image

    def _scale_bar(self, pen: ImageDraw.ImageDraw) -> None:
        """Draw a metre at the right end of the last line."""
        right = self.width - self.margin - 1
        left = right - self.metre
        middle = self.last_top + round(0.6 * self.text.size)
        tick = max(3, self.size // 100)
        pen.line((left, middle, right, middle), INK, 2)
        for end in (left, right - 1):
            pen.line((end, middle - tick, end, middle + tick), INK, 2)
        pen.text((left - self.margin // 2, middle), "1 m", SOFT_INK, self.text, anchor="rm")

    def _headings(self, image: Image.Image) -> list[int]:
        """Name columns above and rows at the left; return the columns' left edges."""
        pen = ImageDraw.Draw(image)
        upper = [place for place in self.places if place.view.moment == 1]
        for column, place in zip(self.replay.columns, upper, strict=True):
            before = f"{TITLES[0]} {place.before.mean:.3f}"
            room = self.size - ink.width(before, self.text) - self.margin
            name = ink.cut(column.name, self.title, room)
            base = self.margin + round(1.2 * self.title.size)
            pen.text((place.left, base), name, INK, self.title, anchor="ls")
            at = (place.left + self.size, base)
            pen.text(at, before, SOFT_INK, self.text, anchor="rs")
        for place in self.places[:2]:
            words = TITLES[place.view.moment]
            label = Image.new("RGB", (self.size, round(1.4 * self.title.size)), PAPER)
            ImageDraw.Draw(label).text((self.size / 2, 0), words, INK, self.title, anchor="ma")
            image.paste(label.transpose(Image.Transpose.ROTATE_90), (self.margin, place.top))
        return [place.left for place in upper]


def width(across: int, size: int, edge: int, margin: int) -> int:
    """Return the width of a frame with so many panes side by side (pixels)."""
    return _even(edge + across * size + across * margin)


def _even(pixels: int) -> int:
    """Return a number of pixels that video can halve."""
    return pixels + pixels % 2
