"""Films of what is seen: robots that break while it runs, and a recovered swarm beside."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from browser import Browser
from kits import made
from made_shown import HOST, TOKEN, archive, asked, broken, posted, state
from PIL import Image
from starlette.types import ASGIApp

from qed.explore.app import app
from qed.explore.sources import ArchiveView
from qed.explore.state import checked
from qed.explore.swarms import recorded, replay_of
from qed.view.look import SIGNS
from qed.view.player import page
from qed.view.stage import ReplayStage


@pytest.fixture(scope="module")
def shown() -> list[ArchiveView]:
    return [ArchiveView("small", "small.npz", archive(), made(), "kit.npz")]


@pytest.fixture(scope="module")
def guarded(shown: list[ArchiveView]) -> ASGIApp:
    return app(shown, TOKEN, [HOST])[0]


def film_of(guarded: ASGIApp, kind: str) -> bytes:
    """Let the application make a film of two swarms, and fetch it."""
    one = state(events=[broken(0.0)], seconds=2.0)
    given = {"state": one, "beside": {**one, "cells": [6]}, "film": kind, "trails": True}
    status, lines = posted(guarded, "film", given)
    assert status == 200
    last = json.loads(lines.strip().splitlines()[-1])
    assert last["kind"] == "film", last
    status, content = asked(guarded, "GET", f"/{TOKEN}/api/film/{last['name']}")
    assert (status, len(content)) == (200, last["bytes"])
    return content


def test_an_mp4_and_a_gif_of_two_swarms(guarded: ASGIApp, tmp_path: Path) -> None:
    gif = Image.open(io.BytesIO(film_of(guarded, "gif")))
    assert gif.n_frames > 15
    path = tmp_path / "film.mp4"
    path.write_bytes(film_of(guarded, "mp4"))
    checked_by = [
        imageio_ffmpeg.get_ffmpeg_exe(),
        "-v",
        "error",
        "-i",
        str(path),
        "-f",
        "null",
        "-",
    ]
    assert subprocess.run(checked_by, capture_output=True, check=True).stderr == b""


def test_signs_appear_when_robots_break(shown: list[ArchiveView]) -> None:
    one = recorded(checked(state(events=[[4.0, ["PMIN"] * 10]]), shown))
    stage = ReplayStage(replay_of([one]), 300)
    orange = np.array([int(SIGNS["PMIN"].colour[i : i + 2], 16) for i in (1, 3, 5)])

    def signs(seconds: float) -> int:
        pixels = np.asarray(stage.draw(seconds))[: stage.places[0].top + 300]
        return int((pixels == orange).all(-1).sum())

    assert signs(3.9) == 0
    assert signs(4.1) > 500


def test_the_page_of_a_film_plays_by_itself(
    shown: list[ArchiveView], browser: Browser, tmp_path: Path
) -> None:
    one = state(events=[broken(4.0)])
    swarms = [recorded(checked({**one, "cells": [cell]}, shown)) for cell in (3, 6)]
    path = tmp_path / "film.html"
    path.write_text(page(replay_of(swarms)), encoding="utf-8")
    browser.open(path, 700)
    browser.until("Number(document.getElementById('time').value) > 1")
    assert browser.evaluate("document.querySelectorAll('.arena').length") == 2
    assert browser.complaints() == []
