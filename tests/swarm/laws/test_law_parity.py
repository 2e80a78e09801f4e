"""Every law gives the same bits in Python and in compiled code."""

import functools
import math

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from law_cases import (
    BY_NAME,
    CASES,
    All,
    Either,
    Real,
    Some,
    Table,
    Unit,
    Where,
    Whole,
    parts,
    unit,
)
from swarm.laws.plain import QUIET


def strategy(kind):
    """Return a strategy of the tuples of arguments of a kind."""
    match kind:
        case Real(low, high):
            low, high = float(np.float32(low)), float(np.float32(high))
            return st.floats(low, high, width=32).map(lambda value: (np.float32(value),))
        case Whole(low, high, type_):
            return st.integers(low, high).map(lambda value: (type_(value),))
        case Table(rows, columns):
            row = st.lists(st.integers(0, 2**31 - 1), min_size=columns, max_size=columns)
            table = st.lists(row, min_size=rows, max_size=rows)
            return table.map(lambda values: (np.array(values, np.int32),))
        case Some(rows):
            return st.sampled_from(rows)
        case Unit():
            return st.floats(-math.pi, math.pi).map(unit)
        case Either(kinds):
            return st.one_of(*map(strategy, kinds))
        case All(kinds):
            return st.tuples(*map(strategy, kinds)).map(lambda some: sum(some, ()))
        case Where(inner, holds, more):
            some = strategy(inner).filter(lambda values: holds(*values))
            return some.map(lambda values: values + more(*values))
    raise TypeError(f"no kind of arguments: {kind}")


@functools.cache
def compiled(name):
    law = BY_NAME[name]

    @numba.njit(error_model="numpy")
    def run(*args):
        return law(*args)

    return run


def steps(one, two):
    """Return how many single-precision numbers lie between two, zeros of either sign apart."""
    places = np.array([one, two], np.float32).view(np.int32).astype(np.int64)
    places = np.where(places < 0, -(2**31) - 1 - places, places)
    return abs(int(places[0] - places[1]))


def check_same(name, args):
    with np.errstate(**QUIET):
        expected = parts(BY_NAME[name](*args))
    got = parts(compiled(name)(*args))
    assert len(got) == len(expected)
    for one, two in zip(expected, got, strict=True):
        if isinstance(two, float):
            assert type(one) is np.float32, "Python left single precision"
            both_nan = np.isnan(one) and math.isnan(two)
            assert both_nan or steps(one, two) == 0, (args, one, two)
        else:
            assert one == two, (args, one, two)


def test_steps_count_single_precision_numbers():
    one = np.float32(1.0)
    assert steps(one, one) == 0
    assert steps(one, np.nextafter(one, np.float32(2.0))) == 1
    assert steps(np.float32(-0.0), np.float32(0.0)) == 1
    assert steps(np.float32(-1e-45), np.float32(1e-45)) == 3


def test_every_law_has_inputs():
    assert set(CASES) == set(BY_NAME)


@pytest.mark.parametrize("name", sorted(set(CASES) & set(BY_NAME)))
def test_compiled_is_plain(name):
    @settings(max_examples=200, deadline=None, derandomize=True)
    @given(strategy(CASES[name]))
    def check(args):
        check_same(name, args)

    check()
    returned = {str(s.return_type) for s in compiled(name).nopython_signatures}
    assert not any("float64" in kind for kind in returned), "compiled code left single precision"
