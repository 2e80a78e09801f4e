"""Make what all tests share and the user's cache keeps: machine code, and the cells of archives.

Processes that test side by side would each make it for themselves.  With the word ``robots`` it is
machine code for robots other than the Thymio, which few tests need.
"""

import gc
import sys

from more_robots import FLOORED, TRIANGLE

import qed
from qed.study.plan import PRESETS
from qed.study.study import prepare
from qed.swarm.robot import ROBOTS, THYMIO


def other_robots() -> None:
    """Compile the simulator for all robots of QED but the first, and for those of tests."""
    for robot in (*ROBOTS.values(), FLOORED, TRIANGLE):
        if robot.key != THYMIO.key:
            qed.trace(qed.Controller.random(seed=1, robot=robot), seconds=1.0)


if __name__ == "__main__":
    gc.disable()  # the compiler leaves little garbage, and to look for it takes a tenth of its time
    if sys.argv[1:] == ["robots"]:
        other_robots()
        sys.exit()
    prepare(PRESETS["quick"])
    # Variation, pruning and the descriptors are compiled too.
    for algorithm in ("hbd", "sdbc"):
        qed.evolve(
            "patrolling", algorithm, evaluations=4, initial=2, batch=2, trials=2, seconds=1.0,
            backend="cpu",
        )  # fmt: skip
