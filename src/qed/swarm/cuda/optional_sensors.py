"""Sensors that only some robots have, on the GPU: of the ground, and of infra-red messages.

What robots receive of messages lies where others have their cones.
"""

import numpy as np
from numpy import float32 as f32
from numpy import int32 as i32
from numpy import uint32 as u32

from qed.controller.inputs import FIRST_GROUND, FIRST_RAB
from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import cuda, device, stage
from qed.swarm.cuda.proximity import facing, seen_by, sensor_pose
from qed.swarm.cuda.warp import at, bits_of, rolled, together
from qed.swarm.laws import sensing as laws
from qed.swarm.laws.sensing import BELOW_X, BELOW_Y, GROUND, SENSORS
from qed.swarm.robot import ROBOT

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


message = device(laws.message)

ZERO = f32(0.0)
# m2, from robot to robot; and a little for rounding.
FARTHEST2 = f32(1.001 * (ROBOT.messages + 2.0 * ROBOT.reach) ** 2)


@stage
def receive_nothing(sf, me):
    """Begin with nobody's messages."""
    for sensor in range(SENSORS):
        sf[L.RAB + sensor * L.LANES + me] = ZERO


@stage
def receive(warp, near, near_list, live, faults, kinds):
    """Let sensors receive what near robots send: 32 sensors of robots that look at a time.

    ``live`` has a bit for each input that is read; with teams each robot has its own.
    ``faults`` are a table, and where in it the swarm's first robot is; ``kinds`` whether some are
    silent, and whether there are teams.
    """
    sf, si, base, lane, _, _ = warp
    table, first_fault = faults
    some_silent, with_teams = kinds
    number = i32((near + near) * i32(SENSORS))
    e = i32(lane)
    while e < number:
        e = rolled(e)
        task = i32(e // i32(SENSORS))
        sensor = i32(e - task * i32(SENSORS))
        m, o = facing(si, base, near_list, task)
        reads = u32(si[L.READS + m]) if with_teams else live
        sent = (reads >> u32(i32(FIRST_RAB) + sensor)) & u32(1) != u32(0)
        if some_silent:
            other = i32(i32(o) - base - si[L.FIRST + o])
            sent = sent and table[at(first_fault + other), L.F_SILENT] == ZERO
        dx = sf[L.X + o] - sf[L.X + m]
        dy = sf[L.Y + o] - sf[L.Y + m]
        if sent and dx * dx + dy * dy < FARTHEST2:
            px, py, look_x, look_y = seen_by(sf, m, o, sensor)
            strongest = ZERO
            emitter = i32(0)
            while emitter < i32(SENSORS):
                emitter = rolled(emitter)
                from_x, from_y, to_x, to_y = sensor_pose(emitter)
                strongest = max(
                    strongest, message(px, py, look_x, look_y, from_x, from_y, to_x, to_y)
                )
                emitter = i32(emitter + i32(1))
            # The bits of positive floats are ordered as they are.
            cuda.atomic.max(si, L.RAB + at(sensor * i32(L.LANES)) + m, bits_of(strongest))
        e = i32(e + i32(L.LANES))
    together()
