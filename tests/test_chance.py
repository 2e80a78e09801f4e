"""Random keys, of whole numbers or of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qed.chance import fold, mix

WORDS = st.integers(0, 2**63 - 1)


def scattered(words: list[int]) -> int:
    """Return the key of some numbers, by the law that scatters bits."""
    key = 0x51ED2705
    for word in words:
        for part in (word & 0xFFFFFFFF, word >> 32):
            key = int(mix((key * 31 + part) & 0xFFFFFFFF))
    return key


@given(st.lists(st.one_of(WORDS, st.lists(WORDS, min_size=3, max_size=3)), max_size=4))
def test_keys_are_scattered_as_laws_do(words: list[Any]) -> None:
    given = [np.array(word, np.int64) if isinstance(word, list) else word for word in words]
    found = fold(*given)
    assert found.dtype == np.uint32
    columns = [word if isinstance(word, list) else [word] * 3 for word in words]
    each = [scattered([column[k] for column in columns]) for k in range(3)]
    assert np.broadcast_to(found, 3).tolist() == each


def test_keys_of_an_array_are_those_of_its_numbers() -> None:
    keys = fold(5, 11, np.arange(20)[:, None], np.arange(3))
    assert keys.shape == (20, 3)
    assert len(np.unique(keys)) == 60
    assert all(keys[n, k] == fold(5, 11, n, k) for n in range(20) for k in range(3))
