"""Networks of many controllers as one table, as a GPU reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from qed.controller.network import Network


class Networks(Sequence[Network]):
    """Pruned networks, one after the other; an item is a ``Network``, a part again a table.

    ``neurons`` has the number of neurons of each network, ``links`` that of each neuron's links.
    """

    def __init__(
        self,
        neurons: np.ndarray,  # one per network
        biases: np.ndarray,  # float32, one per neuron
        links: np.ndarray,  # one per neuron
        sources: np.ndarray,  # int32, one per link
        weights: np.ndarray,  # float32, one per link
    ) -> None:
        self.neurons, self.biases, self.links = neurons, biases, links
        self.sources, self.weights = sources, weights
        self._neuron = _places(neurons)
        self._link = _places(links)

    @classmethod
    def joined(cls, parts: Sequence[Networks]) -> Networks:
        """Return the networks of several tables as one."""
        if len(parts) == 1:
            return parts[0]
        columns = ("neurons", "biases", "links", "sources", "weights")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))

    @classmethod
    def of(cls, networks: Sequence[Network]) -> Networks:
        """Return a table of some networks."""
        neurons = np.array([len(network.biases) for network in networks], np.int64)
        # From one network's last to the next one's first link is no neuron.
        between = np.cumsum(neurons + 1)[:-1] - 1
        bounds = np.concatenate([network.first_link for network in networks])
        return cls(
            neurons,
            np.concatenate([network.biases for network in networks]),
            np.delete(np.diff(bounds), between),
            np.concatenate([network.sources for network in networks]),
            np.concatenate([network.weights for network in networks]),
        )

    def take(self, rows: np.ndarray) -> Networks:
        """Return some of the networks."""
        neurons = self.neurons[rows]
        neuron = each_of(self._neuron[rows], neurons)
        links = self.links[neuron]
        link = each_of(self._link[neuron], links)
        return Networks(neurons, self.biases[neuron], links, self.sources[link], self.weights[link])

    def __len__(self) -> int:
        return len(self.neurons)

    @overload
    def __getitem__(self, item: int) -> Network: ...

    @overload
    def __getitem__(self, item: slice) -> Networks: ...

    def __getitem__(self, item: int | slice) -> Network | Networks:
        if isinstance(item, slice):
            rows = np.arange(len(self))[item]
            return self if len(rows) == len(self) and item.step is None else self.take(rows)
        row = range(len(self))[item]
        neuron = slice(int(self._neuron[row]), int(self._neuron[row + 1]))
        bounds = self._link[neuron.start : neuron.stop + 1]
        link = slice(int(bounds[0]), int(bounds[-1]))
        first = (bounds - bounds[0]).astype(np.int32)
        return Network(self.biases[neuron], first, self.sources[link], self.weights[link])

    def __iter__(self) -> Iterator[Network]:
        return (self[row] for row in range(len(self)))


def _places(sizes: np.ndarray) -> np.ndarray:
    """Return where each of some runs begins, one after the other, and where the last ends."""
    places = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=places[1:])
    return places


def each_of(begins: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the places of all members of runs that begin somewhere."""
    places = _places(sizes)
    found: np.ndarray = np.arange(places[-1]) + np.repeat(begins - places[:-1], sizes)
    return found
