"""Whole numbers: nothing overflows for any inputs, and C computes what is proven."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from qed.controller.inputs import SENSED
from qed.errors import InputError
from qed.programs import c
from qed.programs.network import (
    COARSE,
    LIMIT,
    ONE,
    TABLE,
    FixedNeuron,
    Neuron,
    fits,
    fixed,
    networks,
    step,
    tanh,
)

INPUTS = len(SENSED)
WEIGHTS = st.floats(-40.0, 40.0, width=32)
LINKS = st.lists(st.tuples(st.integers(0, INPUTS - 1), WEIGHTS), max_size=9)
NEURONS = st.builds(lambda bias, links: Neuron(bias, tuple(links)), WEIGHTS, LINKS)
needs_c = pytest.mark.skipif(bool(c.lacks()), reason=f"{c.lacks()}")


def test_the_table_is_the_hyperbolic_tangent():
    for a in range(-2 * LIMIT, 2 * LIMIT, 7):
        assert tanh(a) / ONE == pytest.approx(math.tanh(a / ONE), abs=0.002)
        assert tanh(a) == -tanh(-a)
    assert all(one <= other for one, other in pairwise(map(tanh, range(0, 2 * LIMIT, 13))))
    assert max(TABLE) <= ONE


@given(NEURONS)
def test_nothing_overflows_at_the_ends(neuron):
    [[found]] = fixed([[neuron]])
    assert fits(found)
    for side in (1, -1):
        # The inputs that make the sum as large as it can be: for each source the same sign.
        weight_of: dict[int, int] = {}
        for source, weight in found.links:
            weight_of[source] = weight_of.get(source, 0) + weight
        ends = [side * ONE * (1 if weight_of.get(k, 0) > 0 else -1) for k in range(INPUTS)]
        partial = found.bias * ONE
        for source, weight in found.links:
            assert abs(weight) < 2**15
            partial += weight * ends[source]
            assert abs(partial) < 2**31
        coarse = partial >> (found.shift + COARSE)
        assert -(2**15) <= coarse < 2**15
        if -64 <= coarse < 64:
            assert abs(partial >> found.shift) < 2**15


@given(NEURONS, st.integers(0, 2**32 - 1))
def test_a_neuron_is_near_its_value(neuron, seed):
    [[found]] = fixed([[neuron]])
    inputs = np.random.default_rng(seed).integers(-ONE, ONE + 1, INPUTS).tolist()
    exact = neuron.bias + 5.0 * sum(w * inputs[s] / ONE for s, w in neuron.links)
    [value] = step([found], inputs, [])
    # Factors are rounded to 1/2^shift, each times an input of 1 at most; then the sum, the table.
    apart = (len(neuron.links) + 1) * 0.5 / 2**found.shift + 1.0 / ONE + 0.002
    assert value / ONE == pytest.approx(math.tanh(exact), abs=apart)


def test_what_may_overflow_does_not_fit():
    assert fits(FixedNeuron(0, ((0, 2**15 - 1),), 12))
    assert not fits(FixedNeuron(0, ((0, 2**15),), 12))
    assert fits(FixedNeuron(1, tuple((k, 2**15 - 1) for k in range(15)), 12))
    assert not fits(FixedNeuron(0, tuple((k % 2, 2**15 - 1) for k in range(17)), 12))
    assert not fits(FixedNeuron(0, ((0, 2**12),) * 20, 0))  # the coarse sum


def test_weights_that_are_too_large_are_refused(tmp_path):
    for size in (500.0, 1e6):
        huge = qed.Controller([(0, 16, size)], [0.0, 0.0])
        with pytest.raises(InputError, match="take a controller with smaller weights"):
            qed.export(huge, "c", tmp_path / "c", trials=1, seconds=2.0)
    assert list(tmp_path.iterdir()) == []


def same_as_model(folder, run, controllers, cycles=12, seed=3):
    """Compare a program with the model for random and extreme inputs, wheel by wheel."""
    nets = fixed(networks(controllers))
    rng = np.random.default_rng(seed)
    inputs = rng.integers(-ONE, ONE + 1, (cycles, len(nets), INPUTS))
    inputs[: cycles // 2] = ONE * rng.choice([-1, 1], (cycles // 2, len(nets), INPUTS))
    hidden = [[0] * (len(net) - 2) for net in nets]
    with run(folder, 0, range(len(nets))) as program:
        for rows in inputs:
            told = program.step(rows / ONE)
            for k, net in enumerate(nets):
                values = step(net, rows[k].tolist(), hidden[k])
                hidden[k] = values[2:]
                assert (told[k] * ONE).tolist() == values[:2]


@needs_c
@settings(max_examples=3)
@given(seed=st.integers(0, 10**6))
def test_c_computes_what_is_proven(tmp_path_factory, seed):
    controllers = [qed.Controller.random(seed + k) for k in range(40)]
    folder = tmp_path_factory.mktemp("c")
    made = qed.export(
        qed.Team(controllers), "c", folder, environment=qed.Environment(robots=40),
        trials=1, seconds=1.0,
    )  # fmt: skip
    same_as_model(folder, c.whole, controllers)
    single = made.parity["c, single precision"]
    assert single["recorded, from the same state"]["within"] == 1.0
    assert single["random, free-running"]["within"] >= 0.99
    assert made.parity["c, whole numbers"]["recorded, from the same state"]["within"] >= 0.99


@needs_c
def test_c_drives_a_swarm(tmp_path):
    best = qed.load_example("aggregation").best.controller
    made = qed.export(best, "c", tmp_path, task="aggregation", trials=3, seconds=20.0)
    for report in made.parity.values():
        assert report["recorded, free-running"]["within"] >= 0.99
        assert report["closed loop"]["alike"]
    assert made.parity["c, single precision"]["recorded, free-running"]["largest"] <= 1e-5
