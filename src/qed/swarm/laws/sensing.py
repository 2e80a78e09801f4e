"""What sensors measure, and what a network reads of that."""

import math
from typing import Any

import numpy as np
from numpy import float32 as f32
from numpy import int32 as i32

from qed.compile import inlined
from qed.swarm.laws.geometry import unit
from qed.swarm.robot import ROBOT

# Where proximity sensors sit (m), and where they look, in the robot's frame.
SENSORS = len(ROBOT.proximity)
AT_X = np.array([x for x, _, _ in ROBOT.proximity], f32)
AT_Y = np.array([y for _, y, _ in ROBOT.proximity], f32)
AIM_X = np.array([math.cos(angle) for _, _, angle in ROBOT.proximity], f32)
AIM_Y = np.array([math.sin(angle) for _, _, angle in ROBOT.proximity], f32)
# Where ground sensors sit (m).
GROUND = len(ROBOT.ground)
BELOW_X = np.array([x for x, _ in ROBOT.ground], f32)
BELOW_Y = np.array([y for _, y in ROBOT.ground], f32)
CONES = ROBOT.rab
# Random bits for a misheard neighbour come after those of the sensors, of which two share some.
RAB_PURPOSE = SENSORS + SENSORS % 2
TOUCHING, SLOPE, CURVATURE = map(f32, ROBOT.response)
COS_EIGHTH = f32(math.cos(math.pi / 8.0))
SIN_EIGHTH = f32(math.sin(math.pi / 8.0))
COS_EMITTED = f32(math.cos(math.radians(15.0)))  # of infra-red messages
COS_RECEIVED = f32(math.cos(math.radians(36.0)))
PER_MESSAGE_RANGE = f32(1.0 / ROBOT.messages if ROBOT.messages else 0.0)  # 1/m
OFFSET_NEAR = f32(0.75)  # m, range of the ROFS fault's offset
OFFSET_FAR = f32(1.0)


@inlined
def reading(distance: Any, per_range: Any) -> Any:
    """Return a proximity reading (1: touching, 0: nothing) at a distance (m).

    ``per_range`` is one over the sensor's range (1/m).
    """
    u = distance * per_range
    return TOUCHING + u * (SLOPE + CURVATURE * u) if u <= f32(1.0) else f32(0.0)


@inlined
def sensed(true: Any, noise: Any, gain: Any, amplitude: Any, offset: Any) -> Any:
    """Return the network's input (1: nothing, -1: touching) for a true reading.

    A healthy sensor has gain 1, offset 0 and the noise's amplitude.  One that is stuck has gain
    and amplitude 0; one that reads at random has gain 0, amplitude and offset one half.
    """
    value = unit(gain * true + (amplitude * noise + offset))
    return f32(1.0) - f32(2.0) * value


@inlined
def message(
    px: Any, py: Any, look_x: Any, look_y: Any, ex: Any, ey: Any, aim_x: Any, aim_y: Any
) -> Any:
    """Return how strong an emitter at e is to a sensor at p (1: next to it, 0: nothing).

    The sensor looks along one unit vector, the emitter along the other one.
    """
    dx = px - ex
    dy = py - ey
    distance = f32(math.sqrt(dx * dx + dy * dy))
    sent = dx * aim_x + dy * aim_y >= COS_EMITTED * distance
    received = -(dx * look_x + dy * look_y) >= COS_RECEIVED * distance
    strength = unit(f32(1.0) - distance * PER_MESSAGE_RANGE)
    return strength if sent and received else f32(0.0)


@inlined
def cone(forward: Any, left: Any) -> Any:
    """Return the index of the cone that holds a point in the robot's frame.

    A turn by half a cone makes the cones octants, which signs tell apart.
    """
    x = COS_EIGHTH * forward - SIN_EIGHTH * left
    y = SIN_EIGHTH * forward + COS_EIGHTH * left
    right = i32(1) if y < f32(0.0) else i32(0)
    behind = i32(1) if x < f32(0.0) else i32(0)
    steep = i32(1) if abs(y) > abs(x) else i32(0)
    second = behind ^ right
    return i32(4) * right + i32(2) * second + (steep ^ second)


@inlined
def heard(distance: Any, per_range: Any) -> Any:
    """Return the network's input (1: nobody, -1: here) for a neighbour's distance (m)."""
    return f32(2.0) * min(distance * per_range, f32(1.0)) - f32(1.0)


@inlined
def floor_cell(at: Any, per_cell: Any, cells: Any) -> Any:
    """Return which of so many cells of the floor along a side a coordinate (m) is in.

    ``per_cell`` is one over their size (1/m).  A sensor that a wall's give lets stand a little
    outside the arena reads the cell next to it.
    """
    return min(max(i32(at * per_cell), i32(0)), cells - i32(1))


@inlined
def misheard(forward: Any, left: Any, radius: Any, c: Any, s: Any) -> Any:
    """Return a neighbour's place (m) after a random offset of ``radius`` in (-1, 1)."""
    size = OFFSET_NEAR + (OFFSET_FAR - OFFSET_NEAR) * f32(0.5) * (radius + f32(1.0))
    return forward + size * c, left + size * s
