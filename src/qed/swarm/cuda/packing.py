"""From a job to the tables that a kernel reads: places, environments, faults, networks, warps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.controller.network import CONSTANT, Network
from qed.swarm.cuda.layout import (
    BLOCK_FIELDS,
    CONTACT_FIELDS,
    KEPT,
    LANES,
    LIMITS,
    N_END,
    N_FIRST,
    N_LINK,
    N_LIVE,
    NETWORK_FIELDS,
    W_NETWORK,
    W_OUT,
    W_ROBOTS,
    WARP_FIELDS,
)
from qed.swarm.environment import Environment
from qed.swarm.faults import FAULTS, Faults
from qed.swarm.laws.contact import MARGIN_TIME, near_radius
from qed.swarm.laws.describing import fine_side
from qed.swarm.placing import noise_keys, place

ALL_INPUTS = (1 << 15) - 1
NOTHING = -1  # the source of a neuron that reads nothing


class Ground:
    """Where robots start: one table for all environments met so far, which only grows."""

    def __init__(self) -> None:
        self.poses = np.zeros((0, 5), np.float32)  # x, y, heading, its cosine and sine
        self.keys = np.zeros(0, np.uint32)
        self.centres = np.zeros((1, 2), np.float32)  # of obstacles
        self.known: dict[Any, tuple[int, int]] = {}

    def find(self, job: Any, env: Environment, seed: int) -> tuple[int, int]:
        """Return the first row of a world's robots, and of its obstacles."""
        room = (env.robots, env.arena, env.obstacles, job.trials, seed)
        if room not in self.known:
            if job.start is None:
                poses, obstacles, keys = place(*room)
            else:
                poses, obstacles = job.start.poses, job.start.obstacles
                keys = noise_keys(*room)
            first = len(self.keys), len(self.centres)
            heading = (poses[..., 2].astype(np.float64) + math.pi) % (2 * math.pi) - math.pi
            table = np.stack(
                [poses[..., 0], poses[..., 1], heading, np.cos(heading), np.sin(heading)], -1
            )
            self.poses = np.concatenate([self.poses, table.reshape(-1, 5).astype(np.float32)])
            self.keys = np.concatenate([self.keys, keys.ravel()])
            centres = np.asarray(obstacles, np.float32).reshape(-1, 2)
            self.centres = np.concatenate([self.centres, centres])
            self.known[room] = first
        return self.known[room]


@dataclass
class Packed:
    """Tables for one launch."""

    warps: np.ndarray  # int32 (warps, fields), the dearest first
    limits: np.ndarray  # float32 (environments, fields)
    faults: np.ndarray  # float32 (robots, fields)
    networks: np.ndarray  # int32 (networks, fields)
    biases: np.ndarray  # float32, one a neuron
    sources: np.ndarray  # int32, one a link; NOTHING for a neuron that reads nothing
    weights: np.ndarray  # float32, one a link
    last: np.ndarray  # the last link of each neuron
    trials: int  # of all worlds
    neurons: int  # of the largest network
    kept: int  # numbers to keep of pairs in contact
    blocks: int  # and of robots at obstacles
    fine: int  # fine cells of the largest arena
    cells: np.ndarray  # int32, fine cells of each trial
    robots: int  # of the largest swarm
    obstacles: list[tuple[int, int]]  # robots and obstacles of each environment
    with_obstacles: bool
    with_faults: bool
    with_deaf: bool


def packed(job: Any, some: slice, ground: Ground, all_inputs: bool, most: int = LANES) -> Packed:
    """Return the tables of some of a job's controllers, with at most so many trials a warp."""
    environments = job.environments[some]
    broken = job.faults[some]
    limits: dict[Environment, int] = {}
    faults: dict[tuple[Environment, Faults | None], int] = {}
    fault_rows: list[np.ndarray] = []
    warps = []
    outs = kept = blocks = 0
    for c, (env, fault, seed) in enumerate(zip(environments, broken, job.seeds[some], strict=True)):
        limit = limits.setdefault(env, len(limits))
        if (env, fault) not in faults:
            faults[env, fault] = sum(map(len, fault_rows))
            fault_rows.append(_faults(env, fault, job.noise))
        first, first_obstacle = ground.find(job, env, seed)
        at_once = LANES // env.robots
        starts = np.arange(0, job.trials, at_once)
        rows = np.empty((len(starts), WARP_FIELDS), np.int32)
        rows[:, 0] = first + starts * env.robots
        rows[:, 1] = np.minimum(at_once, job.trials - starts)
        rows[:, 2] = env.robots
        rows[:, 3] = c
        rows[:, 4] = limit
        rows[:, W_OUT] = outs + starts
        rows[:, 6] = first_obstacle + starts * env.obstacles
        rows[:, 7] = faults[env, fault]
        per_pair = KEPT * LANES * (env.robots // 2)
        per_block = BLOCK_FIELDS * LANES * env.obstacles
        # Beyond the first 32, contacts lie after what is kept of pairs.
        pairs = at_once * env.robots * (env.robots - 1) // 2
        per_warp = per_pair + CONTACT_FIELDS * LANES * -(-pairs // LANES)
        rows[:, 8] = kept + per_warp * np.arange(len(starts))
        rows[:, 10] = rows[:, 8] + per_pair
        rows[:, 9] = blocks + per_block * np.arange(len(starts))
        outs += job.trials
        kept += per_warp * len(starts)
        blocks += per_block * len(starts)
        warps.append(rows)
    table = np.concatenate(warps)
    networks = _networks([b.network() for b in job.controllers[some]], all_inputs)
    # The dearest first, so that none is left over at the end: large swarms, then large networks.
    cost = networks.pop("cost")[table[:, W_NETWORK]]
    dearest = np.lexsort((-cost, -table[:, W_ROBOTS]))
    return Packed(
        warps=table[dearest],
        limits=np.array([_limits(env, job.noise) for env in limits], np.float32),
        faults=np.concatenate(fault_rows),
        **networks,
        trials=outs,
        kept=max(kept, 1),
        blocks=max(blocks, 1),
        fine=max(fine_side(env.arena) for env in limits) ** 2,
        cells=np.repeat([fine_side(e.arena) ** 2 for e in environments], job.trials).astype(
            np.int32
        ),
        robots=max(env.robots for env in limits),
        obstacles=[(env.robots, env.obstacles) for env in limits],
        with_obstacles=any(env.obstacles for env in limits),
        with_faults=any(fault is not None for _, fault in faults),
        with_deaf=any(FAULTS[name].deaf for _, fault in faults for name in fault or ()),
    )


def _faults(env: Environment, faults: Faults | None, noise: float) -> np.ndarray:
    """Return a row for each robot: wheels, front sensors, hearing."""
    table = [FAULTS[name] for name in faults or ["NONE"] * env.robots]
    return np.array(
        [
            (
                env.max_speed * fault.left,
                env.max_speed * fault.right,
                fault.gain,
                noise if fault.noise is None else fault.noise,
                fault.offset,
                fault.deaf,
            )
            for fault in table
        ],
        np.float32,
    )


def _limits(env: Environment, noise: float) -> tuple[float, ...]:
    """Return the row of an environment."""
    row = (
        env.arena,
        env.max_speed,
        near_radius(env.proximity_range, env.max_speed) ** 2,
        env.rab_range**2,
        env.rab_range,
        env.proximity_range,
        MARGIN_TIME * env.max_speed,
        noise,
        env.obstacles,
        fine_side(env.arena),
    )
    assert len(row) == LIMITS
    return row


def _instructions(networks: np.ndarray, neurons: np.ndarray) -> np.ndarray:
    """Return about how many instructions a network and its sensors take in a cycle."""
    live = networks[:, N_LIVE]
    rays = sum((live >> k) & 1 for k in range(7))
    links = networks[:, N_END] - networks[:, N_LINK]
    cost: np.ndarray = 12 * links + 35 * neurons + 60 * rays + 600 * (live > 127)
    return cost


def _networks(networks: Sequence[Network], all_inputs: bool) -> dict[str, Any]:
    """Return the tables of networks: neurons and links of all, one after the other."""
    neurons = np.array([len(n.biases) for n in networks])
    counts = np.concatenate([np.diff(n.first_link) for n in networks])
    nothing = np.flatnonzero(counts == 0)
    before = np.cumsum(counts)[nothing]
    sources = np.insert(np.concatenate([n.sources for n in networks]), before, NOTHING)
    weights = np.insert(np.concatenate([n.weights for n in networks]), before, 0.0)
    ends = np.cumsum(np.maximum(counts, 1))
    table = np.empty((len(networks), NETWORK_FIELDS), np.int32)
    table[:, N_FIRST] = np.cumsum(neurons) - neurons
    table[:, N_END] = ends[np.cumsum(neurons) - 1]
    table[:, N_LINK] = np.append(0, table[:-1, N_END])
    bits = np.where((sources >= 0) & (sources < CONSTANT), 1 << np.maximum(sources, 0), 0)
    live = np.bitwise_or.reduceat(bits, table[:, N_LINK])
    table[:, N_LIVE] = ALL_INPUTS if all_inputs else live
    return {
        "networks": table,
        "biases": np.concatenate([n.biases for n in networks]),
        "sources": sources,
        "weights": weights,
        "last": ends - 1,
        "neurons": int(neurons.max()),
        "cost": _instructions(table, neurons),
    }
