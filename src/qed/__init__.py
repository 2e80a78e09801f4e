"""QED: evolve resilient robot swarms, break them, and find the controller that recovers them.

simulate     simulate swarms and score tasks: an Outcome
trace        watch one trial, cycle by cycle: a Trace
World        a world that goes on: swap controllers, break robots, without reset
Controller   a recurrent network that drives every robot of a swarm
Team         a controller per robot
Environment  robots, arena, obstacles, speeds and ranges;  Attributes  the options to draw from
Faults       a fault per robot;  Fault  a fault of your own
Start        start poses of your own
Task         a task of your own, made of a law
law          marks a function of a robot, or of a pair, in one cycle
evolve       evolve an archive of controllers for a task
Algorithm    what a cell of the archive is, with laws of your own;  Grid  its cells
Archive      the best controller known for each cell
load_example an evolved archive that comes with QED
recover      find the controller of an archive that works when robots break: a Recovery
prepare      learn from simulated faults how to recover within ten trials
Kit          what a swarm carries to recover by itself: ask and tell, no simulator
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from qed.archive.archive import Archive
    from qed.archive.grid import Grid
    from qed.archive.stored import load_example
    from qed.controller.network import Controller
    from qed.controller.team import Team
    from qed.evolution.algorithms import Algorithm
    from qed.evolution.evolve import evolve
    from qed.recovery.kit.kit import Kit
    from qed.recovery.kit.prepare import prepare
    from qed.recovery.recover import Recovery, recover
    from qed.swarm.environment import Attributes, Environment
    from qed.swarm.faults import Fault, Faults
    from qed.swarm.own import law
    from qed.swarm.simulate import Outcome, simulate
    from qed.swarm.start import Start
    from qed.swarm.tasks import Task
    from qed.swarm.trace import Trace, trace
    from qed.swarm.world import World

# Where each name lives; modules are imported when a name is first used.
_HOMES = {
    "Algorithm": "qed.evolution.algorithms",
    "Archive": "qed.archive.archive",
    "Controller": "qed.controller.network",
    "Team": "qed.controller.team",
    "Environment": "qed.swarm.environment",
    "Attributes": "qed.swarm.environment",
    "Fault": "qed.swarm.faults",
    "Faults": "qed.swarm.faults",
    "Grid": "qed.archive.grid",
    "Kit": "qed.recovery.kit.kit",
    "Outcome": "qed.swarm.simulate",
    "Recovery": "qed.recovery.recover",
    "Start": "qed.swarm.start",
    "Trace": "qed.swarm.trace",
    "evolve": "qed.evolution.evolve",
    "load_example": "qed.archive.stored",
    "prepare": "qed.recovery.kit.prepare",
    "recover": "qed.recovery.recover",
    "simulate": "qed.swarm.simulate",
    "Task": "qed.swarm.tasks",
    "law": "qed.swarm.own",
    "World": "qed.swarm.world",
    "trace": "qed.swarm.trace",
}

__all__ = [
    "Algorithm",
    "Archive",
    "Attributes",
    "Controller",
    "Environment",
    "Fault",
    "Faults",
    "Grid",
    "Kit",
    "Outcome",
    "Recovery",
    "Start",
    "Task",
    "Team",
    "Trace",
    "World",
    "evolve",
    "law",
    "load_example",
    "prepare",
    "recover",
    "simulate",
    "trace",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'qed' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
