"""Sensors on the GPU: which robots are near, what rays meet, whom cones hear."""

from __future__ import annotations

import math

from numpy import float32 as f32
from numpy import int32 as i32
from numpy import uint32 as u32

from qed.swarm.cuda.constants import ALL_SENSORS, FACE_COUNT, face, sensor_pose
from qed.swarm.cuda.device import cuda, device, stage
from qed.swarm.cuda.layout import (
    AMPLITUDE,
    COS,
    GAIN,
    INPUTS,
    LANES,
    LISTED_X,
    LISTED_Y,
    OFFSET,
    RAB,
    SIN,
    X,
    Y,
)
from qed.swarm.cuda.warp import ALL, at, ballot, bits_of, count, lowest, push_sign, rolled, together
from qed.swarm.laws import chance, geometry
from qed.swarm.laws import sensing as laws
from qed.swarm.laws.geometry import FAR, NEXT_TO_NOTHING, PI
from qed.swarm.laws.sensing import AIM_X, AIM_Y, AT_X, AT_Y, SENSORS
from qed.swarm.robot import (
    BODY_INNER_RADIUS,
    BODY_OUTER_RADIUS,
    CONES,
    FRONT_SENSORS,
    OBSTACLE_RADIUS,
    SENSOR_REACH,
)

draw = device(chance.draw)
high_noise = device(chance.high_noise)
low_noise = device(chance.low_noise)
cos_sin = device(geometry.cos_sin)
off_line = device(geometry.off_line)
one_over = device(geometry.one_over)
clip_face = device(geometry.clip_face)
entry = device(geometry.entry)
ray_disc = device(geometry.ray_disc)
ray_wall = device(geometry.ray_wall)
cone = device(laws.cone)
heard = device(laws.heard)
misheard = device(laws.misheard)
reading = device(laws.reading)
sensed = device(laws.sensed)

RADIUS = f32(OBSTACLE_RADIUS)
REACH = f32(SENSOR_REACH)
OUTER2 = f32(BODY_OUTER_RADIUS**2)
NEARLY_OUTER = f32(1.001 * BODY_OUTER_RADIUS)  # m, and a little for rounding
INNER = f32(BODY_INNER_RADIUS)
INNER2 = f32(BODY_INNER_RADIUS**2)
OBSTACLE2 = f32(OBSTACLE_RADIUS**2)
BEYOND = REACH + RADIUS  # m, from a robot's centre to an obstacle's, besides the range
EAR_PURPOSE = 8
ZERO = f32(0.0)
ONE = f32(1.0)


@stage
def list_pairs(sf, si, base, lane, before, robot, robots, active, far2, listed):
    """List the warp's pairs that are not far apart; return how many there are.

    Robot i meets robot i + k of its trial; each pair is met once.  A pair's code is its two
    lanes, 5 bits each, and above them where its impulses are kept.
    """
    number = i32(0)
    me = at(base + lane)
    x = sf[X + me]
    y = sf[Y + me]
    sf[LISTED_X + me] = x
    sf[LISTED_Y + me] = y
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
            dx = sf[X + at(base + other)] - x
            dy = sf[Y + at(base + other)] - y
            square = dx * dx + dy * dy
        word = ballot(si, base, lane, square < far2)
        if square < far2:
            si[at(listed + number + count(word & before))] = code | (other << i32(5))
        number = i32(number + count(word))
        code = i32(code + i32(LANES << 10))
        k = i32(k + i32(1))
    together()
    return number


@stage
def has_come_far(sf, me, x, y, way2):
    """Tell whether a robot has moved so far (m2) since pairs were listed."""
    dx = x - sf[LISTED_X + me]
    dy = y - sf[LISTED_Y + me]
    return dx * dx + dy * dy > way2


@stage
def square_apart(sf, base, code):
    """Return the squared distance of a listed pair (m2)."""
    i = at(base + (code & i32(31)))
    k = at(base + ((code >> i32(5)) & i32(31)))
    dx = sf[X + k] - sf[X + i]
    dy = sf[Y + k] - sf[Y + i]
    return dx * dx + dy * dy


@stage
def sort_out(sf, si, base, lane, before, number, listed, near2, rab2, near_list, heard_list):
    """List the near pairs, and those within hearing, of those listed; return how many there are."""
    near = i32(0)
    hear = i32(0)
    start = i32(0)
    while start < number:
        square = f32(1e9)
        code = i32(0)
        if start + lane < number:
            code = si[at(listed + start + lane)]
            square = square_apart(sf, base, code)
        word = ballot(si, base, lane, square < near2)
        if square < near2:
            si[at(near_list + near + count(word & before))] = code
        near = i32(near + count(word))
        word = ballot(si, base, lane, square < rab2)
        if square < rab2:
            si[at(heard_list + hear + count(word & before))] = code
        hear = i32(hear + count(word))
        start = i32(start + i32(LANES))
    return near, hear


@stage
def at_walls(sf, me, x, y, c, s, side):
    """Begin each sensor's distance (m) with the wall it looks at."""
    sensor = i32(0)
    while sensor < i32(SENSORS):
        sensor = rolled(sensor)
        at_x, at_y, aim_x, aim_y = sensor_pose(sensor)
        across = ray_wall(x + (c * at_x - s * at_y), c * aim_x - s * aim_y, side)
        along = ray_wall(y + (s * at_x + c * at_y), s * aim_x + c * aim_y, side)
        sf[INPUTS + at(sensor * i32(LANES)) + me] = min(across, along)
        sensor = i32(sensor + i32(1))


@stage
def nearby_obstacles(sf, x, y, reach, centres, number):
    """Return a bit for each obstacle within reach (m)."""
    word = i32(0)
    o = i32(0)
    while o < number:
        o = rolled(o)
        dx = sf[at(centres + o + o)] - x
        dy = sf[at(centres + o + o) + 1] - y
        if dx * dx + dy * dy < reach * reach:
            word = i32(word | i32(i32(1) << o))
        o = i32(o + i32(1))
    return word


@stage
def at_obstacles(sf, me, x, y, c, s, reach, centres, nearby):
    """Shorten the rays that meet one of the nearby obstacles (a bit each)."""
    while nearby != 0:
        o = lowest(nearby)
        nearby = i32(nearby & (nearby - i32(1)))
        dx = sf[at(centres + o + o)] - x
        dy = sf[at(centres + o + o) + 1] - y
        ahead = c * dx + s * dy
        left = c * dy - s * dx
        for sensor in range(SENSORS):
            way = ray_disc(
                AT_X[sensor] - ahead, AT_Y[sensor] - left, AIM_X[sensor], AIM_Y[sensor], RADIUS
            )
            place = INPUTS + sensor * LANES + me
            if way < reach:
                sf[place] = min(sf[place], way)


@stage
def facing(si, base, near_list, task):
    """Return who looks at whom in a task: near pair number task // 2, in direction task % 2."""
    code = si[at(near_list + (task >> i32(1)))]
    i = code & i32(31)
    k = (code >> i32(5)) & i32(31)
    i, k = i32(i), i32(k)
    me = i if task & i32(1) == 0 else k
    other = k if task & i32(1) == 0 else i
    return at(base + me), at(base + other)


@stage
def may_hit(sf, m, o, reach):
    """Return a bit for each sensor whose ray comes near the other robot's disc."""
    dx = sf[X + o] - sf[X + m]
    dy = sf[Y + o] - sf[Y + m]
    c = sf[COS + m]
    s = sf[SIN + m]
    ahead = c * dx + s * dy
    left = c * dy - s * dx
    hits = u32(0)
    for k in range(SENSORS):
        sensor = SENSORS - 1 - k
        forward = ahead - AT_X[sensor]
        beside = left - AT_Y[sensor]
        along = min(max(forward * AIM_X[sensor] + beside * AIM_Y[sensor], ZERO), reach)
        off_x = forward - along * AIM_X[sensor]
        off_y = beside - along * AIM_Y[sensor]
        hits = push_sign(hits, (off_x * off_x + off_y * off_y) - OUTER2)
    return hits


@stage
def meets_body(ox, oy, dx, dy):
    """Return where a ray enters the body, both in the body's frame (m), or FAR."""
    enter = -FAR
    leave = FAR
    f = i32(0)
    while f < i32(FACE_COUNT):
        f = rolled(f)
        nx, ny, offset = face(f)
        enter, leave = clip_face(enter, leave, nx, ny, offset, ox, oy, dx, dy)
        f = i32(f + i32(1))
    return entry(enter, leave)


@stage
def look(sf, m, o, sensor):
    """Return where a sensor's ray meets the other robot's body (m), or FAR."""
    dx = sf[X + o] - sf[X + m]
    dy = sf[Y + o] - sf[Y + m]
    c = sf[COS + m]
    s = sf[SIN + m]
    other_c = sf[COS + o]
    other_s = sf[SIN + o]
    turn_c = other_c * c + other_s * s
    turn_s = other_c * s - other_s * c
    at_x, at_y, aim_x, aim_y = sensor_pose(sensor)
    return meets_body(
        -(other_c * dx + other_s * dy) + (turn_c * at_x - turn_s * at_y),
        (other_s * dx - other_c * dy) + (turn_s * at_x + turn_c * at_y),
        turn_c * aim_x - turn_s * aim_y,
        turn_s * aim_x + turn_c * aim_y,
    )


@stage
def shorten(si, place, way):
    """Keep the shorter of two distances; the bits of positive floats are ordered as they are."""
    cuda.atomic.min(si, place, bits_of(way))


@stage
def look_along(sf, si, base, lane, number, near_list, rays, reach):
    """Test the last rays of the list, one a lane, and take them off; return how many are left."""
    left = max(i32(number - i32(LANES)), i32(0))
    e = i32(left + lane)
    if e < number:
        code = si[at(rays + e)]
        sensor = i32(code & i32(7))
        m, o = facing(si, base, near_list, i32(code >> i32(3)))
        way = look(sf, m, o, sensor)
        if way < reach:
            shorten(si, INPUTS + at(sensor * i32(LANES)) + m, way)
    together()
    return left


@stage
def at_robots(sf, si, base, lane, before, near, near_list, rays, live, reach):
    """Shorten the rays that meet a near robot: list those that may, and test 32 at a time."""
    start = i32(0)
    listed = i32(0)
    tasks = i32(near + near)
    while start < tasks:
        task = i32(start + lane)
        hits = u32(0)
        if task < tasks:
            m, o = facing(si, base, near_list, task)
            hits = u32(may_hit(sf, m, o, reach) & live & u32(ALL_SENSORS))
        number = count(hits)
        place = listed
        for bit in range(3):
            word = ballot(si, base, lane, (number >> i32(bit)) & i32(1) != 0)
            place = i32(place + (count(word & before) << i32(bit)))
            listed = i32(listed + (count(word) << i32(bit)))
        while hits != u32(0):
            si[at(rays + place)] = (task << i32(3)) | lowest(hits)
            place = i32(place + i32(1))
            hits = u32(hits & (hits - u32(1)))
        together()
        start = i32(start + i32(LANES))
        least = i32(LANES) if start < tasks else i32(1)
        while listed >= least:
            listed = look_along(sf, si, base, lane, listed, near_list, rays, reach)


@stage
def read_one(sf, place, me, chance_, per_range, noise, faulty):
    """Turn a sensor's distance into what the network is told: curve, noise, faults, scale."""
    gain = ONE
    offset = ZERO
    if faulty:
        gain = sf[GAIN + me]
        noise = sf[AMPLITUDE + me]
        offset = sf[OFFSET + me]
    sf[place] = sensed(reading(sf[place], per_range), chance_, gain, noise, offset)


@stage
def read(sf, me, live, key, cycle, per_range, noise, with_faults):
    """Read all proximity sensors that are live; each two share a random number."""
    rest = u32(live & u32(ALL_SENSORS))
    sensor = i32(0)
    while rest != u32(0):
        sensor = rolled(sensor)
        if rest & u32(3):
            place = INPUTS + at(sensor * i32(LANES)) + me
            bits = draw(key, cycle, sensor)
            if rest & u32(1):
                front = with_faults and sensor < i32(FRONT_SENSORS)
                read_one(sf, place, me, low_noise(bits), per_range, noise, front)
            if rest & u32(2):
                front = with_faults and sensor + i32(1) < i32(FRONT_SENSORS)
                read_one(sf, place + LANES, me, high_noise(bits), per_range, noise, front)
        rest = u32(rest >> u32(2))
        sensor = i32(sensor + i32(2))


@stage
def clear_cones(sf, me, limit):
    """Set all cones to nobody: their range (m)."""
    for c in range(CONES):
        sf[RAB + c * LANES + me] = limit


@stage
def scale_cones(sf, me, per_range):
    """Turn the cones' distances (m) into what the network is told."""
    for c in range(CONES):
        sf[RAB + c * LANES + me] = heard(sf[RAB + c * LANES + me], per_range)


@stage
def between(sf, base, i, k, first, robots, dx, dy, square):
    """Return a bit for each robot of the trial that may stand between a pair.

    Its centre lies in the rectangle that reaches a body's radius beyond the line on all sides.
    """
    m = at(base + i)
    distance = f32(math.sqrt(square))
    wide = ONE / max(NEARLY_OUTER * distance, NEXT_TO_NOTHING)
    long = ONE / max(f32(0.5) * square + NEARLY_OUTER * distance, NEXT_TO_NOTHING)
    # Across and along the line, in units of half the rectangle's sides, from its centre.
    across_x = -dy * wide
    across_y = dx * wide
    along_x = dx * long
    along_y = dy * long
    x = sf[X + m] + f32(0.5) * dx
    y = sf[Y + m] + f32(0.5) * dy
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
            x = sf[X + second + o]
            y = sf[Y + second + o]
            aside = across_x * x + (across_y * y - across)
            ahead = along_x * x + (along_y * y - along)
            word = push_sign(word, max(abs(aside), abs(ahead)) - ONE)
    others = u32(u32(ALL) >> u32(i32(LANES) - robots))
    pair = u32(u32(u32(1) << u32(i - first)) | u32(u32(1) << u32(k - first)))
    return u32(word & others & ~pair)


@stage
def behind_obstacle(sf, x, y, dx, dy, per_square, centres, number):
    """Tell whether an obstacle hides a pair."""
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
def seen_past(sf, base, i, first, dx, dy, square, bodies):
    """Tell whether none of some bodies of a trial (a bit each) hides a pair."""
    distance = f32(math.sqrt(square))
    per_square = one_over(square)
    aim_x = dx / distance
    aim_y = dy / distance
    m = at(base + i)
    clear = True
    while bodies != 0 and clear:
        b = at(base + first + lowest(bodies))
        bodies = u32(bodies & (bodies - u32(1)))
        c = sf[COS + b]
        s = sf[SIN + b]
        ox = sf[X + m] - sf[X + b]
        oy = sf[Y + m] - sf[Y + b]
        off = off_line(-ox, -oy, dx, dy, per_square)
        way = meets_body(
            c * ox + s * oy, c * oy - s * ox, c * aim_x + s * aim_y, c * aim_y - s * aim_x
        )
        clear = not (off < INNER2 or way < distance - INNER)
    return clear


@stage
def hear_wrong(sf, si, m, key, other, dx, dy, cycle):
    """Let a robot with the ROFS fault hear another at a random offset."""
    c = sf[COS + m]
    s = sf[SIN + m]
    bits = draw(key, cycle, i32(EAR_PURPOSE) + other)
    turn_c, turn_s = cos_sin(PI * high_noise(bits))
    forward, left = misheard(c * dx + s * dy, c * dy - s * dx, low_noise(bits), turn_c, turn_s)
    place = RAB + at(cone(forward, left) * i32(LANES)) + m
    shorten(si, place, f32(math.sqrt(forward * forward + left * left)))
