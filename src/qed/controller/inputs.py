"""What a network reads and drives, by name: the one place that numbers its nodes.

Nodes are what a robot senses (proximity sensors, then cones of range and bearing), a constant 1,
the two wheels, then hidden neurons.  Everything else follows from these names.  Files keep them, so
that networks are refused where they would read something else.
"""

from __future__ import annotations

from typing import Any

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


def check_inputs(stored: Any) -> None:
    """Raise an error that names what a file's networks read and these here do not, or vice versa.

    Files from before names were kept (None) hold networks of the Thymio.
    """
    names = INPUTS if stored is None else tuple(stored)
    if names == INPUTS:
        return
    strange = ", ".join(str(name) for name in names if name not in INPUTS)
    missing = ", ".join(name for name in INPUTS if name not in names)
    lists = {"read": strange, "do not read": missing}
    differs = " and ".join(f"{verb} {some}" for verb, some in lists.items() if some)
    differs = differs or "read the same inputs in another order"
    raise InputError(f"its networks are for another robot: they {differs}")
