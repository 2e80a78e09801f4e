"""Networks on the GPU: one synchronous step of every neuron, each robot in its lane."""

from __future__ import annotations

from numpy import float32 as f32
from numpy import int32 as i32

from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.warp import at, rolled, together, two_of
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
    biases, stops, links, _ = tables
    odd = i32(cycle & i32(1))
    read = i32(odd * all_links)
    neuron, last = own
    wheels = i32(place + (i32(1) - odd) * (last - neuron) * i32(L.LANES))
    out = wheels
    while neuron < last:
        total = f32(0.0)
        stop = stops[at(neuron)]
        while link < stop:
            link = rolled(link)
            for e in range(L.GROUP):
                row, weight = two_of(links[at(read + link) + e])
                total += weight * sf[row + me]
            link = i32(link + i32(L.GROUP))
        sf[at(out) + me] = tanh(GAIN * total + biases[at(neuron)])
        out = i32(out + i32(L.LANES))
        neuron = i32(neuron + i32(1))
    return sf[at(wheels) + me], sf[at(wheels) + L.LANES + me]


@stage
def think_together(warp, who, cycle, pool, sets, all_links, tables):
    """Return the outputs of the wheels where each robot has a network of its own.

    The lanes of a trial share the neurons of all its networks, the largest first: neurons read
    what was said in the last cycle, so that any lane may compute any of them.  ``who`` tells the
    lane's robot, its swarm's size, and whether there is one; ``pool`` the first neuron and the
    one after the last; ``sets`` where the two sets of rows begin, and what lies between them.
    """
    biases, stops, links, owners = tables
    sf, lane, base = warp.sf, warp.lane, warp.base
    robot, robots, active = who
    first, last = pool
    place, size = sets
    odd = i32(cycle & i32(1))
    read = i32(odd * all_links)
    wheels = i32(place + (i32(1) - odd) * size)
    trial = i32(base + lane - robot)
    neuron = i32(first + robot) if active else last
    together()  # inputs of all robots are there
    while neuron < last:
        owner = owners[at(neuron)]
        me = at(trial + (owner & i32(L.LANES - 1)))
        total = f32(0.0)
        link = stops[at(neuron)]
        stop = stops[at(neuron) + 1]
        while link < stop:
            link = rolled(link)
            for e in range(L.GROUP):
                row, weight = two_of(links[at(read + link) + e])
                total += weight * sf[row + me]
            link = i32(link + i32(L.GROUP))
        sf[at(wheels + trial + owner)] = tanh(GAIN * total + biases[at(neuron)])
        neuron = i32(neuron + robots)
    together()
    return sf[at(wheels) + warp.me], sf[at(wheels) + L.LANES + warp.me]
