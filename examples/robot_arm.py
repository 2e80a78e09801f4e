"""QED on a domain of your own: a robot arm whose joints may be damaged.

    python examples/robot_arm.py

An arm of four links reaches for a point.  Its environment is its damage: each joint is sound,
stuck straight, stuck bent, or moves half as far.  QED evolves one set of joint angles for each
of the 256 damages.  When the arm then breaks in a way nobody told it, the archive is searched
for angles that still reach the point.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from qed.archive.archive import Archive
from qed.archive.grid import Categories
from qed.evolution.map_elites import MapElites, search

JOINTS = 4
LINK = 0.25  # m
GOAL = (0.35, 0.45)  # m
SOUND, STRAIGHT, BENT, HALF = range(4)  # options of a joint
STUCK_AT = 0.9  # rad, of a bent joint
LIMIT = math.pi / 2  # rad


class Angles(NamedTuple):
    """Joint angles of a batch of arms."""

    angles: np.ndarray  # float32 (n, joints), rad


class Arm:
    """The domain: random angles, small changes, and how near the arm comes to the goal."""

    def random(self, keys: np.ndarray) -> Angles:
        """Return uniform angles."""
        return Angles(_uniform(keys, LIMIT))

    def vary(self, parents: Angles, keys: np.ndarray) -> Angles:
        """Return angles changed by up to 0.3 rad."""
        return Angles(np.clip(parents.angles + _uniform(keys, 0.3), -LIMIT, LIMIT))

    def evaluate(
        self, solutions: Angles, environments: np.ndarray | None
    ) -> tuple[np.ndarray, None]:
        """Return one minus the distance to the goal (m)."""
        damage = np.zeros((len(solutions.angles), JOINTS), int)
        return reach(solutions.angles, damage if environments is None else environments), None


def _uniform(keys: np.ndarray, limit: float) -> np.ndarray:
    """Return uniform numbers in (-limit, limit), a row for each key."""
    rows = [np.random.default_rng(int(key)).uniform(-limit, limit, JOINTS) for key in keys]
    return np.array(rows, np.float32)


def reach(angles: np.ndarray, damage: np.ndarray) -> np.ndarray:
    """Return one minus the distance (m) between gripper and goal, arm by arm."""
    moved = np.select(
        [damage == STRAIGHT, damage == BENT, damage == HALF],
        [np.zeros_like(angles), np.full_like(angles, STUCK_AT), 0.5 * angles],
        angles,
    )
    directions = np.cumsum(moved, axis=1, dtype=float)
    x = LINK * np.cos(directions).sum(1)
    y = LINK * np.sin(directions).sum(1)
    return 1.0 - np.hypot(x - GOAL[0], y - GOAL[1])


def evolve(evaluations: int = 20_000, seed: int = 1) -> Archive:
    """Return the best angles known for each damage."""
    arm = MapElites(
        domain=Arm(),
        archive=Archive(Categories((4,) * JOINTS)),
        seed=seed,
        evaluations=evaluations,
        initial=500,
        environments=(4,) * JOINTS,
    )
    for _ in search(arm):
        pass
    return arm.archive


def recover(archive: Archive, damage: list[int]) -> tuple[float, float]:
    """Return how well a damaged arm does with the angles of a sound arm, and recovered."""
    elites = archive.solutions()["angles"]
    after = reach(elites, np.tile(damage, (len(elites), 1)))
    sound = archive.occupied.tolist().index(0)
    return float(after[sound]), float(after.max())


def main() -> None:
    """Evolve, break, recover."""
    archive = evolve()
    print(f"{archive.coverage} damages known; mean reach {archive.mean:.3f}")
    for damage in ([1, 0, 0, 0], [0, 2, 0, 3], [3, 3, 3, 3], [2, 0, 1, 0]):
        broken, recovered = recover(archive, damage)
        print(f"damage {damage}: {broken:.3f} after it, {recovered:.3f} recovered")


if __name__ == "__main__":
    main()
