"""A recovery made up of hand-written behaviours, and swarms posed by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import behaviours
import numpy as np

import qed
from qed.controller.network import Controller
from qed.swarm.trace import Trace
from qed.view.pane import Pane
from qed.view.replay import Column, Entry, Replay

FAULTS = "PMIN,PMAX,PRAND,LW-H,RW-H,BW-H,ROFS,NONE,NONE,PMIN"


@dataclass(frozen=True)
class Made:
    """What a replay reads of a recovery."""

    task: str
    faults: qed.Faults
    normal: float
    broken: float
    performance: float
    impact: float
    resilience: float
    distance: float
    normal_cell: int
    cell: int
    normal_controller: Controller
    controller: Controller


@dataclass(frozen=True)
class Judged(Made):
    """A recovery whose numbers are from fresh trials."""

    claimed: float = 0.75


def recovery(task: str = "patrolling", faults: str = FAULTS, kind: type[Made] = Made) -> Any:
    """Return a recovery of the task's own behaviour by one that avoids."""
    return kind(
        task=task,
        faults=qed.Faults(faults),
        normal=0.8,
        broken=0.5,
        performance=0.7,
        impact=-0.375,
        resilience=-0.125,
        distance=0.25,
        normal_cell=3,
        cell=4,
        normal_controller=behaviours.BEST[task],
        controller=behaviours.AVOIDER,
    )


NAMES = ("HBD", "SDBC", "SPIRIT", "QED")
ORIGIN = "evolved with 5 robots, 2 m arena, 4 obstacles, 20 cm/s, hears 0.5 m, sees 5.5 cm"


def four(task: str = "patrolling", count: int = 4) -> list[Entry]:
    """Return recoveries of several archives, the third by its normal best, the last of QED."""
    found = recovery(task)
    stays = replace(found, controller=found.normal_controller, cell=3, distance=0.0)
    names = [*NAMES, *(f"QED of a run with a long name, number {k}" for k in range(5))][:count]
    return [
        Entry(stays if k == 2 else found, name, ORIGIN if name.startswith("QED") else "")
        for k, name in enumerate(names)
    ]


def standing(pane: Pane) -> Replay:
    """Return a replay of one archive that shows a pane three times."""
    column = Column("", (pane, pane, pane), impact=-0.5, resilience=-0.1, distance=0.3)
    return Replay(pane.trace.task, pane.faults, (column,))


def posed(
    poses: Any, faults: str | None = None, task: str = "dispersion", arena: float = 4.0
) -> Pane:
    """Return a pane of robots that stand still at poses (x, y, heading) for two cycles."""
    where = np.array(poses, np.float32)
    robots = len(where)
    x, y, heading = (np.tile(column, (2, 1)) for column in where.T)
    trace = Trace(
        task=task,
        environment=qed.Environment(robots=robots, arena=arena),
        faults=None if faults is None else qed.Faults(faults),
        x=x,
        y=y,
        heading=heading,
        proximity=np.ones((2, robots, 7), np.float32),
        rab=np.ones((2, robots, 8), np.float32),
        wheels=np.zeros((2, robots, 2), np.float32),
        score=np.array([0.25, 0.5]),
        start=where,
        obstacles=np.zeros((0, 2), np.float32),
    )
    return Pane(trace, 0.5)
