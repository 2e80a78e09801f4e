"""Every law is the same on both engines, as far as that shows without a GPU."""

import json

import pytest
from law_cases import BY_NAME, CASES

from qed.swarm.compile import LAWS


@pytest.fixture(scope="module")
def simulated(simulator):
    """The comparison in Numba's CUDA simulator: with the true laws, and with changed ones."""
    told = json.loads(simulator("simulated_laws.py"))
    return {which: {row["law"]: row for row in rows} for which, rows in told.items()}


def test_every_law_is_compared(simulated):
    assert len(BY_NAME) == len(LAWS)
    assert set(simulated["same"]) == set(BY_NAME)


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_simulator_computes_as_the_cpu_does(simulated, name):
    row = simulated["same"][name]
    assert row["within"]
    assert row["flipped"] == 0.0
    assert row["absolute"] <= 1e-7


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_law_that_is_changed_on_one_engine_is_noticed(simulated, name):
    assert not simulated["changed"][name]["within"]
