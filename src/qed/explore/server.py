"""The explorer on a port of this machine, until Ctrl-C."""

import asyncio
import logging
import secrets
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import uvicorn
from h11 import LocalProtocolError
from uvicorn.protocols.http.h11_impl import H11Protocol

from qed.errors import StoppedError
from qed.explore.app import Explorer, app
from qed.explore.sources import ArchiveView

HOME = "127.0.0.1"
GRACE = 2  # s that requests have to end in when the server does
MOST_AT_ONCE = 200  # connections; far fewer than files that a process may have open
ACCEPTED = 16  # at most, before those that are there are heard: who asks at once is not yet oldest
WAITING = 1024  # connections that the system keeps until they are accepted
HEAD = 10.0  # s in which a connection has to ask for something, the first time and again
SNAPS = Path("/snap")  # browsers from there see no hidden folders and another /tmp
PATIENCE = 5.0  # s for a page to come before what it needs is loaded anyway


class _Connection(H11Protocol):
    """A connection that is closed when it asks for nothing, or for too long for one thing.

    Anybody on this machine can connect, and a connection costs a file.  If there are too many, the
    oldest that is not being answered has to go, so that a page that asks is always heard.
    """

    _since = 0.0
    _deadline: asyncio.TimerHandle | None = None

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > MOST_AT_ONCE:
            every = [one for one in self.connections if isinstance(one, _Connection)]
            idle = [one for one in every if not one._answering]
            min(idle, key=lambda one: one._since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._deadline is not None:
            self._deadline.cancel()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        """Begin to wait for a request."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._since = self.loop.time()
        self._deadline = self.loop.call_later(HEAD, self._late)

    def _late(self) -> None:
        if not self._answering:
            self.transport.abort()


def _needed(record: logging.LogRecord) -> bool:
    """Return whether users need what uvicorn has to say: only of an error of ours, to report it."""
    error = record.exc_info[1] if record.exc_info else None
    theirs = isinstance(error, LocalProtocolError)  # they broke the connection off
    return isinstance(error, Exception) and not theirs


class _Server(uvicorn.Server):
    """A server that stops what is under way when it is asked to end."""

    explorer: Explorer
    opened: Callable[[], None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop searches and the compiler, so that their answers end too."""
        self.explorer.end()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, then say so."""
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(WAITING)
        if self.opened is not None:
            self.opened()


def serve(
    views: Sequence[ArchiveView],
    port: int,
    say: Callable[[str], None],
    browser: bool,
    sources: Sequence[Path] = (),
    link: str = "",
) -> None:
    """Serve the explorer, say its address, and open a browser if wanted; return at the end."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOME, port))
    except OSError as error:
        listening.close()
        raise StoppedError(
            f"port {port} is not free ({error.strerror}); choose another with --port"
        ) from error
    port = listening.getsockname()[1]
    token = secrets.token_hex(16)
    guarded, explorer = app(views, token, [f"{HOME}:{port}", f"localhost:{port}"])
    explorer.sources, explorer.link = list(sources), link
    address = f"http://{HOME}:{port}/{token}/"
    config = uvicorn.Config(
        guarded, log_level="error", access_log=False, server_header=False, ws="none",
        http=_Connection, backlog=ACCEPTED, timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=round(HEAD), proxy_headers=False,
    )  # fmt: skip
    logging.getLogger("uvicorn.error").addFilter(_needed)
    server = _Server(config)
    server.explorer = explorer

    def opened() -> None:
        say(address)
        # The map comes first: two threads of Python are in each other's way.
        timer = threading.Timer(PATIENCE, explorer.simulator.begin)
        timer.daemon = True
        timer.start()
        if browser:
            threading.Thread(target=webbrowser.open, args=(way.as_uri(),), daemon=True).start()

    server.opened = opened
    with listening, _way_to(address) as way:
        server.run([listening])


@contextmanager
def _way_to(address: str) -> Iterator[Path]:
    """Yield a page that leads to an address, which only this user can read.

    All users of a machine see what a browser is started with, so that must not be the token.
    """
    folder = Path.home() if SNAPS.is_dir() else None
    with tempfile.NamedTemporaryFile(
        "w", prefix="qed-explore-", suffix=".html", dir=folder
    ) as file:
        file.write(
            f'<!DOCTYPE html><meta charset="utf-8"><title>QED explorer</title>'
            f'<meta http-equiv="refresh" content="0; url={address}"><a href="{address}">Open</a>\n'
        )
        file.flush()
        yield Path(file.name)
