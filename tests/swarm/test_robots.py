"""Robots as data: what is refused, what follows from their numbers, how they move and touch."""

import json
import math
import pickle

import numpy as np
import pretend_gpu
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qed
from qed.errors import InputError
from qed.swarm import backend
from qed.swarm.made_for import made_for
from qed.swarm.robot import ROBOTS, Robot, faces

BOX = [(0.05, 0.04), (-0.05, 0.04), (-0.05, -0.04), (0.05, -0.04)]
GOOD = {"body": BOX, "mass": 0.3, "wheel_base": 0.07, "proximity": [(0.05, 0.0, 0.0)]}
EPUCK_RADIUS = 0.035


def regular(corners, radius=0.05):
    angles = 2.0 * np.pi * np.arange(corners) / corners
    return [(radius * math.cos(a), radius * math.sin(a)) for a in angles]


BAD = [
    ("body", [(0.05, 0.04), (-0.05, 0.04), (0.0, 0.0), (-0.05, -0.04)]),  # not convex
    ("body", [(0.05, 0.0), (-0.04, 0.03), (0.02, -0.05), (0.02, 0.05), (-0.04, -0.03)]),  # a star
    ("body", [(0.05, 0.04), (0.0, 0.04), (-0.05, 0.04), (-0.05, -0.04), (0.05, -0.04)]),  # a line
    ("body", [(0.15, 0.04), (0.05, 0.04), (0.05, -0.04), (0.15, -0.04)]),  # wheels outside
    ("body", regular(13)),
    ("body", BOX[:2]),
    ("body", [(0.05, "wide"), *BOX[1:]]),
    ("body", [(math.nan, 0.0), *BOX[1:]]),
    ("body", "square"),
    ("body", regular(4, 0.6)),
    ("mass", -0.3),
    ("mass", 0.0),
    ("moment", -1e-4),
    ("wheel_base", 0.0),
    ("max_speed", 3.0),
    ("max_force", -1.0),
    ("proximity", [(0.08, 0.0, 0.0)]),  # outside
    ("proximity", [(0.05, 0.0)]),
    ("proximity", [(0.05, 0.0, 0.0)] * 17),
    ("proximity_range", 0.0),
    ("response", (1.0, 0.0)),
    ("rab", 6),
    ("rab_range", math.inf),
    ("messages", 0.2),  # beside range and bearing
]


@pytest.mark.parametrize(("field", "value"), BAD)
def test_what_cannot_be_is_refused_by_its_name(field, value):
    with pytest.raises(InputError, match=rf"robot mine: {field}\b"):
        qed.Robot("mine", **{**GOOD, field: value})


def test_an_outline_is_a_polygon_or_round():
    for more in ({"radius": 0.05}, {"body": None}):
        with pytest.raises(InputError, match=r"body=.* or radius="):
            qed.Robot("mine", **{**GOOD, **more})
    with pytest.raises(InputError, match="radius"):
        qed.Robot("mine", **{**GOOD, "body": None, "radius": -0.1})


@given(st.integers(3, 12), st.floats(0.02, 0.2), st.floats(0.0, 6.0), st.booleans())
def test_regular_outlines_have_known_radii_and_moments(corners, radius, turn, clockwise):
    angles = turn + 2.0 * np.pi * np.arange(corners) / corners
    body = list(zip(radius * np.cos(angles), radius * np.sin(angles), strict=True))
    found = qed.Robot(
        "ring", body=body[::-1] if clockwise else body, mass=2.0, wheel_base=0.05
    )  # fmt: skip
    half = math.pi / corners
    assert found.outer_radius == pytest.approx(radius)
    assert found.inner_radius == pytest.approx(radius * math.cos(half))
    # m r^2 / 6 (2 + cos 2h) is the moment of a regular polygon.
    assert found.moment == pytest.approx(2.0 * radius**2 / 6.0 * (2.0 + math.cos(2.0 * half)))
    assert min(offset for *_, offset in faces(found.body)) > 0.0


@given(st.integers(4, 12), st.data())
def test_a_corner_pushed_in_is_refused(corners, data):
    body = regular(corners)
    k = data.draw(st.integers(0, corners - 1))
    between = (np.array(body[k - 1]) + body[(k + 1) % corners]) / 2
    body[k] = tuple(data.draw(st.floats(0.5, 1.0)) * between)
    with pytest.raises(InputError, match="body"):
        qed.Robot("dented", **{**GOOD, "body": body})


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=str)
def test_a_robot_is_the_same_in_files_and_other_processes(robot):
    mine = qed.Robot("mine", **{**GOOD, "rab": 0})
    for one in (robot, mine):
        sent = pickle.loads(pickle.dumps(one))
        read = Robot.from_described(json.loads(json.dumps(one.described())))
        assert sent.key == read.key == one.key
        assert read.made == one.made


def test_a_file_with_other_numbers_of_a_robot_is_refused():
    described = qed.EPUCK.described() | {"digest": "0123"}
    with pytest.raises(InputError, match="robot epuck: its numbers"):
        Robot.from_described(described)
    with pytest.raises(InputError, match=r"robot mine: .*mass"):
        Robot.from_described({"name": "mine", "digest": "0123", "wheel_base": 0.1})


def test_ranges_and_speeds_follow_from_the_robot():
    found = qed.Environment(robot="epuck", rab_range=0.5)
    assert (found.max_speed, found.rab_range, found.proximity_range) == (0.128, 0.5, 0.05)
    assert qed.Environment().described() == {
        "max_speed": 0.10, "robots": 10, "arena": 4.0, "obstacles": 0, "rab_range": 1.0,
        "proximity_range": 0.11,
    }  # fmt: skip
    assert qed.Environment.from_described(found.described()) == found
    with pytest.raises(InputError, match="robot must be one of"):
        qed.Environment(robot="epukc")


def test_nodes_follow_from_the_robot():
    inputs = made_for(qed.EPUCK, "qed.controller.inputs")
    assert (inputs.FIRST_RAB, inputs.CONSTANT, inputs.LEFT, inputs.FIRST_HIDDEN) == (8, 16, 17, 19)
    assert inputs.GROUPS[:4] == ((1, 2, 2, 2), (0, 7, 7, 7), (5, 6, 6, 6), (3, 4, 4, 4))
    assert len(inputs.INPUTS) == 17
    qed.Controller([(16, 18, 1.0)], [0.0, 0.0], robot=qed.EPUCK)
    with pytest.raises(InputError, match=r"target must be a wheel \(17, 18\)"):
        qed.Controller([(0, 16, 1.0)], [0.0, 0.0], robot=qed.EPUCK)


def test_a_controller_drives_its_own_robot_only():
    thymios, epucks = qed.Environment(), qed.Environment(robot=qed.EPUCK)
    with pytest.raises(InputError, match="controllers: they drive the robot thymio"):
        qed.simulate(qed.Controller.random(1), epucks, task="flocking", trials=1, seconds=1.0)
    with pytest.raises(InputError, match="all must be of one robot"):
        qed.simulate(
            [qed.Controller.random(1), qed.Controller.random(1, robot=qed.EPUCK)],
            [thymios, epucks], task="flocking", trials=1, seconds=1.0,
        )  # fmt: skip
    with pytest.raises(InputError, match="another robot than the first"):
        qed.Team([qed.Controller.random(1), qed.Controller.random(1, robot="epuck")])


def test_a_gpu_takes_any_robot_but_cylinders_of_one_radius(monkeypatch):
    pretend_gpu.install(monkeypatch)
    for robot in ROBOTS.values():
        assert backend.chosen("auto", [qed.Environment(robot=robot)]) == "cuda"
    wide = qed.Start([[1.0, 1.0, 0.0]], [[2.0, 2.0, 0.3]])
    with pytest.raises(InputError, match="other radii"):
        backend.chosen("cuda", [qed.Environment(robots=1, obstacles=1)], 1, wide)


def driven(start, wheels, arena=4.0, obstacles=None):
    """Return poses (cycles, robots, 3) of e-pucks with such wheel speeds (m/s), and readings."""
    start = np.asarray(start, float)
    env = qed.Environment(
        robot=qed.EPUCK, robots=len(start), arena=arena,
        obstacles=0 if obstacles is None else len(obstacles),
    )  # fmt: skip
    world = qed.World(env, start=qed.Start(start, obstacles), noise=0.0)
    poses = []
    for command in wheels:
        readings = world.step(np.broadcast_to(command, (len(start), 2)) / env.max_speed)
        poses.append(world.poses.copy())
    return np.array(poses), readings


@pytest.mark.parametrize("speed", [0.1, 0.2, 0.4, 0.9])
def test_a_heavy_robot_takes_some_sub_steps_to_its_speed(speed):
    # 1.5 N change the speed of 0.4 kg by 0.15 m/s in each of five sub-steps of 0.04 s, and a new
    # speed moves the robot from the next one on: 0.04 x (0.15 + 0.3 + 0.4 + 0.4) for 0.4 m/s, ...
    gained = [min(0.15 * k, speed) for k in range(5)]
    poses, _ = driven([[2.0, 2.0, 0.0]], [[speed, speed]] * 3)
    assert poses[0, 0, 0] - 2.0 == pytest.approx(0.04 * sum(gained), abs=1e-5)
    later = [min(0.15 * k, speed) for k in range(15)]
    assert poses[2, 0, 0] - 2.0 == pytest.approx(0.04 * sum(later), abs=1e-5)


def test_round_robots_stop_at_each_other_and_do_not_turn():
    poses, _ = driven([[1.9, 2.0, 0.0], [2.1, 2.0, math.pi]], [[0.1, 0.1]] * 40)
    apart = np.hypot(*(poses[:, 0, :2] - poses[:, 1, :2]).T)
    assert 2 * EPUCK_RADIUS - 0.01 < apart[-1] < 2 * EPUCK_RADIUS
    assert apart[-1] == pytest.approx(apart[-10], abs=1e-5)
    assert np.abs(poses[:, 0, 2]).max() < 1e-5
    # What is symmetric stays so.
    assert poses[:, :, 0].mean(1) == pytest.approx(2.0, abs=1e-4)


def test_round_robots_slide_along_walls_and_cylinders():
    slant = math.radians(60.0)
    poses, _ = driven([[1.8, 1.0, slant]], [[0.1, 0.1]] * 100, arena=2.0)
    assert 2.0 - poses[-1, 0, 1] == pytest.approx(EPUCK_RADIUS, abs=0.003)
    assert poses[-1, 0, 0] > 1.9
    poses, _ = driven(
        [[1.5, 2.03, 0.0]], [[0.1, 0.1]] * 150, obstacles=[[2.0, 2.0, 0.1]]
    )  # fmt: skip
    away = np.hypot(poses[:, 0, 0] - 2.0, poses[:, 0, 1] - 2.0)
    assert away.min() == pytest.approx(EPUCK_RADIUS + 0.1, abs=0.005)
    assert poses[-1, 0, 0] > 2.2


@pytest.mark.parametrize("gap", [0.005, 0.02, 0.04, 0.06])
def test_sensors_on_the_rim_read_the_way_to_what_is_there(gap):
    # Sensor 2 looks to the left, at a right angle to the wall or through a cylinder's centre.
    value = max(0.0, 298.701 * gap**2 - 36.8961 * gap + 1.08212) if gap <= 0.05 else 0.0
    for place, obstacles in (
        ([2.0, 4.0 - EPUCK_RADIUS - gap, 0.0], None),
        ([2.0, 2.0, 0.0], [[2.0, 2.0 + EPUCK_RADIUS + gap + 0.07, 0.07]]),
    ):
        _, readings = driven([place], [[0.0, 0.0]], obstacles=obstacles)
        assert 0.5 - 0.5 * readings.proximity[0, 2] == pytest.approx(min(value, 1.0), abs=1e-5)


def test_a_cylinder_of_any_radius_hides_what_is_behind_it():
    pair = [[1.8, 2.0, 0.0], [2.2, 2.0, 0.0]]
    for off, hidden in ((0.06, True), (0.08, False)):
        _, readings = driven(pair, [[0.0, 0.0]], obstacles=[[2.0, 2.0 + off, 0.07]])
        assert (readings.rab[0, 0] == 1.0) == hidden


def test_sensors_that_look_ahead_break_with_pmin():
    place = [[2.0, 4.0 - EPUCK_RADIUS - 0.01, math.pi / 2]]
    for name, blind in (("NONE", False), ("PMIN", True)):
        world = qed.World(
            qed.Environment(robot=qed.EPUCK, robots=1), start=qed.Start(place), noise=0.0,
            faults=qed.Faults([name]),
        )  # fmt: skip
        read = world.step(np.zeros((1, 2))).proximity[0]
        assert (read[[0, 7]] == 1.0).all() == blind


def test_poses_of_a_start_do_not_overlap():
    world = qed.World(qed.Environment(robot=qed.EPUCK, robots=30, arena=1.5), seed=3)
    x, y, _ = world.poses.T
    apart = np.hypot(x[:, None] - x, y[:, None] - y) + np.eye(30)
    assert apart.min() >= 2 * EPUCK_RADIUS
    assert apart.min() < 0.0763  # a Thymio's would be farther apart


def stock(poses, faults=None):
    """Return what Thymios as they are sold read at some poses."""
    env = qed.Environment(robot=qed.THYMIO_STOCK, robots=len(poses))
    broken = None if faults is None else qed.Faults(faults)
    world = qed.World(env, start=qed.Start(poses), noise=0.0, faults=broken)
    return world.step(np.zeros((len(poses), 2)))


@pytest.mark.parametrize("apart", [0.2, 0.3, 0.38, 0.39, 0.4])
def test_messages_are_as_strong_as_emitters_are_near(apart):
    # Face to face the middle emitter of one is 2 x 7.95 cm nearer to the sensor of the other.
    middle = max(0.0, 1.0 - (apart - 0.159) / 0.23)
    for angle in (0.0, 2.0):
        there = np.array([math.cos(angle), math.sin(angle)]) * apart + 2.0
        heard = stock([[2.0, 2.0, angle], [*there, angle + math.pi]]).rab
        assert heard[:, 2] == pytest.approx(middle, abs=1e-5)
        assert heard[0] == pytest.approx(heard[1], abs=1e-5)
        assert (heard[:, 1] <= heard[:, 2]).all()
        assert (heard[:, [0, 4, 5, 6]] == 0.0).all()


@pytest.mark.parametrize(
    ("turn", "seen"), [(0.0, True), (14.0, True), (16.0, False), (-14.0, True), (-16.0, False)]
)
def test_emitters_reach_15_degrees_and_sensors_36(turn, seen):
    # One emitter at the rear of a robot, 20 cm from the middle sensor of the one behind it: that
    # one turns about its sensor, or stands beside the emitter's line.
    def faced(look, beside):
        sensor, emitter = np.array([1.8, 2.0]), np.array([2.0, 2.0])
        line = math.radians(beside)
        sensor = emitter - 0.2 * np.array([math.cos(line), math.sin(line)])
        towards = line + math.radians(look)
        at = sensor - 0.0795 * np.array([math.cos(towards), math.sin(towards)])
        away = [emitter[0] + 0.0295, emitter[1] + 0.0295, 0.0]  # its right rear emitter is there
        return stock([[*at, towards], away]).rab[0, 2] > 0.0

    assert faced(turn, 0.0)  # within the sensor's 36 degrees
    assert not faced(math.copysign(50.0, turn), 0.0)  # the other rear emitter is 6 cm aside
    if turn >= 0.0:  # on the other side the second rear emitter reaches it
        assert faced(0.0, turn) == seen


def test_dead_robots_send_nothing():
    poses = [[2.0, 2.0, 0.0], [2.3, 2.0, math.pi]]
    heard = stock(poses, [qed.Fault("DEAD", dead=True), "NONE"]).rab
    assert heard[0].max() > 0.0
    assert (heard[1] == 0.0).all()


def test_a_team_receives_as_its_members_do():
    """Inputs that only some robots read do not change what the others do."""
    robot, env = qed.THYMIO_STOCK, qed.Environment(robot="thymio-stock", robots=6, arena=1.5)
    swarms = [qed.Controller.random(seed, robot=robot) for seed in (3, 4)]
    for one in swarms:
        given = {"task": "dispersion", "trials": 2, "seconds": 8.0, "backend": "cpu"}
        alone = qed.simulate(one, env, **given).fitness["dispersion"]
        team = qed.simulate(qed.Team([one] * 6), env, **given).fitness["dispersion"]
        assert (alone == team).all()
