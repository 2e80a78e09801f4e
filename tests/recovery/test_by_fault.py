import behaviours
import numpy as np
import pytest

import qed
from qed.archive.grid import Grid
from qed.controller.genome import from_controllers
from qed.errors import InputError
from qed.recovery import by_fault
from qed.recovery.by_fault import candidates, kinds_in
from qed.recovery.trials import streams

# Drive backwards; turn when the rear sensors see something.
REVERSER = behaviours.reflexes(
    {behaviours.REAR_LEFT: -0.9, behaviours.ALWAYS: 0.5},
    {behaviours.ALWAYS: -1.0},
)
KNOWN = {**behaviours.BEHAVIOURS, "reverser": REVERSER}
HOW = {"trials": 2, "fresh": 30, "seconds": 60.0, "seed": 5}
HALF = qed.Faults(["PMAX"] * 5 + ["NONE"] * 5)


def archive_of(controllers, cells=16):
    """Return an archive with these controllers in cells 1, 2, 3, ... of a line."""
    archive = qed.Archive(Grid((cells,)))
    places = 1 + np.arange(len(controllers))[:, None]
    archive.add(from_controllers(controllers), np.zeros(len(controllers)), places / cells)
    return archive


@pytest.fixture(scope="module")
def archive():
    return archive_of(list(KNOWN.values()))


@pytest.fixture(scope="module")
def found(archive):
    return qed.recover(archive, "patrolling", HALF, by="fault", **HOW)


def test_two_faults_that_need_two_controllers_get_them(archive, found):
    # With all front sensors at 1 those who look ahead turn for ever; the rear sensors work.
    names = dict(zip(archive.occupied.tolist(), KNOWN, strict=True))
    assert names[found.plays["PMAX"]] == "reverser"
    assert names[found.plays["NONE"]] != "reverser"
    assert found.gain > 3.0 * found.gain_error > 0.0
    assert found.resilience > found.one_for_all_resilience
    assert isinstance(found.team, qed.Team)
    assert len(found.team) == len(found.cells) == 10
    everyone = dict(zip(archive.occupied.tolist(), archive.controllers, strict=True))
    assert found.team == qed.Team(everyone[cell] for cell in found.cells)
    assert len(set(found.team)) == 2
    assert found.controller == everyone[found.cell]
    assert 0.0 < found.distance <= 1.0


def test_what_is_told_comes_from_fresh_trials(found):
    assert found.fresh_seed == streams(5).fresh
    again = [
        qed.simulate(
            one, tasks="patrolling", faults=HALF, trials=30, seconds=60.0, seed=found.fresh_seed
        ).fitness["patrolling"][0]
        for one in (found.team, found.controller, found.normal_controller)
    ]
    team, alone, kept = again
    assert found.performance == pytest.approx(team.mean())
    assert found.error == pytest.approx(team.std(ddof=1) / np.sqrt(30))
    assert found.one_for_all == pytest.approx(alone.mean())
    assert found.broken == pytest.approx(kept.mean())
    assert found.gain == pytest.approx((team - alone).mean())
    assert found.gain_error == pytest.approx((team - alone).std(ddof=1) / np.sqrt(30))
    assert found.claimed != found.performance


def test_it_is_reproducible_for_any_threads_and_beside_others(archive, found):
    told = []
    faults = [HALF, qed.Faults.none()]
    again = qed.recover(
        archive, "patrolling", faults, by="fault", threads=1,
        progress=lambda *at: told.append(at), **HOW,
    )  # fmt: skip
    assert again[0] == found
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]
    assert len({total for _, total in told}) == 1
    # Healthy robots are all of one kind: what is best for all is the team.
    assert again[1].plays.keys() == {"NONE"}
    assert len(set(again[1].team)) == 1


def test_equal_controllers_stay_one_for_all():
    patroller = behaviours.BEHAVIOURS["patroller"]
    archive = archive_of([patroller] * 5)
    faults = qed.Faults(["PMIN"] * 4 + ["LW-H"] * 5 + ["ROFS"])
    found = qed.recover(archive, "patrolling", faults, by="fault", **HOW)
    assert set(found.cells) == {found.cell}
    assert found.gain == 0.0
    assert found.performance == found.one_for_all == found.broken
    assert found.distance == 0.0


def test_a_fault_that_one_robot_has_is_a_kind_too(archive):
    faults = qed.Faults(["NONE"] * 4 + ["PMAX"] + ["NONE"] * 5)
    found = qed.recover(archive, "patrolling", faults, by="fault", **HOW)
    assert found.plays.keys() == {"NONE", "PMAX"}
    assert len(set(found.cells[:4] + found.cells[5:])) == 1
    assert kinds_in(faults) == [qed.Faults("NONE").each[0], qed.Faults("PMAX").each[0]]


@pytest.mark.parametrize("task", ["patrolling", "aggregation"])
def test_it_is_not_worse_than_one_for_all_beyond_luck(archive, task):
    faults = [qed.Faults.sample(10, seed=k) for k in range(3)]
    found = qed.recover(archive, task, faults, by="fault", **HOW)
    for one in found:
        assert one.gain >= -3.0 * one.gain_error
        assert one.plays.keys() == set(one.faults)


def test_a_replacement_must_be_better_on_new_trials(archive, monkeypatch):
    # Nobody is better by so much, so that all stay with what was best for all.
    monkeypatch.setattr(by_fault, "CLEAR", 1e6)
    found = qed.recover(archive, "patrolling", HALF, by="fault", **HOW)
    assert set(found.cells) == {found.cell}
    assert found.performance == found.one_for_all


def test_candidates_are_the_best_for_all_and_the_best_for_a_fault():
    fitness = np.full(1000, -np.inf)
    fitness[100:150] = np.arange(50)
    alike = np.zeros(1000)
    alike[145:170] = np.arange(25)
    rows = candidates(fitness, alike, 21).tolist()
    assert rows[:7] == list(range(149, 142, -1))
    # Those that are both count once.
    assert rows[7:] == list(range(169, 155, -1))
    assert sorted(candidates(fitness[:7], alike[:7], 135).tolist()) == list(range(7))


def test_bad_input_names_the_field(archive):
    with pytest.raises(InputError, match="by must be one of fault"):
        qed.recover(archive, "patrolling", HALF, by="robot", **HOW)
