"""The explorer as a process of its own, as users start it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path


class Served:
    """A server that was started by the command, and its address."""

    def __init__(
        self, *sources: Path | str, browser: bool = False, cache: Path | None = None
    ) -> None:
        how = "--browser" if browser else "--no-browser"
        command = [sys.executable, "-m", "qed", "explore", how, *map(str, sources)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | ({"QED_CACHE": str(cache)} if cache else {}),
        )  # fmt: skip
        assert self.process.stdout is not None
        told = [self.process.stdout.readline().strip() for _ in range(2)]
        assert told[1].startswith("http://127.0.0.1:"), (told, self.process.poll())
        self.address = told[1]

    @property
    def port(self) -> int:
        """The port it listens to."""
        return int(self.address.split(":")[2].split("/")[0])

    def interrupted(self) -> tuple[int, str]:
        """Press Ctrl-C; return the status and what it said to stderr."""
        self.process.send_signal(signal.SIGINT)
        _, err = self.process.communicate(timeout=20)
        return self.process.returncode, err

    def close(self) -> None:
        """Make sure that it is gone."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
