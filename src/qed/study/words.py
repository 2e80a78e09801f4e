"""Small pieces of English."""

from __future__ import annotations

from collections.abc import Iterable


def listed(names: Iterable[str]) -> str:
    """Return words as English lists them: "a", "a and b", "a, b and c"."""
    *most, last = list(names) or ["none"]
    return f"{', '.join(most)} and {last}" if most else last


def many(count: int, what: str) -> str:
    """Return a count with its noun: "1 map", "24 maps"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
