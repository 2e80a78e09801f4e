"""Ground sensors and floors: what is read, what stops on black, what files and errors say."""

import json
import pickle

import numpy as np
import pytest
from more_robots import FLOORED

import qed
from qed.errors import InputError
from qed.recovery.kit.prepare import Effort
from qed.swarm.environment import Environment
from qed.swarm.made_for import made_for

INPUTS = made_for(FLOORED, "qed.controller.inputs")
LEFT, RIGHT, GROUND = INPUTS.LEFT, INPUTS.RIGHT, INPUTS.FIRST_GROUND
# Black from x = 3 m on.
HALF = [[1.0, 1.0, 1.0, 0.0]]
BLACK = [[0.0]]
# Full ahead on white, and at rest where the first sensor sees black: the output is tanh of three
# times the grey, which is 1 on white but for half a per cent.
STOPS = qed.Controller([(GROUND, LEFT, 2.0), (GROUND, RIGHT, 2.0)], [0.0, 0.0], FLOORED)


def environment(**more):
    return qed.Environment(**{"robot": FLOORED, "robots": 1, "floor": HALF, **more})


def below(place, floor, arena=4.0):
    """Return what the ground sensors of a robot at rest at a pose read."""
    env = environment(floor=floor, arena=arena)
    return qed.World(env, start=qed.Start([place])).step(np.zeros((1, 2))).ground[0].tolist()


def test_sensors_read_the_cell_below_them():
    floor = [[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]]  # cells of 1.333 m and 2 m
    for place, greys in (
        ([0.5, 0.5, 0.0], [0.0, 0.0, 0.0]),
        ([2.0, 0.5, 0.0], [0.1, 0.1, 0.1]),
        ([3.8, 3.0, 0.0], [0.5, 0.5, 0.5]),
        ([2.0, 1.995, 0.0], [0.4, 0.1, 0.1]),  # to its left is y
        ([2.0, 2.005, np.pi], [0.1, 0.4, 0.4]),
        ([2.0, 1.97, np.pi / 2], [0.4, 0.4, 0.1]),  # two ahead of the wheels' axis, one behind
    ):
        assert below(place, floor) == pytest.approx(greys, abs=1e-6)


def test_a_floor_is_stretched_over_any_arena_and_white_without_a_picture():
    for arena in (1.0, 7.3, 100.0):
        assert below([0.65 * arena, 0.5 * arena, 0.0], HALF, arena) == [1.0, 1.0, 1.0]
        assert below([0.85 * arena, 0.5 * arena, 0.0], HALF, arena) == [0.0, 0.0, 0.0]
        assert below([0.85 * arena, 0.5 * arena, 0.0], None, arena) == [1.0, 1.0, 1.0]


def test_a_sensor_beyond_a_wall_reads_the_cell_beside_it():
    corner = [0.0, 0.0, np.pi]  # half the body is outside until the wall pushes it back
    assert below(corner, [[0.25, 1.0], [1.0, 1.0]]) == [0.25, 0.25, 0.25]


def test_greys_have_no_noise_and_no_fault_of_the_paper_changes_them():
    kinds = ["PMIN", "PMAX", "PRAND", "ROFS", "LW-H", "RW-H", "BW-H", "NONE"]
    env = environment(robots=len(kinds), floor=[[0.375]])
    seen = qed.trace(STOPS, env, seconds=4.0, faults=qed.Faults(kinds), noise=0.3)
    assert (seen.ground == 0.375).all()
    assert len(np.unique(seen.proximity[:, -1])) > 10


def test_a_swarm_that_stops_on_black_stops_there():
    start = qed.Start([[2.0, 2.0, 0.0]])
    seen = qed.trace(STOPS, environment(), seconds=20.0, start=start)
    first = np.flatnonzero(seen.ground[:, 0, 0] == 0.0)[0]
    assert seen.x[first, 0] + 0.05 == pytest.approx(3.0, abs=0.03)
    assert np.abs(seen.wheels[first:]).max() == 0.0
    assert np.ptp(seen.x[first + 3 :, 0]) == 0.0
    # Without the picture it drives on to the wall.
    white = qed.trace(STOPS, environment(floor=None), seconds=20.0, start=start)
    assert white.x[-1, 0] > 3.9


def test_results_do_not_depend_on_what_is_simulated_together():
    rng = np.random.default_rng(1)
    floors = [None, HALF, rng.uniform(size=(64, 64)), HALF, rng.uniform(size=(3, 7))]
    environments = [environment(robots=4, floor=floor, arena=2.0) for floor in floors]
    swarms = [STOPS, *(qed.Controller.random(k, robot=FLOORED) for k in range(4))]
    given = {"task": "patrolling", "trials": 3, "seconds": 10.0, "seed": 3}
    together = qed.simulate(swarms, environments, threads=2, **given).fitness["patrolling"]
    for k, (swarm, env) in enumerate(zip(swarms, environments, strict=True)):
        alone = qed.simulate(swarm, env, threads=1, **given).fitness["patrolling"][0]
        np.testing.assert_array_equal(together[k], alone)
        shown = qed.trace(swarm, env, task="patrolling", seconds=10.0, seed=3, trial=2)
        assert shown.score[-1] == alone[2]


def test_steps_read_what_traces_show():
    env = environment(robots=3, floor=np.eye(16))
    seen = qed.trace(qed.Controller.random(5, robot=FLOORED), env, seconds=6.0, seed=4, noise=0.0)
    world = qed.World(env, seed=4, noise=0.0, worlds=2)
    commands = np.zeros((3, 2))
    for t in range(30):
        readings = world.step(np.broadcast_to(commands, (2, 3, 2)))
        assert readings.ground.shape == (2, 3, 3)
        np.testing.assert_array_equal(readings.ground[0], seen.ground[t])
        commands = seen.wheels[t].astype(float) / env.max_speed


def test_agents_observe_the_floor_last():
    env = qed.parallel_env(environment(robots=2, floor=[[0.5]]), seconds=2.0)
    assert env.observation_space("robot_0").shape == (18,)
    observations, _ = env.reset(seed=1)
    assert observations["robot_1"][-3:].tolist() == [0.5, 0.5, 0.5]


def test_inputs_come_after_the_others_and_have_names():
    assert INPUTS.INPUTS[-5:-3] == ("range and bearing 7", "ground 0")
    assert INPUTS.INPUTS[-3:] == ("ground 1", "ground 2", "constant")
    assert (INPUTS.FIRST_RAB, INPUTS.FIRST_GROUND, INPUTS.CONSTANT) == (7, 15, 18)
    bits = (INPUTS.PROXIMITY_BITS, INPUTS.RAB_BITS, INPUTS.GROUND_BITS)
    assert bits == (0x7F, 0x7F80, 0x38000)
    assert "ground" not in "".join(made_for(qed.EPUCK, "qed.controller.inputs").INPUTS)


@pytest.mark.parametrize(
    ("floor", "words"),
    [
        ("black", "rows of numbers"),
        ([[0.0, 1.0], [1.0]], "each as long"),
        ([[0.0], ["dark"]], "rows of numbers"),
        ([0.0, 1.0], r"got the shape \(2,\)"),
        ([[]], "1 to 64"),
        (np.zeros((65, 2)), "1 to 64"),
        (np.zeros((2, 2, 2)), r"\(2, 2, 2\)"),
        ([[0.0, 1.5]], "got 1.5"),
        ([[255]], "divide .* by 255"),
        ([[-0.1]], "got -0.1"),
        ([[float("nan")]], "got nan"),
    ],
)
def test_a_floor_that_cannot_be_is_refused_by_its_name(floor, words):
    with pytest.raises(InputError, match=f"^floor must be .*{words}"):
        qed.Environment(floor=floor)
    with pytest.raises(InputError, match=f"^floor must be .*{words}"):
        qed.evolve("patrolling", robot=FLOORED, floor=floor)


def test_an_environment_with_a_floor_goes_through_files():
    rng = np.random.default_rng(2)
    env = environment(floor=rng.uniform(size=(5, 9)).astype(np.float32))
    same = Environment.from_described(json.loads(json.dumps(env.described())))
    assert same == env == pickle.loads(pickle.dumps(env))
    assert {env, same} == {env}
    assert env != environment() != environment(floor=None)
    assert "floor" not in qed.Environment().described()
    assert "5 x 9 cells" in repr(env)


SMALL = {"evaluations": 24, "initial": 12, "batch": 12, "trials": 1, "seconds": 5.0, "seed": 1}


@pytest.mark.parametrize("algorithm", ["qed", "hbd"])
def test_an_archive_keeps_the_floor_it_evolved_on(algorithm, tmp_path):
    given = {"robot": FLOORED, "backend": "cpu", "out": tmp_path / "run", **SMALL}
    evolved = qed.evolve("patrolling", algorithm, floor=BLACK, **given)
    for one in (evolved, qed.Archive.load(tmp_path / "run" / "archive.npz")):
        assert one.environment == qed.Environment(robot=FLOORED, floor=BLACK)
    white = qed.evolve("patrolling", algorithm, **given | {"out": None})
    assert white.environment.floor is None
    assert not np.array_equal(white.objective, evolved.objective, equal_nan=True)
    with pytest.raises(InputError, match="another run: floor is '1 x 1 cells"):
        qed.evolve("patrolling", algorithm, resume=True, **given)
    again = qed.evolve("patrolling", algorithm, floor=BLACK, resume=True, **given)
    assert again.equal(evolved)


def test_an_archive_tells_ground_sensors_from_range_and_bearing():
    space = qed.Grid((2,))
    archive = qed.Archive(space, {"robot": FLOORED.described()})
    blind = qed.Controller([], [0.0, 0.0], FLOORED)
    hears = qed.Controller([(INPUTS.FIRST_RAB, LEFT, 1.0)], [0.0, 0.0], FLOORED)
    genomes = made_for(FLOORED, "qed.controller.genome").from_controllers
    for swarms, left in (((STOPS, hears), 1), ((STOPS, blind), 2)):
        archive.fill_cells(np.arange(2), genomes(list(swarms)), np.zeros(2), [[0.2], [0.8]])
        assert len(archive.without("rab")) == left


def test_a_file_with_a_floor_that_cannot_be_is_refused(tmp_path):
    archive = qed.Archive(qed.Grid((2,)), {"robot": FLOORED.described(), "floor": [[2.0]]})
    genomes = made_for(FLOORED, "qed.controller.genome").from_controllers([STOPS])
    archive.fill_cells(np.arange(1), genomes, np.zeros(1), [[0.2]])
    archive.save(tmp_path / "wrong.npz")
    with pytest.raises(ValueError, match=r"wrong\.npz is not a usable .* floor must be numbers"):
        qed.Archive.load(tmp_path / "wrong.npz")


def test_a_kit_keeps_its_floor(tmp_path):
    archive = qed.evolve("patrolling", robot=FLOORED, floor=BLACK, backend="cpu", **SMALL)
    little = Effort(
        surveyed=2, screened=2, controllers=4, faults=4, elsewhere=2, validation=2, teams=0
    )
    kit = qed.prepare(archive, effort=little, backend="cpu")
    kit.save(tmp_path / "kit.npz")
    same = qed.Kit.load(tmp_path / "kit.npz")
    assert same.environment == kit.environment == archive.environment
    # A recovery is searched on the floor that controllers evolved on.
    broken = qed.Faults(["BW-H"] * 10)
    given = {"trials": 2, "fresh": 2, "backend": "cpu"}
    found = qed.recover(archive, "patrolling", broken, **given)
    assert found == qed.recover(
        archive, "patrolling", broken, environment=archive.environment, **given
    )


def test_an_exported_program_is_told_of_ground_sensors(tmp_path):
    made = qed.export(STOPS, "python", tmp_path, environment=environment(), trials=2, seconds=5.0)
    assert made.contract["inputs read"] == ["ground 0"]
    assert not made.contract["needs range and bearing"]
    told = made.contract["inputs"][GROUND]
    assert (told["name"], told["range"], told["place"]) == (
        "ground 0", [0.0, 1.0], {"x": 0.05, "y": 0.02},
    )  # fmt: skip
    assert "proximity and ground sensors" in (tmp_path / "README.md").read_text()
    for part in ("recorded, from the same state", "random, free-running"):
        assert made.parity["python"][part]["largest"] < 1e-5
