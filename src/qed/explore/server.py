"""The explorer on a port of this machine, until Ctrl-C."""

from __future__ import annotations

import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from types import FrameType

import uvicorn

from qed.errors import StoppedError
from qed.explore.app import Explorer, app
from qed.explore.sources import ArchiveView

HOME = "127.0.0.1"
GRACE = 2  # s that requests have to end in when the server does
MOST_AT_ONCE = 64  # connections
PATIENCE = 5.0  # s for a page to come before what it needs is loaded anyway


class _Server(uvicorn.Server):
    """A server that stops what is under way when it is asked to end."""

    explorer: Explorer
    opened: Callable[[], None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop searches, so that their answers end too."""
        self.explorer.queues.stop()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, then say so."""
        await super().startup(sockets)
        if self.opened is not None:
            self.opened()


def serve(
    views: Sequence[ArchiveView], port: int, say: Callable[[str], None], browser: bool
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
    address = f"http://{HOME}:{port}/{token}/"
    config = uvicorn.Config(
        guarded, log_level="warning", access_log=False, server_header=False, ws="none",
        timeout_graceful_shutdown=GRACE, limit_concurrency=MOST_AT_ONCE, timeout_keep_alive=30,
    )  # fmt: skip
    server = _Server(config)
    server.explorer = explorer

    def opened() -> None:
        say(address)
        # The map comes first: two threads of Python are in each other's way.
        timer = threading.Timer(PATIENCE, explorer.warm)
        timer.daemon = True
        timer.start()
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    server.opened = opened
    with listening:
        server.run([listening])
