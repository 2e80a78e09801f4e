"""Files that are there complete or not at all: text, and arrays with a header.

A file is written under another name in the same folder, flushed to the disk, and renamed.

Arrays and a JSON header lie in one npz file.  Its bytes follow from its contents alone: members
are stored as they are, with a fixed date.  ``numpy.load`` opens it too; the header is the member
``header.json``.  What is read is data: no pickles, no compression, and sizes that the file itself
confirms.
"""

import errno
import glob
import io
import json
import os
import stat
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from qed.errors import InputError, StoppedError
from qed.text import short

try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None  # type: ignore[assignment]

HEADER = "header.json"
KINDS = "biuf"  # of arrays: truth values, whole numbers, real numbers
_DATE = (1980, 1, 1, 0, 0, 0)
_LEFT_BEHIND = 3600.0  # age (s) at which an unfinished file belongs to nobody
_PATIENCE = 2.0  # s for a process that is being killed to let a lock go


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary name in the same folder; it becomes the file if all goes well."""
    fresh = temporary(path)
    _remove_left_behind(path)
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


@contextmanager
def user_file(out: str | Path, name: str = "out") -> Iterator[Path]:
    """Do as ``atomic_write`` with a file that a user named; errors say what is wrong with it."""
    path = Path(out)
    with _says_why(path, name), atomic_write(path) as fresh:
        yield fresh


def can_write(out: str | Path, name: str = "out") -> None:
    """Raise an error now, before long work, if a file that a user named cannot be written."""
    path = Path(out)
    with _says_why(path, name):
        fresh = temporary(path)
        fresh.touch()
        fresh.unlink()


@contextmanager
def _says_why(path: Path, name: str) -> Iterator[None]:
    try:
        if path.is_dir():
            raise InputError(f"{name}: {path} is a folder")
        if path.exists() and not path.is_file():
            raise InputError(f"{name}: {path} is a device or a pipe; name a file")
        if not path.parent.is_dir():
            raise InputError(f"{name}: there is no folder {path.parent}")
        yield
    except OSError as error:
        raise StoppedError(f"cannot write {path}: {error.strerror or error}") from error


def temporary(path: Path) -> Path:
    """Return the name of a file while it is written."""
    return path.with_name(f".{path.name}.{os.getpid()}.new")


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    with atomic_write(path) as fresh, fresh.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def unfinished(path: Path) -> bool:
    """Return whether a file's name is that of a temporary file."""
    return path.name.startswith(".") and path.name.endswith(".new")


@contextmanager
def disk(
    folder: Path, then: str = "make room and start again; what was done is kept"
) -> Iterator[None]:
    """Raise a StoppedError that says what to do if something cannot be written to a folder."""
    try:
        yield
    except OSError as error:
        raise StoppedError(f"cannot write to {folder}: {error.strerror}; {then}") from error


class Lock:
    """Keeps other processes from a file for as long as this object is there.

    It goes with its process, however that ends.  The same process may have it again, as where an
    interrupted run is resumed in a notebook.  Where a system has no such locks, nobody is kept out.
    """

    _ours: ClassVar[WeakValueDictionary[tuple[int, int], "Lock"]] = WeakValueDictionary()

    @classmethod
    def of(cls, path: Path) -> "Lock":
        """Return the lock of a file; BlockingIOError if another process has it."""
        about = path.stat()
        which = about.st_dev, about.st_ino
        found = cls._ours.get(which)
        if found is None:
            found = cls._ours[which] = cls(path)
        return found

    def __init__(self, path: Path) -> None:
        self._handle = -1
        with suppress(OSError):
            self._handle = os.open(path, os.O_RDWR)
        until = time.monotonic() + _PATIENCE
        while self._handle >= 0 and fcntl is not None:
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
            except OSError:
                return
            else:
                return

    def __del__(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)


def _remove_left_behind(path: Path) -> None:
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


def write_arrays(
    path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a file, or leave the one that is there as it is and raise OSError."""
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    text = json.dumps(header, allow_nan=False, indent=1)
    with atomic_write(path) as fresh, zipfile.ZipFile(fresh, "w", zipfile.ZIP_STORED) as pack:
        pack.writestr(_member(HEADER), text)
        for name, array in arrays.items():
            pack.writestr(_member(f"{name}.npy"), _to_bytes(array))


def read_arrays(
    path: str | Path, format_name: str, newest: int
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a file's header and arrays, or raise ValueError that says what is wrong with it.

    ``format_name`` and a version up to ``newest`` are what the header must name.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a {format_name} file")
    about = path.stat()
    # Before it is opened: a pipe would never end, and a huge file never fit.
    if not stat.S_ISREG(about.st_mode):
        raise InputError(f"{path} is a device or a pipe, not a {format_name} file")
    if about.st_size > _memory():
        raise InputError(
            f"{path} is not a usable {format_name} file: it is larger than the memory of this "
            f"machine ({about.st_size:,} bytes)"
        )
    with path.open("rb") as file:
        return parse_arrays(file, path, format_name, newest)


def _memory() -> float:
    """Return the memory of this machine (bytes); infinite where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return float("inf")


def parse_arrays(
    file: BinaryIO, source: str | Path, format_name: str, newest: int
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and arrays of a file that is open; errors name its source."""
    try:
        with zipfile.ZipFile(file) as pack:
            names = pack.namelist()
            if HEADER not in names:
                raise ValueError(f"it has no {HEADER}")
            header = _check_header(_stored(pack, HEADER), format_name, newest)
            members = [name for name in names if name.endswith(".npy")]
            return header, {name[:-4]: _from_bytes(_stored(pack, name)) for name in members}
    except Exception as error:  # damage makes zipfile raise almost anything
        raise InputError(
            f"{source} is not a usable {format_name} file: {short(_reason(error))}"
        ) from error


@contextmanager
def contents_of(source: str | Path, format_name: str) -> Iterator[None]:
    """Raise an InputError that names the file if what is made of its contents does not fit."""
    try:
        yield
    except (ValueError, TypeError, KeyError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else error
        raise InputError(f"{source} is not a usable {format_name} file: {short(what)}") from error


def expect(fine: bool, otherwise: str) -> None:
    """Raise ValueError unless something in a file is as it has to be."""
    if not fine:
        raise ValueError(otherwise)


def _reason(error: Exception) -> str:
    if isinstance(error, ValueError) and not isinstance(error, UnicodeError | json.JSONDecodeError):
        return str(error)
    return f"it is truncated, damaged, or something else ({str(error) or type(error).__name__})"


def _check_header(text: bytes, format_name: str, newest: int) -> dict[str, Any]:
    """Return a header that names the right format, in a version that is known here."""
    header = json.loads(text)
    if not isinstance(header, dict) or header.get("format") != format_name:
        raise ValueError(f"its header does not name the format {format_name!r}")
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"its format version must be a whole number, got {version!r}")
    if version > newest:
        raise ValueError(
            f"a newer qed wrote it (format version {version}; this one reads up to {newest})"
        )
    return header


def _stored(pack: zipfile.ZipFile, name: str) -> bytes:
    """Return a member's bytes; their checksum is compared."""
    info = pack.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"its member {name} is compressed")
    return pack.read(info)


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _DATE)
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info


def _to_bytes(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(
        buffer, np.ascontiguousarray(array).reshape(array.shape), (1, 0), allow_pickle=False
    )
    return buffer.getvalue()


def _from_bytes(content: bytes) -> np.ndarray:
    """Return an array whose type is plain and whose size is that of its bytes."""
    buffer = io.BytesIO(content)
    if np.lib.format.read_magic(buffer) != (1, 0):
        raise ValueError("an array in it has an unknown version")
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(buffer)
    if dtype.kind not in KINDS or by_column or not dtype.isnative:
        raise ValueError(f"an array in it has a type that is not expected ({dtype})")
    flat = np.frombuffer(content, dtype, offset=buffer.tell())
    return flat.reshape(shape).copy()
