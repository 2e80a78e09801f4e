"""Who does a study's work: this process, processes beside it, or the workers of a Dask cluster."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from importlib import import_module
from typing import Any

from qed.errors import InputError, StoppedError
from qed.swarm.simulate import cores

WORDS = "processes, processes:NUMBER or dask:ADDRESS"
CONNECT = 10.0  # s to wait for a scheduler


def maker(spec: str | None) -> Callable[[], Executor] | None:
    """Return how to open the executor that ``spec`` names; None stands for this process."""
    if spec is None:
        return None
    kind, _, detail = spec.partition(":")
    if kind == "processes":
        return lambda: _processes(detail)
    if kind == "dask" and detail:
        return lambda: _dask(detail)
    raise InputError(f"executor must be {WORDS}; got {spec!r}")


class Inline(Executor):
    """Does what is submitted at once, here, and lets it tell how far it is."""

    def __init__(self, tell: Callable[[float], Any]) -> None:
        self.tell = tell

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do it, and return a future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs, tell=self.tell))
        except Exception as error:
            future.set_exception(error)
        return future


def _processes(detail: str) -> Executor:
    if detail and not (detail.isdecimal() and 1 <= int(detail) <= 1024):
        raise InputError(f"executor: the number of processes must be 1 to 1024, got {detail!r}")
    # A fresh interpreter each: forked threads and compiled code do not go together.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(int(detail) if detail else cores(), mp_context=context)


def _dask(address: str) -> Executor:
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


class _Dask(Executor):
    """The workers of a Dask cluster; a part whose worker dies is given to another."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.inner: Executor = client.get_executor(retries=3, pure=False)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Give it to a worker."""
        return self.inner.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the cluster go."""
        self.inner.shutdown(wait=wait)
        self.client.close()
