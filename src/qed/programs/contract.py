"""What an exported program expects of the robot: contract.json, and README.md for people."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import qed
from qed.controller.inputs import WHEELS
from qed.programs.network import Network
from qed.swarm import robot
from qed.swarm.environment import Environment
from qed.swarm.made_for import made_for
from qed.swarm.robot import THYMIO, THYMIO_STOCK, Robot

FORMAT, VERSION = "qed-program", 1


def plain(text: object) -> str:
    """Return a text from elsewhere as one line that no language takes for anything but words."""
    return re.sub(r"[^A-Za-z0-9 ._,+-]+", "?", str(text))[:80]


def contract_of(
    to: str,
    nets: Sequence[Network],
    of_robot: Sequence[int],
    environment: Environment,
    names: Sequence[str],
) -> dict[str, Any]:
    """Return what there is to know, as JSON can hold it."""
    of = environment.robot
    nodes = made_for(of, "qed.controller.inputs")
    names_of = nodes.SENSED
    reads = [
        sorted({s for _, links in net for s, _ in links if s < nodes.CONSTANT}) for net in nets
    ]
    read = sorted({source for some in reads for source in some})
    hears = any(nodes.FIRST_RAB <= k < nodes.FIRST_GROUND for k in read)
    return {
        "format": FORMAT,
        "version": VERSION,
        "qed": qed.__version__,
        "language": to,
        "robot": of.name,
        "robot in words": plain(of.meaning),
        "cycle": robot.CYCLE,
        "top speed": environment.max_speed,
        "inputs": [_proximity(k, name, environment) for k, name in enumerate(nodes.PROXIMITY)]
        + [(_rab if of.rab else _message)(k, name, environment) for k, name in enumerate(nodes.RAB)]
        + [_ground(k, name, of) for k, name in enumerate(nodes.GROUND)],
        "inputs read": [names_of[k] for k in read],
        "needs range and bearing": bool(of.rab) and hears,
        "needs messages": bool(of.messages) and hears,
        "outputs": [{"name": name, "unit": "top speed", "range": [-1.0, 1.0]} for name in WHEELS],
        "reset": "whenever a robot begins to run a controller: its hidden neurons are then 0",
        "controllers": {
            "names": [plain(name) for name in names],
            "of robot": list(of_robot) if len(set(of_robot)) > 1 else [],
            "hidden neurons": [len(net) - len(WHEELS) for net in nets],
            "links": [sum(len(neuron.links) for neuron in net) for net in nets],
            "reads": [[names_of[k] for k in some] for some in reads],
        },
    }


def _proximity(k: int, name: str, environment: Environment) -> dict[str, Any]:
    touching, slope, curve = environment.robot.response
    return {
        "name": name,
        "unit": "1",
        "range": [-1.0, 1.0],
        "place": _place(k, environment.robot),
        "from": (
            f"1 - 2 r, where the reading r = {touching:g} {_signed(slope)} u {_signed(curve)} u^2 "
            f"of the distance u * {environment.proximity_range:g} m straight ahead of the sensor, "
            "from 0 to 1; 0 if u > 1"
        ),
        "raw": f"r = prox.horizontal[{k}] / {FULL_SCALE}, at most 1"
        if is_thymio(environment.robot)
        else "r from 0 (nothing) to 1 (touching): how your sensor's reading becomes it is yours",
    }


def _rab(k: int, name: str, environment: Environment) -> dict[str, Any]:
    sectors = environment.robot.rab
    return {
        "name": name,
        "unit": "1",
        "range": [-1.0, 1.0],
        "place": {"direction": 360 * k // sectors, "width": 360 // sectors},
        "from": (
            f"2 min(d / {environment.rab_range:g} m, 1) - 1, where d is the distance of the "
            "nearest robot whose centre lies in this sector; 1 if there is none"
        ),
        "raw": "a Thymio has no such sensor: measure it from outside, or choose a controller "
        "that does not read it"
        if is_thymio(environment.robot)
        else "d from your robot's range and bearing",
    }


def _message(k: int, name: str, environment: Environment) -> dict[str, Any]:
    of = environment.robot
    return {
        "name": name,
        "unit": "1",
        "range": [0.0, 1.0],
        "place": _place(k, of),
        "from": (
            f"the strongest intensity, 0 to 1, that sensor {k} receives of other robots' messages: "
            f"1 - d / {of.messages:g} m at the distance d from what sends; 0 beyond"
        ),
        "raw": f"prox.comm.rx._intensities[{k}] / {FULL_SCALE}, at most 1: the largest of the "
        "events prox.comm of a cycle; call prox.comm.enable(1) at the start"
        if is_thymio(of)
        else "0 (nothing) to 1 (next to what sends): how your sensor's reading becomes it is yours",
    }


def _ground(k: int, name: str, of: Robot) -> dict[str, Any]:
    x, y = of.ground[k]
    return {
        "name": name,
        "unit": "1",
        "range": [0.0, 1.0],
        "place": {"x": round(x, 6), "y": round(y, 6)},
        "from": "how bright the floor below the sensor is, from 0 (black) to 1 (white)",
        "raw": "how your sensor's reading becomes it is yours: measure it on black and on white",
    }


def _place(k: int, of: Robot) -> dict[str, float]:
    x, y, angle = of.proximity[k]
    return {"x": round(x, 6), "y": round(y, 6), "direction": round(math.degrees(angle), 3)}


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {abs(value):g}"


def is_thymio(of: Robot) -> bool:
    """Return whether a robot's sensors and motors are those of a Thymio II."""
    return of.key in (THYMIO.key, THYMIO_STOCK.key)


KIT = """\
## When robots break

`search.py`, in plain Python, runs on a robot or beside the swarm. It knows the {count}
controllers by their numbers; a healthy swarm runs number {present}.

```python
from search import Search

search = Search()
search.tell(fitness, search.present)  # what the swarm gives since it is broken
for _ in range(10):
    number = search.ask()  # let all robots run this controller for {seconds:g} s
    search.tell(fitness)  # what that gave, as the task {task} scores it
number = search.best  # the present one, unless the gain of another is clear
```

`search.belief(number)` tells what is expected of a controller and an interval of 90 %;
`search.told` is all that is needed to go on later: `Search(told=...)`.

"""
FULL_SCALE = 4500  # of a Thymio's horizontal proximity sensors, close to something bright


def text_of(contract: Mapping[str, Any]) -> str:
    """Return the contract as a file holds it."""
    return json.dumps(contract, indent=1) + "\n"


def readme(contract: Mapping[str, Any], how_to: str, program: str) -> str:
    """Return README.md."""
    several = len(contract["controllers"]["names"])
    what = contract["controllers"]["names"][0] if several == 1 else f"{several} controllers"
    rows = []
    for k, one in enumerate(contract["inputs"]):
        place = one["place"]
        where = f"{place['direction']:g}°" if "direction" in place else "down"
        if "x" in place:
            where += f" at ({place['x']:g}, {place['y']:g}) m"
        used = "yes" if one["name"] in contract["inputs read"] else "no"
        rows.append(f"| {k} | {one['name']} | {where} | {used} | {one['from']} |")
    thymio = contract["robot"] in (THYMIO.name, THYMIO_STOCK.name)
    ground = "and ground " * any(name.startswith("ground") for name in contract["inputs read"])
    needs = f"It reads proximity {ground}sensors alone."
    if not contract["inputs read"]:
        needs = "It reads nothing."
    elif contract["needs messages"]:
        needs = "It reads infra-red messages: all robots have to send them all the time."
    elif contract["needs range and bearing"]:
        needs = "It needs range and bearing" + (
            ", which a Thymio as sold does not have: somebody has to tell each robot where its "
            "neighbours are."
            if thymio
            else "."
        )
    note = "How your sensors' readings follow distances is for you to measure."
    if thymio:
        note = (
            "On a Thymio II the reading of a proximity sensor is `prox.horizontal[k] / "
            f"{FULL_SCALE}`, at most 1.\nHow that follows the distance depends on what reflects: "
            "compare at a few distances."
        )
    if contract["robot"] == THYMIO_STOCK.name:
        note += (
            " Of a message it is\n`prox.comm.rx._intensities[k] / "
            f"{FULL_SCALE}`, at most 1: the largest of a cycle's events `prox.comm`."
        )
    of_robot = contract["controllers"]["of robot"]
    team = f"Robots 0, 1, ... run the controllers {of_robot}.\n\n" if of_robot else ""
    search = KIT.format(count=several, **contract["search"]) if "search" in contract else ""
    how = how_to.format(
        program=program, cycle=contract["cycle"], inputs=len(contract["inputs"]),
        speed=contract["top speed"], number="number" if several > 1 else "",
    )  # fmt: skip
    return f"""\
# {what}, for the robot {contract["robot"]}

Written by `qed export` {contract["qed"]}; `contract.json` holds all of this for programs, and
`parity.json` how far this program is from the simulator's controller. The robot is
{contract["robot in words"]}.

{needs}

{team}{how}
{search}## Each cycle of {contract["cycle"]:g} s

Read the sensors, make a step, set the wheels: the wheels turn at the outputs (-1 to 1) times
{contract["top speed"]:g} m/s until the next cycle. Directions are counterclockwise from straight
ahead, places x ahead and y to the left.

| input | name | direction | is read | from what is measured |
|---|---|---|---|---|
{chr(10).join(rows)}

{note}

Begin anew (`reset`) {contract["reset"].removesuffix(": its hidden neurons are then 0")}.
"""
