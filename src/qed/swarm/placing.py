"""Where robots and obstacles stand at the start of a trial, drawn from a seed."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy import float32 as f32

from qed.chance import fold, high_noise, low_noise, mix
from qed.compile import entry, loop
from qed.errors import InputError
from qed.swarm.laws.geometry import PI, cos_sin
from qed.swarm.laws.outline import body_point, separation
from qed.swarm.robot import OBSTACLE_RADIUS, ROBOT, START_MARGIN

MARGIN = f32(START_MARGIN)
RADIUS = f32(OBSTACLE_RADIUS)
CLOSE = f32(2.0 * ROBOT.outer_radius)  # bodies farther apart cannot overlap
CLOSE_OBSTACLE = f32(ROBOT.outer_radius + OBSTACLE_RADIUS)
TRIES = 10_000  # draws in a trial before it is given up
START, NOISE = 1, 2  # purposes of random keys


@lru_cache(maxsize=256)
def place(
    robots: int, arena: float, obstacles: int, trials: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return start poses (trials, robots, 3), obstacle centres (trials, n, 2) and noise keys.

    All depend on the seed, the trial's number, and what takes up room.  Raises ValueError if a
    trial finds no room.  The arrays are shared between calls: read only.
    """
    poses = np.zeros((trials, robots, 3), np.float32)
    centres = np.zeros((trials, obstacles, 2), np.float32)
    numbers = np.arange(trials)
    room = robots, round(1e6 * arena), obstacles
    failed = 0
    if arena > 2.0 * START_MARGIN:
        failed = draw_places(fold(seed, START, *room, numbers), f32(arena), poses, centres)
    if failed >= 0:
        raise InputError(
            f"robots: no room for {robots} robots and {obstacles} obstacles in an arena of "
            f"{arena:g} m (they start at least {START_MARGIN:g} m from the walls and must not "
            "overlap); use fewer, a larger arena, or give start="
        )
    for array in (poses, centres):
        array.flags.writeable = False
    return poses, centres, noise_keys(robots, arena, obstacles, trials, seed)


@lru_cache(maxsize=256)
def noise_keys(robots: int, arena: float, obstacles: int, trials: int, seed: int) -> np.ndarray:
    """Return the keys (trials, robots) of the robots' streams of random numbers: read only."""
    numbers = np.arange(trials)[:, None]
    room = robots, round(1e6 * arena), obstacles
    keys: np.ndarray = fold(seed, NOISE, *room, numbers, np.arange(robots))
    keys.flags.writeable = False
    return keys


@entry
def draw_places(keys: Any, side: Any, poses: Any, centres: Any) -> int:
    """Fill places that do not overlap; return the first trial without room, or -1."""
    for t in range(len(keys)):
        count = 0
        for o in range(centres.shape[1]):
            while True:
                count += 1
                if count > TRIES:
                    return t
                x, y, _ = anywhere(keys[t], count, side)
                if obstacle_fits(centres[t], o, x, y):
                    break
            centres[t, o, 0] = x
            centres[t, o, 1] = y
        for r in range(poses.shape[1]):
            while True:
                count += 1
                if count > TRIES:
                    return t
                x, y, heading = anywhere(keys[t], count, side)
                if robot_fits(poses[t], r, centres[t], (x, y, heading)):
                    break
            poses[t, r, 0] = x
            poses[t, r, 1] = y
            poses[t, r, 2] = heading
    return -1


@loop
def anywhere(key: Any, count: int, side: Any) -> Any:
    """Return the place and heading of one draw."""
    bits = mix(np.uint32(key + np.uint32(2 * count)))
    more = mix(np.uint32(key + np.uint32(2 * count + 1)))
    half = f32(0.5) * side
    room = half - MARGIN
    return half + room * low_noise(bits), half + room * high_noise(bits), PI * low_noise(more)


@loop
def obstacle_fits(centres: Any, placed: int, x: Any, y: Any) -> bool:
    """Return whether an obstacle overlaps none that is placed."""
    for o in range(placed):
        dx = centres[o, 0] - x
        dy = centres[o, 1] - y
        if dx * dx + dy * dy < f32(4.0) * RADIUS * RADIUS:
            return False
    return True


@loop
def robot_fits(poses: Any, placed: int, centres: Any, pose: Any) -> bool:
    """Return whether a robot overlaps no obstacle and no robot that is placed."""
    x, y, heading = pose
    c, s = cos_sin(heading)
    for o in range(centres.shape[0]):
        dx = centres[o, 0] - x
        dy = centres[o, 1] - y
        if dx * dx + dy * dy < CLOSE_OBSTACLE * CLOSE_OBSTACLE:
            _, _, gap, _, _ = body_point(c * dx + s * dy, c * dy - s * dx)
            if gap < RADIUS:
                return False
    for r in range(placed):
        dx = poses[r, 0] - x
        dy = poses[r, 1] - y
        if dx * dx + dy * dy < CLOSE * CLOSE:
            other_c, other_s = cos_sin(poses[r, 2])
            gap, _, _ = separation(dx, dy, c, s, other_c, other_s)
            if gap < f32(0.0):
                return False
    return True
