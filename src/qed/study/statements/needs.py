"""The paper's own study and numbers, and what a study must have to be held against them."""

from __future__ import annotations

from typing import NamedTuple

from qed.study import paper
from qed.study.plan import PRESETS

PAPER = PRESETS["paper"]
QED = "qed"
BASELINES = tuple(name for name in PAPER.algorithms if name != QED)


class Needs(NamedTuple):
    """Tasks and algorithms that a study must have."""

    tasks: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ()


ALL_TASKS = Needs(PAPER.tasks, PAPER.algorithms)
ALL_ALGORITHMS = Needs((), PAPER.algorithms)


def printed(metric: str, task: str = paper.ALL) -> dict[str, float]:
    """Return the paper's numbers by algorithm, of a task or of all."""
    found = {name: paper.value(metric, task, name) for name in PAPER.algorithms}
    return {name: pair[0] for name, pair in found.items() if pair}
