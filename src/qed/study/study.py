"""A study: plan, evolve, re-evaluate, recover, report; each part done once, and resumable."""

import json
import multiprocessing
import os
import signal
import tomllib
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from qed import __version__, speed
from qed.definitions import defined
from qed.errors import InputError, StoppedError
from qed.evolution.algorithms import Algorithm
from qed.evolution.folder import remove_checkpoints
from qed.files import Lock, disk, unfinished, write_text
from qed.study import beyond, paths, work
from qed.study.plan import Name, Plan
from qed.study.results import collect
from qed.study.workload import BEYOND, BREAK, EVOLVE, TRY, Part, Watch, Workload
from qed.swarm import backend as engines
from qed.swarm.backend import chosen
from qed.swarm.robot import THYMIO, Robot
from qed.swarm.simulate import cores
from qed.swarm.tasks import TASKS
from qed.text import made_by, short, toml

FORMAT = 1  # of the folder
LOOK = 2.0  # s between looks at how far other processes are
REPLACED = 3  # times that a pool of processes is replaced after one was killed
MANY = 10_000  # parts that wait at an executor at most
SIDE_BY_SIDE = 20  # runs that evolve on a GPU at once, at most
EXECUTORS = "processes, processes:NUMBER or dask:ADDRESS"
CONNECT = 10.0  # s to wait for a scheduler


def do(
    folder: Path,
    plan: Plan,
    part: Part,
    threads: int | None,
    backend: str,
    tell: work.Tell = lambda _: None,
) -> None:
    """Do a part of a study, in any process."""
    # The process may be on a machine that has no GPU.
    worker = work.Worker(folder, plan, threads, chosen(backend), tell)
    if part.stage == EVOLVE:
        work.evolve(worker, part.names)
    elif part.stage == TRY:
        work.reevaluate(worker, part.names[0])
    elif part.stage == BEYOND:
        beyond.search(worker, part.names[0])
    else:
        work.recover(worker, part.names[0], part.batch)


@dataclass
class Study:
    """A study in its folder."""

    folder: Path
    plan: Plan
    preset: str = "own"
    failures: list[str] = field(default_factory=list)
    workload: Workload | None = field(default=None, init=False, repr=False)
    _lock: Lock | None = field(default=None, init=False, repr=False)
    _handed: set[Part] = field(default_factory=set, init=False, repr=False)

    def begun(self) -> bool:
        """Tell whether the folder holds this study; raise an error if it is not free for it."""
        if (self.folder / paths.SETTINGS).exists():
            settings = _read_settings(self.folder)
            different = [
                f"{name} is {short(repr(settings[name]), 60)} there, {value!r} here"
                for name, value in self._settings().items()
                if name not in ("format", "preset", "beyond") and settings[name] != value
            ]
            if different:
                raise InputError(
                    f"out: {self.folder} holds another study: {'; '.join(different)}; "
                    "use another folder"
                )
            return True
        with _usable(self.folder):
            there = list(self.folder.iterdir()) if self.folder.exists() else []
        if not all(map(unfinished, there)):
            raise InputError(
                f"out: {self.folder} is not empty and holds no study; use another folder"
            )
        return False

    def claim(self) -> None:
        """Make the folder this study's, or raise an error if it is not free for it."""
        with _usable(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            settings, begun = self.folder / paths.SETTINGS, self.begun()
            try:
                self._lock = Lock.of(settings) if begun else None
                # What goes beyond the paper is added to what is there.
                if not begun or _read_settings(self.folder)["beyond"] != self.plan.beyond:
                    write_text(settings, toml({"study": self._settings(), "made_by": made_by()}))
                    self._lock = Lock.of(settings)  # another file now
            except BlockingIOError as error:
                raise StoppedError(
                    f"another process is at work on the study in {self.folder}; wait for it, or "
                    "stop it"
                ) from error

    def _settings(self) -> dict[str, Any]:
        """Return what makes the study, as its file tells it."""
        plan = json.loads(json.dumps(asdict(self.plan)))
        if plan["robot"] == THYMIO:  # as files have it from before there were others
            del plan["robot"]
        definitions = self.plan.user_defined
        return {"format": FORMAT, "preset": self.preset, **plan, "definitions": definitions}

    def work(
        self,
        open_executor: Callable[[], futures.Executor] | None = None,
        threads: int | None = None,
        watch: Watch | None = None,
        backend: str = "cpu",
    ) -> None:
        """Do all parts that are not done yet; what fails is kept in ``failures``.

        On the CPU, with an executor every run is a part of its own; in this process those of
        one task and algorithm evolve side by side.  On a GPU ("cuda") many runs do, of any task
        and algorithm.
        """
        self.workload = load = Workload(self.plan, self.folder, watch)
        apart = open_executor is not None and backend == "cpu"
        groups = ((n,) for n in self.plan.runs()) if apart else _groups(self.plan, backend)
        waiting = [Part(EVOLVE, names) for names in groups]
        executor = Inline(load.tell) if open_executor is None else open_executor()
        at_once = 1 if open_executor is None else MANY
        pending: dict[futures.Future[None], Part] = {}
        replaced = 0
        try:
            while waiting or pending:
                while waiting and len(pending) < at_once:
                    part = waiting.pop(0)
                    load.now = part
                    given = (self.folder, self.plan, part, threads, backend)
                    pending[executor.submit(do, *given)] = part
                ready, _ = futures.wait(pending, LOOK, futures.FIRST_COMPLETED)
                broken = [f for f in ready if isinstance(f.exception(), futures.BrokenExecutor)]
                if broken and open_executor is not None and replaced < REPLACED:
                    waiting[:0] = pending.values()
                    pending.clear()
                    executor.shutdown(wait=False)
                    executor = open_executor()
                    replaced += 1
                    continue
                for future in ready:
                    part = pending.pop(future)
                    error = future.exception()
                    waiting[:0] = self._after(part, error)
                    if error is None:
                        load.end(part)
                    elif len(part.names) == 1:
                        load.fail(part)
                load.look(pending.values())
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            # Processes that still work are asked to save what they have.
            for child in multiprocessing.active_children():
                os.kill(child.pid or 0, signal.SIGINT)
            raise
        executor.shutdown()

    def _after(self, part: Part, error: BaseException | None) -> list[Part]:
        """Return what can be done after a part has ended well or badly."""
        if error is not None and len(part.names) > 1:  # which of them failed? the others go on
            return [Part(part.stage, (name,)) for name in part.names]
        if error is not None:
            self.failures.append(f"{part.names[0]}: {part.stage}: {_words(error)}")
            return []
        if part.stage == EVOLVE:
            for name in part.names:  # a kill may have left them
                remove_checkpoints(paths.run(self.folder, name))
            return [Part(TRY, (name,)) for name in part.names]
        if part.stage == TRY:
            return [Part(BREAK, part.names, k) for k in range(len(work.batches(self.plan)))]
        last = Part(BEYOND, part.names)
        # What goes beyond is held against all recoveries, whichever of them ends last.
        ready = part.stage == BREAK and self.plan.searched and last not in self._handed
        if ready and not list(work.missing(self.folder, self.plan, part.names[0])):
            self._handed.add(last)
            return [last]
        return []

    def left(self) -> float | None:
        """Return how long the rest of the work takes (s), if that is known by now."""
        return None if self.workload is None else self.workload.seconds_left()

    def report(self) -> Path:
        """Write tables, figures and the report of what is finished, and return the report."""
        from qed.study import report

        note = self.folder / paths.FAILURES
        with disk(self.folder):
            if not collect(self.folder, self.plan):
                raise StoppedError(f"no run of {self.folder} is finished: there is no report")
            if self.failures:
                write_text(note, "\n".join(self.failures) + "\n")
            else:
                note.unlink(missing_ok=True)
            return report.write(self.folder)


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    """Say plainly if a folder cannot be used."""
    try:
        yield
    except OSError as error:
        raise StoppedError(f"cannot use the folder {folder}: {error.strerror}") from error


def plan_of(folder: Path) -> Plan:
    """Return the plan of a study's folder; what users defined must be known here."""
    return Plan.read(_read_settings(folder), str(folder))


def _read_settings(folder: Path) -> dict[str, Any]:
    """Return the settings that a study's folder holds."""
    path = folder / paths.SETTINGS
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        head, by = table["study"], table["made_by"]["qed"]
        if head["format"] != FORMAT or by != __version__:
            raise InputError(
                f"out: {folder} was started by qed {short(by, 40)}, this is {__version__}; results "
                "of two versions must not be mixed; use another folder, or that version"
            )
        head = {"beyond": 0, "race": False, **head}  # studies of before had neither
        Plan.complete(head, str(folder))
        return {"definitions": [], **head}
    except OSError as error:
        raise InputError(f"{folder} holds no study: {error.strerror}") from error
    except (KeyError, TypeError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else error
        raise StoppedError(f"{path} is damaged: {short(what)}") from error


def prepare(
    plan: Plan, progress: Callable[[int, int], Any] | None = None, backend: str = "cpu"
) -> None:
    """Make what all runs share, once: compiled code, and the cells of their archives."""
    # The compiler and the arithmetic of the cells keep a core busy each.
    with futures.ThreadPoolExecutor(1) as beside:
        compiled = beside.submit(_compile, plan, backend)
        # SPIRIT's cells are needed by all: maps are compared in its space.
        for algorithm in dict.fromkeys((*plan.algorithms, "spirit")):
            defined("algorithm", algorithm, Algorithm).space(plan.evaluations, progress)
        compiled.result()


def _compile(plan: Plan, backend: str) -> None:
    """Compile what a study needs, but for the kernels that call laws of users."""
    robot = defined("robot", plan.robot, Robot)
    if backend == "cpu":
        speed.warm_up(robot)
    if backend == "cpu" or engines.problem() is not None:  # the workers of a cluster may have GPUs
        return
    found = []
    for task in (str(task) for task in plan.tasks if task in TASKS):
        for algorithm in (defined("algorithm", name, Algorithm) for name in plan.algorithms):
            if not algorithm.features:
                obstacles = 2 if algorithm.environments else 0
                sums = tuple(map(str, algorithm.sums))
                found.append(speed.Kernel(task, sums, obstacles, robot=robot))
        found += [
            speed.Kernel(task, ("spirit",), robot=robot),
            speed.Kernel(task, fault="ROFS", robot=robot),
        ]
    speed.compile_kernels(list(dict.fromkeys(found)))


def _groups(plan: Plan, backend: str) -> Iterator[tuple[Name, ...]]:
    """Yield the runs that evolve side by side."""
    if backend == "cuda":
        runs = list(plan.runs())
        for begin in range(0, len(runs), SIDE_BY_SIDE):
            yield tuple(runs[begin : begin + SIDE_BY_SIDE])
        return
    for _, names in groupby(plan.runs(), key=lambda name: (name.task, name.algorithm)):
        yield tuple(names)


def _words(error: BaseException) -> str:
    """Return an error in one line."""
    text = " ".join(str(error).split())
    known = isinstance(error, InputError | StoppedError)
    return text if known else f"{type(error).__name__}: {text}"


def opener(spec: str | None) -> Callable[[], futures.Executor] | None:
    """Return how to open the executor that ``spec`` names; None stands for this process."""
    if spec is None:
        return None
    kind, _, detail = spec.partition(":")
    if kind == "processes":
        return lambda: _processes(detail)
    if kind == "dask" and detail:
        return lambda: _dask(detail)
    raise InputError(f"executor must be {EXECUTORS}; got {spec!r}")


class Inline(futures.Executor):
    """Does what is submitted at once, here, and lets it tell how far it is."""

    def __init__(self, tell: Callable[[float], Any]) -> None:
        self.tell = tell

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future[Any]:
        """Do it, and return a future that is done."""
        future: futures.Future[Any] = futures.Future()
        try:
            future.set_result(fn(*args, **kwargs, tell=self.tell))
        except Exception as error:
            future.set_exception(error)
        return future


def _processes(detail: str) -> futures.Executor:
    if detail and not (detail.isdecimal() and 1 <= int(detail) <= 1024):
        raise InputError(f"executor: the number of processes must be 1 to 1024, got {detail!r}")
    # A fresh interpreter each: forked threads and compiled code do not go together.
    context = multiprocessing.get_context("spawn")
    return futures.ProcessPoolExecutor(int(detail) if detail else cores(), mp_context=context)


def _dask(address: str) -> futures.Executor:
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise InputError(
            "executor: dask needs the extra 'dask': pip install 'qed-swarm[dask]'"
        ) from error
    try:
        client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise StoppedError(f"cannot reach a Dask scheduler at {address}: {error}") from error
    return _Dask(client)


class _Dask(futures.Executor):
    """The workers of a Dask cluster; a part whose worker dies is given to another."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.inner: futures.Executor = client.get_executor(retries=3, pure=False)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future[Any]:
        """Give it to a worker."""
        return self.inner.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the cluster go."""
        self.inner.shutdown(wait=wait)
        self.client.close()
