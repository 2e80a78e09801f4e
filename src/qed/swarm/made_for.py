"""Code made for a robot: modules that have its numbers as constants.

Compiled code has a robot's numbers as constants: to look them up in inner loops would cost time.
So the modules that depend on the robot import ``ROBOT``, and bind what they need of it when they
are executed.  As they are imported, that is the Thymio; for another robot they are executed once
more, as modules of their own that import each other.  Machine code is kept in the user's cache,
apart for each robot, by its digest.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any

from qed.swarm.robot import THYMIO, Robot

# Modules, and packages with all that is in them, that depend on the robot.
DEPENDENT = (
    "qed.controller.dense",
    "qed.controller.genome",
    "qed.controller.inputs",
    "qed.controller.variation",
    "qed.swarm.cpu",
    "qed.swarm.cuda",
    "qed.swarm.environment_row",
    "qed.swarm.laws",
    "qed.swarm.placing",
)
_made: dict[str, _Modules] = {}


def made_for(robot: Robot, name: str) -> Any:
    """Return a module as it is made for a robot, given its name as it is imported."""
    if robot.digest == THYMIO.digest:
        return importlib.import_module(name)
    if robot.digest not in _made:
        _made[robot.digest] = _Modules(robot)
    return _made[robot.digest].module(name)


class _Modules:
    """The modules that are made for a robot."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.builtins = {**vars(builtins), "__import__": self._import}
        self.modules: dict[str, ModuleType] = {}

    def module(self, name: str) -> ModuleType:
        """Return a module, executed if it has not been."""
        if name not in self.modules:
            from qed.compile import code_for  # only here: it loads the compiler

            spec = find_spec(name)
            assert spec is not None
            assert spec.loader is not None
            module = ModuleType(f"{name}-{self.robot.digest}")
            module.__dict__.update(__file__=spec.origin, __builtins__=self.builtins)
            # What pickles a class of it, as Numba's cache does, looks for it there.
            sys.modules[module.__name__] = self.modules[name] = module
            with code_for(self.robot.digest):
                exec(spec.loader.get_code(name), vars(module))  # type: ignore[attr-defined]
        return self.modules[name]

    def _import(
        self, name: str, scope: Any = None, local: Any = None, wanted: Any = (), level: int = 0
    ) -> Any:
        """Import for one of the modules: others of them as they are made for this robot."""
        found = __import__(name, scope, local, wanted, level)
        if not wanted or not name.startswith("qed"):
            return found
        if name == "qed.swarm.robot":
            return SimpleNamespace(**{**vars(found), "ROBOT": self.robot})
        inner = {}
        if hasattr(found, "__path__"):
            inner = {k: self.module(f"{name}.{k}") for k in wanted if _depends(f"{name}.{k}")}
        found = self.module(name) if _depends(name) else found
        return SimpleNamespace(**{**vars(found), **inner}) if inner else found


def _depends(name: str) -> bool:
    """Return whether a module is among those that depend on the robot, and there is one."""
    among = any(name == one or name.startswith(f"{one}.") for one in DEPENDENT)
    return among and find_spec(name) is not None
