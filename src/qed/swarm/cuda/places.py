"""Where things lie in each warp's part of shared memory, after its rows.

A warp of many small trials has few pairs and many patrolled cells; one of a large swarm has it
the other way round.  So each is arranged for itself, and all get as much as the largest needs.
"""

from __future__ import annotations

import numpy as np

from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import SIMULATED
from qed.swarm.cuda.packing import Packed, pairs_at_once
from qed.swarm.laws.scoring import GRID


def rows_of(with_faults: bool, with_teams: bool = False) -> int:
    """Return the number of rows in a warp's shared memory."""
    if SIMULATED:
        return L.ROWS_IN_SIMULATOR
    if with_teams:
        return L.ROWS_WITH_TEAMS
    return L.ROWS_WITH_FAULTS if with_faults else L.ROWS


def most_neurons(tables: Packed) -> np.ndarray:
    """Return the number of neurons of each controller's network, of a team the largest."""
    own = tables.networks[:, L.N_STOP] - tables.networks[:, L.N_FIRST]
    most: np.ndarray = np.maximum.reduceat(own, tables.first)
    return most


def arrange(tables: Packed, patrols: bool, counts: bool) -> int:
    """Fill in the places of each warp; return how many numbers the largest needs."""
    warps = tables.warps
    robots = warps[:, L.W_ROBOTS]
    at_once = L.LANES // robots
    pairs = pairs_at_once(robots)
    obstacles = tables.limits[warps[:, L.W_LIMITS], L.L_OBSTACLES].astype(int)
    neurons = most_neurons(tables)[warps[:, L.W_LIMITS]]
    place = L.LANES * (rows_of(tables.with_faults, tables.with_teams) + 2 * neurons)
    for column, size in (
        (L.W_LISTED, pairs),
        (L.W_NEAR, pairs),
        (L.W_WORK, np.maximum(pairs, L.RAY_LIST)),
        (L.W_COUNTS, L.SITUATION_COUNTS // 2 if counts else 0),
        (L.W_PATROL, GRID * GRID * at_once if patrols else 0),
        (L.W_CENTRES, 2 * at_once * obstacles),
    ):
        warps[:, column] = place
        place = place + size
    return int(place.max())
