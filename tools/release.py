"""Build a release, check it, and try it in an environment of its own: ``make release``.

The source distribution is unpacked elsewhere, where its tests must be found and import; the wheel
is installed into a fresh environment outside the source tree, where it must recover a swarm.
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

HERE = Path(__file__).parents[1]
DIST = HERE / "dist"
SMOKE = Path(__file__).with_name("smoke.py")


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


def install(wheel: Path, folder: Path) -> Path:
    """Install the wheel into a fresh environment; return its Python."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", wheel)
    return python


def smoke(python: Path, folder: Path) -> str:
    """Recover a swarm with the installed package, outside the source tree; return what it told."""
    shutil.copy(SMOKE, folder)
    env = _environment(QED_CACHE=folder / "cache", PYTHONPATH=None)
    return run(python, folder / SMOKE.name, cwd=folder, env=env).strip()


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
        python = install(wheel, here / "env")
        done("installed the wheel into a fresh environment")
        (here / "away").mkdir()
        done(smoke(python, here / "away"))


if __name__ == "__main__":
    main()
