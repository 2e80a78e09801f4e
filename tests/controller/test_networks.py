"""Networks of many controllers as one table."""

import pickle

import numpy as np
import pytest

from qed.controller.genome import from_controllers
from qed.controller.network import Controller, Network
from qed.controller.networks import Networks
from qed.controller.pruning import FEW, table_of

# Connections that are there several times, in any order, and a neuron that leads nowhere.
DOUBLE = Controller(
    [(0, 17, 1.0), (0, 17, -0.5), (15, 16, 0.3), (15, 16, -0.2), (18, 16, 1.0), (3, 18, 0.7),
     (3, 18, -0.7), (4, 19, 1.0)],
    [0.5, 0.2, 0.1, 0.3],
)  # fmt: skip


def controllers(count: int = 2 * FEW) -> list[Controller]:
    return [Controller.random(seed) for seed in range(count)]


def same(one: Network, other: Network) -> None:
    for name in ("biases", "first_link", "sources", "weights"):
        mine, its = getattr(one, name), getattr(other, name)
        assert mine.dtype == its.dtype, name
        np.testing.assert_array_equal(mine, its, name)


def all_same(found: Networks | None, given: list[Controller]) -> None:
    assert found is not None
    assert len(found) == len(given)
    for one, controller in zip(found, given, strict=True):
        # Of one that was never in a table.
        same(one, Controller(controller.connections, controller.bias).network())


def test_a_table_made_at_once_has_the_networks_of_the_controllers():
    given = [*controllers(), DOUBLE]
    all_same(table_of(given), given)
    all_same(from_controllers(given).networks(), given)
    for controller in given:
        same(controller.network(), Controller(controller.connections, controller.bias).network())


def test_a_table_is_kept_for_the_next_time():
    given = controllers()
    table = table_of(given)
    assert table_of(given) is table
    all_same(table_of(given[5:9]), given[5:9])  # few, but made already
    all_same(table_of([given[3], *given]), [given[3], *given])
    more = [*given, *controllers(3 * FEW)]
    all_same(table_of(more), more)  # some of them are in another table


def test_a_controller_several_times_in_a_new_table():
    given = [DOUBLE, *controllers(), DOUBLE]
    all_same(table_of(given), given)


def test_what_is_kept_is_not_sent_to_other_processes():
    given = controllers()
    table_of(given)
    given[0].network()
    assert set(pickle.loads(pickle.dumps(given[0])).__dict__) == {"bias", "connections"}


def test_few_or_very_large_controllers_get_no_table():
    assert table_of(controllers(FEW)) is None
    large = Controller([(k % 15, 16, 1.0) for k in range(2000)], [0.0, 0.0])
    assert table_of([*controllers(), large]) is None


def test_parts_of_a_table():
    given = controllers()
    table = Networks.of([one.network() for one in given])
    all_same(table, given)
    rows = np.array([3, 3, 0, 17])
    all_same(table.take(rows), [given[k] for k in rows])
    all_same(table[4:9], given[4:9])
    all_same(Networks.joined([table[:3], table[3:]]), given)
    same(table[-1], given[-1].network())
    with pytest.raises(IndexError):
        table[len(given)]
