"""A kit's search in a world that goes on."""

from __future__ import annotations

from itertools import pairwise

import kits
import numpy as np
import pytest

import qed
from qed.errors import InputError
from qed.recovery.kit.live import AFTER, NORMAL, STRUCK, TRIAL, begun, relived

FAULTS = qed.Faults.sample(10, seed=3)
SHORT = {"budget": 3, "seconds": 4.0, "fresh": 2, "threads": 1}


@pytest.fixture(scope="module")
def kit():
    return kits.made(12)


@pytest.fixture(scope="module")
def found(kit):
    return qed.recover(kit, faults=FAULTS, reset=False, **SHORT)


def test_a_life_has_a_stretch_for_everything_that_happens(found, kit):
    moments = [part.moment for part in found.lived]
    assert moments == [NORMAL, STRUCK, *[TRIAL] * found.trials, AFTER]
    assert [part.row for part in found.lived[:2]] == [kit.present] * 2
    assert found.lived[-1].row == found.row == found.lived[-1].best
    # What the search was told is what the stretches gave, and what it then believed.
    for part, step in zip(found.lived[1:-1], found.trace, strict=True):
        assert (part.row, part.cell, part.fitness) == (step.row, step.cell, step.fitness)
        assert (part.best, part.believed) == (step.best, step.believed)
    assert found.lived[-1].kept.mean == found.claimed_broken


def test_the_same_life_can_be_lived_by_hand(found, kit):
    """Robots stay where they are, and the fault strikes after the first stretch."""
    world = begun(kit.task, kit.environment, seed=1)
    for k, part in enumerate(found.lived):
        if k == 1:
            world.faults = FAULTS
        before = world.poses
        assert world.run(kit.controllers[part.row], 4.0) == part.fitness
        assert (world.poses != before).any()
    assert world.time == pytest.approx(4.0 * len(found.lived))


def test_numbers_come_from_fresh_trials_as_with_reset(found, kit):
    reset = qed.recover(kit, faults=FAULTS, **SHORT)
    assert (found.normal, found.broken) == (reset.normal, reset.broken)
    assert reset.lived == ()
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
    both = qed.recover(
        kit, faults=[other, FAULTS], reset=False, progress=lambda *at: told.append(at),
        **(SHORT | {"threads": 2}),
    )  # fmt: skip
    assert both[1] == found
    assert both[0].lived[0] == found.lived[0]
    assert both[0].lived[1] != found.lived[1]
    assert told[-1] == (6, 6)
    assert told == sorted(told)


def test_to_watch_a_life_changes_nothing(found, kit):
    world = begun(kit.task, kit.environment, seed=1)
    traces = list(relived(world, found.lived, FAULTS, 4.0))
    assert [trace.score[-1] for trace in traces] == [part.fitness for part in found.lived]
    assert [trace.faults for trace in traces] == [None, *[FAULTS] * (len(traces) - 1)]
    for one, then in pairwise(traces):
        ends = np.stack([one.x[-1], one.y[-1], one.heading[-1]], -1)
        np.testing.assert_array_equal(then.start, ends)


def test_archives_are_searched_with_reset_only():
    with pytest.raises(InputError, match="reset=False needs a kit"):
        qed.recover(qed.load_example(), "patrolling", FAULTS, reset=False)
