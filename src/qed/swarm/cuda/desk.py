"""A place to work at on the GPU: a stream, and memory that is used again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda

from qed.swarm.cuda.device import SIMULATED


class Desk:
    """A stream of the GPU with memory of its own.

    Work of several desks goes on at the same time.  Memory grows and is not given back from
    launch to launch, since to free any a GPU first ends all its work.
    """

    def __init__(self) -> None:
        self.stream = cuda.stream()
        self._end = cuda.event()
        self._memory: dict[str, Any] = {}
        self._warps = 0  # of the last launch

    def room(self, name: str, shape: tuple[int, ...], kind: Any) -> Any:
        """Return an array on the GPU, with anything in it."""
        size = math.prod(shape)
        if name not in self._memory or self._memory[name].size < size:
            self._memory[name] = cuda.device_array(max(size + size // 4, 1), kind)
        return self._memory[name][:size].reshape(shape)

    def send(self, name: str, table: np.ndarray) -> Any:
        """Return a table on the GPU; an empty one has one element there."""
        full = table if table.size else np.zeros((1,) * table.ndim, table.dtype)
        there = self.room(name, full.shape, full.dtype)
        there.copy_to_device(np.ascontiguousarray(full), stream=self.stream)
        return there

    def leave(self, warps: int) -> None:
        """Note that all work is laid out, for so many warps."""
        self._end.record(self.stream)
        self._warps = warps

    def busy(self) -> int:
        """Return how many warps are at work here, or wait for their turn."""
        return 0 if self.idle() else self._warps

    def idle(self) -> bool:
        """Tell whether the work that was laid out is done."""
        return SIMULATED or bool(self._end.query())

    def fetch(self, *arrays: Any) -> list[np.ndarray]:
        """Wait for this desk's work and return arrays of the GPU."""
        self.stream.synchronize()
        found = [array.copy_to_host(stream=self.stream) for array in arrays]
        self.stream.synchronize()
        return found
