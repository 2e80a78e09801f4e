"""Ground sensors: how bright the floor is below each of them."""

from typing import Any

from numpy import float32 as f32
from numpy import int32 as i32

from qed.compile import loop
from qed.controller.inputs import FIRST_GROUND
from qed.swarm import environment_row as E
from qed.swarm.cpu import layout as L
from qed.swarm.cpu.bits import index, span
from qed.swarm.laws.sensing import BELOW_X, BELOW_Y, GROUND, floor_cell


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
