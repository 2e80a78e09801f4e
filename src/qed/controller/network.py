"""A controller: a recurrent network from sixteen inputs to two wheels.

Nodes are numbered 0-6 proximity, 7-14 range and bearing, 15 the constant input, 16 the left
and 17 the right wheel, 18 and up hidden neurons.  A neuron's value is
tanh(5 * weighted sum + bias); all neurons are updated at once, from the inputs of this cycle
and the neurons' values of the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from qed.errors import InputError

INPUTS = 16
CONSTANT = 15
LEFT, RIGHT = 16, 17
FIRST_HIDDEN = 18
GAIN = 5.0
DERIVED = ("_network", "_place")  # made from a controller: no part of its state
LARGEST = 1e6  # weight or bias, either way: their sums stay finite in single precision


@dataclass(frozen=True)
class Network:
    """A pruned network as flat arrays; neurons are targets in the order left, right, hidden."""

    biases: np.ndarray  # float32, one a neuron, the constant input folded in
    first_link: np.ndarray  # int32, one a neuron and one more: links of neuron u
    sources: np.ndarray  # int32, one a link
    weights: np.ndarray  # float32, one a link

    @property
    def hidden(self) -> int:
        """Number of hidden neurons."""
        return len(self.biases) - 2

    @cached_property
    def live(self) -> int:
        """Bits of the inputs (0 to 14) that the network reads."""
        return sum(1 << int(source) for source in set(self.sources[self.sources < CONSTANT]))


class Controller:
    """A recurrent network that drives every robot of a swarm, from sixteen inputs to two wheels.

    Nodes are 0 to 6 proximity, 7 to 14 range and bearing (inputs are 1 where there is nothing and
    -1 where something touches), 15 a constant 1, 16 the left and 17 the right wheel (1: full
    speed ahead), 18 and up hidden neurons.

    Parameters
    ----------
    connections : iterable of (source, target, weight)
        From an input or a hidden neuron to a wheel or a hidden neuron.
    bias : iterable of float
        The bias of the left wheel, the right wheel, and each hidden neuron.

    Examples
    --------
    >>> import qed
    >>> ahead = qed.Controller([], bias=[1.0, 1.0])
    >>> avoid = qed.Controller([(0, 17, 1.0), (4, 16, 1.0)], bias=[1.0, 1.0])
    >>> avoid
    <Controller: 0 hidden, 2 connections>
    """

    def __init__(self, connections: Iterable[Sequence[Any]], bias: Iterable[float]) -> None:
        self.bias = tuple(float(value) for value in bias)
        if len(self.bias) < 2:
            raise InputError(
                "bias must hold at least two values (left wheel, right wheel, then hidden "
                f"neurons), got {len(self.bias)}"
            )
        for k, value in enumerate(self.bias):
            if not abs(value) <= LARGEST:
                raise InputError(f"bias[{k}] must be within +-{LARGEST:g}, got {value!r}")
        self.connections = tuple(
            self._checked(k, connection) for k, connection in enumerate(connections)
        )

    def _checked(self, k: int, connection: Sequence[Any]) -> tuple[int, int, float]:
        """Return a legal connection as (source, target, weight)."""
        try:
            source, target, weight = connection
            legal = int(source) == source and int(target) == target
            source, target, weight = int(source), int(target), float(weight)
        except (TypeError, ValueError):
            legal = False
        if not legal:
            raise InputError(
                f"connections[{k}] must be (source, target, weight), got {connection!r}"
            )
        nodes = FIRST_HIDDEN + self.hidden
        others = (
            f"or a hidden neuron (18 to {nodes - 1})" if self.hidden else "(none is hidden here)"
        )
        if not 0 <= source < nodes or source in (LEFT, RIGHT):
            raise InputError(
                f"connections[{k}]: source must be an input (0 to 15) {others}, got {source}"
            )
        if not INPUTS <= target < nodes:
            raise InputError(
                f"connections[{k}]: target must be a wheel (16, 17) {others}, got {target}"
            )
        if not abs(weight) <= LARGEST:
            raise InputError(
                f"connections[{k}]: weight must be within +-{LARGEST:g}, got {weight!r}"
            )
        return source, target, weight

    @property
    def hidden(self) -> int:
        """Number of hidden neurons."""
        return len(self.bias) - 2

    @classmethod
    def random(cls, seed: int) -> Controller:
        """Return a random network of the paper's initial sizes.

        It has 0 to 20 hidden neurons and 0 to 40 connections.

        Parameters
        ----------
        seed : int
            Decides everything random.

        Returns
        -------
        Controller
            The same for the same seed.

        Examples
        --------
        >>> import qed
        >>> qed.Controller.random(seed=1)
        <Controller: 18 hidden, 5 connections>
        """
        rng = np.random.default_rng([0x9ED, seed])
        hidden = int(rng.integers(0, 21))
        wanted = int(rng.integers(0, 41))
        sources = [*range(INPUTS), *range(FIRST_HIDDEN, FIRST_HIDDEN + hidden)]
        targets = [*range(INPUTS, FIRST_HIDDEN + hidden)]
        links = rng.permutation(len(sources) * len(targets))[:wanted]
        weights = rng.uniform(-2.0, 2.0, wanted)
        connections = [
            (sources[link // len(targets)], targets[link % len(targets)], weight)
            for link, weight in zip(links.tolist(), weights.tolist(), strict=False)
        ]
        return cls(connections, rng.uniform(-2.0, 2.0, 2 + hidden).tolist())

    def pruned(self) -> Controller:
        """Return the same behaviour without the hidden neurons that reach no wheel.

        Returns
        -------
        Controller
            With the same or fewer neurons and connections.

        Examples
        --------
        >>> import qed
        >>> qed.Controller([(0, 18, 1.0)], bias=[1.0, 1.0, 0.0]).pruned()
        <Controller: 0 hidden, 0 connections>
        """
        useful = {LEFT, RIGHT}
        while True:
            more = {source for source, target, _ in self.connections if target in useful}
            more = {node for node in more if node >= FIRST_HIDDEN} - useful
            if not more:
                break
            useful |= more
        place = {node: k for k, node in enumerate(range(INPUTS))}
        for node in sorted(useful):
            place[node] = len(place)
        connections = [
            (place[source], place[target], weight)
            for source, target, weight in self.connections
            if source in place and target in place
        ]
        return Controller(connections, [self.bias[node - LEFT] for node in sorted(useful)])

    def network(self) -> Network:
        """Return the pruned network as the simulator runs it, links sorted by target; read-only.

        It is made once: teams ask for it for each of their robots.
        """
        network: Network | None = self._kept("_network")
        if network is None:
            place = self.place
            network = self._new_network() if place is None else place[0][place[1]]
            self._keep("_network", network)
        return network

    @property
    def place(self) -> tuple[Sequence[Network], int] | None:
        """The table of networks, and the row, in which the controller's was made with others."""
        found: tuple[Sequence[Network], int] | None = self._kept("_place")
        return found

    @place.setter
    def place(self, place: tuple[Sequence[Network], int]) -> None:
        self._keep("_place", place)

    def _keep(self, name: str, value: Any) -> None:
        """Keep what is made of the controller, for as long as it stays the same."""
        self.__dict__[name] = self.connections, self.bias, value

    def _kept(self, name: str) -> Any:
        """Return what was kept; None if there is nothing, or the controller is another now."""
        kept = self.__dict__.get(name)
        if kept is None or kept[0] is not self.connections or kept[1] is not self.bias:
            return None
        return kept[2]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in DERIVED}

    def _new_network(self) -> Network:
        lean = self.pruned()
        biases = np.array(lean.bias, np.float32)
        links: list[list[tuple[int, float]]] = [[] for _ in lean.bias]
        for source, target, weight in lean.connections:
            if source == CONSTANT:
                biases[target - LEFT] += np.float32(GAIN) * np.float32(weight)
            else:
                links[target - LEFT].append((source, weight))
        flat = [link for group in links for link in sorted(group)]
        return Network(
            biases,
            np.cumsum([0, *map(len, links)], dtype=np.int32),
            np.array([source for source, _ in flat], np.int32),
            np.array([weight for _, weight in flat], np.float32),
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Controller)
            and self.bias == other.bias
            and self.connections == other.connections
        )

    def __hash__(self) -> int:
        return hash((self.connections, self.bias))

    def __repr__(self) -> str:
        return f"<Controller: {self.hidden} hidden, {len(self.connections)} connections>"
