"""Swarms whose robots run controllers of their own."""

from __future__ import annotations

import behaviours
import numpy as np
import pytest
from controller import test_networks as networks
from plain_world import TASKS
from swarm.test_plain_world import agree

import qed
from qed.swarm.job import checked

DESCRIPTORS = ("hbd", "sdbc", "spirit")
SMALL = qed.Environment(robots=7, arena=2.0)


def controllers(count, seed=0):
    return [qed.Controller.random(seed + k) for k in range(count)]


def simulated(swarm, env, trials, **kw):
    kw = {"tasks": TASKS, "seconds": 10.0, "seed": 3, "descriptors": DESCRIPTORS, **kw}
    return qed.simulate(swarm, env, trials=trials, threads=1, **kw)


def same(one, other):
    for task in TASKS:
        np.testing.assert_array_equal(one.fitness[task], other.fitness[task])
    np.testing.assert_array_equal(one.spread, other.spread)
    np.testing.assert_array_equal(one.features, other.features)
    np.testing.assert_array_equal(one.situations, other.situations)


@pytest.mark.parametrize("trials", [1, 3, 16, 50])
@pytest.mark.parametrize("seed", [1, 5])
def test_a_team_of_equals_is_one_controller(trials, seed):
    alone = qed.Controller.random(seed)
    team = qed.Team([alone] * SMALL.robots)
    same(simulated(team, SMALL, trials), simulated(alone, SMALL, trials))


def test_teams_and_controllers_side_by_side_do_not_disturb_each_other():
    environments = [SMALL, SMALL, qed.Environment(), qed.Environment(robots=5)]
    swarms = [
        qed.Team(controllers(7)), qed.Controller.random(4), qed.Team(controllers(10, 20)),
        qed.Team(controllers(5, 40)),
    ]  # fmt: skip
    together = simulated(swarms, environments, 9)
    for k, (swarm, env) in enumerate(zip(swarms, environments, strict=True)):
        same(simulated(swarm, env, 9), together.part(slice(k, k + 1)))


@pytest.mark.parametrize("seed", [2, 7])
def test_a_team_in_the_plain_world(seed):
    team = qed.Team([behaviours.STRAIGHT, behaviours.AGGREGATOR, *controllers(5, seed)])
    faults = qed.Faults("NONE,LW-H,PMAX,NONE,ROFS,BW-H,PRAND")
    agree(team, SMALL, free=False, seconds=6.0, seed=seed, faults=faults)


def test_each_robot_runs_its_own_controller():
    still, ahead = qed.Controller([], [0.0, 0.0]), qed.Controller([], [9.0, 9.0])
    start = qed.Start([[1.0, 1.0, 0.0], [1.0, 2.0, 0.0], [1.0, 3.0, 0.0]])
    env = qed.Environment(robots=3)
    seen = qed.trace(qed.Team([ahead, still, ahead]), env, seconds=5.0, start=start)
    assert seen.x[-1] - 1.0 == pytest.approx([0.5, 0.0, 0.5], abs=0.03)


def test_a_larger_network_does_not_leak_into_the_next_robot():
    # Hidden neurons that are constants are not computed again for a single controller.
    constant = qed.Controller([(18, 16, 0.1), (18, 17, 0.1)], [0.0, 0.0, 0.7])
    busy = qed.Controller([(0, 18, 1.0), (18, 19, 1.0), (19, 16, 1.0)], [0.5, 0.2, -0.4, 0.3])
    env = qed.Environment(robots=4)
    agree(qed.Team([busy, constant, busy, constant]), env, free=False, seconds=4.0)


def test_a_team_leaves_the_constants_of_the_next_swarm_alone():
    # A team's last robot has whole vectors of lanes, some of which are the next swarm's.
    constant = qed.Controller([(18, 16, 0.1), (18, 17, 0.3)], [0.0, 0.0, 0.7])
    busy = qed.Controller([(0, 18, 1.0), (18, 19, 1.0), (19, 16, 1.0)], [0.5, 0.2, -0.4, 0.3])
    swarms = [qed.Team([busy] * SMALL.robots), constant]
    together = simulated(swarms, SMALL, 9)
    same(simulated(constant, SMALL, 9), together.part(slice(1, 2)))


READERS = {
    "nothing": qed.Controller([], [9.0, 9.0]),
    "proximity": qed.Controller([(0, 16, 1.0), (3, 17, -1.0), (6, 17, 0.5)], [1.0, 1.0]),
    "a cone": qed.Controller([(7, 16, -1.0)], [0.4, 0.6]),
    "another cone": qed.Controller([(11, 17, 1.5)], [0.7, 0.2]),
    "one sensor": qed.Controller([(2, 18, 1.0), (18, 16, 1.0)], [0.5, 0.2, -0.4]),
}


@pytest.mark.parametrize(
    "env",
    [SMALL, qed.Environment(robots=7, arena=2.0, obstacles=2, rab_range=2.0)],
    ids=["free", "obstacles"],
)
@pytest.mark.parametrize("faults", [None, qed.Faults("NONE,LW-H,PMAX,NONE,ROFS,BW-H,PRAND")])
def test_members_that_read_different_inputs_in_the_plain_world(env, faults):
    team = qed.Team([*READERS.values(), behaviours.AGGREGATOR, qed.Controller.random(3)])
    agree(team, env, free=False, seconds=6.0, seed=4, faults=faults)


def test_the_networks_of_a_jobs_swarms_lie_one_after_the_other():
    members = [*READERS.values(), qed.Controller.random(3)]
    swarms = [qed.Team(members), members[1], qed.Team(members[::-1])]
    job = checked(
        swarms, qed.Environment(robots=len(members)), trials=1, seconds=1.0, seed=1, faults=None,
        start=None, noise=0.0,
    )  # fmt: skip
    for some in (slice(0, 1), slice(1, 3), slice(0, 3)):
        table, sizes = job.networks(some)
        each = [one.controllers if isinstance(one, qed.Team) else (one,) for one in swarms[some]]
        assert sizes.tolist() == [len(swarm) for swarm in each]
        networks.same(table, networks.plain([one for swarm in each for one in swarm]))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "a controller for each robot, got none"),
        (None, "must be a list with a qed.Controller per robot, got NoneType"),
        (qed.Controller([], [1.0, 1.0]), "per robot, got Controller"),
        ([1], r"controllers\[0\] of a team must be a qed.Controller, got int"),
    ],
)
def test_bad_teams_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        qed.Team(given)


@pytest.mark.parametrize(
    "do",
    [
        lambda team: qed.simulate(team, tasks="patrolling", trials=1, seconds=1.0),
        lambda team: qed.simulate([team[0], team], tasks="patrolling", trials=1, seconds=1.0),
        lambda team: qed.trace(team, seconds=1.0),
        lambda team: qed.World().run(team, 1.0),
    ],
)
def test_a_team_of_the_wrong_size_is_refused(do):
    with pytest.raises(ValueError, match="controllers: a team of 3 cannot drive 10 robots; give"):
        do(qed.Team(controllers(3)))


def test_teams_are_equal_if_their_controllers_are():
    assert qed.Team(controllers(3)) == qed.Team(controllers(3))
    assert qed.Team(controllers(3)) != qed.Team(controllers(3, 1))
    assert len({qed.Team(controllers(3)), qed.Team(controllers(3))}) == 1
