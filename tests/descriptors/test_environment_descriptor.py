"""The environment as a descriptor."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import qed
from qed.descriptors import environment


def test_normal_environment():
    assert environment.describe([qed.Environment()]).tolist() == [[1, 1, 2, 0, 2, 1]]


def test_every_environment_is_described_by_its_options():
    options = list(itertools.product(range(4), repeat=6))
    environments = [qed.Environment.from_options(each) for each in options]
    np.testing.assert_array_equal(environment.describe(environments), options)


def test_the_scripts_arenas():
    large = [qed.Environment.from_options((0, 1, 2, 3, 0, 1), "scripts")]
    assert large[0].arena == 5.0
    assert environment.describe(large, "scripts").tolist() == [[0, 1, 2, 3, 0, 1]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_speed", 0.12),
        ("robots", 7),
        ("arena", 6.0),
        ("obstacles", 1),
        ("rab_range", 3.0),
        ("proximity_range", 0.1),
    ],
)
def test_an_environment_off_the_options_is_refused(name, value):
    odd = qed.Environment(**{name: value})
    with pytest.raises(ValueError, match=f"^{name} must be one of the options .* got {value:g}"):
        environment.describe([qed.Environment(), odd])


def test_no_environments():
    assert environment.describe([]).shape == (0, 6)
