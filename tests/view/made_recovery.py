"""A recovery made up of hand-written behaviours, and swarms posed by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import behaviours
import numpy as np

import qed
from qed.recovery.recovery import Recovery
from qed.swarm.trace import Trace
from qed.view.look import TITLES
from qed.view.pane import Pane
from qed.view.replay import JUDGED, Column, Entry, Replay, View

FAULTS = "PMIN,PMAX,PRAND,LW-H,RW-H,BW-H,ROFS,NONE,NONE,PMIN"


def recovery(task: str = "patrolling", faults: str = FAULTS, **more: Any) -> Recovery:
    """Return a recovery of the task's own behaviour by one that avoids."""
    claimed = {"claimed_normal": 0.85, "claimed_broken": 0.5, "claimed": 0.75}
    return Recovery(
        task=task,
        faults=qed.Faults(faults),
        normal=0.8,
        broken=0.5,
        performance=0.7,
        error=0.01,
        distance=0.25,
        normal_cell=3,
        cell=4,
        normal_controller=behaviours.BEST[task],
        controller=behaviours.AVOIDER,
        fresh_seed=1,
        **claimed,
        **more,
    )


NAMES = ("HBD", "SDBC", "SPIRIT", "QED")
ORIGIN = "evolved with 5 robots, 2 m arena, 4 obstacles, 20 cm/s, hears 0.5 m, sees 5.5 cm"


def four(task: str = "patrolling", count: int = 4) -> list[Entry]:
    """Return recoveries of several archives, the third by its normal best, the last of QED."""
    found = recovery(task)
    stays = replace(found, controller=found.normal_controller, cell=3, cells=(), distance=0.0)
    names = [*NAMES, *(f"QED of a run with a long name, number {k}" for k in range(5))][:count]
    return [
        Entry(stays if k == 2 else found, name, ORIGIN if name.startswith("QED") else "")
        for k, name in enumerate(names)
    ]


def standing(pane: Pane) -> Replay:
    """Return a replay of one archive that shows a pane three times."""
    views = tuple(View(pane, title, k) for k, title in enumerate(TITLES))
    return Replay(pane.trace.task, (Column("", views, pane),), JUDGED)


def posed(
    poses: Any,
    faults: str | None = None,
    task: str = "dispersion",
    arena: float = 4.0,
    floor: Any = None,
) -> Pane:
    """Return a pane of robots that stand still at poses (x, y, heading) for two cycles."""
    where = np.array(poses, np.float32)
    robots = len(where)
    x, y, heading = (np.tile(column, (2, 1)) for column in where.T)
    trace = Trace(
        task=task,
        environment=qed.Environment(robots=robots, arena=arena, floor=floor),
        faults=None if faults is None else qed.Faults(faults),
        x=x,
        y=y,
        heading=heading,
        proximity=np.ones((2, robots, 7), np.float32),
        rab=np.ones((2, robots, 8), np.float32),
        ground=np.ones((2, robots, 0), np.float32),
        wheels=np.zeros((2, robots, 2), np.float32),
        score=np.array([0.25, 0.5]),
        start=where,
        obstacles=np.zeros((0, 2), np.float32),
    )
    return Pane(trace)
