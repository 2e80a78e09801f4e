"""The GPU engine without a GPU: its code in Numba's CUDA simulator, and its tables."""

import numpy as np
import pytest

import qed
from qed.errors import InputError
from qed.swarm.cuda import engine, packing
from qed.swarm.cuda import layout as L
from qed.swarm.cuda.engine import warps_of_a_block
from qed.swarm.job import checked
from qed.swarm.made_for import made_for
from qed.swarm.measures import PATROLLING, VISITS
from qed.swarm.robot import ROBOTS

CASES = (
    "all sums",
    "mixed environments",
    "more than 32 contacts in a warp",
    "more than 32 pairs within hearing",
    "robots at one place",
    "robots that come near later",
    "more than 32 rays that may hit, and pairs in doubt",
    "faults and obstacles",
    "between obstacles, and at obstacles and walls",
    "a user's laws",
    "a user's laws beside the paper's",
    "a user's faults",
    "a team",
    "a team that reads different inputs",
    "a team of broken robots",
    "e-pucks",
    "fast e-pucks",
    "e-pucks at walls and obstacles",
    "a crowd of e-pucks",
    "Thymios as they are sold",
    "broken ones in a corner",
    "a team of them",
    "a user's triangles",
    "floors",
    "a team on a floor",
)
EQUALS = (
    "a team of equals 1",
    "a team of equals 5",
    "trials in warps of their own",
    "trials in parts",
)


@pytest.fixture(scope="module")
def simulated(simulator):
    """How far the engines are apart, case by case."""
    told = simulator("simulated_gpu.py")
    return dict(line.split(": ") for line in told.splitlines())


def test_all_cases_are_looked_at(simulated):
    assert set(simulated) == {*CASES, *EQUALS}


@pytest.mark.parametrize("case", CASES)
def test_whole_worlds_agree_with_the_cpu_engine(simulated, case):
    # The simulator computes as the CPU does: only the order of a few sums differs.
    assert float(simulated[case]) < 1e-7


@pytest.mark.parametrize("case", EQUALS)
def test_a_team_of_equals_is_one_controller_and_warps_or_parts_change_nothing(simulated, case):
    assert float(simulated[case]) == 0.0


def job(environments, trials, swarms=None, **more):
    swarms = swarms or [qed.Controller.random(k) for k in range(len(environments))]
    given = {"seconds": 1.0, "seed": 1, "faults": None, "start": None, "noise": 0.05, **more}
    return checked(swarms, environments, trials=trials, **given)


@pytest.mark.parametrize("room", [0, 100, 200, 300])
def test_every_trial_of_every_controller_is_in_one_warp(room):
    environments = [qed.Environment(robots=n) for n in (1, 5, 7, 10, 20, 32)]
    tables = packing.packed(job(environments, 50), slice(0, 6), packing.StartTables(), False, room)
    seen = []
    for warp in tables.warps:
        assert warp[L.W_TRIALS] * warp[L.W_ROBOTS] <= L.LANES
        seen += range(warp[L.W_OUT], warp[L.W_OUT] + warp[L.W_TRIALS])
    assert sorted(seen) == list(range(6 * 50))
    assert tables.trials == 300
    assert len(tables.warps) == {0: 141, 100: 141, 200: 200, 300: 300}[room]


def test_trials_are_spread_over_as_many_warps_as_there_is_room_for():
    robots = np.array([1, 5, 10, 20])
    full, alone = [32, 6, 3, 1], [1, 1, 1, 1]
    assert packing.trials_of_a_warp(robots, 50, 0).tolist() == full
    assert packing.trials_of_a_warp(robots, 50, 200).tolist() == alone
    assert packing.trials_of_a_warp(robots, 50, 199).tolist() == [2, 2, 2, 1]
    assert packing.trials_of_a_warp(robots, 50, 125).tolist() == [2, 2, 2, 1]
    assert packing.trials_of_a_warp(robots, 50, 124).tolist() == [3, 3, 3, 1]


FEW = qed.Robot("few", radius=0.03, mass=0.1, wheel_base=0.04, rab=0)
MANY = qed.Robot(
    "many", radius=0.03, mass=0.1, wheel_base=0.04, proximity=[(0.03, 0.0, 0.0)] * 16, rab=0,
    messages=0.2,
)  # fmt: skip


@pytest.mark.parametrize("robot", [*ROBOTS.values(), FEW, MANY], ids=str)
def test_rows_of_shared_memory_do_not_overlap(robot):
    rows = made_for(robot, "qed.swarm.cuda.layout")
    sensed = rows.INPUTS + rows.LANES * (len(robot.proximity) + robot.heard)
    # A second wall's six rows are the last that motion takes.
    assert max(sensed, rows.SECOND_WALL + 6 * rows.LANES) == rows.LISTED_X
    assert rows.SECOND_WALL >= rows.CONTACTS + 3 * rows.LANES
    assert rows.LANES * len(robot.proximity) + 31 <= rows.RAY_LIST


def test_tables_know_all_32_inputs_and_which_sensors_a_fault_hits():
    made = made_for(MANY, "qed.swarm.cuda.packing")
    reader = qed.Controller([(31, 33, 1.0), (0, 34, 1.0)], [0.0, 0.0], robot=MANY)
    where = qed.Environment(robot=MANY, robots=2)
    for all_inputs, bits in ((False, -(2**31) + 1), (True, -1)):
        given = job([where], 1, [reader])
        tables = made.packed(given, slice(0, 1), made.StartTables(), all_inputs)
        assert tables.networks[0, L.N_READS] == tables.networks[0, L.N_LIVE] == bits
    made = made_for(qed.EPUCK, "qed.swarm.cuda.packing")
    swarm = [qed.Controller.random(1, robot=qed.EPUCK)]
    where = [qed.Environment(robot=qed.EPUCK, robots=1)]
    for sensors, general in (((0, 1, 2, 3, 4), True), (qed.EPUCK.front, False), (None, False)):
        fault = qed.Fault("BLIND", "blind", gain=0.0, sensors=sensors)
        given = job(where, 1, swarm, faults=qed.Faults([fault]))
        tables = made.packed(given, slice(0, 1), made.StartTables(), False)
        assert tables.with_general_faults == general
        assert tables.faults[0, L.F_HIT] == sum(1 << k for k in sensors or (0, 1, 6, 7))


def test_kernels_of_robots_are_kept_apart():
    folders = {made_for(one, "qed.swarm.cuda.device")._KEPT for one in ROBOTS.values()}
    names = {folder.name for folder in folders}
    assert names >= {f"robot-{one.digest}" for one in (qed.EPUCK, qed.THYMIO_STOCK)}
    assert len(folders) == len(ROBOTS)


def test_the_dearest_worlds_come_first():
    quiet, loud, blocked = (
        qed.Environment(robots=20, rab_range=0.25),
        qed.Environment(robots=20, rab_range=2.0),
        qed.Environment(robots=20, rab_range=2.0, obstacles=6),
    )
    given = job([quiet, blocked, loud], 2, [qed.Controller.random(0)] * 3)
    tables = packing.packed(given, slice(0, 3), packing.StartTables(), False)
    assert tables.warps[:, L.W_NETWORK].tolist() == [1, 1, 2, 2, 0, 0]


def test_start_places_are_sent_once():
    starts = packing.StartTables()
    first = packing.packed(job([qed.Environment()] * 3, 4), slice(0, 3), starts, False)
    rows = len(starts.keys)
    again = packing.packed(job([qed.Environment()] * 5, 4), slice(0, 5), starts, False)
    assert rows == len(starts.keys) == packing.DRAWN * 10  # with the trials of later rounds
    assert set(first.warps[:, L.W_PLACE]) == set(again.warps[:, L.W_PLACE])
    packing.packed(job([qed.Environment(robots=5)], 4), slice(0, 1), starts, False)
    assert len(starts.keys) == rows + packing.DRAWN * 5
    full = qed.Environment(robots=10, arena=1.5, obstacles=1)  # no room in some later trial
    packing.packed(job([full], 1, seed=5), slice(0, 1), starts, False)
    assert len(starts.keys) == rows + packing.DRAWN * 5 + 10


def test_every_warp_has_room_for_its_pairs_cells_and_obstacles():
    environments = [
        qed.Environment(robots=robots, obstacles=obstacles)
        for robots, obstacles in ((1, 0), (5, 6), (10, 0), (20, 2), (32, 31))
    ]
    tables = packing.packed(job(environments, 50), slice(0, 5), packing.StartTables(), False)
    stride = packing.arrange(tables, patrols=True, counts=True)
    for warp in tables.warps:
        robots = int(warp[L.W_ROBOTS])
        at_once = L.LANES // robots
        pairs = at_once * robots * (robots - 1) // 2
        obstacles = environments[warp[L.W_NETWORK]].obstacles
        listed, near, work, counts, patrol, centres = warp[L.W_LISTED : L.W_CENTRES + 1]
        assert listed >= L.LANES * (L.rows_of(False) + 2 * 2)  # two neurons at least
        assert near - listed >= pairs
        assert work - near >= pairs
        assert counts - work >= max(pairs, 255)
        assert patrol - counts >= 512
        assert centres - patrol >= 100 * at_once
        assert stride - centres >= 2 * obstacles * at_once


def test_a_team_shares_its_neurons_those_with_the_most_links_first():
    lone = qed.Controller([(9, 16, 1.0)], [0.0, 0.0])
    large = qed.Controller([(k, 18, 1.0) for k in range(6)] + [(18, 17, 1.0)], [0.0] * 3)
    swarms = [qed.Team([lone, large, lone]), lone]
    given = job([qed.Environment(robots=3), qed.Environment(robots=2)], 4, swarms)
    tables = packing.packed(given, slice(0, 2), packing.StartTables(), False)
    assert tables.with_teams
    assert tables.first.tolist() == [0, 3]  # the second swarm has a network for each robot too
    links = np.diff(tables.stops)
    assert links.tolist() == [8] + [4] * 6 + [4] * 4
    row, robot = np.divmod(tables.owners, L.LANES)
    assert (row[0], robot[0]) == (2, 1)  # the hidden neuron
    assert sorted(zip(robot[:7], row[:7], strict=True)) == [
        (0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1),
    ]  # fmt: skip
    cone, proximity = 1 << 9, 0b111111
    assert tables.networks[:, L.N_READS].tolist() == [cone, proximity, cone, cone, cone]
    assert tables.networks[:, L.N_LIVE].tolist() == [cone | proximity] * 3 + [cone] * 2


def test_visits_that_cannot_be_counted_are_refused():
    huge = job([qed.Environment(arena=100.0)], 3000)
    assert list(engine._parts(huge, PATROLLING)) == [slice(0, 1)]
    with pytest.raises(InputError, match=r"3,000 trials .* use at most 2,5\d\d trials"):
        list(engine._parts(huge, VISITS))


def test_a_block_has_as_many_warps_as_its_memory_allows():
    most = 232_448  # bytes, of an H200
    assert warps_of_a_block(10_700, most) == 4
    assert warps_of_a_block(60_000, most) == 3  # very large networks
    assert warps_of_a_block(most, most) == 1
    with pytest.raises(InputError, match="300,000 bytes of the GPU's shared memory"):
        warps_of_a_block(300_000, most)
