"""Programs in Python: one file without imports but math, for CPython and MicroPython."""

from collections.abc import Mapping, Sequence
from typing import Any

from qed.programs.network import Network
from qed.programs.running import PROGRAM, SOURCES

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
