"""Work for pages: one simulation at a time for each page, the rest in a queue; all can be stopped.

Whoever simulates for a page takes a turn in its queue, in the order of asking; a long search gives
its turn back after each portion, so that a click in the map is answered meanwhile.

Before all that the simulator is made ready: loaded, or first compiled by a process of its own.  A
compiler in this process would be in the way of answers, and of Ctrl-C: it lets no other thread
run for seconds.  The other process leaves machine code in the user's cache, and tells how far it
is; where the cache cannot be written, it is compiled here after all.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, Full, Queue
from typing import Any

PAGES = 64  # queues that are kept
WAITING = 16  # that may wait in a queue
LINES = 64  # of a stream that wait to be read: a page that reads slowly slows its search down
FUNCTIONS = 203  # compiled for a CPU, about; a progress bar is made of them

Event = dict[str, Any]


class Stopped(Exception):  # noqa: N818 (nothing went wrong)
    """Somebody asked to stop, or is not there any more."""


class Busy(Exception):  # noqa: N818 (the page should ask later)
    """Too many wait already."""


class PageQueue:
    """Where a page's simulations take turns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self.streams: set[Stream] = set()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, first come, first served; hold it meanwhile."""
        mine = threading.Event()
        with self._lock:
            if len(self._waiting) >= WAITING:
                raise Busy
            self._waiting.append(mine)
            if len(self._waiting) == 1:
                mine.set()
        mine.wait()
        try:
            yield
        finally:
            with self._lock:
                self._waiting.popleft()
                if self._waiting:
                    self._waiting[0].set()

    def give_way(self) -> None:
        """Let those who wait have their turns, in the middle of one's own."""
        with self._lock:
            if len(self._waiting) == 1:
                return
            mine = threading.Event()
            self._waiting.append(mine)
            self._waiting.popleft()
            self._waiting[0].set()
        mine.wait()

    @property
    def idle(self) -> bool:
        """Whether no job is running."""
        return not self._waiting and not self.streams


class PageQueues:
    """The queues of all pages."""

    def __init__(self) -> None:
        self._queues: OrderedDict[str, PageQueue] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, page: str) -> PageQueue:
        """Return the queue of a page; those that were idle longest are forgotten."""
        with self._lock:
            found = self._queues.setdefault(page, PageQueue())
            self._queues.move_to_end(page)
            if len(self._queues) > PAGES:
                for name, old in list(self._queues.items()):
                    if old.idle and old is not found:
                        del self._queues[name]
                        break
                else:
                    del self._queues[page]
                    raise Busy
            return found

    @property
    def streams(self) -> list[Stream]:
        """All that is under way."""
        with self._lock:
            return [stream for one in self._queues.values() for stream in list(one.streams)]

    def stop(self) -> None:
        """Stop all that is under way."""
        for stream in self.streams:
            stream.stop()


class Stream:
    """A long piece of work in a thread of its own, which sends lines of JSON as it goes."""

    def __init__(
        self, page: PageQueue, work: Callable[[Stream], None], kind: str = "search"
    ) -> None:
        self.page, self.kind = page, kind
        self._stopped = threading.Event()
        self._lines: Queue[bytes | None] = Queue(LINES)
        if any(other.kind == kind and not other.stopped for other in list(page.streams)):
            raise Busy
        page.streams.add(self)
        # A daemon: the process ends whatever it is at.
        self.thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self.thread.start()

    def _run(self, work: Callable[[Stream], None]) -> None:
        try:
            work(self)
        except Stopped:
            pass
        except ValueError as error:  # of the user, or of what the user gave
            self._last({"kind": "error", "words": str(error)})
        except Exception as error:
            self._last({"kind": "error", "words": f"{type(error).__name__}: {error}"})
            raise
        finally:
            self.page.streams.discard(self)
            self._put(None)

    def send(self, event: Event) -> None:
        """Send a line to the page; raise Stopped if nobody wants it."""
        self.check()
        self._put(json.dumps(event, separators=(",", ":")).encode() + b"\n")
        self.check()

    def progress(
        self, done: int, total: int, cells: Sequence[int] = (), fitness: Sequence[float] = ()
    ) -> None:
        """Say how far the work is, and which cells were just tried."""
        tried = {"cells": cells, "fitness": fitness, "done": done, "total": total}
        self.send({"kind": "tried", **tried})

    def give_way(self) -> None:
        """Let others who wait in the queue have their turns, in the middle of one's own."""
        self.page.give_way()
        self.check()

    def check(self) -> None:
        """Raise Stopped if the work should end."""
        if self._stopped.is_set():
            raise Stopped

    @property
    def stopped(self) -> bool:
        """Whether the work was asked to end."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Ask the work to end."""
        self._stopped.set()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Take a turn in the page's queue."""
        self.check()
        with self.page.turn():
            self.check()
            yield

    def next(self) -> bytes | None:
        """Return the next line, or None at the end; b"" if there is none yet.

        What was stopped has no more lines, whatever its thread is still at.
        """
        if self.stopped:
            return None
        try:
            return self._lines.get(timeout=0.2)
        except Empty:
            return b""

    def _last(self, event: Event) -> None:
        if not self._stopped.is_set():
            self._put(json.dumps(event).encode() + b"\n")

    def _put(self, line: bytes | None) -> None:
        while True:
            try:
                self._lines.put(line, timeout=0.1)
            except Full:
                if not self._stopped.is_set():
                    continue
            return


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
