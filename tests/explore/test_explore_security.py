"""Requests that are not of our page are refused, whatever they are; the server stays alive."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from kits import made
from made_shown import HOST, TOKEN, archive, asked, broken, posted, state, usual
from starlette.types import ASGIApp

from qed.explore.app import Explorer, app
from qed.explore.sources import ArchiveView

HOME = f"/{TOKEN}/"


@pytest.fixture(scope="module")
def both() -> tuple[ASGIApp, Explorer]:
    return app([ArchiveView("small", "small.npz", archive(), made(), "kit.npz")], TOKEN, [HOST])


@pytest.fixture(scope="module")
def guarded(both: tuple[ASGIApp, Explorer]) -> ASGIApp:
    return both[0]


def test_the_page_gets_what_it_needs(guarded: ASGIApp) -> None:
    status, text = asked(guarded, "GET", HOME)
    assert status == 200
    assert b"QED explorer" in text
    for name in ("main.js", "style.css", "scene.js", "api/start", "api/map/0"):
        status, text = asked(guarded, "GET", HOME + name)
        assert (status, bool(text)) == (200, True), name
    status, content = posted(guarded, "swarm", {"state": state(events=[broken()])})
    assert (status, len(content) > 10_000) == (200, True)
    status, text = posted(guarded, "lines", {"state": state()})
    assert (status, "qed.trace" in json.loads(text)["text"]) == (200, True)
    status, lines = posted(guarded, "search", {"state": state(events=[broken()]), "way": "kit"})
    assert status == 200
    assert json.loads(lines.strip().splitlines()[-1])["kind"] == "found"


def test_the_whole_page_is_small(both: tuple[ASGIApp, Explorer]) -> None:
    guarded, explorer = both
    size = sum(len(text) for text, _ in explorer.parts.values())
    size += len(asked(guarded, "GET", HOME + "api/start")[1])
    assert size < 200_000


def replaced(name: bytes, value: bytes | None, body: bytes = b"") -> list[tuple[bytes, bytes]]:
    """Return the usual headers with one replaced, or left out."""
    kept = [(key, old) for key, old in usual(body) if key != name]
    return kept if value is None else [*kept, (name, value)]


def malformed(count: int) -> Iterator[tuple[Any, ...]]:
    """Yield requests that are wrong in one way each: method, path, body, headers."""
    draw = random.Random(5)
    fine = json.dumps({"state": state()}).encode()
    post = HOME + "api/swarm"
    wrong_hosts = [
        b"evil.example",
        b"127.0.0.1",
        b"127.0.0.1:80",
        b"localhost:5000.evil",
        b"",
        None,
    ]
    tricks = [
        "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/main.js", "main.js/..", "//main.js",
        "static/../main.js", "main.js%00", "..\\main.js", "api/map/../../x", "api/map/1e9",
        "api/map/-1", "api/map/99", "api/film/..", "api/film/x.mp4", "main.JS", ".", "é.js",
        "api/map/" + "9" * 150, "a" * 500, "index.html/", "__init__.py", "api/", "api/swarm/x",
    ]  # fmt: skip
    numbers = [1e308, -1e308, 10**400, "NaN", None, True, [], {}, "x" * 5000, -1, 2**70, 0.5]
    fields = ["archive", "cells", "environment", "seconds", "seed", "events", "start", "task"]
    broken_json = [
        b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"state":', b"NaN", b'{"state": NaN}', b"{" * 500,
        b"[" * 60_000, b'{"a":' * 20 + b"1" + b"}" * 20, b'"' + b"x" * 9000, b"1" * 6000,
        b'{"state": {"seconds": 1e999}}', b'{"state": {"seed": ' + b"9" * 5000 + b"}}",
    ]  # fmt: skip
    for _ in range(count):
        kind = draw.randrange(9)
        if kind == 0:
            token = draw.choice([TOKEN[:-1], TOKEN + "0", "", TOKEN.upper(), "0" * 32, "%30" * 9])
            yield "GET", f"/{token}/{draw.choice(['', 'main.js', 'api/start'])}", b"", usual()
        elif kind == 1:
            yield "GET", HOME, b"", replaced(b"host", draw.choice(wrong_hosts))
        elif kind == 2:
            origin = draw.choice([b"http://evil.example", b"null", b"https://127.0.0.1:5000", b""])
            yield "POST", post, fine, replaced(b"origin", draw.choice([origin, None]), fine)
        elif kind == 3:
            yield "GET", HOME + draw.choice(tricks), b"", usual()
        elif kind == 4:
            body = draw.choice(broken_json)
            yield "POST", post, body, usual(body)
        elif kind == 5:
            name, value = draw.choice(fields), draw.choice(numbers)
            table = {**state(events=[broken()]), name: value}
            if name == "environment" and value in (None, {}):
                table["cells"] = [1]
            if (name, value) in (("task", None), ("events", [])):
                table["archive"] = 9
            if name in ("seconds", "seed") and value == 0.5:
                table["seed"] = 0.5
            body = json.dumps({"state": table}).encode()
            yield "POST", post, body, usual(body)
        elif kind == 6:
            length = draw.choice([b"99999999", b"-1", b"x", b"1e3", b"65537", None])
            yield "POST", post, fine, replaced(b"content-length", length, fine)
        elif kind == 7:
            method = draw.choice(["PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "BREW", "POST"])
            yield method, HOME + draw.choice(["", "api/start"]), b"", usual()
        else:
            name, value = draw.choice(
                [
                    (b"content-type", b"text/plain"), (b"content-type", None), (b"x-page", None),
                    (b"x-page", b"../../x"), (b"sec-fetch-site", b"cross-site"),
                    (b"sec-fetch-site", b"same-site"),
                ]
            )  # fmt: skip
            address = draw.choice(["swarm", "search", "film", "prepare"])
            body = json.dumps({"state": state(events=[broken()]), "archive": 0}).encode()
            yield "POST", f"{HOME}api/{address}", body, replaced(name, value, body)


def test_two_thousand_malformed_requests_are_refused(both: tuple[ASGIApp, Explorer]) -> None:
    guarded, explorer = both
    for number, (method, path, body, headers) in enumerate(malformed(2000)):
        status, answer = asked(guarded, method, path, body, headers)
        assert 400 <= status < 500, (
            number,
            method,
            path,
            body[:100],
            headers,
            status,
            answer[:200],
        )
    assert not explorer.queues.streams
    assert asked(guarded, "GET", HOME)[0] == 200


def test_others_may_lead_to_the_page_but_to_nothing_behind_it(guarded: ASGIApp) -> None:
    def status(path: str, **sent: bytes) -> int:
        fetch = [(b"sec-fetch-" + name.encode(), value) for name, value in sent.items()]
        headers = [one for one in usual() if one[0] not in (b"origin", b"sec-fetch-site")]
        return asked(guarded, "GET", path, b"", [*headers, *fetch])[0]

    for site in (b"cross-site", b"same-site"):
        assert status(HOME, site=site, dest=b"document") == 200
        assert status(HOME, site=site, dest=b"iframe") == 403
        assert status(HOME, site=site) == 403
        assert status(f"{HOME}api/start", site=site, dest=b"document") == 403
        assert status(f"{HOME}main.js", site=site, dest=b"script") == 403
        assert status("/0/", site=site, dest=b"document") == 403


def test_no_websocket_and_no_long_query(guarded: ASGIApp) -> None:
    import asyncio

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": HOME, "headers": usual(), "query_string": b""}
    asyncio.run(guarded(scope, None, send))  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008}]
    assert asked(guarded, "GET", HOME, query=b"x" * 300)[0] == 414
