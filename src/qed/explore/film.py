"""What is seen, as a film (mp4, gif) or as a page that plays in any browser (html)."""

from __future__ import annotations

import base64
import html
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from qed.explore import looks
from qed.explore.jobs import Stream
from qed.explore.state import Scene
from qed.explore.swarms import Lived, lived, message
from qed.swarm.faults import Faults
from qed.swarm.robot import CYCLE
from qed.swarm.trace import Trace, parts_of
from qed.view import ink
from qed.view.arena import Arena
from qed.view.film import Film
from qed.view.legend import Legend
from qed.view.look import INK, LINE, PAPER, SCORES, SOFT_INK
from qed.view.pane import Pane
from qed.view.scores import ROOM, curve
from qed.view.words import in_words

KINDS = {"mp4": "video/mp4", "gif": "image/gif", "html": "text/html; charset=utf-8"}
SIZE = {"mp4": 560, "gif": 360}  # pixels of an arena
MARGIN = 16  # pixels
CURVE = 84  # pixels that a curve is high
SPAN = 20.0  # s that the score looks back, as in the page


def made(
    scenes: Sequence[Scene], kind: str, stream: Stream, *, trails: bool, sensors: bool
) -> bytes:
    """Return a film of a swarm, or of two side by side, as the content of a file."""
    seen = []
    for scene in scenes:
        with stream.turn():
            seen.append(lived(scene))
    if kind == "html":
        return page(seen).encode()
    film = Film.planned(f".{kind}", scenes[0].seconds, size=SIZE[kind])
    screen = Screen(seen, film, trails=trails, sensors=sensors)

    def progress(done: int, total: int) -> None:
        stream.tell({"kind": "tried", "cells": [], "fitness": [], "done": done, "total": total})

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"film.{kind}"
        film.shoot(screen, film.times(screen.seconds), path, progress)
        return path.read_bytes()


def titles(seen: Sequence[Lived]) -> list[str]:
    """Return what swarms are called: one by its cell, two by what they show."""
    cells = [
        f"cell {one.scene.cells[0]}" if len(one.scene.cells) == 1 else "a team" for one in seen
    ]
    if len(seen) == 1:
        return [f"{seen[0].scene.shown.name}: {cells[0]}"]
    return [f"broken: {cells[0]}", f"recovered: {cells[1]}"]


def lately(one: Lived) -> np.ndarray:
    """Return the score of the last stretch of time alone, where scores are means over cycles."""
    score = one.stretch.score
    if one.scene.task.score is not None:
        return score
    span = round(SPAN / CYCLE)
    total = np.concatenate([[0.0], score * np.arange(1, len(score) + 1)])
    last = np.arange(1, len(total))
    first = np.maximum(last - span, 0)
    found: np.ndarray = (total[last] - total[first]) / (last - first)
    return found


class Part:
    """A swarm on the screen; its signs change when robots break."""

    def __init__(self, one: Lived, film: Film, *, trails: bool, sensors: bool) -> None:
        whole = as_trace(one)
        robots = one.scene.environment.robots
        moments = [(0, Faults.none(robots)), *one.scene.events]
        self.begins = [cycle for cycle, _ in moments]
        self.pane = Pane(replace(whole, score=lately(one)), 0.0)
        self.arenas = [
            Arena(Pane(replace(whole, faults=faults), 0.0), film.size, trails=trails,
                  sensors=sensors)
            for _, faults in moments
        ]  # fmt: skip

    def arena(self, cycle: float) -> Arena:
        """Return what draws the swarm at a time."""
        return self.arenas[max(k for k, begin in enumerate(self.begins) if begin <= cycle)]


class Screen:
    """Draws frames: arenas side by side, running scores below, what is broken, a last line."""

    def __init__(self, seen: Sequence[Lived], film: Film, *, trails: bool, sensors: bool) -> None:
        scene = seen[0].scene
        self.seconds, self.size, self.speed = scene.seconds, film.size, film.speed
        self.scene = scene
        self.parts = [Part(one, film, trails=trails, sensors=sensors) for one in seen]
        self.titles = titles(seen)
        self.text = ink.font(max(12, round(0.03 * film.size)))
        self.bold = ink.font(max(13, round(0.038 * film.size)), bold=True)
        self.top = MARGIN + round(1.7 * self.bold.size)
        self.line = round(1.5 * self.text.size)
        self.width = _even(MARGIN + len(seen) * (film.size + MARGIN))
        kinds = {fault for one in seen for _, faults in one.scene.events for fault in faults.each}
        some_team = any(len(set(one.scene.cells)) > 1 for one in seen)
        signs: Any = _Signs(str(scene.task), sorted(kinds - {"NONE"}), some_team)
        badge = self.parts[0].arenas[0].badge_height
        self.legend = Legend(signs, self.text, self.width - 2 * MARGIN, MARGIN, badge)
        self.curve_top = self.top + film.size + MARGIN // 2
        self.legend_top = self.curve_top + CURVE + MARGIN // 2
        self.last_top = self.legend_top + self.legend.height + MARGIN // 4
        self.last = ink.wrapped(in_words(scene.environment), self.text, self.width - 2 * MARGIN)
        self.height = _even(self.last_top + (1 + len(self.last)) * self.line + MARGIN // 2)
        self.highest = max(float(part.pane.trace.score.max()) for part in self.parts) or 1e-6

    def draw(self, seconds: float) -> Image.Image:
        """Return the frame at a time (s) since the start."""
        cycle = round(min(seconds, self.seconds) / CYCLE, 6)
        frame = Image.new("RGB", (self.width, self.height), PAPER)
        pen = ImageDraw.Draw(frame)
        for k, part in enumerate(self.parts):
            left = MARGIN + k * (self.size + MARGIN)
            pen.text((left, MARGIN // 2), self.titles[k], INK, self.bold)
            frame.paste(part.arena(cycle).draw(cycle), (left, self.top))
            self._score(frame, pen, part, k, left, cycle)
        self.legend.draw(frame, MARGIN, self.legend_top)
        clock = f"{self.scene.task} · {seconds:.0f} s of {self.seconds:.0f} s · {self.speed:g}×"
        pen.text((MARGIN, self.last_top), clock, INK, self.text)
        for k, words in enumerate(self.last, 1):
            pen.text((MARGIN, self.last_top + k * self.line), words, SOFT_INK, self.text)
        return frame

    def _score(
        self, frame: Image.Image, pen: ImageDraw.ImageDraw, part: Part, k: int, left: int,
        cycle: float,
    ) -> None:  # fmt: skip
        """Draw the running score, and when robots broke."""
        moment = k + 1 if len(self.parts) > 1 else 0
        digits = f"{part.pane.score(cycle):.3f}"
        beside = ink.width("0.000 ", self.bold) + MARGIN // 2
        pen.text((left, self.curve_top + CURVE // 4), digits, SCORES[moment], self.bold)
        under = self.curve_top + CURVE // 4 + round(1.4 * self.bold.size)
        pen.text((left, under), "last 20 s", SOFT_INK, self.text)
        box = (self.size - beside, CURVE)
        before = self.parts[0].pane
        drawn = curve(part.pane, before, moment if k else 0, cycle, box, self.highest)
        if k == 0 and moment:
            drawn = curve(part.pane, part.pane, moment, cycle, box, self.highest)
        frame.paste(drawn, (left + beside, self.curve_top))
        room = ROOM / ink.FINE
        for begin in part.begins[1:]:
            if begin <= cycle:
                across = left + beside + room + (box[0] - 2 * room) * begin / part.pane.cycles
                pen.line((across, self.curve_top, across, self.curve_top + CURVE - 1), LINE, 1)


class _Signs:
    """What a legend explains."""

    def __init__(self, task: str, faults: Sequence[Any], some_team: bool) -> None:
        self.task, self.some_team = task, some_team
        self.faults = Faults([*faults, "NONE"])
        self.some_healthy = True


def _even(pixels: int) -> int:
    """Return a size that films can have."""
    return pixels + pixels % 2


def as_trace(one: Lived) -> Trace:
    """Return what a swarm did in the form of ``qed.trace``."""
    seen, scene = one.stretch, one.scene
    return Trace(
        task=str(scene.task),
        environment=scene.environment,
        faults=None,
        x=seen.poses[0],
        y=seen.poses[1],
        heading=seen.poses[2],
        proximity=seen.inputs[:7].transpose(1, 2, 0),
        rab=seen.inputs[7:].transpose(1, 2, 0),
        wheels=seen.wheels.transpose(1, 2, 0),
        score=seen.score,
        start=one.start,
        obstacles=one.obstacles,
        parts=parts_of(scene.controller),
    )


def page(seen: Sequence[Lived]) -> str:
    """Return a page by itself: nothing to load, no server."""
    home = files("qed.explore").joinpath("page")
    scene = seen[0].scene
    data = {
        **looks.drawing(),
        "titles": titles(seen),
        "where": in_words(scene.environment),
        "swarms": [base64.b64encode(message(one)).decode() for one in seen],
    }
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    title = f"{scene.task}: {', '.join(titles(seen))}"
    parts = {
        "TITLE": html.escape(title),
        "DATA": text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
        "SCENE": files("qed.view").joinpath("scene.js").read_text("utf-8"),
        "SWARM": home.joinpath("swarm.js").read_text("utf-8").replace("export ", ""),
        "CURVE": home.joinpath("curve.js").read_text("utf-8").replace("export ", ""),
        "FILM": home.joinpath("film.js").read_text("utf-8"),
    }
    template = home.joinpath("film.html").read_text("utf-8")
    return re.sub("@([A-Z]+)@", lambda found: parts[found[1]], template)
