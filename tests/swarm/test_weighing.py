"""Weighted sums in registers: compiled as plain Python has them, bit for bit."""

import numba
import numpy as np
import pytest

from qed.swarm.cpu.layout import VECTOR
from qed.swarm.cpu.network import weigh


@numba.njit
def compiled_weigh(out, to, values, lane, links, vectors):
    weigh(out, to, values, lane, links, vectors)


@pytest.mark.parametrize("vectors", [0, 1, 3, 4, 5, 9])
@pytest.mark.parametrize(("first", "last"), [(0, 0), (2, 3), (1, 12)])
def test_compiled_sums_are_the_plain_ones(vectors, first, last):
    chance = np.random.default_rng(vectors)
    values = chance.normal(size=2000).astype(np.float32)
    places = chance.integers(0, 1500, 12).astype(np.int32)
    weights = chance.normal(size=12).astype(np.float32)
    links = (places, weights, first, last)
    plain, compiled = np.full((2, 200), 7.0, np.float32)
    weigh(plain, 5, values, 3, links, vectors)
    compiled_weigh(compiled, 5, values, 3, links, vectors)
    np.testing.assert_array_equal(plain, compiled)
    assert (plain != 7.0).sum() == VECTOR * vectors
    if vectors and last > first:
        rows = values[places[first:last, None] + 3 + np.arange(VECTOR)]
        np.testing.assert_allclose(plain[5 : 5 + VECTOR], weights[first:last] @ rows, atol=1e-5)
