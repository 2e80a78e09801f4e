"""QED's descriptor: the environment in which a controller was evaluated, as options.

Each of the six attributes A1 to A6 (max_speed, robots, arena, obstacles, rab_range,
proximity_range) has four options, numbered 0 to 3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qed.errors import choice
from qed.swarm.environment import OPTIONS, VARIANTS, Environment

NAMES = tuple(OPTIONS)


def describe(environments: Sequence[Environment], variant: str = "paper") -> np.ndarray:
    """Return the option of each attribute of each environment, int (controllers, 6)."""
    table = VARIANTS[choice("variant", variant, VARIANTS)]
    found = np.empty((len(environments), len(table)), np.int64)
    for row, environment in zip(found, environments, strict=True):
        for k, (name, options) in enumerate(table.items()):
            value = getattr(environment, name)
            if value not in options:
                raise ValueError(
                    f"{name} must be one of the options "
                    f"{', '.join(f'{option:g}' for option in options)}; got {value:g}"
                )
            row[k] = options.index(value)
    return found
