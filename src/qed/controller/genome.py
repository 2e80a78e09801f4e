"""Genomes: networks as arrays, many at a time, and their way to controllers and simulators.

A genome is a directly encoded graph: hidden neurons with a bias each, and weighted connections
in the order in which they were made.  Biases and weights lie in [-2, 2].  Nodes are numbered
as in ``inputs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from qed.controller.inputs import CONSTANT, FIRST_HIDDEN, LEFT, WHEELS
from qed.controller.network import GAIN, Controller
from qed.swarm.robot import ROBOT


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
        bias = _widen(self.bias, len(WHEELS) + hidden)
        links_of = (_widen(column, links) for column in (self.source, self.target, self.weight))
        return Genomes(self.hidden, self.links, bias, *links_of)

    def controller(self, row: int) -> Controller:
        """Return one genome as a controller."""
        columns = (self.source, self.target, self.weight)
        links = (column[row, : self.links[row]].tolist() for column in columns)
        bias = self.bias[row, : len(WHEELS) + self.hidden[row]]
        return Controller(zip(*links, strict=True), bias.tolist(), ROBOT)

    def controllers(self) -> list[Controller]:
        """Return all genomes as controllers."""
        return [self.controller(row) for row in range(len(self.hidden))]

    def useful(self) -> tuple[np.ndarray, np.ndarray]:
        """Return from which neurons a path leads to a wheel, and which links go to one of these.

        Neurons have the shape of ``bias``; links are those of all genomes, one after the other.
        """
        width = self.bias.shape[1]
        row, source, target, _ = self._each_link()
        neurons = np.zeros((len(self.hidden), width), bool)
        neurons[:, : len(WHEELS)] = True
        hidden = source >= FIRST_HIDDEN
        marks = neurons.ravel()
        begins, ends = row * width + source - LEFT, row * width + target - LEFT
        while True:
            new = begins[hidden & marks[ends]]
            if marks[new].all():
                return neurons, marks[ends]
            marks[new] = True

    def pruned(self) -> Genomes:
        """Return the genomes without the hidden neurons from which no path leads to a wheel."""
        neurons, links = self.useful()
        row, source, target, weight = (column[links] for column in self._each_link())
        number = LEFT + np.cumsum(neurons, axis=1) - 1  # of each neuron that stays
        source = np.where(source < LEFT, source, number[row, np.maximum(source - LEFT, 0)])
        counts = np.bincount(row, minlength=len(self.links))
        return Genomes(
            (neurons.sum(axis=1) - len(WHEELS)).astype(np.int32),
            counts.astype(np.int32),
            _table(neurons.sum(axis=1), self.bias[neurons], np.float32, len(WHEELS)),
            _table(counts, source, np.int32),
            _table(counts, number[row, target - LEFT], np.int32),
            _table(counts, weight, np.float32),
        )

    def networks(self) -> Networks:
        """Return all genomes as pruned networks, as the simulator runs them."""
        lean = self.pruned()
        row, source, target, weight = lean._each_link()
        neurons = len(WHEELS) + lean.hidden.astype(np.int64)
        neuron = np.cumsum(neurons)[row] - neurons[row] + target - LEFT
        biases = lean.bias[np.arange(lean.bias.shape[1]) < neurons[:, None]]
        constant = source == CONSTANT
        np.add.at(biases, neuron[constant], np.float32(GAIN) * weight[constant])
        source, weight, neuron = source[~constant], weight[~constant], neuron[~constant]
        order = np.lexsort((weight, source, neuron))
        links = np.bincount(neuron, minlength=len(biases))
        return Networks(neurons, biases, links, source[order], weight[order])

    def _each_link(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return row, source, target and weight of all links, one after the other."""
        there = np.arange(self.source.shape[1]) < self.links[:, None]
        row = np.repeat(np.arange(len(self.links)), self.links)
        return row, self.source[there], self.target[there], self.weight[there]


def _widen(table: np.ndarray, width: int) -> np.ndarray:
    """Return a table with columns of zeros added, or spare columns taken away."""
    wide = np.zeros((len(table), width), table.dtype)
    shared = min(width, table.shape[1])
    wide[:, :shared] = table[:, :shared]
    return wide


def _table(sizes: np.ndarray, values: np.ndarray, kind: type, least: int = 0) -> np.ndarray:
    """Return rows of so many values, filled from the left and 0 beyond."""
    wide: np.ndarray = np.zeros((len(sizes), int(sizes.max(initial=least))), kind)
    wide[np.arange(wide.shape[1]) < sizes[:, None]] = values
    return wide


def blank(n: int, hidden: int, links: int) -> Genomes:
    """Return genomes without neurons and connections, with room for so many."""
    none, nodes = np.zeros(n, np.int32), np.zeros((n, 0), np.int32)
    bias = np.zeros((n, len(WHEELS)), np.float32)
    links_of = nodes, nodes, nodes.astype(np.float32)
    return Genomes(none, none.copy(), bias, *links_of).fit(hidden, links)


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
    return Genomes(
        hidden,
        links,
        _table(2 + hidden, biases, np.float32, 2),
        _table(links, each[:, 0], np.int32),
        _table(links, each[:, 1], np.int32),
        _table(links, each[:, 2], np.float32),
    )


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
