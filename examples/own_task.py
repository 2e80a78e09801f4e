"""A task, a descriptor and a fault of your own: evolve, break robots, recover.

    python examples/own_task.py
    qed evolve gather --algorithm tidy --with examples/own_task.py     (on the command line)

A law is a plain function of numbers, of one robot or of a pair in one cycle.  What it may read is
named by its arguments; lengths are in metres, speeds parts of the top speed.  Laws are compiled,
for a CPU or a GPU, and run as fast as the tasks that come with QED.
"""

from __future__ import annotations

import argparse
import math

import qed


@qed.law
def near_centre(x, y, heading, speed, arena):  # type: ignore[no-untyped-def]
    """1 in the middle of the arena, less further away."""
    return max(0.0, 1.0 - math.hypot(x - arena / 2, y - arena / 2) / arena)


@qed.law
def briskness(speed):  # type: ignore[no-untyped-def]
    """How fast robots drive, forwards or backwards."""
    return min(abs(speed), 1.0)


@qed.law
def closeness(distance):  # type: ignore[no-untyped-def]
    """1 for pairs that touch, 0 for those more than a metre apart."""
    return max(0.0, 1.0 - distance)


gather = qed.Task("gather", "meet in the middle of the arena", robot=near_centre)
tidy = qed.Algorithm(
    "tidy",
    "a cell is how fast robots drive, and how close they keep",
    features=[briskness, closeness],
    ranges=[(0.0, 1.0), (0.0, 1.0)],
    cells=qed.Grid((16, 16)),
)
limping = qed.Fault("LIMP", "left wheel at a tenth", left=0.1)
dead = qed.Fault("DEAD", "stands still, and is not heard", dead=True)
blind = qed.Fault("BLIND", "the front sensor sees nothing", gain=0.0, noise=0.0, sensors=[2])
weak = qed.Fault("WEAK", "hears half as far", rab_range=0.5)


def main() -> None:
    """Evolve a small archive, break four of ten robots, and recover."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluations", type=int, default=2_000)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--backend", default="auto")
    given = parser.parse_args()
    how = {"seconds": given.seconds, "threads": given.threads, "backend": given.backend}

    archive = qed.evolve(
        gather, tidy, evaluations=given.evaluations, initial=given.evaluations // 4,
        trials=given.trials, **how,
    )  # fmt: skip
    print(f"{archive}, best {archive.best.fitness:.3f}")

    faults = qed.Faults.sample(10, seed=7, among=[limping, dead, blind, weak, "LW-H"], broken=4)
    print("faults:", ", ".join(faults))
    found = qed.recover(archive, gather, faults, trials=given.trials, fresh=10, **how)
    print(f"fitness {found.normal:.3f} healthy, {found.broken:.3f} broken,", end=" ")
    print(f"{found.performance:.3f} recovered")
    print(f"impact {found.impact:+.1%}, after recovery {found.resilience:+.1%}")


if __name__ == "__main__":
    main()
