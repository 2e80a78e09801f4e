"""How the command line shows things: consoles, tables, durations."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID
    from rich.table import Table

# Units of time, how long they are (s), and up to where they are used (s).
UNITS = (
    ("s", 1.0, 100.0),
    ("min", 60.0, 100.0 * 60.0),
    ("h", 3600.0, 48.0 * 3600.0),
    ("days", 86400.0, math.inf),
)


def console(stderr: bool = False) -> Console:
    """Return a console; NO_COLOR keeps all escape codes away, not only those of colours."""
    from rich.console import Console

    colours = None if os.environ.get("NO_COLOR") else "auto"
    return Console(stderr=stderr, color_system=colours, highlight=False)  # type: ignore[arg-type]


def table() -> Table:
    """Return an empty table in the house style."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False)


@contextmanager
def waiting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on stderr once something tells how far it is; a line when not on a terminal."""
    from rich.progress import Progress

    screen = console(stderr=True)
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task: TaskID | None = None

        def progress(done: int, total: int) -> None:
            nonlocal task
            if task is None:
                task = bar.add_task(what, total=total)
                if not screen.is_terminal:
                    screen.print(f"qed: {what} ...")
            bar.update(task, completed=done, total=total)

        yield progress


def duration(seconds: float) -> str:
    """Return a duration as people say it.

    >>> duration(42.3), duration(200), duration(5400), duration(1e6)
    ('42 s', '3.3 min', '1.5 h', '12 days')
    """
    unit, length = next((unit, length) for unit, length, end in UNITS if seconds < end)
    value = seconds / length
    return f"{value:.1f} {unit}" if value < 10 else f"{value:,.0f} {unit}"
