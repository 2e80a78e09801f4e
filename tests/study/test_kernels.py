"""Which kernels a study needs, and that they are compiled once."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pretend_gpu
import pytest

from qed.study import kernels as kernels_module
from qed.study.kernels import Kernel, compile_ahead, kernels
from qed.study.plan import PRESETS

PLAN = PRESETS["paper"]


class Here(Executor):
    """Does what is submitted at once."""

    def submit(self, fn: Any, /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*given, **named))
        except Exception as error:
            future.set_exception(error)
        return future


def test_a_study_needs_a_kernel_for_all_it_adds_up() -> None:
    wanted = kernels(PLAN)
    # Four ways to score (patrolling and border-patrolling share one); of each QED's with
    # obstacles, HBD's, SDBC's, SPIRIT's, which is also that of the normal environment, and faults.
    assert len(wanted) == 4 * 5
    assert Kernel("flocking", obstacles=True) in wanted
    assert Kernel("dispersion", faults=True) in wanted
    assert wanted[0].task == "aggregation"
    few = kernels(PLAN.changed(tasks="border-patrolling", algorithms="hbd"))
    assert few == [
        Kernel("border-patrolling", ("spread",)),
        Kernel("border-patrolling", ("spirit",)),
        Kernel("border-patrolling", faults=True),
    ]
    # Small generations of several tasks go to the GPU together, in kernels that are not known.
    assert all(kernel.faults or kernel.sums == ("spirit",) for kernel in kernels(PRESETS["quick"]))


def test_they_are_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QED_CACHE", str(tmp_path))
    calls = pretend_gpu.install(monkeypatch)
    plan = PLAN.changed(tasks="patrolling", algorithms="qed,hbd")
    told: list[tuple[int, int]] = []

    def ahead() -> None:
        compile_ahead(plan, lambda *at: told.append(at), lambda count: Here())

    true = kernels_module.compiled

    def broken(kernel: Kernel) -> None:
        true(kernel)
        raise RuntimeError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(kernels_module, "compiled", broken)
        ahead()  # nothing is lost but time
    assert len(calls) == 4
    ahead()
    assert len(calls) == 8
    assert told == 2 * [(k, 4) for k in range(5)]
    assert [call.sums for call in calls[4:]] == [
        ("patrol",), ("patrol", "spread"), ("patrol", "spirit"), ("patrol",)
    ]  # fmt: skip
    ahead()
    assert len(calls) == 8
    assert len(told) == 10
