"""Programs in Python and MicroPython: the same numbers as the simulator's, and as their own."""

from __future__ import annotations

import json
import math
import shutil
from typing import Any

import commands
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qed
from qed.controller.inputs import CONSTANT, LEFT, SENSED
from qed.errors import InputError, StoppedError
from qed.programs import python
from qed.programs.contract import plain
from qed.programs.network import Network, networks
from qed.programs.parity import compare, record

SHORT: dict[str, Any] = {"trials": 2, "seconds": 10.0}
LOOPS = qed.Controller(
    [(0, 18, 1.5), (15, 19, -0.7), (18, 19, 0.2), (19, 18, -0.3), (19, 16, 1.0), (9, 17, -1.2)],
    bias=[0.3, 0.9, 0.1, -0.2],
)


def loaded(folder: Any) -> dict[str, Any]:
    """Return the names of an exported program."""
    names: dict[str, Any] = {}
    exec((folder / "controller.py").read_text(encoding="utf-8"), names)
    return names


def in_double(net: Network, rows: np.ndarray) -> list[tuple[float, float]]:
    """Return what a network's definition gives in double precision, cycle by cycle."""
    hidden, found = [0.0] * (len(net) - 2), []
    for row in rows.tolist():
        sources = row + hidden
        outputs = []
        for neuron in net:
            total = 0.0
            for source, weight in neuron.links:
                total = total + weight * sources[source]
            outputs.append(math.tanh(5.0 * total + neuron.bias))
        hidden = outputs[2:]
        found.append((outputs[0], outputs[1]))
    return found


def by_nodes(controller: qed.Controller, rows: np.ndarray) -> np.ndarray:
    """Return the same from a controller's nodes, with none pruned and no input folded away."""
    values = np.zeros(18 + controller.hidden)
    found = []
    for row in rows:
        values[: len(SENSED)], values[CONSTANT] = row, 1.0
        sums = np.zeros_like(values)
        for source, target, weight in controller.connections:
            sums[target] += weight * values[source]
        values[LEFT:] = np.tanh(5.0 * sums[LEFT:] + controller.bias)
        found.append(values[LEFT : LEFT + 2].copy())
    return np.array(found)


@pytest.mark.parametrize("controller", [LOOPS, *map(qed.Controller.random, range(5))])
def test_a_program_is_the_network_in_double_precision(tmp_path, controller):
    made = qed.export(controller, "python", tmp_path, **SHORT)
    rows = np.random.default_rng(1).uniform(-1, 1, (50, len(SENSED)))
    program = loaded(made.folder)["Controller"]()
    told = [program.step(row) for row in rows.tolist()]
    assert told == in_double(networks([controller])[0], rows)  # to the bit
    # The simulator holds weights, and the constant input as a part of biases, in single precision.
    assert np.array(told) == pytest.approx(by_nodes(controller, rows), abs=2e-5)
    program.reset()
    assert [program.step(row) for row in rows.tolist()] == told


@pytest.mark.parametrize("task", ["aggregation", "patrolling"])
def test_the_reference_is_the_simulator_to_the_bit(task):
    team = qed.Team([LOOPS, *map(qed.Controller.random, range(9))])
    for swarm in (LOOPS, team):
        different = [LOOPS] if swarm is LOOPS else list(team)
        parts = (0,) * 10 if swarm is LOOPS else team.parts
        told = record(
            networks(different), parts, qed.Environment(), task, trials=3, seconds=20.0, seed=4,
            tick=lambda: None,
        )  # fmt: skip
        outcome = qed.simulate(swarm, tasks=task, trials=3, seconds=20.0, seed=4)
        assert told.fitness.tolist() == outcome.fitness[task][0].tolist()


def test_a_report_tells_how_close_a_program_is(tmp_path):
    made = qed.export(LOOPS, "python", tmp_path / "robot", task="flocking", **SHORT)
    report = made.parity["python"]
    assert json.loads((made.folder / "parity.json").read_text("utf-8")) == made.parity
    for kind in ("recorded, from the same state", "recorded, free-running"):
        assert report[kind]["cycles"] == 2 * 10 * 50
        assert report[kind]["within"] == 1.0
        assert 0.0 < report[kind]["largest"] <= 1e-5
    assert report["random, free-running"]["within"] == 1.0
    assert report["closed loop"]["alike"]
    original = qed.simulate(LOOPS, tasks="flocking", **SHORT).fitness["flocking"]
    assert report["closed loop"]["original"] == pytest.approx(original.mean(), abs=1e-12)


def test_another_program_is_found_out(tmp_path):
    made = qed.export(LOOPS, "python", tmp_path, **SHORT)
    path = tmp_path / "controller.py"
    text = path.read_text("utf-8")
    weight = repr(float(np.float32(-1.2)))
    assert text.count(weight) == 1
    path.write_text(text.replace(weight, "0.9"), "utf-8")
    nets = networks([LOOPS])
    told = record(
        nets, (0,) * 10, qed.Environment(), "aggregation", **SHORT, seed=1, tick=lambda: None
    )

    def start(hidden, numbers):
        return python.run(made.folder, hidden, numbers)

    report = compare(start, nets, told, 1e-5, lambda: None)
    free = report["recorded, free-running"]
    assert free["within"] < 1.0
    trial, robot, cycle, apart = free["beyond"][0]
    assert (trial, robot, cycle) < (2, 10, 50)
    assert 1e-5 < apart <= free["largest"]
    assert report["closed loop"]["difference"] != 0.0
    path.write_text("raise SystemExit('no')", "utf-8")
    with pytest.raises(StoppedError, match="the exported program failed"):
        compare(start, nets, told, 1e-5, lambda: None)


def test_a_team_has_a_controller_for_each_robot(tmp_path):
    ahead, turning = (qed.Controller([], bias=[1.0, side]) for side in (1.0, -1.0))
    made = qed.export(
        qed.Team([ahead, turning, ahead]), "python", tmp_path,
        environment=qed.Environment(robots=3), **SHORT,
    )  # fmt: skip
    names = loaded(made.folder)
    assert names["TEAM"] == (0, 1, 0) == tuple(made.contract["controllers"]["of robot"])
    nothing = [1.0] * names["INPUTS"]
    told = [names["Controller"](k).step(nothing) for k in names["TEAM"]]
    speed = math.tanh(1.0)
    assert told == [(speed, speed), (speed, -speed), (speed, speed)]


def test_the_contract_names_what_goes_in_and_out(tmp_path):
    where = qed.Environment(max_speed=0.15, proximity_range=0.09)
    made = qed.export(LOOPS, "python", tmp_path, environment=where, **SHORT)
    contract = json.loads((tmp_path / "contract.json").read_text("utf-8"))
    assert contract == made.contract
    assert [one["name"] for one in contract["inputs"]] == list(SENSED)
    assert contract["inputs read"] == [SENSED[0], SENSED[9]]
    assert contract["needs range and bearing"]
    assert contract["top speed"] == 0.15
    assert "0.09 m" in contract["inputs"][0]["from"]
    readme = (tmp_path / "README.md").read_text("utf-8")
    assert all(name in readme for name in SENSED)
    near = qed.export(qed.Controller([(0, 16, 1.0)], [0, 0]), "python", tmp_path, **SHORT)
    assert not near.contract["needs range and bearing"]


def reading_all_kinds(robot: qed.Robot) -> qed.Controller:
    """Return a random controller that reads proximity sensors and what it hears."""
    for seed in range(100):
        controller = qed.Controller.random(seed, robot)
        nodes, [net] = controller.nodes, networks([controller])
        read = {source for neuron in net for source, _ in neuron.links if source < nodes.CONSTANT}
        if {source < nodes.FIRST_RAB for source in read} == {True, False}:
            return controller
    raise AssertionError("no random controller reads all")


@pytest.mark.parametrize("to", ["python", "c"])
@pytest.mark.parametrize("robot", [qed.THYMIO_STOCK, qed.EPUCK], ids=str)
def test_other_robots_have_contracts_of_their_own(tmp_path, to, robot):
    controller = reading_all_kinds(robot)
    made = qed.export(controller, to, tmp_path, task="aggregation", **SHORT)
    for report in made.parity.values():
        for kind in ("recorded, from the same state", "random, free-running"):
            assert report[kind]["within"] >= 0.99
    original = qed.simulate(controller, tasks="aggregation", **SHORT).fitness["aggregation"].mean()
    for report in made.parity.values():
        assert report["closed loop"]["original"] == pytest.approx(original, abs=1e-12)
    nodes = controller.nodes
    contract = json.loads((tmp_path / "contract.json").read_text("utf-8"))
    assert contract["robot"] == robot.name
    assert contract["top speed"] == robot.max_speed
    assert [one["name"] for one in contract["inputs"]] == list(nodes.SENSED)
    message = robot is qed.THYMIO_STOCK
    ends = [0.0, 1.0] if message else [-1.0, 1.0]
    assert [one["range"] for one in contract["inputs"][nodes.FIRST_RAB :]] == [ends] * robot.heard
    place = contract["inputs"][1]["place"]
    assert (place["x"], place["y"]) == pytest.approx(robot.proximity[1][:2], abs=1e-6)
    assert math.radians(place["direction"]) == pytest.approx(robot.proximity[1][2], abs=1e-4)
    last = nodes.CONSTANT - 1  # what is heard
    deaf = qed.Controller([(0, nodes.LEFT, 1.0)], [0, 0], robot=robot)
    hears = qed.Controller([(last, nodes.LEFT, 1.0)], [0, 0], robot=robot)
    for one, reads in ((deaf, False), (hears, True)):
        found = qed.export(one, to, tmp_path, trials=1, seconds=1.0).contract
        assert found["needs messages"] == (reads and message)
        assert found["needs range and bearing"] == (reads and not message)
    page = (tmp_path / "README.md").read_text("utf-8")
    assert f"{robot.messages:g} m" in page if message else "prox.horizontal" not in page


def test_a_robot_that_senses_nothing_has_no_program(tmp_path):
    blind = qed.Robot("blind", radius=0.05, mass=0.3, wheel_base=0.05, rab=0)
    with pytest.raises(InputError, match="the robot blind, which senses nothing"):
        qed.export(qed.Controller([], [1.0, 1.0], robot=blind), "python", tmp_path / "no")
    assert not (tmp_path / "no").exists()


@given(st.text())
def test_a_text_from_elsewhere_is_words(text):
    assert set(plain(text)) <= set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._,+-?"
    )
    assert len(plain(text)) <= 80


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"to": "pyhton"}, "did you mean 'python'"),
        ({"what": [LOOPS]}, "what must be a qed.Controller, a qed.Team or a qed.Kit, got list"),
        ({"what": qed.Team([LOOPS])}, "a team of 1 cannot drive 10 robots"),
        ({"trials": 0}, "trials must be"),
        (
            {"environment": qed.Environment(robot=qed.EPUCK)},
            "drives the robot thymio, but the environment's is epuck",
        ),
        ({"task": "dancing"}, "task must be one of"),
    ],
)
def test_errors_name_what_is_wrong(tmp_path, given, words):
    with pytest.raises(InputError, match=words):
        qed.export(**{"what": LOOPS, "to": "python", "out": tmp_path / "new", **given})
    assert not (tmp_path / "new").exists()


@pytest.mark.skipif(bool(python.lacks_micropython()), reason=f"{python.lacks_micropython()}")
def test_micropython_gives_the_same_as_python(tmp_path):
    made = qed.export(LOOPS, "micropython", tmp_path, **SHORT)
    report = made.parity["micropython"]
    for kind in ("recorded, from the same state", "recorded, free-running", "random, free-running"):
        assert report[kind]["within"] == 1.0
    rows = np.random.default_rng(2).uniform(-1, 1, (20, len(SENSED)))
    with python.run_micropython(tmp_path, 0, [0]) as program:
        told = np.array([program.step(row[None])[0] for row in rows])
    assert told == pytest.approx(np.array(in_double(networks([LOOPS])[0], rows)), abs=1e-14)


def test_what_is_not_installed_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("QED_MICROPYTHON", str(tmp_path))
    made = qed.export(LOOPS, "micropython", tmp_path / "robot", **SHORT)
    needed = "micropython.mjs" if shutil.which("node") else "node"
    assert needed in made.parity["micropython"]


def test_the_command_exports(tmp_path):
    done = commands.run(
        "export", "example:patrolling", "--best", "--to", "python", "--out", "robot", "--trials",
        "2", "--seconds", "10", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "100.00 %" in done.stdout
    assert "range and bearing" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "patrolling, cell" in (tmp_path / "robot" / "README.md").read_text("utf-8")
    cells = ",".join(["426"] * 5 + ["7"] * 5)
    done = commands.run(
        "export", "example:patrolling", "--cell", cells, "--to", "python", "--out", "team",
        "--trials", "1", "--seconds", "2", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert loaded(tmp_path / "team")["TEAM"] == (0,) * 5 + (1,) * 5
    for words in (["--best", "--cell", "3"], [], ["--cell", "x"], ["--cell", "99999999"]):
        done = commands.run(
            "export", "example:patrolling", *words, "--to", "python", "--out", "no", cwd=tmp_path
        )
        assert done.returncode == 2
        assert "cell" in done.stderr
