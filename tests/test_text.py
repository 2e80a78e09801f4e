"""Settings as TOML come back as they were, whatever users call things."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from qed.text import toml

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALAR = st.one_of(
    TEXT,
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False, allow_infinity=False),
)
VALUE = st.one_of(SCALAR, st.lists(SCALAR, max_size=3), st.lists(st.lists(SCALAR, max_size=2)))


@given(st.dictionaries(TEXT, st.dictionaries(TEXT, VALUE, max_size=3), max_size=3))
def test_tables_come_back(tables: dict[str, dict[str, object]]) -> None:
    assert tomllib.loads(toml(tables)) == tables


def test_plain_names_stay_plain() -> None:
    text = toml({"run": {"seed": 1, "load (kg)": [1.5, 2], "]\n[x": "a\x7f\U0001f600"}})
    assert text.startswith('[run]\nseed = 1\n"load (kg)" = [1.5, 2]\n')
