"""Contacts with what stands still, walls and obstacles, on the GPU: each in its robot's lane.

A robot touches an x wall and a y wall, with two corners each, and each obstacle with one point.  A
corner at a wall is a tuple of its number, its impulses, arm, lever and effective masses; what is
kept of it from cycle to cycle lies in the GPU's memory, ``statics``, as does what is noted at
obstacles.
"""

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.outline import body_point, contact_arm, two_farthest_corners
from qed.swarm.cuda.warp import at, lowest
from qed.swarm.laws import contact
from qed.swarm.robot import OBSTACLE_RADIUS, ROBOT

solve_contact = device(contact.solve_contact)
effective_mass = device(contact.effective_mass)
angular_impulse = device(contact.angular_impulse)
nearer_wall = device(contact.nearer_wall)
remembered = device(contact.remembered)

OBSTACLE = f32(OBSTACLE_RADIUS)
REACH = f32(OBSTACLE_RADIUS + ROBOT.outer_radius)
OUTER = f32(ROBOT.outer_radius + 1e-6)  # no corner is farther off
ZERO = f32(0.0)
NO_CORNER = f32(-1.0)
# Corner number, impulses, arm, lever, effective masses.
NO_POINT = (NO_CORNER, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)
FIRST_OBSTACLE = 1000  # in place of a corner's number: more than any outline has corners


@stage
def point(room, number, arm, lever, old1, old2):
    """Return a corner, so far (m) from a wall, with what it remembers of the last sub-step."""
    touches = room < arm
    arm = contact_arm(arm, arm - room)
    number = number if touches else NO_CORNER
    return (
        number,
        remembered(number, old1[0], old2[0], old1[1], old2[1]),
        remembered(number, old1[0], old2[0], old1[2], old2[2]),
        arm,
        lever,
        effective_mass(lever) if touches else ZERO,
        effective_mass(arm) if touches else ZERO,
    )


@stage
def touching_wall(place, side, c, s, is_x, one, two):
    """Return the sign of the nearer wall on an axis, and the corners that are inside it."""
    sign, room = nearer_wall(place, side)
    new_one = new_two = NO_POINT
    if room < OUTER:
        c = sign * c
        s = sign * s
        ux = c if is_x else s
        uy = -s if is_x else c
        arm1, lever1, number1, arm2, lever2, number2 = two_farthest_corners(ux, uy)
        new_one = point(room, number1, arm1, lever1, one, two)
        new_two = point(room, number2, arm2, lever2, one, two)
    return sign, new_one, new_two


@stage
def wall_normal(sign, is_x):
    """Return the normal of a wall, which points out of the arena."""
    return (sign if is_x else ZERO), (ZERO if is_x else sign)


@stage
def warm_start(motion, normal, one, two):
    """Begin with the impulses of the last sub-step."""
    vx, vy, spin = motion
    nx, ny = normal
    pn = one[1] + two[1]
    pt = one[2] + two[2]
    spin -= angular_impulse(one[3], one[4], one[1], one[2]) + angular_impulse(
        two[3], two[4], two[1], two[2]
    )
    return vx - (pn * nx - pt * ny), vy - (pn * ny + pt * nx), spin


@stage
def solve_corner(vn, vt, spin, one):
    """Solve a corner's contact."""
    number, pn, pt, arm, lever, normal_mass, tangent_mass = one
    vn, vt, spin, pn, pt = solve_contact(
        vn, vt, spin, arm, lever, pn, pt, normal_mass, tangent_mass
    )
    return vn, vt, spin, (number, pn, pt, arm, lever, normal_mass, tangent_mass)


@stage
def solve_corners(motion, normal, one, two):
    """Solve the contacts of both corners, one after the other.

    A corner that is not inside has no masses and no impulses, so that nothing happens to it.
    """
    vx, vy, spin = motion
    nx, ny = normal
    vn, vt = vx * nx + vy * ny, vy * nx - vx * ny
    vn, vt, spin, one = solve_corner(vn, vt, spin, one)
    vn, vt, spin, two = solve_corner(vn, vt, spin, two)
    return vn * nx - vt * ny, vn * ny + vt * nx, spin, one, two


@stage
def recall(statics, place, cycle):
    """Return two corners with the impulses that they kept in the last cycle, if they did."""
    fresh = statics[place + 6 * L.LANES] != f32(cycle - i32(1))
    return recall_corner(statics, place, fresh), recall_corner(statics, place + 3 * L.LANES, fresh)


@stage
def recall_corner(statics, place, fresh):
    """Return a corner with its impulses."""
    number = NO_CORNER if fresh else statics[place]
    pn, pt = statics[place + L.LANES], statics[place + 2 * L.LANES]
    return number, pn, pt, ZERO, ZERO, ZERO, ZERO


@stage
def store(statics, place, one, two, cycle):
    """Keep the impulses of two corners for the next cycle."""
    for k in range(3):
        statics[place + k * L.LANES] = one[k]
        statics[place + (3 + k) * L.LANES] = two[k]
    statics[place + 6 * L.LANES] = f32(cycle)


# A robot in a corner of the arena stands at two walls.  That is rare, so the corners at the second
# one, a y wall, lie in shared memory, where they take no registers from all other robots: in rows
# of the sensors, which are free until robots look again.


@stage
def read_corner(sf, me, k):
    """Return a corner at the second wall: 0 or 1."""
    kept = L.SECOND_WALL + me + k * 3 * L.LANES
    rest = L.SECOND_LEVERS + me + k * 4 * L.LANES
    return (
        sf[kept],
        sf[kept + L.LANES],
        sf[kept + 2 * L.LANES],
        sf[rest],
        sf[rest + L.LANES],
        sf[rest + 2 * L.LANES],
        sf[rest + 3 * L.LANES],
    )


@stage
def write_corner(sf, me, k, corner):
    """Note a corner at the second wall: what is kept, arm, lever and masses."""
    kept = L.SECOND_WALL + me + k * 3 * L.LANES
    rest = L.SECOND_LEVERS + me + k * 4 * L.LANES
    for n in range(3):
        sf[kept + n * L.LANES] = corner[n]
    for n in range(4):
        sf[rest + n * L.LANES] = corner[3 + n]


@stage
def begin_second_wall(sf, me, statics, place, cycle):
    """Note the corners at the second wall with the impulses that they kept in the last cycle."""
    one, two = recall(statics, place, cycle)
    write_corner(sf, me, 0, one)
    write_corner(sf, me, 1, two)


@stage
def touch_second_wall(at_wall, motion, sf, me):
    """Note which corners are inside the second wall, and begin with their old impulses.

    Returns whether any is, and the motion.
    """
    y, side, c, s = at_wall
    vx, vy, spin = motion
    one, two = read_corner(sf, me, 0), read_corner(sf, me, 1)
    sign, one, two = touching_wall(y, side, c, s, False, one, two)
    write_corner(sf, me, 0, one)
    write_corner(sf, me, 1, two)
    touches = one[0] >= ZERO or two[0] >= ZERO
    if touches:
        vx, vy, spin = warm_start((vx, vy, spin), (ZERO, sign), one, two)
    return touches, vx, vy, spin


@stage
def solve_second_wall(motion, y, side, sf, me):
    """Solve the contacts with the second wall."""
    sign, _ = nearer_wall(y, side)
    one, two = read_corner(sf, me, 0), read_corner(sf, me, 1)
    vx, vy, spin, one, two = solve_corners(motion, (ZERO, sign), one, two)
    kept = L.SECOND_WALL + me
    sf[kept + L.LANES] = one[1]
    sf[kept + 2 * L.LANES] = one[2]
    sf[kept + 4 * L.LANES] = two[1]
    sf[kept + 5 * L.LANES] = two[2]
    return vx, vy, spin


@stage
def store_second_wall(sf, me, statics, place, cycle):
    """Keep the impulses at the second wall for the next cycle."""
    store(statics, place, read_corner(sf, me, 0), read_corner(sf, me, 1), cycle)


@stage
def wall_place(mine, axis):
    """Return where it is kept how a robot stands at an x wall (0) or at a y wall (1)."""
    return at(mine + i32(axis) * i32(L.WALL_FIELDS * L.LANES))


@stage
def obstacle_place(mine, obstacle):
    """Return where it is noted how a robot stands at an obstacle."""
    return at(mine + i32(2 * L.WALL_FIELDS * L.LANES) + obstacle * i32(L.OBSTACLE_FIELDS * L.LANES))


@stage
def within_reach(sf, x, y, reach, centres, nearby):
    """Return those of some obstacles (a bit each) whose centres are within reach (m)."""
    word = i32(0)
    while nearby != 0:
        o = lowest(nearby)
        dx = sf[at(centres + o + o)] - x
        dy = sf[at(centres + o + o) + 1] - y
        if dx * dx + dy * dy < reach * reach:
            word = i32(word | (nearby & -nearby))
        nearby = i32(nearby & (nearby - i32(1)))
    return word


@stage
def touching_obstacles(sf, pose, centres, rest, kept, step, at_wall, normal, one):
    """Find the obstacles that a robot touches in a sub-step, of some (a bit each).

    Returns the normal and the contact of the one that stays with the robot's lane, in place of
    a corner at its wall if it touches none, and bits of the others, which are noted in ``kept``.
    They are solved before it, so it is the last one.
    """
    x, y, c, s = pose
    statics, mine = kept
    old = one
    if not at_wall:
        one = NO_POINT
    others = i32(0)
    while rest != 0:
        o = lowest(rest)
        bit = i32(rest & -rest)
        rest = i32(rest & (rest - i32(1)))
        dx = sf[at(centres + o + o)] - x
        dy = sf[at(centres + o + o) + 1] - y
        if dx * dx + dy * dy < REACH * REACH:
            nx, ny, gap, arm, lever = body_point(c * dx + s * dy, c * dy - s * dx)
            if gap < OBSTACLE:
                arm = contact_arm(arm, OBSTACLE - gap)
                nx, ny = c * nx - s * ny, s * nx + c * ny
                normal_mass = effective_mass(lever)
                tangent_mass = effective_mass(arm)
                number = f32(o + i32(FIRST_OBSTACLE))
                b = obstacle_place(mine, o)
                pn = old[1]
                pt = old[2]
                if old[0] != number:
                    fresh = statics[b + L.O_STEP] != step - f32(1.0)
                    pn = ZERO if fresh else statics[b + L.O_NORMAL_IMPULSE]
                    pt = ZERO if fresh else statics[b + L.O_TANGENT_IMPULSE]
                if rest == 0 and not at_wall:
                    normal = nx, ny
                    one = number, pn, pt, arm, lever, normal_mass, tangent_mass
                else:
                    others = i32(others | bit)
                    statics[b + L.O_NX] = nx
                    statics[b + L.O_NY] = ny
                    statics[b + L.O_ARM] = arm
                    statics[b + L.O_LEVER] = lever
                    statics[b + L.O_NORMAL_MASS] = normal_mass
                    statics[b + L.O_TANGENT_MASS] = tangent_mass
                    statics[b + L.O_NORMAL_IMPULSE] = pn
                    statics[b + L.O_TANGENT_IMPULSE] = pt
                    statics[b + L.O_STEP] = step
    return normal, one, others


@stage
def read_obstacle(statics, b):
    """Return the normal of a noted obstacle, and the contact with it."""
    return (statics[b + L.O_NX], statics[b + L.O_NY]), (
        ZERO,
        statics[b + L.O_NORMAL_IMPULSE],
        statics[b + L.O_TANGENT_IMPULSE],
        statics[b + L.O_ARM],
        statics[b + L.O_LEVER],
        statics[b + L.O_NORMAL_MASS],
        statics[b + L.O_TANGENT_MASS],
    )


@stage
def keep_obstacle(statics, mine, one, step):
    """Keep the impulses of the obstacle that stays with the robot's lane, if one does."""
    if one[0] >= f32(FIRST_OBSTACLE):
        b = obstacle_place(mine, i32(one[0]) - i32(FIRST_OBSTACLE))
        statics[b + L.O_NORMAL_IMPULSE] = one[1]
        statics[b + L.O_TANGENT_IMPULSE] = one[2]
        statics[b + L.O_STEP] = step


@stage
def warm_start_obstacles(motion, word, statics, mine):
    """Begin with the impulses at noted obstacles."""
    while word != 0:
        normal, one = read_obstacle(statics, obstacle_place(mine, lowest(word)))
        motion = warm_start(motion, normal, one, NO_POINT)
        word = i32(word & (word - i32(1)))
    return motion


@stage
def solve_obstacles(motion, word, statics, mine):
    """Solve a robot's contacts with noted obstacles, one after the other."""
    while word != 0:
        b = obstacle_place(mine, lowest(word))
        word = i32(word & (word - i32(1)))
        normal, one = read_obstacle(statics, b)
        vx, vy, spin, one, _ = solve_corners(motion, normal, one, NO_POINT)
        motion = vx, vy, spin
        statics[b + L.O_NORMAL_IMPULSE] = one[1]
        statics[b + L.O_TANGENT_IMPULSE] = one[2]
    return motion
