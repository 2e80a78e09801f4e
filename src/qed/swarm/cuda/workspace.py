"""A place to work at on the GPU: a stream, and memory that is used again."""

from typing import Any

import numpy as np
from numba import cuda

from qed.swarm.cuda.device import SIMULATED


class Workspace:
    """A stream of the GPU with memory of its own.

    Work of several workspaces goes on at the same time.  Memory grows and is not given back from
    launch to launch, since to free any a GPU first ends all its work.
    """

    def __init__(self) -> None:
        self.stream = cuda.stream()
        self._end = cuda.event()
        self._memory: dict[str, Any] = {}

    def room(self, name: str, shape: tuple[int, ...], kind: Any) -> Any:
        """Return an array on the GPU, with anything in it, and perhaps with more rows.

        To cut it to size would take longer than to fill it.  Of a name all shapes are alike
        but for the number of rows.
        """
        rows, *row = shape
        there = self._memory.get(name)
        if there is None or there.shape[0] < rows:
            there = cuda.device_array((max(rows + rows // 4, 1), *row), kind)
            self._memory[name] = there
        return there

    def send(self, name: str, table: np.ndarray) -> Any:
        """Return an array on the GPU whose first rows are those of a table."""
        there = self.room(name, table.shape, table.dtype)
        if table.size:
            _to_gpu(there, np.ascontiguousarray(table), self.stream)
        return there

    def leave(self) -> None:
        """Note that all work is laid out."""
        self._end.record(self.stream)

    def idle(self) -> bool:
        """Return whether the work that was laid out is done."""
        return SIMULATED or bool(self._end.query())

    def fetch(self, *wanted: tuple[str, int]) -> list[np.ndarray]:
        """Wait for this workspace's work; return so many first rows of each named array."""
        self.stream.synchronize()
        found = [_from_gpu(self._memory[name], rows, self.stream) for name, rows in wanted]
        self.stream.synchronize()
        return found


# A device array of Numba makes three views of itself to copy a part of itself; its own copies of
# bytes do not.

if SIMULATED:

    def _to_gpu(there: Any, table: np.ndarray, stream: Any) -> None:
        there[: len(table)].copy_to_device(table)

    def _from_gpu(there: Any, rows: int, stream: Any) -> np.ndarray:
        found: np.ndarray = there[:rows].copy_to_host()
        return found

else:
    from numba.cuda.cudadrv.driver import device_to_host, host_to_device

    def _to_gpu(there: Any, table: np.ndarray, stream: Any) -> None:
        host_to_device(there, table, table.nbytes, stream=stream)

    def _from_gpu(there: Any, rows: int, stream: Any) -> np.ndarray:
        found = np.empty((rows, *there.shape[1:]), there.dtype)
        device_to_host(found, there, found.nbytes, stream=stream)
        return found
