"""A network that a user computes in Python, from what robots read to wheel commands."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import float32 as f32

import qed
from qed.controller.inputs import CONSTANT, FIRST_HIDDEN
from qed.controller.network import GAIN
from qed.swarm.job import networks_of
from qed.swarm.laws.neuron import tanh

_tanh = np.vectorize(tanh, otypes=[f32])


class Outside:
    """Drives all robots of one or more worlds; sums are in the order of the links."""

    def __init__(self, controller: qed.Controller) -> None:
        table, _ = networks_of([controller])
        ends = np.cumsum(table.links)
        self.links = [
            (table.sources[end - count : end].tolist(), table.weights[end - count : end])
            for end, count in zip(ends, table.links, strict=True)
        ]
        self.bias = table.biases
        self.values: Any = None

    def __call__(self, readings: Any) -> np.ndarray:
        """Return the wheels of all robots, (..., robots, 2)."""
        sensed = readings if isinstance(readings, np.ndarray) else np.concatenate(readings, -1)
        if self.values is None:
            self.values = np.zeros((*sensed.shape[:-1], len(self.links)), f32)
        after = np.empty_like(self.values)
        for u, (sources, weights) in enumerate(self.links):
            total = np.zeros(sensed.shape[:-1], f32)
            for source, weight in zip(sources, weights, strict=True):
                hidden = source - FIRST_HIDDEN + 2
                of = sensed[..., source] if source < CONSTANT else self.values[..., hidden]
                total += weight * of
            after[..., u] = _tanh(f32(GAIN) * total + self.bias[u])
        self.values = after
        return after[..., :2]
