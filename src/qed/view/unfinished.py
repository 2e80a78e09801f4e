"""Files that users name: they can be written, and are there whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qed import files
from qed.errors import InputError, StoppedError


def can_write(out: str | Path) -> None:
    """Raise StoppedError now, before long work, if a file cannot be written."""
    with _said_plainly(Path(out)):
        _check(Path(out))
        fresh = files.temporary(Path(out))
        fresh.touch()
        fresh.unlink()


@contextmanager
def whole(out: str | Path) -> Iterator[Path]:
    """Give a temporary name in the same folder; it becomes the file if all goes well."""
    path = Path(out)
    with _said_plainly(path):
        _check(path)
        with files.atomic_write(path) as fresh:
            yield fresh


def _check(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"out: {path} is a folder")
    if not path.parent.is_dir():
        raise InputError(f"out: there is no folder {path.parent}")


@contextmanager
def _said_plainly(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoppedError(f"cannot write {path}: {error.strerror or error}") from error
