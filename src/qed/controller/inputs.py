"""What a network reads and drives, by name: the one place that numbers its nodes.

Nodes are what a robot senses (proximity sensors, cones of range and bearing, ground sensors), a
constant 1, the two wheels, then hidden neurons.  Everything else follows from these names.  Files
keep them: networks read what they always read where inputs were added, and are refused where one
is missing.
``made_for(robot, "qed.controller.inputs")`` numbers the nodes of another robot's networks.
"""

import math
from typing import Any

import numpy as np

from qed.errors import InputError
from qed.swarm.robot import ROBOT, THYMIO

PROXIMITY = tuple(f"proximity {k}" for k in range(len(ROBOT.proximity)))
# What is heard of other robots: cones of range and bearing, or messages, a sensor each.
RAB = tuple(
    [f"range and bearing {k}" for k in range(ROBOT.rab)]
    or [f"message {k}" for k in range(len(ROBOT.proximity) if ROBOT.messages else 0)]
)
GROUND = tuple(f"ground {k}" for k in range(len(ROBOT.ground)))
SENSED = (*PROXIMITY, *RAB, *GROUND)
INPUTS = (*SENSED, "constant")
WHEELS = ("left wheel", "right wheel")

# Numbers of nodes: the first proximity sensor is node 0.
FIRST_RAB = len(PROXIMITY)
FIRST_GROUND = FIRST_RAB + len(RAB)
CONSTANT = len(SENSED)
LEFT = len(INPUTS)
RIGHT = LEFT + 1
FIRST_HIDDEN = LEFT + len(WHEELS)
# A bit for each input that is sensed.
PROXIMITY_BITS = (1 << FIRST_RAB) - 1
RAB_BITS = PROXIMITY_BITS ^ ((1 << FIRST_GROUND) - 1)
ALL_BITS = (1 << CONSTANT) - 1
GROUND_BITS = ALL_BITS ^ PROXIMITY_BITS ^ RAB_BITS
# Of files without names, from before version 0.3.
FORMER_INPUTS = (
    *(f"proximity {k}" for k in range(len(THYMIO.proximity))),
    *(f"range and bearing {k}" for k in range(THYMIO.rab)),
    "constant",
)


def _group(*inputs: int) -> tuple[int, int, int, int]:
    """Return four inputs of a group: of fewer the last one comes several times, -1 is none."""
    some = (*inputs[:4], *[inputs[-1] if inputs else -1] * 4)
    return some[0], some[1], some[2], some[3]


def _looking(direction: float, width: float) -> tuple[int, int, int, int]:
    """Return the group of the proximity sensors that look so far about a direction (degrees)."""
    off = [math.remainder(math.degrees(a) - direction, 360.0) for _, _, a in ROBOT.proximity]
    return _group(*(k for k, angle in enumerate(off) if abs(angle) < width))


# SPIRIT: the groups of inputs that are active or not, the most significant first: proximity
# sensors to the left, ahead, to the right and behind, then cones ahead and behind.
GROUPS = (
    _looking(69.0, 51.0),
    _looking(0.0, 18.0),
    _looking(-69.0, 51.0),
    _looking(180.0, 60.0),
    *(
        _group(*(FIRST_RAB + cone for cone in cones if cone < ROBOT.rab))
        for cones in ((0, 1, 6, 7), (2, 3, 4, 5))
    ),
)


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
