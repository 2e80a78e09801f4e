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

SAMPLES = 40


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


def main() -> None:
    same = law_parity.compare(SAMPLES)
    law_parity.device = changed
    law_parity.LOOPS = {name: changed(loop) for name, loop in law_parity.LOOPS.items()}
    json.dump({"same": same, "changed": law_parity.compare(SAMPLES)}, sys.stdout)


if __name__ == "__main__":
    main()
