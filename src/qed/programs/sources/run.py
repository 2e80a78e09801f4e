"""Run an exported program for a comparison: values of robots in, wheels out, cycle by cycle.

    python -I run.py CONTROLLER.PY HIDDEN NUMBERS

Each frame holds for each robot its inputs and so many hidden values to set before the step (0: it
keeps its own); NUMBERS are the controllers of the robots.  All is float64, little-endian.
"""

import sys
from array import array
from pathlib import Path


def main() -> None:
    """Answer frames until there are no more."""
    path, hidden, numbers = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(",")
    program: dict[str, object] = {"__name__": "controller"}
    exec(compile(Path(path).read_text(encoding="utf-8"), path, "exec"), program)
    make = program["Controller"]
    assert callable(make)
    robots = [make(int(number)) for number in numbers]
    inputs = program["INPUTS"]
    assert isinstance(inputs, int)
    width = inputs + hidden
    while frame := sys.stdin.buffer.read(8 * width * len(robots)):
        values, wheels = array("d", frame).tolist(), array("d")
        for k, robot in enumerate(robots):
            begin = k * width
            if hidden:
                state = values[begin + inputs : begin + width]
                robot.hidden = state[: len(robot.hidden)]
            wheels.extend(robot.step(values[begin : begin + inputs]))
        sys.stdout.buffer.write(wheels.tobytes())
        sys.stdout.buffer.flush()


main()
