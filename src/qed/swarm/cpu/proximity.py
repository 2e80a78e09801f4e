"""Proximity sensors: rays at walls, robots and obstacles, then readings."""

from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32

from qed.chance import draw, high_noise, low_noise
from qed.compile import loop
from qed.swarm import environment_row as E
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import below, index, lowest, ones, round_up, span, squeeze
from qed.swarm.cpu.gather import gather_four, pad
from qed.swarm.laws.geometry import FAR
from qed.swarm.laws.outline import ray_body
from qed.swarm.laws.rays import ray_disc, ray_wall
from qed.swarm.laws.sensing import AIM_X, AIM_Y, AT_X, AT_Y, SENSORS, reading, sensed
from qed.swarm.robot import ROBOT

REACH = f32(ROBOT.reach)
OUTER = f32(ROBOT.outer_radius)
ONE = f32(1.0)
ZERO = f32(0.0)


@loop
def at_walls(b: Any, s: int) -> None:
    """Begin each live sensor's distance (m) with the wall it looks at."""
    f, a = b.f, b.a
    first, _, _, _, lanes = span(b.segments, s)
    live = b.segments[s, L.LIVE]
    side = b.limits[s, E.SIDE]
    for sensor in range(SENSORS):
        if (live >> sensor) & 1:
            at_x, at_y = AT_X[sensor], AT_Y[sensor]
            aim_x, aim_y = AIM_X[sensor], AIM_Y[sensor]
            row = sensor * L.STRIDE + first
            for i in range(lanes):
                c = f[L.COS + first + i]
                s_ = f[L.SIN + first + i]
                ox = f[L.X + first + i] + (c * at_x - s_ * at_y)
                oy = f[L.Y + first + i] + (s_ * at_x + c * at_y)
                a[row + i] = min(
                    ray_wall(ox, c * aim_x - s_ * aim_y, side),
                    ray_wall(oy, s_ * aim_x + c * aim_y, side),
                )


@loop
def at_robots(b: Any, near: int, live: int, mixed: bool, reach: Any) -> None:
    """Shorten the rays that meet a near robot, in both directions of each pair.

    ``live`` has a bit for each sensor that some robot reads; not all read them if they are mixed.
    """
    for direction in range(2):
        me = L.NEAR_I if direction == 0 else L.NEAR_K
        other = L.NEAR_K if direction == 0 else L.NEAR_I
        face(b, near, me, other)
        if mixed:
            for e in range(near):
                b.m[L.R_READS + e] = b.n[L.READS + index(b.m[me + e])]
        for sensor in range(SENSORS):
            if (live >> sensor) & 1:
                hits = cull(b, near, me, sensor, reach, mixed)
                meet_bodies(b, hits, sensor)
                shorten(b, hits, sensor * L.STRIDE, reach)


@loop
def face(b: Any, near: int, me: int, other: int) -> None:
    """See each listed robot in the frame of the one that looks, and the other way round."""
    f, p, m = b.f, b.p, b.m
    pad(m, me, near, 0)
    pad(m, other, near, 0)
    for at in range(0, near, L.VECTOR):
        gather_four(f, L.POSES, m, me + at, p, L.R_DX + at, L.PAIR_STRIDE)
        gather_four(f, L.POSES, m, other + at, p, L.R_OTHER_X + at, L.PAIR_STRIDE)
    for e in range(round_up(near)):
        dx = p[L.R_OTHER_X + e] - p[L.R_DX + e]
        dy = p[L.R_OTHER_Y + e] - p[L.R_DY + e]
        c = p[L.R_COS + e]
        s = p[L.R_SIN + e]
        other_c = p[L.R_OTHER_COS + e]
        other_s = p[L.R_OTHER_SIN + e]
        p[L.R_AHEAD + e] = c * dx + s * dy
        p[L.R_LEFT + e] = c * dy - s * dx
        p[L.R_DX + e] = -(other_c * dx + other_s * dy)
        p[L.R_DY + e] = other_s * dx - other_c * dy
        p[L.R_COS + e] = other_c * c + other_s * s
        p[L.R_SIN + e] = other_c * s - other_s * c


@loop
def cull(b: Any, listed: int, me: int, sensor: int, reach: Any, mixed: bool) -> int:
    """List the entries whose body a sensor's ray comes near, if the sensor is read."""
    p, m = b.p, b.m
    at_x, at_y, aim_x, aim_y = AT_X[sensor], AT_Y[sensor], AIM_X[sensor], AIM_Y[sensor]
    for e in range(round_up(listed)):
        ahead = p[L.R_AHEAD + e] - at_x
        left = p[L.R_LEFT + e] - at_y
        along = min(max(ahead * aim_x + left * aim_y, ZERO), reach)
        off_x = ahead - along * aim_x
        off_y = left - along * aim_y
        p[L.R_CULL + e] = off_x * off_x + off_y * off_y
    if mixed:
        for e in range(round_up(listed)):
            read = (m[L.R_READS + e] >> i32(sensor)) & i32(1) != i32(0)
            p[L.R_CULL + e] = p[L.R_CULL + e] if read else FAR
    hits = 0
    for start in range(0, listed, L.VECTOR):
        word = below(p, L.R_CULL + start, OUTER * OUTER) & (
            (1 << min(listed - start, L.VECTOR)) - 1
        )
        if word != 0:
            squeeze(m, L.PLACE + start, L.R_ENTRY + hits, word)
            squeeze(m, me + start, L.R_LANE + hits, word)
            hits += ones(word)
    return hits


@loop
def meet_bodies(b: Any, hits: int, sensor: int) -> None:
    """Find where the listed rays of a sensor meet the other robot's body."""
    p, m = b.p, b.m
    at_x, at_y, aim_x, aim_y = AT_X[sensor], AT_Y[sensor], AIM_X[sensor], AIM_Y[sensor]
    for h in range(hits):
        e = index(m[L.R_ENTRY + h])
        p[L.R_X + h] = p[L.R_DX + e]
        p[L.R_Y + h] = p[L.R_DY + e]
        p[L.R_OTHER_COS + h] = p[L.R_COS + e]
        p[L.R_OTHER_SIN + h] = p[L.R_SIN + e]
    for h in range(round_up(hits)):
        c = p[L.R_OTHER_COS + h]
        s = p[L.R_OTHER_SIN + h]
        p[L.R_WAY + h] = ray_body(
            p[L.R_X + h] + (c * at_x - s * at_y),
            p[L.R_Y + h] + (s * at_x + c * at_y),
            c * aim_x - s * aim_y,
            s * aim_x + c * aim_y,
        )


@loop
def shorten(b: Any, hits: int, row: int, reach: Any) -> None:
    """Keep the shorter of a sensor's distance and the listed one, where within reach."""
    a, p, m = b.a, b.p, b.m
    for h in range(hits):
        at = row + index(m[L.R_LANE + h])
        # No branch: many rays meet nothing, or nothing nearer, in no order that could be guessed.
        a[at] = p[L.R_WAY + h] if p[L.R_WAY + h] < min(a[at], reach) else a[at]


@loop
def at_obstacles(b: Any, s: int) -> None:
    """Shorten the rays that meet an obstacle."""
    p = b.p
    live = b.segments[s, L.LIVE]
    reach = b.limits[s, E.RANGE]
    for o in range(b.segments[s, L.OBSTACLES]):
        close = close_to(b, s, o, reach + REACH)
        for sensor in range(SENSORS):
            if close > 0 and (live >> sensor) & 1:
                at_x, at_y, aim_x, aim_y = AT_X[sensor], AT_Y[sensor], AIM_X[sensor], AIM_Y[sensor]
                for e in range(round_up(close)):
                    p[L.R_WAY + e] = ray_disc(
                        at_x - p[L.R_AHEAD + e],
                        at_y - p[L.R_LEFT + e],
                        aim_x,
                        aim_y,
                        p[L.R_RADIUS + e],
                    )
                shorten(b, close, sensor * L.STRIDE, reach)


@loop
def close_to(b: Any, s: int, o: int, far: Any) -> int:
    """List the robots within ``far`` (m) of an obstacle's rim, and see it in their frames."""
    f, p, m = b.f, b.p, b.m
    first, _, _, _, lanes = span(b.segments, s)
    at = index(o * L.OBSTACLE_ROWS + first)
    for i in range(lanes):
        dx = b.obstacles[at + L.B_X + i] - f[L.X + first + i]
        dy = b.obstacles[at + L.B_Y + i] - f[L.Y + first + i]
        near = far + b.obstacles[at + L.B_RADIUS + i]
        f[L.SCRATCH + i] = dx * dx + dy * dy - near * near
    close = 0
    for start in range(0, lanes, L.VECTOR):
        word = below(f, L.SCRATCH + start, ZERO)
        while word != 0:
            i = start + lowest(word)
            word &= word - 1
            dx = b.obstacles[at + L.B_X + i] - f[L.X + first + i]
            dy = b.obstacles[at + L.B_Y + i] - f[L.Y + first + i]
            p[L.R_RADIUS + close] = b.obstacles[at + L.B_RADIUS + i]
            c = f[L.COS + first + i]
            s_ = f[L.SIN + first + i]
            p[L.R_AHEAD + close] = c * dx + s_ * dy
            p[L.R_LEFT + close] = c * dy - s_ * dx
            m[L.R_LANE + close] = first + i
            close += 1
    return close


@loop
def read(b: Any, s: int, cycle: int) -> None:
    """Turn distances into what the network reads: curve, noise, faults, scale.

    Two neighbouring sensors share 32 random bits.
    """
    f, n, a, keys = b.f, b.n, b.a, b.keys
    first, _, _, _, lanes = span(b.segments, s)
    per_range = ONE / b.limits[s, E.RANGE]
    healthy = b.limits[s, E.NOISE]
    for sensor in range(SENSORS):
        if (b.segments[s, L.LIVE] >> sensor) & 1:
            row = sensor * L.STRIDE + first
            lower = sensor % 2 == 0
            for i in range(lanes):
                bits = draw(keys[first + i], cycle, sensor - sensor % 2)
                noise = low_noise(bits) if lower else high_noise(bits)
                # Read whether it is hit or not: a load under a condition is no vector code.
                gain = f[L.GAIN + first + i]
                amplitude = f[L.AMPLITUDE + first + i]
                offset = f[L.OFFSET + first + i]
                hit = (n[L.HIT + first + i] >> i32(sensor)) & i32(1) != i32(0)
                a[row + i] = sensed(
                    reading(a[row + i], per_range),
                    noise,
                    gain if hit else ONE,
                    amplitude if hit else healthy,
                    offset if hit else ZERO,
                )
