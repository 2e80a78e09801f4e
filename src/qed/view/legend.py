"""The legend of a film: what colours, badges and marks mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont

from qed.swarm.faults import Fault
from qed.view import ink
from qed.view.look import FLOOR, FRESH, HEALTHY_COLOUR, INK, LINE, MARK, MARKS, SIGNS, TEAM, sign_of
from qed.view.pane import PATROLS

if TYPE_CHECKING:
    from qed.view.replay import Replay
    from qed.view.story import Story

Face = ImageFont.FreeTypeFont


class Legend:
    """Explains the signs that occur in a replay, in rows that fit a width.

    Parameters
    ----------
    replay : what is shown
    face : font of the words
    room : width of the rows (pixels)
    gap : free width between two signs (pixels)
    badge : height of a badge (pixels)
    """

    def __init__(self, replay: Replay | Story, face: Face, room: int, gap: int, badge: int) -> None:
        self.task, self.face, self.gap, self.badge = replay.task, face, gap, badge
        self.row = round(1.75 * face.size)
        shown = {fault for fault in replay.faults.each if fault != "NONE"}
        order = [*SIGNS, *replay.faults.names]
        faults = sorted(shown, key=lambda fault: order.index(fault.name))
        entries = [("robot", "healthy robot")] if replay.some_healthy else []
        entries += [(fault, sign_of(fault).words) for fault in faults]
        if replay.some_team:
            entries.append(("letter", TEAM))
        if replay.task in MARKS:
            entries.append(("task", MARKS[replay.task]))
        self.rows: list[list[tuple[str, str]]] = [[]]
        used = 0
        for entry in entries:
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
            at = left
            line = top + number * self.row
            for sign, words in row:
                self._sign(image, sign, at, line + round(0.6 * self.face.size))
                pen.text((at + self._sign_width(sign) + self.gap // 2, line), words, INK, self.face)
                at += self._width((sign, words)) + 2 * self.gap

    def _sign_width(self, sign: str) -> int:
        if isinstance(sign, Fault):
            return ink.badge(sign, self.badge).width
        return round(1.4 * self.face.size)

    def _width(self, entry: tuple[str, str]) -> int:
        sign, words = entry
        return self._sign_width(sign) + self.gap // 2 + ink.width(words, self.face)

    def _sign(self, image: Image.Image, sign: str, left: int, middle: int) -> None:
        """Draw a sign, centred on a height (pixels)."""
        pen = ImageDraw.Draw(image)
        half = round(0.6 * self.face.size)
        right = left + self._sign_width(sign)
        if isinstance(sign, Fault):
            badge = ink.badge(sign, self.badge)
            image.paste(badge, (left, middle - badge.height // 2), badge)
        elif sign == "robot":
            box = (left, middle - half, left + 2 * half, middle + half)
            pen.rectangle(box, fill=HEALTHY_COLOUR, outline=INK)
        elif sign == "letter":
            box = (left, middle - half, left + 2 * half, middle + half)
            pen.ellipse(box, fill=HEALTHY_COLOUR, outline=INK)
            face = ink.font(round(0.8 * self.face.size), bold=True)
            pen.text((left + half, middle), "A", FLOOR, face, anchor="mm")
        elif self.task in PATROLS:
            pen.rectangle((left, middle - half, right, middle + half), fill=FRESH, outline=LINE)
        elif self.task == "aggregation":
            centre = (left + right) / 2
            pen.circle((centre, middle), 0.6 * half, outline=MARK, width=2)
            pen.line((left, middle, right, middle), MARK, 2)
            pen.line((centre, middle - half, centre, middle + half), MARK, 2)
        else:
            pen.line((left, middle, right, middle), MARK, 2)
