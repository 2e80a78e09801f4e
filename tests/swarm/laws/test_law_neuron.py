"""The neuron's squashing function."""

import numpy as np
import pytest
from numpy import float32 as f32
from swarm.laws.plain import plain

from qed.swarm.laws import neuron

tanh = plain(neuron.tanh)


@pytest.mark.parametrize("reach", [0.01, 1.0, 12.0])
def test_tanh_is_close_to_exact(reach):
    x = np.linspace(-reach, reach, 10001).astype(f32)
    got = np.array([tanh(value) for value in x], float)
    assert np.abs(got - np.tanh(x.astype(float))).max() < 4e-7


def test_tanh_is_as_good_near_zero_as_its_numbers():
    for x in (1e-30, 1e-8, 1e-4, 1e-2):
        assert tanh(x) == pytest.approx(np.tanh(x), rel=5e-7)


def test_tanh_is_odd():
    for x in np.linspace(0, 12, 2000):
        assert tanh(-x) == -tanh(x)


def test_tanh_saturates():
    for x in (8.0, 9.0, 100.0, 1e30, np.inf):
        assert 1 - 4e-7 < tanh(x) <= 1
        assert -1 <= tanh(-x) < -1 + 4e-7


def test_gain():
    assert neuron.GAIN == 5
