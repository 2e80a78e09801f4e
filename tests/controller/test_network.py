"""Controllers: legal connections, pruning, and the network that is simulated."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from qed.controller import inputs
from qed.controller.genome import Networks, from_controllers
from qed.swarm.laws.neuron import GAIN, tanh


def outputs(controller: qed.Controller, inputs: np.ndarray) -> np.ndarray:
    """Run a network in double precision, one synchronous step for each row of inputs."""
    values = np.zeros(18 + controller.hidden)
    wheels = []
    for row in inputs:
        values[:15], values[15] = row, 1.0
        total = np.zeros(len(values))
        for source, target, weight in controller.connections:
            total[target] += weight * values[source]
        values[16:] = np.tanh(5.0 * total[16:] + np.array(controller.bias))
        wheels.append(values[16:18].copy())
    return np.array(wheels)


@given(st.integers(0, 100_000))
@settings(max_examples=100, deadline=None)
def test_pruning_never_changes_the_outputs(seed: int) -> None:
    controller = qed.Controller.random(seed)
    lean = controller.pruned()
    inputs = np.random.default_rng(seed).uniform(-1.0, 1.0, (12, 15))
    assert outputs(lean, inputs) == pytest.approx(outputs(controller, inputs), abs=1e-12)
    assert lean.pruned() == lean
    assert lean.hidden <= controller.hidden


def test_pruning_keeps_what_reaches_a_wheel_and_drops_the_rest() -> None:
    controller = qed.Controller(
        [(0, 18, 1.0), (18, 19, 1.0), (19, 16, 1.0), (20, 20, 1.0), (18, 20, 1.0), (1, 21, 1.0)],
        [0.0, 0.0, 0.1, 0.2, 0.3, 0.4],
    )
    lean = controller.pruned()
    assert lean.bias == (0.0, 0.0, 0.1, 0.2)
    assert lean.connections == ((0, 18, 1.0), (18, 19, 1.0), (19, 16, 1.0))


def network(controller: qed.Controller) -> Networks:
    return from_controllers([controller]).networks()


def single(network: Networks, inputs: np.ndarray) -> np.ndarray:
    """Run a pruned network in single precision, one synchronous step for each row of inputs."""
    values = np.zeros(16 + len(network.biases), np.float32)
    wheels = []
    for row in inputs:
        values[:15] = row
        totals = np.zeros(len(network.biases), np.float32)
        for u, (first, end) in enumerate(itertools.pairwise([0, *np.cumsum(network.links)])):
            for e in range(first, end):
                totals[u] += network.weights[e] * values[network.sources[e]]
        values[16:] = [tanh(GAIN * t + b) for t, b in zip(totals, network.biases, strict=True)]
        wheels.append(values[16:18].copy())
    return np.array(wheels)


@given(st.integers(0, 100_000))
@settings(max_examples=30, deadline=None)
def test_the_simulated_network_is_this_network_to_the_bit(seed: int) -> None:
    controller = qed.Controller.random(seed)
    seen = qed.trace(controller, seconds=10.0, seed=seed)
    for robot in range(3):
        inputs = np.concatenate([seen.proximity[:, robot], seen.rab[:, robot]], -1)
        expected = np.float32(0.1) * single(network(controller), inputs)
        np.testing.assert_array_equal(seen.wheels[:, robot], expected)


@given(st.integers(0, 100_000))
@settings(max_examples=100, deadline=None)
def test_the_pruned_network_is_this_network(seed: int) -> None:
    controller = qed.Controller.random(seed)
    # Few steps: in a recurrent network the rounding of one step grows in the next.  All seeds
    # that can be drawn were tried once; the largest difference was 9.0e-6.
    inputs = np.random.default_rng(seed).uniform(-1.0, 1.0, (2, 15)).astype(np.float32)
    expected = outputs(controller, inputs.astype(float))
    assert single(network(controller), inputs) == pytest.approx(expected, abs=1e-5)


def test_a_hidden_neuron_takes_one_cycle() -> None:
    # The hidden value is 0 in the first cycle, tanh(1) from the second on.
    controller = qed.Controller([(18, 16, 0.2), (15, 17, 0.1)], [0.0, 0.0, 1.0])
    seen = qed.trace(controller, qed.Environment(robots=1), seconds=1.0)
    left, right = seen.wheels[:, 0].T / 0.1
    assert left[0] == 0.0
    assert left[1:] == pytest.approx(math.tanh(math.tanh(1.0)), abs=1e-6)
    assert right == pytest.approx(math.tanh(0.5), abs=1e-6)


def test_self_loops_remember() -> None:
    controller = qed.Controller([(15, 18, 0.05), (18, 18, 0.2), (18, 16, 0.2)], [0.0, 0.0, 0.0])
    seen = qed.trace(controller, qed.Environment(robots=1), seconds=2.0)
    value, expected = 0.0, []
    for _ in range(10):
        expected.append(math.tanh(value))
        value = math.tanh(0.25 + value)
    assert seen.wheels[:, 0, 0] / 0.1 == pytest.approx(expected, abs=1e-6)


def test_random_controllers_have_the_papers_sizes() -> None:
    drawn = [qed.Controller.random(seed) for seed in range(600)]
    assert {c.hidden for c in drawn} == set(range(21))
    assert {len(c.connections) for c in drawn} == set(range(41))
    weights = [w for c in drawn for _, _, w in c.connections]
    biases = [b for c in drawn for b in c.bias]
    for values in (weights, biases):
        assert -2.0 <= min(values) < -1.9
        assert 1.9 < max(values) <= 2.0
    for c in drawn:
        assert len({(source, target) for source, target, _ in c.connections}) == len(c.connections)
    assert qed.Controller.random(5) == qed.Controller.random(5)


@pytest.mark.parametrize(
    ("connections", "bias", "words"),
    [
        ([], [0.0], ["bias", "two"]),
        ([], [0.0, math.nan], ["bias[1]", "nan"]),
        ([(0, 16, math.inf)], [0.0, 0.0], ["connections[0]", "weight", "inf"]),
        ([(15, 16, 1e39), (15, 16, -1e39)], [0.0, 0.0], ["connections[0]", "1e+06", "1e+39"]),
        ([], [0.0, 1e39], ["bias[1]", "1e+06", "1e+39"]),
        ([(0, 16, 1.0), (16, 17, 1.0)], [0.0, 0.0], ["connections[1]", "source", "16"]),
        ([(0, 15, 1.0)], [0.0, 0.0], ["connections[0]", "target", "15"]),
        ([(0, 18, 1.0)], [0.0, 0.0], ["connections[0]", "target", "18"]),
        ([(19, 18, 1.0)], [0.0, 0.0, 0.0], ["connections[0]", "source", "19"]),
        ([(-1, 16, 1.0)], [0.0, 0.0], ["connections[0]", "source", "-1"]),
        ([(0.5, 16, 1.0)], [0.0, 0.0], ["connections[0]", "(source, target, weight)"]),
        ([(0, 16)], [0.0, 0.0], ["connections[0]", "(source, target, weight)"]),
        ([(0, 16, "much")], [0.0, 0.0], ["connections[0]", "(source, target, weight)"]),
    ],
)
def test_illegal_networks_are_refused(connections: Any, bias: Any, words: list[str]) -> None:
    with pytest.raises(ValueError, match=r".+") as caught:
        qed.Controller(connections, bias)
    for word in words:
        assert word in str(caught.value)


def test_nodes_of_a_file_are_found_by_the_names_of_its_inputs():
    stored = (inputs.INPUTS[5], inputs.INPUTS[-1], inputs.INPUTS[2])  # then two wheels, hidden
    nodes = np.array([[0, 1, 2, 3], [4, 5, 6, -1]], np.int32)
    found = inputs.renumbered(nodes, stored)
    assert found.dtype == nodes.dtype
    first, left = inputs.FIRST_HIDDEN, inputs.LEFT
    assert found.tolist() == [[5, inputs.CONSTANT, 2, left], [inputs.RIGHT, first, first + 1, -1]]
    assert inputs.renumbered(nodes, None) is nodes
    assert inputs.renumbered(nodes, inputs.INPUTS) is nodes
    with pytest.raises(qed.InputError, match="another robot: they read smell"):
        inputs.renumbered(nodes, ["smell"])
