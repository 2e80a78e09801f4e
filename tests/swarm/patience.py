"""Patience for Numba's CUDA simulator: it looks at its threads all the time, and hinders them.

Half of the time that it takes goes when it sleeps a moment after each look.
"""

import threading
import time

from numba.cuda.simulator.kernel import BlockThread

MOMENT = 1e-4  # s


def is_alive(thread: BlockThread) -> bool:
    """Tell whether a thread runs; sleep a moment at the first of each block."""
    if thread.thread_id == 0:
        time.sleep(MOMENT)
    return threading.Thread.is_alive(thread)


def install() -> None:
    """Let the simulator be patient."""
    BlockThread.is_alive = is_alive
