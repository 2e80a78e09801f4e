"""The command ``qed`` in a process of its own that finds its libraries imported.

A new interpreter takes a second to import what the command needs.  Here a server imports it once
and each command is a fork of that, with its own environment, output, signals and exit status.
``new`` starts a new interpreter: for what depends on imports, and once for each verb.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from multiprocessing import forkserver
from pathlib import Path
from typing import NamedTuple

import pytest

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["imported"])
STREAMS = ("stdout", "stderr")


class Done(NamedTuple):
    """What a command that has ended leaves."""

    returncode: int
    stdout: str
    stderr: str


class Running:
    """A command that runs, in the manner of ``subprocess.Popen``."""

    def __init__(self, *words: str | Path, cwd: Path | None = None, **environment: str) -> None:
        self._said = Path(tempfile.mkdtemp())
        for name in STREAMS:  # it may be killed before it says anything
            (self._said / name).touch()
        place = Path.cwd() if cwd is None else cwd
        given = ([str(word) for word in words], place, around(environment), self._said)
        _serve()
        self._process = CONTEXT.Process(target=_become, args=given)
        self._process.start()

    def poll(self) -> int | None:
        """Return the exit status, or nothing while it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def wait(self, seconds: float | None = None) -> int:
        """Return the exit status as soon as it has ended."""
        self._process.join(seconds)
        assert self._process.exitcode is not None, f"it still runs after {seconds} s"
        if self._said.exists():
            self._texts = [(self._said / name).read_text(encoding="utf-8") for name in STREAMS]
            shutil.rmtree(self._said)
        return self._process.exitcode

    def done(self) -> Done:
        """Return its exit status and all it said, as soon as it has ended."""
        return Done(self.wait(), *self._texts)


def run(*words: str | Path, cwd: Path | None = None, **environment: str) -> Done:
    """Run a command to its end, as in a terminal of 80 columns."""
    return Running(*words, cwd=cwd, **environment).done()


def new(*words: str | Path, cwd: Path | None = None, **environment: str) -> Done:
    """Run a command to its end in a new interpreter."""
    done = subprocess.run(
        [sys.executable, "-m", "qed", *map(str, words)], cwd=cwd, env=around(environment),
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


def around(environment: dict[str, str]) -> dict[str, str]:
    """Return the environment of a command: ours, but for what decides on colours and widths."""
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    return clean | {"COLUMNS": "80"} | environment


def _serve() -> None:
    """Start the server, unless it runs, where it can import from this folder."""
    before = os.environ.get("PYTHONPATH")
    paths = [str(Path(__file__).parent), *([before] if before else [])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        forkserver.ensure_running()


def _become(words: list[str], place: Path, environment: dict[str, str], said: Path) -> None:
    """Be the command."""
    for number, name in enumerate(STREAMS, 1):
        os.dup2(os.open(said / name, os.O_WRONLY), number)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, buffering=1)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(place)
    sys.argv = ["qed", *words]
    from qed.cli import main

    main()
