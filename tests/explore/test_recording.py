"""What is drawn is what is simulated: recordings against qed.trace, qed.World and networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from made_shown import archive, state

import qed
from qed.explore.sources import ArchiveView
from qed.explore.state import checked
from qed.explore.swarms import activations, recorded
from qed.swarm.tasks import TASKS

BUSY = qed.Environment(robots=7, obstacles=2, arena=2.0)
WHERE = {"robots": 7, "obstacles": 2, "arena": 2.0}


def seen(**more: Any) -> Any:
    """Return a recording of seven robots of cell 12."""
    views = [ArchiveView("small", "small.npz", archive())]
    return recorded(checked(state(cells=[12], environment=WHERE, seed=5, **more), views))


@pytest.mark.parametrize("task", TASKS)
def test_robots_that_break_meanwhile_do_what_they_do_in_a_world(task: str) -> None:
    controller, faults = archive().controller(12), qed.Faults.sample(7, seed=3)
    world = qed.World(BUSY, task, seed=5)
    world.run(controller, 6.0)
    half = world.poses
    world.faults = faults
    world.run(controller, 2.0)
    trace = seen(task=task, events=[[6.0, list(faults)]]).trace
    for poses, row in ((half, 29), (world.poses, 39)):
        for k, name in enumerate(("x", "y", "heading")):
            np.testing.assert_array_equal(getattr(trace, name)[row], poses[:, k])
    assert trace.x.shape == (40, 7)
    np.testing.assert_array_equal(trace.x[:30], qed.trace(controller, BUSY, seed=5).x[:30])


@pytest.mark.parametrize("task", TASKS)
def test_the_score_goes_on_over_an_interruption(task: str) -> None:
    """A controller without memory does not notice that it was handed over."""
    plain = qed.Controller([(0, 17, 1.0), (3, 16, -1.0)], [1.0, 0.8])
    film = qed.trace(plain, BUSY, task=task, seconds=30.0, seed=2)
    world = qed.World(BUSY, task, 2)
    parts = [world.trace(plain, seconds, since_start=True) for seconds in (7.0, 1.0, 22.0)]
    np.testing.assert_array_equal(film.score, np.concatenate([one.score for one in parts]))


@pytest.mark.parametrize("seeds", [[12], [12, 4]])
def test_hidden_neurons_are_those_of_the_networks(seeds: list[int]) -> None:
    some = [qed.Controller.random(seed).pruned() for seed in seeds]
    each = [some[k % len(some)] for k in range(7)]
    driver = qed.Team(each) if len(some) > 1 else some[0]
    trace = qed.trace(driver, BUSY, seconds=4.0)
    found = activations(driver, trace)
    assert found.shape == (20, 7, max(one.hidden for one in some))
    for robot, controller in enumerate(each):
        before = np.zeros(controller.hidden)
        for t in range(20):
            nodes = np.concatenate(
                [trace.proximity[t, robot], trace.rab[t, robot], [1.0], np.zeros(2), before]
            )
            now = np.zeros_like(before)
            for h in range(len(now)):
                total = sum(w * nodes[s] for s, to, w in controller.connections if to == 18 + h)
                now[h] = np.tanh(5.0 * total + controller.bias[2 + h])
            np.testing.assert_allclose(found[t, robot, : len(now)], now, atol=1e-4)
            before = now
