"""Runs of robot swarms, as tests make them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qed.evolution import Run
from qed.evolution.swarms import Swarms


def swarm_run(
    task: Any,
    algorithm: Any = "qed",
    folder: Path | None = None,
    *,
    resume: bool = False,
    **settings: Any,
) -> Run:
    """Return a run; the sizes of the search are settings among those of the swarms."""
    names = ("evaluations", "initial", "batch", "emitter")
    sizes = {name: settings.pop(name) for name in names if name in settings}
    return Run(folder, Swarms(task, algorithm, **settings), **sizes, resume=resume)
