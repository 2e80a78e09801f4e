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
    draw,
    parts,
    unit,
)
from numba.core.registry import cpu_target
from swarm.laws.plain import QUIET

from qed.compile import OPTIONS


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
def compiled(name, arity, width):
    """Return a loop over rows, compiled and made of vectors as the engine's are.

    It writes all parts of a tuple of so many, or one number if the width is 0.
    """
    given = ", ".join(f"columns[{k}][i]" for k in range(arity))
    source = f"""
def run(columns, found):
    for i in range(len(found)):
        result = law({given})
"""
    for k in range(width):
        source += f"        found[i, {k}] = result[{k}]\n"
    scope = {"law": BY_NAME[name]}
    exec(source if width else source + "        found[i, 0] = result\n", scope)
    return numba.njit(**OPTIONS)(scope["run"])


def type_of(name, columns):
    """Return what type a law's result has in compiled code."""
    context = cpu_target.typing_context
    given = tuple(
        numba.typeof(column).dtype if column.ndim == 1 else numba.typeof(column[0])
        for column in columns
    )
    return str(
        context.resolve_function_type(
            context.resolve_value_type(BY_NAME[name]), given, {}
        ).return_type
    )


def steps(one, two):
    """Return how many single-precision numbers lie between two, zeros of either sign apart."""
    places = [int(np.float32(number).view(np.int32)) for number in (one, two)]
    first, second = (-(2**31) - 1 - place if place < 0 else place for place in places)
    return abs(first - second)


def check_same(name, columns):
    with np.errstate(**QUIET):
        expected = [BY_NAME[name](*args) for args in zip(*columns, strict=True)]
    width = len(expected[0]) if isinstance(expected[0], tuple) else 0
    found = np.zeros((len(expected), max(width, 1)))
    compiled(name, len(columns), width)(columns, found)
    for row, result, numbers in zip(zip(*columns, strict=True), expected, found, strict=True):
        for one, two in zip(parts(result), numbers, strict=True):
            if isinstance(one, float | np.floating):
                assert type(one) is np.float32, "Python left single precision"
                both_nan = np.isnan(one) and math.isnan(two)
                assert both_nan or steps(one, two) == 0, (row, one, two)
            else:
                assert one == two, (row, one, two)


def test_steps_count_single_precision_numbers():
    one = np.float32(1.0)
    assert steps(one, one) == 0
    assert steps(one, np.nextafter(one, np.float32(2.0))) == 1
    assert steps(np.float32(-0.0), np.float32(0.0)) == 1
    assert steps(np.float32(-1e-45), np.float32(1e-45)) == 3


def test_every_law_has_inputs():
    assert set(CASES) == set(BY_NAME)


DRAWN = 2000


@pytest.mark.parametrize("name", sorted(set(CASES) & set(BY_NAME)))
def test_compiled_is_plain(name):
    # Many numbers of the usual size, and those that Hypothesis finds nasty: it takes far longer
    # to choose them than the laws take.
    drawn = draw(CASES[name], np.random.default_rng(1), DRAWN)
    columns = tuple(map(np.ascontiguousarray, drawn))
    check_same(name, columns)
    assert "float64" not in type_of(name, columns), "compiled code left single precision"

    @settings(max_examples=40, deadline=None, derandomize=True)
    @given(strategy(CASES[name]))
    def check(args):
        one_row = zip(args, columns, strict=True)
        check_same(name, tuple(np.array([value], like.dtype) for value, like in one_row))

    check()
