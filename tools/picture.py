"""Take README's picture of the explorer, docs/images/explorer.png, or its film, explorer.gif.

    python tools/picture.py [--film] [OUT]

A swarm of the patrolling archive has the faults of README's film (seed 3) and recovers within ten
trials.  The film is of the three clicks that lead there, in the time that they take.  Needs
Chromium, as the tests of the explorer do.
"""

from __future__ import annotations

import argparse
import base64
import io
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import qed

HERE = Path(__file__).parents[1]
sys.path[:0] = [str(HERE / "tests"), str(HERE / "tests" / "explore")]
from browser import Browser, binary  # noqa: E402
from paging import READY, cell_at, draws, middle  # noqa: E402

OUT = HERE / "docs" / "images"
WIDTH, HEIGHT = 1500, 1050  # of the window (pixels)
CELL = 1417  # whose swarm breaks: evolved in the normal environment
ROBOT = 1  # whose sensors and network are shown, from 0
TIME = 140  # of the moment shown (s)
SCREEN, SCALE = (1440, 900), 0.55  # of the film: the window (pixels), and how much smaller it is
FPS, COLOURS = 8, 128  # of the film
CLICKED = 426  # whose swarm breaks in the film: the normal best
NOTHING_WAITS = "!explorer.loading && !explorer.recovering.running"


@contextmanager
def explorer() -> Iterator[str]:
    """Serve the archive as the command does, and give its address."""
    command = [sys.executable, "-m", "qed", "explore", "--no-browser", "example:patrolling"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        process.stdout.readline()
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def state(faults: qed.Faults) -> str:
    """Return what the page shows at first, as its link tells it."""
    return f"#cells={CELL}&events=0:{','.join(faults)}&robot={ROBOT}&trails=true&speed=20"


def taken(browser: Browser, address: str) -> bytes:
    """Break the swarm, recover it, go to the moment, and return the page as a PNG."""
    faults = qed.Faults.sample(robots=10, seed=3)
    # With reduced motion nothing plays, so that the picture does not depend on the clock.
    browser.ask("Emulation.setScrollbarsHidden", hidden=True)
    browser.open(address + state(faults), WIDTH, height=HEIGHT, still=True)
    browser.until("document.body.dataset.state === 'paused' && explorer.stage.swarm")
    browser.evaluate("document.querySelector('[name=way][value=kit]').click()")
    browser.until("!document.getElementById('recover').disabled")
    browser.evaluate("document.getElementById('recover').click()")
    browser.until("explorer.state.beside && explorer.stage.panes.length === 2")
    browser.evaluate("explorer.stage.play(false)")
    browser.evaluate(f"explorer.stage.go({TIME})")
    return browser.picture(whole=False)


class Camera:
    """Takes pictures of a page while it goes on, with the mouse where it was clicked."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.taken: list[tuple[float, Image.Image]] = []
        self.mouse = (0.0, 0.0)

    def roll(self, seconds: float, until: str = "true") -> None:
        """Take pictures for a time (s), and on until something is true in the page."""
        begun = time.monotonic()
        while time.monotonic() - begun < seconds or not self.browser.evaluate(until):
            self.taken.append((time.monotonic(), self._picture()))
            time.sleep(max(0.0, 1 / FPS - (time.monotonic() - self.taken[-1][0])))

    def click(self, x: float, y: float) -> None:
        """Move there, wait for the eye, and click."""
        self.mouse = (x, y)
        self.browser.point(x, y)
        self.roll(0.7)
        self.browser.click(x, y)

    def _picture(self) -> Image.Image:
        clip = {"x": 0, "y": 0, "width": SCREEN[0], "height": SCREEN[1], "scale": SCALE}
        shot = self.browser.ask("Page.captureScreenshot", clip=clip, optimizeForSpeed=True)
        picture = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
        x, y = (SCALE * one for one in self.mouse)
        arrow = [(0, 0), (0, 17), (4, 13), (7, 19), (10, 18), (7, 12), (12, 12)]
        ImageDraw.Draw(picture).polygon(
            [(x + across, y + down) for across, down in arrow], fill="black", outline="white"
        )
        return picture

    def save(self, path: Path) -> None:
        """Write a film in which every picture lasts as long as it did."""
        begun, frames = self.taken[0][0], []
        some = [picture for _, picture in self.taken[:: len(self.taken) // 4]]
        all_of_them = Image.fromarray(np.concatenate([np.asarray(one) for one in some]))
        how = {"method": Image.Quantize.MAXCOVERAGE, "kmeans": 3}
        palette = all_of_them.quantize(COLOURS, dither=Image.Dither.NONE, **how)
        for k in range(int((self.taken[-1][0] - begun) * FPS) + 1):
            now = [picture for at, picture in self.taken if at - begun <= k / FPS + 1e-6][-1]
            frames.append(now.quantize(palette=palette, dither=Image.Dither.NONE))
        lasts = [1000 // FPS] * (len(frames) - 1) + [3000]
        frames[0].save(path, save_all=True, append_images=frames[1:], duration=lasts, loop=0)


def filmed(browser: Browser, address: str) -> Camera:
    """Run a cell, break its robots, recover: a film of three clicks."""
    browser.ask("Emulation.setScrollbarsHidden", hidden=True)
    browser.open(address, SCREEN[0], height=SCREEN[1])
    browser.until(READY)
    draws(browser, qed.Faults.sample(robots=10, seed=3))
    camera = Camera(browser)
    camera.mouse = SCREEN[0] / 2, SCREEN[1] / 2
    camera.click(*cell_at(browser, CLICKED))
    camera.roll(1.5, NOTHING_WAITS)
    camera.click(*middle(browser, "#random"))
    camera.roll(1.5, NOTHING_WAITS)
    camera.click(*middle(browser, "#recover"))
    camera.roll(1.0, f"{NOTHING_WAITS} && explorer.stage.panes.length === 2")
    camera.roll(5.0)
    return camera


def main() -> None:
    """Take the picture and write it with 256 colours, or the film."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, nargs="?", help="file (default: the one in docs/images)")
    parser.add_argument("--film", action="store_true", help="the film of three clicks")
    given = parser.parse_args()
    out = given.out or OUT / ("explorer.gif" if given.film else "explorer.png")
    program = binary()
    if program is None:
        sys.exit("picture: no Chromium found; install the package chromium")
    # The page would wait for the compiler for longer than a browser is waited for here.
    best = qed.load_example("patrolling").best.controller
    qed.World(task="patrolling", seed=1).run(best, seconds=1.0)
    with tempfile.TemporaryDirectory() as profile, explorer() as address:
        browser = Browser(program, Path(profile))
        try:
            if given.film:
                filmed(browser, address).save(out)
            else:
                picture = Image.open(io.BytesIO(taken(browser, address))).convert("RGB")
                how = {"method": Image.Quantize.MAXCOVERAGE, "kmeans": 3}
                few = picture.quantize(256, dither=Image.Dither.NONE, **how)
                few.save(out, optimize=True)
        finally:
            browser.close()
    print(f"{out}: {out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
