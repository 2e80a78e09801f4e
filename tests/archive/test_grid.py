"""Cells by rounding and by options: their borders, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qed.archive.grid import Categories, Grid


def plain_cell(size: int, measure: float) -> int:
    """Return min(round half up(size * measure), size - 1), from 0, in exact arithmetic."""
    top, bottom = float(np.float32(measure)).as_integer_ratio()
    return min(max((2 * size * top + bottom) // (2 * bottom), 0), size - 1)


@given(
    st.integers(1, 200),
    st.lists(st.floats(-0.5, 1.5, width=32), min_size=1, max_size=20),
    st.integers(0, 200),
)
@settings(max_examples=300, deadline=None)
def test_rounding(size: int, measures: list[float], k: int) -> None:
    border = np.float32((k + 0.5) / size)
    near = [border, np.nextafter(border, np.float32(-1)), np.nextafter(border, np.float32(9))]
    column = np.array([*measures, *near], np.float32)[:, None]
    expected = [plain_cell(size, float(measure)) for measure in column[:, 0]]
    assert Grid((size,)).find(column).tolist() == expected


def test_borders_of_sixteen_cells() -> None:
    grid = Grid((16,))
    half = 1 / 32
    for k in range(15):
        border = np.float32(k / 16 + half)
        below = np.nextafter(border, np.float32(0))
        assert grid.find([[below], [border]]).tolist() == [k, k + 1]
    odd = [[-3.0], [-0.0], [1.0], [1.0 + half], [7.0], [np.finfo(np.float32).max]]
    assert grid.find(odd).tolist() == [0, 0, 15, 15, 15, 15]


def test_the_first_dimension_is_most_significant() -> None:
    grid = Grid()
    assert (grid.cells, grid.dimensions) == (4096, 3)
    assert grid.find([[1 / 16, 2 / 16, 3 / 16]]).tolist() == [256 + 2 * 16 + 3]
    assert Grid((2, 3, 5)).find([[0.5, 2 / 3, 0.8]]).tolist() == [29]
    categories = Categories()
    assert (categories.cells, categories.dimensions) == (4096, 6)
    options = np.array(np.unravel_index(np.arange(4096), (4,) * 6)).T
    assert categories.find(options).tolist() == list(range(4096))
    assert categories.find([[1, 0, 0, 0, 0, 2]]).tolist() == [4**5 + 2]
    assert categories.find(np.empty((0, 6))).shape == (0,)


@pytest.mark.parametrize("value", [4, -1, 0.5, 3.0001, 1e9])
def test_options_that_are_not(value: float) -> None:
    rows = np.zeros((3, 6))
    rows[2, 4] = value
    with pytest.raises(ValueError, match=r"measures\[2, 4\] must be a whole number from 0 to 3"):
        Categories().find(rows)


@pytest.mark.parametrize("space", [Grid(), Categories()])
def test_measures_that_are_not(space: Any) -> None:
    for wrong in (math.nan, math.inf, -math.inf):
        rows = np.zeros((2, space.dimensions))
        rows[1, 0] = wrong
        with pytest.raises(ValueError, match=r"measures\[1, 0\] must be finite"):
            space.find(rows)
    for shape in ((3,), (2, 2), (2, 3, 6)):
        with pytest.raises(ValueError, match="shape"):
            space.find(np.zeros(shape))
    with pytest.raises(ValueError, match="numbers"):
        space.find([["a"] * space.dimensions])


@pytest.mark.parametrize("shape", [(), (0,), (4, -1), (2.5,), (2**20, 2**20), 7, ("4",)])
def test_shapes_that_are_not(shape: Any) -> None:
    for space in (Grid, Categories):
        with pytest.raises(ValueError, match="shape"):
            space(shape)
