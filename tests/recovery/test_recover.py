import math

import behaviours
import numpy as np
import pytest

import qed
from qed.archive.grid import Grid
from qed.controller.genome import from_controllers
from qed.descriptors import spirit, spirit_distance
from qed.errors import InputError
from qed.recovery import trials as trials_module
from qed.recovery.recover import trials_of
from qed.recovery.recovery import change, standard_error
from qed.recovery.trials import streams
from qed.streams import evolution_trials
from qed.swarm.simulate import Pending

# Drive backwards; turn when the rear sensors see something.
REVERSER = behaviours.reflexes(
    {behaviours.REAR_LEFT: -0.9, behaviours.ALWAYS: 0.5},
    {behaviours.ALWAYS: -1.0},
)
KNOWN = {**behaviours.BEHAVIOURS, "reverser": REVERSER}
HOW = {"trials": 2, "fresh": 3, "seconds": 60.0, "seed": 5}
SEEDS = streams(5)


def archive_of(controllers, cells=16, header=None):
    """Return an archive with these controllers in cells 0, 1, 2, ... of a line."""
    archive = qed.Archive(Grid((cells,)), header)
    archive.add(
        from_controllers(controllers),
        np.zeros(len(controllers)),
        np.arange(len(controllers))[:, None] / cells,
    )
    assert archive.occupied.tolist() == list(range(len(controllers)))
    return archive


@pytest.fixture(scope="module")
def archive():
    return archive_of(list(KNOWN.values()))


def fitness(archive, task, seed, faults=None, trials=2):
    """Return the fitness of all controllers on each trial of a stream."""
    outcome = qed.simulate(
        archive.controllers, tasks=task, faults=faults, trials=trials, seconds=60.0, seed=seed
    )
    return outcome.fitness[task]


@pytest.mark.parametrize("task", ["patrolling", "dispersion"])
def test_recovery_is_the_best_of_all_controllers_simulated_one_by_one(archive, task):
    broken = qed.Faults.sample(10, seed=3)
    found = qed.recover(archive, task, broken, **HOW)
    healthy = fitness(archive, task, SEEDS.normal).mean(1)
    faulty = fitness(archive, task, SEEDS.broken, broken).mean(1)
    best = int(healthy.argmax())
    assert found.normal_cell == best
    assert found.cell == int(faulty.argmax())
    assert found.claimed_normal == healthy[best]
    assert found.claimed_broken == faulty[best]
    assert found.claimed == faulty.max()
    assert found.claimed_impact == pytest.approx(faulty[best] / healthy[best] - 1)
    assert found.claimed_resilience == pytest.approx(faulty.max() / healthy[best] - 1)
    assert found.claimed_impact <= found.claimed_resilience
    described = spirit(
        qed.simulate(
            archive.controllers, descriptors=["spirit"], trials=2, seconds=60.0, seed=SEEDS.normal
        )
    )
    assert found.distance == spirit_distance(described[best], described[found.cell])
    assert found.controller.connections == archive.controllers[found.cell].connections
    assert found.normal_controller.connections == archive.controllers[best].connections


@pytest.mark.parametrize("task", ["patrolling", "dispersion"])
def test_the_chosen_are_told_of_by_fresh_trials(archive, task):
    broken = qed.Faults.sample(10, seed=3)
    found = qed.recover(archive, task, broken, **HOW)
    assert found.fresh_seed == SEEDS.fresh
    healthy = fitness(archive, task, found.fresh_seed, trials=3)
    faulty = fitness(archive, task, found.fresh_seed, broken, trials=3)
    before, after = found.normal_cell, found.cell
    assert found.normal == healthy[before].mean()
    assert found.broken == faulty[before].mean()
    assert found.performance == faulty[after].mean()
    assert found.error == pytest.approx(faulty[after].std(ddof=1) / np.sqrt(3))
    assert found.impact == pytest.approx(found.broken / found.normal - 1)
    assert found.resilience == pytest.approx(found.performance / found.normal - 1)
    assert found.selection_bias == found.claimed - found.performance
    with pytest.raises(AttributeError, match="it is now selection_bias"):
        found.luck  # noqa: B018
    more = qed.recover(archive, task, broken, **{**HOW, "fresh": 4})
    assert more.claimed == found.claimed
    assert more.performance != found.performance
    assert np.isnan(qed.recover(archive, task, broken, **{**HOW, "fresh": 1}).error)


def twins(controller, count):
    """Return controllers that differ by some 1e-6 in one weight."""
    (source, target, weight), *others = controller.connections
    return [
        qed.Controller([(source, target, weight + 1e-6 * k), *others], controller.bias)
        for k in range(count)
    ]


def test_equal_controllers_recover_by_claim_only():
    # They are equal in truth; trials of 400 s are chaotic, so some look better than others.
    example = qed.load_example("patrolling")
    archive = archive_of(twins(example.best.controller, 100), cells=100)
    faults = [qed.Faults.sample(10, seed=k) for k in range(3)]
    found = qed.recover(archive, "patrolling", faults, trials=2, fresh=40)
    claimed, gained, allowed = (
        np.array([value(one) for one in found])
        for value in (
            lambda one: one.claimed - one.claimed_broken,
            lambda one: one.performance - one.broken,
            lambda one: np.sqrt(2.0) * one.error,
        )
    )
    assert (np.abs(gained) < 3.5 * allowed).all()
    assert abs(gained.mean()) < 3.0 * np.sqrt((allowed**2).sum()) / 3
    assert (claimed >= 0.0).all()
    assert claimed.mean() > gained.mean() + np.sqrt((allowed**2).sum()) / 3
    assert np.mean([one.selection_bias for one in found]) > 2.0 * np.mean(
        [one.error for one in found]
    )


def test_blinded_robots_are_recovered_by_driving_backwards(archive):
    # With all front sensors at 1 those who look ahead turn for ever; the rear sensors work.
    found = qed.recover(archive, "patrolling", qed.Faults(["PMAX"] * 10), **HOW)
    assert list(KNOWN)[found.normal_cell] != "reverser"
    assert list(KNOWN)[found.cell] == "reverser"
    assert found.impact < -0.5
    assert found.resilience > found.impact + 0.3
    assert found.claimed_impact < -0.5
    assert found.distance > 0.1


def test_no_fault_costs_nothing(archive):
    found = qed.recover(archive, "patrolling", qed.Faults.none(), **HOW)
    # Another stream may choose another controller, but a fresh trial knows no difference.
    assert found.impact == 0.0
    assert found.broken == found.normal
    if found.cell == found.normal_cell:
        assert found.resilience == 0.0
        assert found.distance == 0.0
    assert list(KNOWN)[found.cell] == "patroller"


def test_several_faults_are_the_same_as_one_by_one_in_any_portions(archive, monkeypatch):
    faults = [qed.Faults.sample(10, seed=k) for k in range(3)]
    one_by_one = [qed.recover(archive, "flocking", fault, **HOW) for fault in faults]
    monkeypatch.setattr(trials_module, "AT_ONCE", 4)
    told = []
    together = qed.recover(
        archive, "flocking", faults, threads=1, progress=lambda *at: told.append(at), **HOW
    )
    for a, b in zip(one_by_one, together, strict=True):
        for name in (
            "normal", "broken", "performance", "error", "claimed_normal", "claimed_broken",
            "claimed", "distance", "normal_cell", "cell", "faults", "fresh_seed",
        ):  # fmt: skip
            assert getattr(a, name) == getattr(b, name), name
    assert told[-1] == (4 * len(KNOWN), 4 * len(KNOWN))
    assert sorted(told) == told


def test_another_environment(archive):
    small = qed.Environment(robots=5, arena=3.0)
    found = qed.recover(
        archive, "patrolling", qed.Faults.sample(5, seed=1), environment=small, **HOW
    )
    outcome = qed.simulate(
        archive.controllers, small, tasks="patrolling", trials=2, seconds=60.0, seed=SEEDS.normal
    )
    assert found.claimed_normal == outcome.fitness["patrolling"].mean(1).max()


def test_an_evolved_archive_knows_its_task_trials_and_seconds():
    archive = qed.evolve(
        "patrolling", "qed", evaluations=80, initial=40, batch=20, trials=2, seconds=10.0
    )
    faults = qed.Faults.sample(10, 1)
    found = qed.recover(archive, faults=faults, fresh=2)
    assert {found.cell, found.normal_cell} <= set(archive.occupied.tolist())
    assert found == qed.recover(archive, "patrolling", faults, trials=2, seconds=10.0, fresh=2)
    assert found != qed.recover(archive, faults=faults, trials=1, fresh=2)
    assert found.team is None
    assert (found.cells, found.plays) == ((found.cell,), {})


def test_what_a_kit_needs_is_refused_with_the_way_to_it(archive):
    none = qed.Faults.none()
    for given in ({"budget": 10}, {"strategy": "map"}, {"reset": False}):
        with pytest.raises(InputError, match=r"is for kits: kit\.recover"):
            qed.recover(archive, "patrolling", none, **given)
    with pytest.raises(InputError, match=r"kit\.recover\(misdiagnosis_rate"):
        qed.recover(archive, "patrolling", none, by="fault", wrong=0.1)
    kit = qed.Kit.load("example:patrolling-kit")
    with pytest.raises(InputError, match=r"a kit searches with kit\.recover"):
        qed.recover(kit, faults=none)
    with pytest.raises(InputError, match="the archive does not name its task"):
        qed.recover(archive, faults=none)


def test_the_authors_choose_on_the_trials_of_evolution():
    archive = qed.evolve(
        "patrolling", "hbd", evaluations=60, initial=40, batch=20, trials=2, seconds=20.0, seed=5
    )
    evolved = archive.objective[archive.occupied]
    fault = qed.Faults.sample(10, 1)
    how = {"trials": 2, "fresh": 3, "seconds": 20.0, "seed": 5}
    # Every baseline's re-evaluation is then its fitness in evolution, to the bit.
    theirs = qed.recover(archive, "patrolling", fault, protocol="authors", **how)
    seen = streams(5, "authors", archive.header)
    assert seen.normal == seen.broken == evolution_trials(archive.header)
    assert theirs.claimed_normal == evolved.max()
    # Ours meets other trials, although all seeds are 5.
    ours = qed.recover(archive, "patrolling", fault, **how)
    assert len({*streams(5), seen.normal}) == 4
    normal, _ = trials_of(archive, trials=2, seed=5).normal()
    moving = evolved > evolved.min()
    assert (normal.fitness[moving] != evolved[moving]).mean() > 0.9
    # The fresh trials are the same, so the two can be compared.
    assert ours.fresh_seed == theirs.fresh_seed == seen.fresh
    # An archive that does not tell has no authors' way.
    silent = archive_of(list(KNOWN.values()))
    with pytest.raises(InputError, match="does not record the trials of its evolution"):
        qed.recover(silent, "patrolling", fault, protocol="authors", **how)
    # That of a version without streams does.
    old = archive_of(list(KNOWN.values()), header={"settings": archive.header["settings"]})
    assert streams(1, "authors", old.header).broken == 5


def test_a_gpu_has_work_while_the_host_waits(archive, monkeypatch):
    begun, under_way = [], []

    class Watched(Pending):
        def __init__(self, *given):
            super().__init__(*given)
            begun.append(self)

        def outcome(self):
            under_way.append(len(begun) - len(under_way))
            return super().outcome()

    monkeypatch.setattr(trials_module, "Pending", Watched)
    monkeypatch.setattr(trials_module, "AT_ONCE", 2)
    faults = [qed.Faults.sample(10, seed=k) for k in range(3)]
    trials_of(archive, "dispersion", trials=1, seconds=2.0).broken(faults)
    portions = -(-3 * len(KNOWN) // 2)
    assert under_way == [3] * (portions - 2) + [2, 1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"faults": qed.Faults(["PMIN"] * 9)}, "each of the 10 robots, got 9"),
        ({"faults": "PMIN"}, "must be qed.Faults"),
        ({"task": "patroling"}, "did you mean 'patrolling'"),
        ({"trials": 0}, "trials must be"),
        ({"fresh": 0}, "fresh must be"),
        ({"seed": -1}, "seed must be"),
        ({"protocol": "paper"}, "protocol must be one of independent, authors"),
        ({"faults": []}, "at least one combined fault"),
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
    how = trials_of(archive, "patrolling", trials=1, fresh=2, seconds=20.0, seed=2)
    normal, behaviour = how.normal()
    assert normal.distances[normal.best] == 0.0
    for k in range(len(KNOWN)):
        expected = spirit_distance(behaviour[normal.best], behaviour[k])
        assert normal.distances[k] == expected


def test_impact_and_resilience_worked_by_hand():
    # A swarm of fitness 0.8 falls to 0.6 and comes back to 0.72, or to more than before.
    assert change(0.8, 0.6) == pytest.approx(-0.25)
    assert change(0.8, 0.72) == pytest.approx(-0.10)
    assert change(0.8, 0.88) == pytest.approx(0.10)
    assert math.isnan(change(0.0, 0.1))


def test_standard_error_worked_by_hand():
    # Deviations of -1, 0 and 1: a variance of 1, over three trials.
    assert standard_error(np.array([1.0, 2.0, 3.0])) == pytest.approx(1 / math.sqrt(3))
    assert math.isnan(standard_error(np.array([1.0])))
