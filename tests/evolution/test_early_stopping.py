"""Children that cannot win are stopped early, and the archive is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pretend_gpu
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from swarm_runs import swarm_run

import qed
from qed.errors import InputError
from qed.evolution import run_side_by_side, swarms
from qed.evolution.early_stopping import (
    ROUND,
    ROUNDING,
    IncumbentTrials,
    lost_race,
    next_stop,
    stop_after,
    upper_bounds,
)
from qed.evolution.swarms import Swarms
from qed.swarm.job import Job, networks_of
from qed.swarm.simulate import Pending
from qed.swarm.tasks import TASKS

SMALL = {"evaluations": 320, "initial": 160, "batch": 80, "trials": 50, "seconds": 4.0}
CROWD = [(1.0, 1.0), (0.2, 0.2), (1.8, 0.2), (0.2, 1.8), (1.8, 1.8)]


@given(
    arrays(np.float64, (5, 20), elements=st.floats(0.0, 1.0)),
    st.floats(0.0, 1.0),
    st.integers(0, 20),
)
def test_nobody_reaches_more_than_the_upper_bound(fitness, more, done) -> None:
    most = np.full(5, max(more, fitness.max()))
    bounds = upper_bounds(fitness[:, :done].sum(1), most, done, 20)
    assert (fitness.mean(1) <= bounds + 1e-12).all()


def test_a_child_has_lost_when_perfect_trials_could_not_save_it() -> None:
    sums, most = np.array([3.0, 3.0]), np.ones(2)
    bounds = upper_bounds(sums, most, done=30, trials=50)
    assert bounds == pytest.approx((3 + 20 * (1 + ROUNDING)) / 50)
    assert bounds[0] < 0.461
    assert bounds[0] > 0.46


def test_a_round_ends_only_where_somebody_may_have_lost() -> None:
    none, most = np.zeros(4), np.ones(4)
    assert next_stop(none, most, np.full(4, 0.9), False, 0, 50) == ROUND  # 5 empty trials would do
    assert next_stop(none, most, np.full(4, 0.5), False, 0, 50) == 36  # 25 would: the third round
    assert next_stop(none, most, np.full(4, 0.05), False, 0, 50) == 50  # nobody before the end
    assert (
        next_stop(none, np.full(4, np.inf), np.full(4, 0.9), False, 0, 50) == 50
    )  # no bound is known
    assert next_stop(none, most, np.full(4, -np.inf), False, 0, 50) == 50  # empty cells
    assert next_stop(none, most, np.full(4, 0.9), False, 36, 50) == 50  # a short last round is none
    race = [next_stop(none, most, np.full(4, 0.1), True, done, 50) for done in (0, 6, 12, 24, 36)]
    assert race == [6, 12, 24, 36, 50]
    assert [stop_after(stop, 50) for stop in (0, 6, 12, 24, 36, 44)] == [12, 12, 24, 36, 50, 50]


def evolved(settings: dict[str, Any]) -> tuple[qed.Archive, int]:
    """Return an archive, and how many trials were simulated for it."""
    simulated = 0

    class Counting(Pending):
        def __init__(self, job: Job, *rest) -> None:
            nonlocal simulated
            simulated += job.swarms * job.trials
            super().__init__(job, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(swarms, "Pending", Counting)
        run = swarm_run(**settings, threads=1)
        for _ in run_side_by_side([run]):
            pass
    return run.archive, simulated


@pytest.mark.parametrize("task", TASKS)
def test_archives_are_the_same_with_and_without(task: str, monkeypatch) -> None:
    few = qed.Attributes({"robots": (5, 10), "arena": (1.5, 2.5)})  # few cells: many contests
    algorithm = qed.Algorithm("few", cells=few)
    settings = {"task": task, "algorithm": algorithm, **SMALL}
    archive, simulated = evolved(settings)
    monkeypatch.setattr(swarms.early_stopping, "next_stop", lambda *a: a[-1])
    whole, every_trial = evolved(settings)
    assert archive.equal(whole)
    assert every_trial == 320 * 50
    if task == "aggregation":
        assert simulated < every_trial
    else:
        assert simulated <= every_trial


def test_behaviours_need_all_trials() -> None:
    _, simulated = evolved({"task": "aggregation", "algorithm": "hbd", **SMALL})
    assert simulated == 320 * 50


@pytest.mark.parametrize("robots", [2, 3, 5, 10, 20])
def test_no_swarm_disperses_beyond_its_bound(robots: int) -> None:
    task, side = TASKS["dispersion"], 2.0
    env = qed.Environment(robots=robots, arena=side)
    chance = np.random.default_rng(robots)
    places = chance.uniform(0.0, side, (200, robots, 2))
    spread = np.array(CROWD[:robots])
    places[0, : len(spread)] = spread
    apart = np.linalg.norm(places[:, :, None] - places[:, None], axis=-1)
    apart[:, range(robots), range(robots)] = np.inf
    sums = {"nearest_distance": apart.min(2).sum(1)}
    assert task.fitness(sums, 1, env).max() <= task.most(env)


def test_trials_that_are_skipped_change_nothing() -> None:
    controller, env = qed.Controller.random(3), qed.Environment(robots=5, obstacles=1)
    whole = qed.simulate(controller, env, tasks="patrolling", trials=7, seconds=8.0, seed=4)
    job = Job(networks_of([controller])[0], [env], [None], [4], 3, 40, None, 0.05, skipped=4)
    rest = Pending(job, ["patrolling"], [], 1).outcome().fitness["patrolling"]
    assert (rest == whole.fitness["patrolling"][:, 4:]).all()


def test_a_child_loses_a_race_three_standard_errors_behind() -> None:
    chance = np.random.default_rng(1)
    rivals = chance.uniform(0.4, 0.6, (4, 12))
    noise = chance.normal(0.0, 0.05, (4, 12))
    noise -= noise.mean(1, keepdims=True)
    error = noise.std(1, ddof=1) / np.sqrt(12)
    lead = np.array([-3.1, -2.9, 2.0, -9.0]) * error
    rivals[3] = np.nan  # nobody to race against
    fitness = rivals + noise + lead[:, None]
    assert lost_race(fitness, rivals).tolist() == [True, False, False, False]


def test_trials_are_those_of_the_incumbents_of_an_archive() -> None:
    incumbents, cells = IncumbentTrials(), np.array([3, 5, 3, 3])
    fitness = np.arange(12.0).reshape(4, 3)
    incumbents.update(cells, np.array([0.4, 0.2, 0.6, 0.5]), fitness)
    found = incumbents.look_up(np.array([3, 5, 5, 7]), np.array([0.6, 0.2, 0.3, -np.inf]), 3)
    assert (found[:2] == fitness[[2, 1]]).all()  # the best of a cell
    assert np.isnan(found[2:]).all()  # another incumbent, and none


def raced(**changes: Any) -> dict[str, Any]:
    few = qed.Attributes({"robots": (5, 10), "arena": (1.5, 2.5)})
    few_cells = qed.Algorithm("few", cells=few)
    return {"task": "aggregation", "algorithm": few_cells, "race": True, **SMALL, **changes}


def test_a_race_takes_fewer_trials_and_finds_a_good_archive() -> None:
    archive, simulated = evolved(raced())
    whole, every_trial = evolved(raced(race=False))
    assert simulated < 0.8 * every_trial
    assert archive.mean > whole.mean - 0.02
    assert archive.header["settings"]["race"]
    assert "race" not in whole.header["settings"]  # as it was before there were races


def test_a_gpu_with_room_takes_rounds_at_once_and_finds_the_same(monkeypatch) -> None:
    rounds, trials = evolved(raced())
    found = []
    for room in (0, 24, 50):
        pretend_gpu.install(monkeypatch, room=room)
        archive, simulated = evolved(raced(backend="cuda"))
        assert archive.equal(rounds)
        found.append(simulated)
    none, some, all_ = found
    assert none == trials < some < all_ == 320 * 50


def test_a_race_is_resumed_to_the_bit_and_incumbents_run_as_far_as_who_races_them(
    tmp_path,
) -> None:
    attributes = qed.Attributes({"robots": (3, 4, 5, 6), "arena": (2.0, 2.2, 2.4, 2.6, 2.8, 3.0)})
    settings = raced(algorithm=qed.Algorithm("few", cells=attributes), initial=80)
    whole, trials = evolved(settings)
    run = swarm_run(**settings, folder=tmp_path / "run", threads=1)
    steps = run_side_by_side([run], every=1e9)
    while run.search.done < 240:
        next(steps)
    steps.close()
    children = trials - evolved(settings | {"evaluations": 240})[1]
    resumed, simulated = evolved(settings | {"folder": tmp_path / "run", "resume": True})
    assert resumed.equal(whole)
    assert children < simulated < children + 50 * len(whole)


def test_a_race_needs_cells_that_are_known_beforehand() -> None:
    with pytest.raises(InputError, match="race is for algorithms whose cells are environments"):
        Swarms("aggregation", "hbd", race=True)
    with pytest.raises(InputError, match="race must be True or False, got 'yes'"):
        Swarms("aggregation", race="yes")
