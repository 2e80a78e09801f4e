"""Networks on the GPU: one synchronous step of every neuron, each robot in its lane."""

from __future__ import annotations

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.layout import LANES
from qed.swarm.cuda.warp import at
from qed.swarm.laws import neuron as laws
from qed.swarm.laws.neuron import GAIN

tanh = device(laws.tanh)


@stage
def think(sf, me, cycle, first, number, hidden, place, links, tables):
    """Return the outputs of the wheels.

    Hidden values lie in two sets of rows: read from one, written to the other, by turns.  The
    table of rows that links read tells the rows of even cycles, then those of odd cycles.
    """
    bounds, biases, rows, weights = tables
    odd = i32(cycle & i32(1))
    reads = i32(odd * links)
    new = i32(place + (i32(1) - odd) * hidden * i32(LANES))
    left = f32(0.0)
    right = f32(0.0)
    u = i32(0)
    link = bounds[at(first)]
    while u < number:
        end = bounds[at(first + u) + 1]
        total = f32(0.0)
        while link < end:
            total += weights[at(link)] * sf[at(rows[at(reads + link)]) + me]
            link = i32(link + i32(1))
        out = tanh(GAIN * total + biases[at(first + u)])
        if u == 0:
            left = out
        elif u == 1:
            right = out
        else:
            sf[at(new + (u - i32(2)) * i32(LANES)) + me] = out
        u = i32(u + i32(1))
    return left, right
