import behaviours
import numpy as np
import pytest

import qed
from qed.archive.grid import Grid
from qed.controller.genome import from_controllers
from qed.descriptors import spirit
from qed.errors import InputError
from qed.recovery import trials as trials_module
from qed.recovery.trials import Trials

# Drive backwards; turn when the rear sensors see something.
REVERSER = behaviours.reflexes(
    {behaviours.REAR_LEFT: -0.9, behaviours.ALWAYS: 0.5},
    {behaviours.ALWAYS: -1.0},
)
KNOWN = {**behaviours.BEHAVIOURS, "reverser": REVERSER}
HOW = {"trials": 2, "seconds": 60.0, "seed": 5}


def archive_of(controllers):
    """Return an archive with these controllers in cells 0, 1, 2, ... of a line."""
    archive = qed.Archive(Grid((16,)))
    archive.add(
        from_controllers(controllers),
        np.zeros(len(controllers)),
        np.arange(len(controllers))[:, None] / 16,
    )
    assert archive.occupied.tolist() == list(range(len(controllers)))
    return archive


@pytest.fixture(scope="module")
def archive():
    return archive_of(list(KNOWN.values()))


def means(archive, task, faults=None):
    outcome = qed.simulate(archive.controllers, tasks=task, faults=faults, **HOW)
    return outcome.fitness[task].mean(1)


@pytest.mark.parametrize("task", ["patrolling", "dispersion"])
def test_recovery_is_the_best_of_all_controllers_simulated_one_by_one(archive, task):
    broken = qed.Faults.sample(10, seed=3)
    found = qed.recover(archive, task, broken, **HOW)
    sound, faulty = means(archive, task), means(archive, task, broken)
    best = int(sound.argmax())
    assert found.normal_cell == best
    assert found.cell == int(faulty.argmax())
    assert found.normal == sound[best]
    assert found.broken == faulty[best]
    assert found.performance == faulty.max()
    assert found.impact == pytest.approx(faulty[best] / sound[best] - 1)
    assert found.resilience == pytest.approx(faulty.max() / sound[best] - 1)
    assert found.impact <= found.resilience
    described = spirit.describe(qed.simulate(archive.controllers, descriptors=["spirit"], **HOW))
    assert found.distance == spirit.distance(described[best], described[found.cell])
    assert found.controller.connections == archive.controllers[found.cell].connections
    assert found.normal_controller.connections == archive.controllers[best].connections


def test_blinded_robots_are_recovered_by_driving_backwards(archive):
    # With all front sensors at 1 those who look ahead turn for ever; the rear sensors work.
    found = qed.recover(archive, "patrolling", qed.Faults(["PMAX"] * 10), **HOW)
    assert list(KNOWN)[found.normal_cell] != "reverser"
    assert list(KNOWN)[found.cell] == "reverser"
    assert found.impact < -0.5
    assert found.resilience > found.impact + 0.3
    assert found.distance > 0.1


def test_no_fault_costs_nothing(archive):
    found = qed.recover(archive, "patrolling", qed.Faults.none(), **HOW)
    assert found.impact == found.resilience == 0.0
    assert found.distance == 0.0
    assert found.cell == found.normal_cell


def test_several_faults_are_the_same_as_one_by_one_in_any_portions(archive, monkeypatch):
    faults = [qed.Faults.sample(10, seed=k) for k in range(3)]
    one_by_one = [qed.recover(archive, "flocking", fault, **HOW) for fault in faults]
    monkeypatch.setattr(trials_module, "AT_ONCE", 4)
    told = []
    together = qed.recover(
        archive, "flocking", faults, threads=1, progress=lambda *at: told.append(at), **HOW
    )
    for a, b in zip(one_by_one, together, strict=True):
        assert (a.normal, a.broken, a.performance, a.distance) == (
            b.normal, b.broken, b.performance, b.distance,
        )  # fmt: skip
        assert (a.normal_cell, a.cell, a.faults) == (b.normal_cell, b.cell, b.faults)
    assert told[-1] == (4 * len(KNOWN), 4 * len(KNOWN))
    assert sorted(told) == told


def test_another_environment(archive):
    small = qed.Environment(robots=5, arena=3.0)
    found = qed.recover(
        archive, "patrolling", qed.Faults.sample(5, seed=1), environment=small, **HOW
    )
    outcome = qed.simulate(archive.controllers, small, tasks="patrolling", **HOW)
    assert found.normal == outcome.fitness["patrolling"].mean(1).max()


def test_evolved_archives_can_be_searched():
    archive = qed.evolve(
        "patrolling", "qed", evaluations=80, initial=40, batch=20, trials=1, seconds=10.0
    )
    found = qed.recover(archive, "patrolling", qed.Faults.sample(10, 1), trials=1, seconds=10.0)
    assert {found.cell, found.normal_cell} <= set(archive.occupied.tolist())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"faults": qed.Faults(["PMIN"] * 9)}, "each of the 10 robots, got 9"),
        ({"faults": "PMIN"}, "must be qed.Faults"),
        ({"task": "patroling"}, "did you mean 'patrolling'"),
        ({"trials": 0}, "trials must be"),
        ({"seconds": -1.0}, "seconds must be"),
        ({"archive": qed.Archive(Grid((4,)))}, "archive is empty"),
        ({"archive": "run"}, "archive must be a qed.Archive"),
        ({"environment": "normal"}, "environment must be a qed.Environment"),
    ],
)
def test_bad_input_names_the_field(archive, given, words):
    call = {"archive": archive, "task": "patrolling", "faults": qed.Faults.none(), **given}
    with pytest.raises(InputError, match=words):
        qed.recover(call.pop("archive"), call.pop("task"), call.pop("faults"), **call)


def test_normal_tells_how_far_each_solution_is_from_the_best(archive):
    how = Trials("patrolling", trials=1, seconds=20.0, seed=2)
    normal, behaviour = how.normal(archive.genomes())
    assert normal.apart[normal.best] == 0.0
    for k in range(len(KNOWN)):
        expected = spirit.distance(behaviour[normal.best], behaviour[k])
        assert normal.apart[k] == expected
