"""The explorer as people use it: the command, a real browser, clicks and keys."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import Browser
from made_shown import archive, saved
from paging import cell_at, click, opened, value
from serving import Served

import qed


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    found = Served(*saved(tmp_path_factory.mktemp("explored")))
    yield found
    found.close()


def test_see_break_recover_keep(browser: Browser, served: Served) -> None:
    opened(browser, served.address)
    assert "40 of 4,096 cells" in value(browser, "summary")
    browser.until("explorer.stage.frames > 10")  # it moves
    # Hover tells, a click runs.
    browser.point(*cell_at(browser, 6))
    browser.until("document.getElementById('cell').textContent.startsWith('Cell 6: fitness')")
    assert "sees 22 cm" in value(browser, "cell")
    browser.click(*cell_at(browser, 6))
    browser.until("explorer.stage.swarm.cells[0] === 6 && explorer.state.cells[0] === 6")
    # A slider that is dragged sets another environment, while it moves.
    left, right, y = json.loads(
        browser.evaluate(
            "(() => { const s = document.getElementById('slider-max_speed'); "
            "s.scrollIntoView({block: 'center'}); const b = s.getBoundingClientRect(); "
            "return JSON.stringify([b.left, b.right, b.y + b.height / 2]); })()"
        )
    )
    speed = browser.evaluate("explorer.stage.swarm.environment.max_speed")
    browser.drag(left + 0.3 * (right - left), y, left + 0.8 * (right - left))
    browser.until("!explorer.loading && explorer.stage.swarm.environment.max_speed > 0.2")
    assert speed < 0.2
    browser.evaluate(
        "(() => { const s = document.getElementById('slider-robots'); s.value = 10; "
        "s.dispatchEvent(new Event('input')); })()"
    )
    browser.until("explorer.stage.swarm.robots === 10")
    # It stays for other cells until each shall run in its own again.
    assert browser.evaluate("document.getElementById('hold').checked")
    browser.click(*cell_at(browser, 9))
    browser.until("explorer.stage.swarm.cells[0] === 9")
    assert browser.evaluate("explorer.stage.swarm.robots") == 10
    assert value(browser, "cell").startswith("Cell 9:")
    # A robot is chosen by a click on it, and breaks while the swarm runs.
    click(browser, "#play")
    browser.until("document.body.dataset.state === 'paused'")
    x, y = json.loads(
        browser.evaluate(
            "(() => { const s = explorer.stage, c = s.panes[0].pane.canvas; "
            "c.scrollIntoView({block: 'center'}); const b = c.getBoundingClientRect(), "
            "p = s.panes[0].scene.posesAt(s.panes[0].pane, s.cycle)[4], "
            "k = (b.width - 4) / s.swarm.environment.arena; "
            "return JSON.stringify([b.x + 2 + k * p.x, b.y + b.height - 2 - k * p.y]); })()"
        )
    )
    browser.click(x, y)
    browser.until("explorer.state.robot === 4 && !document.getElementById('robot-card').hidden")
    browser.evaluate("explorer.stage.go(3)")
    click(browser, "[data-fault=PMIN]")
    browser.until("explorer.stage.swarm.events.length === 1")
    assert browser.evaluate("explorer.stage.swarm.events[0][0]") == 15
    assert browser.evaluate("explorer.stage.swarm.events[0][1].indexOf('PMIN')") == 4
    assert "PMIN" in value(browser, "events")
    click(browser, "#random")
    browser.until("new Set(explorer.stage.swarm.events.at(-1)[1]).size > 2")
    # Ten trials find a recovery; it runs beside the broken swarm.
    assert browser.evaluate("document.querySelector('[name=way]:checked').value") == "kit"
    click(browser, "#recover")
    browser.until("explorer.stage.panes.length === 2 && !explorer.recovering.running")
    assert 2 <= browser.evaluate("document.querySelectorAll('#trials li').length") <= 11
    assert browser.evaluate("document.querySelectorAll('#numbers tr').length") >= 2
    starts = "explorer.stage.panes.map((p) => p.swarm.x(0, 0))"
    assert browser.evaluate(f"new Set({starts}).size") == 1
    # The link shows the same again.
    browser.evaluate("explorer.stage.play(false)")
    click(browser, "#link")
    browser.until("location.hash.includes('beside')")
    link = browser.evaluate("location.href")
    ends = "JSON.stringify(explorer.stage.panes.map((p) => [p.swarm.x(3, 40), p.swarm.score(40)]))"
    before = browser.evaluate(ends)
    opened(browser, link)
    browser.until("explorer.stage.panes.length === 2")
    assert browser.evaluate(ends) == before
    assert browser.complaints() == []


def test_all_robots_of_a_kind_get_a_fault(browser: Browser, served: Served) -> None:
    opened(browser, served.address)

    def give(who: str, fault: str, count: int) -> list[str]:
        browser.evaluate(
            f"(() => {{ const r = document.getElementById('robot'); r.value = '{who}'; "
            "r.dispatchEvent(new Event('change')); "
            f"document.querySelector('[data-fault={fault}]').click(); }})()"
        )
        browser.until(
            "!explorer.loading && explorer.stage.swarm.faultsAt(explorer.stage.swarm.cycles)"
            f".filter((name) => name === '{fault}').length === {count}"
        )
        last = "explorer.stage.swarm.faultsAt(explorer.stage.swarm.cycles)"
        return list(json.loads(browser.evaluate(f"JSON.stringify([...{last}])")))

    give("0", "PMIN", 1)
    give("2", "PMIN", 2)
    broken = give("kind:PMIN", "BW-H", 2)
    assert [k for k, name in enumerate(broken) if name == "BW-H"] == [0, 2]
    assert "PMIN" not in broken
    assert set(give("kind:NONE", "ROFS", len(broken) - 2)) == {"BW-H", "ROFS"}
    assert browser.complaints() == []


def test_a_search_is_stopped_by_its_button(browser: Browser, served: Served) -> None:
    seen = "cells=6&environment=robots:10&seconds=1200&events=0:PMIN,NONE*9"
    opened(browser, f"{served.address}#{seen}")
    click(browser, "[value=exhaustive]")
    for _ in range(2):  # there is room for another one at once
        browser.until("!document.getElementById('recover').disabled")
        click(browser, "#recover")
        browser.until("document.getElementById('message').textContent.startsWith('Trying all')")
        click(browser, "#recover")
        browser.until("document.getElementById('message').textContent === 'Stopped.'")
        assert browser.evaluate("explorer.stage.panes.length") == 1
        browser.until("explorer.recovering.running === null")
    assert browser.complaints() == []


def test_poses_in_the_page_are_those_of_the_trace(browser: Browser, served: Served) -> None:
    opened(browser, f"{served.address}#cells=9&environment=robots:7,obstacles:1&seed=4")
    got = json.loads(
        browser.evaluate(
            "(() => { const s = explorer.stage.swarm, all = []; "
            "for (let k = 0; k < s.robots; k++) for (let r = 0; r <= s.cycles; r++) "
            "all.push(s.x(k, r), s.y(k, r), s.heading(k, r)); return JSON.stringify(all); })()"
        )
    )
    environment = qed.Environment(robots=7, obstacles=1)
    film = qed.trace(archive().take([9]).controller(0), environment, seconds=8.0, seed=4)
    shown = np.array(got, np.float32).reshape(7, 41, 3)
    for k, name in enumerate(("x", "y", "heading")):
        np.testing.assert_array_equal(shown[:, 1:, k].T, getattr(film, name))
    np.testing.assert_array_equal(shown[:, 0], film.start)


def test_a_link_that_cannot_be_shown_begins_anew(browser: Browser, served: Served) -> None:
    for link in ("cells=9&events=x:FOO", "archive=99&seed=-5&cells=1,2", "cells=%E0%A4%A&start=q"):
        opened(browser, f"{served.address}#{link}")
        assert browser.evaluate("explorer.stage.swarm.robots") >= 1
        assert not browser.evaluate("location.hash.includes('FOO')")


def test_a_link_to_an_archive_that_is_not_here_shows_no_other(
    browser: Browser, served: Served
) -> None:
    for wrong in ("99", "-1", "0.5", "one"):
        opened(browser, f"{served.address}#archive={wrong}&cells=9&seed=7")
        said = browser.evaluate("document.getElementById('busy').textContent")
        assert "The link cannot be shown: archive must be 0 to 0" in said
        assert browser.evaluate("[explorer.state.seed, explorer.state.cells[0] === 9]") == [
            1,
            False,
        ]


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_it_fits_and_every_control_has_a_name(browser: Browser, served: Served, width: int) -> None:
    for dark in (False, True):
        opened(browser, f"{served.address}#robot=1", width, dark=dark)
        browser.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
        background = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == ("rgb(16, 20, 24)" if dark else "rgb(241, 243, 245)")
        nameless = browser.evaluate(
            "[...document.querySelectorAll('button, select, input, canvas, progress')]"
            ".filter((e) => !(e.getAttribute('aria-label') || e.labels?.length ||"
            " (e.tagName === 'BUTTON' && e.textContent.trim())))"
            ".map((e) => e.id || e.outerHTML).join()"
        )
        assert nameless == ""
        assert browser.complaints() == []


def test_by_keys_alone(browser: Browser, served: Served) -> None:
    opened(browser, served.address, still=True)
    assert browser.evaluate("document.body.dataset.state") == "paused"  # as the user prefers
    seen: list[str] = []
    for _ in range(60):
        press(browser, "Tab", 9)
        here = browser.evaluate("document.activeElement.id || document.activeElement.tagName")
        seen.append(here)
        if here == "map":
            press(browser, "ArrowUp", 38)
            press(browser, "Enter", 13, "\r")
            browser.until(
                "explorer.state.cells[0] === explorer.map.data.cells[explorer.map.cursor]"
            )
        if here == "arena":
            press(browser, "ArrowRight", 39)
            assert browser.evaluate("explorer.state.robot") == 0
        if here == "random":
            browser.until("explorer.stage.swarm.cells[0] === explorer.state.cells[0]")
            press(browser, "Enter", 13, "\r")
            browser.until("explorer.stage.swarm.events.length === 1")
            break
    assert {"archive", "map", "arena", "play", "time", "speed", "task", "robot"} <= set(seen)
    assert browser.complaints() == []


def press(browser: Browser, key: str, code: int, text: str = "") -> None:
    """Press a key, with what it does in a form."""
    for kind in ("keyDown", "keyUp"):
        more = {"text": text} if text and kind == "keyDown" else {}
        browser.ask(
            "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more
        )


def test_a_film_can_be_had(browser: Browser, served: Served, tmp_path: Path) -> None:
    browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    opened(browser, f"{served.address}#cells=3&seconds=2", still=True)
    browser.evaluate("document.getElementById('film-kind').value = 'html'")
    click(browser, "#film")
    browser.until("document.getElementById('kept').textContent.startsWith('The film is there')")
    deadline = time.monotonic() + 20
    while not list(tmp_path.glob("*.html")) and time.monotonic() < deadline:
        time.sleep(0.05)
    [film] = tmp_path.glob("*.html")
    assert "cell 3" in film.read_text("utf-8")


def raw(served: Served, request: bytes) -> bytes:
    """Send bytes to the server's port and return the first line of what it answers."""
    with socket.create_connection(("127.0.0.1", served.port), 10) as line:
        line.sendall(request)
        return line.recv(4096).split(b"\r\n")[0]


def test_over_a_real_port_strangers_are_refused(served: Served) -> None:
    path = served.address.split(str(served.port))[1]
    host = f"Host: 127.0.0.1:{served.port}\r\n".encode()
    for request in (
        b"GET / HTTP/1.1\r\n" + host + b"\r\n",
        f"GET {path} HTTP/1.1\r\nHost: evil.example\r\n\r\n".encode(),
        f"GET {path}../../etc/passwd HTTP/1.1\r\n".encode() + host + b"\r\n",
        f"POST {path}api/swarm HTTP/1.1\r\n".encode() + host + b"Content-Length: 999999999\r\n\r\n",
        b"GARBAGE\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n" + host + b"\r\n",
    ):
        assert raw(served, request).split()[1].startswith(b"4"), request[:60]
    assert raw(served, f"GET {path} HTTP/1.1\r\n".encode() + host + b"\r\n").split()[1] == b"200"


class Asked:
    """A search that a page began, and the line on which it is told."""

    def __init__(self, served: Served, page: str, seconds: float) -> None:
        self.line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
        path = served.address.split(str(served.port))[1]
        faults = [[0, ["PMIN"] * 10]]
        wanted = {"cells": [3], "environment": {}, "seconds": seconds, "events": faults}
        self.line.request(
            "POST", f"{path}api/search", json.dumps({"state": wanted, "way": "exhaustive"}),
            {"Origin": f"http://127.0.0.1:{served.port}", "Content-Type": "application/json",
             "X-Page": page},
        )  # fmt: skip
        self.answer = self.line.getresponse()
        self.status = self.answer.status

    def leave(self) -> None:
        """Close the page."""
        self.answer.close()
        self.line.close()


def test_pages_side_by_side_that_leave_and_a_server_that_ends(
    tmp_path: Path, browser: Browser
) -> None:
    served = Served(*saved(tmp_path))
    first, second = (Asked(served, page * 16, 1200.0) for page in ("a", "b"))
    try:
        assert (first.status, second.status) == (200, 200)
        # A page has one search at a time; when it leaves, its search ends and there is room again.
        deadline, tries = time.monotonic() + 20, []
        while 200 not in tries:
            third = Asked(served, "a" * 16, 8.0)
            tries.append(third.status)
            third.leave()
            first.leave()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert tries[0] == 429
        opened(browser, served.address)
        # Ctrl-C in the middle of the other search: nothing hangs, nothing is said.
        began = time.monotonic()
        status, said = served.interrupted()
        assert time.monotonic() - began < 15
        assert (status, said.strip()) == (0, "")
        # A page whose server is gone says so, and goes on with what it has.
        browser.evaluate("explorer.run(9)")
        browser.until("!document.getElementById('busy').hidden")
        assert browser.evaluate("explorer.stage.swarm.cells[0]") != 9
    finally:
        for asked in (first, second):
            asked.leave()
        served.close()
