"""Random keys by counter: a key is a hash of what it is for, so nothing remembers a state."""

from __future__ import annotations

from typing import Any

import numpy as np

_WORD = 0xFFFFFFFF


def fold(*words: Any) -> Any:
    """Hash integers (or arrays of them, which broadcast) to one 32-bit key (or an array).

    >>> int(fold(1, 2)) == int(fold(1, 2)), int(fold(1, 2)) == int(fold(2, 1))
    (True, False)
    """
    key: Any = 0x51ED2705
    for word in words:
        wide = word if isinstance(word, int) else np.asarray(word).astype(np.uint64)
        for part in (wide & _WORD, wide >> 32):
            key = _mix((key * 31 + part) & _WORD)
    return np.uint32(key) if isinstance(key, int) else key.astype(np.uint32)


def _mix(h: Any) -> Any:
    """Scatter 32 bits over 32 bits, of an integer or of an array of uint64."""
    h = h ^ (h >> 16)
    h = (h * 0x7FEB352D) & _WORD
    h = h ^ (h >> 15)
    h = (h * 0x846CA68B) & _WORD
    return h ^ (h >> 16)
