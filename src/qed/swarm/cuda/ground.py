"""Ground sensors on the GPU: how bright the floor is below each of them."""

import numpy as np
from numpy import float32 as f32
from numpy import int32 as i32
from numpy import uint32 as u32

from qed.controller.inputs import FIRST_GROUND
from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.warp import at, rolled
from qed.swarm.laws import sensing as laws
from qed.swarm.laws.sensing import BELOW_X, BELOW_Y, GROUND

floor_cell = device(laws.floor_cell)

# A table of no rows cannot be compiled, though nothing reads it.
BELOW = np.stack([BELOW_X, BELOW_Y], -1) if GROUND else np.zeros((1, 2), f32)


@stage
def look_down(sf, me, pose, side, live, floor):
    """Let each ground sensor that is live see the floor's cell below it.

    ``floor`` are the cells of all floors, and the first one, the rows and the columns of this.
    """
    x, y, c, s = pose
    floors, first, rows, columns = floor
    per_row = f32(rows) / side
    per_column = f32(columns) / side
    below = BELOW
    sensor = i32(0)
    while sensor < i32(GROUND):
        sensor = rolled(sensor)
        number = i32(i32(FIRST_GROUND) + sensor)
        if (live >> u32(number)) & u32(1) != u32(0):
            at_x, at_y = below[at(sensor), 0], below[at(sensor), 1]
            row = floor_cell(y + (s * at_x + c * at_y), per_row, rows)
            column = floor_cell(x + (c * at_x - s * at_y), per_column, columns)
            place = L.INPUTS + at(number * i32(L.LANES)) + me
            sf[place] = floors[at(first + row * columns + column)]
        sensor = i32(sensor + i32(1))
