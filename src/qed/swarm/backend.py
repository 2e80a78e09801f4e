"""Which engine simulates: the CPU's, or that of an NVIDIA GPU.

Both follow the same laws, but a GPU contracts arithmetic in its own way, so their results differ
in rounding and agree only statistically.  Each alone is reproducible.
"""

import ctypes
import os
from collections.abc import Iterable
from ctypes.util import find_library
from functools import cache
from importlib.util import find_spec
from typing import Any

from qed.errors import InputError, StoppedError, choice
from qed.swarm.environment import Environment
from qed.swarm.job import Start
from qed.swarm.made_for import made_for
from qed.swarm.robot import Robot

BACKENDS = ("auto", "cpu", "cuda")
MOST_ROBOTS = 32  # of a swarm on a GPU: a lane each
MOST_OBSTACLES = 31  # of an arena on a GPU: a bit each
MOST_TRIALS = 200_000  # of a controller on a GPU: a launch
DRIVERS = ("libcuda.so.1", "nvcuda.dll", "/usr/lib/wsl/lib/libcuda.so.1")


def chosen(
    backend: str,
    environments: Iterable[Environment] = (),
    trials: int = 1,
    start: Start | None = None,
) -> str:
    """Return "cpu" or "cuda" for such trials of a controller; "auto" takes a GPU if it can."""
    name = choice("backend", backend, BACKENDS)
    if name == "cpu":
        return name
    environments = list(environments)
    sizes = start is not None and start.obstacles.shape[-1] > 2
    robots = max((env.robots for env in environments), default=1)
    obstacles = max((env.obstacles for env in environments), default=0)
    fits = not sizes
    fits &= robots <= MOST_ROBOTS and obstacles <= MOST_OBSTACLES and trials <= MOST_TRIALS
    if name == "auto":
        return "cuda" if fits and likely() and problem() is None else "cpu"
    if sizes:
        raise InputError(
            "backend cuda does not simulate obstacles of other radii than 0.15 m; use "
            "--backend cpu (or backend='cpu')"
        )
    if not fits:
        raise InputError(
            f"backend cuda simulates at most {MOST_ROBOTS} robots, {MOST_OBSTACLES} obstacles and "
            f"{MOST_TRIALS:,} trials of a controller, got {robots}, {obstacles} and {trials:,}; "
            "use --backend cpu (or backend='cpu')"
        )
    if (why := problem()) is not None:
        raise StoppedError(
            f"backend cuda: no NVIDIA GPU can be used here: {why.rstrip('.')}; use "
            "--backend cpu (or backend='cpu')"
        )
    return name


def on_gpu(robot: Robot) -> Any:
    """Return the GPU's engine as it is made for a robot."""
    return made_for(robot, "qed.swarm.cuda.engine")


def described(engine: str, threads: int) -> str:
    """Return in words what simulates."""
    if engine == "cuda":
        return gpu_name()
    return f"the CPU, {threads} thread{'s' if threads > 1 else ''}"


@cache
def problem() -> str | None:
    """Say why no GPU can be used here, or return None; looked up once a process."""
    if find_spec("numba_cuda") is None:
        return "numba-cuda is not installed (pip install 'qed-swarm[cuda]')"
    if find_library("cuda") is None and find_library("nvcuda") is None:
        return "there is no NVIDIA driver"
    from numba import cuda

    try:
        return None if cuda.is_available() else "the NVIDIA driver finds no GPU"
    except Exception as error:  # a driver that is there and does not work raises almost anything
        return f"the NVIDIA driver does not work: {error}"


def gpu_name() -> str:
    """Return the GPU's name."""
    from numba import cuda

    found = cuda.get_current_device().name
    return found.decode() if isinstance(found, bytes) else str(found)


def likely() -> bool:
    """Return quickly whether it is worth looking for a GPU: its package and driver are here."""
    return find_spec("numba_cuda") is not None and any(map(_loads, _drivers()))


def _drivers() -> tuple[str, ...]:
    """Return where a driver may be; numba-cuda looks first where its variable says."""
    given = os.environ.get("NUMBA_CUDA_DRIVER")
    return (given, *DRIVERS) if given else DRIVERS


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
