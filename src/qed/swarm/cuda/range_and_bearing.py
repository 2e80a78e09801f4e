"""Range and bearing on the GPU: the pairs within hearing, 32 at a time, and who hides whom."""

import math

from numpy import float32 as f32
from numpy import int32 as i32
from numpy import uint32 as u32

from qed import chance
from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.outline import meets_body
from qed.swarm.cuda.proximity import shorten
from qed.swarm.cuda.warp import ALL, at, ballot, count, lowest, push_sign, rolled, together
from qed.swarm.laws import bodies, geometry
from qed.swarm.laws import sensing as laws
from qed.swarm.laws.geometry import NEXT_TO_NOTHING, PI
from qed.swarm.laws.sensing import CONES, RAB_PURPOSE, SENSORS
from qed.swarm.robot import OBSTACLE_RADIUS, ROBOT

draw = device(chance.draw)
high_noise = device(chance.high_noise)
low_noise = device(chance.low_noise)
cos_sin = device(geometry.cos_sin)
off_line = device(geometry.off_line)
ahead = device(bodies.ahead)
one_over = device(geometry.one_over)
cone = device(laws.cone)
heard = device(laws.heard)
misheard = device(laws.misheard)

NEARLY_OUTER = f32(1.001 * ROBOT.outer_radius)  # m, and a little for rounding
INNER = f32(ROBOT.inner_radius)
INNER2 = f32(ROBOT.inner_radius**2)
OBSTACLE2 = f32(OBSTACLE_RADIUS**2)
ONE = f32(1.0)


@stage
def clear_cones(sf, me, limit):
    """Set all cones to nobody: their range (m)."""
    for c in range(CONES):
        sf[L.RAB + c * L.LANES + me] = limit


@stage
def clear_read_cones(sf, me, limit, reads):
    """Set the cones that the robot reads to nobody; nobody is nearer than what the others hold.

    ``reads`` has a bit for each input.
    """
    for c in range(CONES):
        read = reads & u32(1 << (SENSORS + c)) != u32(0)
        sf[L.RAB + c * L.LANES + me] = limit if read else f32(0.0)


@stage
def matters(sf, m, o, cone_i, cone_k, distance):
    """Return whether one of a pair, at these places, is the nearest so far in the other's cone."""
    one = distance < sf[L.RAB + at(cone_i * i32(L.LANES)) + m]
    return one or distance < sf[L.RAB + at(cone_k * i32(L.LANES)) + o]


@stage
def scale_cones(sf, me, per_range):
    """Turn the cones' distances (m) into what the network reads."""
    for c in range(CONES):
        sf[L.RAB + c * L.LANES + me] = heard(sf[L.RAB + c * L.LANES + me], per_range)


@stage
def weaken_cones(sf, me, hears_within):
    """Let a robot with a weak radio hear nobody beyond its reach."""
    for c in range(CONES):
        if sf[L.RAB + c * L.LANES + me] > hears_within:
            sf[L.RAB + c * L.LANES + me] = ONE


@stage
def apart(sf, m, o):
    """Return the way from one robot to another (m), and its square (m2)."""
    dx = sf[L.X + o] - sf[L.X + m]
    dy = sf[L.Y + o] - sf[L.Y + m]
    return dx, dy, dx * dx + dy * dy


@stage
def hear(si, base, i, k, cone_i, cone_k, distance):
    """Let both robots of a pair hear each other."""
    shorten(si, L.RAB + at(cone_i * i32(L.LANES)) + at(base + i), distance)
    shorten(si, L.RAB + at(cone_k * i32(L.LANES)) + at(base + k), distance)


@stage
def hear_wrong(sf, si, m, key, other, dx, dy, cycle):
    """Let a robot with the ROFS fault hear another at a random offset."""
    c = sf[L.COS + m]
    s = sf[L.SIN + m]
    bits = draw(key, cycle, i32(RAB_PURPOSE) + other)
    turn_c, turn_s = cos_sin(PI * high_noise(bits))
    forward, left = misheard(c * dx + s * dy, c * dy - s * dx, low_noise(bits), turn_c, turn_s)
    place = L.RAB + at(cone(forward, left) * i32(L.LANES)) + m
    shorten(si, place, f32(math.sqrt(forward * forward + left * left)))


@stage
def hear_either(warp, who, cones, distance, radios, cycle):
    """Let both robots of a pair hear each other, each as well as it can."""
    sf, si, base, _, _, _ = warp
    i, k = who
    cone_i, cone_k = cones
    first_place, keys, faults, first_fault, some_silent = radios
    for side in range(2):
        me = i if side == 0 else k
        other = k if side == 0 else i
        m = at(base + me)
        first = si[L.FIRST + m]
        silent = f32(0.0)
        if some_silent:
            silent = faults[at(first_fault + other - first), L.F_SILENT]
        if silent != f32(0.0):
            continue
        if faults[at(first_fault + me - first), L.F_RAB_OFFSET] != f32(0.0):
            dx, dy, _ = apart(sf, m, at(base + other))
            hear_wrong(sf, si, m, keys[at(first_place + me)], other - first, dx, dy, cycle)
        else:
            which = cone_i if side == 0 else cone_k
            shorten(si, L.RAB + at(which * i32(L.LANES)) + m, distance)


@stage
def between(warp, who, first, robots, way):
    """Return a bit for each robot of the trial that may stand between a pair.

    Its centre lies in the rectangle that reaches a body's radius beyond the line on all sides.
    """
    sf, base = warp.sf, warp.base
    i, k = who
    dx, dy, square = way
    m = at(base + i)
    distance = f32(math.sqrt(square))
    wide = ONE / max(NEARLY_OUTER * distance, NEXT_TO_NOTHING)
    long = ONE / max(f32(0.5) * square + NEARLY_OUTER * distance, NEXT_TO_NOTHING)
    # Across and along the line, in units of half the rectangle's sides, from its centre.
    across_x = -dy * wide
    across_y = dx * wide
    along_x = dx * long
    along_y = dy * long
    x = sf[L.X + m] + f32(0.5) * dx
    y = sf[L.Y + m] + f32(0.5) * dy
    across = across_x * x + across_y * y
    along = along_x * x + along_y * y
    word = u32(0)
    # Two in a step; of an odd number the first is nobody.
    end = i32(base + first)
    b = i32(end + ((robots + i32(1)) & i32(-2)))
    while b > end:
        b = i32(rolled(b) - i32(2))
        o = at(b)
        for second in range(1, -1, -1):
            x = sf[L.X + second + o]
            y = sf[L.Y + second + o]
            aside = across_x * x + (across_y * y - across)
            ahead = along_x * x + (along_y * y - along)
            word = push_sign(word, max(abs(aside), abs(ahead)) - ONE)
    others = u32(u32(ALL) >> u32(i32(L.LANES) - robots))
    pair = u32(u32(u32(1) << u32(i - first)) | u32(u32(1) << u32(k - first)))
    return u32(word & others & ~pair)


@stage
def behind_obstacle(sf, x, y, dx, dy, per_square, centres, number):
    """Return whether an obstacle hides a pair."""
    hidden = False
    o = i32(0)
    while o < number:
        o = rolled(o)
        centre = at(centres + o + o)
        off = off_line(sf[centre] - x, sf[centre + 1] - y, dx, dy, per_square)
        hidden = hidden or off < OBSTACLE2
        o = i32(o + i32(1))
    return hidden


@stage
def seen_past(warp, who, first, way, bodies):
    """Return whether none of some bodies of a trial (a bit each) hides a pair.

    Who looks at whom does not depend on robots' numbers: bodies may overlap.
    """
    sf, base = warp.sf, warp.base
    i, k = who
    dx, dy, square = way
    looks = ahead(dx, dy)
    dx = dx if looks else -dx
    dy = dy if looks else -dy
    distance = f32(math.sqrt(square))
    per_square = one_over(square)
    aim_x = dx / distance
    aim_y = dy / distance
    m = at(base + (i if looks else k))
    clear = True
    while bodies != 0 and clear:
        b = at(base + first + lowest(bodies))
        bodies = u32(bodies & (bodies - u32(1)))
        c = sf[L.COS + b]
        s = sf[L.SIN + b]
        ox = sf[L.X + m] - sf[L.X + b]
        oy = sf[L.Y + m] - sf[L.Y + b]
        off = off_line(-ox, -oy, dx, dy, per_square)
        way = meets_body(
            c * ox + s * oy, c * oy - s * ox, c * aim_x + s * aim_y, c * aim_y - s * aim_x
        )
        clear = not (off < INNER2 or way < distance - INNER)
    return clear


@stage
def settle(warp, number, radios, cycle, with_rab_offset):
    """Look closely at the last pairs in doubt, one per lane; return how many are left."""
    sf, si, base, lane, _, _ = warp
    left = max(i32(number - i32(L.LANES)), i32(0))
    e = i32(left + lane)
    if e < number:
        code = si[L.DOUBTED + at(base + e)]
        doubts = u32(si[L.DOUBTS + at(base + e)])
        i = i32(code & i32(31))
        k = i32((code >> i32(5)) & i32(31))
        cone_i = i32((code >> i32(10)) & i32(7))
        cone_k = i32(code >> i32(13))
        m = at(base + i)
        o = at(base + k)
        dx, dy, square = apart(sf, m, o)
        distance = f32(math.sqrt(square))
        wins = matters(sf, m, o, cone_i, cone_k, distance)
        if with_rab_offset:
            wins = True
        if wins and seen_past(warp, (i, k), si[L.FIRST + m], (dx, dy, square), doubts):
            if with_rab_offset:
                hear_either(warp, (i, k), (cone_i, cone_k), distance, radios, cycle)
            else:
                hear(si, base, i, k, cone_i, cone_k, distance)
    together()
    return left


@stage
def listen(warp, audible, robots, live, cycle, obstacles, radios, kinds):
    """Fill the cones: from pairs that nothing hides at once, from those in doubt 32 at a time.

    ``audible`` is how many pairs within hearing are listed, and where; ``radios`` holds the faults;
    ``kinds`` whether there are obstacles, robots that mishear, and teams.
    """
    sf, si, base, lane, _, before = warp
    number, listed = audible
    with_obstacles, with_rab_offset, with_teams = kinds
    cones = live >> u32(SENSORS)
    waiting = i32(0)
    start = i32(0)
    while start < number:
        e = i32(start + lane)
        doubts = u32(0)
        pair = i32(0)
        if e < number:
            code = si[at(listed + e)]
            i = i32(code & i32(31))
            k = i32((code >> i32(5)) & i32(31))
            m = at(base + i)
            o = at(base + k)
            dx, dy, square = apart(sf, m, o)
            c = sf[L.COS + m]
            s = sf[L.SIN + m]
            cone_i = cone(c * dx + s * dy, c * dy - s * dx)
            c = sf[L.COS + o]
            s = sf[L.SIN + o]
            cone_k = cone(-(c * dx + s * dy), s * dx - c * dy)
            if with_rab_offset:
                useful = True
            elif with_teams:
                useful = matters(sf, m, o, cone_i, cone_k, f32(math.sqrt(square)))
            else:
                useful = ((cones >> u32(cone_i)) | (cones >> u32(cone_k))) & u32(1) != u32(0)
            if useful:
                doubts = between(warp, (i, k), si[L.FIRST + m], robots, (dx, dy, square))
                hidden = False
                if with_obstacles:
                    per_square = one_over(square)
                    hidden = behind_obstacle(
                        sf,
                        sf[L.X + m],
                        sf[L.Y + m],
                        dx,
                        dy,
                        per_square,
                        si[L.CENTRES + m],
                        obstacles,
                    )
                if hidden:
                    doubts = u32(0)
                elif doubts == u32(0):
                    distance = f32(math.sqrt(square))
                    if with_rab_offset:
                        hear_either(warp, (i, k), (cone_i, cone_k), distance, radios, cycle)
                    else:
                        hear(si, base, i, k, cone_i, cone_k, distance)
            pair = i32(i | (k << i32(5)) | (cone_i << i32(10)) | (cone_k << i32(13)))
        word = ballot(warp, doubts != u32(0))
        if doubts != u32(0):
            place = at(base + waiting + count(word & before))
            si[L.DOUBTED + place] = pair
            si[L.DOUBTS + place] = i32(doubts)
        waiting = i32(waiting + count(word))
        together()
        start = i32(start + i32(L.LANES))
        least = i32(L.LANES) if start < number else i32(1)
        while waiting >= least:
            waiting = settle(warp, waiting, radios, cycle, with_rab_offset)
