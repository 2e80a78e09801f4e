"""How the command line shows things: consoles, tables, durations."""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from qed.text import console, duration, printable

__all__ = ["console", "duration", "printable", "table", "waiting", "words"]

if TYPE_CHECKING:
    from rich.progress import TaskID
    from rich.table import Table


def table(*left: str, right: Iterable[str] = ()) -> "Table":
    """Return an empty table with columns of words and columns of numbers."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in left:
        made.add_column(heading)
    for heading in right:
        made.add_column(heading, justify="right", overflow="fold")
    return made


def words(value: object) -> str:
    """Return a value for a table, whatever it holds: no control characters, no markup."""
    from rich.markup import escape

    return escape(printable(value))


@contextmanager
def stopping(words: str) -> Iterator[None]:
    """End the command at a request to stop, by Ctrl-C or from a cluster, and say what is left."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"qed: stopped{words}", err=True)
        raise typer.Exit(130) from None


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
