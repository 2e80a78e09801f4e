"""Networks as programs hold them, and the simulator's arithmetic to compare programs with."""

from collections.abc import Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from qed.controller.inputs import WHEELS
from qed.controller.network import Controller
from qed.swarm.job import networks_of
from qed.swarm.laws.neuron import GAIN, tanh


class Neuron(NamedTuple):
    """tanh(5 * weighted sum + bias); a source is an input, or inputs + a hidden neuron."""

    bias: float
    links: tuple[tuple[int, float], ...]


Network = list[Neuron]  # the left wheel, the right wheel, then hidden neurons


def networks(controllers: Sequence[Controller]) -> list[Network]:
    """Return pruned networks of a robot, links of each neuron in the simulator's order."""
    table = networks_of(controllers)[0]
    nodes = controllers[0].nodes
    constant, first = nodes.CONSTANT, nodes.FIRST_HIDDEN
    bias, links = iter(table.biases.tolist()), iter(table.links.tolist())
    each = zip(table.sources.tolist(), table.weights.tolist(), strict=True)

    def source(node: int) -> int:
        return node if node < constant else node - first + constant

    def neuron() -> Neuron:
        found = (next(each) for _ in range(next(links)))
        return Neuron(next(bias), tuple((source(node), weight) for node, weight in found))

    return [[neuron() for _ in range(count)] for count in table.neurons.tolist()]


def _over_arrays(law: Any) -> Any:
    """Return a law of numbers as one of arrays: the same arithmetic, element by element."""
    return FunctionType(law.__code__, {**law.__globals__, "min": np.minimum, "max": np.maximum})


_tanh = _over_arrays(tanh)


class Reference:
    """What the simulator computes, bit by bit, for many robots: ``numbers`` are their networks."""

    def __init__(self, nets: Sequence[Network], numbers: Sequence[int]) -> None:
        self.nets = nets
        self.robots = [
            (k, np.flatnonzero(np.equal(numbers, k))) for k in sorted(set(map(int, numbers)))
        ]
        most = max(len(nets[k]) for k, _ in self.robots)
        self.hidden = np.zeros((len(numbers), most - len(WHEELS)), np.float32)

    def step(self, inputs: np.ndarray) -> np.ndarray:
        """Return the wheels (robots, 2) for inputs (robots, n), float32."""
        values = np.concatenate([inputs, self.hidden], axis=1)
        outputs = np.zeros((len(values), len(WHEELS) + self.hidden.shape[1]), np.float32)
        for k, some in self.robots:
            for u, (bias, links) in enumerate(self.nets[k]):
                total = np.zeros(len(some), np.float32)
                for source, weight in links:
                    total += np.float32(weight) * values[some, source]
                outputs[some, u] = _tanh(GAIN * total + np.float32(bias))
        self.hidden = outputs[:, len(WHEELS) :]
        return outputs[:, : len(WHEELS)]
