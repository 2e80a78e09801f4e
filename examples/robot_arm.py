"""QED on a domain of your own: a robot arm whose joints may be damaged.

    python examples/robot_arm.py                        evolve, break, recover
    python examples/robot_arm.py --out runs/arm         the same, in a folder with checkpoints
    python examples/robot_arm.py --out runs/arm --resume    after a kill: ends with the same bits
    qed info runs/arm; qed map runs/arm                 its numbers and its picture

An arm of four links reaches for a point.  Its environment is its damage: each joint is healthy,
stuck straight, stuck bent, or moves half as far.  QED evolves one set of joint angles for each
of the 256 damages.  When the arm then breaks in a way nobody told it, the archive is searched
for angles that still reach the point.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from qed.archive import Archive, Environments
from qed.evolution import Run, watch

JOINTS = 4
LINK = 0.25  # m
STUCK_AT = 0.9  # rad, of a bent joint
LIMIT = math.pi / 2  # rad
HEALTHY, STRAIGHT, BENT, HALF = range(4)  # options of a joint, in the order of their names
OPTIONS = ("healthy", "straight", "bent", "half")
DAMAGES = Environments({f"joint {k + 1}": OPTIONS for k in range(JOINTS)})


@dataclass(frozen=True)
class Arm:
    """The domain: random angles, small changes, and how near the arm comes to the goal.

    Solutions are an array of joint angles (rad), a row for each arm.  The fields of a domain are
    told in the folder of its run, which is resumed only if they are the same.
    """

    goal: tuple[float, float] = (0.35, 0.45)  # m

    def random(self, keys: np.ndarray) -> np.ndarray:
        """Return uniform angles."""
        return _uniform(keys, LIMIT)

    def vary(self, parents: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return angles changed by up to 0.3 rad."""
        return np.clip(parents + _uniform(keys, 0.3), -LIMIT, LIMIT)

    def evaluate(
        self, solutions: np.ndarray, environments: np.ndarray | None
    ) -> tuple[np.ndarray, None]:
        """Return one minus the distance to the goal (m), with the damage of each arm."""
        healthy = np.full(solutions.shape, HEALTHY)
        return self.reach(solutions, healthy if environments is None else environments), None

    def reach(self, angles: np.ndarray, damage: np.ndarray) -> np.ndarray:
        """Return one minus the distance (m) between gripper and goal, arm by arm."""
        moved = np.select(
            [damage == STRAIGHT, damage == BENT, damage == HALF],
            [np.zeros_like(angles), np.full_like(angles, STUCK_AT), 0.5 * angles],
            angles,
        )
        directions = np.cumsum(moved, axis=1, dtype=float)
        x = LINK * np.cos(directions).sum(1)
        y = LINK * np.sin(directions).sum(1)
        return 1.0 - np.hypot(x - self.goal[0], y - self.goal[1])


def _uniform(keys: np.ndarray, limit: float) -> np.ndarray:
    """Return uniform numbers in (-limit, limit), a row for each key."""
    rows = [np.random.default_rng(int(key)).uniform(-limit, limit, JOINTS) for key in keys]
    return np.array(rows, np.float32)


def recover(arm: Arm, archive: Archive, damage: list[int]) -> tuple[float, float]:
    """Return how well a damaged arm does with the angles of a healthy arm, and recovered."""
    elites = archive.solutions()["solution"]
    after = arm.reach(elites, np.tile(damage, (len(elites), 1)))
    healthy = archive.occupied.tolist().index(0)
    return float(after[healthy]), float(after.max())


def main() -> None:
    """Evolve, break, recover."""
    parser = argparse.ArgumentParser(description="QED on a robot arm.")
    parser.add_argument("--out", type=Path, help="folder of the run (default: none)")
    parser.add_argument("--resume", action="store_true", help="go on with the run in OUT")
    parser.add_argument("--evaluations", type=int, default=20_000)
    parser.add_argument(
        "--checkpoint", type=float, default=30.0, help="seconds between checkpoints"
    )
    options = parser.parse_args()
    arm = Arm()
    run = Run(
        options.out,
        arm,
        DAMAGES,
        evaluations=options.evaluations,
        initial=500,
        resume=options.resume,
    )
    watch([run], options.checkpoint)
    archive = run.archive
    print(f"{len(archive)} damages known; mean reach {archive.mean:.3f}")
    for damage in ([1, 0, 0, 0], [0, 2, 0, 3], [3, 3, 3, 3], [2, 0, 1, 0]):
        broken, recovered = recover(arm, archive, damage)
        words = ", ".join(map(str, DAMAGES.named(damage).values()))
        print(f"damage {words}: {broken:.3f} after it, {recovered:.3f} recovered")


if __name__ == "__main__":
    main()
