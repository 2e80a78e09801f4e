"""The memory of a block: what changes each cycle, each trial, or only at compile time.

A *lane* is one robot of one trial of one controller.  A quantity of all lanes is a *row* of a
flat array; rows lie ``STRIDE`` apart, a compile-time constant, so that the compiler can see
that rows are apart and turns every dense loop into vector code.  The robots of a *segment*
(one controller and some of its trials) lie side by side, robot by robot:

    lane = first + robot * trials + trial

so robot i meets robot i + k of its own trial ``k * trials`` lanes further on, in all trials at
once.  *Wide* rows hold each segment twice, end to end, so that this shift never wraps.
"""

from typing import NamedTuple

import numpy as np

from qed.controller.inputs import CONSTANT, FIRST_RAB

LANES = 1536  # lanes in a block
STRIDE = LANES + 112  # not a multiple of 4096 bytes: rows must not share their cache sets
NOWHERE = LANES  # a lane that no robot has: at rest, far from everything
WIDE = 2 * LANES + 16
VECTOR = 16  # segments are padded to whole vectors
PAIRS = 18432  # pairs of robots in a block, at most
PAIR_STRIDE = PAIRS + 48

# Float rows, in groups: the state of a robot (velocity, turn rate, impulses of drive and angular
# drive),
X, Y, COS, SIN, HEADING, VX, VY, TURN, JX, JY, ANGULAR_DRIVE = (STRIDE * n for n in range(11))
# what the cycle makes of it,
TX, TY, LEFT, RIGHT, OLD_X, OLD_Y, OLD_HEADING, OLD_COS, OLD_SIN, SQUARE = (
    STRIDE * n for n in range(11, 21)
)
# what stays for a trial: wheels (m/s at full output, and the part that they lose in a cycle),
# proximity sensors that a fault hits, the input from which on a robot with a weak radio hears
# nobody; environment,
WHEEL_LEFT, WHEEL_RIGHT, GAIN, AMPLITUDE, OFFSET, HEARS_WITHIN = (STRIDE * n for n in range(21, 27))
WEAR, SIDE, MARGIN = (STRIDE * n for n in range(27, 30))
# what tasks and descriptors add up,
AGGREGATION, DISPERSION, FLOCKING, CENTRE, NEAREST, DISTANCES, SPEED = (
    STRIDE * n for n in range(31, 38)
)
# scratch,
SCRATCH, MEAN_X, MEAN_Y = (STRIDE * n for n in range(38, 41))
# whether a robot may touch an x wall, a y wall, or something else (negative: it may),
AT_X_WALL, AT_Y_WALL, AT_OTHERS = (STRIDE * n for n in range(41, 44))
# the impulses that walls keep from one cycle to the next: of an x wall, then of a y wall, for each
# of two corners a table of its number, normal and tangent impulse, and a number that is not used,
KEPT_X, KEPT_Y = (STRIDE * n for n in (44, 52))
# the robots that may touch something, packed,
P_X, P_Y, P_HEADING, P_COS, P_SIN, P_VX, P_VY, P_JX, P_JY = (STRIDE * n for n in range(60, 69))
P_TX, P_TY, P_TURN, P_RATE, P_SPIN, P_ANGULAR_DRIVE, P_SIDE = (STRIDE * n for n in range(69, 76))
# and their contacts with an x wall, then with a y wall: its sign; then for two corners ...
P_WALL_X, P_WALL_Y = (STRIDE * n for n in (76, 91))
SIGN = 0
# ... these rows each.
CORNER, NORMAL_IMPULSE, TANGENT_IMPULSE, ARM, LEVER, NORMAL_MASS, TANGENT_MASS = (
    STRIDE * n for n in range(7)
)
FIRST_CORNER, SECOND_CORNER = STRIDE, 8 * STRIDE
# What pairs of them look up (``gather.py``), tables of two numbers an entry: place, heading,
# velocity, turn rate and number of partners.
P_PLACES, P_HEADINGS, P_VELOCITIES, P_TURNS = (STRIDE * n for n in range(106, 114, 2))
P_PARTNERS = STRIDE * 114
# The poses of all lanes as a table, four numbers an entry: place, cosine and sine of the heading.
POSES = STRIDE * 115
FLOAT_ROWS = 119

# Whole-number rows.
RAB_FAULT, TRIAL, SLOT, OWN, CELL, FINE, SINCE, INDEX = (STRIDE * n for n in range(8))
# robots that may touch something, packed: their lane,
P_LANE = STRIDE * 8
# the cycle in which a robot was last near an x wall, and near a y wall.
WALLED_X, WALLED_Y = (STRIDE * n for n in range(9, 11))
# the proximity sensors that a fault hits, a bit each.
HIT = STRIDE * 11
# the inputs that a robot's network reads, a bit each.
READS = STRIDE * 12
WHOLE_ROWS = 13
# Bits of ``RAB_FAULT``: hears others off their place, is not heard.
MISHEARS, SILENT = 1, 2

# Wide rows.
WIDE_X, WIDE_Y, WIDE_HEADING, WIDE_SPEED = (WIDE * n for n in range(4))
WIDE_ROWS = 4
USER_ROWS = STRIDE  # from one law of a user to the next, in ``Block.user_sums``

# Rows of activations: what is sensed, in the order of its nodes, then hidden neurons, twice.
PROXIMITY = 0
RAB = FIRST_RAB * STRIDE
HIDDEN = CONSTANT

# Lists of pairs, float rows.  The stages of a cycle use the same rows, each by its own names:
# robots that may touch, with the impulses they keep at two points,
C_KEPT = 0  # four numbers per pair: normal and tangent, twice
# those of them that are close,
(T_DX, T_DY, T_COS_I, T_SIN_I, T_COS_K, T_SIN_K, T_NX, T_NY, T_GAP, T_FACE) = (
    PAIR_STRIDE * n for n in range(4, 14)
)
T_RELAXATION = T_GAP
# and those that touch: the velocity and the turn rates that they push from,
T_UX, T_UY, T_TURN_I, T_TURN_K = (PAIR_STRIDE * n for n in range(14, 18))
T_PARTNERS_I, T_PARTNERS_K = T_UX, T_UY
# how their two points are coupled, and then for each point these rows.
T_K_NN, T_K_NT, T_K_TN, T_K_TT = (PAIR_STRIDE * n for n in range(18, 22))
# The four impulses lie one after the other.
T_ONE, T_TWO = (PAIR_STRIDE * n for n in (22, 24))
T_CLOSING, T_SLIDING, T_NORMAL_MASS, T_TANGENT_MASS, T_NORMAL_IMPULSE, T_TANGENT_IMPULSE = (
    PAIR_STRIDE * n for n in (0, 1, 4, 5, 8, 9)
)
PAIR_FLOATS = 34
# robots within hearing,
S_X, S_Y, S_COS_I, S_SIN_I, S_OTHER_X, S_OTHER_Y, S_COS_K, S_SIN_K = (
    PAIR_STRIDE * n for n in range(8)
)
S_DX, S_DY, S_DISTANCE, S_PER_SQUARE, S_NEXT_X, S_NEXT_Y, S_OFF = (
    PAIR_STRIDE * n for n in range(8, 15)
)
D_OFF = S_NEXT_X  # of all lanes of a crowd, before they are listed
# bodies that may stand between them: the line of sight and its length, who looks, the body's pose,
# the way to it,
(V_DX, V_DY, V_DISTANCE, V_EYE_X, V_EYE_Y, V_X, V_Y, V_COS, V_SIN, V_WAY) = (
    PAIR_STRIDE * n for n in range(15, 25)
)
# robots or obstacles near a robot's sensors.
R_DX, R_DY, R_COS, R_SIN, R_OTHER_X, R_OTHER_Y, R_OTHER_COS, R_OTHER_SIN = (
    PAIR_STRIDE * n for n in range(8)
)
R_AHEAD, R_LEFT, R_X, R_Y, R_WAY, R_CULL, R_RADIUS = (PAIR_STRIDE * n for n in range(8, 15))

# Lists of pairs, whole numbers: near robots (kept for the next cycle),
NEAR_I, NEAR_K, NEAR_PAIR = (PAIR_STRIDE * n for n in range(3))
# robots within hearing (the blockers in doubt are two words of bits), robots that may touch and
# those that do, and rays that may hit.
S_I, S_K, S_CONE_I, S_CONE_K, S_ONE, S_WAY = (PAIR_STRIDE * n for n in range(3, 9))
S_DOUBTS, S_MORE_DOUBTS, S_PLACE = (PAIR_STRIDE * n for n in (9, 10, 12))
S_TWO = S_PLACE
D_DOUBTS, D_MORE_DOUBTS = S_CONE_I, S_CONE_K  # of all lanes of a crowd
V_LANE, V_PAIR = S_ONE, S_WAY
C_I, C_K, C_PAIR, T_I, T_K, T_AT, T_FX, T_FY = (PAIR_STRIDE * n for n in range(3, 11))
R_LANE, R_ENTRY, R_READS = (PAIR_STRIDE * n for n in range(3, 6))
# Lanes of the six stretches of robots that may touch something (``candidates.py``).
L_ONE, L_TWO, L_THREE, L_FOUR, L_FIVE, L_SIX = (PAIR_STRIDE * n for n in (6, 7, 8, 9, 10, 12))
# What never changes: the place of an entry in its row, and the lanes of wide rows.
PLACE, WIDE_LANE = (PAIR_STRIDE * n for n in (11, 13))
PAIR_WHOLES = 14


# Rows of an obstacle in ``Block.obstacles``: its centre, its radius (m) and the square of it, and
# how near robots touch it.
B_X, B_Y, B_RADIUS, B_SQUARE, B_REACH = (STRIDE * n for n in range(5))
OBSTACLE_ROWS = 5 * STRIDE  # from one obstacle to the next

# Columns of ``Block.obstacle_contacts``: the obstacle's centre, normal, arm, lever, masses,
# impulses, radius, how near it is touched.
(
    O_X,
    O_Y,
    O_NX,
    O_NY,
    O_ARM,
    O_LEVER,
    O_NORMAL_MASS,
    O_TANGENT_MASS,
    O_NORMAL_IMPULSE,
    O_TANGENT_IMPULSE,
    O_RADIUS,
    O_REACH,
) = range(12)
OBSTACLE_FIELDS = 12


# Columns of ``Block.networks``: the lanes that a network drives, and its neurons.
N_LANE, N_LANES, N_NEURON, N_NEURONS = range(4)
NETWORK_FIELDS = 4


class SegmentFields(NamedTuple):
    """Fields of a segment, as columns of ``Block.segments``."""

    first: int  # lane
    robots: int
    trials: int
    padded: int  # lanes with the padding
    live: int  # bit s: input s is read by a network
    networks: int  # first row of ``Block.networks``
    network_count: int  # 1, or one per robot of a team
    obstacles: int
    first_trial: int  # index of the segment's first trial among the block's trials
    rab_offset: int  # 1 if a robot mishears its neighbours (ROFS), or is not heard
    fine_side: int  # fine cells along a side
    size: int  # lanes without the padding
    wears: int  # 1 if wheels of a robot wear
    floor: int  # first cell of its floor in ``Block.floors``
    floor_rows: int
    floor_columns: int


FIRST, ROBOTS, TRIALS, PADDED, LIVE, NETWORK, NETWORK_COUNT = range(7)
OBSTACLES, FIRST_TRIAL, RAB_OFFSET, FINE_SIDE, SIZE, WEARS = range(7, 13)
FLOOR, FLOOR_ROWS, FLOOR_COLUMNS = range(13, 16)


class Block(NamedTuple):
    """All that a block of lanes needs; arrays only."""

    segments: np.ndarray  # int32 (segments, fields)
    limits: np.ndarray  # float32 (segments, fields)
    f: np.ndarray  # float32, rows of lanes
    n: np.ndarray  # int32, rows of lanes
    w: np.ndarray  # float32, wide rows
    a: np.ndarray  # float32, activation rows
    keys: np.ndarray  # uint32, one per lane
    networks: np.ndarray  # int32 (networks, [first lane, lanes, first neuron, neurons])
    neurons: np.ndarray  # int32 (neurons, [target, first link, links])
    biases: np.ndarray  # float32, one per neuron
    sources: np.ndarray  # int32 (2, links): where the row begins that a link reads, by turns
    weights: np.ndarray  # float32, one per link
    p: np.ndarray  # float32, pair lists
    m: np.ndarray  # int32, pair lists
    sums: np.ndarray  # int64, impulses of pairs on packed robots: x, and y in the upper half
    pair_impulse: (
        np.ndarray
    )  # float32, impulses of pairs from the last cycle: normal and tangent, twice
    pair_step: np.ndarray  # int32, the cycle in which a pair was last in contact
    obstacles: np.ndarray  # float32, rows of lanes for each obstacle
    obstacle_impulse: (
        np.ndarray
    )  # float32, impulses of obstacles: normal, tangent, as rows of lanes
    obstacle_step: np.ndarray  # int32, cycle of the last contact with an obstacle
    obstacle_contacts: np.ndarray  # float32 (contacts, fields) of robots that may touch obstacles
    obstacle_places: np.ndarray  # int32 (contacts, 2): packed robot, place of the impulses kept
    since: np.ndarray  # int32 (trials, 100): cycle in which a cell was entered or last left
    crowd: np.ndarray  # int32 (trials, 100): robots in the cell
    patrol: np.ndarray  # int64 (trials, 2): patrolling and border sums
    fine: np.ndarray  # int32 (trials, fine cells): visits
    features: np.ndarray  # float64 (trials, 5, 2): sums and squares of SDBC features
    spirit: np.ndarray  # int32 (segments, states x actions)
    user_sums: np.ndarray  # float32, a row of lanes for each law of a user
    laws: np.ndarray  # int64, the addresses of their machine code
    floors: np.ndarray  # float32, the cells of each floor, row by row
    wants: int  # bits: which tasks and descriptors to add up
    hidden: int  # hidden neurons of the largest network
