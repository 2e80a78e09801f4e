"""The simulator made ready once: loaded, or first compiled by a process of its own.

A compiler in this process would be in the way of answers, and of Ctrl-C: it lets no other thread
run for seconds.  The other process leaves machine code in the user's cache, and tells how far it
is; where the cache cannot be written, it is compiled here after all.
"""

import subprocess
import sys
import threading
from collections.abc import Callable

FUNCTIONS = 203  # compiled for a CPU, about; a progress bar is made of them


class Simulator:
    """Whether the simulator can be used, and how far it is; made ready by a thread."""

    def __init__(self, load: Callable[[], None]) -> None:
        self.load = load  # the first simulation, with machine code from the cache
        self.share: float | None = None  # of the compiler's work that is done; None: not compiling
        self.done = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._begun = self._stopped = False
        self._lock = threading.RLock()  # a signal may come while it is held

    @property
    def compiling(self) -> bool:
        """Whether requests to simulate have to wait."""
        return self.share is not None and not self.done.is_set()

    def begin(self) -> None:
        """Make it ready, unless that has begun."""
        with self._lock:
            begun, self._begun = self._begun, True
        if not begun:
            threading.Thread(target=self._work, daemon=True).start()

    def stop(self) -> None:
        """End the compiler."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def _work(self) -> None:
        from qed.swarm.cpu import engine

        try:
            if not engine.compiled():
                self.share = 0.0
                engine.announce_compilation()
                self._compile()
            if not self._stopped:
                self.load()
        finally:
            if not self._stopped:  # who asks meanwhile must not begin to compile
                self.done.set()

    def _compile(self) -> None:
        # In a session of its own: Ctrl-C in the terminal is for who started it, who ends it.
        with self._lock:
            if self._stopped:
                return
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        with self._process as process:
            assert process.stdout is not None
            while process.stdout.read(1):
                self.share = min((self.share or 0.0) + 1 / FUNCTIONS, 1.0)


def _compile_and_tell() -> None:
    """Compile the simulator into the user's cache; write a byte for each function."""
    from numba.core import event

    class Told(event.Listener):  # type: ignore[misc]
        def on_start(self, event: object) -> None:
            pass

        def on_end(self, event: object) -> None:
            sys.stdout.write(".")
            sys.stdout.flush()

    from qed.controller.network import Controller
    from qed.swarm.world import World

    event.register("numba:compile", Told())
    World().trace(Controller.random(0), 0.4)


if __name__ == "__main__":
    _compile_and_tell()
