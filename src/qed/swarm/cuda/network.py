"""Networks on the GPU: one synchronous step of every neuron, each robot in its lane.

A team's networks differ in size.  If each lane computed its own robot's neurons, all would wait for
the largest network; so the neurons of a trial are one pool, dealt out to its lanes, those with the
most links first.  The bits are those that a network gives alone.
"""

from typing import Any

import numpy as np
from numpy import float32 as f32
from numpy import int32 as i32

from qed.controller.genome import Networks, each_of
from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import device, stage
from qed.swarm.cuda.warp import at, rolled, together, two_of
from qed.swarm.laws import neuron as laws
from qed.swarm.laws.neuron import GAIN

tanh = device(laws.tanh)


@stage
def step_network(sf, me, cycle, neurons, link, place, all_links, tables):
    """Return the outputs of the wheels.

    ``neurons`` are a network's first neuron and the one after its last, ``link`` its first link;
    a neuron's links lie one after the other, in whole groups.  Neurons' values lie in two
    sets of rows: read from one, written to the other, by turns.  The table of links holds the
    row that each reads, and its weight: for even cycles, then for odd cycles.
    """
    biases, stops, links, _ = tables
    parity = i32(cycle & i32(1))
    read = i32(parity * all_links)
    neuron, last = neurons
    wheels = i32(place + (i32(1) - parity) * (last - neuron) * i32(L.LANES))
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
def step_team(warp, who, cycle, pool, sets, all_links, tables):
    """Return the outputs of the wheels where each robot has a network of its own.

    The lanes of a trial share the neurons of all its networks, the largest first: neurons read
    the values of the last cycle, so that any lane may compute any of them.  ``who`` is the
    lane's robot, its swarm's size, and whether there is one; ``pool`` the first neuron and the
    one after the last; ``sets`` where the two sets of rows begin, and what lies between them.
    """
    biases, stops, links, owners = tables
    sf, lane, base = warp.sf, warp.lane, warp.base
    robot, robots, active = who
    first, last = pool
    place, size = sets
    parity = i32(cycle & i32(1))
    read = i32(parity * all_links)
    wheels = i32(place + (i32(1) - parity) * size)
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


def one_each(table: Networks, sizes: np.ndarray, robots: np.ndarray) -> tuple[Networks, np.ndarray]:
    """Return networks of which each robot has one, and their number for each controller.

    Controllers have so many networks (one for all robots, or one for each) and robots.
    """
    if np.array_equal(sizes, robots):
        return table, sizes
    first = np.cumsum(sizes) - sizes
    robot = each_of(np.zeros_like(robots), robots)
    return table.take(np.repeat(first, robots) + robot * np.repeat(sizes > 1, robots)), robots


def pooled(neurons: np.ndarray, sizes: np.ndarray, tables: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of neurons and links with the neurons of each team in order.

    Networks have so many neurons, teams so many networks.  An owner is a neuron's row, times
    the number of lanes, and its robot.
    """
    stops = tables["stops"].astype(np.int64)
    begins = np.append(0, stops[:-1])
    team = np.repeat(np.repeat(np.arange(len(sizes)), sizes), neurons)
    robot = np.repeat(each_of(np.zeros_like(sizes), sizes), neurons)
    row = each_of(np.zeros_like(neurons), neurons)
    order = np.lexsort((begins - stops, team))
    links = (stops - begins)[order]
    moved = each_of(begins[order], links)
    return {
        "biases": tables["biases"][order],
        "stops": np.append(0, np.cumsum(links)).astype(np.int32),
        "owners": (L.LANES * row + robot)[order].astype(np.int32),
        "sources": tables["sources"][moved],
        "weights": tables["weights"][moved],
    }
