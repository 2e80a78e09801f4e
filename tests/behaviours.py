"""Hand-written behaviours: what a swarm can do with a few connections, as oracles for tests.

All are reflexes, without hidden neurons: each wheel has its own weighted inputs.  An input is 1
where nothing is sensed and falls to -1 at touch (proximity) or at no distance (range and
bearing), so a connection with a positive weight slows its wheel down when something comes near,
and a negative one speeds it up.  The sum of a wheel's weights, times five, is what it does
alone: 0.3 and more is almost full speed.  All weights are within the bounds of evolution.
"""

from __future__ import annotations

import qed

# Proximity sensors, then the cones of range and bearing.
FAR_LEFT, LEFT, CENTRE, RIGHT, FAR_RIGHT, REAR_LEFT, REAR_RIGHT = range(7)
AHEAD, AHEAD_L, SIDE_L, BEHIND_L, BEHIND, BEHIND_R, SIDE_R, AHEAD_R = range(7, 15)
ALWAYS = 15


def reflexes(left, right):
    """Return a controller from the weights of the inputs of each wheel."""
    links = [(source, 16, weight) for source, weight in left.items()]
    links += [(source, 17, weight) for source, weight in right.items()]
    return qed.Controller(links, bias=[0.0, 0.0])


# Stay where you are.
STILL = reflexes({}, {})

# Drive ahead at full speed, whatever comes.
STRAIGHT = reflexes({ALWAYS: 1.0}, {ALWAYS: 1.0})

# Drive ahead; turn away from what is near, on the spot if it is very near.  What is right ahead
# is passed on the right.
AVOIDER = reflexes(
    {RIGHT: 0.8, FAR_RIGHT: 0.8, ALWAYS: -1.2},
    {FAR_LEFT: 0.8, LEFT: 0.8, CENTRE: 0.8, ALWAYS: -2.0},
)

# Drive ahead; turn left at a wall, and early when a robot is ahead.
PATROLLER = reflexes(
    {RIGHT: 0.9, AHEAD: 0.5, AHEAD_R: 0.3, ALWAYS: -1.3},
    {ALWAYS: 1.0},
)

# Drive ahead; turn left just as far as a wall demands, and slide along it.  Leave it for a
# moment when another robot comes up from behind.
WALL_FOLLOWER = reflexes(
    {LEFT: 1.0, RIGHT: 1.0, BEHIND: 0.2, ALWAYS: -1.4},
    {ALWAYS: 1.0},
)

# Drive in wide circles to the right; turn left to robots on the left ahead, and to the right, on
# the spot, to those behind.
AGGREGATOR = reflexes(
    {ALWAYS: 1.0},
    {
        LEFT: 0.2,
        CENTRE: 0.2,
        AHEAD_L: -0.2,
        SIDE_L: -0.1,
        BEHIND_L: 0.2,
        BEHIND: 0.2,
        BEHIND_R: 0.2,
        ALWAYS: -0.4,
    },
)

# Alone, circle in a small place; turn right, away from robots ahead, and drive straight off when
# there is one behind.
DISPERSER = reflexes(
    {LEFT: 0.8, CENTRE: -0.3, ALWAYS: 0.5},
    {AHEAD: 0.5, AHEAD_L: 0.8, BEHIND: -0.5, BEHIND_R: -0.5, ALWAYS: -0.1},
)

# Drive ahead in a slight curve to the left; turn to robots ahead on the left and on the right,
# so that each follows another, and turn left at walls.
FLOCKER = reflexes(
    {FAR_LEFT: 0.5, LEFT: 0.6, AHEAD_L: 1.5, SIDE_R: -0.2, ALWAYS: -2.0},
    {CENTRE: -0.1, BEHIND_R: -0.2, SIDE_R: 0.1, AHEAD_R: 0.6, ALWAYS: 0.6},
)

BEHAVIOURS = {
    "still": STILL,
    "straight": STRAIGHT,
    "avoider": AVOIDER,
    "patroller": PATROLLER,
    "wall follower": WALL_FOLLOWER,
    "aggregator": AGGREGATOR,
    "disperser": DISPERSER,
    "flocker": FLOCKER,
}
# The behaviour made for each task.
BEST = {
    "aggregation": AGGREGATOR,
    "dispersion": DISPERSER,
    "flocking": FLOCKER,
    "patrolling": PATROLLER,
    "border-patrolling": WALL_FOLLOWER,
}
