"""What the page has to know once: names, colours, ranges of sliders, and what is there to see."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from qed import __version__
from qed.definitions import known
from qed.explore.maps import UNITS
from qed.explore.sources import LONGEST, Shown
from qed.explore.starts import STARTS
from qed.swarm.environment import Environment
from qed.swarm.faults import Fault, Faults
from qed.swarm.robot import CYCLE
from qed.swarm.tasks import Task

# The lowest and the highest value of a slider, and its step, in the units that are shown.
RANGES = {
    "max_speed": (1, 30, 1),
    "robots": (1, 40, 1),
    "arena": (1.5, 8, 0.5),
    "obstacles": (0, 12, 1),
    "rab_range": (0.25, 4, 0.25),
    "proximity_range": (2, 50, 0.5),
}
VIRIDIS = (
    "#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70",
    "#7ad151", "#bddf26", "#fde725",
)  # fmt: skip


def as_data(shown: Sequence[Shown]) -> dict[str, Any]:
    """Return what the map and the controls need, as JSON can hold it."""
    return {
        "version": __version__,
        "cycle": CYCLE,
        "longest": LONGEST,
        "archives": [about(one) for one in shown],
        "tasks": [{"name": str(task), "words": task.meaning} for task in known(Task).values()],
        "faults": [str(fault) for fault in known(Fault).values()],
        "starts": STARTS,
        "attributes": [
            {
                "name": name,
                "words": words,
                "unit": unit,
                "scale": scale,
                "range": RANGES[name],
                "normal": getattr(Environment(), name),
            }
            for name, (words, unit, scale) in UNITS.items()
        ],
        "viridis": VIRIDIS,
    }


def drawing() -> dict[str, Any]:
    """Return what the drawing of swarms needs; it is asked for beside the map, and loads more."""
    from qed.view import look
    from qed.view.player import _look, _theme

    faults = Faults(known(Fault).values())
    return {
        "look": _look(cast(Any, SimpleNamespace(faults=faults, task=""))),
        "marks": look.MARKS,
        "themes": {"light": _theme(look.LIGHT), "dark": _theme(look.DARK)},
    }


def about(one: Shown) -> dict[str, Any]:
    """Return what the page has to know of an archive before it draws its map."""
    kit = one.kit
    return {
        "name": one.name,
        "task": str(one.task),
        "seconds": one.seconds,
        "controllers": len(one.occupied),
        "archive": bool(one.source),
        "kit": None
        if kit is None
        else {
            "robots": kit.environment.robots,
            "task": kit.task,
            "controllers": len(kit.controllers),
            "faults": sorted(kit.playbook.plays),
        },
    }
