"""Many swarms on one GPU.

Work is laid out at once and waited for later, in workspaces (a stream and memory) that are used
again: so the GPU always has work while the host looks after the generation that has just ended.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from weakref import WeakSet

import numpy as np
from numba import cuda

from qed.controller.inputs import CONSTANT, LEFT
from qed.errors import InputError
from qed.swarm import measures
from qed.swarm.backend import MOST_TRIALS
from qed.swarm.cuda import kernel as kernels
from qed.swarm.cuda import layout as L
from qed.swarm.cuda.device import SIMULATED, ready
from qed.swarm.cuda.measures import survey_kernel
from qed.swarm.cuda.packing import NOTHING, Packed, StartTables, arrange, most_neurons, packed
from qed.swarm.cuda.parts import HELD, parts_of
from qed.swarm.cuda.workspace import Workspace
from qed.swarm.environment import Environment
from qed.swarm.job import Job
from qed.swarm.laws.contact import ITERATIONS
from qed.swarm.laws.scoring import FULL, fine_side
from qed.swarm.measures import Wanted, joined, wanted
from qed.swarm.robot import ROBOT
from qed.swarm.user_defined import Law, reason

# The column of the sums that a measure has.
COLUMNS = {
    "centre_distance": L.S_CENTRE,
    "nearest_distance": L.S_NEAREST,
    "flock": L.S_FLOCK,
    "patrol": L.S_PATROL,
    "border": L.S_BORDER,
    "radius": L.S_RADIUS,
}
VISITS_AT_ONCE = 1_000_000_000  # fine cells of a launch
MOST_VISITS = 2**31 - 1  # of a controller
UNASKED = 48 * 1024  # bytes of shared memory that a block may have without asking
WARPS_AT_ONCE = 16  # that a multiprocessor has registers for
LAID_OUT = 2.5  # times the warps that run at once, so that a GPU is never short of work

_starts = StartTables()
_sent: dict[str, tuple[Any, int]] = {}  # tables of the starts on the GPU, and how long they are
_granted: dict[Any, int] = {}  # shared memory (bytes) that kernels may have
_free: list[Workspace] = []  # that nobody uses; one whose work went wrong does not return
_under_way: WeakSet[Any] = WeakSet()  # simulations


def simulate(
    job: Job, sums: Sequence[str | Law], progress: Callable[[int], Any] | None = None
) -> dict[str, Any]:
    """Return the wanted sums of all trials of all controllers by name."""
    return Simulation(job, sums, progress).results()


class Simulation:
    """A simulation under way: one launch after the other, the first at once.

    Several may be under way: they share the GPU, and the host is free meanwhile.
    """

    def __init__(
        self, job: Job, sums: Sequence[str | Law], progress: Callable[[int], Any] | None = None
    ) -> None:
        self.job = job
        self.wants = wanted(sums)
        self.progress = progress
        self.starts = _starts if job.start is None else StartTables()
        self.workspace = _free.pop() if _free else Workspace()
        self.room = room()
        _under_way.add(self)
        self.parts = _parts(job, self.wants.stages)
        self._launch_next()

    def _launch_next(self) -> None:
        """Launch the next part, if there is one."""
        self.launched = None
        for some in self.parts:
            tables = packed(self.job, some, self.starts, self.wants.all_inputs, self.room)
            self.launched = launch(self.workspace, tables, self.starts, self.wants, self.job.cycles)
            self.some = some
            break

    def ready(self) -> bool:
        """Return whether the launch has ended."""
        return self.workspace.idle()

    def results(self) -> dict[str, Any]:
        """Wait, and return the sums of all controllers by name; of visits a list."""
        found: list[dict[str, Any]] = []
        while self.launched is not None:
            found.append(_results(self.job, self.some, self.wants, self.launched.fetch()))
            if self.progress is not None:
                robots = sum(env.robots for env in self.job.environments[self.some])
                self.progress(robots * self.job.trials * self.job.cycles)
            self._launch_next()
        if self.workspace not in _free:
            _free.append(self.workspace)
        _under_way.discard(self)
        return joined(found)


def room() -> int:
    """Return how many warps one more simulation may have on the GPU at once.

    The simulations under way share it evenly.  Numba's simulator has none to spare.
    """
    return 0 if SIMULATED else places_of_warps() // (len(_under_way) + 1)


@cache
def places_of_warps() -> int:
    """Return how many warps run on the GPU at once."""
    if SIMULATED:
        return 1
    return int(WARPS_AT_ONCE * cuda.get_current_device().MULTIPROCESSOR_COUNT)


def has_room(environments: Sequence[Environment], trials: int) -> bool:
    """Return whether the GPU can simulate so many trials in each environment at once.

    Simulations end one by one, and with each its slowest warp, so that the GPU is full only while
    more is laid out than there is room for.
    """
    robots = np.array([env.robots for env in environments])
    return bool(np.sum(-(-trials // (L.LANES // robots))) <= LAID_OUT * room())


def _parts(job: Job, wants: int) -> Iterator[slice]:
    """Yield the controllers of one launch after the other."""
    size = max(MOST_TRIALS // job.trials, 1)  # larger batches are split
    if wants & measures.VISITS:
        cells = max(fine_side(env.arena) for env in set(job.environments)) ** 2
        if job.trials * cells > MOST_VISITS:
            raise InputError(
                f"{job.trials:,} trials with {cells:,} grid cells each are too many for a GPU: use "
                f"at most {MOST_VISITS // cells:,} trials, or --backend cpu (or backend='cpu')"
            )
        size = max(min(size, VISITS_AT_ONCE // (job.trials * cells)), 1)
    for begin in range(0, job.swarms, size):
        yield slice(begin, min(begin + size, job.swarms))


@dataclass
class Launch:
    """A launch under way, and the memory it reads and writes."""

    workspace: Workspace
    wants: Wanted
    trials: int
    fine: int  # cells of a trial
    controllers: int
    needed: tuple[Any, ...]  # what the kernel reads and writes

    def fetch(self) -> dict[str, np.ndarray]:
        """Wait for the kernel's end; return what it found by name.

        A row is a trial, or of situations a controller.
        """
        rows = {_sums(self.wants): self.trials}
        if self.wants.stages & measures.VISITS:
            rows["spread"] = self.trials
            if "visits" in self.wants.names:
                rows["visits"] = self.trials * self.fine
        if self.wants.stages & measures.SITUATIONS:
            rows["situations"] = self.controllers * L.SITUATION_COUNTS
        found = dict(zip(rows, self.workspace.fetch(*rows.items()), strict=True))
        found["sums"] = found.pop(_sums(self.wants))
        for name, count in (("visits", self.trials), ("situations", self.controllers)):
            if name in found:
                found[name] = found[name].reshape(count, -1)
        return found


def _sums(wants: Wanted) -> str:
    """Return the name of the sums in a workspace's memory; of a name all rows are alike."""
    return f"sums and {len(wants.laws)}" if wants.laws else "sums"


def launch(
    workspace: Workspace, tables: Packed, starts: StartTables, wanted: Wanted, cycles: int
) -> Launch:
    """Start the kernel at a workspace."""
    wants = wanted.stages
    run = kernels.kernel(
        wants,
        tables.with_obstacles,
        tables.with_faults,
        tables.with_rab_offset,
        tables.with_general_faults,
        tables.with_teams,
        wanted.laws,
    )
    stride = arrange(tables, bool(wants & measures.PATROLLING), bool(wants & measures.SITUATIONS))
    warps = min(warps_of_a_block(4 * stride, _most_shared() - 4), len(tables.warps))
    blocks = -(-len(tables.warps) // warps)
    places = max(places_of_warps() // warps, 1)
    parts = min(parts_of(blocks, places), cycles)
    kept = blocks * warps if parts > 1 else 0  # warps
    held = L.LANES * (HELD + max(len(wanted.laws), 1))
    trials, controllers = tables.trials, len(tables.limits)
    cells = trials * tables.fine if wants & measures.VISITS else 0
    counts = controllers * L.SITUATION_COUNTS if wants & measures.SITUATIONS else 0
    visits = workspace.room("visits", (cells,), np.int32)
    needed = (
        workspace.send("warps", tables.warps),
        workspace.send("limits", tables.limits),
        _on_gpu("poses", starts, workspace),
        _on_gpu("keys", starts, workspace),
        workspace.send("faults", tables.faults),
        _on_gpu("centres", starts, workspace),
        workspace.send("networks", tables.networks),
        (
            workspace.send("biases", tables.biases),
            workspace.send("stops", tables.stops),
            workspace.send("links", _links(tables)),
            workspace.send("owners", tables.owners),
        ),
        workspace.room("kept", (tables.kept,), np.float32),
        workspace.room("statics", (tables.statics,), np.float32),
        workspace.room(_sums(wanted), (trials, L.SUMS + len(wanted.laws)), np.float64),
        visits,
        workspace.send("situations", np.zeros(counts, np.int32)),
        workspace.send("turns", np.zeros(blocks + 1, np.int32)),
        workspace.room("state", (kept * held,), np.float64),
        workspace.room("memory", (kept * stride,), np.int32),
        workspace.send("floors", tables.floors)
        if ROBOT.ground
        else workspace.room("floors", (1,), np.float32),
    )
    if wants & measures.VISITS:
        # All that is sent is sent before the kernel: a copy might wait for it.
        visited = (
            visits,
            workspace.send("cells", np.repeat(tables.cells, trials // controllers)),
            np.int32(tables.fine),
            workspace.room("spread", (trials, measures.SPREAD), np.int32),
        )
    numbers = (
        len(tables.warps), cycles, stride, ITERATIONS, len(tables.sources), tables.fine, parts,
    )  # fmt: skip
    arguments = (*needed, *map(np.int32, numbers))
    shared = 4 * (stride * warps + 1)
    with _compiling(wanted.laws):
        _grant(run, arguments, shared)
        ready(run, min(blocks, places), warps * L.LANES, workspace.stream, shared)(*arguments)
    if wants & measures.VISITS:
        ready(survey_kernel(), trials, L.LANES, workspace.stream)(*visited)
    workspace.leave()
    return Launch(workspace, wanted, trials, tables.fine, controllers, needed)


@contextmanager
def _compiling(laws: Sequence[Law]) -> Iterator[None]:
    """Say which laws of users cannot be compiled for a GPU, if so."""
    try:
        yield
    except Exception as error:
        if not laws or not type(error).__module__.startswith("numba"):
            raise
        raise InputError(
            f"{', '.join(law.name for law in laws)} cannot be compiled for a GPU: "
            f"{reason(error)}; use what a GPU has (math), or --backend cpu (or backend='cpu')"
        ) from error


def _grant(run: Any, arguments: Sequence[Any], shared: int) -> None:
    """Let a kernel have more shared memory (bytes) than GPUs give unasked."""
    if SIMULATED or shared <= UNASKED or _granted.get(run, 0) >= shared:
        return
    from numba.cuda.cudadrv.driver import binding, driver

    made = run.compile(tuple(run.typeof_pyval(argument) for argument in arguments))
    function = made._codelibrary.get_cufunc()
    most = binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    driver.cuKernelSetAttribute(most, shared, function.handle, function.device.id)
    _granted[run] = shared


@cache
def _most_shared() -> int:
    """Return how much shared memory (bytes) a block may have on the GPU here."""
    if SIMULATED:
        return 1 << 20
    return int(cuda.get_current_device().MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)


def warps_of_a_block(shared: int, most: int) -> int:
    """Return how many warps a block has, if each needs so much shared memory (bytes)."""
    if shared > most:
        raise InputError(
            f"a network needs {shared:,} bytes of the GPU's shared memory, of which there are "
            f"{most:,}; use smaller networks, or --backend cpu (or backend='cpu')"
        )
    return min(L.WARPS, most // shared)


def _links(tables: Packed) -> np.ndarray:
    """Return 64 bits for each link: the row of shared memory that it reads, and its weight.

    All are there twice, for even cycles and for odd ones.  A link that only fills a group reads
    a place, which is finite, with weight 0.
    """
    sources = tables.sources
    inputs = np.where(sources == NOTHING, L.X, L.INPUTS + L.LANES * sources)
    kept = L.LANES * (L.rows_of(tables.with_faults, tables.with_teams) + sources - LEFT)
    links = np.diff(tables.networks[tables.first, L.N_LINK], append=len(sources))
    rows = np.stack([kept, kept + L.LANES * np.repeat(most_neurons(tables), links)])
    two = np.empty((2, len(sources), 2), np.int32)
    two[..., 0] = tables.weights.view(np.int32)  # the lower half
    two[..., 1] = np.where(sources < CONSTANT, inputs, rows)
    return two.view(np.int64).ravel()


def _on_gpu(name: str, starts: StartTables, workspace: Workspace) -> Any:
    """Return a table of the starts on the GPU; of the common one only what is new is sent.

    It is sent by the workspace, since a copy that belongs to none waits for the work of all.
    """
    table = getattr(starts, name)
    if starts is not _starts:
        return workspace.send(f"own {name}", table)
    there, sent = _sent.get(name, (None, 0))
    if there is None or len(there) < len(table):
        there, sent = cuda.device_array((2 * len(table), *table.shape[1:]), table.dtype), 0
    if sent < len(table):
        there[sent : len(table)].copy_to_device(table[sent:], workspace.stream)
        workspace.stream.synchronize()  # others may read it at once
        _sent[name] = there, len(table)
    return there


def _results(job: Job, some: slice, wants: Wanted, found: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return the sums of some controllers by name; of visits a list, as arenas differ."""
    sums = found["sums"].reshape(-1, job.trials, found["sums"].shape[1])
    stages = wants.stages
    whole: dict[str, Any] = {
        name: sums[..., column]
        for name, column in COLUMNS.items()
        if stages & measures.MEASURES[name].stage
    }
    if stages & measures.PATROLLING:
        whole |= {name: whole[name] / FULL for name in ("patrol", "border")}
    if stages & measures.FEATURES:
        whole["features"] = sums[..., L.S_FEATURES : L.SUMS].reshape(
            *sums.shape[:2], *measures.SDBC_SUMS
        )
    whole |= {law.key: sums[..., L.SUMS + k] for k, law in enumerate(wants.laws)}
    if "spread" in found:
        spread = found["spread"]
        whole["spread"] = spread.astype(np.int64).reshape(-1, job.trials, spread.shape[1])
    if "visits" in found:
        visits = found["visits"].reshape(len(sums), job.trials, -1)
        whole["visits"] = [
            own[:, : fine_side(env.arena) ** 2]
            for own, env in zip(visits, job.environments[some], strict=True)
        ]
    if "situations" in found:
        whole["situations"] = found["situations"]
    return whole
