"""The server on its port: connections that ask for nothing, noise, and how a browser is started."""

from __future__ import annotations

import asyncio
import http.client
import random
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from browser import Browser
from made_shown import saved
from serving import Served
from uvicorn.server import ServerState

from qed.explore import server


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Path]]:
    """A server that started a browser, and the file with the words that that was started with."""
    folder = tmp_path_factory.mktemp("served")
    script, words = folder / "browser", folder / "words"
    script.write_text(f'#!/bin/sh\nprintf %s "$*" > {words}.new && mv {words}.new {words}\n')
    script.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BROWSER", f"{script} %s")
        served = Served(*saved(folder), browser=True)
    until = time.monotonic() + 20.0
    while not words.exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    yield served, words
    served.close()


def asked(served: Served, path: str | None = None) -> int:
    """Return the status of a request for the page, or for a path."""
    line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=5.0)
    line.request("GET", "/" + served.address.split("/", 3)[3] if path is None else path)
    status = line.getresponse().status
    line.close()
    return status


def test_idle_and_slow_connections_keep_nobody_out(started: tuple[Served, Path]) -> None:
    served, _ = started
    with ExitStack() as opened:
        for number in range(500):
            one = opened.enter_context(socket.create_connection(("127.0.0.1", served.port)))
            if number % 2:
                one.sendall(b"GET / HT")
            if number % 50 == 0:
                assert asked(served) == 200, number
        assert asked(served) == 200


def noise(count: int) -> Iterator[bytes]:
    """Yield what is no request, or one that nobody answers."""
    draw = random.Random(3)
    heads = [
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nX: \x00\r\n\r\n",
    ]  # fmt: skip
    for _ in range(count):
        yield draw.choice(heads) if draw.random() < 0.5 else draw.randbytes(draw.randrange(1, 400))


def test_noise_is_refused_and_prints_nothing(tmp_path: Path) -> None:
    served = Served(*saved(tmp_path))
    try:
        for text in noise(200):
            with socket.create_connection(("127.0.0.1", served.port), timeout=5.0) as line:
                line.sendall(text)
                line.shutdown(socket.SHUT_WR)
                try:
                    answer = line.recv(100)
                except ConnectionResetError:
                    answer = b""
                assert answer == b"" or re.match(rb"HTTP/1.1 4\d\d ", answer), (text, answer)
        assert asked(served) == 200
        status, said = served.interrupted()
    finally:
        served.close()
    assert (status, said.strip()) == (0, "")


def test_who_asks_too_slowly_is_let_go_and_who_is_answered_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "HEAD", 0.3)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        """Answer for a second."""
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(10):
            await send({"type": "http.response.body", "body": b"x" * 10, "more_body": True})
            await asyncio.sleep(0.1)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def story() -> None:
        config = uvicorn.Config(app, http=server._Connection, ws="none", log_level="error")
        config.load()
        state = ServerState()
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(
            lambda: server._Connection(config, state, {}), "127.0.0.1", 0
        )
        port = listening.sockets[0].getsockname()[1]

        async def slow() -> float:
            begin = loop.time()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for letter in b"GET / HTTP/1.1\r\nHost: " + b"x" * 80:
                writer.write(bytes([letter]))
                await asyncio.sleep(0.02)
                if reader.at_eof():
                    break
            writer.close()
            return loop.time() - begin

        async def answered() -> tuple[int, float]:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            text = await reader.readuntil(b"0\r\n\r\n")
            begin = loop.time()
            assert await reader.read() == b""  # idle again, and let go
            writer.close()
            return text.count(b"x"), loop.time() - begin

        lasted, (letters, idle) = await asyncio.gather(slow(), answered())
        assert letters == 100
        assert 0.2 < lasted < 1.5
        assert 0.2 < idle < 1.5
        listening.close()

    asyncio.run(story())


def test_the_browser_is_not_started_with_the_token(started: tuple[Served, Path]) -> None:
    served, words = started
    token = served.address.split("/")[3]
    given = words.read_text()
    assert token not in given
    file = Path(given.removeprefix("file://"))
    assert file.stat().st_mode & 0o777 == 0o600
    assert served.address in file.read_text()
    for name in ("cmdline", "environ"):
        assert token.encode() not in Path(f"/proc/{served.process.pid}/{name}").read_bytes()


def test_the_file_leads_a_browser_to_the_page(
    started: tuple[Served, Path], browser: Browser
) -> None:
    served, words = started
    browser.open(words.read_text(), 1000)
    browser.until(f"location.href.startsWith({served.address!r})")
    browser.until("document.querySelector('#summary')?.textContent.includes('cells')")
    assert browser.complaints() == []


def test_the_file_goes_when_the_explorer_does(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path))
        served = Served(*saved(tmp_path))
    assert list(tmp_path.glob("qed-explore-*"))
    assert served.interrupted()[0] == 0
    assert not list(tmp_path.glob("qed-explore-*"))
