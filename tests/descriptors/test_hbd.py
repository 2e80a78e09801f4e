"""HBD against its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from descriptors import recorded
from hypothesis import given
from hypothesis import strategies as st

import qed
from qed.descriptors import HBD, hbd
from qed.swarm.cpu.history import survey

NORMAL = qed.Environment()
CELLS = 37 * 37
CYCLES = 50


def of_trace(trace):
    """Return uniformity, deviation and coverage of one trial, step by step."""
    side = trace.environment.arena
    cells = [
        (int(x / 0.11), int(y / 0.11)) for x, y in zip(trace.x.flat, trace.y.flat, strict=True)
    ]
    visits = {cell: cells.count(cell) for cell in set(cells)}
    n = len(visits)
    unfair = sum(abs(count / len(cells) - 1 / n) for count in visits.values())
    away = [
        math.dist((x, y), (side / 2, side / 2))
        for x, y in zip(trace.x.flat, trace.y.flat, strict=True)
    ]
    return (
        (1 - 1 / n) - unfair / 2,
        np.mean(away) / (side * math.sqrt(2) / 2),
        n / math.ceil(side / 0.11) ** 2,
    )


def of_visits(*trials, radius=0.0, environment=NORMAL):
    """Return the descriptor of one controller with the given visits in each trial."""
    outcome = qed.Outcome(
        {},
        spread=survey(np.array(trials, np.int32))[None],
        radius=np.full((1, len(trials)), radius),
    )
    return hbd(outcome, [environment])[0]


def test_agrees_with_recorded_traces():
    expected = [[of_trace(trial) for trial in swarm] for swarm in recorded.traces()]
    found = hbd(recorded.outcome(), recorded.ENVIRONMENTS)
    np.testing.assert_allclose(found, np.mean(expected, axis=1), rtol=0, atol=1e-6)


def test_a_swarm_alone_is_described_as_in_company():
    together = hbd(recorded.outcome(), recorded.ENVIRONMENTS)
    for k, (controller, environment) in enumerate(recorded.SWARMS):
        alone = qed.simulate(
            controller,
            environment,
            trials=recorded.TRIALS,
            seconds=recorded.SECONDS,
            seed=recorded.SEED,
            faults=recorded.FAULTS[k],
            descriptors=["hbd"],
        )
        np.testing.assert_array_equal(hbd(alone, [environment])[0], together[k])


def test_all_robots_in_one_cell():
    visits = np.zeros(CELLS, int)
    visits[5] = 10 * CYCLES
    np.testing.assert_allclose(of_visits(visits), [0.0, 0.0, 1 / CELLS], atol=1e-12)


def test_uniform_visits():
    visits = np.full(CELLS, 7)
    assert of_visits(visits) == pytest.approx([1 - 1 / CELLS, 0.0, 1.0])
    visits[100:] = 0  # uniform over what was visited
    assert of_visits(visits) == pytest.approx([1 - 1 / 100, 0.0, 100 / CELLS])


def test_uniformity_of_two_cells():
    visits = np.zeros(CELLS, int)
    visits[[0, 1]] = 3, 1  # p is 3/4 and 1/4: a distance of 1/4 from uniform
    assert of_visits(visits)[0] == pytest.approx(1 / 2 - 1 / 4)


def test_deviation_is_relative_to_the_corners():
    visits = np.eye(1, 18 * 18, dtype=int)[0]
    small = qed.Environment(arena=2.0)
    assert of_visits(visits, radius=math.sqrt(2), environment=small)[1] == pytest.approx(1.0)
    assert of_visits(visits, radius=math.sqrt(2))[1] == pytest.approx(0.5)


def test_trials_are_averaged():
    one, all_over = np.eye(1, CELLS, dtype=int)[0], np.full(CELLS, 2)
    both = (of_visits(one) + of_visits(all_over)) / 2
    np.testing.assert_allclose(of_visits(one, all_over), both)


def test_very_long_trials_do_not_overflow():
    visits = np.zeros(CELLS, int)
    visits[:1000] = 2**31 - 1
    assert of_visits(visits)[0] == pytest.approx(1 - 1 / 1000)


@given(st.lists(st.integers(0, 2000), min_size=1, max_size=40).filter(any))
def test_any_visits(counts):
    visited = np.array([count for count in counts if count])
    n = len(visited)
    expected = (1 - 1 / n) - np.abs(visited / visited.sum() - 1 / n).sum() / 2
    uniformity, _, coverage = of_visits(counts)
    assert uniformity == pytest.approx(expected, abs=1e-12)
    assert -1e-12 <= uniformity <= 1 - 1 / n + 1e-12
    assert coverage == n / CELLS


def test_values_lie_between_0_and_1():
    found = hbd(recorded.outcome(), recorded.ENVIRONMENTS)
    assert found.shape == (len(recorded.SWARMS), len(HBD))
    assert (found >= 0).all()
    assert (found <= 1).all()


def test_what_was_not_simulated_cannot_be_described():
    outcome = qed.simulate(recorded.SWARMS[0][0], tasks="flocking", trials=1, seconds=1.0)
    with pytest.raises(ValueError, match="descriptors=\\['hbd'\\]"):
        hbd(outcome, [NORMAL])
