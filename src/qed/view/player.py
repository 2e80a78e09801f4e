"""Writes a replay or a story as one page that plays in any browser: no server, nothing to load."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qed.files import user_file
from qed.swarm.laws import scoring
from qed.swarm.robot import CYCLE, OBSTACLE_RADIUS, Robot
from qed.view import look
from qed.view.pane import Pane
from qed.view.replay import Column, Replay

if TYPE_CHECKING:
    from qed.recovery.search.search import Belief
    from qed.swarm.faults import Fault
    from qed.view.story import Chapter, Story

MILLIMETRE = 0.001
LARGEST = 30_000  # of the 16-bit numbers that places are stored as
SCORE_STEPS = 10_000
NEAR_STEPS = 10  # of a proximity reading: noise alone stays below the first
HEARD_STEPS = 25  # of a distance by range and bearing, as a part of the range


def write_page(
    shown: Replay | Story,
    out: str | Path,
    *,
    speed: float = 10.0,
    trails: bool = False,
    sensors: bool = False,
) -> Path:
    """Write a page; return the file.  The switches are how it begins."""
    with user_file(out) as unfinished:
        text = page(shown, speed=speed, trails=trails, sensors=sensors)
        unfinished.write_text(text, encoding="utf-8", newline="\n")
    return Path(out)


def page(
    shown: Replay | Story, *, speed: float = 10.0, trails: bool = False, sensors: bool = False
) -> str:
    """Return the page.  A story's holds what robots sense only if ``sensors`` are asked for."""
    data = common_data(shown) | {"speed": speed, "trails": trails, "sensors": sensors}
    if isinstance(shown, Replay):
        step = unit(shown.environment.arena)
        columns = [_column(column, step) for column in shown.columns]
        data |= {"judged": shown.judged, "columns": columns}
    else:
        data |= _story_data(shown, sensors)
    scripts = ("clock", "replay" if isinstance(shown, Replay) else "story", "controls")
    home = files("qed.view")
    source = {name: home.joinpath(f"{name}.js").read_text("utf-8") for name in ("scene", *scripts)}
    parts = {
        "TITLE": html.escape(shown.title),
        "SCENE": source["scene"],
        "PLAYER": "".join(source[name].replace("export ", "") for name in scripts),
        "DATA": _as_script(data),
    }
    template = home.joinpath("player.html").read_text("utf-8")
    return re.sub("@([A-Z]+)@", lambda found: parts[found[1]], template)


def _as_script(data: dict[str, Any]) -> str:
    """Return JSON that cannot end the script element it is in."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def common_data(shown: Replay | Story) -> dict[str, Any]:
    """Return what every page needs to draw swarms."""
    environment = shown.environment
    return {
        "task": shown.task,
        "legend": [(str(sign), words) for sign, words in shown.legend],
        "cycle": CYCLE,
        "cycles": shown.panes[0].cycles,
        "robots": environment.robots,
        "arena": environment.arena,
        "floor": look.greys(environment.floor),
        "rabRange": environment.rab_range,
        "proximityRange": environment.proximity_range,
        "unit": unit(environment.arena),
        "scoreSteps": SCORE_STEPS,
        "nearSteps": NEAR_STEPS,
        "heardSteps": HEARD_STEPS,
        "topScore": shown.top_score,
        **drawing(shown.faults_in_sight, environment.robot),
    }


def drawing(faults: Iterable[Fault], robot: Robot) -> dict[str, Any]:
    """Return how swarms of a robot with these faults are drawn, on light and dark pages."""
    signs = {**look.SIGNS, **{fault.name: look.sign_of(fault) for fault in faults}}
    return {
        "look": {
            "signs": {name: vars(sign) for name, sign in signs.items()},
            "badgeInk": look.INK,
            "steps": look.STEPS,
            "veil": look.VEIL,
            "grid": scoring.GRID,
            "cellLife": scoring.CELL_LIFE,
            "trail": look.TRAIL,
            "nothing": look.NOTHING,
            "centreSize": look.CENTRE_SIZE,
            "flockRange": float(scoring.FLOCK_RANGE),
            "obstacleRadius": OBSTACLE_RADIUS,
            "badgeBias": look.BIAS,
            **body(robot),
        },
        "themes": {"light": _theme(look.LIGHT), "dark": _theme(look.DARK)},
    }


def body(robot: Robot) -> dict[str, Any]:
    """Return how a robot is drawn: its outline and its sensors (m)."""
    return {
        "bodyRadius": robot.outer_radius,
        "outline": look.outline(robot),
        "pointer": look.pointer(robot),
        "rays": robot.proximity,
        "cones": robot.rab,
    }


def _theme(colours: dict[str, Any]) -> dict[str, Any]:
    """Return the colours of a light or dark page, with the shades of a visited cell."""
    floor, fresh = colours["floor"], colours["fresh"]
    shades = [look.mixed(floor, fresh, k / look.STEPS) for k in range(look.STEPS + 1)]
    return colours | {"freshness": [f"rgb({','.join(map(str, shade))})" for shade in shades]}


def _column(column: Column, step: float) -> dict[str, Any]:
    panes = [
        {
            "title": view.title,
            "moment": view.moment,
            "notes": view.notes,
            "compared": view.compared,
            **packed_pane(view.pane, step),
        }
        for view in column.views
    ]
    return {
        "name": column.name,
        "aside": column.aside,
        "caption": column.caption,
        "before": _score(column.before),
        "panes": panes,
    }


def _story_data(story: Story, sensors: bool) -> dict[str, Any]:
    return {
        "sensed": sensors,
        "believed": story.believed_range,
        "ending": story.ending,
        "knows": story.knows,
        "sections": [
            {"end": one.end, "speed": one.speed, "lapse": one.lapse} for one in story.sections
        ],
        "chapters": [_chapter(part) for part in story.chapters],
        "pane": packed_pane(story.pane, unit(story.environment.arena), sensors),
    }


def _chapter(chapter: Chapter) -> dict[str, Any]:
    part = chapter.period
    return {
        "moment": part.moment,
        "begin": chapter.begin,
        "end": chapter.end,
        "mark": chapter.mark,
        "title": chapter.title,
        "words": " ".join(chapter.words),
        "best": _belief(part.believed),
        "kept": _belief(part.kept),
        "same": part.believed == part.kept,
    }


def _belief(belief: Belief) -> list[float]:
    return [round(value, 5) for value in (belief.low, belief.mean, belief.high)]


def unit(arena: float) -> float:
    """Return the length of one step of a place (m): a millimetre, more in a huge arena."""
    return max(MILLIMETRE, arena / LARGEST)


def packed_pane(pane: Pane, step: float, sensors: bool = True) -> dict[str, Any]:
    """Return what happens in a pane, packed; without ``sensors`` nothing of what robots sense."""
    trace = pane.trace
    poses = np.stack([pane.x.T / step, pane.y.T / step, pane.heading.T / MILLIMETRE])
    integers = np.rint(poses).astype("<i2")  # (what, robot, cycle)
    near = np.rint(NEAR_STEPS * 0.5 * (1.0 - trace.proximity)).astype(np.uint8)
    heard = np.rint(HEARD_STEPS * 0.5 * (1.0 + trace.rab)).astype(np.uint8)
    if not sensors:
        near, heard = near[:0], heard[:0]
    return {
        "signs": [(begin, list(faults), letters) for begin, faults, letters in pane.signs],
        "obstacles": np.round(trace.obstacles.astype(float), 4).tolist(),
        # Changes from cycle to cycle are small and alike, which packs well.
        "poses": _packed(np.diff(integers, axis=2, prepend=np.int16(0))),
        "score": _score(pane),
        "proximity": _packed(near.transpose(1, 2, 0)),
        "rab": _packed(heard.transpose(1, 2, 0)),
    }


def _score(pane: Pane) -> str:
    """Return the running score of a trial, packed."""
    steps = np.rint(pane.trace.score * SCORE_STEPS)
    return _packed(np.clip(steps, -32768, 32767).astype("<i2"))


def _packed(array: np.ndarray) -> str:
    """Return an array's bytes, compressed, as text."""
    return base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
