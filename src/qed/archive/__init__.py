"""Archives: the best solution known for each cell of a space.

archive   Archive: what is kept, and the one way in; Elite (elite): the best of a cell
contest   who gets a cell
space     Space: what an archive needs to know about its cells
grid      Grid: cells by rounding; Categories: a cell is a choice of options; Environments:
          options with names, that a search draws itself
cvt       Centroids: a cell is the nearest of some points; SpiritCells: points of a recipe
recipes   the paper's recipes for points, made once and kept in the user's cache
minibatch mini-batch k-means
nearest   the nearest of some points, exactly
columns   solutions as named columns, one row a cell
stored    an archive as a file, and back
files     arrays and a JSON header in one npz file, whole or not at all
export    archives for pandas and pyribs
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qed.archive.archive import Archive
    from qed.archive.cvt import Centroids
    from qed.archive.elite import Elite
    from qed.archive.grid import Categories, Environments, Grid
    from qed.archive.space import Space

# Where each name lives; a kit's file needs ``files`` alone, so nothing else is imported with it.
_HOMES = {
    "Archive": "archive",
    "Categories": "grid",
    "Centroids": "cvt",
    "Elite": "elite",
    "Environments": "grid",
    "Grid": "grid",
    "Space": "space",
}

__all__ = ["Archive", "Categories", "Centroids", "Elite", "Environments", "Grid", "Space"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'qed.archive' has no attribute {name!r}")
    return getattr(import_module(f"qed.archive.{_HOMES[name]}"), name)
