"""Exported programs in processes of their own: one frame of values in, one of wheels out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

import numpy as np

from qed.errors import StoppedError

SOURCES = Path(__file__).with_name("sources")
PROGRAM = "controller.py"


class Running:
    """A program that drives robots; ``hidden`` values are set before each step (0: its own)."""

    def __init__(
        self,
        command: Sequence[str],
        robots: int,
        scratch: TemporaryDirectory[str] | None = None,  # removed with it
        where: dict[str, str] | None = None,  # its environment
    ) -> None:
        self.robots, self._scratch = robots, scratch
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            list(command), stdin=pipe, stdout=pipe, stderr=pipe, env=where
        )

    def step(self, values: np.ndarray) -> np.ndarray:
        """Return the wheels (robots, 2) for inputs, and hidden values if they are set."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(values.astype("<f8").tobytes())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self._process.stdout.read(16 * self.robots)
        if len(answer) < 16 * self.robots:
            assert self._process.stderr is not None
            said = self._process.stderr.read().decode(errors="replace").strip().splitlines()
            raise StoppedError(f"the exported program failed: {said[-1] if said else 'no output'}")
        return np.frombuffer(answer, "<f8").reshape(self.robots, 2)

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()
        if self._scratch is not None:
            self._scratch.cleanup()


def python(folder: Path, hidden: int, numbers: Sequence[int]) -> Running:
    """Run a folder's program in this Python."""
    program = [sys.executable, "-I", str(SOURCES / "run.py"), str(folder / PROGRAM)]
    return Running([*program, str(hidden), listed(numbers)], len(numbers))


def micropython(folder: Path, hidden: int, numbers: Sequence[int]) -> Running:
    """Run a folder's program in MicroPython."""
    library = Path(os.environ.get("QED_MICROPYTHON", "")) / "micropython.mjs"
    program = ["node", str(SOURCES / "run.mjs"), str(library.absolute()), str(folder / PROGRAM)]
    return Running([*program, str(hidden), listed(numbers)], len(numbers))


def lacks_micropython() -> str | None:
    """Return what MicroPython needs and is not here, if anything."""
    if shutil.which("node") is None:
        return "node (Debian's package nodejs)"
    if not (Path(os.environ.get("QED_MICROPYTHON", "")) / "micropython.mjs").is_file():
        return (
            "micropython.mjs of npm's @micropython/micropython-webassembly-pyscript; name its "
            "folder in QED_MICROPYTHON"
        )
    return None


def listed(numbers: Sequence[int]) -> str:
    """Return numbers as a word of a command."""
    return ",".join(str(int(number)) for number in numbers)
