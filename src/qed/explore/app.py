"""The explorer behind addresses: a page and its parts, maps, swarms, searches, films."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cached_property, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from qed.errors import InputError, StoppedError, choice, whole
from qed.explore import looks, maps, state
from qed.explore.jobs import Busy, Desks, Stream
from qed.explore.security import PATIENCE, Guard, RefusedError, parsed, refusal
from qed.explore.sources import Shown

if TYPE_CHECKING:
    from qed.explore.searches import Searcher

# What simulates is imported when it is first needed: the map is there before the compiler is.
PAGE = re.compile(r"[0-9a-f]{16}")
KEPT_FILMS = 8
TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
SCENE_NAMES = (
    "look", "themed", "posesAt", "shades", "sharp", "path", "mixed", "drawArena",
)  # fmt: skip

Answer = Callable[[Request], Awaitable[Response]]


def parts() -> dict[str, tuple[bytes, str]]:
    """Return the files of the page by their names, read once: no request reaches the disk."""
    found = {
        file.name: file.read_bytes()
        for file in files("qed.explore").joinpath("page").iterdir()
        if file.name.rpartition(".")[2] in TYPES and not file.name.startswith("film.")
    }
    # What draws the html replay draws here too; there it is a part of a script.
    scene = files("qed.view").joinpath("scene.js").read_text("utf-8")
    module = (
        f"export function scene(data, $) {{\n{scene}\nreturn {{ {', '.join(SCENE_NAMES)} }};\n}}"
    )
    found["scene.js"] = module.encode()
    return {name: (text, TYPES[name.rpartition(".")[2]]) for name, text in found.items()}


class Explorer:
    """What is shown, what is under way, and how requests are answered."""

    def __init__(self, shown: Sequence[Shown]) -> None:
        self.shown = list(shown)
        self.desks = Desks()
        self.parts = parts()
        self.maps: dict[int, bytes] = {}
        self._warm = False
        self.films: OrderedDict[str, tuple[bytes, str]] = OrderedDict()

    def warm(self) -> None:
        """Load or make the machine code before somebody waits for it, once."""
        if self._warm:
            return
        self._warm = True
        from qed.explore.recording import Watched

        one = self.shown[0]
        cell = one.normal_cell
        Watched(one.environment(cell), one.task).watch(one.controller(cell), 0.4)

    def routes(self) -> list[Route]:
        """Return all addresses."""
        post = {
            "swarm": self.swarm,
            "lines": self.lines,
            "search": self.search,
            "film": self.film,
            "prepare": self.prepare,
            "stop": self.stop,
        }
        return [
            Route("/", partial(self.part, name="index.html"), methods=["GET"]),
            Route("/api/start", self.start, methods=["GET"]),
            Route("/api/look", self.look, methods=["GET"]),
            Route("/api/map/{number}", _plainly(self.map), methods=["GET"]),
            Route("/api/film/{name}", self.made, methods=["GET"]),
            *(
                Route(f"/api/{name}", _plainly(answer), methods=["POST"])
                for name, answer in post.items()
            ),
            *(
                Route(f"/{name}", partial(self.part, name=name), methods=["GET"])
                for name in self.parts
            ),
        ]

    @cached_property
    def searcher(self) -> Searcher:
        """What searches, and remembers."""
        from qed.explore.searches import Searcher

        return Searcher()

    # The page and what it draws

    async def part(self, request: Request, name: str) -> Response:
        """Answer with a file of the page."""
        text, kind = self.parts[name]
        return Response(text, media_type=kind)

    async def start(self, request: Request) -> Response:
        """Answer with what the page has to know once."""
        return JSONResponse(looks.as_data(self.shown))

    async def look(self, request: Request) -> Response:
        """Answer with how swarms are drawn."""
        found = await to_thread.run_sync(looks.drawing)
        threading.Thread(target=self.warm, daemon=True).start()
        return JSONResponse(found)

    async def map(self, request: Request) -> Response:
        """Answer with a map."""
        number = request.path_params["number"]
        if not number.isdecimal() or len(number) > 4 or int(number) >= len(self.shown):
            return refusal(RefusedError(404, "there is no such archive"))
        k = int(number)
        if k not in self.maps:
            found = await to_thread.run_sync(maps.as_data, self.shown[k])
            self.maps[k] = json.dumps(found, separators=(",", ":")).encode()
        return Response(self.maps[k], media_type="application/json")

    async def swarm(self, request: Request) -> Response:
        """Simulate what is seen, and answer with what every robot did."""
        asked = await _asked(request)
        scene = state.checked(asked.get("state"), self.shown)
        desk = self.desks.of(_page(request))

        def simulated() -> bytes:
            from qed.explore import swarms

            with desk.turn():
                return swarms.message(swarms.lived(scene))

        answer = await to_thread.run_sync(simulated)
        return Response(answer, media_type="application/octet-stream")

    async def lines(self, request: Request) -> Response:
        """Answer with the lines of Python that do what is seen."""
        from qed.explore import lines

        asked = await _asked(request)
        scene = state.checked(asked.get("state"), self.shown)
        way = asked.get("way", "")
        return JSONResponse({"text": lines.written(scene, way if isinstance(way, str) else "")})

    # What takes long

    async def search(self, request: Request) -> Response:
        """Search for a recovery, and tell it step by step."""
        asked = await _asked(request)
        scene = state.checked(asked.get("state"), self.shown)
        way = str(asked.get("way", "exhaustive"))[:40]

        def work(stream: Stream) -> None:
            self.searcher.search(scene, way, stream)

        return self._streamed(request, work, "search")

    async def prepare(self, request: Request) -> Response:
        """Prepare a small kit for an archive, and tell how far it is."""
        asked = await _asked(request)
        k = whole("archive", asked.get("archive", 0), 0, len(self.shown) - 1)

        def work(stream: Stream) -> None:
            from qed.explore import kits

            self.shown[k] = kits.prepared(self.shown[k], stream)
            stream.tell({"kind": "kit", "archive": looks.about(self.shown[k])})

        return self._streamed(request, work, "search")

    async def film(self, request: Request) -> Response:
        """Make a film of what is seen, and tell where it is."""
        from qed.explore import film

        asked = await _asked(request)
        scenes = [state.checked(asked.get("state"), self.shown)]
        if asked.get("beside") is not None:
            scenes.append(state.checked(asked["beside"], self.shown))
        kind = choice("kind", str(asked.get("film", "mp4"))[:8], film.KINDS)
        extra = {name: asked.get(name) is True for name in ("trails", "sensors")}

        def work(stream: Stream) -> None:
            content = film.made(scenes, kind, stream, **extra)
            name = f"{secrets.token_hex(8)}.{kind}"
            self.films[name] = content, film.KINDS[kind]
            while len(self.films) > KEPT_FILMS:
                self.films.popitem(last=False)
            stream.tell({"kind": "film", "name": name, "bytes": len(content)})

        return self._streamed(request, work, "film")

    async def stop(self, request: Request) -> Response:
        """Stop what the page has under way, at once."""
        asked = await _asked(request)
        for stream in list(self.desks.of(_page(request)).streams):
            if stream.kind == asked.get("what"):
                stream.stop()
        return JSONResponse({})

    async def made(self, request: Request) -> Response:
        """Answer with a film that was made."""
        name = request.path_params["name"]
        if name not in self.films:
            return refusal(RefusedError(404, "this film is no longer there; make it again"))
        content, kind = self.films[name]
        ending = name.rpartition(".")[2]
        headers = {"content-disposition": f'attachment; filename="qed-swarm.{ending}"'}
        return Response(content, media_type=kind, headers=headers)

    def _streamed(self, request: Request, work: Callable[[Stream], None], kind: str) -> Response:
        """Begin a piece of work, and answer with its lines; it stops when the page leaves."""
        stream = Stream(self.desks.of(_page(request)), work, kind)

        async def told() -> AsyncIterator[bytes]:
            try:
                while (line := await to_thread.run_sync(stream.next)) is not None:
                    yield line or b"\n"  # an empty line notices that the page has left
            finally:
                stream.stop()

        return StreamingResponse(told(), media_type="application/x-ndjson")


def _plainly(answer: Answer) -> Answer:
    """Turn what is wrong with a request into an answer that says it."""

    async def plain(request: Request) -> Response:
        try:
            return await answer(request)
        except RefusedError as refused:
            return refusal(refused)
        except (InputError, StoppedError) as error:
            return refusal(RefusedError(422, str(error)))
        except Busy:
            return refusal(RefusedError(429, "too many tasks are running; stop one"))
        except ClientDisconnect:
            return Response(status_code=400)

    return plain


async def _asked(request: Request) -> dict[str, Any]:
    """Return the table that a request sends."""
    try:
        body = await asyncio.wait_for(request.body(), PATIENCE)
    except TimeoutError:
        raise RefusedError(408, "the request did not arrive in time") from None
    return parsed(body)


def _page(request: Request) -> str:
    """Return the name that a page has given itself."""
    page = request.headers.get("x-page", "")
    if not PAGE.fullmatch(page):
        raise RefusedError(400, "the request does not name its page")
    return page


def app(shown: Sequence[Shown], token: str, hosts: Sequence[str]) -> tuple[ASGIApp, Explorer]:
    """Return the application, guarded, and what is behind it."""
    explorer = Explorer(shown)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        yield
        explorer.desks.stop()

    inner = Starlette(routes=explorer.routes(), lifespan=life)
    inner.router.redirect_slashes = False  # an address is one of ours or none
    return Guard(inner, token, hosts), explorer
