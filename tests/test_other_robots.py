"""From evolution to recovery with another robot than the Thymio: files name it, others refuse."""

import json

import numpy as np
import pretend_gpu
import pytest
from commands import run
from more_robots import FLOORED

import qed
from qed.controller.network import GAIN
from qed.errors import InputError
from qed.explore.sources import ArchiveView
from qed.explore.state import checked, written
from qed.explore.swarms import message, recorded
from qed.recovery.kit.prepare import Effort
from qed.swarm.made_for import made_for
from qed.swarm.robot import ROBOTS
from qed.view.look import outline

SMALL = {"evaluations": 60, "initial": 30, "batch": 30, "trials": 2, "seconds": 10.0, "seed": 1}
OWN = """
import qed
mouse = qed.Robot(
    "mouse", "small and round", radius=0.03, mass=0.1, wheel_base=0.04,
    proximity=[(0.03, 0.0, 0.0)], rab_range=0.5,
)
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    evolved = qed.evolve("patrolling", robot=qed.EPUCK, backend="cpu", out=folder, **SMALL)
    again = qed.Archive.load(folder / "archive.npz")
    assert again.equal(evolved)
    assert again.robot.key == evolved.robot.key == qed.EPUCK.key
    with pytest.raises(InputError, match="robot"):  # the run is of another robot
        qed.evolve("patrolling", backend="cpu", out=folder, resume=True, **SMALL)
    return again


def test_an_archive_names_its_robot(archive):
    assert archive.header["robot"] == json.loads(json.dumps(qed.EPUCK.described()))
    assert archive.best.controller.robot.key == qed.EPUCK.key
    assert archive.controllers[0].robot.key == qed.EPUCK.key
    nodes = {node for one in archive.controllers for link in one.connections for node in link[:2]}
    assert 17 in nodes  # the left wheel, which is a Thymio's right one
    assert max(max(one.hidden for one in archive.controllers), 0) > 0


def test_environments_scale_with_the_robot(archive):
    scaled = qed.Attributes({"max_speed": (0.05, 0.1), "robots": (5, 10)}).of(qed.EPUCK)
    assert dict(scaled) == {"max_speed": (0.064, 0.128), "robots": (5, 10)}
    assert scaled.environment((1, 0)).robot is qed.EPUCK
    assert "rab_range" not in qed.Attributes({"rab_range": (1.0,), "robots": (5,)}).of(
        qed.THYMIO_STOCK
    )
    described = archive.space.describe()["options"]
    assert described["rab_range"] == [0.2, 0.4, 0.8, 1.6]
    assert described["proximity_range"] == [0.025, 0.05, 0.1, 0.2]
    assert described["arena"] == [2.0, 3.0, 4.0, 5.0]


def test_a_swarm_recovers_and_a_kit_knows_its_robot(archive, tmp_path):
    broken = qed.Faults(["BW-H"] * 10)
    found = qed.recover(archive, "patrolling", broken, trials=2, fresh=3, seconds=10.0)
    assert found.controller.robot.key == qed.EPUCK.key
    with pytest.raises(InputError, match="its robot is thymio, but the controllers drive epuck"):
        qed.recover(archive, "patrolling", broken, trials=2, environment=qed.Environment())
    little = Effort(
        surveyed=2, screened=2, controllers=8, faults=4, elsewhere=2, validation=2, teams=0
    )
    kit = qed.prepare(archive, effort=little, backend="cpu")
    kit.save(tmp_path / "kit.npz")
    same = qed.Kit.load(tmp_path / "kit.npz")
    assert same.environment.robot.key == qed.EPUCK.key
    assert same.controllers == kit.controllers
    assert same.recover(faults=broken, budget=2, fresh=2).controller.robot.key == qed.EPUCK.key
    with pytest.raises(InputError, match="its robot is thymio"):
        same.recover(faults=broken, budget=2, environment=qed.Environment())


def test_a_gpu_simulates_it(archive, monkeypatch):
    calls = pretend_gpu.install(monkeypatch)
    how = {"trials": 2, "seconds": 4.0, "backend": "cuda"}
    assert qed.evolve("patrolling", robot=qed.EPUCK, **{**SMALL, "backend": "cuda"}).equal(archive)
    broken = qed.Faults(["BW-H"] * 10)
    qed.recover(archive, "patrolling", broken, by="fault", **how)
    team = qed.Team([archive.best.controller] * 10)
    where = qed.Environment(robot=qed.EPUCK)
    qed.simulate(team, where, task="flocking", **how)
    before = len(calls)
    little = Effort(
        surveyed=2, screened=2, controllers=4, faults=2, elsewhere=1, validation=2, teams=0
    )
    qed.prepare(archive, effort=little, backend="cuda")
    assert len(calls) > before > 4
    assert {call.robot.key for call in calls} == {qed.EPUCK.key}


def test_films_draw_a_robot_by_its_outline(archive, tmp_path):
    circle = np.array(outline(qed.EPUCK))
    assert np.hypot(*circle.T) == pytest.approx(0.035)
    broken = qed.Faults(["BW-H"] * 10)
    found = qed.recover(archive, "patrolling", broken, trials=2, fresh=2, seconds=4.0)
    page = qed.replay(found, tmp_path / "film.html", seconds=4.0, sensors=True).read_text()
    assert '"bodyRadius":0.035' in page
    assert '"cones":8' in page
    picture = qed.replay(found, tmp_path / "film.gif", seconds=4.0, sensors=True, size=200)
    assert picture.stat().st_size > 1000


def test_the_explorer_draws_it_and_reads_its_inputs(archive):
    view = ArchiveView("e-pucks", "", archive)
    given = {"cells": [view.normal_cell], "environment": {"robots": 4, "obstacles": 1}}
    scene = checked({**given, "seconds": 2.0, "start": "ring"}, [view])
    assert scene.environment.robot.key == qed.EPUCK.key
    sent = message(recorded(scene))
    size = int.from_bytes(sent[:4], "little")
    header = json.loads(sent[4 : 4 + size])
    assert header["body"]["bodyRadius"] == 0.035
    assert (header["sensed"], header["firstRab"], header["left"]) == (16, 8, 17)


def test_the_command_takes_robots_of_a_file(tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    mine = ("--robot", "mouse", "--with", "mine.py")
    for more, words in (
        (("--robot", "mouse"), "robot must be one of thymio, epuck"),
        ((*mine, "--attributes", "no"), "attributes must be one of"),
    ):
        refused = run("evolve", "patrolling", *more, cwd=tmp_path)
        assert refused.returncode != 0
        assert words in " ".join(refused.stderr.split())


def test_the_command_evolves_and_recovers_another_robot(tmp_path):
    sizes = [f"--{name}={value}" for name, value in SMALL.items()]
    cpu = ("--backend", "cpu")
    evolved = run("evolve", "flocking", "--robot=epuck", *sizes, *cpu, "--out=run", cwd=tmp_path)
    assert evolved.returncode == 0, evolved.stderr
    shown = run("info", "run", cwd=tmp_path)
    assert "epuck" in shown.stdout
    recovered = run("recover", "run", "--faults=7", "--trials=2", *cpu, cwd=tmp_path)
    assert recovered.returncode == 0, recovered.stderr


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=str)
def test_every_robot_keeps_the_contract(robot):
    """A swarm drives, senses, breaks and is scored alike in trace, simulate and steps."""
    env = qed.Environment(robot=robot, robots=4, arena=1.5, obstacles=1)
    swarm = qed.Controller.random(seed=3, robot=robot)
    broken = qed.Faults(["PRAND", "LW-H", "ROFS", "NONE"])
    given = {"task": "dispersion", "seconds": 10.0, "seed": 5, "faults": broken}
    outcome = qed.simulate(
        swarm, env, trials=2, backend="cpu", descriptors=["spirit", "sdbc", "hbd"], **given
    )
    seen = qed.trace(swarm, env, trial=1, **given)
    assert seen.score[-1] == outcome.fitness["dispersion"][0, 1]
    assert (seen.proximity.shape[2], seen.rab.shape[2]) == (len(robot.proximity), robot.heard)
    # What a controller commands, given step by step, moves the robots as it does: faults act on
    # both, so they are taken out of what a trace shows.
    world = qed.World(env, "dispersion", seed=5, faults=broken, worlds=2)
    halved = np.array([[1.0, 1.0], [0.5, 1.0], [1.0, 1.0], [1.0, 1.0]])
    commands = np.zeros((4, 2))
    for t in range(50):
        readings = world.step(np.broadcast_to(commands, (2, 4, 2)))
        for got, wanted in zip(readings, (seen.proximity, seen.rab, seen.ground), strict=True):
            assert got[1] == pytest.approx(wanted[t], abs=1e-3)
        commands = seen.wheels[t].astype(float) / env.max_speed / halved
    assert world.poses[1, :, 0] == pytest.approx(seen.x[-1], abs=1e-5)
    assert world.score[1] == pytest.approx(seen.score[-1], abs=1e-5)


def test_the_explorer_shows_ground_sensors_and_the_floor(tmp_path):
    floor = [[0.0, 0.125], [1.0, 1.0]]
    # A hidden neuron reads the first ground sensor, and drives the left wheel (node 19).
    swarm = qed.Controller([(15, 21, 2.0), (21, 19, 2.0)], [0.0, 0.5, 0.1], FLOORED)
    settings = {"task": "patrolling", "seconds": 4.0}
    header = {"settings": settings, "robot": FLOORED.described(), "floor": floor}
    made = qed.Archive(qed.Grid((2,)), header)
    genomes = made_for(FLOORED, "qed.controller.genome").from_controllers([swarm])
    made.fill_cells(np.arange(1), genomes, np.ones(1), [[0.2]])
    view = ArchiveView("floored", "floored.npz", made)
    scene = checked({"environment": {"robots": 3, "arena": 2.0}}, [view])
    assert scene.environment == qed.Environment(robot=FLOORED, floor=floor, robots=3, arena=2.0)
    seen = recorded(scene)
    wanted = np.tanh(GAIN * 2.0 * seen.trace.ground[..., 0] + 0.1)
    assert len(np.unique(wanted)) > 1
    assert seen.hidden[..., 0] == pytest.approx(wanted, abs=1e-5)
    sent = message(seen)
    head = json.loads(sent[4 : 4 + int.from_bytes(sent[:4], "little")])
    assert (head["sensed"], head["firstRab"], head["left"]) == (18, 7, 19)
    assert head["floor"] == [[0.0, 0.12], [1.0, 1.0]]
    assert "arena=2, floor=archive.environment.floor)" in written(scene)
