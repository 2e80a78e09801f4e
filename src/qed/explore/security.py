"""Who may ask, and how much: the explorer answers its own page on this machine and nobody else.

A page of another site, open in the same browser, can send requests to this port too.  It does not
know the token in the address, its Origin is another one, and a name that it points to this machine
(DNS rebinding) is not one of our hosts.
"""

import json
import re
from collections.abc import Iterable
from hmac import compare_digest
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 64 * 1024  # bytes
PATIENCE = 10.0  # s for a request's body
PLAIN = re.compile(rb"[A-Za-z0-9._/-]{1,200}")  # what a path of ours is made of
DEEPEST = 8  # lists and tables within each other
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class RefusedError(Exception):
    """A request that is not answered: its status, and why."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class Guard:
    """Lets requests through that have the token, come from our page, and are small enough."""

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str]) -> None:
        self.app = app
        self.token = token.encode()
        self.hosts = {host.encode() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            inner = self._checked(scope)
        except RefusedError as refused:
            await refusal(refused)(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        await self.app(inner, receive, guarded)

    def _checked(self, scope: Scope) -> Scope:
        """Return the request as the application sees it, without the token."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            raise RefusedError(403, "this is not the explorer's address")
        origins = headers.get(b"origin", [])
        if any(origin.lower() != b"http://" + hosts[0].lower() for origin in origins):
            raise RefusedError(403, "requests from other pages are refused")
        site = headers.get(b"sec-fetch-site", [b"same-origin"])[0]
        elsewhere = site not in (b"same-origin", b"none")
        raw = scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
        path = raw.partition(b"?")[0]
        if not PLAIN.fullmatch(path) or b".." in path or b"//" in path:
            raise RefusedError(400, "there is no such address")
        first, slash, rest = path[1:].partition(b"/")
        if not slash or not compare_digest(first, self.token):
            raise RefusedError(403, "wrong token; use the address that 'qed explore' printed")
        # Others may only lead to the page itself, as the file does that a browser is started with.
        opened = headers.get(b"sec-fetch-dest") == [b"document"] and scope["method"] == "GET"
        if elsewhere and (rest or not opened):
            raise RefusedError(403, "requests from other pages are refused")
        if scope["method"] == "POST":
            self._check_body(headers, origins)
        elif scope["method"] != "GET":
            raise RefusedError(405, "only GET and POST are allowed")
        if len(scope.get("query_string", b"")) > 200:
            raise RefusedError(414, "the address is too long")
        inner = "/" + rest.decode("ascii")
        return {**scope, "path": inner, "raw_path": inner.encode(), "root_path": ""}

    def _check_body(self, headers: dict[bytes, list[bytes]], origins: list[bytes]) -> None:
        if not origins:
            raise RefusedError(403, "requests from other programs are refused")
        kinds = headers.get(b"content-type", [])
        if len(kinds) != 1 or kinds[0].split(b";")[0].strip() != b"application/json":
            raise RefusedError(415, "the request must be JSON")
        lengths = headers.get(b"content-length", [])
        if len(lengths) != 1 or not re.fullmatch(rb"[0-9]{1,9}", lengths[0]):
            raise RefusedError(411, "the request has no Content-Length")
        if int(lengths[0]) > LARGEST_BODY:
            raise RefusedError(413, f"a request has at most {LARGEST_BODY:,} bytes")


def refusal(refused: RefusedError) -> JSONResponse:
    """Return the answer to a request that is refused."""
    return JSONResponse({"words": refused.words}, refused.status, headers=HEADERS)


def parsed(body: bytes) -> dict[str, Any]:
    """Return the table in a request's body; RefusedError if it is anything else."""
    if len(body) > LARGEST_BODY:
        raise RefusedError(413, f"a request has at most {LARGEST_BODY:,} bytes")
    # What nests deep is refused before it is parsed: parsers and checks recurse.
    depth = deepest = 0
    for byte in body:
        depth += (byte in b"[{") - (byte in b"]}")
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise RefusedError(400, "the request is nested too deeply")
    try:
        found = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise RefusedError(400, "the request is not JSON") from None
    if not isinstance(found, dict) or any(len(key) > 40 for key in found):
        raise RefusedError(400, "the request must be a table")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")
