"""Work for pages: one simulation at a time for each page, the rest in line, and all can be stopped.

A page has a *desk*.  Whoever simulates for it takes a turn there, in the order of asking; a long
search gives its turn back after each portion, so that a click in the map is answered meanwhile.
"""

from __future__ import annotations

import json
import queue
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PAGES = 64  # desks that are kept
IN_LINE = 16  # that may wait at a desk
LINES = 64  # of a stream that wait to be read: a page that reads slowly slows its search down

Event = dict[str, Any]
Tell = Callable[[Event], None]


class Stopped(Exception):  # noqa: N818 (nothing went wrong)
    """Somebody asked to stop, or is not there any more."""


class Busy(Exception):  # noqa: N818 (the page should ask later)
    """Too many wait already."""


class Desk:
    """Where a page's simulations take turns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: deque[threading.Event] = deque()
        self.streams: set[Stream] = set()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, first come, first served; hold it meanwhile."""
        self.take()
        try:
            yield
        finally:
            self.leave()

    def take(self) -> None:
        """Wait for a turn."""
        mine = threading.Event()
        with self._lock:
            if len(self._line) >= IN_LINE:
                raise Busy
            self._line.append(mine)
            if len(self._line) == 1:
                mine.set()
        mine.wait()

    def leave(self) -> None:
        """End a turn."""
        with self._lock:
            self._line.popleft()
            if self._line:
                self._line[0].set()

    @property
    def idle(self) -> bool:
        """Whether no job is running."""
        return not self._line and not self.streams


class Desks:
    """The desks of all pages."""

    def __init__(self) -> None:
        self._desks: OrderedDict[str, Desk] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, page: str) -> Desk:
        """Return the desk of a page; those that were idle longest are forgotten."""
        with self._lock:
            desk = self._desks.setdefault(page, Desk())
            self._desks.move_to_end(page)
            if len(self._desks) > PAGES:
                for name, old in list(self._desks.items()):
                    if old.idle and old is not desk:
                        del self._desks[name]
                        break
                else:
                    del self._desks[page]
                    raise Busy
            return desk

    @property
    def streams(self) -> list[Stream]:
        """All that is under way."""
        with self._lock:
            return [stream for desk in self._desks.values() for stream in list(desk.streams)]

    def stop(self) -> None:
        """Stop all that is under way."""
        for stream in self.streams:
            stream.stop()


class Stream:
    """A long piece of work in a thread of its own, which tells lines of JSON as it goes."""

    def __init__(self, desk: Desk, work: Callable[[Stream], None], kind: str = "search") -> None:
        self.desk, self.kind = desk, kind
        self._stopped = threading.Event()
        self._lines: queue.Queue[bytes | None] = queue.Queue(LINES)
        if any(other.kind == kind and not other.stopped for other in list(desk.streams)):
            raise Busy
        desk.streams.add(self)
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
            self.desk.streams.discard(self)
            self._put(None)

    def tell(self, event: Event) -> None:
        """Send a line to the page; raise Stopped if nobody wants it."""
        self.check()
        self._put(json.dumps(event, separators=(",", ":")).encode() + b"\n")
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
        """Take a turn at the page's desk."""
        self.check()
        with self.desk.turn():
            self.check()
            yield

    def give_way(self) -> None:
        """Let others who wait at the desk have their turns, in the middle of one's own."""
        self.desk.leave()
        self.desk.take()

    def next(self) -> bytes | None:
        """Return the next line, or None at the end; b"" if there is none yet.

        What was stopped has no more lines, whatever its thread is still at.
        """
        if self.stopped:
            return None
        try:
            return self._lines.get(timeout=0.2)
        except queue.Empty:
            return b""

    def _last(self, event: Event) -> None:
        if not self._stopped.is_set():
            self._put(json.dumps(event).encode() + b"\n")

    def _put(self, line: bytes | None) -> None:
        while True:
            try:
                self._lines.put(line, timeout=0.1)
            except queue.Full:
                if not self._stopped.is_set():
                    continue
            return
