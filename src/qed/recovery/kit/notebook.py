"""What was simulated so far, in a file: whoever stops a long preparation loses nothing.

A page is the fitness of some controllers in one fault, named by what was simulated.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from qed import files
from qed.errors import InputError

FORMAT, VERSION = "qed-kit-notebook", 1
EVERY = 10.0  # seconds between two times that the file is written


class Notebook:
    """Pages of fitness, kept in a file if there is one."""

    def __init__(self, path: Path | None, settings: Mapping[str, Any]) -> None:
        self._path, self._settings = path, dict(settings)
        self._pages: dict[str, np.ndarray] = {}
        self._written = time.monotonic()
        if path is not None and path.exists():
            header, pages = files.read_arrays(path, FORMAT, VERSION)
            if header.get("settings") != self._settings:
                raise InputError(
                    f"{path} holds what was simulated with other settings; remove it, or name "
                    "another file"
                )
            self._pages = {name: page.astype(np.float64) for name, page in pages.items()}

    def page(self, name: str, shape: tuple[int, ...]) -> np.ndarray | None:
        """Return a page if it was written."""
        found = self._pages.get(name)
        return found if found is not None and found.shape == shape else None

    def write(self, name: str, fitness: np.ndarray) -> None:
        """Keep a page; the file is written now and then, and when the notebook is closed."""
        self._pages[name] = fitness
        if time.monotonic() - self._written > EVERY:
            self.close()

    def close(self) -> None:
        """Write the file."""
        if self._path is not None and self._pages:
            header = {"format": FORMAT, "version": VERSION, "settings": self._settings}
            files.write_arrays(self._path, header, self._pages)
            self._written = time.monotonic()
