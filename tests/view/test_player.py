"""The replay as a page: its data, its safety, and how it behaves in a real browser."""

from __future__ import annotations

import base64
import io
import json
import re
import time
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Browser
from made_recovery import posed, recovery, standing
from PIL import Image

from qed.view.arena import Arena
from qed.view.look import BLACK, FLOOR, HEALTHY_COLOUR, SIGNS, colour
from qed.view.player import _as_script, common_data, page, unit, write_page
from qed.view.replay import Replay, replay, watch

HOSTILE = "</script><script>document.title='broken in'</script><img src=x onerror=alert(1)>&"


def data_of(text: str) -> dict[str, Any]:
    """Return the data in a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def unpacked(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), kind)


def named(shown: Replay, name: str) -> Replay:
    """Return a replay of one archive under another name."""
    return replace(shown, columns=(replace(shown.columns[0], name=name, caption=(name,)),))


@pytest.fixture(scope="module")
def shown() -> Replay:
    return watch(recovery(), seconds=60.0, algorithm="qed")


def test_the_data_are_the_traces_within_their_steps(shown: Replay) -> None:
    data = data_of(page(shown))
    assert (data["cycles"], data["robots"], data["cycle"]) == (300, 10, 0.2)
    (column,) = shown.columns
    for pane, stored in zip(shown.panes, data["columns"][0]["panes"], strict=True):
        trace = pane.trace
        assert stored["signs"] == [[0, list(pane.signs[0].faults), []]]
        changes = unpacked(stored["poses"], "<i2").reshape(3, 10, 301)
        poses = np.cumsum(changes, axis=2, dtype=np.int16)
        for got, true, step in zip(
            poses, (pane.x, pane.y, pane.heading), (data["unit"], data["unit"], 0.001), strict=True
        ):
            assert np.abs(got.T * step - true).max() <= step / 2 + 1e-6
        score = unpacked(stored["score"], "<i2") / data["scoreSteps"]
        assert np.abs(score - trace.score).max() <= 0.5001 / data["scoreSteps"]
        near = unpacked(stored["proximity"], "u1").reshape(10, 7, 300) / data["nearSteps"]
        assert np.abs(near.transpose(2, 0, 1) - (1 - trace.proximity) / 2).max() <= 0.0501
        heard = unpacked(stored["rab"], "u1").reshape(10, 8, 300) / data["heardSteps"]
        assert np.abs(heard.transpose(2, 0, 1) - (1 + trace.rab) / 2).max() <= 0.0201
    assert any((pane.trace.rab < 1).any() for pane in shown.panes)
    before = unpacked(data["columns"][0]["before"], "<i2") / data["scoreSteps"]
    assert np.abs(before - column.before.trace.score).max() <= 0.5001 / data["scoreSteps"]


def test_a_huge_arena_has_longer_steps_and_no_overflow() -> None:
    assert unit(4.0) == 0.001
    pane = posed([(99.9, 0.1, 3.1), (0.1, 99.9, -3.1)], arena=100.0)
    data = data_of(page(standing(pane)))
    stored = data["columns"][0]["panes"][0]
    poses = np.cumsum(unpacked(stored["poses"], "<i2").reshape(3, 2, 3), axis=2)
    assert poses[0, 0] * data["unit"] == pytest.approx(99.9, abs=0.01)
    assert poses[1, 1] * data["unit"] == pytest.approx(99.9, abs=0.01)


def test_a_page_of_400_seconds_is_small(tmp_path: Path) -> None:
    for task in ("patrolling", "aggregation"):
        out = replay(recovery(task), tmp_path / f"{task}.html")
        assert out.stat().st_size < 450_000


def test_the_page_loads_nothing(shown: Replay) -> None:
    text = page(shown)
    assert not re.search(
        r"https?:|[\"'(]//|@import|url\(|<link(?! rel=\"icon\" href=\"data:,\")", text
    )
    assert re.findall(r"\bsrc=", text) == []
    assert "default-src 'none'" in text


def test_nothing_in_the_data_can_leave_its_place(shown: Replay) -> None:
    hostile = named(shown, HOSTILE)
    text = page(hostile)
    assert text.lower().count("</script") == 2
    assert text.lower().count("<script") == 2
    assert "<img" not in text.lower()
    strange = common_data(hostile) | {"task": HOSTILE}
    assert json.loads(_as_script(strange))["task"] == HOSTILE
    assert not set("<>&") & set(_as_script(strange))
    # A placeholder in the data is data.
    assert "@SCENE@" in page(named(shown, "@SCENE@"))


def test_switches_and_speed_begin_as_told(shown: Replay, tmp_path: Path) -> None:
    out = write_page(shown, tmp_path / "a.html", speed=7.5, trails=True)
    data = data_of(out.read_text("utf-8"))
    assert (data["speed"], data["trails"], data["sensors"]) == (7.5, True, False)


# ---- in a browser --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(shown: Replay, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(shown, tmp_path_factory.mktemp("page") / "replay.html", speed=5.0)


STATE = "document.body.dataset.state"
NOW = "Number(document.getElementById('time').value)"


def scrub(browser: Browser, seconds: float) -> None:
    browser.evaluate(
        f"{{const t = document.getElementById('time'); t.value = {seconds};"
        "t.dispatchEvent(new Event('input'))}"
    )


def arena(browser: Browser, number: int) -> np.ndarray:
    """Return the pixels of a pane's canvas."""
    url = browser.evaluate(f"document.querySelectorAll('.arena')[{number}].toDataURL()")
    with Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) as image:
        return np.asarray(image.convert("RGB"))


def where(image: np.ndarray, name: str) -> np.ndarray:
    return np.argwhere((image == np.array(colour(name))).all(-1))


def test_it_plays_pauses_and_goes_where_it_is_told(browser: Browser, file: Path) -> None:
    browser.open(file, 1200)
    browser.until(f"{STATE} === 'playing'")
    browser.until(f"{NOW} > 1")
    browser.press(" ", "Space")
    assert browser.evaluate(STATE) == "paused"
    paused = browser.evaluate(NOW)
    time.sleep(0.3)
    assert browser.evaluate(NOW) == paused
    scrub(browser, 60.0)
    assert browser.evaluate("document.getElementById('clock').textContent") == "60 s of 60 s"
    browser.evaluate("document.getElementById('play').click()")  # from the end: again
    browser.until(f"{STATE} === 'playing' && {NOW} > 0.1 && {NOW} < 50")
    assert browser.complaints() == []


@pytest.mark.parametrize("task", ["dispersion", "patrolling"])
def test_it_draws_the_floor_as_films_do(browser: Browser, tmp_path: Path, task: str) -> None:
    pane = posed([(3.3, 3.25, 0.0)], task=task, floor=[[0.0, 0.5], [1.0, 0.5]])
    browser.open(write_page(standing(pane), tmp_path / f"{task}.html"), 1300, still=True)
    browser.until(f"{STATE} === 'paused'")
    scrub(browser, 0.4)
    film = np.asarray(Arena(pane, 400).draw(2.0))
    found = {}
    for x, y in ((0.5, 0.5), (2.5, 0.5), (0.5, 3.5), (3.45, 3.45)):  # the last one: just visited
        page_, found[x, y] = (
            image[int((1 - y / 4) * len(image)), int(x / 4 * len(image))].astype(int)
            for image in (arena(browser, 0), film)
        )
        assert np.abs(page_ - found[x, y]).max() <= 2, (x, y)
    black, grey, white, visited = map(tuple, found.values())
    assert (black, white) == (colour(BLACK), colour(FLOOR))
    assert grey == pytest.approx((np.array(black) + white) / 2, abs=1)
    assert (visited != grey) == (task == "patrolling")


def test_it_draws_robots_where_they_are(browser: Browser, tmp_path: Path) -> None:
    pane = posed([(1.0, 3.0, 0.0), (3.0, 1.0, 0.0)], "NONE,PMAX")
    browser.open(write_page(standing(pane), tmp_path / "a.html"), 1300, still=True)
    browser.until(f"{STATE} === 'paused'")
    image = arena(browser, 1)
    side = len(image)
    scale = (side - 4) / 4.0
    assert where(image, HEALTHY_COLOUR).mean(0) + 0.5 == pytest.approx(
        (2 + scale, 2 + scale), abs=1.0
    )
    orange = SIGNS["PMAX"].colour
    with_badge = where(image, orange)
    assert (with_badge > side / 2).all()
    browser.evaluate("document.getElementById('badges').click()")
    body = where(arena(browser, 1), orange)
    assert 20 < len(body) < len(with_badge)
    assert body.mean(0) + 0.5 == pytest.approx((2 + 3 * scale,) * 2, abs=1.0)
    assert browser.evaluate("document.querySelectorAll('strong')[0].textContent") == "0.000"
    scrub(browser, 0.4)
    assert browser.evaluate("document.querySelectorAll('strong')[0].textContent") == "0.500"


@pytest.mark.parametrize(
    "task", ["aggregation", "dispersion", "flocking", "patrolling", "border-patrolling"]
)
def test_every_task_is_drawn_without_complaint(browser: Browser, task: str, tmp_path: Path) -> None:
    out = replay(recovery(task), tmp_path / "a.html", seconds=20.0)
    browser.open(out, 1000, still=True)
    browser.until(f"{STATE} === 'paused'")
    scrub(browser, 13.0)
    plain = arena(browser, 2)
    assert len(np.unique(plain.reshape(-1, 3), axis=0)) > 20
    browser.evaluate("document.getElementById('trails').click()")
    trails = arena(browser, 2)
    browser.evaluate("document.getElementById('sensors').click()")
    assert (trails != plain).any()
    assert (arena(browser, 2) != trails).any()
    assert browser.complaints() == []


def test_reduced_motion_starts_paused(browser: Browser, file: Path) -> None:
    browser.open(file, 1200, still=True)
    browser.until(f"{STATE} === 'paused'")
    assert browser.evaluate(NOW) == 0
    assert browser.evaluate("document.getElementById('play').textContent") == "Play"


@pytest.mark.parametrize(("width", "columns"), [(360, 1), (760, 3), (1600, 3)])
def test_panes_are_side_by_side_or_stacked_and_fit(
    browser: Browser, file: Path, width: int, columns: int
) -> None:
    browser.open(file, width)
    browser.until(f"{STATE} === 'playing'")
    assert browser.evaluate("window.innerWidth") == width
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    lefts = browser.evaluate(
        "[...document.querySelectorAll('.arena')].map(c => c.getBoundingClientRect().left)"
    )
    assert len(set(lefts)) == columns


def test_canvases_are_as_sharp_as_the_screen(browser: Browser, file: Path) -> None:
    browser.open(file, 1200, sharpness=2)
    browser.until(f"{STATE} === 'playing'")
    sizes = "[...document.querySelectorAll('canvas')].map(c => [c.width, c.clientWidth])"
    assert all(abs(real - 2 * css) <= 1 for real, css in browser.evaluate(sizes))


def test_controls_have_names(browser: Browser, file: Path) -> None:
    browser.open(file, 1200)
    browser.until(f"{STATE} === 'playing'")
    nameless = (
        "[...document.querySelectorAll('button, input, select')].filter("
        "e => !(e.labels && e.labels.length) && !e.textContent.trim()).length"
    )
    assert browser.evaluate(nameless) == 0
    legend = browser.evaluate("document.getElementById('legend').innerText")
    assert "PMIN: front sensors read 0" in legend
    words = browser.evaluate("document.querySelectorAll('.arena')[1].getAttribute('aria-label')")
    assert words == "10 robots seen from above, 8 of them with a fault"


def test_hostile_names_stay_words(browser: Browser, shown: Replay, tmp_path: Path) -> None:
    out = write_page(named(shown, HOSTILE), tmp_path / "a.html")
    browser.open(out, 1200)
    browser.until(f"{STATE} === 'playing'")
    assert browser.evaluate("document.images.length") == 0
    assert "</script>" in browser.evaluate("document.title")
    assert browser.complaints() == []


def test_damaged_data_is_told_of(browser: Browser, file: Path, tmp_path: Path) -> None:
    text = file.read_text("utf-8")
    poses = data_of(text)["columns"][0]["panes"][0]["poses"]
    bad = tmp_path / "bad.html"
    bad.write_text(text.replace(poses, "AAAA" + poses[4:]), "utf-8")
    browser.open(bad, 1200)
    browser.until(f"{STATE} === 'failed'")
    assert "cannot open the replay" in browser.evaluate("document.body.innerText")
