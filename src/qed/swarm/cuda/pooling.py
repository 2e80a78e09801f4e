"""The neurons of a team as one pool, which the lanes of a trial share.

Networks differ in size.  If each lane computed its own robot's neurons, all would wait for the
largest network; so they are dealt out to lanes, those with the most links first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.controller.networks import Networks, each_of
from qed.swarm.cuda import layout as L


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
