import numpy as np
import pytest
from test_recover import archive_of, twins

import qed
from qed.recovery.protocol import streams
from qed.recovery.race import heats, race, races
from qed.recovery.raced import raced
from qed.recovery.recover import search
from qed.recovery.trials import Trials
from qed.swarm.job import Ready


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
    solutions = [Ready(network) for network in archive.genomes().networks()][:100]
    how = Trials("patrolling", 3, 2, 10.0, streams(1))
    faults = [qed.Faults.sample(10, seed=1)]
    normal, _ = how.normal(solutions)
    found = search(how, solutions, normal, faults)[0]
    assert found.claimed == how.broken(solutions, faults).max()
    normal, fitness = raced(how, solutions, faults)
    assert np.isneginf(fitness).any()
    assert np.isfinite(normal.apart[[normal.best, int(fitness[0].argmax())]]).all()


def test_equal_controllers_are_raced_without_a_fuss():
    archive = archive_of(twins(qed.load_example("patrolling").best.controller, 120), cells=120)
    faults = qed.Faults.sample(10, seed=1)
    found = qed.recover(archive, "patrolling", faults, trials=10, fresh=2, seconds=2.0)
    assert 0 <= found.cell < 120
