"""Contacts between robots on the GPU: pairs that touch, in a list of the warp."""

from __future__ import annotations

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda.constants import FACE_COUNT, face
from qed.swarm.cuda.device import cuda, device, stage
from qed.swarm.cuda.layout import (
    C_ARM_I,
    C_ARM_K,
    C_CODE,
    C_LEVER_I,
    C_LEVER_K,
    C_NORMAL_SHARE,
    C_NX,
    C_NY,
    C_ONE,
    C_PRESS,
    C_RUB,
    C_TANGENT_SHARE,
    C_TWO,
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
from qed.swarm.cuda.walls import two_farthest_corners
from qed.swarm.cuda.warp import at, ballot, count, rolled, together
from qed.swarm.laws import contact as laws
from qed.swarm.laws import geometry
from qed.swarm.laws.contact import FROM_FIXED
from qed.swarm.laws.geometry import FAR
from qed.swarm.robot import BODY_OUTER_RADIUS

fixed = device(laws.fixed)
pair_share = device(laws.pair_share)
patience = device(laws.patience)
push_law = device(laws.push)
ahead = device(geometry.ahead)
between_ends = device(geometry.between_ends)
first_face = device(geometry.first_face)
face_to_face = device(geometry.face_to_face)
farther_face = device(geometry.farther_face)

TWO_OUTER = f32(2.0 * BODY_OUTER_RADIUS)
TWO_OUTER_SQUARED = f32((2.0 * BODY_OUTER_RADIUS) ** 2)
OUTER = f32(BODY_OUTER_RADIUS)
ZERO = f32(0.0)


@stage
def contact_place(contacts, number):
    """Return where a contact lies: rows of 32 of them."""
    row = number >> i32(5)
    return at(contacts + row * i32(CONTACT_FIELDS * LANES) + (number & i32(31)))


@stage
def close_pairs(sf, si, base, lane, before, near, listed, reach):
    """Keep only the pairs of a list within reach (m), mark their robots; return their number."""
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
            si[PARTNERS + at(base + (code & i32(31)))] = 1
            si[PARTNERS + at(base + ((code >> i32(5)) & i32(31)))] = 1
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
def touching_pairs(sf, si, base, lane, before, pairs, listed, kept, table):
    """List the pairs that touch in a sub-step, with their normals; return their number.

    Two lanes look at a pair, each at the faces of one body.
    """
    me = at(base + lane)
    second = (lane & i32(1)) != 0
    contacts = i32(0)
    # The sensors' rows are free until robots look again: there wait the pairs whose circumscribed
    # discs overlap, until 16 of them are looked at.
    queue = i32(base + i32(INPUTS + 3 * LANES))
    waiting = i32(0)
    start = i32(0)
    while start < pairs or waiting > 0:
        if start < pairs and waiting < i32(16):
            code = si[at(listed + start + lane)] if start + lane < pairs else i32(0)
            close = start + lane < pairs and square_apart(sf, base, code) < TWO_OUTER_SQUARED
            word = ballot(si, base, lane, close)
            if close:
                si[at(queue + waiting + count(word & before))] = code
            waiting = i32(waiting + count(word))
            start = i32(start + i32(LANES))
            together()
        else:
            some = min(waiting, i32(16))
            waiting = i32(waiting - some)
            taken = (lane >> i32(1)) < some
            code = si[at(queue + waiting + (lane >> i32(1)))] if taken else i32(0)
            i = at(base + (code & i32(31)))
            k = at(base + ((code >> i32(5)) & i32(31)))
            one = k if second else i
            two = i if second else k
            dx = sf[X + two] - sf[X + one]
            dy = sf[Y + two] - sf[Y + one]
            gap, nx, ny = beyond(dx, dy, sf[COS + one], sf[SIN + one], sf[COS + two], sf[SIN + two])
            sf[INPUTS + me] = gap
            sf[INPUTS + LANES + me] = -nx
            sf[INPUTS + 2 * LANES + me] = -ny
            together()
            touching = False
            first = True
            if taken and not second:
                its = me + 1
                first = first_face(gap, sf[INPUTS + its], dx, dy)
                touching = max(gap, sf[INPUTS + its]) < ZERO
                nx = nx if first else sf[INPUTS + LANES + its]
                ny = ny if first else sf[INPUTS + 2 * LANES + its]
            word = ballot(si, base, lane, touching)
            if touching:
                place = i32(contacts + count(word & before))
                cuda.atomic.add(si, PARTNERS + i, 1)
                cuda.atomic.add(si, PARTNERS + k, 1)
                # The pair's number is small enough for a float; its sign tells whose face it is.
                told = f32(code + i32(1))
                told = told if first else -told
                here = contact_place(table, place)
                kept[here + C_CODE * LANES] = told
                kept[here + C_NX * LANES] = nx
                kept[here + C_NY * LANES] = ny
            contacts = i32(contacts + count(word))
            together()
    return contacts


@stage
def find_points(table, place, sf, si, base, mine, step):
    """Complete a contact: its two points, their shares, the impulses of the last sub-step.

    The impulses begin to act.
    """
    told = table[place + C_CODE * LANES]
    first = told > ZERO
    code = i32(abs(told)) - i32(1)
    table[place + C_CODE * LANES] = f32(code)
    i = at(base + (code & i32(31)))
    k = at(base + ((code >> i32(5)) & i32(31)))
    nx = table[place + C_NX * LANES]
    ny = table[place + C_NY * LANES]
    dx = sf[X + k] - sf[X + i]
    dy = sf[Y + k] - sf[Y + i]
    fx, fy, bx, by = face_to_face(sf[COS + i], sf[SIN + i], sf[COS + k], sf[SIN + k], nx, ny, first)
    points = between_ends(
        nx * dx + ny * dy,
        nx * dy - ny * dx,
        two_farthest_corners(fx, fy),
        two_farthest_corners(bx, by),
        first,
        ahead(nx, ny) == first,
    )
    part = patience(si[PARTNERS + i], si[PARTNERS + k])
    pair = at(mine + i32(KEPT) * (code >> i32(10)))
    fresh = table[pair + 4] != step - f32(1.0)
    one = at(place + C_ONE * LANES)
    two = at(place + C_TWO * LANES)
    idle1 = fresh or not points[4] < ZERO
    idle2 = fresh or not points[9] < ZERO
    press1 = ZERO if idle1 else table[pair]
    rub1 = ZERO if idle1 else table[pair + 1]
    press2 = ZERO if idle2 else table[pair + 2]
    rub2 = ZERO if idle2 else table[pair + 3]
    put_point(table, one, points[0], points[1], points[2], points[3], points[4] < ZERO, part)
    put_point(table, two, points[5], points[6], points[7], points[8], points[9] < ZERO, part)
    table[one + C_PRESS * LANES] = press1
    table[one + C_RUB * LANES] = rub1
    table[two + C_PRESS * LANES] = press2
    table[two + C_RUB * LANES] = rub2
    pressed = press1 + press2
    rubbed = rub1 + rub2
    give(si, i, k, pressed * nx - rubbed * ny, pressed * ny + rubbed * nx)


@stage
def put_point(table, place, arm_i, lever_i, arm_k, lever_k, touches, part):
    """Write where two robots touch, and what part of the speed there is corrected at once."""
    table[place + C_ARM_I * LANES] = arm_i
    table[place + C_LEVER_I * LANES] = lever_i
    table[place + C_ARM_K * LANES] = arm_k
    table[place + C_LEVER_K * LANES] = lever_k
    normal = pair_share(lever_i, lever_k) if touches else ZERO
    tangent = pair_share(arm_i, arm_k) if touches else ZERO
    table[place + C_NORMAL_SHARE * LANES] = normal * part
    table[place + C_TANGENT_SHARE * LANES] = tangent * part


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
def push_at(table, place, un, ut, spin_i, spin_k):
    """Let two robots push each other at one point; return their motion and the impulses' change."""
    old_press = table[place + C_PRESS * LANES]
    old_rub = table[place + C_RUB * LANES]
    un, ut, spin_i, spin_k, pressed, rubbed = push_law(
        un,
        ut,
        spin_i,
        spin_k,
        table[place + C_ARM_I * LANES],
        table[place + C_LEVER_I * LANES],
        table[place + C_ARM_K * LANES],
        table[place + C_LEVER_K * LANES],
        old_press,
        old_rub,
        table[place + C_NORMAL_SHARE * LANES],
        table[place + C_TANGENT_SHARE * LANES],
    )
    table[place + C_PRESS * LANES] = pressed
    table[place + C_RUB * LANES] = rubbed
    return un, ut, spin_i, spin_k, pressed - old_press, rubbed - old_rub


@stage
def push(table, place, sf, si, base):
    """Correct a pair from the velocities before the iteration."""
    code = i32(table[place + C_CODE * LANES])
    i = at(base + (code & i32(31)))
    k = at(base + ((code >> i32(5)) & i32(31)))
    ux = sf[VX + i] - sf[VX + k]
    uy = sf[VY + i] - sf[VY + k]
    nx = table[place + C_NX * LANES]
    ny = table[place + C_NY * LANES]
    un, ut, spin_i, spin_k, dp1, dr1 = push_at(
        table,
        at(place + C_ONE * LANES),
        ux * nx + uy * ny,
        uy * nx - ux * ny,
        sf[TURN + i],
        sf[TURN + k],
    )
    _, _, _, _, dp2, dr2 = push_at(table, at(place + C_TWO * LANES), un, ut, spin_i, spin_k)
    dp = dp1 + dp2
    dr = dr1 + dr2
    give(si, i, k, dp * nx - dr * ny, dp * ny + dr * nx)


@stage
def keep(table, place, pairs, step):
    """Keep a pair's impulses for the next sub-step."""
    pair = at(pairs + i32(KEPT) * (i32(table[place + C_CODE * LANES]) >> i32(10)))
    table[pair] = table[place + (C_ONE + C_PRESS) * LANES]
    table[pair + 1] = table[place + (C_ONE + C_RUB) * LANES]
    table[pair + 2] = table[place + (C_TWO + C_PRESS) * LANES]
    table[pair + 3] = table[place + (C_TWO + C_RUB) * LANES]
    table[pair + 4] = step


@stage
def find_all(sf, si, base, lane, contacts, kept, table, pairs, step):
    """Complete all contacts, 32 at a time."""
    start = i32(lane)
    while start < contacts:
        find_points(kept, contact_place(table, start), sf, si, base, pairs, step)
        start = i32(start + i32(LANES))


@stage
def push_all(sf, si, base, lane, contacts, kept, table):
    """Correct all pairs, 32 at a time."""
    start = i32(lane)
    while start < contacts:
        push(kept, contact_place(table, start), sf, si, base)
        start = i32(start + i32(LANES))


@stage
def keep_all(lane, contacts, kept, table, pairs, step):
    """Keep the impulses of all pairs."""
    start = i32(lane)
    while start < contacts:
        keep(kept, contact_place(table, start), pairs, step)
        start = i32(start + i32(LANES))
