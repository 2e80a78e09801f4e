"""Networks of many controllers as one table: what the simulator runs, on a CPU or a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from qed.controller.inputs import CONSTANT

COLUMNS = ("neurons", "biases", "links", "sources", "weights")


class Networks:
    """Pruned networks, one after the other; a slice is again a table.

    A network's neurons are the left wheel, the right wheel, then hidden ones; the constant input is
    part of their biases.  Links come neuron by neuron.
    """

    def __init__(
        self,
        neurons: np.ndarray,  # int64, how many each network has
        biases: np.ndarray,  # float32, one per neuron
        links: np.ndarray,  # int64, how many each neuron has
        sources: np.ndarray,  # int32, a node for each link
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
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS))

    def take(self, rows: np.ndarray) -> Networks:
        """Return some of the networks."""
        begin, end = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
        if np.array_equal(rows, np.arange(begin, end)):  # as blocks ask for them: no copies
            some = slice(self._neuron[begin], self._neuron[end])
            links = slice(self._link[some.start], self._link[some.stop])
            return Networks(
                self.neurons[begin:end],
                self.biases[some],
                self.links[some],
                self.sources[links],
                self.weights[links],
            )
        neurons = self.neurons[rows]
        neuron = each_of(self._neuron[rows], neurons)
        each = self.links[neuron]
        link = each_of(self._link[neuron], each)
        return Networks(neurons, self.biases[neuron], each, self.sources[link], self.weights[link])

    @cached_property
    def reads(self) -> np.ndarray:
        """A bit for each input that a network reads, int64."""
        found = np.zeros(len(self), np.int64)
        network = np.repeat(np.repeat(np.arange(len(self)), self.neurons), self.links)
        sensed = self.sources < CONSTANT
        np.bitwise_or.at(found, network[sensed], 1 << self.sources[sensed].astype(np.int64))
        return found

    def __len__(self) -> int:
        return len(self.neurons)

    def __getitem__(self, some: slice) -> Networks:
        rows = np.arange(len(self))[some]
        return self if len(rows) == len(self) and some.step is None else self.take(rows)


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
