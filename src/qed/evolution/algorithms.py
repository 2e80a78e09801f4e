"""What makes QED, HBD, SDBC and SPIRIT differ: which environment, descriptor and archive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.archive.cvt import Centroids, SpiritCells
from qed.archive.grid import Categories, Grid
from qed.archive.recipes import SpiritRecipe, sdbc_centroids
from qed.descriptors import hbd, sdbc, spirit
from qed.errors import choice
from qed.swarm.environment import PAPER, Environment
from qed.swarm.simulate import Outcome

Progress = Callable[[int, int], Any]
# Seed points of the centroids: the paper's numbers, but fewer for small runs, which should not
# wait minutes for them.  They matter: small SPIRIT runs fill a fifth more cells of the larger
# number (benchmarks/centroids.py).
LARGE = 50_000  # evaluations
FULL_SDBC, SMALL_SDBC = 100_000, 20_000
FULL_SPIRIT, SMALL_SPIRIT = 1_000_000, 100_000


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of the paper.

    ``describe`` turns a simulation into behaviours (n, dimensions); None means that a cell is
    an environment.  ``space`` makes the archive's cells for so many evaluations, telling a
    callback (done, total) how far it is.
    """

    meaning: str
    space: Callable[[int, Progress | None], Any]
    sums: tuple[str, ...] = ()
    describe: Callable[[Outcome, Sequence[Environment]], np.ndarray] | None = None

    @property
    def environments(self) -> tuple[int, ...] | None:
        """Number of options of each attribute, if a cell is an environment."""
        return None if self.describe else tuple(len(options) for options in PAPER.values())


def _categories(evaluations: int, progress: Progress | None) -> Any:
    return Categories(tuple(len(options) for options in PAPER.values()))


def _grid(evaluations: int, progress: Progress | None) -> Any:
    return Grid((16, 16, 16))


def _sdbc_points(evaluations: int) -> int:
    return FULL_SDBC if evaluations >= LARGE else SMALL_SDBC


def _spirit_points(evaluations: int) -> int:
    return FULL_SPIRIT if evaluations >= LARGE else SMALL_SPIRIT


def _sdbc(evaluations: int, progress: Progress | None) -> Any:
    return Centroids(sdbc_centroids(_sdbc_points(evaluations), progress=progress))


def _spirit(evaluations: int, progress: Progress | None) -> Any:
    return SpiritCells.made(SpiritRecipe(_spirit_points(evaluations)), progress)


ALGORITHMS: dict[str, Algorithm] = {
    "qed": Algorithm("a cell is an environment", _categories),
    "hbd": Algorithm("a cell is where robots go (3 features)", _grid, ("spread",), hbd.describe),
    "sdbc": Algorithm(
        "a cell is how the swarm moves (10 features)", _sdbc, ("sdbc",), sdbc.describe
    ),
    "spirit": Algorithm(
        "a cell is what a robot does in each situation (1024 features)",
        _spirit,
        ("spirit",),
        lambda outcome, environments: spirit.describe(outcome),
    ),
}


def cells_in_words(algorithm: str, evaluations: int) -> str:
    """Return which cells an algorithm's archive has after so many evaluations, for a report."""
    cells = {
        "qed": "4,096 cells, each an environment",
        "hbd": "4,096 cells, a grid of 16 x 16 x 16 over three features",
        "sdbc": "4,096 cells around centroids of "
        + _of_the_paper(_sdbc_points(evaluations), FULL_SDBC),
        "spirit": "4,096 cells around centroids of "
        + _of_the_paper(_spirit_points(evaluations), FULL_SPIRIT)
        + ", clustered with reassignment of small clusters",
    }
    return cells[choice("algorithm", algorithm, cells)]


def _of_the_paper(points: int, papers: int) -> str:
    told = "as in the paper" if points == papers else f"the paper: {papers:,}"
    return f"{points:,} seed points ({told})"
