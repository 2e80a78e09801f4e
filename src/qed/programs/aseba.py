"""Programs for Aseba, the language of a Thymio II: 16-bit numbers, byte-code of 1,534 words.

A neuron's inputs and weights are laid side by side for ``math.dot``, whose sums have 32 bits;
``network`` says why nothing overflows.  All else is one routine for all neurons.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from xml.etree import ElementTree

from qed.errors import InputError, StoppedError
from qed.programs import network
from qed.programs.contract import FULL_SCALE, plain
from qed.programs.parity import SOURCES, Running, listed
from qed.swarm.made_for import made_for
from qed.swarm.robot import THYMIO, THYMIO_STOCK, Robot

WORDS, VARIABLES = 1534, 512  # of a Thymio II: byte-code, and what users may have
COMMON, SEEING, HEARING = 289, 45, 63  # words: of every program, and to read what there is
SENDING, RECEIVING = 4, 64  # words: of messages
CONES = 8  # of range and bearing, which the event `heard` brings
PARTS = 16  # of a motor's step, that are kept
FASTEST, FULL_TARGET = 0.2, 500  # m/s, and what a Thymio's motors call it
HOW_TO = """\
Open `{program}` in Aseba Studio or Thymio Suite, load it, and run it; or write it to the robot,
which then starts without a computer. The button with the arrow ahead starts the robot and begins
anew, the one in the middle stops it. A cycle takes {cycle:g} s.

Controllers that read range and bearing wait for the event `heard` with eight numbers, 4096 times
min(distance / range, 1) for each direction (4096: nobody), which somebody has to send. Robots with
infra-red messages send them all the time; those that read them keep the strongest that each sensor
receives, `prox.comm.rx._intensities`, until a cycle ends.
"""


THYMIOS = {robot.name: robot for robot in (THYMIO, THYMIO_STOCK)}


def full_speed(contract: Mapping[str, Any]) -> int:
    """Return what a Thymio's motors call the top speed."""
    return round(FULL_TARGET * float(contract["top speed"]) / FASTEST)


class Size(NamedTuple):
    """What a program takes of a Thymio II."""

    words: int
    variables: int

    @property
    def fits(self) -> bool:
        """Whether the robot has room for it."""
        return self.words <= WORDS and self.variables <= VARIABLES


def name_of(number: int, several: bool) -> str:
    """Return the name of a controller's file."""
    return f"controller-{number}.aesl" if several else "controller.aesl"


def files(nets: Sequence[network.Network], contract: Mapping[str, Any]) -> dict[str, str]:
    """Return a program for each network; DoesNotFitError if one does not fit the robot."""
    if contract["robot"] not in THYMIOS:
        raise InputError(
            f"to: Aseba runs on a Thymio II, not on the robot {contract['robot']}: take python, "
            "micropython or c"
        )
    speed = full_speed(contract)
    if speed > FULL_TARGET:
        raise InputError(
            f"environment: a Thymio drives at most {FASTEST:g} m/s, its max_speed is "
            f"{contract['top speed']:g}"
        )
    found = {}
    for k, net in enumerate(network.fixed(nets)):
        code, size = program(
            net, speed, contract["controllers"]["names"][k], THYMIOS[contract["robot"]]
        )
        if not size.fits:
            raise network.DoesNotFitError(
                too_large(size, nets[k], contract["controllers"]["names"][k])
            )
        found[name_of(k, len(nets) > 1)] = _file(code)
    return found


def too_large(size: Size, net: network.Network, name: str) -> str:
    """Return what is too large, and by how much."""
    links = sum(len(neuron.links) for neuron in net)
    more = max(size.words - WORDS, 0) // 5 + 1
    return (
        f"{name}, with {len(net) - 2} hidden neurons and {links} links, takes {size.words:,} of "
        f"{WORDS:,} words and {size.variables:,} of {VARIABLES} variables of a Thymio II: take one "
        f"with about {more} links less"
    )


def size_of(net: network.Network) -> Size:
    """Return what a network takes of a Thymio II; DoesNotFitError if its weights are too large."""
    return program(network.fixed([net])[0], FULL_TARGET, "")[1]


def program(
    net: Sequence[network.FixedNeuron], speed: int, name: str, robot: Robot = THYMIO
) -> tuple[str, Size]:
    """Return the code of a network, and its size as Aseba's compiler finds it."""
    nodes = made_for(robot, "qed.controller.inputs")
    first, inputs = nodes.FIRST_RAB, nodes.CONSTANT
    hidden, heard = len(net) - 2, inputs - first
    reads = {source for neuron in net for source, _ in neuron.links}
    room = 1 + max(len(neuron.links) for neuron in net)
    hears = any(first <= source < inputs for source in reads)
    sees = any(source < first for source in reads)
    lines = [
        f"# {plain(name)}",
        f"# Numbers are in units of 1 / {network.ONE}; nothing overflows, whatever is read.",
        "var going = 0",
        f"var x[{inputs}]  # inputs",
        f"var v[{room}]  # what a neuron reads, after a constant 1",
        f"var w[{room}]  # and its weights, after its bias",
        f"var t[{len(network.TABLE)}] = [{', '.join(map(str, network.TABLE))}]  # tanh",
        *([f"var h[{hidden}]  # hidden neurons", f"var n[{hidden}]"] if hidden else []),
        *([f"var rab[{heard}]  # {_heard_as(robot)}"] if hears else []),
        "var left", "var right", "var leftrest", "var rightrest",
        "var shift", "var coarse", "var a", "var y", "var d", "var k",
        "",
        f"v[0] = {network.ONE}",
        *([f"call math.fill(rab, {0 if robot.messages else network.ONE})"] if hears else []),
        *(["call prox.comm.enable(1)"] if robot.messages else []),
        "timer.period[0] = 200",
        "",
        "sub neuron  # y = tanh of v times w",
        f"coarse = shift + {network.COARSE}",
        "call math.dot(y, v, w, coarse)",
        "if y > 63 then",
        f"\ta = {network.LIMIT}",
        "elseif y < -64 then",
        f"\ta = -{network.LIMIT}",
        "else",
        "\tcall math.dot(a, v, w, shift)",
        "end",
        f"if a < -{network.LIMIT} then",
        f"\ta = -{network.LIMIT}",
        "end",
        "d = abs(a)",
        f"k = d >> {network.STEP_BITS}",
        f"coarse = d & {(1 << network.STEP_BITS) - 1}",
        "y = t[k]",
        "d = t[k + 1] - y",
        f"call math.muldiv(d, d, coarse, {1 << network.STEP_BITS})",
        "y = y + d",
        "if a < 0 then",
        "\ty = -y",
        "end",
        "call math.fill(w, 0)",
        "",
        "sub sense",
        *(_see(first) if sees else []),
        *((_receive if robot.messages else _hear)(first, heard) if hears else []),
        "",
        "sub think",
    ]  # fmt: skip
    for number, neuron in enumerate(net):
        lines += _neuron(neuron, number, inputs)
    lines += ["h = n"] if hidden else []
    lines += [
        *(line for side in ("left", "right") for line in _drive(side, speed)),
        "",
        "onevent timer0",
        "if going == 1 then",
        "\tcallsub sense",
        "\tcallsub think",
        "end",
        "",
        "onevent button.forward",
        "if button.forward == 1 then",
        *(["\tcall math.fill(h, 0)"] if hidden else []),
        "\tgoing = 1",
        "end",
        "",
        "onevent button.center",
        "if button.center == 1 then",
        "\tgoing = 0",
        "\tmotor.left.target = 0",
        "\tmotor.right.target = 0",
        "end",
        *(["", *_listen(robot)] if hears else []),
    ]
    words = sum(map(_words, net)) + COMMON + SEEING * sees + SENDING * bool(robot.messages)
    words += (RECEIVING if robot.messages else HEARING) * hears
    words += 6 + 2 * hidden if hidden else 0
    words -= 2 if PARTS * speed < 2048 else 0
    variables = 1 + inputs + 2 * room + len(network.TABLE) + 2 * hidden + heard * hears + 10
    return "\n".join([*lines, ""]), Size(words, variables)


def _see(first: int) -> list[str]:
    """Read the proximity sensors: 0 nothing, 4500 and more: touching."""
    return [
        f"for k in 0:{first - 1} do",
        "\ty = prox.horizontal[k]",
        f"\tcall math.clamp(y, y, 0, {FULL_SCALE})",
        f"\tcall math.muldiv(y, y, {2 * network.ONE}, {FULL_SCALE})",
        f"\tx[k] = {network.ONE} - y",
        "end",
    ]


def _hear(first: int, heard: int) -> list[str]:
    """Read what was told of neighbours."""
    return [
        f"for k in 0:{heard - 1} do",
        "\ty = rab[k]",
        f"\tcall math.clamp(y, y, 0, {network.ONE})",
        f"\tx[{first} + k] = y + y - {network.ONE}",
        "end",
    ]


def _heard_as(robot: Robot) -> str:
    """Return what is kept of what is heard."""
    if robot.messages:
        return "the strongest messages since the last cycle, as sensors receive them"
    return f"distances, {network.ONE}: nobody"


def _listen(robot: Robot) -> list[str]:
    """Keep what is heard until the next cycle."""
    if robot.messages:
        return ["onevent prox.comm", "call math.max(rab, rab, prox.comm.rx._intensities)"]
    return ["onevent heard", f"rab = event.args[0:{robot.rab - 1}]"]


def _receive(first: int, heard: int) -> list[str]:
    """Read how strong messages were: 0 nothing, 4500 and more: next to what sends."""
    return [
        f"for k in 0:{heard - 1} do",
        "\ty = rab[k]",
        f"\tcall math.clamp(y, y, 0, {FULL_SCALE})",
        f"\tcall math.muldiv(y, y, {network.ONE}, {FULL_SCALE})",
        f"\tx[{first} + k] = y",
        "end",
        "call math.fill(rab, 0)",
    ]


def _drive(side: str, speed: int) -> list[str]:
    """Set a wheel; what a whole target drops is kept for the next cycle, so that none gets lost."""
    return [
        f"y = {side} + {network.ONE}",
        f"call math.muldiv(y, y, {PARTS * speed}, {network.ONE})",
        f"y = y + {side}rest",
        f"motor.{side}.target = y / {PARTS} - {speed}",
        f"{side}rest = y % {PARTS}",
    ]


def _neuron(neuron: network.FixedNeuron, number: int, inputs: int) -> list[str]:
    def place(source: int) -> str:
        return f"x[{source}]" if source < inputs else f"h[{source - inputs}]"

    to = ("left", "right")[number] if number < 2 else f"n[{number - 2}]"
    count, weights = len(neuron.links), [neuron.bias, *(weight for _, weight in neuron.links)]
    read = [f"v[1:{count}] = [{', '.join(place(s) for s, _ in neuron.links)}]"] if count else []
    return [
        f"shift = {neuron.shift}",
        *read,
        f"w[0:{count}] = [{', '.join(map(str, weights))}]",
        "callsub neuron",
        f"{to} = y",
    ]


def _words(neuron: network.FixedNeuron) -> int:
    """Return the byte-code of ``_neuron``: a constant of 12 bits is in the word that loads it."""
    weights = [neuron.bias, *(weight for _, weight in neuron.links)]
    stored = sum(2 if -2048 <= weight < 2048 else 3 for weight in weights)
    return 5 + stored + 2 * len(neuron.links)


def _file(code: str) -> str:
    """Return the file of a program as Aseba Studio opens it."""
    network = ElementTree.Element("network")
    ElementTree.SubElement(network, "event", size=str(CONES), name="heard")
    ElementTree.SubElement(network, "keywords", flag="true")
    node = ElementTree.SubElement(network, "node", nodeId="1", name="thymio-II")
    node.text = code
    return f"<!DOCTYPE aesl-source>\n{ElementTree.tostring(network, encoding='unicode')}\n"


def root() -> Path:
    """Return the folder under which Aseba is unpacked: ``QED_ASEBA``, or where it is installed."""
    return Path(os.environ.get("QED_ASEBA", "/"))


def lacks() -> str | None:
    """Return what running Aseba needs and is not here, if anything."""
    if shutil.which("c++") is None:
        return "a C++ compiler, c++ (Debian's package g++)"
    if not (root() / "usr/lib/libasebacompiler.a").is_file():
        return "Debian's package aseba; unpacked is enough: name the folder in QED_ASEBA"
    return None


def run(folder: Path, hidden: int, numbers: Sequence[int]) -> Running:
    """Run a folder's programs in Aseba's virtual machine."""
    contract = json.loads((folder / "contract.json").read_text("utf-8"))
    count = len(contract["controllers"]["names"])
    scratch = TemporaryDirectory()
    codes = []
    for k in range(count):
        tree = ElementTree.fromstring((folder / name_of(k, count > 1)).read_text("utf-8"))
        codes.append(Path(scratch.name) / f"{k}.txt")
        codes[-1].write_text(tree.findtext("node") or "", encoding="utf-8")
    robot = THYMIOS[contract["robot"]]
    kind = [str(robot.heard), "messages" if robot.messages else "cones"]
    words = [str(hidden), str(full_speed(contract)), *kind, listed(numbers), *map(str, codes)]
    program, where = driver()
    return Running([program, *words], len(numbers), scratch, where)


def measured(codes: Sequence[str]) -> list[Size]:
    """Return the sizes that Aseba's compiler finds."""
    program, where = driver()
    with TemporaryDirectory() as scratch:
        paths = [Path(scratch) / str(k) for k in range(len(codes))]
        for path, code in zip(paths, codes, strict=True):
            path.write_text(code, encoding="utf-8")
        done = subprocess.run(
            [program, "size", *map(str, paths)], env=where, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
    return [Size(*map(int, line.split())) for line in done.stdout.splitlines()]


_kept: list[TemporaryDirectory[str]] = []


@cache
def driver() -> tuple[str, dict[str, str]]:
    """Compile what runs Aseba's compiler and virtual machine; return it and its environment."""
    _kept.append(TemporaryDirectory())  # until Python ends
    there = Path(_kept[-1].name)
    libraries = [str(root() / f"usr/lib/libaseba{name}.a") for name in ("compiler", "vm", "common")]
    command = ["c++", "-std=c++14", "-O0", f"-I{root() / 'usr/include/aseba'}"]
    done = subprocess.run(
        [*command, str(SOURCES / "run.cpp"), *libraries, "-o", str(there / "run")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise StoppedError(f"c++ cannot compile with Aseba's libraries: {done.stderr[:500]}")
    # Aseba's compiler asks for American English, which few machines without a screen have.
    (there / "en_US.UTF-8").symlink_to("/usr/lib/locale/C.utf8")
    return str(there / "run"), {"LOCPATH": str(there)}
