import numpy as np
import pytest
from test_recover import archive_of, twins

import qed
from qed.recovery.recover import ArchiveSearch, trials_of
from qed.recovery.trials import heats, race, races


def table(controllers, trials, seed, noise=0.3):
    """Return made-up fitness on each trial, and how a race reads it."""
    rng = np.random.default_rng(seed)
    fitness = rng.normal(size=(controllers, 1)) + noise * rng.normal(size=(controllers, trials))

    def attempt(rows, met):
        return fitness[rows, :met].mean(1)

    return fitness, attempt


def test_a_race_costs_a_fifth_and_finds_the_winner():
    found = 0
    for seed in range(100):
        fitness, attempt = table(4096, 10, seed)
        end = race(4096, 10, attempt)
        assert end.trials <= 4096 * 10 / 5
        found += end.winner == fitness.mean(1).argmax()
        kept = np.isfinite(end.fitness)
        assert (end.fitness[kept] == fitness.mean(1)[kept]).all()
    assert found >= 95


def test_who_is_named_comes_to_the_end():
    fitness, attempt = table(1000, 10, 1)
    last = int(fitness.mean(1).argmin())
    end = race(1000, 10, attempt, [last])
    assert end.fitness[last] == fitness[last].mean()
    assert race(1000, 10, attempt).fitness[last] == -np.inf


def test_few_controllers_or_trials_do_not_race():
    assert list(heats(4096, 10)) == [(4096, 1), (630, 3), (195, 10)]
    assert list(heats(20, 10)) == [(20, 10)]
    assert list(heats(4096, 1)) == [(4096, 1)]
    assert not races(32, 10)
    assert races(4096, 2)


@pytest.fixture(scope="module")
def archive():
    example = qed.load_example("patrolling")
    return archive_of(example.controllers[::16], cells=256)


def test_recover_races_to_the_end_of_the_full_search(archive):
    how = {"trials": 10, "fresh": 4, "seconds": 20.0, "seed": 2}
    faults = [qed.Faults.sample(10, seed=k) for k in range(2)]
    told = []
    quick = qed.recover(archive, "patrolling", faults, progress=lambda *at: told.append(at), **how)
    full = qed.recover(archive, "patrolling", faults, full=True, **how)
    for one, other in zip(quick, full, strict=True):
        if (one.cell, one.normal_cell) == (other.cell, other.normal_cell):
            assert one == other
        else:  # it may lose a winner, but it cannot find a better one
            assert one.claimed <= other.claimed
    assert any(one == other for one, other in zip(quick, full, strict=True))
    assert sorted(told) == told
    assert told[-1][0] == told[-1][1]


def test_the_study_searches_in_full(archive):
    how = trials_of(archive, "patrolling", trials=3, fresh=2, seconds=10.0)
    faults = [qed.Faults.sample(10, seed=1)]
    normal, _ = how.normal()
    [full] = ArchiveSearch(archive, how, full=True, normal=normal).recover(faults)
    assert full.claimed == how.broken(faults).max()
    assert full.normal == normal.fresh
    search = ArchiveSearch(archive, how)
    [raced] = search.recover(faults)
    assert np.isneginf(search.normal.fitness).any()
    assert search.normal.distances is None
    assert 0.0 <= raced.distance <= 1.0


def test_who_watches_hears_what_was_tried_and_can_end_the_search(archive):
    how = {"trials": 10, "fresh": 2, "seconds": 4.0, "seed": 2}
    faults, seen = qed.Faults.sample(10, seed=1), []
    found = qed.recover(archive, "patrolling", faults, on_event=seen.append, **how)
    assert found == qed.recover(archive, "patrolling", faults, **how)
    assert [event.done for event in seen] == sorted(event.done for event in seen)
    assert seen[-1].done == seen[-1].total
    stages = [event.stage for event in seen]
    assert stages == sorted(stages, reverse=True)  # healthy, then broken
    assert {event.faults for event in seen} == {None, faults}
    tried = [event for event in seen if event.stage == "broken"]
    assert {cell for event in tried for cell in event.cells} == set(archive.occupied.tolist())
    assert len({event.candidates for event in tried}) == 3  # heats
    values = np.concatenate(
        [one.fitness for one in tried if one.candidates == tried[-1].candidates]
    )
    assert values.max() == found.claimed

    def stop(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        qed.recover(archive, "patrolling", faults, on_event=stop, **how)


def test_equal_controllers_are_raced_without_a_fuss():
    archive = archive_of(twins(qed.load_example("patrolling").best.controller, 120), cells=120)
    faults = qed.Faults.sample(10, seed=1)
    found = qed.recover(archive, "patrolling", faults, trials=10, fresh=2, seconds=2.0)
    assert 0 <= found.cell < 120
