"""Controllers of a robot, for CPython or MicroPython; contract.json tells what goes in and out.

Each network is a list of neurons, the left wheel first, then the right one, then hidden ones: a
bias, and the links (number of an input, or of inputs plus that of a hidden neuron; weight).
"""

from math import tanh

INPUTS = 0
CYCLE = 0.2  # s
GAIN = 5.0
TEAM: tuple[int, ...] = ()  # the controller of each robot, if they differ
NETWORKS: tuple[tuple[tuple[float, tuple[tuple[int, float], ...]], ...], ...] = ()


class Controller:
    """One of the networks, and the values of its hidden neurons."""

    def __init__(self, number: int = 0) -> None:
        self.neurons = NETWORKS[number]
        self.reset()

    def reset(self) -> None:
        """Begin anew: whenever the robot begins to run this controller."""
        self.hidden = [0.0] * (len(self.neurons) - 2)

    def step(self, inputs: list[float]) -> tuple[float, float]:
        """Return the left and the right wheel, -1 to 1, for what is sensed in this cycle."""
        values = list(inputs) + self.hidden
        outputs = []
        for bias, links in self.neurons:
            total = 0.0
            for source, weight in links:
                total += weight * values[source]
            outputs.append(tanh(GAIN * total + bias))
        self.hidden = outputs[2:]
        return outputs[0], outputs[1]
