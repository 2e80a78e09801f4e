"""The hand-written behaviours do what they say, and are good at their tasks."""

from __future__ import annotations

from functools import cache

import behaviours
import numpy as np
import pytest

import qed

TASKS = list(behaviours.BEST)
SIDE = qed.Environment().arena
SEED = 1


@cache
def fitness():
    """Return the fitness of each behaviour, and the mean over random networks, in each task."""
    random = [qed.Controller.random(number) for number in range(100)]
    swarms = [*behaviours.BEHAVIOURS.values(), *random]
    outcome = qed.simulate(swarms, tasks=TASKS, trials=10, seconds=200.0, seed=SEED)
    means = {task: outcome.fitness[task].mean(axis=1) for task in TASKS}
    known = len(behaviours.BEHAVIOURS)
    return {
        task: {
            **dict(zip(behaviours.BEHAVIOURS.values(), values[:known].tolist(), strict=True)),
            "random": values[known:].mean(),
        }
        for task, values in means.items()
    }


@cache
def watched(controller, seconds=400.0):
    """Return traces of the first three trials."""
    return [qed.trace(controller, seconds=seconds, seed=SEED, trial=k) for k in range(3)]


def between(trace):
    """Return the distance of each robot to each other one in each cycle; infinite to itself."""
    dx = trace.x[:, :, None] - trace.x[:, None]
    dy = trace.y[:, :, None] - trace.y[:, None]
    return np.hypot(dx, dy) + np.where(np.eye(trace.x.shape[1]) == 1, np.inf, 0)


def motion(trace):
    """Return how far each robot moved in each cycle but the first, over the farthest it can."""
    moved = np.hypot(np.diff(trace.x, axis=0), np.diff(trace.y, axis=0))
    return moved / (0.2 * trace.environment.max_speed)


@pytest.mark.parametrize(
    ("task", "lead"),
    [
        ("aggregation", 0.06),
        ("dispersion", 0.15),
        ("flocking", 0.12),
        ("patrolling", 0.45),
        ("border-patrolling", 0.55),
    ],
)
def test_each_is_good_at_its_task(task, lead):
    found = fitness()[task]
    best = behaviours.BEST[task]
    assert found[best] > found[behaviours.STILL] + lead
    assert found[best] > found["random"] + lead
    assert found[best] == max(found.values())


def test_avoider_patrols():
    found = fitness()["patrolling"]
    others = [found[behaviours.STILL], found[behaviours.STRAIGHT], found["random"]]
    assert found[behaviours.AVOIDER] > max(others) + 0.25


@pytest.mark.parametrize("name", behaviours.BEHAVIOURS)
def test_evolution_could_find_it(name):
    controller = behaviours.BEHAVIOURS[name]
    assert all(abs(weight) <= 2.0 for _, _, weight in controller.connections)
    assert len({link[:2] for link in controller.connections}) == len(controller.connections)


def test_still_robots_stay():
    for trace in watched(behaviours.STILL, seconds=20.0):
        for row, at_start in zip((trace.x, trace.y), trace.start.T[:2], strict=True):
            np.testing.assert_array_equal(row, np.broadcast_to(np.float32(at_start), row.shape))


def test_straight_driver_drives_straight_until_the_wall():
    start = qed.Start(np.array([[1.0, 2.0, 0.0]]))
    alone = qed.Environment(robots=1)
    trace = qed.trace(behaviours.STRAIGHT, alone, start=start, seconds=60.0)
    np.testing.assert_allclose(trace.y, 2.0, atol=1e-4)
    at_20_seconds = trace.x[99, 0]
    assert at_20_seconds == pytest.approx(1.0 + 20.0 * 0.1, abs=0.05)
    assert trace.x[-1, 0] == pytest.approx(SIDE - 0.055, abs=0.01)


def test_avoider_touches_nothing_and_keeps_moving():
    for trace in watched(behaviours.AVOIDER):
        assert (trace.proximity[..., :5].min(axis=2) < -0.9).mean() < 0.001
        assert motion(trace)[1000:].mean() > 0.7
    for trace in watched(behaviours.STRAIGHT):
        assert (trace.proximity[..., :5].min(axis=2) < -0.9).mean() > 0.9
        assert motion(trace)[1000:].mean() < 0.01


def test_patroller_visits_every_cell():
    for trace in watched(behaviours.PATROLLER):
        columns, rows = (np.floor(at * 10 / SIDE).astype(int).ravel() for at in (trace.x, trace.y))
        assert len(set(zip(columns.tolist(), rows.tolist(), strict=True))) == 100


def test_wall_follower_stays_at_the_walls():
    for trace in watched(behaviours.WALL_FOLLOWER):
        room = np.minimum(np.minimum(trace.x, SIDE - trace.x), np.minimum(trace.y, SIDE - trace.y))
        assert (room[1000:] < 0.3).mean() > 0.9
        assert motion(trace)[1000:].mean() > 0.8


def test_aggregator_gathers():
    for trace in watched(behaviours.AGGREGATOR):
        centre_x, centre_y = (at.mean(axis=1, keepdims=True) for at in (trace.x, trace.y))
        way = np.hypot(trace.x - centre_x, trace.y - centre_y).mean(axis=1)
        assert way[-500:].mean() < 0.5 * way[0]


def test_disperser_spreads():
    for trace in watched(behaviours.DISPERSER):
        nearest = between(trace).min(axis=2).mean(axis=1)
        assert nearest[-500:].mean() > 1.5 * nearest[0]
        assert nearest[-500:].mean() > 1.0


def test_flocker_moves_together():
    for trace in watched(behaviours.FLOCKER):
        near = between(trace)[1000:] < 0.5
        apart = trace.heading[1000:, :, None] - trace.heading[1000:, None]
        assert near.sum(axis=2).mean() > 3.0  # companions of a robot
        assert np.cos(apart)[near].mean() > 0.9
        assert motion(trace)[1000:].mean() > 0.9
