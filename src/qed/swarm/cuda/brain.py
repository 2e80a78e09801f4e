"""Networks on the GPU: one synchronous step of every neuron, each robot in its lane."""

from __future__ import annotations

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.layout import INPUTS, LANES
from qed.swarm.cuda.warp import at
from qed.swarm.laws import neuron as laws
from qed.swarm.laws.neuron import GAIN

tanh = device(laws.tanh)
FIRST_HIDDEN = 18
HIDDEN_INPUTS = 15


@stage
def think(sf, me, cycle, first, number, hidden, place, tables):  # type: ignore[no-untyped-def]
    """Return the outputs of the wheels; hidden values lie in two sets of rows, by turns."""
    bounds, biases, sources, weights = tables
    old = i32(place + (cycle & i32(1)) * hidden * i32(LANES))
    new = i32(place + (i32(1) - (cycle & i32(1))) * hidden * i32(LANES))
    left = f32(0.0)
    right = f32(0.0)
    u = i32(0)
    while u < number:
        link = bounds[at(first + u)]
        end = bounds[at(first + u) + 1]
        total = f32(0.0)
        e = link
        while e < end:
            source = sources[at(e)]
            row = i32(i32(INPUTS) + source * i32(LANES))
            if source >= i32(HIDDEN_INPUTS):
                row = i32(old + (source - i32(FIRST_HIDDEN)) * i32(LANES))
            total += weights[at(e)] * sf[at(row) + me]
            e = i32(e + i32(1))
        out = tanh(GAIN * total + biases[at(first + u)])
        if u == 0:
            left = out
        elif u == 1:
            right = out
        else:
            sf[at(new + (u - i32(2)) * i32(LANES)) + me] = out
        u = i32(u + i32(1))
    return left, right
