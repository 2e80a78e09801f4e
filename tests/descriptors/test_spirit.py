"""SPIRIT against its definition, and the distance between behaviours."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from descriptors import recorded
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as some

import qed
from qed.descriptors import spirit, spirit_distance

GROUPS = {32: [0, 1], 16: [2], 8: [3, 4], 4: [5, 6], 2: [7, 8, 13, 14], 1: [9, 10, 11, 12]}


def place(inputs, wheels):
    """Return the place of a robot-cycle in the descriptor."""
    state = sum(bit for bit, group in GROUPS.items() if min(inputs[group]) < 0)
    left, right = (sum(speed > border for border in (-0.05, 0.0, 0.05)) for speed in wheels)
    return 16 * state + 4 * left + right


def of_traces(trials):
    """Return p(action | state) over some trials, robot by robot."""
    counts = Counter()
    for trace in trials:
        inputs = np.concatenate([trace.proximity, trace.rab], axis=2).reshape(-1, 15)
        counts.update(map(place, inputs, trace.wheels.reshape(-1, 2)))
    vector = []
    for state in range(64):
        total = sum(counts[16 * state + action] for action in range(16))
        vector += [counts[16 * state + action] / total if total else 1 / 16 for action in range(16)]
    return vector


def test_agrees_with_recorded_traces():
    expected = [of_traces(swarm) for swarm in recorded.traces()]
    found = spirit(recorded.outcome())
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)


def test_still_robots_always_do_the_same():
    still = [controller for controller, _ in recorded.SWARMS].index(recorded.behaviours.STILL)
    states = spirit(recorded.outcome())[still].reshape(64, 16)
    came_up = recorded.outcome().situations[still].sum(axis=1) > 0
    assert came_up.any()
    assert (states[came_up, 4 * 1 + 1] == 1).all()  # both wheels in (-0.05, 0]
    assert (states[~came_up] == 1 / 16).all()


def test_straight_driver_without_neighbours():
    start = qed.Start(np.array([[2.0, 2.0, 0.0]]))
    outcome = qed.simulate(
        recorded.behaviours.STRAIGHT,
        qed.Environment(robots=1),
        start=start,
        seconds=4.0,
        descriptors=["spirit"],
    )
    expected = np.full((64, 16), 1 / 16, np.float32)
    expected[0] = np.eye(16)[15]
    np.testing.assert_array_equal(spirit(outcome), [expected.ravel()])


def test_every_state_is_a_distribution():
    states = spirit(recorded.outcome()).reshape(-1, 64, 16)
    assert (states >= 0).all()
    np.testing.assert_allclose(states.sum(axis=2), 1, rtol=0, atol=1e-6)


def certain(action):
    """Return the descriptor of robots that always take the same action."""
    return np.tile(np.eye(16)[action], 64)


def test_distance_of_disjoint_behaviours_is_1():
    assert spirit_distance(certain(0), certain(15)) == 1.0


def test_distance_counts_every_state_alike():
    other = certain(0).reshape(64, 16).copy()
    other[:16] = np.eye(16)[3]
    assert spirit_distance(certain(0), other.ravel()) == 16 / 64


def test_distance_to_what_never_came_up():
    assert spirit_distance(certain(2), np.full(1024, 1 / 16)) == pytest.approx(15 / 16)


def test_distance_broadcasts():
    many = spirit(recorded.outcome())
    table = spirit_distance(many[:, None], many[None])
    assert table.shape == (len(many), len(many))
    for i, p in enumerate(many):
        for j, q in enumerate(many):
            states = zip(p.reshape(64, 16).tolist(), q.reshape(64, 16).tolist(), strict=True)
            plain = [sum(abs(a - b) for a, b in zip(*pair, strict=True)) / 2 for pair in states]
            assert table[i, j] == pytest.approx(sum(plain) / 64, abs=1e-12)


@st.composite
def behaviour(draw):
    counts = draw(some.arrays(np.int64, (64, 16), elements=st.integers(0, 3), fill=st.just(0)))
    return spirit(qed.Outcome({}, situations=counts[None]))[0]


@given(behaviour(), behaviour(), behaviour())
def test_distance_is_a_metric(p, q, r):
    assert spirit_distance(p, p) == 0.0
    assert spirit_distance(p, q) == spirit_distance(q, p)
    assert 0.0 <= spirit_distance(p, q) <= 1.0 + 1e-6
    assert spirit_distance(p, r) <= spirit_distance(p, q) + spirit_distance(q, r) + 1e-12


def test_what_was_not_simulated_cannot_be_described():
    outcome = qed.simulate(recorded.SWARMS[0][0], tasks="flocking", trials=1, seconds=1.0)
    with pytest.raises(ValueError, match="descriptors=\\['spirit'\\]"):
        spirit(outcome)
