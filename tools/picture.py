"""Take README's picture of the explorer, docs/images/explorer.png.

    python tools/picture.py [OUT]

A swarm of the patrolling archive has the faults of README's film (seed 3) and recovers within ten
trials.  Needs Chromium, as the tests of the explorer do.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

import qed

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE / "tests"))
from browser import Browser, binary  # noqa: E402

OUT = HERE / "docs" / "images" / "explorer.png"
WIDTH, HEIGHT = 1500, 1050  # of the window (pixels)
CELL = 1417  # whose swarm breaks: evolved in the normal environment
ROBOT = 1  # whose sensors and network are shown, from 0
TIME = 140  # of the moment shown (s)


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


def main() -> None:
    """Take the picture and write it with 256 colours."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, nargs="?", default=OUT, help="file (default: README's)")
    given = parser.parse_args()
    program = binary()
    if program is None:
        sys.exit("picture: no Chromium found; install the package chromium")
    # The page would wait for the compiler for longer than a browser is waited for here.
    best = qed.load_example("patrolling").best.controller
    qed.World(task="patrolling", seed=1).run(best, seconds=1.0)
    with tempfile.TemporaryDirectory() as profile, explorer() as address:
        browser = Browser(program, Path(profile))
        try:
            picture = Image.open(io.BytesIO(taken(browser, address))).convert("RGB")
        finally:
            browser.close()
    how = {"method": Image.Quantize.MAXCOVERAGE, "kmeans": 3, "dither": Image.Dither.NONE}
    picture.quantize(256, **how).save(given.out, optimize=True)
    print(f"{given.out}: {given.out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
