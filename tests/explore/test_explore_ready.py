"""The first minute on a machine: what can be done while the simulator is compiled."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from browser import Browser
from made_shown import saved
from paging import READY, cell_at, click, value
from serving import Served

import qed
from qed.compile import code_cache
from qed.explore.queues import Simulator
from qed.swarm.cpu import engine


def compilers() -> set[int]:
    """Return the processes that compile a simulator."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if b"qed.explore.queues" in words:
            found.add(int(folder.name))
    return found


def ended(process: int) -> bool:
    """Return whether a process has ended within some seconds."""
    deadline = time.monotonic() + 10
    while Path(f"/proc/{process}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not Path(f"/proc/{process}").exists()


linux = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")


@linux
@pytest.mark.parametrize("width", [360, 1440])
def test_a_page_while_the_simulator_is_compiled(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    qed.World().run(qed.Controller.random(0), seconds=0.2)  # here there is machine code
    before = compilers()
    served = Served(*saved(tmp_path), cache=tmp_path / "cache")
    try:
        browser.open(served.address, width)
        browser.until("Number(document.getElementById('starting-progress').value) > 0.02")
        assert not browser.evaluate("document.getElementById('starting').hidden")
        # What cannot be done yet cannot be clicked; what can does something.
        usable = browser.evaluate(
            "[...document.querySelectorAll('button, input, select')].filter((e) => "
            "e.offsetParent && !e.disabled && !e.closest('[inert], .filter'))"
            ".map((e) => e.id).join()"
        )
        assert usable == "archive"
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert "It will run as soon as" in value(browser, "cell")
        for selector in ("#recover", "#random", "#play"):
            click(browser, selector)
        browser.click(*cell_at(browser, 9))
        assert value(browser, "cell").startswith("Cell 9:")
        browser.press(" ", "Space")  # the last: a narrow page scrolls by it for a while
        # Requests that would simulate are refused in words: they would have to wait.
        line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
        line.request(
            "POST", f"{served.address.split(str(served.port))[1]}api/swarm",
            json.dumps({"state": {"cells": [3]}}),
            {"Origin": f"http://127.0.0.1:{served.port}", "Content-Type": "application/json",
             "X-Page": "0" * 16},
        )  # fmt: skip
        answer = line.getresponse()
        assert (answer.status, "being compiled" in answer.read().decode()) == (503, True)
        line.close()
        if width == 360:  # Ctrl-C ends it at once, and the compiler with it
            began = time.monotonic()
            status, said = served.interrupted()
            assert time.monotonic() - began < 10
            assert (status, len(said.strip().splitlines())) == (0, 1), said
            assert "once, about half a minute" in said
            assert all(ended(process) for process in compilers() - before)
            assert browser.complaints() == []
            return
        # As soon as there is machine code, here another's, the cell that was chosen runs.
        (tmp_path / "cache" / "compiled").mkdir(parents=True, exist_ok=True)
        shutil.copytree(
            code_cache(), tmp_path / "cache" / "compiled" / code_cache().name, dirs_exist_ok=True
        )
        [mine] = compilers() - before
        os.kill(mine, signal.SIGKILL)
        browser.until(READY)
        assert browser.evaluate("explorer.stage.swarm.cells[0]") == 9
        assert browser.evaluate("document.querySelectorAll('[inert]').length") == 0
        assert browser.complaints() == []
    finally:
        served.close()


def test_what_is_compiled_is_only_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    monkeypatch.setattr(engine, "compiled", lambda: True)
    simulator = Simulator(lambda: loaded.append(1))
    for _ in range(3):
        simulator.begin()
    assert simulator.done.wait(20)
    assert (loaded, simulator.share, simulator.compiling) == ([1], None, False)
    stopped = Simulator(lambda: loaded.append(2))
    stopped.stop()
    stopped.begin()
    assert not stopped.done.wait(0.2)
    assert loaded == [1]
