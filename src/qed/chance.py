"""Randomness by counter: a random number is a hash of what it is for.

Nothing remembers a state, so a number does not depend on the order, the batch or the thread
in which it is drawn.
"""

from typing import Any

import numpy as np
from numpy import float32 as f32
from numpy import uint32 as u32
from numpy import uint64 as u64

from qed.compile import inlined

_WORD = 0xFFFFFFFF


@inlined
def mix(word: Any) -> Any:
    """Scatter 32 bits over 32 bits, so that neighbouring words look unrelated."""
    h = u32(word)
    h = u32(h ^ u32(h >> u32(16)))
    h = u32((u64(h) * u64(0x7FEB352D)) & u64(0xFFFFFFFF))
    h = u32(h ^ u32(h >> u32(15)))
    h = u32((u64(h) * u64(0x846CA68B)) & u64(0xFFFFFFFF))
    return u32(h ^ u32(h >> u32(16)))


@inlined
def draw(key: Any, cycle: Any, purpose: Any) -> Any:
    """Return 32 random bits for the owner of ``key``, this cycle and this purpose."""
    counter = mix(u32((u64(cycle) * u64(128) + u64(purpose)) & u64(0xFFFFFFFF)))
    return mix(u32(u32(key) ^ counter))


@inlined
def low_noise(bits: Any) -> Any:
    """Return a number in (-1, 1) from the lower half of 32 random bits."""
    return (f32(np.int32(u32(bits & u32(0xFFFF)))) - f32(32767.5)) * f32(1.0 / 32768.0)


@inlined
def high_noise(bits: Any) -> Any:
    """Return a number in (-1, 1) from the upper half of 32 random bits."""
    return (f32(np.int32(u32(bits >> u32(16)))) - f32(32767.5)) * f32(1.0 / 32768.0)


def fold(*words: Any) -> Any:
    """Hash integers (or arrays of them, which broadcast) to one 32-bit key (or an array).

    >>> int(fold(1, 2)) == int(fold(1, 2)), int(fold(1, 2)) == int(fold(2, 1))
    (True, False)
    """
    key: Any = 0x51ED2705
    for word in words:
        wide = word if isinstance(word, int) else np.asarray(word).astype(np.uint64)
        for part in (wide & _WORD, wide >> 32):
            key = _scattered((key * 31 + part) & _WORD)
    return np.uint32(key) if isinstance(key, int) else key.astype(np.uint32)


def _scattered(h: Any) -> Any:
    """Scatter 32 bits over 32 bits, of an integer or of an array of uint64."""
    h = h ^ (h >> 16)
    h = (h * 0x7FEB352D) & _WORD
    h = h ^ (h >> 15)
    h = (h * 0x846CA68B) & _WORD
    return h ^ (h >> 16)
