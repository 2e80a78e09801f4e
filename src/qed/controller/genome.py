"""Genomes: networks as arrays, many at a time, and their way to controllers.

A genome is a directly encoded graph: hidden neurons with a bias each, and weighted connections
in the order in which they were made.  Biases and weights lie in [-2, 2].  Nodes are numbered
as in ``network``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from qed.controller.network import Controller, Network


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

    def networks(self) -> list[Network]:
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
    hidden = max((c.hidden for c in controllers), default=0)
    links = max((len(c.connections) for c in controllers), default=0)
    count = len(controllers)
    batch = Genomes(
        np.array([c.hidden for c in controllers], np.int32),
        np.array([len(c.connections) for c in controllers], np.int32),
        np.zeros((count, 2 + hidden), np.float32),
        np.zeros((count, links), np.int32),
        np.zeros((count, links), np.int32),
        np.zeros((count, links), np.float32),
    )
    for row, controller in enumerate(controllers):
        batch.bias[row, : 2 + controller.hidden] = controller.bias
        for k, (source, target, weight) in enumerate(controller.connections):
            batch.source[row, k] = source
            batch.target[row, k] = target
            batch.weight[row, k] = weight
    return batch
