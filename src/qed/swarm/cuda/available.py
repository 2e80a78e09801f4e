"""Whether an NVIDIA GPU can be used here, and if not, why."""

import ctypes.util
from functools import lru_cache
from importlib.util import find_spec


@lru_cache(maxsize=1)
def problem() -> str | None:
    """Return why no GPU can be used, as a sentence, or None if one can."""
    if find_spec("numba_cuda") is None:
        return "numba-cuda is not installed (pip install 'qed-swarm[cuda]')"
    if ctypes.util.find_library("cuda") is None and ctypes.util.find_library("nvcuda") is None:
        return "there is no NVIDIA driver"
    from numba import cuda

    try:
        return None if cuda.is_available() else "the NVIDIA driver finds no GPU"
    except Exception as error:  # a driver that is there and does not work raises almost anything
        return f"the NVIDIA driver does not work: {error}"


def name() -> str:
    """Return the GPU's name."""
    from numba import cuda

    found = cuda.get_current_device().name
    return found.decode() if isinstance(found, bytes) else str(found)
