"""SPIRIT's behaviours in words: what robots do as a rule in a few telling situations."""

from __future__ import annotations

import numpy as np

from qed.descriptors.spirit import ACTIONS, STATES

# The bits of a sensory state: which groups of sensors feel or hear something.
SITUATIONS = {"alone": 0, "something ahead": 16, "robots ahead": 2, "robots behind": 1}
FORWARD = 2  # the first quarter of wheel speeds that is not backwards


def in_words(measures: np.ndarray) -> list[str]:
    """Return behaviours (n, 1024) in words.

    >>> in_words(np.full((1, 1024), 1 / 16))
    ['met none of the usual situations']
    """
    table = measures.reshape(-1, STATES, ACTIONS)
    return [_told(row) for row in table]


def _told(row: np.ndarray) -> str:
    told = []
    for words, state in SITUATIONS.items():
        chances = row[state]
        if np.ptp(chances) < 1e-6:
            continue  # it never came up
        told.append(f"{words}: {_action(int(chances.argmax()))}")
    return "; ".join(told) or "met none of the usual situations"


def _action(number: int) -> str:
    """Return an action in words: a quarter of the speeds for each wheel.

    >>> _action(15), _action(3), _action(0), _action(14)
    ('goes straight', 'turns left', 'backs up', 'bears right')
    """
    left, right = divmod(number, 4)
    if (left >= FORWARD) != (right >= FORWARD):
        return "turns left" if right > left else "turns right"
    if left == right:
        return "goes straight" if left >= FORWARD else "backs up"
    return f"bears {'left' if right > left else 'right'}" if left >= FORWARD else "backs in a curve"
