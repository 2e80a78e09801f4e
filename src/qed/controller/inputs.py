"""What a network reads and drives, by name: the one place that numbers its nodes.

Nodes are what a robot senses (proximity sensors, then cones of range and bearing), a constant 1,
the two wheels, then hidden neurons.  Everything else follows from these names.  Files keep them, so
that networks are refused where they would read something else.
"""

from __future__ import annotations

from collections.abc import Iterable
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


def check_inputs(names: Iterable[Any] | None, where: object) -> None:
    """Raise an error that says how a file's inputs differ from those here.

    Files without names, from before version 0.3, hold the Thymio's.
    """
    stored = INPUTS if names is None else tuple(names)
    if stored != INPUTS:
        strange = [name for name in stored if name not in INPUTS]
        missing = [name for name in INPUTS if name not in stored]
        parts = [("it reads ", strange), ("it does not read ", missing)]
        told = "; ".join(words + ", ".join(map(str, some)) for words, some in parts if some)
        told = told or "its inputs are in another order"
        raise InputError(f"{where}: its networks are for another robot: {told}")
