"""Programs in Python: one file without imports but math, for CPython and MicroPython.

The search of a kit is one, too: whether it decides as the kit's own does is compared here.
"""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from qed.programs.network import Network
from qed.programs.parity import SOURCES, Running, listed
from qed.recovery.kit.kit import Kit
from qed.recovery.search import gaussian, strategies
from qed.recovery.search import search as searches

PROGRAM, SEARCH = "controller.py", "search.py"
TRIALS = 11  # of a search: the free one of the present controller, and ten
HOW_TO = """\
`{program}` needs nothing but this file. Copy it to the robot, and let the robot run, every
{cycle:g} s:

```python
from controller import Controller

controller = Controller({number})
while True:
    left, right = controller.step(read_inputs())  # yours: {inputs} numbers, as listed below
    set_wheels({speed:g} * left, {speed:g} * right)  # yours: m/s
    wait_for_the_next_cycle()  # yours
```

`controller.reset()` begins anew.
"""


def files(nets: Sequence[Network], contract: Mapping[str, Any]) -> dict[str, str]:
    """Return the program of some networks, by the name of its file."""
    team = contract["controllers"]["of robot"]
    data = {
        "INPUTS = 0\n": f"INPUTS = {len(contract['inputs'])}\n",
        "CYCLE = 0.2  # s\n": f"CYCLE = {contract['cycle']!r}  # s\n",
        "TEAM: tuple[int, ...] = ()": f"TEAM = {tuple(team)!r}",
        f"NETWORKS: {_type('NETWORKS')} = ()": f"NETWORKS = {_literal(nets)}",
    }
    return {PROGRAM: filled("controller.py", data)}


def filled(source: str, data: Mapping[str, str]) -> str:
    """Return a source with its places for data filled, each of which it has once."""
    text = (SOURCES / source).read_text(encoding="utf-8")
    for place, literal in data.items():
        assert text.count(place) == 1, place
        text = text.replace(place, literal)
    return text


def _type(name: str) -> str:
    """Return the type that the source gives a place for data."""
    lines = (SOURCES / "controller.py").read_text(encoding="utf-8").splitlines()
    line = next(line for line in lines if line.startswith(f"{name}: "))
    return line.removeprefix(f"{name}: ").removesuffix(" = ()")


def _literal(nets: Sequence[Network]) -> str:
    """Return networks as a tuple, a neuron on each line; numbers to the bit."""
    lines = []
    for net in nets:
        lines.append("    (")
        for bias, links in net:
            lines.append(f"        ({bias!r}, {links!r}),")
        lines.append("    ),")
    return "\n".join(["(", *lines, ")"])


def run(folder: Path, hidden: int, numbers: Sequence[int]) -> Running:
    """Run a folder's program in this Python."""
    program = [sys.executable, "-I", str(SOURCES / "run.py"), str(folder / PROGRAM)]
    return Running([*program, str(hidden), listed(numbers)], len(numbers))


def run_micropython(folder: Path, hidden: int, numbers: Sequence[int]) -> Running:
    """Run a folder's program in MicroPython."""
    library = Path(os.environ.get("QED_MICROPYTHON", "")) / "micropython.mjs"
    program = ["node", str(SOURCES / "run.mjs"), str(library.absolute()), str(folder / PROGRAM)]
    return Running([*program, str(hidden), listed(numbers)], len(numbers))


def lacks_micropython() -> str | None:
    """Return what MicroPython needs and is not here, if anything."""
    if shutil.which("node") is None:
        return "node (Debian's package nodejs)"
    if not (Path(os.environ.get("QED_MICROPYTHON", "")) / "micropython.mjs").is_file():
        return (
            "micropython.mjs of npm's @micropython/micropython-webassembly-pyscript; name its "
            "folder in QED_MICROPYTHON"
        )
    return None


def search_of(kit: Kit) -> str:
    """Return the program: the source with the kit's numbers in the places for them."""
    prior = kit.known.prior
    numbers: dict[str, Any] = {
        "SECONDS": kit.seconds,
        "PRESENT": kit.present,
        "MEAN": prior.mean,
        "LOADINGS": prior.loadings,
        "NOISE": prior.noise,
        "CENTRES": prior.centres,
        "WIDTH": prior.width,
        "NOISIER": prior.noisier,
        "POINTS": strategies.POINTS,
        "WEIGHTS": strategies.WEIGHTS,
        "PECULIAR": gaussian.PECULIAR,
        "CLEAR": searches.CLEAR,
        "CAREFUL, VERIFY": (strategies.CAREFUL, strategies.VERIFY),
        "DOUBT": strategies.DOUBT,
        "BOUND, NEAR_BOUND": (strategies.BOUND, strategies.NEAR_BOUND),
        "CANDIDATES, RIVALS": (strategies.CANDIDATES, strategies.RIVALS),
        "NINETY": searches.NINETY,
        "WORTH_DIGITS": strategies.WORTH_DIGITS,
    }
    lines = []
    for line in (SOURCES / SEARCH).read_text(encoding="utf-8").splitlines():
        name = line.partition(" = ")[0].partition(":")[0]
        lines.append(f"{name} = {_numbers(numbers.pop(name))}" if name in numbers else line)
    assert not numbers, f"no place for {', '.join(numbers)}"
    return "\n".join([*lines, ""])


def _numbers(value: Any) -> str:
    """Return numbers as Python reads them, to the bit."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    if value.ndim == 2:
        return "[\n    " + ",\n    ".join(map(_numbers, value)) + ",\n]"
    return repr(value.tolist())


def compare_search(kit: Kit, text: str, faults: int, seed: int) -> dict[str, Any]:
    """Return in how many searches the program asked for the same, and how far beliefs are apart.

    A fault is one that the kit has learned from, or rather what controllers may give in it.
    """
    names: dict[str, Any] = {}
    exec(compile(text, SEARCH, "exec"), names)
    rng, prior = np.random.default_rng(seed), kit.known.prior
    same, apart = 0, 0.0
    for _ in range(faults):
        z = rng.choice(prior.centres) + np.sqrt(prior.width) * rng.normal(size=len(prior.width))
        given = prior.mean + prior.loadings @ z
        own, theirs = kit.search(), names["Search"]()
        alike = True
        own.tell(given[kit.present], own.present)
        theirs.tell(given[kit.present], theirs.present)
        for _ in range(TRIALS - 1):
            own.ask()
            row = own.state["asked"]
            alike &= row == theirs.ask()
            fitness = float(rng.normal(given[row], prior.noise[row]))
            own.tell(fitness)
            theirs.asked = row  # what it believes is compared anyway
            theirs.tell(fitness)
        same += alike and own.best_row == theirs.best
        apart = max(apart, *np.abs(own.expected - theirs.mean))
        one, other = own.belief(), theirs.belief(own.best_row)
        apart = max(apart, *np.abs(np.subtract((one.mean, one.low, one.high), other)))
    return {"searches": faults, "trials": TRIALS, "same": same, "beliefs apart": float(apart)}
