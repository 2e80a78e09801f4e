"""Gathers and scatters: what is compiled does what the plain bodies do."""

import numba
import numpy as np
import pytest

from qed.swarm.cpu import gather
from qed.swarm.cpu.layout import VECTOR


@numba.njit
def interleave(table, m, out):
    gather.interleave(table, 9, out, 5, 50)


@numba.njit
def interleave_four(table, m, out):
    gather.interleave_four(table, 9, out, 5, 20)


@numba.njit
def gather_two(table, m, out):
    gather.gather_two(table, 100, 2, m, 3, out, 5, 50)


@numba.njit
def gather_first_two_of_four(table, m, out):
    gather.gather_two(table, 7, 4, m, 3, out, 5, 50)


@numba.njit
def gather_way(table, m, out):
    gather.gather_way(table, 100, 4, m, 3, 40, out, 5, 50)


@numba.njit
def gather_four(table, m, out):
    gather.gather_four(table, 100, m, 3, out, 5, 20)


@numba.njit
def scatter_four(table, m, out):
    gather.scatter_four(table, 100, m, 3, out, 5, 20)


@pytest.mark.parametrize(
    "function",
    [
        interleave,
        interleave_four,
        gather_two,
        gather_first_two_of_four,
        gather_way,
        gather_four,
        scatter_four,
    ],
)
def test_compiled_code_does_what_the_plain_body_does(function):
    random = np.random.default_rng(1)
    table = random.random(1_000, dtype=np.float32)
    m = random.permutation(200)[: 40 + VECTOR].astype(np.int32)
    out = random.random(200, dtype=np.float32)
    expected_table, expected = table.copy(), out.copy()
    function.py_func(expected_table, m, expected)
    changed = (expected_table != table).any() or (expected != out).any()
    function(table, m, out)
    assert changed
    np.testing.assert_array_equal(table, expected_table)
    np.testing.assert_array_equal(out, expected)
