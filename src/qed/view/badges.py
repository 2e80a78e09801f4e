"""Finds places for badges in a crowd: each near its robot, none on another or on a body."""

from __future__ import annotations

import numpy as np

ROUNDS = 40  # of pushing apart, at most
OFF_BODIES = 25  # rounds in which bodies push too; later badges only make way for one another
BIAS = 0.6  # how much a badge likes to be above its robot, against one neighbour at touch
EDGE = 3.0  # pixels that stay free at the walls


def places(
    robots: np.ndarray, owners: np.ndarray, sizes: np.ndarray, reach: float, side: float
) -> np.ndarray:
    """Return the centres of badges (n, 2) in a square picture; all lengths are in pixels.

    Parameters
    ----------
    robots : (robots, 2) centres of all robots, x to the right and y down
    owners : (n,) the robot of each badge
    sizes : (n, 2) width and height of each badge
    reach : radius of a robot
    side : side of the picture

    A badge begins above its robot, or on the side away from others that are near.  Badges that
    overlap one another or a robot are then pushed apart the short way, a little at a time, so
    that they move smoothly from frame to frame.
    """
    home = robots[owners]
    away = home[:, None] - robots[None]
    distance = np.hypot(away[..., 0], away[..., 1])
    near = np.clip(2.0 - distance / (2.5 * reach), 0.0, 1.0)  # 1 at touch, 0 at two bodies off
    tendency = (away / np.maximum(distance, 1e-6)[..., None] * near[..., None]).sum(1)
    no_room = home[:, 1] - reach - sizes[:, 1] < EDGE
    tendency[:, 1] += np.where(no_room, 1.0, -1.0) * BIAS
    tendency /= np.maximum(np.hypot(tendency[:, 0], tendency[:, 1]), 1e-6)[:, None]
    centres = home + tendency * (reach + sizes / 2)
    low, high = EDGE + sizes / 2, side - EDGE - sizes / 2
    both = (sizes[:, None] + sizes[None]) / 2
    body = sizes[:, None] / 2 + 0.75 * reach
    order = np.sign(np.arange(len(owners))[:, None] - np.arange(len(owners)))
    for turn in range(ROUNDS):
        centres = np.clip(centres, low, high)
        apart = centres[:, None] - centres[None]
        # Of badges at the very same place the later one goes down.
        apart[..., 1] += 1e-3 * order
        push = 0.5 * _short_way(apart, both)
        push[np.arange(len(owners)), np.arange(len(owners))] = 0.0
        step = push.sum(1)
        if turn < OFF_BODIES:
            step += 0.5 * _short_way(centres[:, None] - robots[None], body).sum(1)
        if np.abs(step).max(initial=0.0) < 0.25:
            break
        centres = centres + 0.6 * step
    settled: np.ndarray = np.clip(centres, low, high)
    return settled


def _short_way(apart: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Return the shortest way out of an overlap, 0 where there is none.

    ``apart`` is from the middle of one box to that of another, ``room`` what they need.
    """
    missing = room - np.abs(apart)
    overlap = (missing > 0).all(-1)
    sideways = missing[..., 0] < missing[..., 1]
    way = np.zeros_like(apart)
    way[..., 0] = np.where(overlap & sideways, missing[..., 0], 0.0)
    way[..., 1] = np.where(overlap & ~sideways, missing[..., 1], 0.0)
    return way * np.where(apart < 0, -1.0, 1.0)
