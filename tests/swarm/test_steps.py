"""A world that is stepped from outside does what it does with a controller, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy import float32 as f32

import qed
from qed.controller.inputs import CONSTANT, FIRST_HIDDEN
from qed.controller.networks import Networks
from qed.swarm.job import networks_of
from qed.swarm.laws.neuron import GAIN, tanh

CROWDED = qed.Environment(robots=7, arena=1.5, obstacles=1, max_speed=0.15)
EACH = qed.Faults(["LW-H", "PMAX", "ROFS", "PRAND", qed.Fault("LOST", dead=True), "NONE", "BW-H"])


class Outside:
    """A network that a user computes in Python, for all robots."""

    def __init__(self, controller: qed.Controller) -> None:
        table: Networks = networks_of([controller])[0]
        ends = np.cumsum(table.links)
        self.neurons = [
            (table.sources[end - links : end].tolist(), table.weights[end - links : end], bias)
            for end, links, bias in zip(ends, table.links, table.biases, strict=True)
        ]
        self.hidden = None

    def __call__(self, readings: Any) -> np.ndarray:
        """Return the wheels of all robots, (..., robots, 2)."""
        sensed = np.concatenate(readings, -1)
        if self.hidden is None:
            self.hidden = np.zeros((*sensed.shape[:-1], len(self.neurons) - 2), f32)
        nodes = np.concatenate([sensed, self.hidden], -1).reshape(
            -1, sensed.shape[-1] + len(self.neurons) - 2
        )
        out = np.empty((len(nodes), len(self.neurons)), f32)
        for values, row in zip(nodes, out, strict=True):
            for u, (sources, weights, bias) in enumerate(self.neurons):
                total = f32(0.0)
                for source, weight in zip(sources, weights, strict=True):
                    total += (
                        weight
                        * values[source if source < CONSTANT else source - FIRST_HIDDEN + CONSTANT]
                    )
                row[u] = tanh(GAIN * total + bias)
        out = out.reshape(*sensed.shape[:-1], -1)
        self.hidden = out[..., 2:]
        return out[..., :2]


@pytest.mark.parametrize("faults", [None, EACH])
@pytest.mark.parametrize("task", ["patrolling", "flocking"])
def test_a_network_outside_does_what_it_does_inside(task, faults):
    controller = qed.Controller.random(11)
    given = {"task": task, "seed": 4, "faults": faults}
    seen = qed.trace(controller, CROWDED, seconds=12.0, **given)
    world, outside = qed.World(CROWDED, **given), Outside(controller)
    wheels = np.zeros((7, 2))
    for t in range(len(seen.x)):
        readings = world.step(wheels)
        np.testing.assert_array_equal(readings.proximity, seen.proximity[t])
        np.testing.assert_array_equal(readings.rab, seen.rab[t])
        np.testing.assert_array_equal(world.poses[:, 0], seen.x[t])
        np.testing.assert_array_equal(world.poses[:, 2], seen.heading[t])
        assert world.score == seen.score[t]
        wheels = outside(readings)
    assert np.abs(seen.wheels).max() > 0.05
