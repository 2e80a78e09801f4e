"""Files that are there whole or not at all.

A file is written under another name in the same folder, flushed to the disk, and renamed.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from qed.errors import StoppedError

_LEFT_BEHIND = 3600.0  # age (s) at which an unfinished file belongs to nobody


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a temporary name in the same folder; it becomes the file if all goes well."""
    fresh = temporary(path)
    _forget_left_behind(path)
    try:
        yield fresh
        _flush(fresh, os.O_RDONLY)
        os.replace(fresh, path)
    except BaseException:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise
    with suppress(OSError, AttributeError):
        _flush(path.parent, os.O_RDONLY | os.O_DIRECTORY)


def temporary(path: Path) -> Path:
    """Return the name of a file while it is written."""
    return path.with_name(f".{path.name}.{os.getpid()}.new")


def write(path: Path, text: str) -> None:
    """Write a text file."""
    with whole(path) as fresh, fresh.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def unfinished(path: Path) -> bool:
    """Tell whether a file's name says that it is not finished."""
    return path.name.startswith(".") and path.name.endswith(".new")


@contextmanager
def disk(
    folder: Path, then: str = "make room and start again; what was done is kept"
) -> Iterator[None]:
    """Say plainly if something cannot be written to a folder, and what to do then."""
    try:
        yield
    except OSError as error:
        raise StoppedError(f"cannot write to {folder}: {error.strerror}; {then}") from error


def _forget_left_behind(path: Path) -> None:
    """Remove unfinished files of this name that a killed process left long ago."""
    with suppress(OSError):
        for left in path.parent.glob(f".{glob.escape(path.name)}.*.new"):
            if time.time() - left.stat().st_mtime > _LEFT_BEHIND:
                left.unlink()


def _flush(path: Path, how: int) -> None:
    """Bring what was written to the disk."""
    handle = os.open(path, how)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
