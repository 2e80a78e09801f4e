"""QED: evolve resilient robot swarms, break them, and find the controller that recovers them.

simulate     simulate swarms and score tasks: an Outcome
trace        watch one trial, cycle by cycle: a Trace
World        a world that goes on: swap controllers, break robots, step it yourself
parallel_env the same as an environment of PettingZoo
Controller   a recurrent network that drives every robot of a swarm
Team         a controller per robot
Environment  robots, arena, obstacles, speeds and ranges;  Attributes  the options to draw from
Robot        a robot of your own;  THYMIO, EPUCK, THYMIO_STOCK  those that come with QED
Faults       a fault per robot;  Fault  a fault of your own
Start        start poses of your own
Task         a task of your own, made of a law
law          marks a function of a robot, or of a pair, in one cycle
evolve       evolve an archive of controllers for a task
emitters     what proposes the children of a search: the default, others, your own
Algorithm    what a cell of the archive is, with laws of your own;  Grid, Centroids  its cells
Archive      the best controller known for each cell;  draw_map  a picture of it
load_example an evolved archive that comes with QED
recover      find the controller of an archive that works when robots break: a Recovery
replay       film a swarm before a fault, after it, and after recovery
prepare      learn from simulated faults how to recover within ten trials;  Effort  how much
export       a controller, a team or a kit as a program for robots
Kit          what a swarm carries to recover by itself: ask and tell, no simulator
InputError   an argument or a file is not valid
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from qed import emitters as emitters
    from qed.archive.archive import Archive as Archive
    from qed.archive.cvt import Centroids as Centroids
    from qed.archive.grid import Grid as Grid
    from qed.archive.stored import load_example as load_example
    from qed.controller.network import Controller as Controller
    from qed.controller.network import Team as Team
    from qed.errors import InputError as InputError
    from qed.evolution.algorithms import Algorithm as Algorithm
    from qed.evolution.evolve import evolve as evolve
    from qed.programs.export import export as export
    from qed.recovery.kit.kit import Kit as Kit
    from qed.recovery.kit.prepare import Effort as Effort
    from qed.recovery.kit.prepare import prepare as prepare
    from qed.recovery.recover import recover as recover
    from qed.recovery.recovery import Recovery as Recovery
    from qed.swarm.environment import Attributes as Attributes
    from qed.swarm.environment import Environment as Environment
    from qed.swarm.faults import Fault as Fault
    from qed.swarm.faults import Faults as Faults
    from qed.swarm.job import Start as Start
    from qed.swarm.parallel_env import parallel_env as parallel_env
    from qed.swarm.robot import EPUCK as EPUCK
    from qed.swarm.robot import THYMIO as THYMIO
    from qed.swarm.robot import THYMIO_STOCK as THYMIO_STOCK
    from qed.swarm.robot import Robot as Robot
    from qed.swarm.simulate import Outcome as Outcome
    from qed.swarm.simulate import simulate as simulate
    from qed.swarm.tasks import Task as Task
    from qed.swarm.trace import Trace as Trace
    from qed.swarm.trace import trace as trace
    from qed.swarm.user_defined import law as law
    from qed.swarm.world import World as World
    from qed.view.maps import draw_map as draw_map
    from qed.view.replay import replay as replay

# The names of each module, which is imported when one of them is first used.
_MODULES = {
    "archive.archive": "Archive",
    "archive.cvt": "Centroids",
    "archive.grid": "Grid",
    "archive.stored": "load_example",
    "controller.network": "Controller Team",
    "errors": "InputError",
    "evolution.algorithms": "Algorithm",
    "evolution.evolve": "evolve",
    "programs.export": "export",
    "recovery.kit.kit": "Kit",
    "recovery.kit.prepare": "Effort prepare",
    "recovery.recover": "recover",
    "recovery.recovery": "Recovery",
    "swarm.environment": "Attributes Environment",
    "swarm.faults": "Fault Faults",
    "swarm.job": "Start",
    "swarm.parallel_env": "parallel_env",
    "swarm.robot": "EPUCK Robot THYMIO THYMIO_STOCK",
    "swarm.simulate": "Outcome simulate",
    "swarm.tasks": "Task",
    "swarm.trace": "Trace trace",
    "swarm.user_defined": "law",
    "swarm.world": "World",
    "view.maps": "draw_map",
    "view.replay": "replay",
}
_HOMES = {name: f"qed.{home}" for home, names in _MODULES.items() for name in names.split()}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name == "emitters":
        return import_module("qed.emitters")
    if name not in _HOMES:
        raise AttributeError(f"module 'qed' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "emitters", "__version__"]
