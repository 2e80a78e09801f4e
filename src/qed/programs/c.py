"""Programs in C99: single precision, and whole numbers."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from qed.errors import StoppedError
from qed.programs.network import TABLE, Network, fixed
from qed.programs.parity import SOURCES, Running, listed

COPIED = ("controller.h", "controller.c", "fixed.c")
HOW_TO = """\
Compile `{program}` (single precision; needs `tanhf`) or `fixed.c` (whole numbers alone) with your
firmware; both read `networks.h`. The robot runs, every {cycle:g} s:

```c
#include "controller.h"

static struct controller controller;   /* controller_reset(&controller, {number}) at the start */

void every_cycle(void)
{{
  float inputs[CONTROLLER_INPUTS], wheels[2];
  read_inputs(inputs);                 /* yours: {inputs} numbers, as listed below */
  controller_step(&controller, inputs, wheels);
  set_wheels({speed:g}f * wheels[0], {speed:g}f * wheels[1]);  /* yours: m/s */
}}
```

`struct fixed_controller` and its functions do the same with inputs and wheels of -4096 to 4096.
"""


def files(nets: Sequence[Network], contract: Mapping[str, Any]) -> dict[str, str]:
    """Return the programs of some networks, by the names of their files."""
    found = {name: (SOURCES / name).read_text(encoding="utf-8") for name in COPIED}
    return {**found, "networks.h": _networks(nets, len(contract["inputs"]))}


def _networks(nets: Sequence[Network], inputs: int) -> str:
    neurons = [neuron for net in nets for neuron in net]
    whole = [neuron for net in fixed(nets) for neuron in net]
    links = [link for neuron in neurons for link in neuron.links]
    most = max(max(map(len, nets)) - 2, 1)
    lines = [
        "/* Networks, one after the other: neurons of a network, links of a neuron. */",
        f"#define CONTROLLERS {len(nets)}",
        f"#define CONTROLLER_INPUTS {inputs}",
        f"#define CONTROLLER_MOST_HIDDEN {most}",
        "#ifdef CONTROLLER_DATA",
        _table("int32_t FIRST_NEURON", _places(map(len, nets))),
        _table("int32_t FIRST_LINK", _places(len(neuron.links) for neuron in neurons)),
        _table("uint16_t SOURCE", (source for source, _ in links)),
        "#if CONTROLLER_DATA == 1",
        _table("float BIAS", (f"{neuron.bias!r}f" for neuron in neurons)),
        _table("float WEIGHT", (f"{weight!r}f" for _, weight in links)),
        "#else",
        _table("int16_t TANH", TABLE),
        _table("int16_t FIXED_BIAS", (neuron.bias for neuron in whole)),
        _table("int16_t FIXED_WEIGHT", (w for neuron in whole for _, w in neuron.links)),
        _table("uint8_t SHIFT", (neuron.shift for neuron in whole)),
        "#endif",
        "#endif",
    ]
    return "\n".join([*lines, ""])


def _table(name: str, values: Iterable[object]) -> str:
    """Return an array, which is never empty."""
    words = [str(value) for value in values] or ["0"]
    rows = [", ".join(words[k : k + 8]) for k in range(0, len(words), 8)]
    return f"static const {name}[] = {{\n  " + ",\n  ".join(rows) + "};"


def _places(sizes: Iterable[int]) -> list[int]:
    places = [0]
    for size in sizes:
        places.append(places[-1] + size)
    return places


def lacks() -> str | None:
    """Return what running C needs and is not here, if anything."""
    return None if shutil.which("cc") else "a C compiler, cc (Debian's package gcc)"


def single(folder: Path, hidden: int, numbers: Sequence[int]) -> Running:
    """Compile and run a folder's program in single precision."""
    return _run(folder, "controller.c", [], hidden, numbers)


def whole(folder: Path, hidden: int, numbers: Sequence[int]) -> Running:
    """Compile and run a folder's program in whole numbers."""
    return _run(folder, "fixed.c", ["-DFIXED"], hidden, numbers)


def _run(
    folder: Path, program: str, options: list[str], hidden: int, numbers: Sequence[int]
) -> Running:
    scratch = tempfile.TemporaryDirectory()
    made = Path(scratch.name) / "run"
    strict = ["-std=c99", "-O2", "-pedantic", "-Wall", "-Wextra", "-Werror", "-ftrapv"]
    where = [f"-I{folder}", str(folder / program), str(SOURCES / "run.c"), "-o", str(made), "-lm"]
    done = subprocess.run(
        ["cc", *strict, *options, *where], capture_output=True, text=True, check=False
    )
    if done.returncode:
        scratch.cleanup()
        raise StoppedError(f"cc cannot compile {folder / program}: {done.stderr.strip()[:500]}")
    return Running([str(made), str(hidden), listed(numbers)], len(numbers), scratch)
