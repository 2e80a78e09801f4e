"""``--with FILE.py``: tasks, faults and algorithms of a user's own on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

With = Annotated[
    list[Path] | None,
    typer.Option(
        "--with",
        metavar="FILE.py",
        help="Python file that defines tasks, faults or algorithms of your own. The file is "
        "executed. May be given several times.",
    ),
]


def bring(files: list[Path] | None) -> None:
    """Execute users' files, so that what they define can be named."""
    for file in files or ():
        from qed.bring import bring as execute

        execute(file)
