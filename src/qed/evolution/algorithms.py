"""What makes QED, HBD, SDBC and SPIRIT differ: which environment, descriptor and archive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.descriptors import hbd, sdbc, spirit
from qed.swarm.environment import OPTIONS, Environment
from qed.swarm.simulate import Outcome


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of the paper.

    ``describe`` turns a simulation into behaviours (n, dimensions); None means that a cell is
    an environment.  ``space`` makes the archive's cells.
    """

    meaning: str
    space: Callable[[], Any]
    sums: tuple[str, ...] = ()
    describe: Callable[[Outcome, Sequence[Environment]], np.ndarray] | None = None

    @property
    def environments(self) -> tuple[int, ...] | None:
        """Number of options of each attribute, if a cell is an environment."""
        return None if self.describe else tuple(len(options) for options in OPTIONS.values())


def _categories() -> Any:
    from qed.archive.grid import Categories

    return Categories(tuple(len(options) for options in OPTIONS.values()))


def _grid() -> Any:
    from qed.archive.grid import Grid

    return Grid((16, 16, 16))


def _sdbc() -> Any:
    from qed.archive.cvt import Centroids, sdbc_centroids

    return Centroids(sdbc_centroids())


def _spirit() -> Any:
    from qed.archive.cvt import Centroids, spirit_centroids

    return Centroids(spirit_centroids())


ALGORITHMS: dict[str, Algorithm] = {
    "qed": Algorithm("a cell is an environment", _categories),
    "hbd": Algorithm("a cell is where robots go (3 features)", _grid, ("hbd",), hbd.describe),
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
