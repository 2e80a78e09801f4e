"""The explorer behind addresses: a page and its parts, maps, swarms, searches, films."""

import asyncio
import json
import re
import secrets
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cached_property, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from qed.definitions import known
from qed.errors import InputError, StoppedError, choice, integer
from qed.explore import maps, state
from qed.explore.queues import Busy, PageQueues, Simulator, Stream
from qed.explore.security import PATIENCE, Guard, RefusedError, parsed, refusal
from qed.explore.sources import ArchiveView, saved_session

if TYPE_CHECKING:
    from qed.explore.searches import Searcher

# What simulates is imported when it is first needed: the map is there before the compiler is.
PAGE = re.compile(r"[0-9a-f]{16}")
KEPT_FILMS = 8
SOON = 0.2  # s that a page waits for the simulator before it asks again
TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
SCENE_NAMES = ("look", "themed", "posesAt", "signed", "sharp", "drawArena")


def parts() -> dict[str, tuple[bytes, str]]:
    """Return the files of the page by their names, read once: no request reaches the disk."""
    found = {
        file.name: file.read_bytes()
        for file in files("qed.explore").joinpath("page").iterdir()
        if file.name.rpartition(".")[2] in TYPES
    }
    # What draws a replay's page draws here too; there it is a part of a script.
    view = files("qed.view")
    scene, names = view.joinpath("scene.js").read_text("utf-8"), ", ".join(SCENE_NAMES)
    module = f"export function scene(data, $) {{\n{scene}\nreturn {{ {names} }};\n}}"
    found |= {"scene.js": module.encode(), "clock.js": view.joinpath("clock.js").read_bytes()}
    return {name: (text, TYPES[name.rpartition(".")[2]]) for name, text in found.items()}


class Explorer:
    """What is shown, what is under way, and how requests are answered."""

    def __init__(self, views: Sequence[ArchiveView]) -> None:
        self.views = list(views)
        self.sources: list[Path] = []  # as they were named, and a saved session's link
        self.link = ""
        self.queues = PageQueues()
        self.parts = parts()
        self.maps: dict[int, bytes] = {}
        self.simulator = Simulator(self._simulate)
        self.films: OrderedDict[str, tuple[bytes, str]] = OrderedDict()

    def _simulate(self) -> None:
        """Simulate a moment, which loads the machine code before somebody waits for it."""
        from qed.swarm.world import World

        one = self.views[0]
        cell = one.normal_cell
        World(one.environment(cell), one.task).trace(one.controller(cell), 0.4)

    def end(self) -> None:
        """Stop all that is under way, for good."""
        self.simulator.stop()
        self.queues.stop()

    def routes(self) -> list[Route]:
        """Return all addresses."""
        get = {
            "start": self.start,
            "look": self.look,
            "ready": self.ready,
            "map/{number}": self.map,
            "film/{name}": self.made,
        }
        post = (
            self.swarm, self.spread, self.lines, self.search, self.film, self.prepare, self.stop,
            self.advice, self.controller, self.kit, self.session,
        )  # fmt: skip
        parts = {"": "index.html"} | {name: name for name in self.parts}
        return [
            *(Route(f"/api/{address}", answer, methods=["GET"]) for address, answer in get.items()),
            *(Route(f"/api/{one.__name__}", one, methods=["POST"]) for one in post),
            *(
                Route(f"/{address}", partial(self.part, name=name), methods=["GET"])
                for address, name in parts.items()
            ),
        ]

    @cached_property
    def searcher(self) -> "Searcher":
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
        return JSONResponse(maps.page_data(self.views) | {"link": self.link})

    async def look(self, request: Request) -> Response:
        """Answer with how swarms are drawn."""
        found = await to_thread.run_sync(_drawing)
        return JSONResponse(found)

    async def ready(self, request: Request) -> Response:
        """Answer whether the simulator can be used, or how much of it is compiled."""
        self.simulator.begin()
        done = await to_thread.run_sync(self.simulator.done.wait, SOON)
        return JSONResponse({"ready": done, "compiled": self.simulator.share})

    async def map(self, request: Request) -> Response:
        """Answer with a map."""
        number = request.path_params["number"]
        if not number.isdecimal() or len(number) > 4 or int(number) >= len(self.views):
            raise RefusedError(404, "there is no such archive")
        k = int(number)
        if k not in self.maps:
            found = await to_thread.run_sync(maps.as_data, self.views[k])
            self.maps[k] = json.dumps(found, separators=(",", ":")).encode()
        return Response(self.maps[k], media_type="application/json")

    async def swarm(self, request: Request) -> Response:
        """Simulate what is seen, and answer with what every robot did."""
        scene = self._scene(await _asked(request))
        queue = self.queues.of(_page(request))

        def simulated() -> bytes:
            from qed.explore import swarms

            with queue.turn():
                return swarms.message(swarms.recorded(scene))

        answer = await to_thread.run_sync(simulated)
        return Response(answer, media_type="application/octet-stream")

    async def lines(self, request: Request) -> Response:
        """Answer with the lines of Python that do what is seen."""
        asked = await _asked(request)
        scene = self._scene(asked)
        way = asked.get("way", "")
        return JSONResponse({"text": state.written(scene, way if isinstance(way, str) else "")})

    async def spread(self, request: Request) -> Response:
        """Answer with the fitness of what is seen from different starts."""
        scene = self._scene(await _asked(request))
        queue = self.queues.of(_page(request))

        def simulated() -> dict[str, Any]:
            from qed.explore import searches

            with queue.turn():
                return searches.spread(scene)

        return JSONResponse(await to_thread.run_sync(simulated))

    async def advice(self, request: Request) -> Response:
        """Answer what to try next with real robots, given what was tried."""
        from qed.explore import searches

        asked = await _asked(request)
        one = self._view(asked)
        return JSONResponse(await to_thread.run_sync(searches.advice, one, asked.get("told", [])))

    async def controller(self, request: Request) -> Response:
        """Answer with the controllers of what is seen, as numbers."""
        scene = self._scene(await _asked(request))
        each = {cell: scene.view.controller(cell) for cell in dict.fromkeys(scene.cells)}
        return JSONResponse(
            {
                "task": str(scene.task),
                "cells": list(scene.cells),
                "controllers": {
                    str(cell): {"connections": one.connections, "bias": one.bias}
                    for cell, one in each.items()
                },
            }
        )

    async def kit(self, request: Request) -> Response:
        """Answer with the file of an archive's kit."""
        one = self._view(await _asked(request))
        if one.kit is None:
            raise RefusedError(404, "there is no kit for this archive; prepare one")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kit.npz"
            one.kit.save(path)
            return Response(path.read_bytes(), media_type="application/octet-stream")

    async def session(self, request: Request) -> Response:
        """Answer with a file that opens what is seen again."""
        link = (await _asked(request)).get("link")
        if not isinstance(link, str):
            raise RefusedError(422, "link must be a text")
        return JSONResponse(saved_session(self.sources, link))

    # What takes long

    async def search(self, request: Request) -> Response:
        """Search for a recovery, and report it step by step."""
        asked = await _asked(request)
        scene = self._scene(asked)
        way = str(asked.get("way", "exhaustive"))[:40]
        return self._streamed(request, partial(self.searcher.search, scene, way), "search")

    async def prepare(self, request: Request) -> Response:
        """Prepare a small kit for an archive, and report how far it is."""
        asked = await _asked(request)
        self._check_compiled()
        k = integer("archive", asked.get("archive", 0), 0, len(self.views) - 1)

        def work(stream: Stream) -> None:
            from qed.explore import searches

            self.views[k] = searches.prepared(self.views[k], stream)
            stream.send({"kind": "kit", "archive": maps.about(self.views[k])})

        return self._streamed(request, work, "search")

    async def film(self, request: Request) -> Response:
        """Make a film of what is seen, and say where it is."""
        from qed.explore import swarms

        asked = await _asked(request)
        scenes = [self._scene(asked)]
        if asked.get("beside") is not None:
            scenes.append(self._scene(asked, "beside"))
        kind = choice("kind", str(asked.get("film", "mp4"))[:8], swarms.KINDS)
        extra = {name: asked.get(name) is True for name in ("trails", "sensors")}

        def work(stream: Stream) -> None:
            content = swarms.filmed(scenes, kind, stream, **extra)
            name = f"{secrets.token_hex(8)}.{kind}"
            self.films[name] = content, swarms.KINDS[kind]
            while len(self.films) > KEPT_FILMS:
                self.films.popitem(last=False)
            stream.send({"kind": "film", "name": name, "bytes": len(content)})

        return self._streamed(request, work, "film")

    async def stop(self, request: Request) -> Response:
        """Stop what the page has under way, at once."""
        asked = await _asked(request)
        for stream in list(self.queues.of(_page(request)).streams):
            if stream.kind == asked.get("what"):
                stream.stop()
        return JSONResponse({})

    async def made(self, request: Request) -> Response:
        """Answer with a film that was made."""
        name = request.path_params["name"]
        if name not in self.films:
            raise RefusedError(404, "this film is no longer there; make it again")
        content, kind = self.films[name]
        ending = name.rpartition(".")[2]
        headers = {"content-disposition": f'attachment; filename="qed-swarm.{ending}"'}
        return Response(content, media_type=kind, headers=headers)

    def _scene(self, asked: dict[str, Any], name: str = "state") -> state.Scene:
        self._check_compiled()
        return state.checked(asked.get(name), self.views)

    def _view(self, asked: dict[str, Any]) -> ArchiveView:
        return self.views[integer("archive", asked.get("archive", 0), 0, len(self.views) - 1)]

    def _check_compiled(self) -> None:
        if self.simulator.compiling:
            raise RefusedError(503, "the simulator is being compiled; ask again in a moment")

    def _streamed(self, request: Request, work: Callable[[Stream], None], kind: str) -> Response:
        """Begin a piece of work, and answer with its lines; it stops when the page leaves."""
        stream = Stream(self.queues.of(_page(request)), work, kind)

        async def lines() -> AsyncIterator[bytes]:
            try:
                while (line := await to_thread.run_sync(stream.next)) is not None:
                    yield line or b"\n"  # an empty line notices that the page has left
            finally:
                stream.stop()

        return StreamingResponse(lines(), media_type="application/x-ndjson")


def _drawing() -> dict[str, Any]:
    """Return what the drawing of swarms needs; it is asked for beside the map, and loads more."""
    from qed.swarm.faults import Fault
    from qed.swarm.robot import THYMIO
    from qed.view import look, player

    return player.drawing(known(Fault).values(), THYMIO) | {"marks": look.MARKS}


async def _refused(_: Request, error: Exception) -> Response:
    """Answer what is wrong with a request."""
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)
    if isinstance(error, Busy):
        error = RefusedError(429, "too many tasks are running; stop one")
    return refusal(error if isinstance(error, RefusedError) else RefusedError(422, str(error)))


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


def app(views: Sequence[ArchiveView], token: str, hosts: Sequence[str]) -> tuple[ASGIApp, Explorer]:
    """Return the application, guarded, and what is behind it."""
    explorer = Explorer(views)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        yield
        explorer.end()

    refused = dict.fromkeys(
        (RefusedError, InputError, StoppedError, Busy, ClientDisconnect), _refused
    )
    inner = Starlette(routes=explorer.routes(), lifespan=life, exception_handlers=refused)
    inner.router.redirect_slashes = False  # an address is one of ours or none
    return Guard(inner, token, hosts), explorer
