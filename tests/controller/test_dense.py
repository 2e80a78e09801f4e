"""Dense networks: vectors and networks are the same, and what is random follows from keys."""

from __future__ import annotations

import numpy as np
import pytest

import qed
from qed.chance import fold
from qed.controller.dense import Dense
from qed.controller.inputs import CONSTANT, FIRST_HIDDEN, LEFT, RIGHT
from qed.controller.variation import CHANGE, LIMIT
from qed.errors import InputError
from qed.evolution.swarms import Swarms

KEYS = fold(7, np.arange(400))


@pytest.mark.parametrize("hidden", [0, 1, 5, 32])
def test_each_neuron_reads_everything(hidden: int) -> None:
    dense = qed.Controller.dense(hidden)
    assert dense.size == (2 + hidden) * (1 + CONSTANT + hidden)
    vector = np.arange(dense.size, dtype=float)
    one = dense.controller(vector)
    assert one.bias == tuple(vector[: 2 + hidden])
    assert [weight for *_, weight in one.connections] == vector[2 + hidden :].tolist()
    sources = {*range(CONSTANT), *range(FIRST_HIDDEN, FIRST_HIDDEN + hidden)}
    for target in range(LEFT, RIGHT + 1 + hidden):
        assert {s for s, t, _ in one.connections if t == target} == sources
    assert one.pruned() == one
    qed.simulate(one, trials=1, seconds=1.0, tasks="patrolling")


@pytest.mark.parametrize("hidden", [0, 4])
def test_vectors_and_networks_are_the_same(hidden: int) -> None:
    dense = Dense(hidden)
    vectors = np.random.default_rng(1).normal(0.0, 3.0, (6, dense.size)).astype(np.float32)
    genomes = dense.genomes(vectors)
    assert np.array_equal(dense.vectors(genomes), vectors)
    assert [dense.controller(one) for one in vectors] == genomes.controllers()
    assert np.isfinite(dense.vectors(dense.genomes(1e30 * vectors))).all()
    assert dense == Dense(hidden) != Dense(hidden + 1)


def test_random_ones_fill_the_limits_evenly() -> None:
    dense = Dense(2)
    values = dense.vectors(dense.random(KEYS))
    assert abs(values).max() <= LIMIT
    counts = np.histogram(values, 16, (-LIMIT, LIMIT))[0]
    expected = values.size / 16
    assert ((counts - expected) ** 2 / expected).sum() < 37.7  # 15 df, p = 0.001
    assert np.array_equal(dense.vectors(dense.random(KEYS[5:6]))[0], values[5])


def test_variation_is_the_polynomial_mutation_of_all_genomes() -> None:
    dense = Dense(2)
    parents = dense.genomes(np.zeros((len(KEYS), dense.size)))
    steps = dense.vectors(dense.vary(parents, KEYS)) / (2.0 * LIMIT)
    hit = steps != 0.0
    n = hit.size
    assert abs(hit.sum() - CHANGE * n) < 4 * np.sqrt(n * CHANGE * (1 - CHANGE))
    # P(|delta| < d) = 1 - (1 - d)^16 for index 15: uniform again
    uniform = np.sort(1.0 - (1.0 - np.abs(steps[hit])) ** 16)
    gap = np.abs(uniform - (np.arange(len(uniform)) + 0.5) / len(uniform)).max()
    assert gap < 1.95 / np.sqrt(len(uniform))  # Kolmogorov and Smirnov, p = 0.001
    assert abs((steps[hit] > 0).mean() - 0.5) < 2.0 / np.sqrt(hit.sum())
    alone = dense.vary(parents.take([9]), KEYS[9:10])
    assert np.array_equal(dense.vectors(alone)[0], 2.0 * LIMIT * steps[9])


def test_what_an_emitter_put_outside_the_limits_stays_unless_it_is_hit() -> None:
    dense = Dense(0)
    parents = dense.genomes(np.full((50, dense.size), 7.0))
    values = dense.vectors(dense.vary(parents, KEYS[:50]))
    assert set(values.ravel().tolist()) >= {7.0}
    assert (values[values != 7.0] <= LIMIT).all()


@pytest.mark.parametrize("hidden", [-1, 33, 2.5, None])
def test_bad_numbers_of_neurons(hidden: object) -> None:
    with pytest.raises(InputError, match="hidden must be a whole number from 0 to 32"):
        qed.Controller.dense(hidden)  # type: ignore[arg-type]


def test_a_vector_of_another_length() -> None:
    with pytest.raises(InputError, match=r"vector must hold 32 numbers, got shape \(31,\)"):
        qed.Controller.dense(0).controller(np.zeros(31))


def test_a_dense_archive_recovers_and_keeps_its_size() -> None:
    dense = qed.Controller.dense(2)
    small = {"evaluations": 60, "initial": 30, "batch": 30, "trials": 1, "seconds": 4.0}
    archive = qed.evolve("patrolling", "hbd", controller=dense, **small)
    assert archive.header["settings"]["hidden"] == 2
    assert {one.hidden for one in archive.controllers} == {2}
    assert {len(one.connections) for one in archive.controllers} == {4 * 17}
    faults = qed.Faults.sample(10, 1)
    found = qed.recover(archive, "patrolling", faults, trials=1, fresh=2, seconds=2.0)
    assert np.isfinite(found.performance)


def test_networks_of_another_robot_read_what_it_senses() -> None:
    dense = qed.Controller.dense(2, robot=qed.EPUCK)
    sensed = len(qed.EPUCK.proximity) + qed.EPUCK.rab
    assert dense.size == (2 + 2) * (1 + sensed + 2)
    one = dense.controller(np.ones(dense.size))
    assert one.robot == qed.EPUCK
    assert {source for source, *_ in one.connections} >= set(range(sensed))
    swarms = Swarms("patrolling", robot=qed.EPUCK, controller=dense)
    genomes = swarms.random(KEYS[:3])
    assert np.array_equal(swarms.to_vectors(genomes), dense.vectors(genomes))
    with pytest.raises(InputError, match=r"Controller\.dense\(hidden=\.\.\.\) of the same robot"):
        Swarms("patrolling", robot=qed.EPUCK, controller=qed.Controller.dense(2))
