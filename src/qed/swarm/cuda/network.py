"""Networks on the GPU: one synchronous step of every neuron, each robot in its lane."""

from __future__ import annotations

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.layout import GROUP, LANES
from qed.swarm.cuda.warp import at, rolled, two_of
from qed.swarm.laws import neuron as laws
from qed.swarm.laws.neuron import GAIN

tanh = device(laws.tanh)


@stage
def think(sf, me, cycle, own, link, place, all_links, tables):
    """Return the outputs of the wheels.

    ``own`` tells a network's first neuron and the one after its last, ``link`` its first link;
    a neuron's links lie one after the other, in whole groups.  What neurons say lies in two
    sets of rows: read from one, written to the other, by turns.  The table of links holds the
    row that each reads, and its weight: for even cycles, then for odd cycles.
    """
    biases, stops, links = tables
    odd = i32(cycle & i32(1))
    read = i32(odd * all_links)
    neuron, last = own
    wheels = i32(place + (i32(1) - odd) * (last - neuron) * i32(LANES))
    out = wheels
    while neuron < last:
        total = f32(0.0)
        stop = stops[at(neuron)]
        while link < stop:
            link = rolled(link)
            for e in range(GROUP):
                row, weight = two_of(links[at(read + link) + e])
                total += weight * sf[row + me]
            link = i32(link + i32(GROUP))
        sf[at(out) + me] = tanh(GAIN * total + biases[at(neuron)])
        out = i32(out + i32(LANES))
        neuron = i32(neuron + i32(1))
    return sf[at(wheels) + me], sf[at(wheels) + LANES + me]
