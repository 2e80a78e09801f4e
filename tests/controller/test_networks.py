"""Networks of many controllers as one table."""

import numpy as np
import pytest

from qed.controller.genome import COLUMNS, Networks, from_controllers
from qed.controller.network import GAIN, Controller

# Connections that are there several times, in any order, and a neuron that leads nowhere.
DOUBLE = Controller(
    [(0, 17, 1.0), (0, 17, -0.5), (15, 16, 0.3), (15, 16, -0.2), (18, 16, 1.0), (3, 18, 0.7),
     (3, 18, -0.7), (4, 19, 1.0)],
    [0.5, 0.2, 0.1, 0.3],
)  # fmt: skip
GIVEN = [*(Controller.random(seed) for seed in range(32)), DOUBLE, Controller([], [0.0, 1.0])]


def plain(controllers: list[Controller]) -> Networks:
    """Make the table one neuron after the other."""
    neurons, biases, links, sources, weights = [], [], [], [], []
    for controller in controllers:
        lean = controller.pruned()
        neurons.append(len(lean.bias))
        for node, bias in enumerate(lean.bias, 16):
            reads = [(s, w) for s, target, w in lean.connections if target == node]
            bias = np.float32(bias)
            for weight in (w for s, w in reads if s == 15):
                bias += np.float32(GAIN) * np.float32(weight)
            biases.append(bias)
            reads = sorted(link for link in reads if link[0] != 15)
            links.append(len(reads))
            sources += [s for s, _ in reads]
            weights += [w for _, w in reads]
    return Networks(
        np.array(neurons, np.int64),
        np.array(biases, np.float32),
        np.array(links, np.int64),
        np.array(sources, np.int32),
        np.array(weights, np.float32),
    )


def same(one: Networks, other: Networks) -> None:
    for name in COLUMNS:
        mine, its = getattr(one, name), getattr(other, name)
        assert mine.dtype == its.dtype, name
        np.testing.assert_array_equal(mine, its, name)


def test_a_table_has_the_networks_of_the_controllers():
    same(from_controllers(GIVEN).networks(), plain(GIVEN))
    for controller in GIVEN:
        same(from_controllers([controller]).networks(), plain([controller]))


def test_parts_of_a_table():
    table = from_controllers(GIVEN).networks()
    rows = np.array([3, 3, 0, 17])
    same(table.take(rows), plain([GIVEN[k] for k in rows]))
    same(table[4:9], plain(GIVEN[4:9]))
    same(Networks.joined([table[:3], table[3:]]), table)
    assert table[:] is table


@pytest.mark.parametrize("rows", [slice(0, 34), slice(32, 34)])
def test_the_inputs_that_networks_read(rows):
    table = from_controllers(GIVEN[rows]).networks()
    for bits, controller in zip(table.reads.tolist(), GIVEN[rows], strict=True):
        sensed = {s for s, _, _ in controller.pruned().connections if s < 15}
        assert bits == sum(1 << source for source in sensed)
