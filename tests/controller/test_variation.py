"""Random genomes and mutation: rates, formulas, legality."""

from __future__ import annotations

import math

import numpy as np
import pytest
from controller.test_networks import plain, same
from hypothesis import given, settings
from hypothesis import strategies as st

from qed.controller.genome import Genomes, from_controllers, trimmed
from qed.controller.inputs import FIRST_HIDDEN, LEFT
from qed.controller.network import Controller
from qed.controller.variation import OPERATORS, random_genomes, vary

COUNT = 100_000
HIDDEN, LINKS = 6, 20


def legal(batch: Genomes) -> bool:
    """Tell whether every genome keeps the rules of a network."""
    for row in range(len(batch.hidden)):
        nodes = FIRST_HIDDEN + batch.hidden[row]
        source = batch.source[row, : batch.links[row]]
        target = batch.target[row, : batch.links[row]]
        weight = batch.weight[row, : batch.links[row]]
        bias = batch.bias[row, : 2 + batch.hidden[row]]
        from_output = (source >= LEFT) & (source < FIRST_HIDDEN)
        pairs = set(zip(source.tolist(), target.tolist(), strict=True))
        if (
            from_output.any()
            or (source < 0).any()
            or (source >= nodes).any()
            or (target < LEFT).any()
            or (target >= nodes).any()
            or len(pairs) < len(source)
            or not (np.abs(weight) <= 2.0).all()
            or not (np.abs(bias) <= 2.0).all()
        ):
            return False
    return True


def keys(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint32)


def parent() -> Controller:
    """Return a network with six hidden neurons and twenty connections, all values 0.1."""
    links = [(s, 18 + s % HIDDEN, 0.1) for s in range(12)]
    links += [(18 + h, 16 + h % 2, 0.1) for h in range(HIDDEN)]
    links += [(15, 16, 0.1), (15, 17, 0.1)]
    return Controller(links, [0.1] * (2 + HIDDEN))


@pytest.fixture(scope="module")
def born() -> tuple[Genomes, dict[str, int]]:
    """Return 100,000 children of one parent, and how often each operator acted."""
    one = from_controllers([parent()])
    events = np.zeros(len(OPERATORS), np.int64)
    children = vary(one.take(np.zeros(COUNT, int)), keys(COUNT), events)
    return children, dict(zip(OPERATORS, events.tolist(), strict=True))


@pytest.fixture(scope="module")
def children(born: tuple[Genomes, dict[str, int]]) -> Genomes:
    return born[0]


@pytest.mark.parametrize(
    ("operator", "chances", "rate"),
    [
        ("weight", LINKS, 0.05),
        ("rewire", 1, 1.0 - 0.85**LINKS),
        ("bias", 2 + HIDDEN, 0.05),
        ("add_link", 1, 0.15),
        ("drop_link", 1, 0.15),
        ("add_neuron", 1, 0.10),
        ("drop_neuron", 1, 0.10),
    ],
)
def test_operators_act_at_their_rates(
    born: tuple[Genomes, dict[str, int]], operator: str, chances: int, rate: float
) -> None:
    tries = COUNT * chances
    error = math.sqrt(rate * (1.0 - rate) * tries)
    assert abs(born[1][operator] - rate * tries) < 3.0 * error


def share(events: np.ndarray, expected: float) -> None:
    """Check a frequency to three standard errors."""
    error = math.sqrt(expected * (1.0 - expected) / len(events))
    assert abs(events.mean() - expected) < 3.0 * error, (events.mean(), expected)


def test_neurons_come_and_go_one_at_a_time(children: Genomes) -> None:
    change = children.hidden - HIDDEN
    share(change == 1, 0.10 * 0.90)
    share(change == -1, 0.90 * 0.10)
    assert set(change.tolist()) == {-1, 0, 1}


def changed_values(children: Genomes) -> tuple[np.ndarray, np.ndarray]:
    """Return the connections and biases of children whose structure is the parent's."""
    one = from_controllers([parent()])
    same = (
        (children.hidden == HIDDEN)
        & (children.links == LINKS)
        & (children.source[:, :LINKS] == one.source[0]).all(1)
        & (children.target[:, :LINKS] == one.target[0]).all(1)
    )
    return children.weight[same, :LINKS], children.bias[same, : 2 + HIDDEN]


def test_each_weight_and_bias_changes_at_its_rate(children: Genomes) -> None:
    for values in changed_values(children):
        share((values != np.float32(0.1)).ravel(), 0.05)


def test_steps_follow_the_polynomial_formula() -> None:
    # Biases of a network without hidden neurons: nothing but steps can change them.
    one = from_controllers([Controller([], [0.1, 0.1])])
    children = vary(one.take(np.zeros(2 * COUNT, int)), keys(2 * COUNT, 5))
    steps = children.bias[children.hidden == 0, :2].ravel().astype(float) - np.float32(0.1)
    deltas = np.sort(steps[steps != 0.0]) / 4.0
    # P(delta <= d) = (1 + d)^16 / 2 below 0, and 1 - (1 - d)^16 / 2 above.
    expected = np.where(deltas < 0, (1 + deltas) ** 16 / 2, 1 - (1 - deltas) ** 16 / 2)
    place = (np.arange(len(deltas)) + 0.5) / len(deltas)
    assert len(deltas) > 15_000
    assert np.abs(expected - place).max() < 1.63 / math.sqrt(len(deltas))  # KS, p = 0.01


def test_a_rewired_connection_keeps_its_weight_and_one_end() -> None:
    one = from_controllers([Controller([(3, 16, 0.75)], [0.0, 0.0])])
    born = vary(one.take(np.zeros(20_000, int)), keys(20_000, 2))
    kept = (born.links == 1) & (born.hidden == 0) & (born.weight[:, 0] == np.float32(0.75))
    source, target = born.source[kept, 0], born.target[kept, 0]
    new_source, new_target = source != 3, target != 16
    assert not (new_source & new_target).any()
    # Half of 0.15 draw a source (15 of 16 are new), half a target (1 of 2 is new).
    share(new_source, 0.075 * 15 / 16)
    share(new_target, 0.075 / 2)
    assert len(set(source.tolist())) == 16


def test_a_new_neuron_splits_a_connection() -> None:
    one = from_controllers([Controller([(3, 16, 0.75)], [0.0, 0.0])])
    born = vary(one.take(np.zeros(20_000, int)), keys(20_000, 3))
    rows = np.flatnonzero((born.hidden == 1) & (born.links == 2))
    assert len(rows) > 1000
    seen = 0
    for row in rows.tolist():
        first, second = zip(
            born.source[row, :2].tolist(), born.target[row, :2].tolist(), strict=True
        )
        if first[1] == 18 and second[0] == 18:
            assert born.weight[row, 0] == born.weight[row, 1]
            seen += 1
    assert seen > 0.8 * len(rows)


@given(st.integers(0, 2**31), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_every_child_is_legal_for_generations(seed: int, generations: int) -> None:
    batch = random_genomes(keys(8, seed))
    assert legal(batch)
    for generation in range(generations):
        batch = vary(batch, keys(8, seed + generation))
    assert legal(batch)
    same(batch.networks(), plain(batch.controllers()))


def test_a_child_depends_on_its_parent_and_key_alone() -> None:
    parents = random_genomes(keys(50))
    together = vary(parents, keys(50, 9))
    for row in (0, 17, 49):
        alone = vary(parents.take([row]), keys(50, 9)[[row]])
        assert alone.controller(0) == together.controller(row)


def test_random_genomes_have_uniform_sizes_and_values() -> None:
    batch = random_genomes(keys(20_000, 4))
    assert legal(batch)
    weights = np.concatenate(
        [batch.weight[row, : batch.links[row]] for row in range(len(batch.links))]
    )
    counts, _ = np.histogram(weights, 20, (-2.0, 2.0))
    expected = len(weights) / 20
    assert ((counts - expected) ** 2 / expected).sum() < 43.8  # 19 df, p = 0.001
    # Connections are drawn from 0 to 40; pruning takes some away, so none has more.
    assert batch.links.max() == 40
    assert batch.hidden.max() <= 20
    # Simplified: from every hidden neuron a path leads to a wheel.
    for row in range(200):
        controller = batch.controller(row)
        assert controller.pruned().hidden == controller.hidden


def test_batches_can_be_widened_and_trimmed() -> None:
    batch = random_genomes(keys(12))
    wide = batch.fit(30, 60)
    assert wide.controllers() == batch.controllers()
    slim = trimmed(wide)
    assert slim.bias.shape[1] == 2 + batch.hidden.max()
    assert slim.source.shape[1] == batch.links.max()
    assert from_controllers(batch.controllers()).controllers() == batch.controllers()
