"""The front door: shapes, determinism, and bad input."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest

import qed
from qed.swarm.tasks import TASKS

ALL = list(TASKS)
MIXED = [
    qed.Environment(robots=robots, obstacles=obstacles, max_speed=speed, arena=arena)
    for robots, obstacles, speed, arena in (
        (5, 0, 0.1, 2.0),
        (10, 2, 0.05, 3.0),
        (20, 6, 0.2, 4.0),
        (1, 0, 0.1, 4.0),
        (13, 1, 0.15, 5.0),
    )
]


def controllers(count: int) -> list[qed.Controller]:
    return [qed.Controller.random(seed) for seed in range(100, 100 + count)]


def same(one: qed.Outcome, two: qed.Outcome) -> None:
    for task in one.fitness:
        assert np.array_equal(one.fitness[task], two.fitness[task]), task


def test_fitness_has_a_row_for_each_controller_and_a_column_for_each_trial() -> None:
    outcome = qed.simulate(controllers(3), tasks=ALL, trials=4, seconds=2.0)
    assert set(outcome.fitness) == set(ALL)
    for values in outcome.fitness.values():
        assert values.shape == (3, 4)
        assert np.isfinite(values).all()
        assert (values >= 0.0).all()
        assert (values <= 1.0).all()


def test_repeated_calls_are_identical() -> None:
    first = qed.simulate(controllers(4), tasks=ALL, trials=3, seconds=20.0, seed=5)
    same(first, qed.simulate(controllers(4), tasks=ALL, trials=3, seconds=20.0, seed=5))


def test_threads_do_not_matter() -> None:
    swarms = controllers(10)
    one, two = (
        qed.simulate(swarms, MIXED * 2, tasks=ALL, trials=30, seconds=10.0, threads=threads)
        for threads in (1, 2)
    )
    same(one, two)


def test_order_and_split_of_controllers_do_not_matter() -> None:
    swarms = controllers(5)
    faults = [qed.Faults.sample(env.robots, seed) for seed, env in enumerate(MIXED)]
    whole = qed.simulate(swarms, MIXED, tasks=ALL, trials=7, seconds=20.0, faults=faults)
    for k in range(5):
        alone = qed.simulate(
            swarms[k], MIXED[k], tasks=ALL, trials=7, seconds=20.0, faults=faults[k]
        )
        for task in ALL:
            assert np.array_equal(alone.fitness[task][0], whole.fitness[task][k])
    backwards = qed.simulate(
        swarms[::-1], MIXED[::-1], tasks=ALL, trials=7, seconds=20.0, faults=faults[::-1]
    )
    for task in ALL:
        assert np.array_equal(backwards.fitness[task][::-1], whole.fitness[task])


def test_more_trials_begin_with_the_same_trials() -> None:
    # 64 robots: six trials fill a block, so these are split differently.
    for robots, arena in ((10, 4.0), (64, 6.0)):
        env = qed.Environment(robots=robots, arena=arena)
        few = qed.simulate(controllers(2), env, tasks=ALL, trials=4, seconds=10.0)
        many = qed.simulate(controllers(2), env, tasks=ALL, trials=15, seconds=10.0)
        for task in ALL:
            assert np.array_equal(few.fitness[task], many.fitness[task][:, :4])


def test_tasks_do_not_disturb_each_other() -> None:
    together = qed.simulate(
        controllers(3), tasks=ALL, trials=3, seconds=10.0, descriptors=["hbd", "sdbc", "spirit"]
    )
    for task in ALL:
        alone = qed.simulate(controllers(3), tasks=task, trials=3, seconds=10.0)
        assert np.array_equal(alone.fitness[task], together.fitness[task])


def test_a_trace_is_a_trial_of_simulate() -> None:
    controller = qed.Controller.random(7)
    faults = qed.Faults.sample(10, 3)
    outcome = qed.simulate(controller, tasks=ALL, trials=3, seconds=30.0, seed=9, faults=faults)
    for task in ALL:
        seen = qed.trace(controller, task=task, seconds=30.0, seed=9, trial=2, faults=faults)
        assert seen.score[-1] == outcome.fitness[task][0, 2]


def test_another_seed_gives_another_result() -> None:
    first, other = (
        qed.simulate(controllers(1), tasks="patrolling", trials=5, seconds=10.0, seed=seed)
        for seed in (1, 2)
    )
    assert not np.array_equal(first.fitness["patrolling"], other.fitness["patrolling"])


def test_start_poses_are_the_same_for_every_controller() -> None:
    still = qed.Controller([], [0.0, 0.0])
    outcome = qed.simulate([still, still], tasks="aggregation", trials=5, seconds=1.0)
    assert np.array_equal(outcome.fitness["aggregation"][0], outcome.fitness["aggregation"][1])
    assert len(set(outcome.fitness["aggregation"][0])) == 5


def test_no_faults_is_a_fault_of_none() -> None:
    swarms = controllers(4)
    same(
        qed.simulate(swarms, tasks=ALL, trials=5, seconds=20.0),
        qed.simulate(swarms, tasks=ALL, trials=5, seconds=20.0, faults=qed.Faults.none(10)),
    )


def test_progress_counts_robot_steps() -> None:
    done: list[int] = []
    qed.simulate(controllers(3), tasks="flocking", trials=60, seconds=1.0, progress=done.append)
    assert sum(done) == 3 * 60 * 10 * 5


def test_memory_does_not_grow_with_simulated_time() -> None:
    peaks = []
    for seconds in (2.0, 200.0):
        tracemalloc.start()
        qed.simulate(controllers(4), tasks=ALL, trials=5, seconds=seconds, threads=1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


GOOD: dict[str, Any] = {"tasks": "patrolling", "trials": 2, "seconds": 1.0}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tasks": "patroling"}, ["tasks", "patroling", "did you mean 'patrolling'"]),
        ({"tasks": []}, ["tasks", "patrolling"]),
        ({"trials": 0}, ["trials", "0"]),
        ({"trials": 2.5}, ["trials", "2.5"]),
        ({"seconds": -1.0}, ["seconds", "-1.0"]),
        ({"seconds": 0.0}, ["seconds", "0"]),
        ({"seconds": math.nan}, ["seconds", "nan"]),
        ({"seconds": 0.05}, ["seconds", "0.2"]),
        ({"seed": -1}, ["seed", "-1"]),
        ({"noise": -0.1}, ["noise", "-0.1"]),
        ({"threads": 0}, ["threads", "0"]),
        ({"descriptors": ["hdb"]}, ["descriptors", "hdb", "hbd"]),
        ({"faults": qed.Faults(["NONE"] * 9)}, ["faults", "10 robots", "9"]),
        ({"faults": "NONE"}, ["faults", "str"]),
        ({"faults": [None, None]}, ["faults", "one for each", "2"]),
        ({"environment": [qed.Environment()] * 2}, ["environment", "one for each", "2"]),
        ({"environment": "normal"}, ["environment", "str"]),
        ({"environment": qed.Environment(robots=60, arena=1.4)}, ["robots", "60", "1.4"]),
        ({"environment": qed.Environment(robots=2, arena=1.0)}, ["robots", "arena"]),
        ({"controllers": []}, ["controllers", "none"]),
        ({"controllers": ["still"]}, ["controllers", "str"]),
        ({"start": [[1.0, 1.0, 0.0]]}, ["start", "qed.Start"]),
        ({"start": qed.Start(np.full((2, 9, 3), 1.0))}, ["start", "robots", "9", "10"]),
        ({"start": qed.Start(np.full((3, 10, 3), 1.0))}, ["start", "trials", "3", "2"]),
        ({"start": qed.Start(np.full((2, 10, 3), 5.0))}, ["start", "poses", "4 m"]),
    ],
)
def test_bad_input_names_the_argument_and_what_is_allowed(
    change: dict[str, Any], words: list[str]
) -> None:
    arguments = {"controllers": controllers(1), "environment": None, **GOOD, **change}
    swarms, environment = arguments.pop("controllers"), arguments.pop("environment")
    with pytest.raises(ValueError, match=r".+") as caught:
        qed.simulate(swarms, environment, **arguments)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("poses", "obstacles", "words"),
    [
        ([[1.0, 2.0]], None, ["poses", "3"]),
        ([[1.0, math.inf, 0.0]], None, ["poses", "finite"]),
        ("here", None, ["poses", "numbers"]),
        ([[1.0, 1.0, 0.0]], [[1.0, 1.0, 1.0, 1.0]], ["obstacles", "2"]),
        (np.ones((2, 1, 3)), np.ones((3, 1, 2)), ["obstacles", "3 trials", "2"]),
    ],
)
def test_bad_start(poses: Any, obstacles: Any, words: list[str]) -> None:
    with pytest.raises(ValueError, match="start") as caught:
        qed.Start(poses, obstacles)
    for word in words:
        assert word in str(caught.value)


def test_the_last_of_sixty_four_robots_blocks_only_what_it_covers() -> None:
    # Robot 63's outer disc, but not its body, cuts the line from robot 0 to robot 1.
    poses = np.array([[12.0, 1.0 + 0.25 * k, 0.0] for k in range(64)])
    poses[0] = (1.0, 1.0, math.radians(-23.0))
    poses[1] = (1.6, 1.0, 0.0)
    poses[63] = (1.3, 0.93, 0.0)
    seen = qed.trace(
        qed.Controller([], [0.0, 0.0]),
        qed.Environment(robots=64, arena=20.0),
        seconds=0.2,
        start=qed.Start(poses),
    )
    assert seen.rab[0, 0, 1] == pytest.approx(0.2, abs=1e-6)
