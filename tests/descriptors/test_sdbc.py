"""SDBC against its definition."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from descriptors import recorded
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from qed.descriptors import SDBC, geometric_median, scale, sdbc

NORMAL = qed.Environment()


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def five_features(trace, cycle):
    """Return the features of one cycle, scaled."""
    env = trace.environment
    side, robots, diagonal = env.arena, env.robots, env.arena * math.sqrt(2)
    places = list(zip(trace.x[cycle].tolist(), trace.y[cycle].tolist(), strict=True))
    before = trace.start
    if cycle > 0:
        before = np.stack([trace.x, trace.y, trace.heading], axis=2)[cycle - 1]
    forward, turns = [], []
    for (x, y), new_heading, (old_x, old_y, heading) in zip(
        places, trace.heading[cycle].tolist(), before.tolist(), strict=True
    ):
        along = (x - old_x) * math.cos(heading) + (y - old_y) * math.sin(heading)
        forward.append(along / (0.2 * env.max_speed))
        turn = math.remainder(new_heading - heading, 2 * math.pi)
        turns.append(turn / (2 * 0.2 * env.max_speed / 0.08))
    apart = max(diagonal / math.sqrt(robots / 2), side)
    near = {4: side, 5: diagonal / 2}.get(robots, side / 2 if robots > 9 else diagonal)
    # From the middle of the arena to a corner, one robot away from the walls.
    low, high = to_middles(0.11 * round(side / 2 / 0.11), side), to_middles(0.11, side)
    return (
        mean(0.5 + 0.5 * v for v in forward),
        mean(0.5 + 0.5 * w for w in turns),
        (mean(wall_distance(x, y, side) for x, y in places) - low) / (high - low),
        mean(math.dist(a, b) for a, b in combinations(places, 2)) / apart,
        mean(min((math.dist(a, b) for b in places if a is not b), default=0) for a in places)
        / near,
    )


def wall_distance(x, y, side):
    middles = [(side / 2, side), (side / 2, 0), (side, side / 2), (0, side / 2)]
    return mean(math.dist((x, y), middle) for middle in middles)


def to_middles(at, side):
    """Return the mean distance to the walls' middles from a point on the arena's diagonal."""
    return wall_distance(at, at, side)


def of_trace(trace):
    """Return mean and SD of each feature in turn."""
    features = np.array([five_features(trace, cycle) for cycle in range(len(trace.x))])
    return np.stack([features.mean(axis=0), features.std(axis=0) / 0.6], axis=1).ravel()


def plain_median(points):
    """Return the geometric median of points by 200 steps."""
    centre = np.mean(points[:2], axis=0)
    for _ in range(200):
        distances = [math.dist(point, centre) for point in points]
        near = [(point, 1 / d) for point, d in zip(points, distances, strict=True) if d > 0]
        if len(points) > 1 and near:
            centre = sum(w * point for point, w in near) / sum(w for _, w in near)
    return centre


def summed_distance(points, centre):
    return np.linalg.norm(points - centre, axis=1).sum()


def test_agrees_with_recorded_traces():
    found = sdbc(recorded.outcome(), recorded.ENVIRONMENTS)
    for swarm, vector in zip(recorded.traces(), found, strict=True):
        expected = plain_median(np.array([of_trace(trial) for trial in swarm]))
        np.testing.assert_allclose(vector, expected, rtol=0, atol=3e-6)


def test_one_trial_is_described_by_itself():
    found = sdbc(recorded.outcome(trials=1), recorded.ENVIRONMENTS)
    expected = [of_trace(swarm[0]) for swarm in recorded.traces()]
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-6)


def test_two_trials_are_described_by_their_average():
    found = sdbc(recorded.outcome(trials=2), recorded.ENVIRONMENTS)
    expected = [(of_trace(one) + of_trace(two)) / 2 for one, two, _ in recorded.traces()]
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-6)


def test_still_robots():
    poses = [(1.0, 2.0, 0.0), (3.0, 2.0, 1.0)]  # 2 m apart; M / sqrt(N/2) is the diagonal
    start = qed.Start(np.array(poses))
    pair = qed.Environment(robots=2)
    outcome = qed.simulate(
        qed.Controller([], [0, 0]), pair, start=start, seconds=4.0, descriptors=["sdbc"]
    )
    walls = (wall_distance(1.0, 2.0, 4.0) - 2.0001) / (3.1090 - 2.0001)
    diagonal = 4 * math.sqrt(2)
    expected = [0.5, 0, 0.5, 0, walls, 0, 2 / diagonal, 0, 2 / diagonal, 0]
    np.testing.assert_allclose(sdbc(outcome, [pair])[0], expected, atol=1e-4)


def test_spinning_robots_turn_with_value_1():
    spin = qed.Controller([(15, 16, -2), (15, 17, 2)], [0, 0])
    outcome = qed.simulate(spin, NORMAL, trials=2, seconds=400.0, descriptors=["sdbc"])
    found = sdbc(outcome, [NORMAL])[0]
    assert found[:3] == pytest.approx([0.5, 0.0, 1.0], abs=2e-3)


@pytest.mark.parametrize(
    ("robots", "between", "nearest"),
    [
        (1, math.sqrt(2) / math.sqrt(0.5), math.sqrt(2)),
        (3, math.sqrt(2) / math.sqrt(1.5), math.sqrt(2)),
        (4, 1, 1),
        (5, 1, math.sqrt(2) / 2),
        (9, 1, math.sqrt(2) / 2),
        (10, 1, 1 / 2),
        (20, 1, 1 / 2),
    ],
)
def test_divisors(robots, between, nearest):
    for side in (2.0, 3.0, 4.0, 5.0):
        _, width = scale(qed.Environment(robots=robots, arena=side))
        assert width[3:] == pytest.approx((between * side, nearest * side))


def test_normal_scale():
    low, width = scale(NORMAL)
    assert width[3:] == (4.0, 2.0)
    assert low[2] == pytest.approx(2.000, abs=5e-4)
    assert low[2] + width[2] == pytest.approx(3.109, abs=5e-4)


def test_geometric_median_of_points_on_a_line():
    line = np.array([0.0, 1.0, 4.0, 5.0, 100.0])[:, None] * np.array([3.0, 4.0])
    # The middle point; Weiszfeld's steps near it in proportion to 1 / steps at worst.
    np.testing.assert_allclose(geometric_median(line[None])[0], [12.0, 16.0], atol=1e-6)


def test_geometric_median_of_four_symmetric_points():
    square = np.array([[0.0, 0.0], [2.0, 2.0], [0.0, 2.0], [2.0, 0.0]])
    for order in (square, square[[0, 2, 1, 3]], square[::-1]):
        np.testing.assert_allclose(geometric_median(order[None])[0], [1.0, 1.0], atol=1e-12)


def test_geometric_median_of_equal_points():
    same = np.full((1, 5, 3), 0.3)
    np.testing.assert_array_equal(geometric_median(same)[0], same[0, 0])


def test_geometric_median_leaves_out_a_point_it_starts_at():
    points = np.array([[0.0], [0.0], [1.0]])  # the first step goes to the only other point
    expected = plain_median(points)
    np.testing.assert_allclose(geometric_median(points[None])[0], expected)


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=8),
)
@settings(deadline=None)
def test_geometric_median_of_any_points(points):
    points = np.array(points)
    found = geometric_median(points[None])[0]
    assert (points.min(axis=0) - 1e-12 <= found).all()
    assert (found <= points.max(axis=0) + 1e-12).all()


def test_geometric_median_is_nearest_to_all():
    rng = np.random.default_rng(4)
    batches = rng.random((20, 50, 10)) ** 3
    for points, median in zip(batches, geometric_median(batches), strict=True):
        np.testing.assert_allclose(median, plain_median(points), atol=1e-12)
        least = summed_distance(points, median)
        for step in rng.normal(0, 1e-3, (50, 10)):
            assert summed_distance(points, median + step) >= least - 1e-12


def test_geometric_median_does_not_depend_on_the_batch():
    batches = np.random.default_rng(5).random((33, 50, 10))
    whole = geometric_median(batches)
    for first, last in ((0, 1), (3, 20), (20, 33)):
        part = geometric_median(batches[first:last])
        np.testing.assert_array_equal(part, whole[first:last])


def test_values_are_about_0_to_1():
    found = sdbc(recorded.outcome(), recorded.ENVIRONMENTS)
    assert found.shape == (len(recorded.SWARMS), len(SDBC))
    assert (found >= -0.05).all()
    assert (found[:, :4] <= 1.0 + 1e-6).all()
    assert (found <= 1.2).all()


def test_what_was_not_simulated_cannot_be_described():
    outcome = qed.simulate(recorded.SWARMS[0][0], tasks="flocking", trials=1, seconds=1.0)
    with pytest.raises(ValueError, match="descriptors=\\['sdbc'\\]"):
        sdbc(outcome, [NORMAL])
