"""Make what all tests share and the user's cache keeps: machine code, and the cells of archives.

Processes that test side by side would each make it for themselves.
"""

import gc

import qed
from qed.study.plan import PRESETS
from qed.study.study import prepare

if __name__ == "__main__":
    gc.disable()  # the compiler leaves little garbage, and to look for it takes a tenth of its time
    prepare(PRESETS["quick"])
    # Variation, pruning and the descriptors are compiled too.
    for algorithm in ("hbd", "sdbc"):
        qed.evolve(
            "patrolling", algorithm, evaluations=4, initial=2, batch=2, trials=2, seconds=1.0,
            backend="cpu",
        )  # fmt: skip
