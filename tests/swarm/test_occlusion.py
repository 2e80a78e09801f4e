"""Lines of sight are found in two ways, for crowds and for scattered swarms: both see the same."""

from __future__ import annotations

import numpy as np
import pytest

import qed
from qed.speed import gathering, huddle


def scattered(robots, arena, trials):
    """Return poses on a grid so wide that no robot hears another."""
    side = int(np.ceil(np.sqrt(robots)))
    robot = np.arange(robots)
    poses = np.zeros((trials, robots, 3))
    poses[..., 0] = (robot % side + 0.5) * arena / side
    poses[..., 1] = (robot // side + 0.5) * arena / side
    return poses


@pytest.mark.parametrize("robots", [2, 3, 10, 11, 36])
@pytest.mark.parametrize("obstacles", [0, 2])
def test_a_crowd_sees_the_same_beside_scattered_swarms(robots, obstacles):
    env = qed.Environment(robots=robots, arena=12.0, obstacles=obstacles)
    crowd = huddle(env, 1)
    poses = np.concatenate([crowd.poses, scattered(robots, env.arena, 9)])
    places = np.broadcast_to(crowd.obstacles, (10, obstacles, 2))
    mixed = qed.Start(poses, places)
    how = {"tasks": ["aggregation", "dispersion"], "seconds": 20.0, "threads": 1}
    alone = qed.simulate(gathering(), env, trials=1, start=crowd, **how)
    beside = qed.simulate(gathering(), env, trials=10, start=mixed, **how)
    for task in how["tasks"]:
        assert alone.fitness[task][0, 0] == beside.fitness[task][0, 0]
