"""What engines add up, of all controllers."""

import numpy as np

import qed
from qed.swarm.measures import joined, stacked
from qed.swarm.tasks import TASKS, fitness


def test_fitness_of_many_environments_is_that_of_each():
    environments = qed.Environment.sample(40, seed=1)
    chance = np.random.default_rng(1)
    for task in TASKS.values():
        sums = {task.measure.name: chance.uniform(0.0, 1e4, (40, 3))}
        found = fitness(task, sums, 100, environments)
        for k, env in enumerate(environments):
            own = {task.measure.name: sums[task.measure.name][k]}
            np.testing.assert_array_equal(found[k], task.fitness(own, 100, env))


def test_a_score_of_the_environment_sees_each_environment():
    @qed.law
    def slow(speed):
        return 1.0 - abs(speed)

    task = qed.Task("roomy", robot=slow, score=lambda mean, env: mean * env.rab_range)
    environments = [qed.Environment(rab_range=far) for far in (0.5, 1.0, 0.5)]
    found = fitness(task, {task.measure.name: np.full((3, 2), 1000.0)}, 100, environments)
    assert found.tolist() == [[0.5, 0.5], [1.0, 1.0], [0.5, 0.5]]


def test_sums_of_parts_are_those_of_the_whole():
    each = [{"patrol": np.full(2, k), "visits": np.zeros((2, k + 1))} for k in range(5)]
    names = ("patrol", "visits")
    whole = stacked(each, names)
    parts = joined([stacked(each[:2], names), stacked(each[2:], names)])
    np.testing.assert_array_equal(parts["patrol"], whole["patrol"])
    assert [one.shape for one in parts["visits"]] == [(2, k + 1) for k in range(5)]
