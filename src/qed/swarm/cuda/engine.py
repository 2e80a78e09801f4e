"""Many worlds on one GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numba import cuda

from qed.controller.network import CONSTANT, FIRST_HIDDEN
from qed.swarm.cuda import kernel as kernels
from qed.swarm.cuda.device import SIMULATED
from qed.swarm.cuda.layout import (
    INPUTS,
    LANES,
    MOST_ROBOTS,
    S_BORDER,
    S_CENTRE,
    S_FEATURES,
    S_FLOCK,
    S_NEAREST,
    S_PATROL,
    S_RADIUS,
    SUMS,
    WARPS,
    most_pairs,
)
from qed.swarm.cuda.packing import Ground, Packed, fine_side, packed
from qed.swarm.laws.contact import SWEEPS
from qed.swarm.laws.scoring import FULL, GRID

WANTS = {
    "centre_distance": kernels.AGGREGATION,
    "nearest_distance": kernels.DISPERSION,
    "flock": kernels.FLOCKING,
    "patrol": kernels.PATROLLING,
    "border": kernels.PATROLLING,
    "hbd": kernels.VISITS,
    "sdbc": kernels.FEATURES,
    "spirit": kernels.SITUATIONS,
}
TRIALS_AT_ONCE = 200_000  # of a launch; larger batches are split
VISITS_AT_ONCE = 1_000_000_000  # fine cells of a launch
SHARED = 48 * 1024  # bytes of shared memory that a block may have
# Swarms of up to so many robots share a kernel: its lists are as long as they may need.
SIZES = (10, 20, MOST_ROBOTS)

_ground = Ground()
_sent: dict[str, tuple[int, Any]] = {}  # tables of the ground on the GPU, and how long they were


def simulate(
    job: Any, sums: Sequence[str], progress: Callable[[int], Any] | None = None
) -> list[dict[str, np.ndarray]]:
    """Return, for each controller, the wanted sums of all its trials."""
    wants = 0
    for name in sums:
        wants |= WANTS[name]
    ground = _ground if job.start is None else Ground()
    found: list[dict[str, np.ndarray]] = []
    for some in _parts(job, wants):
        tables = packed(job, some, ground, bool(wants & kernels.SITUATIONS))
        total, visits, spirit = launch(tables, ground, wants, job.cycles)
        found += _results(job, some, wants, total, visits, spirit)
        if progress is not None:
            robots = sum(env.robots for env in job.environments[some])
            progress(robots * job.trials * job.cycles)
    return found


def _parts(job: Any, wants: int) -> Iterator[slice]:
    """Yield the controllers of one launch after the other."""
    size = max(TRIALS_AT_ONCE // job.trials, 1)
    if wants & kernels.VISITS:
        cells = max(fine_side(env) for env in set(job.environments)) ** 2
        size = max(min(size, VISITS_AT_ONCE // (job.trials * cells)), 1)
    for begin in range(0, len(job.controllers), size):
        yield slice(begin, min(begin + size, len(job.controllers)))


def launch(
    tables: Packed, ground: Ground, wants: int, cycles: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run the kernel; return sums (trials, fields), visits (trials, cells) and SPIRIT's counts."""
    capacity = most_pairs(next(size for size in SIZES if tables.robots <= size))
    run = kernels.kernel(
        wants, tables.with_obstacles, tables.with_faults, tables.with_deaf, capacity
    )
    place = kernels.spare(capacity, tables.with_faults)
    stride = place + 2 * LANES * tables.hidden
    if wants & kernels.PATROLLING:
        fewest = int(tables.warps[:, 2].min())
        stride += (LANES // fewest) * GRID * GRID
    if wants & kernels.SITUATIONS:
        stride += kernels.SITUATION_COUNTS // 2
    stride += 2 * max(LANES // env_robots * n for env_robots, n in tables.obstacles)
    warps = 1 if SIMULATED else max(min(WARPS, SHARED // (4 * stride)), 1)
    blocks = -(-len(tables.warps) // warps)
    sums = cuda.device_array((tables.trials, SUMS), np.float64)
    visits = cuda.device_array(
        (tables.trials, tables.fine) if wants & kernels.VISITS else (1, 1), np.int32
    )
    counts = kernels.SITUATION_COUNTS if wants & kernels.SITUATIONS else 1
    spirit = cuda.to_device(np.zeros((len(tables.networks), counts), np.int32))
    run[blocks, warps * LANES, 0, 4 * stride * warps](
        cuda.to_device(tables.warps),
        cuda.to_device(tables.limits),
        _on_gpu("poses", ground),
        _on_gpu("keys", ground),
        cuda.to_device(tables.faults),
        _on_gpu("centres", ground),
        cuda.to_device(tables.networks),
        (
            cuda.to_device(tables.bounds),
            cuda.to_device(tables.biases),
            cuda.to_device(_rows(tables, place)),
            cuda.to_device(tables.weights),
        ),
        cuda.device_array(tables.kept, np.float32),
        cuda.device_array(tables.blocks, np.float32),
        sums,
        visits,
        spirit,
        np.int32(cycles),
        np.int32(stride),
        np.int32(tables.hidden),
        np.int32(SWEEPS),
        np.int32(len(tables.sources)),
    )
    return sums.copy_to_host(), visits.copy_to_host(), spirit.copy_to_host()


def _rows(tables: Packed, place: int) -> np.ndarray:
    """Return which row of shared memory each link reads, in even cycles and in odd ones."""
    sources = tables.sources
    inputs = INPUTS + LANES * sources
    kept = place + LANES * (sources - FIRST_HIDDEN)
    even = np.where(sources < CONSTANT, inputs, kept)
    odd = np.where(sources < CONSTANT, inputs, kept + LANES * tables.hidden)
    return np.concatenate([even, odd, [0]]).astype(np.int32)


def _on_gpu(name: str, ground: Ground) -> Any:
    """Return a table of the ground on the GPU; the common one is sent only when it has grown."""
    table = getattr(ground, name)
    if ground is not _ground:
        return cuda.to_device(table)
    if _sent.get(name, (0, None))[0] != len(table):
        _sent[name] = len(table), cuda.to_device(table)
    return _sent[name][1]


def _results(
    job: Any, some: slice, wants: int, sums: np.ndarray, visits: np.ndarray, spirit: np.ndarray
) -> list[dict[str, np.ndarray]]:
    """Return the sums of each controller by name."""
    found = []
    for k, env in enumerate(job.environments[some]):
        here = slice(k * job.trials, (k + 1) * job.trials)
        mine = sums[here]
        result = {
            "centre_distance": mine[:, S_CENTRE],
            "nearest_distance": mine[:, S_NEAREST],
            "flock": mine[:, S_FLOCK],
            "patrol": mine[:, S_PATROL] / FULL,
            "border": mine[:, S_BORDER] / FULL,
            "radius": mine[:, S_RADIUS],
            "features": mine[:, S_FEATURES:].reshape(-1, 5, 2),
        }
        if wants & kernels.VISITS:
            result["visits"] = visits[here, : fine_side(env) ** 2]
        if wants & kernels.SITUATIONS:
            result["situations"] = spirit[k]
        found.append(result)
    return found
