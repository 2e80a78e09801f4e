"""A file that is there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from qed.errors import InputError, StoppedError


def can_write(out: str | Path) -> None:
    """Raise StoppedError now, before long work, if a file cannot be written."""
    with _said_plainly(Path(out)):
        unfinished = _unfinished(Path(out))
        unfinished.touch()
        unfinished.unlink()


@contextmanager
def whole(out: str | Path) -> Iterator[Path]:
    """Give a temporary name in the same folder; it becomes the file if all goes well."""
    path = Path(out)
    with _said_plainly(path):
        unfinished = _unfinished(path)
        try:
            yield unfinished
            os.replace(unfinished, path)
        finally:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)


def _unfinished(path: Path) -> Path:
    if path.is_dir():
        raise InputError(f"out: {path} is a folder")
    if not path.parent.is_dir():
        raise InputError(f"out: there is no folder {path.parent}")
    return path.with_name(f".{path.name}.{os.getpid()}.new")


@contextmanager
def _said_plainly(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoppedError(f"cannot write {path}: {error.strerror or error}") from error
