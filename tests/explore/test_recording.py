"""What is drawn is what is simulated: the watched world against qed.trace and qed.World."""

from __future__ import annotations

import numpy as np
import pytest

import qed
from qed.explore.recording import Watched
from qed.swarm.tasks import TASKS

BUSY = qed.Environment(robots=7, obstacles=2, arena=2.0)


@pytest.mark.parametrize("task", TASKS)
def test_a_watched_world_is_a_trace_to_the_bit(task: str) -> None:
    controller = qed.Controller.random(4)
    faults = qed.Faults.sample(7, seed=3)
    film = qed.trace(controller, BUSY, task=task, seconds=20.0, seed=5, faults=faults)
    world = Watched(BUSY, task, 5, faults=faults)
    seen = world.watch(controller, 20.0)
    for name, array in (
        ("x", seen.poses[0]), ("y", seen.poses[1]), ("heading", seen.poses[2]),
        ("proximity", seen.inputs[:7].transpose(1, 2, 0)),
        ("rab", seen.inputs[7:].transpose(1, 2, 0)),
        ("wheels", seen.wheels.transpose(1, 2, 0)), ("score", seen.score),
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(film, name), array, err_msg=name)


def test_robots_that_break_meanwhile_do_what_they_do_in_a_world() -> None:
    controller, faults = qed.Controller.random(4), qed.Faults.sample(7, seed=3)
    plain, watched = qed.World(BUSY, seed=5), Watched(BUSY, seed=5)
    plain.run(controller, 6.0)
    first = watched.watch(controller, 6.0)
    plain.faults = watched.faults = faults
    np.testing.assert_array_equal(first.poses[:, -1].T, plain.poses)
    plain.run(controller, 8.0)
    second = watched.watch(controller, 8.0)
    np.testing.assert_array_equal(second.poses[:, -1].T, plain.poses)
    assert not np.array_equal(second.poses[:, -1], qed.trace(controller, BUSY, seed=5).x[-1])


@pytest.mark.parametrize("task", TASKS)
def test_the_score_goes_on_over_an_interruption(task: str) -> None:
    """A controller without memory does not notice that it was handed over."""
    plain = qed.Controller([(0, 17, 1.0), (3, 16, -1.0)], [1.0, 0.8])
    whole = qed.trace(plain, BUSY, task=task, seconds=30.0, seed=2)
    world = Watched(BUSY, task, 2)
    parts = [world.watch(plain, seconds) for seconds in (7.0, 1.0, 22.0)]
    np.testing.assert_array_equal(whole.score, np.concatenate([one.score for one in parts]))


def test_hidden_neurons_are_those_of_the_network() -> None:
    controller = qed.Controller.random(12).pruned()
    assert controller.hidden > 1
    seen = Watched(BUSY, seed=1).watch(controller, 4.0)
    before = np.zeros((len(seen.hidden), BUSY.robots))
    for t in range(20):
        nodes = np.concatenate([seen.inputs[:, t], np.ones((1, 7)), np.zeros((2, 7)), before])
        now = np.zeros_like(before)
        for h in range(len(now)):
            links = [(s, w) for s, target, w in controller.connections if target == 18 + h]
            total = sum(w * nodes[s] for s, w in links) + np.zeros(7)
            now[h] = np.tanh(5.0 * total + controller.bias[2 + h])
        np.testing.assert_allclose(seen.hidden[:, t], now, atol=1e-4)
        before = now
