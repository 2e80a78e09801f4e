"""Draws a frame of a film: three arenas side by side, their scores, a legend and a last line."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from qed.swarm.robot import CYCLE
from qed.view import ink
from qed.view.arena import Arena
from qed.view.look import (
    FLOOR,
    FRESH,
    INK,
    LINE,
    MARK,
    MARKS,
    PAPER,
    SCORES,
    SIGNS,
    SOFT_INK,
    SOUND,
    TITLES,
    percent,
)
from qed.view.replay import PATROLS, Pane, Replay

CURVE_POINTS = 160  # of a running score, at most


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
        self.arenas = [Arena(pane, size, trails=trails, sensors=sensors) for pane in replay.panes]
        self.text = ink.font(max(12, round(0.034 * size)))
        self.title = ink.font(max(13, round(0.044 * size)), bold=True)
        self.digits = ink.font(max(15, round(0.058 * size)), bold=True)
        self.row = round(1.75 * self.text.size)
        self.margin = max(10, size // 24)
        self.width = _even(3 * size + 4 * self.margin)
        self.pane_top = self.margin + round(1.6 * self.title.size)
        self.score_top = self.pane_top + size + round(0.5 * self.text.size)
        self.score_height = round(1.15 * self.digits.size + 1.4 * self.text.size)
        self.legend_top = self.score_top + self.score_height + self.margin
        self.legend = self._legend_rows()
        self.last_top = self.legend_top + len(self.legend) * self.row + self.margin // 2
        self.last_rows = 1 if self._last_fits() else 2
        self.height = _even(self.last_top + self.last_rows * self.row + self.margin // 2)
        self.background = self._background()

    def left(self, pane: int) -> int:
        """Return the left edge of a pane (pixels)."""
        return self.margin + pane * (self.size + self.margin)

    def draw(self, seconds: float) -> Image.Image:
        """Return the frame at a time (s) since the start."""
        cycle = min(seconds / CYCLE, float(self.replay.panes[0].cycles))
        # 0.2 s is not a binary fraction: 0.6 / 0.2 must not be cycle 2.
        cycle = round(cycle, 6)
        frame = self.background.copy()
        pen = ImageDraw.Draw(frame)
        for number, (arena, pane) in enumerate(zip(self.arenas, self.replay.panes, strict=True)):
            left = self.left(number)
            frame.paste(arena.draw(cycle), (left, self.pane_top))
            score = f"{pane.score(cycle):.3f}"
            pen.text((left, self.score_top), score, SCORES[number], self.digits)
            curve = self._curve(number, cycle)
            frame.paste(curve, (left + self.size - curve.width, self.score_top))
        pen.text((self.margin, self.last_top), self._when(seconds), INK, self.text)
        return frame

    def _when(self, seconds: float) -> str:
        replay = self.replay
        shown = min(seconds, replay.seconds)
        made_by = f" · {replay.algorithm.upper()}" if replay.algorithm else ""
        return (
            f"{replay.task}{made_by} · {shown:.0f} s of {replay.seconds:.0f} s · "
            f"{self.speed:g}× real time"
        )

    def _outcome(self) -> str:
        impact, resilience = percent(self.replay.impact), percent(self.replay.resilience)
        return f"impact {impact} · resilience {resilience} (all trials)"

    def _last_fits(self) -> bool:
        words = self._when(self.replay.seconds) + self._outcome()
        return ink.width(words, self.text) + 4 * self.margin <= self.width

    def _legend_rows(self) -> list[list[tuple[str, str]]]:
        """Return what the legend explains, as (sign, words), in rows that fit."""
        faults = [name for name in SIGNS if name in self.replay.faults.names and name != "NONE"]
        entries = [("robot", "sound robot"), *((name, SIGNS[name].words) for name in faults)]
        entries.append(("task", MARKS[self.replay.task]))
        rows: list[list[tuple[str, str]]] = [[]]
        used = 0
        for entry in entries:
            wide = self._entry_width(entry)
            if used and used + wide > self.width - 2 * self.margin:
                rows.append([])
                used = 0
            rows[-1].append(entry)
            used += wide + 2 * self.margin
        return rows

    def _sign_width(self, sign: str) -> int:
        if sign in SIGNS:
            return ink.badge(sign, self.arenas[0].badge_height).width
        return round(1.4 * self.text.size)

    def _entry_width(self, entry: tuple[str, str]) -> int:
        sign, words = entry
        return self._sign_width(sign) + self.margin // 2 + ink.width(words, self.text)

    def _background(self) -> Image.Image:
        """Draw what stays the same in all frames."""
        image = Image.new("RGB", (self.width, self.height), PAPER)
        pen = ImageDraw.Draw(image)
        small_top = self.score_top + round(1.15 * self.digits.size)
        for number, (title, pane) in enumerate(zip(TITLES, self.replay.panes, strict=True)):
            left = self.left(number)
            pen.text((left, self.margin), title, INK, self.title)
            pen.text((left, small_top), f"all trials {pane.mean:.3f}", SOFT_INK, self.text)
        self._scale_bar(pen)
        for number, row in enumerate(self.legend):
            left = self.margin
            top = self.legend_top + number * self.row
            for entry in row:
                self._sign(image, entry[0], left, top + round(0.6 * self.text.size))
                words_left = left + self._sign_width(entry[0]) + self.margin // 2
                pen.text((words_left, top), entry[1], INK, self.text)
                left += self._entry_width(entry) + 2 * self.margin
        right_top = self.last_top + (self.last_rows - 1) * self.row
        outcome = self._outcome()
        at = self.width - self.margin if self.last_rows == 1 else self.margin
        pen.text(
            (at, right_top), outcome, INK, self.text, anchor="ra" if at > self.margin else "la"
        )
        return image

    def _scale_bar(self, pen: ImageDraw.ImageDraw) -> None:
        """Draw a metre above the right end of the first pane."""
        right = self.left(0) + self.size - 1
        left = right - round(self.arenas[0].scale)
        middle = self.margin + round(0.6 * self.title.size)
        tick = max(3, self.size // 100)
        pen.line((left, middle, right, middle), INK, 2)
        for end in (left, right - 1):
            pen.line((end, middle - tick, end, middle + tick), INK, 2)
        at = (left - self.margin // 2, middle)
        pen.text(at, "1 m", SOFT_INK, self.text, anchor="rm")

    def _sign(self, image: Image.Image, sign: str, left: int, middle: int) -> None:
        """Draw a sign of the legend, centred on a height (pixels)."""
        pen = ImageDraw.Draw(image)
        half = round(0.6 * self.text.size)
        right = left + self._sign_width(sign)
        if sign in SIGNS:
            badge = ink.badge(sign, self.arenas[0].badge_height)
            image.paste(badge, (left, middle - badge.height // 2), badge)
        elif sign == "robot":
            box = (left, middle - half, left + 2 * half, middle + half)
            pen.rectangle(box, fill=SOUND, outline=INK)
        elif self.replay.task in PATROLS:
            pen.rectangle((left, middle - half, right, middle + half), fill=FRESH, outline=LINE)
        elif self.replay.task == "aggregation":
            centre = (left + right) / 2
            pen.circle((centre, middle), 0.6 * half, outline=MARK, width=2)
            pen.line((left, middle, right, middle), MARK, 2)
            pen.line((centre, middle - half, centre, middle + half), MARK, 2)
        else:
            pen.line((left, middle, right, middle), MARK, 2)

    def _curve(self, number: int, cycle: float) -> Image.Image:
        """Draw a running score, with that before the fault in grey for comparison."""
        across, high = round(0.58 * self.size), self.score_height
        image = Image.new("RGB", (ink.FINE * across, ink.FINE * high), FLOOR)
        pen = ImageDraw.Draw(image)
        panes = self.replay.panes
        if number > 0:
            self._score_line(pen, panes[0], cycle, image.size, LINE)
        last = self._score_line(pen, panes[number], cycle, image.size, SCORES[number])
        if last is not None:
            pen.circle(last, 3 * ink.FINE, fill=SCORES[number])
        right, bottom = image.width - 1, image.height - 1
        pen.rectangle((0, 0, right, bottom), outline=LINE, width=ink.FINE)
        return image.reduce(ink.FINE)

    def _score_line(
        self,
        pen: ImageDraw.ImageDraw,
        pane: Pane,
        cycle: float,
        box: tuple[int, int],
        name: str,
    ) -> tuple[float, float] | None:
        """Draw a score up to now; return its end."""
        now = int(cycle)
        if now == 0:
            return None
        room = 5 * ink.FINE
        step = max(1, pane.cycles // CURVE_POINTS)
        rows = np.unique([*range(0, now, step), now - 1])
        x = room + (box[0] - 2 * room) * (rows + 1) / pane.cycles
        y = box[1] - room - (box[1] - 2 * room) * pane.trace.score[rows] / self.replay.top_score
        points = list(zip(x.tolist(), y.tolist(), strict=True))
        pen.line(points, name, 2 * ink.FINE, joint="curve")
        return points[-1]


def _even(pixels: int) -> int:
    """Return a number of pixels that video can halve."""
    return pixels + pixels % 2
