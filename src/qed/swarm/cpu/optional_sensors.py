"""Sensors that only some robots have: of the ground, and of infra-red messages."""

from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32

from qed.compile import loop
from qed.controller.inputs import FIRST_GROUND, FIRST_RAB
from qed.swarm import environment_row as E
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import index, round_up, span
from qed.swarm.cpu.proximity import face
from qed.swarm.laws.sensing import (
    AIM_X,
    AIM_Y,
    AT_X,
    AT_Y,
    BELOW_X,
    BELOW_Y,
    GROUND,
    SENSORS,
    floor_cell,
    message,
)


@loop
def look_down(b: Any, s: int) -> None:
    """Let each ground sensor that some robot reads see the floor's cell below it."""
    f, a = b.f, b.a
    first, _, _, _, lanes = span(b.segments, s)
    live = b.segments[s, L.LIVE]
    floor = index(b.segments[s, L.FLOOR])
    rows, columns = i32(b.segments[s, L.FLOOR_ROWS]), i32(b.segments[s, L.FLOOR_COLUMNS])
    per_row = f32(rows) / b.limits[s, E.SIDE]
    per_column = f32(columns) / b.limits[s, E.SIDE]
    for sensor in range(GROUND):
        if (live >> (FIRST_GROUND + sensor)) & 1:
            at_x, at_y = BELOW_X[sensor], BELOW_Y[sensor]
            into = (FIRST_GROUND + sensor) * L.STRIDE + first
            for i in range(lanes):
                c = f[L.COS + first + i]
                s_ = f[L.SIN + first + i]
                x = f[L.X + first + i] + (c * at_x - s_ * at_y)
                y = f[L.Y + first + i] + (s_ * at_x + c * at_y)
                row = floor_cell(y, per_row, rows)
                column = floor_cell(x, per_column, columns)
                a[into + i] = b.floors[floor + index(row * columns + column)]


ZERO = f32(0.0)


@loop
def receive_nothing(b: Any, s: int) -> None:
    """Begin with nobody's messages."""
    first, _, _, _, lanes = span(b.segments, s)
    for sensor in range(SENSORS):
        row = L.RAB + sensor * L.STRIDE + first
        for i in range(lanes):
            b.a[row + i] = ZERO


@loop
def receive(b: Any, near: int, live: int) -> None:
    """Let all sensors that some robot reads receive what near robots send."""
    for direction in range(2):
        me = L.NEAR_I if direction == 0 else L.NEAR_K
        other = L.NEAR_K if direction == 0 else L.NEAR_I
        face(b, near, me, other)
        for sensor in range(SENSORS):
            if (live >> (FIRST_RAB + sensor)) & 1:
                strongest(b, near, sensor)
                for e in range(near):
                    at = L.RAB + sensor * L.STRIDE + index(b.m[me + e])
                    silent = b.n[L.RAB_FAULT + index(b.m[other + e])] & L.SILENT
                    if not silent and b.p[L.R_WAY + e] > b.a[at]:
                        b.a[at] = b.p[L.R_WAY + e]


@loop
def strongest(b: Any, near: int, sensor: int) -> None:
    """Find how strong the strongest emitter of each listed robot is, in that robot's frame."""
    p = b.p
    at_x, at_y, aim_x, aim_y = AT_X[sensor], AT_Y[sensor], AIM_X[sensor], AIM_Y[sensor]
    for e in range(round_up(near)):
        p[L.R_WAY + e] = ZERO
    for emitter in range(SENSORS):
        from_x, from_y, to_x, to_y = AT_X[emitter], AT_Y[emitter], AIM_X[emitter], AIM_Y[emitter]
        for e in range(round_up(near)):
            c, s = p[L.R_COS + e], p[L.R_SIN + e]
            strength = message(
                p[L.R_DX + e] + (c * at_x - s * at_y),
                p[L.R_DY + e] + (s * at_x + c * at_y),
                c * aim_x - s * aim_y,
                s * aim_x + c * aim_y,
                from_x,
                from_y,
                to_x,
                to_y,
            )
            p[L.R_WAY + e] = max(p[L.R_WAY + e], strength)
