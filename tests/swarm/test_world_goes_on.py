"""A world that goes on: stretches of it, put together, are one simulation."""

from __future__ import annotations

import behaviours
import numpy as np
import pytest

import qed

# Networks without hidden neurons remember nothing, so that to begin them anew changes nothing.
REACTIVE = [
    behaviours.STRAIGHT,
    qed.Controller([(0, 17, -0.8), (3, 16, 0.6), (9, 16, -0.3), (12, 17, 0.9)], [0.6, 0.5]),
]
CROWDED = qed.Environment(robots=8, arena=2.0, obstacles=2, max_speed=0.15)


def poses_of(trace, cycle):
    return np.stack([trace.x[cycle], trace.y[cycle], trace.heading[cycle]], -1)


@pytest.mark.parametrize("controller", REACTIVE)
@pytest.mark.parametrize("parts", [[40.0], [20.0, 20.0], [0.2, 13.0, 0.4, 26.4]])
def test_stretches_make_one_simulation(controller, parts):
    world = qed.World(CROWDED, seed=5)
    seen = qed.trace(controller, CROWDED, seconds=sum(parts), seed=5)
    np.testing.assert_array_equal(world.poses, seen.start)
    for seconds in parts:
        world.run(controller, seconds)
        np.testing.assert_array_equal(world.poses, poses_of(seen, world.cycle - 1))
    assert world.time == pytest.approx(sum(parts))


@pytest.mark.parametrize("task", ["aggregation", "dispersion", "flocking"])
def test_a_score_is_that_of_its_stretch(task):
    world = qed.World(CROWDED, task, seed=5)
    first, second = world.run(REACTIVE[1], 10.0), world.run(REACTIVE[1], 30.0)
    whole = qed.trace(REACTIVE[1], CROWDED, task=task, seconds=40.0, seed=5).score[-1]
    assert (10.0 * first + 30.0 * second) / 40.0 == pytest.approx(whole, abs=1e-6)
    assert first != second


def test_the_first_stretch_is_a_trial():
    got = qed.World(seed=3).run(qed.Controller.random(4), 20.0)
    told = qed.simulate(
        qed.Controller.random(4), tasks="patrolling", trials=1, seconds=20.0, seed=3
    )
    assert got == told.fitness["patrolling"][0, 0]


def test_patrolling_forgets_the_visits_of_the_stretch_before():
    still = qed.Controller([], [0.0, 0.0])
    world = qed.World(seed=3)
    assert world.run(still, 10.0) == world.run(still, 10.0)


def test_faults_strike_at_once_and_heal():
    env = qed.Environment(robots=2)
    start = qed.Start([[1.0, 1.0, 0.0], [1.0, 3.0, 0.0]])
    world = qed.World(env, start=start)
    ahead = qed.Controller([], [9.0, 9.0])
    gone = []
    for faults in (None, qed.Faults("BW-H,NONE"), None):
        world.faults = faults
        before = world.poses
        world.run(ahead, 4.0)
        gone.append(world.poses[:, 0] - before[:, 0])
    assert gone[0] == pytest.approx([0.4, 0.4], abs=0.03)
    assert gone[1] == pytest.approx([0.2, 0.4], abs=0.03)
    assert gone[2] == pytest.approx([0.4, 0.4], abs=0.03)


def test_teams_and_other_controllers_take_turns():
    world = qed.World(CROWDED, seed=1)
    team = qed.Team([qed.Controller.random(k) for k in range(8)])
    scores = [world.run(one, 5.0) for one in (team, qed.Controller.random(3), team)]
    assert all(0.0 <= score <= 1.0 for score in scores)
    again = qed.World(CROWDED, seed=1)
    assert scores == [again.run(one, 5.0) for one in (team, qed.Controller.random(3), team)]


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (lambda world: world.run(3, 1.0), "must be a qed.Controller or a qed.Team, got int"),
        (lambda world: world.run(REACTIVE[0], 0.0), "seconds must be"),
        (lambda world: setattr(world, "faults", qed.Faults("NONE")), "8 robots, but 1 faults"),
        (lambda world: world.run(qed.Team(REACTIVE), 1.0), "a team of 2 cannot drive 8 robots"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_happens(do, words):
    world = qed.World(CROWDED, seed=1)
    world.run(REACTIVE[1], 3.0)
    before, cycle = world.poses, world.cycle
    with pytest.raises(ValueError, match=words):
        do(world)
    np.testing.assert_array_equal(world.poses, before)
    assert (world.cycle, world.faults) == (cycle, None)


def test_a_traced_stretch_is_the_stretch_that_runs():
    ran, seen = qed.World(CROWDED, seed=2), qed.World(CROWDED, seed=2)
    for k, seconds in enumerate((6.0, 0.2, 5.0)):
        controller = qed.Controller.random(k)
        ran.faults = seen.faults = qed.Faults.sample(8, seed=k) if k else None
        score = ran.run(controller, seconds)
        before = seen.poses
        trace = seen.trace(controller, seconds)
        assert trace.score[-1] == score
        np.testing.assert_array_equal(trace.start, before)
        np.testing.assert_array_equal(poses_of(trace, -1), ran.poses)
        np.testing.assert_array_equal(seen.poses, ran.poses)
        assert trace.faults == ran.faults
        assert len(trace.x) == round(seconds / 0.2)
