"""Where robots begin: drawn from a seed, or in a formation."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from qed.errors import InputError
from qed.swarm import robot
from qed.swarm.environment import Environment
from qed.swarm.start import Start

STARTS = {
    "drawn": "scattered, drawn from the seed",
    "centre": "together in the middle",
    "ring": "in a ring, facing outwards",
    "corner": "together in a corner",
}
APART = 0.18  # m between robots that begin together
EDGE = 0.15  # m between robots and walls
DRAWS = 40  # of obstacles, before it is given up
DIGITS = 4  # of metres and radians: what is written as Python is what is simulated


def placed(name: str, environment: Environment, seed: int) -> Start | None:
    """Return a formation in an environment; None if starts are drawn."""
    if name == "drawn":
        return None
    poses = np.round(FORMATIONS[name](environment), DIGITS)
    low, high = poses[:, :2].min(), poses[:, :2].max()
    if low < EDGE - 1e-9 or high > environment.arena - EDGE + 1e-9:
        raise InputError(
            f"start: no room for {environment.robots} robots {STARTS[name]} in an arena of "
            f"{environment.arena:g} m; use fewer, or a larger arena"
        )
    return Start(poses, np.round(_obstacles(environment, poses, seed), DIGITS))


def _centre(environment: Environment) -> np.ndarray:
    poses = _block(environment.robots)
    poses[:, :2] += environment.arena / 2 - poses[:, :2].mean(0)
    return poses


def _corner(environment: Environment) -> np.ndarray:
    poses = _block(environment.robots)
    poses[:, :2] += EDGE
    poses[:, 2] = math.pi / 4
    return poses


def _ring(environment: Environment) -> np.ndarray:
    angles = 2.0 * math.pi * np.arange(environment.robots) / environment.robots
    needed = environment.robots * APART / (2.0 * math.pi)
    radius = max(environment.arena / 4, needed)
    middle = environment.arena / 2
    return np.stack([middle + radius * np.cos(angles), middle + radius * np.sin(angles), angles], 1)


def _block(robots: int) -> np.ndarray:
    """Return robots in rows, a square of them about, all heading to the right."""
    across = math.ceil(math.sqrt(robots))
    number = np.arange(robots)
    return np.stack([APART * (number % across), APART * (number // across), 0.0 * number], 1)


FORMATIONS: dict[str, Callable[[Environment], np.ndarray]] = {
    "centre": _centre,
    "ring": _ring,
    "corner": _corner,
}


def _obstacles(environment: Environment, poses: np.ndarray, seed: int) -> np.ndarray:
    """Return obstacles, drawn until none stands on a robot or on another one."""
    reach = robot.OBSTACLE_RADIUS + robot.BODY_OUTER_RADIUS
    kept: list[np.ndarray] = []
    if environment.obstacles == 0:
        return np.zeros((0, 2))
    from qed.swarm.placing import place

    trials = place(environment.robots, environment.arena, environment.obstacles, DRAWS, seed)[1]
    for centre in trials.reshape(-1, 2).astype(float):
        free = np.hypot(*(poses[:, :2] - centre).T).min() > reach
        apart = all(math.dist(centre, other) > 2.0 * robot.OBSTACLE_RADIUS for other in kept)
        if free and apart:
            kept.append(centre)
        if len(kept) == environment.obstacles:
            return np.array(kept)
    raise InputError(f"start: no room for {environment.obstacles} obstacles beside the robots")
