"""Evolved archives, and a kit, that come with QED, to try recovery and replay without evolving."""

from __future__ import annotations

import gzip
from pathlib import Path

from qed.archive import stored
from qed.archive.archive import Archive
from qed.errors import choice

EXAMPLE = "example:"  # before the name of what comes with QED, where a path goes
FOLDER = Path(__file__).with_name("examples")
ENDING = ".npz.gz"
KIT_ENDING = ".npz"


def examples() -> list[str]:
    """Return the names of the archives that come with QED."""
    return sorted(path.name.removesuffix(ENDING) for path in FOLDER.glob(f"*{ENDING}"))


def kits() -> list[str]:
    """Return the names of the kits that come with QED."""
    return sorted(path.name.removesuffix(KIT_ENDING) for path in FOLDER.glob(f"*{KIT_ENDING}"))


def kit_file(path: str | Path) -> Path:
    """Return where a kit is: ``example:TASK-kit`` comes with QED, all else is a path."""
    name = str(path)
    if name.startswith(EXAMPLE):
        return FOLDER / f"{Path(name.removeprefix(EXAMPLE)).name}{KIT_ENDING}"
    return Path(path)


def load_example(name: str = "patrolling") -> Archive:
    """Return an evolved archive that comes with QED.

    Parameters
    ----------
    name : str, default "patrolling"
        A task; each has a QED archive of 4,096 environments, whose ``header`` tells how it was
        made: patrolling's with the paper's budget of 2,402,000 evaluations, the others with 80,000.

    Returns
    -------
    Archive
        Controllers, one for each environment.

    Examples
    --------
    >>> import qed
    >>> archive = qed.load_example("patrolling")
    >>> archive, archive.coverage
    (<Archive: 4096 of 4096 cells filled>, 1.0)
    """
    path = FOLDER / f"{choice('name', name, examples())}{ENDING}"
    return stored.loads(gzip.decompress(path.read_bytes()), path)
