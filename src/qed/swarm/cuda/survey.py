"""What HBD needs of the visits to fine cells, counted on the GPU: a warp for each trial."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import cuda, int32
from numpy import int32 as i32

from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import launchable

COLUMNS = 4


@cache
def kernel() -> Any:
    """Return the kernel that fills int32 (trials, 4): sum, visited, sum above and number above.

    ``cells`` tells how many fine cells each trial has, ``fine`` how many lie from one trial's to
    the next.
    """

    def run(visits, cells, fine, counts):
        found = cuda.shared.array(COLUMNS, int32)
        trial = cuda.blockIdx.x
        lane = cuda.threadIdx.x
        first = trial * fine
        if lane < COLUMNS:
            found[lane] = 0
        cuda.syncthreads()
        total = i32(0)
        visited = i32(0)
        c = lane
        while c < cells[trial]:
            total += visits[first + c]
            visited += i32(1) if visits[first + c] > 0 else i32(0)
            c += L.LANES
        cuda.atomic.add(found, 0, total)
        cuda.atomic.add(found, 1, visited)
        cuda.syncthreads()
        fair = found[0] // found[1]
        above = i32(0)
        many = i32(0)
        c = lane
        while c < cells[trial]:
            if visits[first + c] > fair:
                above += visits[first + c]
                many += i32(1)
            c += L.LANES
        cuda.atomic.add(found, 2, above)
        cuda.atomic.add(found, 3, many)
        cuda.syncthreads()
        if lane < COLUMNS:
            counts[trial, lane] = found[lane]

    return launchable(run, "survey")
