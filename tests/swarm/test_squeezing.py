"""Compressed rows: every way to make them does what the plain one does."""

import numba
import numpy as np
import pytest

from qed.compile import has, has_fast_wide_vectors
from qed.swarm.cpu import bits
from qed.swarm.cpu.bits import squeeze
from qed.swarm.cpu.layout import VECTOR

WORDS = [0, 1, 1 << (VECTOR - 1), (1 << VECTOR) - 1, 0b1010011000001111, 0x00FF, 0xFF00]


@numba.njit
def chosen(row, at, to, word):
    squeeze(row, at, to, word)


@numba.njit
def by_table(row, at, to, word):
    bits._by_table(row, at, to, word)


@numba.njit
def by_instruction(row, at, to, word):
    bits._by_instruction(row, at, to, word)


one_by_one = numba.njit(bits._one_by_one)


ways = [
    chosen,
    one_by_one,
    pytest.param(by_table, marks=pytest.mark.skipif(not has("avx2"), reason="needs AVX2")),
    pytest.param(
        by_instruction,
        marks=pytest.mark.skipif(not has_fast_wide_vectors(), reason="needs AVX-512"),
    ),
]


@pytest.mark.parametrize("way", ways)
@pytest.mark.parametrize("kind", [np.float32, np.int32])
@pytest.mark.parametrize("to", [0, 3, 20, 48])
def test_chosen_entries_lie_side_by_side(way, kind, to):
    for word in WORDS:
        before = np.arange(100, 100 + 80).astype(kind)
        plain, compiled = before.copy(), before.copy()
        squeeze(plain, 20, to, word)
        way(compiled, 20, to, word)
        kept = [before[20 + b] for b in range(VECTOR) if word >> b & 1]
        assert list(plain[to : to + len(kept)]) == kept
        assert list(compiled[to : to + len(kept)]) == kept
        assert (compiled[:to] == before[:to]).all()
        assert (compiled[to + VECTOR :] == before[to + VECTOR :]).all()


@pytest.mark.skipif(numba.config.CPU_FEATURES is not None, reason="another CPU was chosen")
def test_a_chosen_cpu_counts_instead_of_this_one(monkeypatch):
    monkeypatch.setattr(numba.config, "CPU_FEATURES", "+sse2,-avx2,+avx512f")
    assert has("sse2")
    assert not has("avx2")
    assert not has_fast_wide_vectors()
    monkeypatch.setattr(numba.config, "CPU_FEATURES", "+avx2,+avx512vnni")
    assert has("avx2")
    assert has_fast_wide_vectors()
