"""Contacts with robots and walls on the GPU: pairs in a list of the warp, walls in a lane.

In the CPU's order of events: drives, all pairs at once, obstacles, walls; eight times.
"""

from __future__ import annotations

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda.constants import FACE_COUNT, face
from qed.swarm.cuda.device import cuda, device, stage
from qed.swarm.cuda.layout import (
    C_ARM,
    C_CODE,
    C_NX,
    C_NY,
    C_PRESS,
    C_RUB,
    C_SHARE,
    C_SPEED,
    CONTACT_FIELDS,
    COS,
    INPUTS,
    KEPT,
    LANES,
    PARTNERS,
    SIN,
    SUM_X,
    SUM_Y,
    TURN,
    VX,
    VY,
    X,
    Y,
)
from qed.swarm.cuda.pairs import square_apart
from qed.swarm.cuda.warp import at, ballot, count, rolled, together
from qed.swarm.laws import contact as laws
from qed.swarm.laws import geometry
from qed.swarm.laws.contact import FRICTION, FROM_FIXED, WALL_FRICTION
from qed.swarm.laws.geometry import FAR
from qed.swarm.robot import BODY_OUTER_RADIUS

approach = device(laws.approach)
drive = device(laws.drive)
fixed = device(laws.fixed)
nearer_wall = device(laws.nearer_wall)
pair_share = device(laws.pair_share)
press = device(laws.press)
rub = device(laws.rub)
wall_approach = device(laws.wall_approach)
farther = device(geometry.farther)
farther_face = device(geometry.farther_face)
support = device(geometry.support)

TWO_OUTER = f32(2.0 * BODY_OUTER_RADIUS)
OUTER = f32(BODY_OUTER_RADIUS)
ZERO = f32(0.0)
ONE = f32(1.0)
NO_LIMIT = f32(1e9)  # on the speed towards a wall that is out of reach
NO_WALL = (ONE, NO_LIMIT, ZERO, ZERO, ZERO)  # sign, speed, arm, impulses


@stage
def over_place(over, start, lane):
    """Return where a lane's contact beyond the first 32 lies."""
    return at(over + (start >> i32(5)) * i32(CONTACT_FIELDS * LANES) + lane)


@stage
def put(table, place, found):
    """Write a contact."""
    table[place + C_CODE * LANES] = found[C_CODE]
    table[place + C_NX * LANES] = found[C_NX]
    table[place + C_NY * LANES] = found[C_NY]
    table[place + C_ARM * LANES] = found[C_ARM]
    table[place + C_SPEED * LANES] = found[C_SPEED]
    table[place + C_SHARE * LANES] = found[C_SHARE]
    table[place + C_PRESS * LANES] = found[C_PRESS]
    table[place + C_RUB * LANES] = found[C_RUB]


@stage
def get(table, place):
    """Read a contact."""
    return (
        table[place + C_CODE * LANES],
        table[place + C_NX * LANES],
        table[place + C_NY * LANES],
        table[place + C_ARM * LANES],
        table[place + C_SPEED * LANES],
        table[place + C_SHARE * LANES],
        table[place + C_PRESS * LANES],
        table[place + C_RUB * LANES],
    )


@stage
def close_pairs(sf, si, base, lane, before, near, listed, reach):
    """Keep only the pairs within reach (m) of a list; return their number."""
    close = i32(0)
    start = i32(0)
    while start < near:
        within = False
        code = i32(0)
        if start + lane < near:
            code = si[at(listed + start + lane)]
            within = square_apart(sf, base, code) < reach * reach
        word = ballot(si, base, lane, within)
        if within:
            si[at(listed + close + count(word & before))] = code
        close = i32(close + count(word))
        start = i32(start + i32(LANES))
    return close


@stage
def beyond(dx, dy, c, s, other_c, other_s):
    """Return how far a body that is (dx, dy) away is beyond the faces of this one (m)."""
    turn_c = c * other_c + s * other_s
    turn_s = c * other_s - s * other_c
    x = c * dx + s * dy
    y = c * dy - s * dx
    gap = -FAR
    nx = ZERO
    ny = ZERO
    f = i32(0)
    while f < i32(FACE_COUNT):
        f = rolled(f)
        face_x, face_y, offset = face(f)
        gap, nx, ny = farther_face(gap, nx, ny, face_x, face_y, offset, x, y, turn_c, turn_s)
        f = i32(f + i32(1))
    return gap, c * nx - s * ny, s * nx + c * ny


@stage
def touching_pairs(
    sf, si, base, lane, before, near, listed, work, margin, kept, mine, over, cycle
):  # fmt: skip
    """List the near pairs that may touch, with the impulses they had; return their number.

    Two lanes look at a pair, each at the faces of one body.
    """
    me = at(base + lane)
    second = (lane & i32(1)) != 0
    contacts = i32(0)
    tasks = close_pairs(sf, si, base, lane, before, near, listed, TWO_OUTER + margin)
    tasks = i32(tasks + tasks)
    together()
    start = i32(0)
    while start < tasks:
        task = i32(start + lane)
        code = si[at(listed + (task >> i32(1)))] if task < tasks else i32(0)
        i = at(base + (code & i32(31)))
        k = at(base + ((code >> i32(5)) & i32(31)))
        one = k if second else i
        two = i if second else k
        dx = sf[X + two] - sf[X + one]
        dy = sf[Y + two] - sf[Y + one]
        gap, nx, ny = beyond(dx, dy, sf[COS + one], sf[SIN + one], sf[COS + two], sf[SIN + two])
        # The sensors' rows are free until robots look again.
        sf[INPUTS + me] = gap
        sf[INPUTS + LANES + me] = -nx
        sf[INPUTS + 2 * LANES + me] = -ny
        together()
        touching = False
        if task < tasks and not second:
            its = me + 1
            gap, nx, ny = farther(
                gap,
                nx,
                ny,
                sf[INPUTS + its],
                sf[INPUTS + LANES + its],
                sf[INPUTS + 2 * LANES + its],
            )
            touching = gap < margin
        word = ballot(si, base, lane, touching)
        if touching:
            arm = f32(0.5) * (nx * dx + ny * dy)
            place = i32(contacts + count(word & before))
            pair = at(mine + i32(KEPT) * (code >> i32(10)))
            fresh = kept[pair + 2] != f32(cycle - i32(1))
            pressed = ZERO if fresh else kept[pair]
            rubbed = ZERO if fresh else kept[pair + 1]
            cuda.atomic.add(si, PARTNERS + i, 1)
            cuda.atomic.add(si, PARTNERS + k, 1)
            found = (f32(code), nx, ny, arm, approach(gap), ZERO, pressed, rubbed)
            if place < i32(LANES):
                put(sf, at(work + place), found)
            else:
                put(kept, over_place(over, place - (place & i32(31)), place & i32(31)), found)
        contacts = i32(contacts + count(word))
        start = i32(start + i32(LANES))
        together()
    return contacts


@stage
def give(si, i, k, fx, fy):
    """Add a pair's impulse to its two robots, in whole numbers, so that no order matters."""
    wx = fixed(fx)
    wy = fixed(fy)
    cuda.atomic.add(si, SUM_X + i, -wx)
    cuda.atomic.add(si, SUM_Y + i, -wy)
    cuda.atomic.add(si, SUM_X + k, wx)
    cuda.atomic.add(si, SUM_Y + k, wy)


@stage
def take(si, me, vx, vy):
    """Change a robot's velocity by the impulses that were added up."""
    vx += f32(si[SUM_X + me]) * FROM_FIXED
    vy += f32(si[SUM_Y + me]) * FROM_FIXED
    si[SUM_X + me] = 0
    si[SUM_Y + me] = 0
    return vx, vy


@stage
def warm(si, base, found):
    """Begin with a pair's impulses of the last cycle; return the contact with its share."""
    code = i32(found[C_CODE])
    i = at(base + (code & i32(31)))
    k = at(base + ((code >> i32(5)) & i32(31)))
    share = pair_share(si[PARTNERS + i], si[PARTNERS + k])
    nx, ny, pressed, rubbed = found[C_NX], found[C_NY], found[C_PRESS], found[C_RUB]
    give(si, i, k, pressed * nx - rubbed * ny, pressed * ny + rubbed * nx)
    return found[0], nx, ny, found[3], found[4], share, pressed, rubbed


@stage
def push(sf, si, base, found):
    """Correct a pair from the velocities before the sweep; return the contact."""
    code = i32(found[C_CODE])
    i = at(base + (code & i32(31)))
    k = at(base + ((code >> i32(5)) & i32(31)))
    ux = sf[VX + i] - sf[VX + k]
    uy = sf[VY + i] - sf[VY + k]
    turn = sf[TURN + i] + sf[TURN + k]
    nx = found[C_NX]
    ny = found[C_NY]
    share = found[C_SHARE]
    old_press = found[C_PRESS]
    old_rub = found[C_RUB]
    new_press = press(old_press, share, (ux * nx + uy * ny) - found[C_SPEED])
    sliding = (uy * nx - ux * ny) + found[C_ARM] * turn
    new_rub = rub(old_rub, share, sliding, FRICTION * new_press)
    dp = new_press - old_press
    dr = new_rub - old_rub
    give(si, i, k, dp * nx - dr * ny, dp * ny + dr * nx)
    return found[0], nx, ny, found[3], found[4], share, new_press, new_rub


@stage
def keep(kept, pairs, found, cycle):
    """Keep a pair's impulses for the next cycle."""
    pair = at(pairs + i32(KEPT) * (i32(found[C_CODE]) >> i32(10)))
    kept[pair] = found[C_PRESS]
    kept[pair + 1] = found[C_RUB]
    kept[pair + 2] = f32(cycle)


@stage
def warm_more(si, base, lane, contacts, kept, over):
    """Warm the contacts beyond the first 32."""
    start = i32(LANES)
    while start < contacts:
        if start + lane < contacts:
            place = over_place(over, start, lane)
            put(kept, place, warm(si, base, get(kept, place)))
        start = i32(start + i32(LANES))


@stage
def push_more(sf, si, base, lane, contacts, kept, over):
    """Correct the pairs beyond the first 32."""
    start = i32(LANES)
    while start < contacts:
        if start + lane < contacts:
            place = over_place(over, start, lane)
            put(kept, place, push(sf, si, base, get(kept, place)))
        start = i32(start + i32(LANES))


@stage
def keep_more(lane, contacts, kept, over, pairs, cycle):
    """Keep the impulses of the pairs beyond the first 32."""
    start = i32(LANES)
    while start < contacts:
        if start + lane < contacts:
            keep(kept, pairs, get(kept, over_place(over, start, lane)), cycle)
        start = i32(start + i32(LANES))


@stage
def wall(at_, side, margin, sign_x, sign_y, c, s, kept_press, kept_rub):
    """Return what the nearer wall on an axis allows: sign, speed, arm, impulses kept.

    ``sign_x`` and ``sign_y`` tell the axis: one of them is 1, the other 0.
    """
    sign, room = nearer_wall(at_, side)
    arm = support(sign * sign_x, sign * sign_y, c, s)
    gap = room - arm
    within = gap < margin
    speed = wall_approach(gap, margin)
    return sign, speed, arm, kept_press if within else ZERO, kept_rub if within else ZERO


@stage
def push_walls(vx, vy, turn, wx, wy):
    """Correct a robot at its nearer wall on each axis, x first."""
    sign, speed, arm, old_press, old_rub = wx
    pressed = press(old_press, ONE, sign * vx - speed)
    rubbed = rub(old_rub, ONE, sign * vy + arm * turn, WALL_FRICTION * pressed)
    vx -= sign * (pressed - old_press)
    vy -= sign * (rubbed - old_rub)
    wx = (sign, speed, arm, pressed, rubbed)
    sign, speed, arm, old_press, old_rub = wy
    pressed = press(old_press, ONE, sign * vy - speed)
    rubbed = rub(old_rub, ONE, arm * turn - sign * vx, WALL_FRICTION * pressed)
    vx += sign * (rubbed - old_rub)
    vy -= sign * (pressed - old_press)
    wy = (sign, speed, arm, pressed, rubbed)
    return vx, vy, wx, wy
