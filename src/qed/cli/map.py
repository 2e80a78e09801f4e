"""``qed map``: a picture of an archive."""

from pathlib import Path
from typing import Annotated

import typer

from qed.cli import options


def map_(
    path: options.Archive,
    out: Annotated[
        Path | None,
        typer.Option(help="Image file, png, pdf or svg (default: map.png beside the archive)."),
    ] = None,
    files: options.With = None,
) -> None:
    """Draw the filled cells of an archive and their fitness."""
    from qed.archive.stored import open_archive
    from qed.errors import InputError
    from qed.view.maps import draw_map

    archive, _, source = open_archive(path)
    target = out or source.with_name("map.png")
    if target.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InputError(f"out: the file must end in .png, .pdf or .svg, got {target.name!r}")
    if len(archive) == 0:
        raise InputError(f"{source} is empty: there is nothing to draw yet")
    typer.echo(draw_map(archive, target))
