"""The folder of a run: its settings, its progress, and a checkpoint or, in the end, its archive.

    config.toml      everything that made it
    progress.csv     filled cells, best, mean and QD score over evaluations
    archive.npz      the archive, when the run is finished
    checkpoint.npz   the archive so far, and what the emitter has learnt; the one before it is kept
                     too, until the run is finished

Files are written to a temporary name, flushed and renamed, so that a kill or a full disk leaves
the last good ones.  What is read back is compared and never executed.
"""

import contextlib
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from qed.archive import stored
from qed.archive.archive import Archive
from qed.errors import InputError, StoppedError, integer
from qed.evolution.map_elites import MapElites
from qed.files import Lock, disk, unfinished, write_text
from qed.streams import STREAMS
from qed.text import made_by, short, toml

CONFIG, PROGRESS, ARCHIVE = "config.toml", "progress.csv", "archive.npz"
CHECKPOINT, PREVIOUS = "checkpoint.npz", "checkpoint.previous.npz"
COLUMNS = ("evaluations", "filled", "best", "mean", "qd_score")
MADE_BY = "made_by"  # what began a run; the other tables must be the same to resume it

Tables = Mapping[str, Mapping[str, Any]]


def claim(
    folder: Path, tables: Tables, resume: bool, made_with: Mapping[str, str]
) -> tuple[Lock, list[str]]:
    """Claim a folder for the run of these tables, or raise InputError if it holds something else.

    ``made_with`` is written if the run is new; it may be resumed with something else.
    Returns what keeps other processes from the run, and what a user should know.
    """
    config = folder / CONFIG
    notes = []
    if resume and not config.exists():
        raise InputError(f"folder {folder} holds no run to resume; start it without resume")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if config.exists():
            there = _read(config)
            different = _differences(there, tables, config)
            if different:
                raise InputError(
                    f"folder {folder} holds another run: {'; '.join(different)}; use another folder"
                )
            if not resume:
                raise InputError(
                    f"folder {folder} already holds this run; resume it (--resume, or resume=True "
                    "in Python), or use another folder"
                )
            notes = _code_notes(there, tables, made_with)
        elif not all(unfinished(file) for file in folder.iterdir()):
            raise InputError(f"folder {folder} is not empty and holds no run; use another folder")
        else:
            # It may be resumed with another engine, but not with other random numbers.
            write_text(
                config, toml({**tables, MADE_BY: {**made_by(), **made_with, "streams": STREAMS}})
            )
        return Lock.of(config), notes
    except BlockingIOError as error:
        raise StoppedError(
            f"another process is evolving the run in {folder}; wait for it, or stop it"
        ) from error
    except OSError as error:
        raise StoppedError(f"cannot use the folder {folder}: {error.strerror}") from error


def _code_notes(there: Tables, here: Tables, made_with: Mapping[str, str]) -> list[str]:
    """Return a note if the code of a domain has changed since its run began."""
    before, now = there[MADE_BY].get("code"), made_with.get("code")
    if before is None or now is None or before == now:
        return []
    return [
        f"the code of {here['run']['domain']} has changed since this run began: the archive may "
        "differ from what either version of the code gives"
    ]


def _read(config: Path) -> dict[str, dict[str, Any]]:
    """Return the tables of a run's settings, begun with the random numbers of this version."""
    try:
        tables = tomllib.loads(config.read_text(encoding="utf-8"))
        by = tables[MADE_BY]
        same, version = by.get("streams") == STREAMS, short(by["qed"], 40)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise StoppedError(f"{config} is damaged: {short(what)}") from error
    if not same:
        raise InputError(
            f"folder {config.parent} was started by an older qed ({version}) with other random "
            "numbers and cannot be resumed; use another folder, or that version"
        )
    return tables


def _differences(there: Mapping[str, Any], here: Tables, config: Path) -> list[str]:
    """Return how a folder's settings differ from the wanted ones."""
    found = []
    for table in dict.fromkeys([*here, *there]):
        old, new = there.get(table, {}), here.get(table, {})
        if table == MADE_BY:
            continue
        if not isinstance(old, Mapping):
            raise StoppedError(f"{config} is damaged: {table} is not a table")
        for name in dict.fromkeys([*new, *old]):
            if name not in old:
                found.append(f"{name} is missing there, {new[name]!r} here")
            elif name not in new:
                found.append(f"{name} is {short(repr(old[name]), 60)} there, missing here")
            elif old[name] != new[name]:
                both = (short(repr(value), 60) for value in (old[name], new[name]))
                found.append("{} is {} there, {} here".format(name, *both))
    return found


def restore(folder: Path, search: MapElites) -> tuple[bool, list[str]]:
    """Give a search the archive of a finished run, or the newest good checkpoint, if any.

    Returns whether the run is finished, and what a user should know.
    """
    notes = []
    finished = folder / ARCHIVE
    if finished.exists():
        try:
            _resume(search, Archive.load(finished), finished)
            search.done = search.evaluations
            search.history = _history(folder / PROGRESS)
            return True, [f"{folder} is finished: there is nothing left to evolve"]
        except ValueError as error:
            if not any((folder / name).exists() for name in (CHECKPOINT, PREVIOUS)):
                raise StoppedError(f"{error}; remove it to evolve the run again") from error
            notes.append(f"{error}; resuming from a checkpoint")
    for name in (CHECKPOINT, PREVIOUS):
        path = folder / name
        if path.exists():
            try:
                archive, learnt = stored.load_with_more(path)
                state = archive.header.pop("state")
                done = integer("done", state["done"], 0, search.evaluations)
                history = [_row(row) for row in state["history"]]
                _resume(search, archive, path, learnt)
                search.done, search.history = done, history
                return False, notes
            except (ValueError, KeyError, TypeError) as error:
                notes.append(f"{path} is not usable ({error}); trying an older one")
    return False, [*notes, f"{folder} has no checkpoint yet; starting from the beginning"]


def _resume(
    search: MapElites, archive: Archive, path: Path, learnt: Mapping[str, np.ndarray] | None = None
) -> None:
    """Give a search what is in a file, or raise ValueError if it belongs to another one."""
    if archive.space.describe() != search.archive.space.describe():
        raise ValueError(f"{path} has other cells than this run")
    try:
        search.resume_with(archive, learnt)
    except ValueError as error:
        raise ValueError(f"{path} has {error}") from error


def _row(row: Any) -> tuple[float, ...]:
    """Return a row of the history, or raise ValueError."""
    if len(row) != len(COLUMNS):
        raise ValueError("its history is damaged")
    return tuple(map(float, row))


def save_checkpoint(folder: Path, search: MapElites) -> None:
    """Save the state of a search, keeping the checkpoint before it."""
    archive = search.archive
    archive.header["state"] = {"done": search.done, "history": search.history}
    try:
        with _disk(folder):
            fresh = folder / f"{CHECKPOINT}.new.npz"
            stored.save(archive, fresh, search.learnt)
            current = folder / CHECKPOINT
            if current.exists():
                os.replace(current, folder / PREVIOUS)
            os.replace(fresh, current)
            write_text(folder / PROGRESS, _progress(search))
    finally:
        del archive.header["state"]


def save_archive(folder: Path, search: MapElites) -> None:
    """Save the archive of a finished search."""
    with _disk(folder):
        write_text(folder / PROGRESS, _progress(search))
        search.archive.save(folder / ARCHIVE)


def remove_checkpoints(folder: Path) -> None:
    """Remove the checkpoints of a run whose archive is there: it has all that they have."""
    if (folder / ARCHIVE).exists():
        for name in (CHECKPOINT, PREVIOUS):
            with contextlib.suppress(OSError):
                (folder / name).unlink(missing_ok=True)


def evaluations_done(folder: Path) -> int:
    """Return how many evaluations a run had at its last checkpoint."""
    try:
        last = (folder / PROGRESS).read_text(encoding="utf-8").splitlines()[-1]
        return int(last.split(",")[0])
    except (OSError, IndexError, ValueError):
        return 0


def _progress(search: MapElites) -> str:
    """Return the history of a search as CSV."""
    lines = [",".join(COLUMNS)]
    for done, filled, *rest in search.history:
        lines.append(f"{done:.0f},{filled:.0f}," + ",".join(f"{x:.9g}" for x in rest))
    return "\n".join(lines) + "\n"


def _history(path: Path) -> list[tuple[float, ...]]:
    """Return the rows of a run's progress."""
    with contextlib.suppress(OSError, ValueError):
        _, *lines = path.read_text(encoding="utf-8").splitlines()
        return [tuple(map(float, line.split(","))) for line in lines]
    return []


@contextlib.contextmanager
def _disk(folder: Path) -> Iterator[None]:
    """Say plainly if a file cannot be written; what was there before is still there."""
    there = any((folder / name).exists() for name in (CHECKPOINT, PREVIOUS))
    kept = "the last checkpoint is intact" if there else "there is no checkpoint yet"
    with disk(folder, f"{kept}, make room and resume"):
        try:
            yield
        except OSError:
            for rest in folder.glob("*.new*"):
                with contextlib.suppress(OSError):
                    rest.unlink()
            raise
