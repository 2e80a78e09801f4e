"""Compare every law on the CPU and in Numba's CUDA simulator: as it is, and changed there.

Started by ``test_cuda_laws.py`` with NUMBA_ENABLE_CUDASIM=1, in a process of its own; prints the
two comparisons as JSON.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import law_parity
import patience

SAMPLES, FEW = 40, 4


def nudged(value):
    """Return another truth value, another whole number, or a number that is a little off."""
    if isinstance(value, bool | np.bool_):
        return not value
    return value + (type(value)(1e-4) * max(1, abs(value)) if isinstance(value, np.floating) else 1)


def changed(law):
    """Return a law that differs in all it returns."""

    def other(*args):
        result = law(*args)
        return tuple(map(nudged, result)) if isinstance(result, tuple) else nudged(result)

    return other


def in_python(law, columns, width):
    """Return what a law makes of every row; compiled code gives the same bits, another test says.

    So the laws need not be compiled here, which took most of the time.
    """
    found = np.zeros((len(columns[0]), max(width, 1)))
    with np.errstate(all="ignore"):
        for i, row in enumerate(zip(*columns, strict=True)):
            found[i] = law(*row)
    return found


def main() -> None:
    patience.install()
    law_parity.on_cpu = in_python
    same = law_parity.compare(SAMPLES)
    law_parity.device = changed
    law_parity.LOOPS = {name: changed(loop) for name, loop in law_parity.LOOPS.items()}
    json.dump({"same": same, "changed": law_parity.compare(FEW)}, sys.stdout)


if __name__ == "__main__":
    main()
