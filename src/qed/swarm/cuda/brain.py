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
def think(sf, me, cycle, first, links, neurons, place, all_links, tables):
    """Return the outputs of the wheels.

    ``links`` tells the first link of a network and the one after its last, each neuron's after
    the other; a link tells twice the row that it reads, and one more if it is a neuron's last.
    What neurons say lies in two sets of rows, for so many neurons each: read from one, written
    to the other, by turns.  The table of rows tells those of even cycles, then of odd cycles.
    """
    biases, rows, weights = tables
    odd = i32(cycle & i32(1))
    read = i32(odd * all_links)
    wheels = i32(place + (i32(1) - odd) * neurons * i32(LANES))
    out = wheels
    neuron = first
    total = f32(0.0)
    link, end = links
    code = rows[at(read + link)]
    weight = weights[at(link)]
    while link < end:
        link = i32(link + i32(1))
        # The next is on its way while this one is used; after the last there is one more.
        next_code = rows[at(read + link)]
        next_weight = weights[at(link)]
        total += weight * sf[at(code >> i32(1)) + me]
        if code & i32(1):
            sf[at(out) + me] = tanh(GAIN * total + biases[at(neuron)])
            total = f32(0.0)
            out = i32(out + i32(LANES))
            neuron = i32(neuron + i32(1))
        code, weight = next_code, next_weight
    return sf[at(wheels) + me], sf[at(wheels) + LANES + me]
