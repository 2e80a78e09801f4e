"""How the command line shows things: consoles, tables, durations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from qed.text import console, duration, printable

__all__ = ["console", "duration", "printable", "table", "waiting", "words"]

if TYPE_CHECKING:
    from rich.progress import TaskID
    from rich.table import Table


def table() -> Table:
    """Return an empty table in the house style."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False)


def words(value: object) -> str:
    """Return a value for a table, whatever it holds: no control characters, no markup."""
    from rich.markup import escape

    return escape(printable(value))


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
