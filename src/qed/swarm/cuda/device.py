"""Laws as device functions: the same Python functions, compiled for the GPU.

In Numba's CUDA simulator they compute what a CPU does; a GPU contracts products and sums, so there
results differ in rounding.
"""

import sys
from collections.abc import Callable
from functools import cache
from types import CellType, FunctionType
from typing import Any

import numba.cuda
from numba import config
from numpy import float32 as f32

from qed.compile import LAWS, code_cache, kept_in
from qed.swarm.laws.geometry import FAR, at_most, unit
from qed.swarm.laws.rays import clip

# Numba's simulator runs kernels as plain Python, without a GPU.
SIMULATED = bool(config.ENABLE_CUDASIM)
# Approximate divisions and roots, no denormal numbers.  numba-cuda 0.30 asks only whether the set
# is empty; its members are what laws can bear: infinities must stay what they are.
ROUGHLY = {"afn", "arcp", "contract", "nsz"}
_KEPT = code_cache(gpu=True)  # for the sources as they are now: later they may be edited


@cache
def device(law: Callable[..., Any]) -> Any:
    """Return a law for kernels; the laws it calls come with it.

    Laws are compiled without fastmath: they count on infinities.  Kernels allow approximate
    divisions and square roots.
    """
    assert isinstance(law, FunctionType)
    if law in IN_HARDWARE and not SIMULATED:
        return stage(IN_HARDWARE[law])
    scope = dict(law.__globals__)
    for name in law.__code__.co_names:
        called = scope.get(name)
        if isinstance(called, FunctionType) and called in LAWS:
            scope[name] = device(called)
    closure = tuple(map(_inner_cell, law.__closure__ or ()))
    copy = FunctionType(law.__code__, scope, law.__name__, law.__defaults__, closure)
    return law if SIMULATED else stage(copy)


def _inner_cell(cell: CellType) -> CellType:
    """Return what an inner function sees of the one around it: a law there is a law for kernels."""
    inside = cell.cell_contents
    return CellType(device(inside)) if isinstance(inside, FunctionType) and inside in LAWS else cell


def _saturated(value: Any) -> Any:
    """Do what ``unit`` does: with a GPU's multiplications it comes for nothing."""
    return numba.cuda.libdevice.saturatef(value)


def _at_most(most: Any, square: Any) -> Any:
    """Do what ``at_most`` does with one instruction for root and quotient."""
    return min(most * numba.cuda.libdevice.rsqrtf(square), ONE)


def _clip(enter: Any, leave: Any, room: Any, speed: Any) -> Any:
    """Do what ``clip`` does by a maximum and a minimum, which leave out what is no number."""
    speed = speed + ZERO
    at = room / speed
    away = speed < ZERO
    fmax, fmin = numba.cuda.libdevice.fmaxf, numba.cuda.libdevice.fminf
    return fmax(enter, at if away else -FAR), fmin(leave, FAR if away else at)


ZERO = f32(0.0)
ONE = f32(1.0)
# Laws that a GPU has instructions for.
IN_HARDWARE: dict[Any, Callable[..., Any]] = {unit: _saturated, at_most: _at_most, clip: _clip}


def stage(function: Callable[..., Any]) -> Any:
    """Compile a part of a kernel, inlined into it."""
    return (
        function
        if SIMULATED
        else numba.cuda.jit(device=True, forceinline=True, fastmath=ROUGHLY)(function)
    )


def launchable(function: Callable[..., Any], kind: str, **options: Any) -> Any:
    """Return a kernel, compiled when it is first launched, its code kept in the user's cache.

    Each kind has a folder: processes that keep several at the same time do not mix them up.
    """
    if SIMULATED:
        return numba.cuda.jit(function)
    from numba.cuda.core import config as gpu_config

    folder = _KEPT / kind
    if not any(folder.glob("**/*.nbc")):
        _announce_compilation()
    with kept_in(folder, gpu_config) as can:
        return numba.cuda.jit(cache=can, fastmath=ROUGHLY, **options)(function)


@cache
def _announce_compilation() -> None:
    """Tell the user, once, that it takes a while."""
    words = "qed: compiling kernels for this GPU (once, about 10 s each) ..."
    print(words, file=sys.stderr, flush=True)


def ready(kernel: Any, blocks: int, threads: int, stream: Any, shared: int = 0) -> Any:
    """Return a kernel that can be called; Numba's warning of few blocks is not for users."""
    if SIMULATED:
        return kernel[blocks, threads, stream, shared]
    from numba.cuda.core import config as gpu_config

    before = gpu_config.CUDA_LOW_OCCUPANCY_WARNINGS
    gpu_config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    try:
        return kernel[blocks, threads, stream, shared]
    finally:
        gpu_config.CUDA_LOW_OCCUPANCY_WARNINGS = before


class _Simulator:
    """What a running kernel knows as ``cuda`` in the simulator.

    The simulator lends it to the kernel's own module only, and takes it back from a device
    function's module as soon as one of its threads returns from it.
    """

    def __getattr__(self, name: str) -> Any:
        from numba.cuda.simulator import kernel

        return getattr(kernel._get_kernel_context(), name)


cuda: Any = _Simulator() if SIMULATED else numba.cuda
