"""The Thymio II as it was simulated: body, drive and sensors, as plain data in SI units.

The body is a convex polygon that is symmetric about its own y axis, so half of it describes
it.  Its rounded nose points to the robot's left (+y), not along the driving direction (+x):
a quirk of the original simulator that shapes what the sensors see, and is kept.
"""

import math

# Time, s.
CYCLE = 0.2  # one control cycle
SUBSTEPS = 5  # of physics in a cycle
LAG = CYCLE / SUBSTEPS  # a new command takes effect one sub-step late
DRIVE = CYCLE - LAG  # the part of a cycle that is driven by the new command

# Body, m: the vertices with x >= 0; the others are their mirror images (-x, y).
HALF_BODY = ((0.055, -0.053), (0.055, 0.033), (0.050, 0.040), (0.0255, 0.050), (0.0, 0.056))
BODY_OUTER_RADIUS = math.hypot(0.055, 0.053)  # circumscribed about the origin
BODY_INNER_RADIUS = 0.053  # inscribed about the origin
MASS = 0.27  # kg


def _moment() -> float:
    """Return the body's moment of inertia about its origin (kg m2), its mass spread evenly."""
    body = [*HALF_BODY, *((-x, y) for x, y in reversed(HALF_BODY))]
    doubled = moment = 0.0
    for (ax, ay), (bx, by) in zip(body, [*body[1:], body[0]], strict=True):
        cross = ax * by - bx * ay
        doubled += cross
        moment += cross * (ax * ax + ay * ay + ax * bx + ay * by + bx * bx + by * by)
    return MASS * moment / (6.0 * doubled)


MOMENT = _moment()
MAX_FORCE = 1.5  # N, of the drive
WHEEL_BASE = 0.08  # m, between the wheels

# Proximity sensors: position in the body frame (x forward, y left; m) and direction (rad).
# The angles are 40 and 20 degrees as the original has them, cut after five digits.
PROXIMITY_SENSORS = (
    (0.040, 0.050, 0.69813),
    (0.050, 0.025, 0.34906),
    (0.056, 0.000, 0.0),
    (0.050, -0.025, -0.34906),
    (0.040, -0.050, -0.69813),
    (-0.052, 0.030, math.pi),
    (-0.052, -0.030, math.pi),
)
FRONT_SENSORS = 5  # the first five look forward; only they can fail
SENSOR_REACH = max(math.hypot(x, y) for x, y, _ in PROXIMITY_SENSORS)
PROXIMITY_NOISE = 0.05  # half width of the uniform noise on a reading in [0, 1]

CONES = 8  # range-and-bearing cones, centred on the multiples of 45 degrees

OBSTACLE_RADIUS = 0.15  # m, of a cylinder
START_MARGIN = 0.5  # m, between a start position and the walls
