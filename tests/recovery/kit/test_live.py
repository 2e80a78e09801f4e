"""A kit's search in a world that goes on."""

from __future__ import annotations

from itertools import pairwise

import kits
import numpy as np
import pytest

import qed
from qed.recovery.kit.play import AFTER, NORMAL, STRUCK, TRIAL, new_world, replay_session

FAULTS = qed.Faults.sample(10, seed=3)
SHORT = {"budget": 3, "seconds": 4.0, "fresh": 2, "threads": 1}


@pytest.fixture(scope="module")
def kit():
    return kits.made(12)


@pytest.fixture(scope="module")
def found(kit):
    return kit.recover(faults=FAULTS, reset=False, **SHORT)


def test_a_session_has_a_period_for_everything_that_happens(found, kit):
    moments = [part.moment for part in found.session]
    assert moments == [NORMAL, STRUCK, *[TRIAL] * found.trials, AFTER]
    assert [part.row for part in found.session[:2]] == [kit.present] * 2
    assert found.session[-1].row == found.row == found.session[-1].best
    # What the search was told is what the periods gave, and what it then believed.
    for part, step in zip(found.session[1:-1], found.trace, strict=True):
        assert (part.row, part.cell, part.fitness) == (step.row, step.cell, step.fitness)
        assert (part.best, part.believed) == (step.best, step.believed)
    assert found.session[-1].kept.mean == found.claimed_broken


def test_the_same_session_can_be_run_by_hand(found, kit):
    """Robots stay where they are, and the fault strikes after the first period."""
    world = new_world(kit.task, kit.environment, seed=1)
    for k, part in enumerate(found.session):
        if k == 1:
            world.faults = FAULTS
        before = world.poses
        assert world.run(kit.controllers[part.row], 4.0) == part.fitness
        assert (world.poses != before).any()
    assert world.time == pytest.approx(4.0 * len(found.session))


def test_numbers_come_from_fresh_trials_as_with_reset(found, kit):
    reset = kit.recover(faults=FAULTS, **SHORT)
    assert (found.normal, found.broken) == (reset.normal, reset.broken)
    assert reset.session == ()
    fresh = qed.simulate(
        found.controller,
        tasks=kit.task,
        trials=2,
        seconds=4.0,
        seed=found.fresh_seed,
        faults=FAULTS,
    ).fitness[kit.task]
    assert found.performance == fresh.mean()


def test_other_faults_and_threads_do_not_matter(found, kit):
    other = qed.Faults(["PMAX"] * 10)
    told = []
    both = kit.recover(faults=[other, FAULTS], reset=False, progress=lambda *at: told.append(at),
        **(SHORT | {"threads": 2}),
    )  # fmt: skip
    assert both[1] == found
    assert both[0].session[0] == found.session[0]
    assert both[0].session[1] != found.session[1]
    assert told[-1] == (1 + max(one.trials for one in both), 4)
    assert told == sorted(told)


def test_to_watch_a_session_changes_nothing(found, kit):
    world = new_world(kit.task, kit.environment, seed=1)
    traces = list(replay_session(world, found.session, FAULTS, 4.0))
    assert [trace.score[-1] for trace in traces] == [part.fitness for part in found.session]
    assert [trace.faults for trace in traces] == [None, *[FAULTS] * (len(traces) - 1)]
    for one, then in pairwise(traces):
        ends = np.stack([one.x[-1], one.y[-1], one.heading[-1]], -1)
        np.testing.assert_array_equal(then.start, ends)
