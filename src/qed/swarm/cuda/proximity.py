"""Proximity sensors on the GPU: what their rays meet, and what the network reads."""

import numpy as np
from numpy import float32 as f32
from numpy import int32 as i32
from numpy import uint32 as u32

from qed import chance
from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import cuda, device, stage
from qed.swarm.cuda.outline import meets_body
from qed.swarm.cuda.warp import at, ballot, bits_of, count, lowest, push_sign, rolled, together
from qed.swarm.laws import rays
from qed.swarm.laws import sensing as laws
from qed.swarm.laws.sensing import AIM_X, AIM_Y, AT_X, AT_Y, SENSORS
from qed.swarm.robot import OBSTACLE_RADIUS, ROBOT

draw = device(chance.draw)
high_noise = device(chance.high_noise)
low_noise = device(chance.low_noise)
ray_disc = device(rays.ray_disc)
ray_wall = device(rays.ray_wall)
reading = device(laws.reading)
sensed = device(laws.sensed)

RADIUS = f32(OBSTACLE_RADIUS)
REACH = f32(ROBOT.reach)
OUTER2 = f32(ROBOT.outer_radius**2)
BEYOND = REACH + RADIUS  # m, from a robot's centre to an obstacle's, besides the range
ALL_SENSORS = (1 << SENSORS) - 1
SENSOR_BITS = max(SENSORS - 1, 0).bit_length()  # of a sensor's number
COUNT_BITS = SENSORS.bit_length()  # of a number of sensors
# A table of no rows cannot be compiled, though nothing reads it.
POSES = np.stack([AT_X, AT_Y, AIM_X, AIM_Y], -1) if SENSORS else np.zeros((1, 4), f32)
ZERO = f32(0.0)
ONE = f32(1.0)


@stage
def sensor_pose(number):
    """Return where a sensor sits (m) and where it looks, in the robot's frame."""
    poses = POSES
    k = at(number)
    return poses[k, 0], poses[k, 1], poses[k, 2], poses[k, 3]


@stage
def at_walls(sf, me, pose, side):
    """Begin each sensor's distance (m) with the wall it looks at."""
    x, y, c, s = pose
    sensor = i32(0)
    while sensor < i32(SENSORS):
        sensor = rolled(sensor)
        at_x, at_y, aim_x, aim_y = sensor_pose(sensor)
        across = ray_wall(x + (c * at_x - s * at_y), c * aim_x - s * aim_y, side)
        along = ray_wall(y + (s * at_x + c * at_y), s * aim_x + c * aim_y, side)
        sf[L.INPUTS + at(sensor * i32(L.LANES)) + me] = min(across, along)
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
def at_obstacles(sf, me, pose, reach, centres, nearby):
    """Shorten the rays that meet one of the nearby obstacles (a bit each)."""
    x, y, c, s = pose
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
            place = L.INPUTS + sensor * L.LANES + me
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
    dx = sf[L.X + o] - sf[L.X + m]
    dy = sf[L.Y + o] - sf[L.Y + m]
    c = sf[L.COS + m]
    s = sf[L.SIN + m]
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
def seen_by(sf, m, o, sensor):
    """Return place and direction of a robot's sensor in the frame of another one."""
    dx = sf[L.X + o] - sf[L.X + m]
    dy = sf[L.Y + o] - sf[L.Y + m]
    c = sf[L.COS + m]
    s = sf[L.SIN + m]
    other_c = sf[L.COS + o]
    other_s = sf[L.SIN + o]
    turn_c = other_c * c + other_s * s
    turn_s = other_c * s - other_s * c
    at_x, at_y, aim_x, aim_y = sensor_pose(sensor)
    return (
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
def look_along(warp, number, near_list, rays, reach):
    """Test the last rays of the list, one per lane, and take them off; return how many are left."""
    sf, si, base, lane, _, _ = warp
    left = max(i32(number - i32(L.LANES)), i32(0))
    e = i32(left + lane)
    if e < number:
        code = si[at(rays + e)]
        sensor = i32(code & i32((1 << SENSOR_BITS) - 1))
        m, o = facing(si, base, near_list, i32(code >> i32(SENSOR_BITS)))
        way = meets_body(*seen_by(sf, m, o, sensor))
        if way < reach:
            shorten(si, L.INPUTS + at(sensor * i32(L.LANES)) + m, way)
    together()
    return left


@stage
def at_robots(warp, near, near_list, rays, live, reach, with_teams):
    """Shorten the rays that meet a near robot: list those that may, and test 32 at a time.

    ``live`` has a bit for each sensor that is read; with teams each robot has its own.
    """
    sf, si, base, lane, _, before = warp
    start = i32(0)
    listed = i32(0)
    tasks = i32(near + near)
    while start < tasks:
        task = i32(start + lane)
        hits = u32(0)
        if task < tasks:
            m, o = facing(si, base, near_list, task)
            wanted = u32(si[L.READS + m]) if with_teams else live
            hits = u32(may_hit(sf, m, o, reach) & wanted & u32(ALL_SENSORS))
        number = count(hits)
        place = listed
        for bit in range(COUNT_BITS):
            word = ballot(warp, (number >> i32(bit)) & i32(1) != 0)
            place = i32(place + (count(word & before) << i32(bit)))
            listed = i32(listed + (count(word) << i32(bit)))
        while hits != u32(0):
            si[at(rays + place)] = (task << i32(SENSOR_BITS)) | lowest(hits)
            place = i32(place + i32(1))
            hits = u32(hits & (hits - u32(1)))
        together()
        start = i32(start + i32(L.LANES))
        least = i32(L.LANES) if start < tasks else i32(1)
        while listed >= least:
            listed = look_along(warp, listed, near_list, rays, reach)


@stage
def read_one(sf, place, me, random, per_range, noise, faulty):
    """Turn a sensor's distance into what the network reads: curve, noise, faults, scale."""
    gain = ONE
    offset = ZERO
    if faulty:
        gain = sf[L.GAIN + me]
        noise = sf[L.AMPLITUDE + me]
        offset = sf[L.OFFSET + me]
    sf[place] = sensed(reading(sf[place], per_range), random, gain, noise, offset)


@stage
def read(sf, me, live, chance_, per_range, noise, with_faults, hit):
    """Read all proximity sensors that are live; each two share a random number.

    ``chance_`` is the robot's key and the cycle; ``hit`` has a bit for each sensor that a fault may
    hit.
    """
    key, cycle = chance_
    rest = u32(live & u32(ALL_SENSORS))
    while rest != u32(0):
        rest = u32(rolled(i32(rest)))
        sensor = i32(lowest(rest) & i32(-2))
        two = u32(rest >> u32(sensor))
        place = L.INPUTS + at(sensor * i32(L.LANES)) + me
        bits = draw(key, cycle, sensor)
        if two & u32(1):
            faulty = with_faults and (hit >> sensor) & i32(1) != i32(0)
            read_one(sf, place, me, low_noise(bits), per_range, noise, faulty)
        if two & u32(2):
            faulty = with_faults and (hit >> (sensor + i32(1))) & i32(1) != i32(0)
            read_one(sf, place + L.LANES, me, high_noise(bits), per_range, noise, faulty)
        rest = u32(rest & ~(u32(3) << u32(sensor)))
