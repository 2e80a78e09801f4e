"""Work for pages: one simulation at a time for each page, the rest in a queue; all can be stopped.

Whoever simulates for a page takes a turn in its queue, in the order of asking; a long search gives
its turn back after each portion, so that a click in the map is answered meanwhile.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, Full, Queue
from typing import Any

PAGES = 64  # queues that are kept
WAITING = 16  # that may wait in a queue
LINES = 64  # of a stream that wait to be read: a page that reads slowly slows its search down

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
