"""Draws a frame of a film: arenas in their places, scores, words, a legend, a last line.

A replay of one archive has its panes side by side, one of several has a column for each archive,
after the fault above and after recovery below.
"""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from qed.swarm.faults import Fault
from qed.swarm.robot import CYCLE
from qed.view import look
from qed.view.arena import Arena
from qed.view.pane import PATROLS, Pane, Subject
from qed.view.replay import Replay, View

CURVE_POINTS = 160  # at most
ROOM = 5 * look.FINE  # between curve and frame, in the enlarged picture


class Stage:
    """What all frames share: fonts, the legend, a metre to compare with, and the last line.

    Parameters
    ----------
    subject : what is shown
    size : side of an arena (pixels)
    title, digits : size of the fonts of titles and scores, in parts of an arena
    """

    width: int  # pixels
    height: int

    def __init__(self, subject: Subject, size: int, title: float, digits: float) -> None:
        self.subject, self.size = subject, size
        self.text = look.font(max(12, round(0.034 * size)))
        self.strong = look.font(self.text.size, bold=True)
        self.title = look.font(max(13, round(title * size)), bold=True)
        self.digits = look.font(max(15, round(digits * size)), bold=True)
        self.line = round(1.35 * self.text.size)
        self.margin = max(10, size // 24)
        self.room = 0  # width of words from side to side

    def draw(self, seconds: float) -> Image.Image:
        """Return the frame at a time (s) since the start."""
        seconds = min(seconds, self.subject.seconds)
        frame = self.background.copy()
        # 0.2 s is not a binary fraction: 0.6 / 0.2 must not be cycle 2.
        self.draw_at(frame, seconds, round(seconds / CYCLE, 6))
        pen = ImageDraw.Draw(frame)
        for number, words in enumerate(self.last_lines(seconds)):
            at = self.margin, self.last_top + number * self.legend.row
            pen.text(at, words, look.INK, self.text)
        return frame

    def draw_at(self, frame: Image.Image, seconds: float, cycle: float) -> None:
        """Draw what changes into a frame, besides the last lines."""
        raise NotImplementedError

    def last_lines(self, seconds: float) -> list[str]:
        """Return the words at the bottom, as many lines at any time."""
        raise NotImplementedError

    def end(self, arena: Arena, top: int) -> None:
        """Place the legend and the last lines below a height (pixels)."""
        self.width += self.width % 2  # video is halved
        self.room = self.width - 2 * self.margin
        self.metre = round(arena.scale)
        self.legend = Legend(self.subject, self.text, self.room, self.margin, arena.badge_height)
        self.last_top = top + self.legend.height + self.margin // 2
        lines = len(self.last_lines(self.subject.seconds))
        self.height = self.last_top + lines * self.legend.row + self.margin // 2
        self.height += self.height % 2
        self.background = Image.new("RGB", (self.width, self.height), look.PAPER)
        self.legend.draw(self.background, self.margin, top)
        pen = ImageDraw.Draw(self.background)
        right = self.width - self.margin - 1
        left, middle = right - self.metre, self.last_top + round(0.6 * self.text.size)
        tick = max(3, self.size // 100)
        pen.line((left, middle, right, middle), look.INK, 2)
        for at in (left, right - 1):
            pen.line((at, middle - tick, at, middle + tick), look.INK, 2)
        at = left - self.margin // 2
        pen.text((at, middle), "1 m", look.SOFT_INK, self.text, anchor="rm")


@dataclass(frozen=True)
class Place:
    """A view, and where its arena is drawn (pixels from the top left)."""

    view: View
    before: Pane | None  # whose score is drawn in grey
    arena: Arena
    left: int
    top: int


class ReplayStage(Stage):
    """Draws a replay frame by frame.

    Parameters
    ----------
    replay : what to draw
    size : side of a pane (pixels)
    speed : times real time, as the last line says
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
        super().__init__(replay, size, title=0.044, digits=0.058)
        self.replay, self.speed = replay, speed
        edge = self.margin if replay.alone else self.margin + round(1.5 * self.title.size)
        across = len(replay.views) if replay.alone else len(replay.columns)
        self.width = edge + across * (size + self.margin)
        self.score_height = round(1.25 * self.digits.size) + 2 * self.line
        self.places = self._places(edge, trails=trails, sensors=sensors)
        lowest = max(place.top for place in self.places)
        caption_top = self.score_top(lowest) + self.score_height + self.line // 4
        captions = self._captions()
        self.legend_top = caption_top + max(map(len, captions)) * self.line + self.margin
        self.end(self.places[0].arena, self.legend_top)
        self._words(captions, caption_top)

    def score_top(self, pane_top: int) -> int:
        """Return the upper edge of the score below an arena (pixels)."""
        return pane_top + self.size + round(0.5 * self.text.size)

    def draw_at(self, frame: Image.Image, seconds: float, cycle: float) -> None:
        """Draw arenas and scores."""
        pen = ImageDraw.Draw(frame)
        for place in self.places:
            view, top = place.view, self.score_top(place.top)
            frame.paste(place.arena.draw(cycle), (place.left, place.top))
            score = f"{view.pane.score(cycle):.3f}"
            pen.text((place.left, top), score, look.SCORES[view.moment], self.digits)
            box = (self.size - self._words_width(), self.score_height)
            drawn = curve(view, place.before, cycle, box, self.replay.top_score)
            frame.paste(drawn, (place.left + self.size - drawn.width, top))

    def _places(self, edge: int, *, trails: bool, sensors: bool) -> list[Place]:
        step = self.size + self.margin
        first = self.margin + round(1.6 * self.title.size)
        below = self.score_top(0) + self.score_height + self.margin
        places = []
        for number, column in enumerate(self.replay.columns):
            for k, view in enumerate(column.views):
                arena = Arena(view.pane, self.size, trails=trails, sensors=sensors)
                across, down = (k, 0) if self.replay.alone else (number, k)
                before = column.before if view.compared else None
                places.append(
                    Place(view, before, arena, edge + across * step, first + down * below)
                )
        return places

    def _words_width(self) -> int:
        """Return the width of the words beside a curve (pixels)."""
        longest = [f"{self.replay.judged} 0.000", "resilience −100 %"]
        words = max(look.width(words, self.text) for words in longest)
        return min(words + self.margin, round(0.7 * self.size))

    def _captions(self) -> list[list[str]]:
        room = self.width - 2 * self.margin if self.replay.alone else self.size
        return [
            [line for words in column.caption for line in look.wrapped(words, self.text, room)]
            for column in self.replay.columns
        ]

    def last_lines(self, seconds: float) -> list[str]:
        """Return the words at the bottom, in lines that fit whatever the time is."""
        replay = self.replay
        named = f" · {replay.columns[0].name}" if replay.alone and replay.columns[0].name else ""
        lines = [f"{replay.task}{named} · {seconds:.0f} s of {replay.seconds:.0f} s"]
        others = [f"{self.speed:g}× real time"]
        if replay.judged:
            others += ["large numbers: this trial so far", "grey curves: before the fault"]
        # A little room to spare: numbers grow while time goes by, and nothing should jump.
        room = self.room - self.metre - 5 * self.text.size
        for more in others:
            longer = f"{lines[-1]} · {more}"
            if look.width(f"{longer}000", self.text) <= room:
                lines[-1] = longer
            else:
                lines.append(more)
        return lines

    def _words(self, captions: list[list[str]], caption_top: int) -> None:
        """Write what stays the same in all frames."""
        pen = ImageDraw.Draw(self.background)
        for place in self.places:
            under = self.score_top(place.top) + round(1.2 * self.digits.size)
            for k, words in enumerate(place.view.notes):
                shade = look.INK if k else look.SOFT_INK
                pen.text((place.left, under + k * self.line), words, shade, self.text)
        lefts = [self.margin]
        if self.replay.alone:
            for place in self.places:
                pen.text((place.left, self.margin), place.view.title, look.INK, self.title)
        else:
            self._headings()
            lefts = [place.left for place in self.places[:: len(self.replay.columns[0].views)]]
        for left, lines in zip(lefts, captions, strict=True):
            for number, words in enumerate(lines):
                pen.text((left, caption_top + number * self.line), words, look.INK, self.text)

    def _headings(self) -> None:
        """Name columns above and rows at the left."""
        image, pen = self.background, ImageDraw.Draw(self.background)
        rows = len(self.replay.columns[0].views)
        for column, place in zip(self.replay.columns, self.places[::rows], strict=True):
            before = column.aside
            room = self.size - look.width(before, self.text) - self.margin
            name = look.cut(column.name, self.title, room)
            base = self.margin + round(1.2 * self.title.size)
            pen.text((place.left, base), name, look.INK, self.title, anchor="ls")
            at = (place.left + self.size, base)
            pen.text(at, before, look.SOFT_INK, self.text, anchor="rs")
        for place in self.places[:rows]:
            label = Image.new("RGB", (self.size, round(1.4 * self.title.size)), look.PAPER)
            middle = (self.size / 2, 0)
            words = ImageDraw.Draw(label)
            words.text(middle, place.view.title, look.INK, self.title, anchor="ma")
            image.paste(label.transpose(Image.Transpose.ROTATE_90), (self.margin, place.top))


def curve(
    view: View, before: Pane | None, cycle: float, box: tuple[int, int], top: float
) -> Image.Image:
    """Return the running score of a swarm up to a cycle, with that before the fault in grey.

    Parameters
    ----------
    view, before : the swarm, and the same before the fault
    cycle : control cycles since the start
    box : width and height of the picture (pixels)
    top : the score at its upper edge
    """
    colour, cycles = look.SCORES[view.moment], view.pane.cycles
    image = Image.new("RGB", (look.FINE * box[0], look.FINE * box[1]), look.FLOOR)
    pen = ImageDraw.Draw(image)
    wide, high = (side - 2 * ROOM for side in image.size)
    for pane, shade in ((before, look.LINE), (view.pane, colour)):
        if pane is None or int(cycle) == 0:
            continue
        last = int(cycle) - 1
        rows = np.unique([*range(0, last + 1, max(1, cycles // CURVE_POINTS)), last])
        x = ROOM + wide * (rows + 1) / cycles
        y = image.height - ROOM - high * pane.trace.score[rows] / top
        points = list(zip(x.tolist(), y.tolist(), strict=True))
        pen.line(points, shade, 2 * look.FINE, joint="curve")
        if pane is view.pane:
            pen.circle(points[-1], 3 * look.FINE, fill=shade)
    for signs in view.pane.signs[1:]:  # when robots broke
        if signs.begin <= cycle:
            at = ROOM + wide * signs.begin / cycles
            pen.line((at, 0, at, image.height), look.LINE, look.FINE)
    right, bottom = image.width - 1, image.height - 1
    pen.rectangle((0, 0, right, bottom), outline=look.LINE, width=look.FINE)
    return image.reduce(look.FINE)


class Legend:
    """Explains the signs that occur in a film, in rows that fit a width.

    Parameters
    ----------
    subject : what is shown
    face : font of the words
    room : width of the rows (pixels)
    gap : free width between two signs (pixels)
    badge : height of a badge (pixels)
    """

    def __init__(self, subject: Subject, face: look.Face, room: int, gap: int, badge: int) -> None:
        self.task, self.face, self.gap, self.badge = subject.task, face, gap, badge
        self.row = round(1.75 * face.size)
        self.rows: list[list[tuple[str, str]]] = [[]]
        used = 0
        for entry in subject.legend:
            wide = self._width(entry)
            if used and used + wide > room:
                self.rows.append([])
                used = 0
            self.rows[-1].append(entry)
            used += wide + 2 * gap

    @property
    def height(self) -> int:
        """Height of all rows (pixels)."""
        return len(self.rows) * self.row

    def draw(self, image: Image.Image, left: int, top: int) -> None:
        """Draw the legend into a picture."""
        pen = ImageDraw.Draw(image)
        for number, row in enumerate(self.rows):
            at, line = left, top + number * self.row
            for sign, words in row:
                self._sign(image, sign, at, line + round(0.6 * self.face.size))
                after = at + self._sign_width(sign) + self.gap // 2
                pen.text((after, line), words, look.INK, self.face)
                at += self._width((sign, words)) + 2 * self.gap

    def _sign_width(self, sign: str) -> int:
        if isinstance(sign, Fault):
            return look.badge(sign, self.badge).width
        return round(1.4 * self.face.size)

    def _width(self, entry: tuple[str, str]) -> int:
        sign, words = entry
        return self._sign_width(sign) + self.gap // 2 + look.width(words, self.face)

    def _sign(self, image: Image.Image, sign: str, left: int, middle: int) -> None:
        """Draw a sign, centred on a height (pixels)."""
        pen = ImageDraw.Draw(image)
        half = round(0.6 * self.face.size)
        right = left + self._sign_width(sign)
        box = (left, middle - half, left + 2 * half, middle + half)
        if isinstance(sign, Fault):
            badge = look.badge(sign, self.badge)
            image.paste(badge, (left, middle - badge.height // 2), badge)
        elif sign == "robot":
            pen.rectangle(box, fill=look.HEALTHY_COLOUR, outline=look.INK)
        elif sign == "letter":
            pen.ellipse(box, fill=look.HEALTHY_COLOUR, outline=look.INK)
            face = look.font(round(0.8 * self.face.size), bold=True)
            pen.text((left + half, middle), "A", look.FLOOR, face, anchor="mm")
        elif self.task in PATROLS:
            box = (left, middle - half, right, middle + half)
            pen.rectangle(box, fill=look.FRESH, outline=look.LINE)
        elif self.task == "aggregation":
            centre = (left + right) / 2
            pen.circle((centre, middle), 0.6 * half, outline=look.MARK, width=2)
            pen.line((left, middle, right, middle), look.MARK, 2)
            pen.line((centre, middle - half, centre, middle + half), look.MARK, 2)
        else:
            pen.line((left, middle, right, middle), look.MARK, 2)
