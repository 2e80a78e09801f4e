"""``qed explore``: a page on this machine to see archives, break robots and recover them."""

from pathlib import Path
from typing import Annotated

import typer

from qed.cli import options

SOURCES = "Archives, kits, runs, studies, or a saved session (default: the archives of QED)."


def explore(
    paths: Annotated[list[Path] | None, typer.Argument(metavar="SOURCE", help=SOURCES)] = None,
    port: Annotated[int, typer.Option(help="Port on this machine; 0: any free port.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    files: options.With = None,
) -> None:
    """Explore an archive and its swarm in the browser: run cells, break robots, recover.

    The page is served to this machine alone, until Ctrl-C.
    """
    from qed.errors import StoppedError, integer

    try:
        from qed.explore.server import serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn", "anyio"):
            raise
        raise StoppedError(
            "the explorer needs Starlette and uvicorn: pip install 'qed-swarm[explore]'"
        ) from error
    from qed.explore.sources import opened_session, views_of

    integer("port", port, 0, 65535)
    sources, link = opened_session(paths or [])
    found = views_of(sources)

    def say(address: str) -> None:
        count = f"{len(found)} archives" if len(found) > 1 else found[0].name
        typer.echo(f"Exploring {count} at\n{address}\nCtrl-C ends it.")

    try:
        serve(found, port, say, browser, sources, link)
    except KeyboardInterrupt:
        typer.echo("", err=True)
