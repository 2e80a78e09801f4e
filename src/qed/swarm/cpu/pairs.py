"""Which robots are near each other, and which may hear each other."""

from __future__ import annotations

from typing import Any

from qed.compile import loop
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import below, index, ones, span
from qed.swarm.cpu.squeezing import squeeze


@loop
def search(b: Any, s: int, hearing: bool, near: int) -> Any:
    """Append the segment's near pairs to the list, and list those within hearing anew.

    Robot i meets robot i + k by a shift; each pair is met once.  Returns the new number of
    near pairs and the number of pairs within hearing.
    """
    f, w, m = b.f, b.w, b.m
    first, robots, trials, size, _ = span(b.segments, s)
    close, audible = b.limits[s, L.L_NEAR2], b.limits[s, L.L_RAB2]
    seen = 0
    for k in range(1, robots // 2 + 1):
        shift = index(k * trials)
        lanes = size // 2 if 2 * k == robots else size
        at_x = L.WIDE_X + 2 * first
        at_y = L.WIDE_Y + 2 * first
        for i in range(lanes):
            dx = w[at_x + shift + i] - w[at_x + i]
            dy = w[at_y + shift + i] - w[at_y + i]
            f[L.SQUARE + i] = dx * dx + dy * dy
        before = near
        me = L.WIDE_LANE + 2 * first
        for start in range(0, lanes, L.VECTOR):
            inside = (1 << min(lanes - start, L.VECTOR)) - 1
            word = below(f, L.SQUARE + start, close) & inside
            if word != 0:
                squeeze(m, me + start, L.NEAR_I + near, word)
                squeeze(m, me + shift + start, L.NEAR_K + near, word)
                near += ones(word)
            if hearing:
                word = below(f, L.SQUARE + start, audible) & inside
                if word != 0:
                    squeeze(m, me + start, L.S_I + seen, word)
                    squeeze(m, me + shift + start, L.S_K + seen, word)
                    seen += ones(word)
        for new in range(index(near - before)):
            e = index(before) + new
            m[L.NEAR_PAIR + e] = m[L.NEAR_I + e] + (k - 1) * L.STRIDE
    return near, seen
