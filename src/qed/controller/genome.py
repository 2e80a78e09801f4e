"""Genomes: networks as arrays, many at a time, and their way to controllers.

A genome is a directly encoded graph: hidden neurons with a bias each, and weighted connections
in the order in which they were made.  Biases and weights lie in [-2, 2].  Nodes are numbered
as in ``network``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from qed.controller.network import Controller
from qed.controller.networks import Networks


class Genomes(NamedTuple):
    """A batch of genomes; rows are genomes, filled from the left and 0 beyond."""

    hidden: np.ndarray  # int32 (n,): hidden neurons
    links: np.ndarray  # int32 (n,): connections
    bias: np.ndarray  # float32 (n, 2 + most hidden): left wheel, right wheel, hidden
    source: np.ndarray  # int32 (n, most connections): node
    target: np.ndarray  # int32 (n, most connections): node
    weight: np.ndarray  # float32 (n, most connections)

    def take(self, rows: np.ndarray | Sequence[int] | slice) -> Genomes:
        """Return some of the genomes."""
        return Genomes(*(column[rows] for column in self))

    def fit(self, hidden: int, links: int) -> Genomes:
        """Return the same genomes with room for so many hidden neurons and connections."""
        return Genomes(
            self.hidden,
            self.links,
            _widen(self.bias, 2 + hidden),
            _widen(self.source, links),
            _widen(self.target, links),
            _widen(self.weight, links),
        )

    def controller(self, row: int) -> Controller:
        """Return one genome as a controller."""
        links = slice(0, int(self.links[row]))
        return Controller(
            zip(
                self.source[row, links].tolist(),
                self.target[row, links].tolist(),
                self.weight[row, links].tolist(),
                strict=True,
            ),
            self.bias[row, : 2 + self.hidden[row]].tolist(),
        )

    def controllers(self) -> list[Controller]:
        """Return all genomes as controllers."""
        return [self.controller(row) for row in range(len(self.hidden))]

    def networks(self) -> Networks:
        """Return all genomes as pruned networks, as the simulator runs them."""
        from qed.controller.pruning import flatten

        return flatten(self)


def _widen(table: np.ndarray, width: int) -> np.ndarray:
    """Return a table with columns of zeros added, or spare columns taken away."""
    wide = np.zeros((len(table), width), table.dtype)
    shared = min(width, table.shape[1])
    wide[:, :shared] = table[:, :shared]
    return wide


def trimmed(batch: Genomes) -> Genomes:
    """Return the genomes without columns that none of them uses."""
    hidden = int(batch.hidden.max(initial=0))
    links = int(batch.links.max(initial=0))
    return batch.fit(hidden, links)


def from_controllers(controllers: Sequence[Controller]) -> Genomes:
    """Return controllers as genomes."""
    hidden = np.array([c.hidden for c in controllers], np.int32)
    links = np.array([len(c.connections) for c in controllers], np.int32)
    flat = chain.from_iterable(chain.from_iterable(c.connections for c in controllers))
    each = np.fromiter(flat, np.float64, 3 * int(links.sum())).reshape(-1, 3)
    biases = np.fromiter(chain.from_iterable(c.bias for c in controllers), np.float64)

    def table(sizes: np.ndarray, values: np.ndarray, kind: type, least: int = 0) -> np.ndarray:
        """Return rows of so many values."""
        wide: np.ndarray = np.zeros((len(sizes), int(sizes.max(initial=least))), kind)
        wide[np.arange(wide.shape[1]) < sizes[:, None]] = values
        return wide

    return Genomes(
        hidden,
        links,
        table(2 + hidden, biases, np.float32, 2),
        table(links, each[:, 0], np.int32),
        table(links, each[:, 1], np.int32),
        table(links, each[:, 2], np.float32),
    )
