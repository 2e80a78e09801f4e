"""Pairs on the GPU: which robots may see, touch or hear each other, and which touch.

Lists lie in the warp's part of shared memory; a pair's code is its two lanes, 5 bits each, and
above them where its impulses are kept.
"""

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import cuda, device, stage
from qed.swarm.cuda.outline import FACE_COUNT, beyond
from qed.swarm.cuda.warp import at, ballot, count, rolled, together
from qed.swarm.laws import bodies
from qed.swarm.robot import ROBOT

first_face = device(bodies.first_face)

TWO_OUTER = f32(2.0 * ROBOT.outer_radius)
TWO_OUTER_SQUARED = f32((2.0 * ROBOT.outer_radius) ** 2)
OUTER = f32(ROBOT.outer_radius)
ZERO = f32(0.0)
HALF_OF_FACES = (FACE_COUNT + 1) // 2


@stage
def list_pairs(warp, robot, robots, active, far2, listed):
    """List the warp's pairs that are not far apart; return how many there are.

    Robot i meets robot i + k of its trial; each pair is met once.
    """
    sf, si, base, lane, me, before = warp
    number = i32(0)
    x = sf[L.X + me]
    y = sf[L.Y + me]
    sf[L.LISTED_X + me] = x
    sf[L.LISTED_Y + me] = y
    half = i32(robots >> i32(1))
    even = i32(robots - half)  # with an even number, halfway round each pair would be met twice
    other = i32(lane)
    last = i32(lane - robot + robots)
    code = i32(lane | (lane << i32(10)))
    k = i32(1)
    while k <= half:
        k = rolled(k)
        other = i32(other + i32(1))
        if other == last:
            other = i32(other - robots)
        square = f32(1e9)
        if active and (k < even or robot < k):
            dx = sf[L.X + at(base + other)] - x
            dy = sf[L.Y + at(base + other)] - y
            square = dx * dx + dy * dy
        word = ballot(warp, square < far2)
        if square < far2:
            si[at(listed + number + count(word & before))] = code | (other << i32(5))
        number = i32(number + count(word))
        code = i32(code + i32(L.LANES << 10))
        k = i32(k + i32(1))
    together()
    return number


@stage
def has_come_far(sf, me, x, y, way2):
    """Return whether a robot has moved so far (m2) since pairs were listed."""
    dx = x - sf[L.LISTED_X + me]
    dy = y - sf[L.LISTED_Y + me]
    return dx * dx + dy * dy > way2


@stage
def square_apart(sf, base, code):
    """Return the squared distance of a listed pair (m2)."""
    i = at(base + (code & i32(31)))
    k = at(base + ((code >> i32(5)) & i32(31)))
    dx = sf[L.X + k] - sf[L.X + i]
    dy = sf[L.Y + k] - sf[L.Y + i]
    return dx * dx + dy * dy


@stage
def sort_out(warp, number, listed, near2, rab2, near_list, heard_list):
    """List the near pairs, and those within hearing, of those listed; return how many there are."""
    sf, si, base, lane, _, before = warp
    near = i32(0)
    hear = i32(0)
    start = i32(0)
    while start < number:
        square = f32(1e9)
        code = i32(0)
        if start + lane < number:
            code = si[at(listed + start + lane)]
            square = square_apart(sf, base, code)
        word = ballot(warp, square < near2)
        if square < near2:
            si[at(near_list + near + count(word & before))] = code
        near = i32(near + count(word))
        word = ballot(warp, square < rab2)
        if square < rab2:
            si[at(heard_list + hear + count(word & before))] = code
        hear = i32(hear + count(word))
        start = i32(start + i32(L.LANES))
    return near, hear


@stage
def contact_place(contacts, number):
    """Return where a contact lies: rows of 32 of them."""
    row = number >> i32(5)
    return at(contacts + row * i32(L.CONTACT_FIELDS * L.LANES) + (number & i32(31)))


@stage
def close_pairs(warp, near, listed, reach):
    """Keep only the pairs of a list within reach (m), mark their robots; return their number."""
    sf, si, base, lane, _, before = warp
    close = i32(0)
    start = i32(0)
    while start < near:
        within = False
        code = i32(0)
        if start + lane < near:
            code = si[at(listed + start + lane)]
            within = square_apart(sf, base, code) < reach * reach
        word = ballot(warp, within)
        if within:
            si[at(listed + close + count(word & before))] = code
            si[L.PARTNERS + at(base + (code & i32(31)))] = 1
            si[L.PARTNERS + at(base + ((code >> i32(5)) & i32(31)))] = 1
        close = i32(close + count(word))
        start = i32(start + i32(L.LANES))
    return close


@stage
def touching_pairs(warp, pairs, listed, memory):
    """List the pairs that touch in a sub-step, with their normals; return their number.

    Four lanes look at a pair, each at half of the faces of one body.
    """
    sf, si, base, lane, me, before = warp
    kept, table, _ = memory
    second = (lane & i32(2)) != 0
    first = i32(HALF_OF_FACES) if (lane & i32(1)) != 0 else i32(0)
    stop = i32(FACE_COUNT) if (lane & i32(1)) != 0 else i32(HALF_OF_FACES)
    contacts = i32(0)
    # Here wait the pairs whose circumscribed discs overlap, until eight of them are looked at.
    queue = i32(base + i32(L.QUEUE))
    waiting = i32(0)
    start = i32(0)
    while start < pairs or waiting > 0:
        if start < pairs and waiting < i32(8):
            code = si[at(listed + start + lane)] if start + lane < pairs else i32(0)
            close = start + lane < pairs and square_apart(sf, base, code) < TWO_OUTER_SQUARED
            word = ballot(warp, close)
            if close:
                si[at(queue + waiting + count(word & before))] = code
            waiting = i32(waiting + count(word))
            start = i32(start + i32(L.LANES))
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
            dx = sf[L.X + two] - sf[L.X + one]
            dy = sf[L.Y + two] - sf[L.Y + one]
            gap, nx, ny = beyond(
                dx,
                dy,
                sf[L.COS + one],
                sf[L.SIN + one],
                sf[L.COS + two],
                sf[L.SIN + two],
                first,
                stop,
            )
            sf[L.INPUTS + me] = gap
            sf[L.INPUTS + L.LANES + me] = nx
            sf[L.INPUTS + 2 * L.LANES + me] = ny
            together()
            touching = False
            its = True
            if taken and (lane & i32(3)) == 0:
                gap, winner = sf[L.INPUTS + me], i32(me)
                gap, winner = better(sf, gap, winner, i32(me) + i32(1))
                other, other_winner = sf[L.INPUTS + me + 2], i32(me) + i32(2)
                other, other_winner = better(sf, other, other_winner, i32(me) + i32(3))
                its = first_face(gap, other, dx, dy)
                touching = max(gap, other) < ZERO
                winner = at(winner if its else other_winner)
                nx = sf[L.INPUTS + L.LANES + winner]
                ny = sf[L.INPUTS + 2 * L.LANES + winner]
                nx = nx if its else -nx
                ny = ny if its else -ny
            word = ballot(warp, touching)
            if touching:
                place = i32(contacts + count(word & before))
                cuda.atomic.add(si, L.PARTNERS + i, 1)
                cuda.atomic.add(si, L.PARTNERS + k, 1)
                # The pair's number is small enough for a float; its sign is for whose face it is.
                signed = f32(code + i32(1))
                signed = signed if its else -signed
                if place < i32(L.LANES):
                    here = L.CONTACTS + at(base + place)
                    sf[here] = signed
                    sf[here + L.LANES] = nx
                    sf[here + 2 * L.LANES] = ny
                else:
                    here = contact_place(table, place)
                    kept[here + L.C_CODE] = signed
                    kept[here + L.C_NX] = nx
                    kept[here + L.C_NY] = ny
            contacts = i32(contacts + count(word))
            together()
    return contacts


@stage
def better(sf, gap, winner, other):
    """Return the larger of a gap and that of another lane, the first of equals, and whose it is."""
    its = sf[L.INPUTS + at(other)]
    return (its, other) if its > gap else (gap, winner)
