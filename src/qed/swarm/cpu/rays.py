"""Proximity sensors: rays at walls, robots and obstacles, then readings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import float32 as f32

from qed.swarm.compile import loop
from qed.swarm.cpu.bits import below, index, lowest, span
from qed.swarm.cpu.rows import (
    AMPLITUDE,
    COS,
    GAIN,
    L_A,
    L_B,
    L_C,
    L_D,
    L_DX,
    L_DY,
    L_E,
    L_F,
    L_G,
    L_NOISE,
    L_RANGE,
    L_SIDE,
    L_U,
    LIVE,
    NEAR_I,
    NEAR_K,
    OBSTACLES,
    OFFSET,
    SCRATCH,
    SIN,
    STRIDE,
    VECTOR,
    X,
    Y,
)
from qed.swarm.laws.chance import draw, high_noise, low_noise
from qed.swarm.laws.geometry import ray_body, ray_disc, ray_wall
from qed.swarm.laws.sensing import reading, sensed
from qed.swarm.robot import (
    FRONT_SENSORS,
    OBSTACLE_RADIUS,
    PROXIMITY_SENSORS,
    SENSOR_REACH,
)

SENSORS = len(PROXIMITY_SENSORS)
AT_X = np.array([x for x, _, _ in PROXIMITY_SENSORS], f32)
AT_Y = np.array([y for _, y, _ in PROXIMITY_SENSORS], f32)
AIM_X = np.array([math.cos(angle) for _, _, angle in PROXIMITY_SENSORS], f32)
AIM_Y = np.array([math.sin(angle) for _, _, angle in PROXIMITY_SENSORS], f32)
RADIUS = f32(OBSTACLE_RADIUS)
REACH = f32(SENSOR_REACH)
ONE = f32(1.0)
ZERO = f32(0.0)


@loop
def at_walls(b: Any, s: int) -> None:
    """Begin each live sensor's distance (m) with the wall it looks at."""
    f, a = b.f, b.a
    first, _, _, _, lanes = span(b.segments, s)
    live = b.segments[s, LIVE]
    side = b.limits[s, L_SIDE]
    for sensor in range(SENSORS):
        if (live >> sensor) & 1:
            at_x, at_y = AT_X[sensor], AT_Y[sensor]
            aim_x, aim_y = AIM_X[sensor], AIM_Y[sensor]
            row = sensor * STRIDE + first
            for i in range(lanes):
                c = f[COS + first + i]
                s_ = f[SIN + first + i]
                ox = f[X + first + i] + (c * at_x - s_ * at_y)
                oy = f[Y + first + i] + (s_ * at_x + c * at_y)
                a[row + i] = min(
                    ray_wall(ox, c * aim_x - s_ * aim_y, side),
                    ray_wall(oy, s_ * aim_x + c * aim_y, side),
                )


@loop
def at_robots(b: Any, near: int, live: int, reach: Any) -> None:
    """Shorten the rays that meet a near robot, in both directions of each pair."""
    f, p, m = b.f, b.p, b.m
    for direction in range(2):
        me = NEAR_I if direction == 0 else NEAR_K
        you = NEAR_K if direction == 0 else NEAR_I
        for e in range(near):
            i = m[me + e]
            k = m[you + e]
            p[L_DX + e] = f[X + i] - f[X + k]
            p[L_DY + e] = f[Y + i] - f[Y + k]
            p[L_A + e] = f[COS + i]
            p[L_B + e] = f[SIN + i]
            p[L_C + e] = f[COS + k]
            p[L_D + e] = f[SIN + k]
        for e in range(near):  # me, as seen in the other's frame
            dx = p[L_DX + e]
            dy = p[L_DY + e]
            c = p[L_C + e]
            s = p[L_D + e]
            p[L_E + e] = c * dx + s * dy
            p[L_F + e] = c * dy - s * dx
            p[L_C + e] = c * p[L_A + e] + s * p[L_B + e]
            p[L_D + e] = c * p[L_B + e] - s * p[L_A + e]
        for sensor in range(SENSORS):
            if (live >> sensor) & 1:
                at_x, at_y = AT_X[sensor], AT_Y[sensor]
                aim_x, aim_y = AIM_X[sensor], AIM_Y[sensor]
                for e in range(near):
                    c = p[L_C + e]
                    s = p[L_D + e]
                    p[L_G + e] = ray_body(
                        p[L_E + e] + (c * at_x - s * at_y),
                        p[L_F + e] + (s * at_x + c * at_y),
                        c * aim_x - s * aim_y,
                        s * aim_x + c * aim_y,
                    )
                shorten(b, me, near, sensor * STRIDE, reach)


@loop
def shorten(b: Any, me: int, listed: int, row: int, reach: Any) -> None:
    """Keep the shorter of a sensor's distance and the listed one, where within reach."""
    a, p, m = b.a, b.p, b.m
    for start in range(0, listed, VECTOR):
        word = below(p, L_G + start, reach) & ((1 << min(listed - start, VECTOR)) - 1)
        while word != 0:
            e = start + lowest(word)
            word &= word - 1
            at = row + m[me + e]
            if p[L_G + e] < a[at]:
                a[at] = p[L_G + e]


@loop
def at_obstacles(b: Any, s: int) -> None:
    """Shorten the rays that meet an obstacle."""
    f, p, m = b.f, b.p, b.m
    first, _, _, _, lanes = span(b.segments, s)
    live = b.segments[s, LIVE]
    reach = b.limits[s, L_RANGE]
    far = reach + REACH + RADIUS
    for o in range(index(b.segments[s, OBSTACLES])):
        at_x = 2 * o * STRIDE + first
        at_y = at_x + STRIDE
        for i in range(lanes):
            dx = b.obstacles[at_x + i] - f[X + first + i]
            dy = b.obstacles[at_y + i] - f[Y + first + i]
            f[SCRATCH + i] = dx * dx + dy * dy
        close = 0
        for start in range(0, lanes, VECTOR):
            word = below(f, SCRATCH + start, far * far)
            while word != 0:
                i = start + lowest(word)
                word &= word - 1
                m[L_U + close] = first + i
                p[L_DX + close] = f[X + first + i] - b.obstacles[at_x + i]
                p[L_DY + close] = f[Y + first + i] - b.obstacles[at_y + i]
                p[L_A + close] = f[COS + first + i]
                p[L_B + close] = f[SIN + first + i]
                close += 1
        for sensor in range(SENSORS):
            if close > 0 and (live >> sensor) & 1:
                at_x_, at_y_ = AT_X[sensor], AT_Y[sensor]
                aim_x, aim_y = AIM_X[sensor], AIM_Y[sensor]
                for e in range(close):
                    c = p[L_A + e]
                    s_ = p[L_B + e]
                    p[L_G + e] = ray_disc(
                        p[L_DX + e] + (c * at_x_ - s_ * at_y_),
                        p[L_DY + e] + (s_ * at_x_ + c * at_y_),
                        c * aim_x - s_ * aim_y,
                        s_ * aim_x + c * aim_y,
                        RADIUS,
                    )
                shorten(b, L_U, close, sensor * STRIDE, reach)


@loop
def read(b: Any, s: int, cycle: int) -> None:
    """Turn distances into what the network is told: curve, noise, faults, scale.

    Two sensors share 32 random bits.
    """
    f, a, keys = b.f, b.a, b.keys
    first, _, _, _, lanes = span(b.segments, s)
    live = b.segments[s, LIVE]
    per_range = ONE / b.limits[s, L_RANGE]
    noise = b.limits[s, L_NOISE]
    for sensor in range(0, SENSORS, 2):
        both = (live >> sensor) & 3
        one = sensor * STRIDE + first
        two = one + STRIDE
        if both and sensor + 1 < FRONT_SENSORS:
            for i in range(lanes):
                bits = draw(keys[first + i], cycle, sensor)
                gain = f[GAIN + first + i]
                amplitude = f[AMPLITUDE + first + i]
                offset = f[OFFSET + first + i]
                low = reading(a[one + i], per_range)
                high = reading(a[two + i], per_range)
                a[one + i] = sensed(low, low_noise(bits), gain, amplitude, offset)
                a[two + i] = sensed(high, high_noise(bits), gain, amplitude, offset)
        elif both and sensor < FRONT_SENSORS:
            for i in range(lanes):
                bits = draw(keys[first + i], cycle, sensor)
                gain = f[GAIN + first + i]
                amplitude = f[AMPLITUDE + first + i]
                offset = f[OFFSET + first + i]
                low = reading(a[one + i], per_range)
                high = reading(a[two + i], per_range)
                a[one + i] = sensed(low, low_noise(bits), gain, amplitude, offset)
                a[two + i] = sensed(high, high_noise(bits), ONE, noise, ZERO)
        elif both:
            for i in range(lanes):
                bits = draw(keys[first + i], cycle, sensor)
                low = reading(a[one + i], per_range)
                a[one + i] = sensed(low, low_noise(bits), ONE, noise, ZERO)
