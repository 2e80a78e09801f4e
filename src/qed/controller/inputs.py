"""What a network reads and drives, by name: the one place that numbers its nodes.

Nodes are what a robot senses (proximity sensors, then cones of range and bearing), a constant 1,
the two wheels, then hidden neurons.  Everything else follows from these names.  Files keep them:
networks read what they always read where inputs were added, and are refused where one is missing.
"""

from typing import Any

import numpy as np

from qed.errors import InputError
from qed.swarm import robot

PROXIMITY = tuple(f"proximity {k}" for k in range(len(robot.PROXIMITY_SENSORS)))
RAB = tuple(f"range and bearing {k}" for k in range(robot.CONES))
SENSED = (*PROXIMITY, *RAB)
INPUTS = (*SENSED, "constant")
WHEELS = ("left wheel", "right wheel")

# Numbers of nodes: the first proximity sensor is node 0.
FIRST_RAB = len(PROXIMITY)
CONSTANT = len(SENSED)
LEFT = len(INPUTS)
RIGHT = LEFT + 1
FIRST_HIDDEN = LEFT + len(WHEELS)
# A bit for each input that is sensed.
PROXIMITY_BITS = (1 << FIRST_RAB) - 1
ALL_BITS = (1 << CONSTANT) - 1
# Of files without names, from before version 0.3.
FORMER_INPUTS = (*PROXIMITY, *RAB, "constant")


def renumbered(nodes: np.ndarray, names: Any) -> np.ndarray:
    """Return the present numbers of nodes of a file in which inputs have these names.

    Raises an error that names the inputs that no robot here has.
    """
    stored = FORMER_INPUTS if names is None else tuple(names)
    if stored == INPUTS:
        return nodes
    if strange := [str(name) for name in stored if name not in INPUTS]:
        raise InputError(f"its networks are for another robot: they read {', '.join(strange)}")
    table = np.array([*map(INPUTS.index, stored), LEFT, RIGHT], nodes.dtype)
    hidden = nodes - len(table) + FIRST_HIDDEN
    known = (nodes >= 0) & (nodes < len(table))
    return np.where(known, table[np.where(known, nodes, 0)], np.where(nodes < 0, nodes, hidden))
