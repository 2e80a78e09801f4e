"""Small archives to explore, and requests to their application without a port."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
from kits import _rounded, made
from starlette.types import ASGIApp

import qed
from qed.archive.archive import Archive
from qed.archive.grid import Categories
from qed.controller.genome import from_controllers

SECONDS = 8.0
TOKEN = "0123456789abcdef0123456789abcdef"
HOST = "127.0.0.1:5000"
PAGE = "00112233445566aa"


def archive(cells: int = 40) -> Archive:
    """Return an archive of random controllers, those of ``kits.made``; nothing is simulated."""
    settings = {"task": "patrolling", "algorithm": "qed", "seconds": SECONDS, "seed": 1}
    found = Archive(Categories((4,) * 6), {"settings": settings})
    numbers = 3 * np.arange(cells)
    options = np.stack(np.unravel_index(numbers, (4,) * 6), 1).astype(np.float32)
    controllers = [_rounded(qed.Controller.random(k)) for k in range(cells)]
    fitness = np.random.default_rng(1).uniform(0.2, 0.9, cells)
    found.fill_cells(numbers, from_controllers(controllers), fitness, options)
    return found


def saved(folder: Path) -> tuple[Path, Path]:
    """Return the files of that archive and of its kit."""
    archive().save(folder / "small.npz")
    made().save(folder / "kit.npz")
    return folder / "small.npz", folder / "kit.npz"


def state(**more: Any) -> dict[str, Any]:
    """Return what a page asks for: ten robots in the normal environment."""
    return {"cells": [3], "environment": {}, "seconds": SECONDS, **more}


def broken(time: float = 4.0, seed: int = 7) -> list[Any]:
    """Return an event: a combined fault of ten robots."""
    return [time, list(qed.Faults.sample(10, seed=seed))]


Headers = list[tuple[bytes, bytes]]


def usual(body: bytes = b"", host: str = HOST) -> Headers:
    """Return the headers that the page itself sends."""
    origin = f"http://{host}".encode()
    return [
        (b"host", host.encode()), (b"origin", origin), (b"sec-fetch-site", b"same-origin"),
        (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()),
        (b"x-page", PAGE.encode()),
    ]  # fmt: skip


def asked(
    app: ASGIApp,
    method: str,
    path: str,
    body: bytes = b"",
    headers: Headers | None = None,
    query: bytes = b"",
) -> tuple[int, bytes]:
    """Return the status of a request and what it answered."""
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
        "method": method, "scheme": "http", "path": path, "raw_path": path.encode("utf-8"),
        "query_string": query, "root_path": "", "client": ("127.0.0.1", 4000),
        "server": ("127.0.0.1", 5000), "headers": usual(body) if headers is None else headers,
    }  # fmt: skip
    sent = [{"type": "http.request", "body": body, "more_body": False}]
    got: list[Any] = []

    async def receive() -> Any:
        if sent:
            return sent.pop(0)
        return await asyncio.Future()  # the page stays

    async def send(message: Any) -> None:
        got.append(message)

    asyncio.run(app(scope, receive, send))
    status = next(one["status"] for one in got if one["type"] == "http.response.start")
    return status, b"".join(one.get("body", b"") for one in got)


def posted(app: ASGIApp, address: str, table: Any) -> tuple[int, bytes]:
    """Send a table as the page does."""
    return asked(app, "POST", f"/{TOKEN}/api/{address}", json.dumps(table).encode())
