"""Text for people: durations, names, tables and bars on a terminal; settings in TOML files."""

import json
import math
import os
import platform
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from qed import __version__

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


def console(stderr: bool = False) -> "Console":
    """Return a console; NO_COLOR keeps all escape codes away, not only those of colours."""
    from rich.console import Console

    colours = None if os.environ.get("NO_COLOR") else "auto"
    return Console(stderr=stderr, color_system=colours, highlight=False)  # type: ignore[arg-type]


def duration(seconds: float) -> str:
    """Return a duration as people say it.

    >>> duration(42.3), duration(200), duration(9000), duration(1e6)
    ('42 s', '3.3 min', '2.5 h', '12 days')
    """
    unit, length = next((unit, length) for unit, length, end in UNITS if seconds < end)
    value = seconds / length
    return f"{value:.1f} {unit}" if value < 10 else f"{value:,.0f} {unit}"


def printable(value: object) -> str:
    """Return a value as text without control characters, which a file's author may have chosen.

    >>> printable("a" + chr(27) + "[2J"), printable(1500)
    ('a?[2J', '1,500')
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return ", ".join(map(printable, value))
    return "".join(letter if letter.isprintable() else "?" for letter in str(value))


def short(value: object, most: int = 300) -> str:
    """Return a value as printable text of few characters: what a file says can be of any length.

    >>> short("long" * 9, 12)
    'longlongl...'
    """
    text = printable(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."


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
    import typer

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


def toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Return tables of strings, numbers and lists of them as TOML."""
    blocks = []
    for name, table in tables.items():
        lines = [f"{_key(key)} = {_value(value)}" for key, value in table.items()]
        blocks.append("\n".join([f"[{_key(name)}]", *lines]))
    return "\n\n".join(blocks) + "\n"


def _key(name: str) -> str:
    """Return a key as it is, or in quotes where TOML wants them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    """Return a string, a number, or a list of them as TOML.

    What JSON writes for them is TOML as well, but for its escapes beyond 16 bits.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text.replace("\x7f", "\\u007f")


def made_by() -> dict[str, str]:
    """Return the versions of what makes results here."""
    return {
        "qed": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "system": f"{platform.system()} {platform.machine()}",
    }
