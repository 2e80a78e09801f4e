"""Writes a replay as one page that plays in any browser: no server, nothing to load."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qed.swarm import robot
from qed.swarm.laws.scoring import CELL_LIFE, FLOCK_RANGE, GRID
from qed.view import look
from qed.view.arena import POINTER
from qed.view.badges import BIAS
from qed.view.ink import mixed
from qed.view.pane import Pane
from qed.view.replay import Replay, View
from qed.view.unfinished import whole

if TYPE_CHECKING:
    from qed.view.story import Story

MILLIMETRE = 0.001
LARGEST = 30_000  # of a 16-bit number that tells a place
SCORE_STEPS = 10_000
NEAR_STEPS = 10  # of a proximity reading: noise alone stays below the first
HEARD_STEPS = 25  # of a distance by range and bearing, as a part of the range


def write_page(
    replay: Replay,
    out: str | Path,
    *,
    speed: float = 10.0,
    trails: bool = False,
    sensors: bool = False,
) -> Path:
    """Write a replay as a page; return the file.  The switches tell how it begins."""
    with whole(out) as unfinished:
        text = page(replay, speed=speed, trails=trails, sensors=sensors)
        unfinished.write_text(text, encoding="utf-8", newline="\n")
    return Path(out)


def page(
    replay: Replay, *, speed: float = 10.0, trails: bool = False, sensors: bool = False
) -> str:
    """Return the page."""
    data = _data(replay, speed, trails, sensors)
    return filled(_title(replay), ("player.js", "controls.js"), data)


def filled(title: str, scripts: Sequence[str], data: dict[str, Any]) -> str:
    """Return a page with a title, its scripts after the scene's, and its data."""
    home = files("qed.view")
    parts = {
        "TITLE": html.escape(title),
        "SCENE": home.joinpath("scene.js").read_text("utf-8"),
        "PLAYER": "".join(home.joinpath(name).read_text("utf-8") for name in scripts),
        "DATA": _as_script(data),
    }
    template = home.joinpath("player.html").read_text("utf-8")
    return re.sub("@([A-Z]+)@", lambda found: parts[found[1]], template)


def _title(replay: Replay) -> str:
    task, name = replay.task.capitalize(), replay.columns[0].name
    if not replay.alone:
        return f"{task}: {len(replay.columns)} archives recover from the same fault"
    return f"{task}{f' ({name})' if name else ''}: a swarm breaks and recovers"


def _as_script(data: dict[str, Any]) -> str:
    """Return JSON that cannot end the script element it is in."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(replay: Replay, speed: float, trails: bool, sensors: bool) -> dict[str, Any]:
    step = unit(replay.environment.arena)
    return {
        **shared(replay, replay.columns[0].panes[0].cycles, speed),
        "judged": replay.judged,
        "topScore": replay.top_score,
        "trails": trails,
        "sensors": sensors,
        "columns": [
            {
                "name": column.name,
                "mean": f"{look.TITLES[0]} {column.panes[0].mean:.3f}",
                "caption": column.caption,
                "before": _score(column.panes[0]),
                "panes": [_pane(view, step) for view in replay.shown(column)],
            }
            for column in replay.columns
        ],
    }


def shared(shown: Replay | Story, cycles: int, speed: float) -> dict[str, Any]:
    """Return what every page needs to draw swarms."""
    environment = shown.environment
    return {
        "task": shown.task,
        "faults": list(shown.faults),
        "someHealthy": shown.some_healthy,
        "someTeam": shown.some_team,
        "cycle": robot.CYCLE,
        "cycles": cycles,
        "robots": environment.robots,
        "arena": environment.arena,
        "rabRange": environment.rab_range,
        "proximityRange": environment.proximity_range,
        "unit": unit(environment.arena),
        "scoreSteps": SCORE_STEPS,
        "nearSteps": NEAR_STEPS,
        "heardSteps": HEARD_STEPS,
        "speed": speed,
        "look": _look(shown),
        "themes": {"light": _theme(look.LIGHT), "dark": _theme(look.DARK)},
    }


def _look(shown: Replay | Story) -> dict[str, Any]:
    own = {fault.name: look.sign_of(fault) for fault in shown.faults.each}
    return {
        "signs": {name: vars(sign) for name, sign in {**look.SIGNS, **own}.items()},
        "teamWords": look.TEAM,
        "markWords": look.MARKS.get(shown.task, ""),
        "badgeInk": look.INK,
        "steps": look.STEPS,
        "grid": GRID,
        "cellLife": CELL_LIFE,
        "trail": look.TRAIL,
        "nothing": look.NOTHING,
        "centreSize": look.CENTRE_SIZE,
        "flockRange": float(FLOCK_RANGE),
        "obstacleRadius": robot.OBSTACLE_RADIUS,
        "bodyRadius": robot.BODY_OUTER_RADIUS,
        "badgeBias": BIAS,
        "outline": look.outline(),
        "pointer": POINTER.tolist(),
        "rays": robot.PROXIMITY_SENSORS,
    }


def _theme(colours: dict[str, Any]) -> dict[str, Any]:
    """Return the colours of a light or dark page, with the shades of a visited cell."""
    floor, fresh = colours["floor"], colours["fresh"]
    shades = [mixed(floor, fresh, k / look.STEPS) for k in range(look.STEPS + 1)]
    return colours | {"freshness": [f"rgb({','.join(map(str, shade))})" for shade in shades]}


def unit(arena: float) -> float:
    """Return the length of one step of a place (m): a millimetre, more in a huge arena."""
    return max(MILLIMETRE, arena / LARGEST)


def _score(pane: Pane) -> str:
    """Return the running score of a trial, packed."""
    steps = np.rint(pane.trace.score * SCORE_STEPS)
    return _packed(np.clip(steps, -32768, 32767).astype("<i2"))


def _pane(view: View, step: float) -> dict[str, Any]:
    told = {"title": view.title, "moment": view.moment, "note": view.note}
    return {**told, "mean": f"{view.pane.mean:.3f}", **packed_pane(view.pane, step)}


def packed_pane(pane: Pane, step: float, sensors: bool = True) -> dict[str, Any]:
    """Return what happens in a pane, packed; without ``sensors`` nothing of what robots sense."""
    trace = pane.trace
    poses = np.stack([pane.x.T / step, pane.y.T / step, pane.heading.T / MILLIMETRE])
    whole_poses = np.rint(poses).astype("<i2")  # (what, robot, cycle)
    near = np.rint(NEAR_STEPS * 0.5 * (1.0 - trace.proximity)).astype(np.uint8)
    heard = np.rint(HEARD_STEPS * 0.5 * (1.0 + trace.rab)).astype(np.uint8)
    if not sensors:
        near, heard = near[:0], heard[:0]
    return {
        "faults": list(pane.faults),
        "letters": pane.letters,
        "obstacles": np.round(trace.obstacles.astype(float), 4).tolist(),
        # Changes from cycle to cycle are small and alike, which packs well.
        "poses": _packed(np.diff(whole_poses, axis=2, prepend=np.int16(0))),
        "score": _score(pane),
        "proximity": _packed(near.transpose(1, 2, 0)),
        "rab": _packed(heard.transpose(1, 2, 0)),
    }


def _packed(array: np.ndarray) -> str:
    """Return an array's bytes, compressed, as text."""
    return base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
