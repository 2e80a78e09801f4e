"""Every law is the same on both engines, as far as that shows without a GPU."""

import json
import re
from pathlib import Path

import law_parity
import numpy as np
import pytest
from law_cases import BY_NAME, CASES

from qed.compile import LAWS
from qed.swarm.laws.geometry import FAR, X0, Y0


@pytest.fixture(scope="module")
def simulated(simulator):
    """The comparison in Numba's CUDA simulator: with the true laws, and with changed ones."""
    told = json.loads(simulator("simulated_laws.py"))
    return {which: {row["law"]: row for row in rows} for which, rows in told.items()}


def test_every_law_is_compared(simulated):
    # Not those of users, nor those made for other robots.
    ours = [law for law in LAWS if re.fullmatch(r"qed\.[\w.]+", law.__module__)]
    assert len(BY_NAME) == len(ours)
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


def explained(name, arguments, *results):
    """Tell for each result whether the tolerance of a law explains it."""
    columns = tuple(np.full(len(results), value, np.float32) for value in arguments)
    found = np.array(results, float).reshape(len(results), -1)
    width = found.shape[1] if found.shape[1] > 1 else 0
    real = np.ones(found.shape[1], bool)
    tolerance = law_parity.TOLERANCES[name]
    return law_parity.explained(BY_NAME[name], columns, found, width, real, tolerance).tolist()


def test_a_ray_through_a_corner_may_hit_or_miss_it():
    corner = (X0 + 0.1, Y0, -1.0, 0.0)
    assert explained("rays.ray_body", corner, 0.1, FAR, 0.101) == [True, True, False]
    inside = (X0 + 0.1, Y0 + 0.01, -1.0, 0.0)
    assert explained("rays.ray_body", inside, 0.1, FAR) == [True, False]


def test_a_direction_may_be_lost_only_close_to_the_body():
    def straight_and_slanted(gap):
        nx, ny = np.cos(0.1), -np.sin(0.1)  # away from the corner
        slanted = (nx, ny, gap, nx * X0 + ny * Y0)
        return explained("bodies.body_point", (X0 + gap, Y0), (1, 0, gap, X0), slanted)

    assert straight_and_slanted(1e-5) == [True, True]
    assert straight_and_slanted(1e-2) == [True, False]


def test_all_laws_agreed_on_the_gpu():
    results = Path(law_parity.__file__).parent / "results" / "gpu.json"
    saved = json.loads(results.read_text())["laws"]["found"]
    assert {row["law"] for row in saved} <= set(CASES)  # one that is new waits for a GPU
    assert [row["law"] for row in saved if not row["within"]] == []
