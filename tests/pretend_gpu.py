"""Stands in for an NVIDIA GPU: the CPU's engine, with a note of every call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from qed.swarm import backend
from qed.swarm.made_for import made_for
from qed.swarm.measures import stacked, wanted
from qed.swarm.robot import THYMIO, Robot

NAME = "Pretend GPU"


class Call(NamedTuple):
    """What the engine was asked for."""

    swarms: int
    sums: tuple[str, ...]
    robot: Robot = THYMIO  # that the engine is made for


def install(
    monkeypatch: pytest.MonkeyPatch, problem: str | None = None, room: int = 0
) -> list[Call]:
    """Put the stand-in where the GPU engine is, with a problem if told; return its calls.

    With room for so many trials of each swarm, it takes rounds that are to come at once.
    """
    calls: list[Call] = []

    def on_gpu(robot: Robot) -> Any:
        class Simulation:
            def __init__(self, job: Any, sums: Any, progress: Any) -> None:
                assert job.robot.key == robot.key
                self.given = job, sums, progress

            def ready(self) -> bool:
                return True

            def results(self) -> Any:
                job, sums, progress = self.given
                calls.append(Call(job.swarms, tuple(sums), robot))
                wants = wanted(sums)
                names = [*wants.names, *(law.key for law in wants.laws)]
                engine = made_for(robot, "qed.swarm.cpu.engine")
                return stacked(engine.simulate(job, sums, 2, progress), names)

        return SimpleNamespace(Simulation=Simulation, has_room=lambda _, trials: trials <= room)

    # The answer of the true machine is kept for the process; it is not that of the stand-in.
    monkeypatch.setattr(backend, "problem", lambda: problem)
    monkeypatch.setattr(backend, "gpu_name", lambda: NAME)
    monkeypatch.setattr(backend, "on_gpu", on_gpu)
    monkeypatch.setattr(backend, "likely", lambda: True)
    monkeypatch.setattr("qed.speed.compile_kernels", lambda kernels: None)
    return calls
