"""Contacts between robots on the GPU: pairs that touch, in a list of the warp."""

from __future__ import annotations

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda.constants import FACE_COUNT, face
from qed.swarm.cuda.device import cuda, device, stage
from qed.swarm.cuda.layout import (
    C_CODE,
    C_COUPLING,
    C_NX,
    C_NY,
    C_ONE,
    C_PRESS,
    C_RUB,
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
from qed.swarm.cuda.warp import at, ballot, count, rolled, together
from qed.swarm.laws import contact as laws
from qed.swarm.laws import geometry
from qed.swarm.laws.contact import FROM_FIXED
from qed.swarm.laws.geometry import FAR
from qed.swarm.robot import BODY_OUTER_RADIUS

coupling = device(laws.coupling)
fixed = device(laws.fixed)
pair_share = device(laws.pair_share)
patience = device(laws.patience)
push_law = device(laws.push)
spinning = device(laws.spinning)
ahead = device(geometry.ahead)
between_ends = device(geometry.between_ends)
first_face = device(geometry.first_face)
face_to_face = device(geometry.face_to_face)
farther_face = device(geometry.farther_face)
two_farthest_corners = device(geometry.two_farthest_corners)

TWO_OUTER = f32(2.0 * BODY_OUTER_RADIUS)
TWO_OUTER_SQUARED = f32((2.0 * BODY_OUTER_RADIUS) ** 2)
OUTER = f32(BODY_OUTER_RADIUS)
ZERO = f32(0.0)
NO_POINT = (ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)
NO_CONTACT = (i32(0), (ZERO, ZERO), (ZERO, ZERO, ZERO, ZERO), NO_POINT, NO_POINT)
HALF_OF_FACES = (FACE_COUNT + 1) // 2


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
def beyond(dx, dy, c, s, other_c, other_s, first, stop):
    """Return how far a body that is (dx, dy) away is beyond some faces of this one (m)."""
    turn_c = c * other_c + s * other_s
    turn_s = c * other_s - s * other_c
    x = c * dx + s * dy
    y = c * dy - s * dx
    gap = -FAR
    nx = ZERO
    ny = ZERO
    f = i32(first)
    while f < stop:
        f = rolled(f)
        face_x, face_y, offset = face(f)
        gap, nx, ny = farther_face(gap, nx, ny, face_x, face_y, offset, x, y, turn_c, turn_s)
        f = i32(f + i32(1))
    return gap, c * nx - s * ny, s * nx + c * ny


@stage
def touching_pairs(sf, si, base, lane, before, pairs, listed, kept, table):
    """List the pairs that touch in a sub-step, with their normals; return their number.

    Four lanes look at a pair, each at half of the faces of one body.
    """
    me = at(base + lane)
    second = (lane & i32(2)) != 0
    first = i32(HALF_OF_FACES) if (lane & i32(1)) != 0 else i32(0)
    stop = i32(FACE_COUNT) if (lane & i32(1)) != 0 else i32(HALF_OF_FACES)
    contacts = i32(0)
    # The sensors' rows are free until robots look again: there wait the pairs whose circumscribed
    # discs overlap, until eight of them are looked at.
    queue = i32(base + i32(INPUTS + 3 * LANES))
    waiting = i32(0)
    start = i32(0)
    while start < pairs or waiting > 0:
        if start < pairs and waiting < i32(8):
            code = si[at(listed + start + lane)] if start + lane < pairs else i32(0)
            close = start + lane < pairs and square_apart(sf, base, code) < TWO_OUTER_SQUARED
            word = ballot(si, base, lane, close)
            if close:
                si[at(queue + waiting + count(word & before))] = code
            waiting = i32(waiting + count(word))
            start = i32(start + i32(LANES))
            together()
        else:
            some = min(waiting, i32(8))
            waiting = i32(waiting - some)
            taken = (lane >> i32(2)) < some
            code = si[at(queue + waiting + (lane >> i32(2)))] if taken else i32(0)
            i = at(base + (code & i32(31)))
            k = at(base + ((code >> i32(5)) & i32(31)))
            one = k if second else i
            two = i if second else k
            dx = sf[X + two] - sf[X + one]
            dy = sf[Y + two] - sf[Y + one]
            gap, nx, ny = beyond(
                dx, dy, sf[COS + one], sf[SIN + one], sf[COS + two], sf[SIN + two], first, stop
            )
            sf[INPUTS + me] = gap
            sf[INPUTS + LANES + me] = nx
            sf[INPUTS + 2 * LANES + me] = ny
            together()
            touching = False
            its = True
            if taken and (lane & i32(3)) == 0:
                gap, winner = sf[INPUTS + me], i32(me)
                gap, winner = better(sf, gap, winner, i32(me) + i32(1))
                other, other_winner = sf[INPUTS + me + 2], i32(me) + i32(2)
                other, other_winner = better(sf, other, other_winner, i32(me) + i32(3))
                its = first_face(gap, other, dx, dy)
                touching = max(gap, other) < ZERO
                winner = at(winner if its else other_winner)
                nx = sf[INPUTS + LANES + winner]
                ny = sf[INPUTS + 2 * LANES + winner]
                nx = nx if its else -nx
                ny = ny if its else -ny
            word = ballot(si, base, lane, touching)
            if touching:
                place = i32(contacts + count(word & before))
                cuda.atomic.add(si, PARTNERS + i, 1)
                cuda.atomic.add(si, PARTNERS + k, 1)
                # The pair's number is small enough for a float; its sign tells whose face it is.
                told = f32(code + i32(1))
                told = told if its else -told
                here = contact_place(table, place)
                kept[here + C_CODE * LANES] = told
                kept[here + C_NX * LANES] = nx
                kept[here + C_NY * LANES] = ny
            contacts = i32(contacts + count(word))
            together()
    return contacts


@stage
def better(sf, gap, winner, other):
    """Return the larger of a gap and that of another lane, the first of equals, and whose it is."""
    its = sf[INPUTS + at(other)]
    return (its, other) if its > gap else (gap, winner)


@stage
def find_points(table, place, sf, si, base, mine, step):
    """Return a contact: its robots, its normal, and all that pushing at its two points needs.

    The impulses that it kept from the last sub-step begin to act.
    """
    told = table[place + C_CODE * LANES]
    first = told > ZERO
    code = i32(abs(told)) - i32(1)
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
    old = table[pair + 4] == step - f32(1.0)
    spins = (sf[TURN + i], sf[TURN + k])
    here = (points[0], points[1], points[2], points[3])
    there = (points[5], points[6], points[7], points[8])
    one = put_point(spins, here, points[4] < ZERO, part, old, table[pair], table[pair + 1])
    two = put_point(spins, there, points[9] < ZERO, part, old, table[pair + 2], table[pair + 3])
    pressed = one[4] + two[4]
    rubbed = one[5] + two[5]
    give(si, i, k, pressed * nx - rubbed * ny, pressed * ny + rubbed * nx)
    return code, (nx, ny), coupling(*here, *there), one, two


@stage
def put_point(spins, levers, touches, part, old, press, rub):
    """Return how a point moves as robots spin, what part of it is corrected, and its impulses."""
    arm_i, lever_i, arm_k, lever_k = levers
    closing, sliding = spinning(*spins, arm_i, lever_i, arm_k, lever_k)
    part = part if touches else ZERO
    kept = touches and old
    return (
        closing,
        sliding,
        pair_share(lever_i, lever_k) * part,
        pair_share(arm_i, arm_k) * part,
        press if kept else ZERO,
        rub if kept else ZERO,
    )


@stage
def write(table, place, contact):
    """Write a contact to its place."""
    code, normal, coupled, one, two = contact
    table[place + C_CODE * LANES] = f32(code)
    table[place + C_NX * LANES] = normal[0]
    table[place + C_NY * LANES] = normal[1]
    for n in range(4):
        table[place + (C_COUPLING + n) * LANES] = coupled[n]
    for n in range(6):
        table[place + (C_ONE + n) * LANES] = one[n]
        table[place + (C_TWO + n) * LANES] = two[n]


@stage
def read(table, place):
    """Return a contact from its place."""
    joint = at(place + C_COUPLING * LANES)
    return (
        i32(table[place + C_CODE * LANES]),
        (table[place + C_NX * LANES], table[place + C_NY * LANES]),
        (table[joint], table[joint + LANES], table[joint + 2 * LANES], table[joint + 3 * LANES]),
        read_point(table, at(place + C_ONE * LANES)),
        read_point(table, at(place + C_TWO * LANES)),
    )


@stage
def read_point(table, place):
    """Return a point of a contact from its place."""
    return (
        table[place],
        table[place + LANES],
        table[place + 2 * LANES],
        table[place + 3 * LANES],
        table[place + 4 * LANES],
        table[place + 5 * LANES],
    )


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
def push_at(point, closing, sliding):
    """Let two robots push each other at a point; return it, and the change of its impulses."""
    turn_closing, turn_sliding, normal_share, tangent_share, press, rub = point
    pressed, rubbed = push_law(
        closing + turn_closing, sliding + turn_sliding, press, rub, normal_share, tangent_share
    )
    point = (turn_closing, turn_sliding, normal_share, tangent_share, pressed, rubbed)
    return point, pressed - press, rubbed - rub


@stage
def push(contact, sf, si, base):
    """Correct a pair from the velocities before the iteration; return its contact."""
    code, (nx, ny), coupled, one, two = contact
    press_stops, rub_stops, press_slows, rub_slows = coupled
    i = at(base + (code & i32(31)))
    k = at(base + ((code >> i32(5)) & i32(31)))
    ux = sf[VX + i] - sf[VX + k]
    uy = sf[VY + i] - sf[VY + k]
    un = ux * nx + uy * ny
    ut = uy * nx - ux * ny
    one, dp, dr = push_at(one, un, ut)
    un -= press_stops * dp + rub_stops * dr
    ut -= press_slows * dp + rub_slows * dr
    two, more, farther = push_at(two, un, ut)
    dp += more
    dr += farther
    give(si, i, k, dp * nx - dr * ny, dp * ny + dr * nx)
    return code, (nx, ny), coupled, one, two


@stage
def keep(table, pairs, contact, step):
    """Keep a pair's impulses for the next sub-step."""
    code, _, _, one, two = contact
    pair = at(pairs + i32(KEPT) * (code >> i32(10)))
    table[pair] = one[4]
    table[pair + 1] = one[5]
    table[pair + 2] = two[4]
    table[pair + 3] = two[5]
    table[pair + 4] = step


@stage
def find_all(sf, si, base, lane, contacts, kept, table, pairs, step):
    """Complete all contacts, 32 at a time; return the lane's first, the others are written."""
    mine = NO_CONTACT
    start = i32(lane)
    while start < contacts:
        place = contact_place(table, start)
        found = find_points(kept, place, sf, si, base, pairs, step)
        if start < i32(LANES):
            mine = found
        else:
            write(kept, place, found)
        start = i32(start + i32(LANES))
    return mine


@stage
def push_all(sf, si, base, lane, contacts, kept, table, mine):
    """Correct all pairs, 32 at a time; return the lane's first."""
    if lane < contacts:
        mine = push(mine, sf, si, base)
    start = i32(lane + i32(LANES))
    while start < contacts:
        place = contact_place(table, start)
        found = push(read(kept, place), sf, si, base)
        kept[place + (C_ONE + C_PRESS) * LANES] = found[3][4]
        kept[place + (C_ONE + C_RUB) * LANES] = found[3][5]
        kept[place + (C_TWO + C_PRESS) * LANES] = found[4][4]
        kept[place + (C_TWO + C_RUB) * LANES] = found[4][5]
        start = i32(start + i32(LANES))
    return mine


@stage
def keep_all(lane, contacts, kept, table, pairs, step, mine):
    """Keep the impulses of all pairs."""
    if lane < contacts:
        keep(kept, pairs, mine, step)
    start = i32(lane + i32(LANES))
    while start < contacts:
        keep(kept, pairs, read(kept, contact_place(table, start)), step)
        start = i32(start + i32(LANES))
