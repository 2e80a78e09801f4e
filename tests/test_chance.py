"""Random keys are those of the simulator's laws, whole numbers or arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qed.chance import fold
from qed.swarm.laws import chance as laws

WORDS = st.integers(0, 2**63 - 1)


@given(st.lists(st.one_of(WORDS, st.lists(WORDS, min_size=3, max_size=3)), max_size=4))
def test_keys_are_the_laws_keys(words: list[Any]) -> None:
    given = [np.array(word, np.int64) if isinstance(word, list) else word for word in words]
    found, wanted = fold(*given), laws.fold(*given)
    assert found.dtype == np.uint32
    assert np.array_equal(found, wanted)


def test_keys_of_an_array_are_those_of_its_numbers() -> None:
    keys = fold(5, 11, np.arange(20)[:, None], np.arange(3))
    assert keys.shape == (20, 3)
    assert len(np.unique(keys)) == 60
    assert all(keys[n, k] == fold(5, 11, n, k) for n in range(20) for k in range(3))
