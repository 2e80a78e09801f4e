"""Build a release, check it, and try it in an environment of its own: ``make release``.

The source distribution is unpacked elsewhere, where its tests must be found and import; the wheel
is installed into a fresh environment outside the source tree, where it must do what the start page
of the handbook says, and recover a swarm.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

HERE = Path(__file__).parents[1]
DIST = HERE / "dist"
START = HERE / "docs" / "start.md"
RUN_PAGE = START.with_name("run_page.py")
DATA = (
    "py.typed",
    "archive/examples/patrolling.npz.gz",
    "archive/examples/patrolling-kit.npz",
    "archive/examples/flocking-kit.npz",
    "explore/page/index.html",
    "paper/numbers.csv",
    "paper/statements.csv",
    "programs/sources/run.cpp",
    "study/report.css",
    "view/player.html",
)


def run(*command: str | Path, cwd: Path = HERE, env: dict[str, str] | None = None) -> str:
    """Run a command and return what it printed; if it fails, tell what it said and stop."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=env, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nfailed: {' '.join(map(str, command))}")
    return done.stdout


def build() -> tuple[Path, Path]:
    """Build the source distribution, and the wheel from it; return both."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, HERE)
    [source], [wheel] = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    run(sys.executable, "-m", "twine", "check", "--strict", source, wheel)
    return source, wheel


def collect(source: Path, folder: Path) -> None:
    """Let pytest find and import the tests of the source distribution, where it is unpacked."""
    with tarfile.open(source) as packed:
        packed.extractall(folder, filter="data")
    [root] = folder.iterdir()
    command = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "--quiet"]
    run(*command, cwd=root, env=_environment(PYTHONPATH=root / "src"))


def complete(wheel: Path) -> None:
    """Stop if the wheel lacks a file that the package reads."""
    there = set(ZipFile(wheel).namelist())
    if missing := [name for name in DATA if f"qed/{name}" not in there]:
        sys.exit(f"{wheel.name} lacks {', '.join(missing)}")


def start(wheel: Path, cache: Path) -> str:
    """Do what the start page says, as somebody who has the wheel alone; return what came of it."""
    env = _environment(QED_CACHE=cache, PYTHONPATH=None)
    return run(sys.executable, RUN_PAGE, START, "--wheel", wheel, env=env).strip()


def _environment(**more: object) -> dict[str, str]:
    """Return this process's environment with some variables set, or taken away."""
    env = {name: value for name, value in os.environ.items() if name not in more}
    return env | {name: str(value) for name, value in more.items() if value is not None}


def main() -> None:
    """Do all of it, and tell how long each step took."""
    since = time.monotonic()

    def done(words: str) -> None:
        print(f"{time.monotonic() - since:4.0f} s  {words}", flush=True)

    with TemporaryDirectory() as folder:
        here = Path(folder)
        source, wheel = build()
        done(f"built and checked {source.name}, {wheel.name}")
        (here / "source").mkdir()
        collect(source, here / "source")
        done("the tests of the source distribution are complete")
        complete(wheel)
        done(f"installed the wheel elsewhere; {start(wheel, here / 'cache')}")


if __name__ == "__main__":
    main()
