"""Networks as programs hold them, and the simulator's arithmetic to compare programs with.

In whole numbers, for C without floats and for Aseba's 16 bits, nothing ever overflows.  Inputs and
values of neurons are x = 4096 X.  With weights w = 5 W and a bias b a neuron computes

    sum = sum_i round(2^s w_i) x_i + round(2^s b) 4096       (32 bits)
    a   = floor(sum / 2^s), then limited to -16383 to 16383  (4 on either side, where tanh is 1)

and looks 4096 tanh(a / 4096) up in a table, between whose points it is taken for straight.  The
scale s is chosen neuron by neuron: the largest for which all factors fit 16 bits and, for any
inputs, all sums fit 32.  Aseba's products of vectors are shifted before they are stored in 16
bits, which a may exceed: so it looks first at floor(sum / 2^(s + 8)), which always fits.
"""

import math
from collections.abc import Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from qed.controller.inputs import WHEELS
from qed.controller.network import GAIN, Controller
from qed.errors import InputError
from qed.swarm.job import networks_of
from qed.swarm.laws import neuron as law

ONE = 4096
STEP_BITS = 9  # of a between points of the table
LIMIT = 4 * ONE - 1
COARSE = 8  # further bits that Aseba drops at first
TABLE: list[int] = [round(ONE * math.tanh(k * (1 << STEP_BITS) / ONE)) for k in range(33)]
LARGEST_16, LARGEST_32 = 2**15 - 1, 2**31 - 1
MOST_BITS = 14
LARGEST_SUM = (LARGEST_16 - 1) / 2 ** (12 - COARSE)  # of 5 * weighted sum + bias


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


_tanh = _over_arrays(law.tanh)


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
                outputs[some, u] = _tanh(law.GAIN * total + np.float32(bias))
        self.hidden = outputs[:, len(WHEELS) :]
        return outputs[:, : len(WHEELS)]


# Whole numbers


class DoesNotFitError(InputError):
    """A network is too large for a robot."""


class FixedNeuron(NamedTuple):
    """A neuron in whole numbers."""

    bias: int
    links: tuple[tuple[int, int], ...]  # (source, weight)
    shift: int


def fixed(nets: Sequence[Network]) -> list[list[FixedNeuron]]:
    """Return networks in whole numbers; DoesNotFitError if a weight is too large for any scale."""
    return [[_fixed(neuron) for neuron in net] for net in nets]


def _fixed(neuron: Neuron) -> FixedNeuron:
    weights = [GAIN * weight for _, weight in neuron.links]
    total = abs(neuron.bias) + sum(map(abs, weights))
    if total > LARGEST_SUM - 1.0:
        raise DoesNotFitError(
            f"a neuron's 5 * weighted sum + bias may be {total:.0f} here; whole numbers "
            f"hold at most {LARGEST_SUM - 1.0:.0f}: take a controller with smaller weights"
        )
    for shift in range(MOST_BITS, -1, -1):
        scale = 2**shift
        half = scale / 2 / ONE  # what is dropped is half a step on average
        links = tuple(
            (source, round(scale * weight))
            for (source, _), weight in zip(neuron.links, weights, strict=True)
        )
        found = FixedNeuron(round(scale * neuron.bias + half), links, shift)
        if fits(found):
            return found
    raise AssertionError("the largest sum admits the scale 1")


def fits(neuron: FixedNeuron) -> bool:
    """Return whether no number overflows, whatever the inputs.

    Partial sums are bounded by the sum of sizes, in any order of addition.
    """
    sizes = [abs(neuron.bias), *(abs(weight) for _, weight in neuron.links)]
    largest = sum(sizes) * ONE
    coarse = -(-largest >> (neuron.shift + COARSE))  # of either sign: rounded away from 0
    return max(sizes) <= LARGEST_16 and largest <= LARGEST_32 and coarse <= LARGEST_16


def tanh(a: int) -> int:
    """Return the hyperbolic tangent by the table, both in units of 1 / 4096."""
    size = min(abs(a), LIMIT)
    k, part = size >> STEP_BITS, size & ((1 << STEP_BITS) - 1)
    y = TABLE[k] + ((TABLE[k + 1] - TABLE[k]) * part >> STEP_BITS)
    return y if a >= 0 else -y


def step(net: Sequence[FixedNeuron], inputs: Sequence[int], hidden: Sequence[int]) -> list[int]:
    """Return the values of all neurons after a cycle."""
    values = [*inputs, *hidden]
    sums = (
        sum(weight * values[source] for source, weight in neuron.links) + neuron.bias * ONE
        for neuron in net
    )
    return [tanh(total >> neuron.shift) for total, neuron in zip(sums, net, strict=True)]
