"""How quick the explorer is in a real browser: first picture, clicks to a recovery, frames.

    python benchmarks/explore.py [--rounds 5]

It starts the command as a user does (machine code from the cache) and needs Chromium.  Frames
are those of the browser's own trace, with 20 robots, all broken, trails, badges and sensors.  The
three clicks are a cell, faults (always the same) and Recover, by a user who does not wait.  At
last 500 connections that ask for nothing, or slowly, stay for a minute while cells are clicked.
Prints a table and saves JSON under benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

from qed import speed

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent / "tests" / "explore")]
from browser import Browser, binary  # noqa: E402
from paging import cell_at, draws, middle  # noqa: E402

import qed  # noqa: E402

FRAMES = 5.0  # s of frames
FAULTS = "PMIN*3,PMAX*3,PRAND*3,LW-H*3,RW-H*3,BW-H*3,ROFS*2"
HEAVY = f"#environment=robots:20&events=0:{FAULTS}&trails=true&sensors=true"
READY = "performance.getEntriesByName('swarm moves').length"
CLICKED = 426  # the cell of the three clicks: the normal best
IDLE, CROWDED = 500, 60.0  # connections, and for how long (s)
# When a click came, what the page said first, and when it said so.
WATCHED = """addEventListener('click', () => { performance.clearMarks('clicked');
  performance.clearMarks('swarm moves'); performance.clearMarks('words');
  performance.mark('clicked'); }, true);
new MutationObserver(() => { if (!performance.getEntriesByName('words').length)
  performance.mark('words'); }).observe(document.getElementById('message'), { childList: true });"""
LIMITS = {
    "first_picture_s": 2.0,
    "first_moving_s": 2.0,
    "click_to_moving_ms": 300.0,
    "page_kB": 1000.0,
}


def mark(browser: Browser, name: str) -> float:
    """Return when the page noted something (ms since it began)."""
    return float(browser.evaluate(f"performance.getEntriesByName('{name}')[0].startTime"))


def started() -> tuple[subprocess.Popen[str], str, float]:
    """Start the explorer; return it, its address, and when it was asked for (s)."""
    asked = time.time()
    process = subprocess.Popen(
        [sys.executable, "-m", "qed", "explore", "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process, process.stdout.readline().strip(), asked


def first_picture(browser: Browser) -> tuple[float, float]:
    """Return the time from the command to the map, and to a moving swarm (s)."""
    process, address, asked = started()
    try:
        browser.open(address, 1440, height=900)
        browser.until(READY)
        origin = float(browser.evaluate("performance.timeOrigin")) / 1000.0
        shown = origin + mark(browser, "map drawn") / 1000.0 - asked
        moves = origin + mark(browser, "swarm moves") / 1000.0 - asked
    finally:
        process.kill()
        process.communicate()
    return shown, moves


def click_to_moving(browser: Browser, cell: int) -> float:
    """Click a cell in the page; return the time until its swarm moves (ms)."""
    x, y = json.loads(
        browser.evaluate(
            f"(() => {{ const m = explorer.map, [x, y, s] = m.place(m.rows.get({cell})), b = "
            "m.canvas.getBoundingClientRect(); performance.clearMarks('swarm moves'); "
            "return JSON.stringify([b.x + x + s / 2, b.y + y + s / 2]); })()"
        )
    )
    browser.click(x, y)
    browser.until(READY)
    return mark(browser, "swarm moves") - mark(browser, "cell clicked")


def three_clicks(browser: Browser) -> dict[str, float]:
    """Start the explorer and recover a swarm; return what each click took (ms), and all (s)."""
    process, address, asked = started()
    try:
        browser.open(address, 1440, height=900)
        browser.until(READY)
        browser.evaluate(WATCHED)
        draws(browser, qed.Faults.sample(robots=10, seed=3))
        found = {}
        places = {
            "cell": lambda: cell_at(browser, CLICKED),
            "break": lambda: middle(browser, "#random"),
            "recover": lambda: middle(browser, "#recover"),
        }
        for name, place in places.items():
            x, y = place()
            assert 0 < y < 900, f"{name} is below the fold"
            browser.click(x, y)
            browser.until(READY)
            found[f"{name}_to_moving_ms"] = mark(browser, "swarm moves") - mark(browser, "clicked")
        found["recover_to_words_ms"] = mark(browser, "words") - mark(browser, "clicked")
        assert browser.evaluate("explorer.stage.panes.length") == 2, "nothing was recovered"
        assert browser.complaints() == []
        origin = float(browser.evaluate("performance.timeOrigin")) / 1000.0
        found["first_recovery_s"] = origin + mark(browser, "swarm moves") / 1000.0 - asked
    finally:
        process.kill()
        process.communicate()
    return found


def crowded(browser: Browser, address: str) -> dict[str, float]:
    """Return how long clicks take while many connections keep the server busy, or try to (ms)."""
    clicks, port = [], int(address.split(":")[2].split("/")[0])
    with ExitStack() as opened:
        until = time.monotonic() + CROWDED
        for number in range(IDLE):
            one = opened.enter_context(socket.create_connection(("127.0.0.1", port)))
            if number % 2:
                one.sendall(b"GET / HT")
        while time.monotonic() < until:
            clicks.append(click_to_moving(browser, 1417 + 64 * (len(clicks) % 8)))
            time.sleep(1.0)
    assert browser.complaints() == []
    return {"crowded_click_ms": statistics.median(clicks), "crowded_slowest_ms": max(clicks)}


def frames(browser: Browser, address: str) -> dict[str, float]:
    """Return how many frames a second are drawn, by the browser's trace, and their gaps."""
    browser.open("about:blank", 1440)
    browser.open(address + HEAVY, 1440, height=900)
    browser.until(READY)
    time.sleep(1.0)
    browser.events.clear()
    wanted = {"includedCategories": ["devtools.timeline", "viz"]}
    browser.ask("Tracing.start", transferMode="ReportEvents", traceConfig=wanted)
    time.sleep(FRAMES)
    browser.ask("Tracing.end")
    while not any(event["method"] == "Tracing.tracingComplete" for event in browser.events):
        browser.events.append(browser._next())
    traced = [
        one
        for event in browser.events
        if event["method"] == "Tracing.dataCollected"
        for one in event["params"]["value"]
    ]
    drawn = sorted(
        one["ts"]
        for one in traced
        if one["name"] == "Graphics.Pipeline.DrawAndSwap" and one["ph"] in "bBX"
    )
    work = [one.get("dur", 0) / 1000 for one in traced if one["name"] == "FireAnimationFrame"]
    gaps = [(after - before) / 1000 for before, after in pairwise(drawn)]
    return {
        "frames_per_s": 1000.0 * len(gaps) / sum(gaps),
        "median_gap_ms": statistics.median(gaps),
        "gaps_over_34_ms": float(sum(gap > 34 for gap in gaps)),
        "script_ms_a_frame": statistics.mean(work),
    }


def page_size(browser: Browser, address: str) -> float:
    """Return all that the page has loaded when it shows its first swarm, without the swarm (kB)."""
    browser.open("about:blank", 1440)
    browser.open(address, 1440, height=900)
    browser.until(READY)
    size = browser.evaluate(
        "performance.getEntriesByType('navigation')[0].encodedBodySize + "
        "performance.getEntriesByType('resource').filter((r) => !r.name.endsWith('api/swarm'))"
        ".reduce((sum, r) => sum + r.encodedBodySize, 0)"
    )
    return float(size) / 1000.0


def main() -> None:
    """Measure, print a table, and write it as JSON where wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="starts, and clicks")
    given = parser.parse_args()
    program = binary()
    if program is None:
        sys.exit("explore: no Chromium found; install the package chromium")
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(program, Path(profile))
        try:
            found = measured(browser, given.rounds)
        finally:
            browser.close()
    for name, value in found.items():
        limit = f"   (at most {LIMITS[name]:g})" if name in LIMITS else ""
        print(f"{name:22} {value:10.2f}{limit}")
    # Others at work on the machine cost frames and time, so how busy it is stands beside.
    about: dict[str, Any] = {"machine": speed.machine(), "load": round(os.getloadavg()[0], 1)}
    rounded = {name: round(value, 3) for name, value in found.items()}
    target = HERE / "results" / "explore.json"
    target.write_text(json.dumps({**about, **rounded}, indent=1) + "\n", encoding="utf-8")
    print(f"saved {target.relative_to(HERE.parent)}")


def measured(browser: Browser, rounds: int) -> dict[str, float]:
    """Return all numbers."""
    first_picture(browser)  # the code is in the caches of machine and browser then
    starts = [first_picture(browser) for _ in range(rounds)]
    stories = [three_clicks(browser) for _ in range(rounds)]
    process, address, _ = started()
    try:
        browser.open(address, 1440, height=900)
        browser.until(READY)
        clicks = [click_to_moving(browser, 1417 + 64 * k) for k in range(rounds)]
        rush = crowded(browser, address)
        smooth = frames(browser, address)
        size = page_size(browser, address)
    finally:
        process.kill()
        process.communicate()
    return {
        "first_picture_s": statistics.median(shown for shown, _ in starts),
        "first_moving_s": statistics.median(moves for _, moves in starts),
        "click_to_moving_ms": statistics.median(clicks),
        "slowest_click_ms": max(clicks),
        **{name: statistics.median(story[name] for story in stories) for name in stories[0]},
        **rush,
        **smooth,
        "page_kB": size,
    }


if __name__ == "__main__":
    main()
