"""Which modules a call passes: `python tools/call_path.py` follows evolve and Kit.recover.

Counts the modules that a call passes on its way: those with a Python function that calls one of
another module.  Leaves, which only answer (a check of an argument, a random number), are listed and
not counted; a check that asks nothing but `errors.py` is a leaf, too.  What modules run while they
are imported is not counted, nor is compiled code.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import qed

ROOT = Path(qed.__file__).parent


def module_of(frame: FrameType | None) -> str | None:
    """Return the module of qed that a frame is in, if it is in one."""
    if frame is None or not frame.f_code.co_filename.startswith(str(ROOT)):
        return None
    if frame.f_code.co_name == "<module>":
        return None
    return str(Path(frame.f_code.co_filename).relative_to(ROOT))


def modules_of(call: Callable[[], Any]) -> tuple[Counter[str], set[str]]:
    """Return the calls that each module sees, and those modules that call another one."""
    call()  # imports all
    found: Counter[str] = Counter()
    passing: set[str] = set()

    def follow(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and (module := module_of(frame)):
            found[module] += 1
            caller = module_of(frame.f_back)
            if caller is not None and module not in (caller, "errors.py"):
                passing.add(caller)

    threading.setprofile(follow)
    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found, passing


def main() -> None:
    """Print both lists."""
    how: dict[str, Any] = {"threads": 1, "backend": "cpu"}
    kit = qed.Kit.load("example:patrolling-kit")
    faults = qed.Faults(["PMIN", "LW-H", *["NONE"] * 8])
    calls: dict[str, Callable[[], Any]] = {
        "evolve": lambda: qed.evolve(
            "patrolling", "qed", evaluations=60, initial=40, batch=20, trials=2, seconds=4.0, **how
        ),
        "Kit.recover": lambda: kit.recover(faults=faults, budget=3, fresh=2, seconds=4.0, **how),
    }
    for name, call in calls.items():
        found, passing = modules_of(call)
        print(f"{name} passes {len(passing)} modules, and asks {len(found) - len(passing)} others:")
        for module, count in sorted(
            found.items(), key=lambda one: (one[0] not in passing, -one[1])
        ):
            print(f"  {'' if module in passing else '  '}{module} ({count:,} calls)")


if __name__ == "__main__":
    main()
