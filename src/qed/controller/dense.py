"""Dense networks: one topology for all, so that a controller is a vector of weights."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qed.chance import fold
from qed.controller.genome import Genomes
from qed.controller.inputs import CONSTANT, FIRST_HIDDEN, LEFT, WHEELS
from qed.controller.network import LARGEST, Controller
from qed.controller.variation import CHANGE, LIMIT
from qed.errors import InputError, integer

MOST = 32  # hidden neurons: a GPU keeps the neurons of 32 robots in shared memory
BEGIN, MUTATE = 21, 22  # purposes of random keys


@dataclass(frozen=True, repr=False)
class Dense:
    """Networks in which each neuron reads all that is sensed and all hidden neurons.

    ``qed.Controller.dense`` makes one.  A network is a vector: the biases of the left wheel, the
    right wheel and each hidden neuron, then the weights of all connections, neuron by neuron.

    Attributes
    ----------
    hidden : int
        Hidden neurons.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> dense = qed.Controller.dense(hidden=4)
    >>> dense
    <Dense: 4 hidden, 120 weights and biases>
    >>> dense.controller(np.zeros(dense.size))
    <Controller: 4 hidden, 114 connections>
    """

    hidden: int

    def __post_init__(self) -> None:
        integer("hidden", self.hidden, 0, MOST)

    @property
    def size(self) -> int:
        """Numbers in a vector."""
        return self._neurons + len(self._links[0])

    @property
    def _neurons(self) -> int:
        return len(WHEELS) + self.hidden

    @cached_property
    def _links(self) -> tuple[np.ndarray, np.ndarray]:
        """Source and target of each connection."""
        nodes = np.arange(FIRST_HIDDEN, FIRST_HIDDEN + self.hidden)
        sources = np.concatenate([np.arange(CONSTANT), nodes]).astype(np.int32)
        targets = np.arange(LEFT, LEFT + self._neurons, dtype=np.int32)
        return np.tile(sources, len(targets)), np.repeat(targets, len(sources))

    def controller(self, vector: np.ndarray) -> Controller:
        """Return the network of a vector.

        Parameters
        ----------
        vector : array of shape ``(size,)``
            Biases and weights.

        Returns
        -------
        Controller
            Like any other.
        """
        values = np.asarray(vector, float)
        if values.shape != (self.size,):
            raise InputError(f"vector must hold {self.size} numbers, got shape {values.shape}")
        return self.genomes(values[None]).controller(0)

    def genomes(self, vectors: np.ndarray) -> Genomes:
        """Return the networks of vectors (n, size)."""
        values = np.clip(vectors, -LARGEST, LARGEST).astype(np.float32)
        n, (source, target) = len(values), self._links
        return Genomes(
            np.full(n, self.hidden, np.int32),
            np.full(n, len(source), np.int32),
            np.ascontiguousarray(values[:, : self._neurons]),
            np.tile(source, (n, 1)),
            np.tile(target, (n, 1)),
            np.ascontiguousarray(values[:, self._neurons :]),
        )

    def vectors(self, genomes: Genomes) -> np.ndarray:
        """Return networks of this topology as vectors (n, size)."""
        values: np.ndarray = np.concatenate([genomes.bias, genomes.weight], axis=1)
        return values.astype(np.float64)

    def random(self, keys: np.ndarray) -> Genomes:
        """Return a random network for each key (uint32), within the limits of all genomes."""
        return self.genomes(LIMIT * (2.0 * self._uniform(keys, BEGIN) - 1.0))

    def vary(self, parents: Genomes, keys: np.ndarray) -> Genomes:
        """Return a copy of each parent with changed weights and biases, as in all genomes.

        Polynomial mutation with index 15; what lies outside the limits of genomes, where an emitter
        may have put it, stays unless it is hit.
        """
        values, draw = self.vectors(parents), self._uniform(keys, MUTATE)
        r = draw / CHANGE  # uniform again where it is below 1, which is where a weight is hit
        with np.errstate(invalid="ignore"):
            delta = np.where(r < 0.5, _root(2.0 * r) - 1.0, 1.0 - _root(2.0 * (1.0 - r)))
        stepped = np.clip(values + 2.0 * LIMIT * delta, -LIMIT, LIMIT)
        return self.genomes(np.where(r < 1.0, stepped, values))

    def _uniform(self, keys: np.ndarray, purpose: int) -> np.ndarray:
        """Return numbers in (0, 1), a row for each key."""
        bits = fold(np.asarray(keys)[:, None], purpose, np.arange(self.size))
        draws: np.ndarray = (bits + 0.5) / 2.0**32
        return draws

    def __repr__(self) -> str:
        return f"<Dense: {self.hidden} hidden, {self.size} weights and biases>"


def _root(x: np.ndarray) -> np.ndarray:
    """Return x^(1/16), by square roots, which are the same on every machine."""
    for _ in range(4):
        x = np.sqrt(x)
    return x
