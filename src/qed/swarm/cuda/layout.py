"""The memory of the GPU engine.

A lane of a warp is a robot; a warp holds as many whole trials of one controller as fit.  What
lanes exchange lies in the warp's part of shared memory: rows of 32 numbers, one per lane,
then lists.  Since a warp of many small trials has few
pairs and many patrolled cells, and one of a large swarm the other way round, where each has its
lists is worked out on the host (``packing.arrange``): so one kernel serves swarms of all sizes.
Floats and whole numbers share it: a distance is written as a float and compared
as the whole number of its bits, whose order is the same, by an atomic minimum.
"""

from typing import Any

from qed.controller.inputs import CONSTANT, FIRST_RAB
from qed.swarm.cuda.device import SIMULATED
from qed.swarm.measures import ACTIONS, SDBC_SUMS, STATES

LANES = 32
WARPS = 4  # of a block: one for each quarter of a processor

# Rows: the pose, the velocity after drives, the turn rate,
X, Y, COS, SIN, VX, VY, TURN = (LANES * n for n in range(7))
# sums of impulses (whole numbers), the first lane of each lane's trial, the place of the
# trial's obstacles, partners in contact,
SUM_X, SUM_Y, FIRST, CENTRES, PARTNERS = (LANES * n for n in range(7, 12))
# what is sensed, in the order of its nodes (and not fewer rows than motion takes, see below),
INPUTS = LANES * 12
RAB = INPUTS + LANES * FIRST_RAB
MOTION_ROWS = 14
# where robots were when pairs were listed,
LISTED_X, LISTED_Y = (INPUTS + LANES * (max(CONSTANT, MOTION_ROWS) + n) for n in range(2))
ROWS = LISTED_Y // LANES + 1
# faults of front sensors, where there are any; where there are teams, a bit for each input that
# the robot's own network reads; votes, in the simulator.
GAIN, AMPLITUDE, OFFSET, READS, VOTE = (LANES * (ROWS + n) for n in range(5))
# The sensors' rows are free until robots look again.  While it is found what touches, there are
# pairs that wait, then the lanes' contacts: code and normal.
QUEUE, CONTACTS = INPUTS, INPUTS + 2 * LANES
# Behind these lies what a robot in a corner of the arena keeps of its second wall; in their place,
# once the contacts are with their lanes, arms, levers and masses at that wall.
SECOND_WALL, SECOND_LEVERS = INPUTS + 8 * LANES, INPUTS
# While robots hear, velocities are not needed: there lie up to 64 pairs in doubt, and then the
# bodies that may hide them.
DOUBTED, DOUBTS = VX, TURN

# Lists: pairs that may come near or within hearing for some cycles; near pairs, kept for the next
# cycle; then, one after the other in the same place, pairs within hearing and rays that may hit. A
# contact of two robots, rows of 32: its code, its normal, the coupling of its points, then for each
# of two points how fast it moves as robots spin, its effective masses, its impulses.
CONTACT_FIELDS = 19
C_CODE, C_NX, C_NY, C_COUPLING, C_ONE, C_TWO = (LANES * n for n in (0, 1, 2, 3, 7, 13))
C_NORMAL_IMPULSE, C_TANGENT_IMPULSE = LANES * 4, LANES * 5
RAY_LIST = (FIRST_RAB + 1) * LANES  # rays that may hit: of 32 robots, and up to 31 from before

# Columns of the table of warps.
W_PLACE, W_TRIALS, W_ROBOTS, W_NETWORK, W_LIMITS, W_OUT, W_OBSTACLES, W_FAULTS = range(8)
W_PAIRS, W_STATICS = 8, 9  # where the impulses kept from cycle to cycle lie
W_CONTACTS = 10  # where contacts of robots lie, in the GPU's memory
# Places in the warp's shared memory: lists, situations counted, cells visited last, obstacles.
W_LISTED, W_NEAR, W_WORK, W_COUNTS, W_PATROL, W_CENTRES = range(11, 17)
WARP_FIELDS = 17
SITUATION_COUNTS = STATES * ACTIONS  # in pairs: two share a number
# Columns of the table of robots' faults: wheels (m/s at full output), front sensors, hearing. Then,
# where faults need the general path: the sensors hit (a bit each), what is no longer heard,
# silence, what wheels lose in a cycle.
(F_LEFT, F_RIGHT, F_GAIN, F_AMPLITUDE, F_OFFSET, F_RAB_OFFSET, F_HIT, F_HEARS_WITHIN, F_SILENT,
 F_WEAR) = range(10)  # fmt: skip
FAULT_FIELDS = 10
# Columns of the table of networks: neurons from ... to ..., the first link, the inputs that any
# network of the swarm reads, and those that it reads itself.
N_FIRST, N_STOP, N_LINK, N_LIVE, N_READS = range(5)
NETWORK_FIELDS = 5
GROUP = 4  # links that a neuron reads in one go
# What is kept from sub-step to sub-step: of a pair in contact the impulses at two points, of a
# robot at an obstacle the contact, rows of 32; and the sub-step.
KEPT = 5
OBSTACLE_FIELDS = 9
O_NX, O_NY, O_ARM, O_LEVER, O_NORMAL_MASS, O_TANGENT_MASS = (LANES * n for n in range(6))
O_NORMAL_IMPULSE, O_TANGENT_IMPULSE, O_STEP = (LANES * n for n in range(6, OBSTACLE_FIELDS))
# What is kept of a robot at an x wall, then at a y wall, from cycle to cycle: of two corners their
# number and impulses; and the cycle.
WALL_FIELDS = 7
# Sums of a trial; those of users' laws come after them.
(S_CENTRE, S_NEAREST, S_FLOCK, S_PATROL, S_BORDER, S_RADIUS, S_FEATURES) = range(7)
SUMS = S_FEATURES + SDBC_SUMS[0] * SDBC_SUMS[1]


def rows_of(with_faults: bool, with_teams: bool = False) -> int:
    """Return the number of rows in a warp's shared memory."""
    if SIMULATED:
        return VOTE // LANES + 1
    if with_teams:
        return READS // LANES + 1
    return OFFSET // LANES + 1 if with_faults else ROWS


def pairs_at_once(robots: Any) -> Any:
    """Return how many pairs there are in a warp of swarms with so many robots."""
    return (LANES // robots) * robots * (robots - 1) // 2
