"""The GPU engine without a GPU: its code in Numba's CUDA simulator, and its tables."""

import numpy as np
import pytest

import qed
from qed.errors import InputError
from qed.swarm.cuda import engine, packing
from qed.swarm.cuda.engine import Limits, warps_of_a_block
from qed.swarm.cuda.layout import (
    LANES,
    W_LISTED,
    W_NETWORK,
    W_OUT,
    W_PLACE,
    W_ROBOTS,
    W_TRIALS,
)
from qed.swarm.cuda.places import arrange, rows_of
from qed.swarm.simulate import checked

CASES = (
    "all sums",
    "mixed environments",
    "more than 32 contacts in a warp",
    "more than 32 pairs within hearing",
    "robots at one place",
    "robots that come near later",
    "more than 32 rays that may hit, and pairs in doubt",
    "faults and obstacles",
)


@pytest.fixture(scope="module")
def simulated(simulator):
    """How far the engines are apart, case by case."""
    told = simulator("simulated_gpu.py")
    return dict(line.split(": ") for line in told.splitlines())


def test_all_cases_are_looked_at(simulated):
    assert set(simulated) == set(CASES)


@pytest.mark.parametrize("case", CASES)
def test_whole_worlds_agree_with_the_cpu_engine(simulated, case):
    # The simulator computes as the CPU does: only the order of a few sums differs.
    assert float(simulated[case]) < 1e-7


def job(environments, trials, **more):
    networks = [qed.Controller.random(k) for k in range(len(environments))]
    given = {"seconds": 1.0, "seed": 1, "faults": None, "start": None, "noise": 0.05, **more}
    return checked(networks, environments, trials=trials, **given)


def test_every_trial_of_every_controller_is_in_one_warp():
    environments = [qed.Environment(robots=n) for n in (1, 5, 7, 10, 20, 32)]
    tables = packing.packed(job(environments, 50), slice(0, 6), packing.Ground(), False)
    seen = []
    for warp in tables.warps:
        assert warp[W_TRIALS] * warp[W_ROBOTS] <= LANES
        seen += range(warp[W_OUT], warp[W_OUT] + warp[W_TRIALS])
    assert sorted(seen) == list(range(6 * 50))
    assert tables.trials == 300
    assert (np.diff(tables.warps[:, W_ROBOTS]) <= 0).all()  # the dearest first


def test_start_places_are_sent_once():
    ground = packing.Ground()
    first = packing.packed(job([qed.Environment()] * 3, 4), slice(0, 3), ground, False)
    rows = len(ground.keys)
    again = packing.packed(job([qed.Environment()] * 5, 4), slice(0, 5), ground, False)
    assert rows == len(ground.keys) == 4 * 10
    assert set(first.warps[:, W_PLACE]) == set(again.warps[:, W_PLACE])
    packing.packed(job([qed.Environment(robots=5)], 4), slice(0, 1), ground, False)
    assert len(ground.keys) == rows + 4 * 5


def test_every_warp_has_room_for_its_pairs_cells_and_obstacles():
    environments = [
        qed.Environment(robots=robots, obstacles=obstacles)
        for robots, obstacles in ((1, 0), (5, 6), (10, 0), (20, 2), (32, 31))
    ]
    tables = packing.packed(job(environments, 50), slice(0, 5), packing.Ground(), False)
    stride = arrange(tables, patrols=True, counts=True)
    for warp in tables.warps:
        robots = int(warp[W_ROBOTS])
        at_once = LANES // robots
        pairs = at_once * robots * (robots - 1) // 2
        obstacles = environments[warp[W_NETWORK]].obstacles
        listed, near, work, counts, patrol, centres = warp[W_LISTED:]
        assert listed >= LANES * (rows_of(False) + 2 * 2)  # two neurons at least
        assert near - listed >= pairs
        assert work - near >= pairs
        assert counts - work >= max(pairs, 255)
        assert patrol - counts >= 512
        assert centres - patrol >= 100 * at_once
        assert stride - centres >= 2 * obstacles * at_once


def test_visits_that_cannot_be_counted_are_refused():
    huge = job([qed.Environment(arena=100.0)], 3000)
    assert list(engine._parts(huge, engine.kernels.PATROLLING)) == [slice(0, 1)]
    with pytest.raises(InputError, match=r"3,000 trials .* take at most 2,5\d\d trials"):
        list(engine._parts(huge, engine.kernels.VISITS))


H200 = Limits(processors=132, registers=65_536, shared=233_472, block=232_448, reserved=1024)


def test_a_small_batch_is_spread_over_the_gpu():
    # 80 controllers of ten robots: 1360 warps, at most 3 blocks of 4 on each processor.
    assert warps_of_a_block((4, 5), 1360, 10_700, H200) == 4
    # 2000 warps: two blocks of 8 on most processors; blocks of 10 would leave half of them one.
    assert warps_of_a_block((8, 10, 9), 2000, 10_000, H200) == 8


def test_a_large_batch_fills_the_gpu():
    assert warps_of_a_block((4, 5), 6800, 10_700, H200) == 4  # five blocks: all registers taken
    assert warps_of_a_block((8, 10, 9), 10_000, 10_000, H200) == 10  # 20 warps, not 16
    assert warps_of_a_block((8, 10, 9), 10_000, 12_400, H200) == 9  # 18: shared memory is short
    assert warps_of_a_block((8, 10), 10_000, 60_000, H200) == 3  # very large networks
    with pytest.raises(InputError, match="300,000 bytes of the GPU's shared memory"):
        warps_of_a_block((8, 10), 10_000, 300_000, H200)
