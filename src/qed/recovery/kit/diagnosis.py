"""What robots say is broken in them, when some of them are wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qed.chance import fold
from qed.swarm.faults import Faults


def diagnosed(faults: Faults, wrong: float, kinds: Sequence[str], seed: int) -> Faults:
    """Return each robot's diagnosis: with probability ``wrong`` another one of these kinds.

    With the same seed, who is wrong with a small probability is so with a larger one, too.
    """
    robots = np.arange(len(faults))
    chance = fold(seed, 1, robots) / 2.0**32
    drawn = fold(seed, 2, robots).astype(np.uint64).tolist()
    names = []
    for name, number, bits in zip(faults, chance.tolist(), drawn, strict=True):
        others = [kind for kind in kinds if kind != name]
        mistaken = number < wrong and others
        names.append(others[bits * len(others) >> 32] if mistaken else name)
    return Faults(names)
