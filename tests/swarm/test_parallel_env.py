"""A swarm as an environment of PettingZoo: its own tests, seeds, rewards, ends."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from outside import Outside
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.utils.conversions import parallel_to_aec

import qed

FEW = qed.Environment(robots=3, arena=2.0)
make = functools.partial(qed.parallel_env, FEW, "aggregation", seconds=4.0)


def test_the_tests_of_pettingzoo_pass():
    parallel_api_test(make(), num_cycles=30)  # an episode has 19 steps
    parallel_seed_test(make, num_cycles=5)
    api_test(parallel_to_aec(make()), num_cycles=30)
    seed_test(lambda: parallel_to_aec(make()), num_cycles=5)


def episode(env, outside, **given):
    """Return rewards and last results of an episode that a network drives."""
    observations, infos = env.reset(**given)
    assert set(infos) == set(env.agents) == set(env.possible_agents)
    rewards = []
    while env.agents:
        wheels = outside(np.array([list(observations.values())]))[0]
        observations, reward, *more = env.step(dict(zip(env.agents, wheels, strict=True)))
        assert all(env.observation_space(a).contains(one) for a, one in observations.items())
        assert env.state_space.contains(env.state())
        assert len(set(reward.values())) == 1
        rewards.append(reward["robot_0"])
    return rewards, more


def test_an_episode_is_a_trial_and_its_rewards_add_up_to_the_fitness():
    controller = qed.Controller([(2, 16, -0.5), (7, 17, 0.6)], [0.9, 0.5])
    faults = qed.Faults("NONE,LW-H,PRAND")
    env = make(seed=5)
    for given, broken in (({}, None), ({"options": {"faults": faults}, "seed": 6}, faults)):
        rewards, (terminations, truncations, _) = episode(env, Outside(controller), **given)
        found = qed.simulate(
            controller, FEW, task="aggregation", trials=1, seconds=4.0, faults=broken,
            seed=given.get("seed", 5),
        ).fitness["aggregation"][0, 0]  # fmt: skip
        assert env.world.score == found
        assert len(rewards) == 19
        assert sum(rewards) == pytest.approx(found, abs=1e-12)
        assert set(truncations) == set(env.possible_agents)
        assert all(truncations.values())
        assert not any(terminations.values())


def test_seeds_decide_all_episodes():
    def starts(env, *seeds):
        found = []
        for seed in seeds:
            env.reset(seed=seed)
            found.append(env.state())
        return np.array(found)

    first = starts(make(), 7, None, None, 8, None)
    assert len(np.unique(first, axis=0)) == 5
    np.testing.assert_array_equal(starts(make(seed=7), None, None, None, 8, None), first)
    world = qed.World(FEW, seed=7)
    world.step(np.zeros((3, 2)))
    np.testing.assert_array_equal(first[0], world.poses.ravel())


def test_what_cannot_be_is_refused():
    env = make()
    with pytest.raises(qed.InputError, match=r"call reset\(\) first"):
        env.step({})
    env.reset()
    right = {agent: np.zeros(2) for agent in env.agents}
    for wrong, words in (
        ({"robot_0": [0.0, 0.0]}, "one for each of env.agents; see 'robot_1'"),
        ({**right, "robot_3": [0.0, 0.0]}, "see 'robot_3'"),
        ({**right, "robot_2": [0.0, 1.1]}, r"actions\['robot_2'\] must be two numbers"),
        ({**right, "robot_1": [0.0, np.nan]}, r"actions\['robot_1'\] must be"),
        ({**right, "robot_1": 0.0}, r"actions\['robot_1'\] must be"),
        ({**right, "robot_1": "ahead"}, r"actions\['robot_1'\] must be"),
    ):
        with pytest.raises(qed.InputError, match=words):
            env.step(wrong)
    assert env.world.cycle == 1
    while env.agents:
        env.step(right)
    assert env.step({}) == ({}, {}, {}, {}, {})
    with pytest.raises(qed.InputError, match=r"is over: call reset\(\)"):
        env.step(right)
    with pytest.raises(qed.InputError, match="seconds must be at least two cycles"):
        qed.parallel_env(FEW, seconds=0.2)
    with pytest.raises(qed.InputError, match="seed must be"):
        env.reset(seed=-1)
