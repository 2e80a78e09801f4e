from dataclasses import replace

import kits
import numpy as np
import pytest

import qed
from qed.errors import InputError
from qed.recovery.kit.library import diagnosed
from qed.swarm.faults import FAULTS

HOW = {"budget": 2, "fresh": 5, "seconds": 10.0, "seed": 3}
MIXED = qed.Faults(["PMIN"] * 6 + ["NONE"] * 4)


@pytest.fixture(scope="module")
def kit():
    kit = kits.made()
    return replace(kit, playbook=replace(kit.playbook, mixed=(0.02, 0.01)))


def test_teams_are_searched_with_the_robots_own_diagnoses(kit):
    faults = [MIXED, qed.Faults(["NONE"] * 9 + ["PMIN"])]
    found = kit.recover(faults=faults, by="fault", **HOW)
    for one in found:
        assert one.diagnoses == one.faults
        assert one.misdiagnosis_rate == 0.0
        assert len(one.team) == len(one.cells) == 10
        rows = {cell: k for k, cell in enumerate(kit.cells.tolist())}
        assert one.team == qed.Team(kit.controllers[rows[cell]] for cell in one.cells)
        outcome = qed.simulate(
            one.team, tasks="patrolling", faults=one.faults, trials=5, seconds=10.0,
            seed=one.fresh_seed,
        )  # fmt: skip
        assert one.performance == pytest.approx(outcome.fitness["patrolling"].mean())
        assert one.trace[0].free
        assert one.trace[0].cell == kit.cells[kit.present]
        assert max(list(one.cells).count(cell) for cell in one.cells) == one.cells.count(one.cell)
    assert kit.recover(faults=faults[0], by="fault", **HOW) == found[0]


def test_some_diagnoses_are_wrong(kit):
    found = kit.recover(faults=MIXED, by="fault", misdiagnosis_rate=0.5, **HOW)
    assert found.misdiagnosis_rate == 0.5
    assert 0 < sum(a != b for a, b in zip(found.diagnoses, MIXED, strict=True)) < 10
    assert found.faults == MIXED
    assert found.plays.keys() == set(found.diagnoses)


def test_other_numbers_of_robots_need_their_environment(kit):
    eight = qed.Faults(["PMIN"] * 4 + ["NONE"] * 4)
    where = qed.Environment(robots=8)
    found = kit.recover(faults=eight, by="fault", environment=where, **HOW)
    assert len(found.team) == 8


def test_a_diagnosis_is_wrong_as_often_as_said():
    faults = qed.Faults.sample(2000, seed=1)
    assert diagnosed(faults, 0.0, list(FAULTS), 1) == faults
    once, more = (diagnosed(faults, wrong, list(FAULTS), 1) for wrong in (0.1, 0.3))
    missed = [np.array([a != b for a, b in zip(one, faults, strict=True)]) for one in (once, more)]
    assert missed[0].mean() == pytest.approx(0.1, abs=0.03)
    assert missed[1].mean() == pytest.approx(0.3, abs=0.04)
    assert missed[1][missed[0]].all()
    never = diagnosed(faults, 1.0, list(FAULTS), 1)
    assert not any(a == b for a, b in zip(never, faults, strict=True))
    assert set(never) == set(FAULTS)
    assert diagnosed(qed.Faults("NONE"), 1.0, ["NONE"], 1) == qed.Faults("NONE")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"by": "robot"}, "by must be one of fault"),
        ({"misdiagnosis_rate": 0.1}, "misdiagnosis_rate needs a search over teams"),
        ({"by": "fault", "misdiagnosis_rate": -0.1}, "misdiagnosis_rate must be"),
        ({"by": "fault", "strategy": "map"}, "strategy must be learned"),
        ({"by": "fault", "faults": qed.Faults(["ROFS"] * 10)}, "does not know 'ROFS'"),
    ],
)
def test_bad_input_names_the_field(kit, given, words):
    with pytest.raises(InputError, match=words):
        kit.recover(**{"faults": MIXED, **HOW, **given})
