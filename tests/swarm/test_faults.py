"""The eight faults: what they do to inputs and wheels, seen on traces."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest

import qed
from qed.recovery.kit.library import drawn
from qed.study.plan import PRESETS
from qed.swarm.faults import DRAWN, FAULTS, Fault, kinds

NORMAL = qed.Environment()


def watch(name: str, swarm: qed.Controller | None = None, **more: object) -> qed.Trace:
    """Trace a swarm in which every robot has the fault; robots start near each other."""
    swarm = swarm or qed.Controller([], [1.0, 0.7])
    return qed.trace(swarm, NORMAL, seconds=40.0, seed=4, faults=qed.Faults([name] * 10), **more)  # type: ignore[arg-type]


def test_stuck_sensors_read_the_same_for_ever() -> None:
    assert (watch("PMIN").proximity[..., :5] == 1.0).all()
    assert (watch("PMAX").proximity[..., :5] == -1.0).all()


def test_another_fault_in_the_package_changes_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    def draws() -> list[Any]:
        library = [drawn(*given) for given in (("seen", 1, 40, 10), ("seen", 1, 4, 10, [mine]))]
        return [qed.Faults.sample(200, 3), PRESETS["quick"].faults_of(1), *library]

    mine = qed.Faults([Fault("MINE", "stands", left=0.0)])
    before = draws()
    monkeypatch.setitem(FAULTS, "LW-00", Fault("LW-00", "left wheel stands still", left=0.0))
    assert draws() == before
    assert "LW-00" not in DRAWN
    assert "LW-00" in set(qed.Faults.sample(200, 3, among=["NONE", "LW-00"]))


def test_random_sensors_read_uniformly_and_independently() -> None:
    values = 0.5 * (1.0 - watch("PRAND").proximity[..., :5])
    assert values.mean() == pytest.approx(0.5, abs=0.01)
    assert values.var() == pytest.approx(1.0 / 12.0, abs=0.004)
    flat = values.reshape(-1, 5)
    assert np.abs(np.corrcoef(flat.T) - np.eye(5)).max() < 0.08
    in_time = np.corrcoef(values[:-1].ravel(), values[1:].ravel())[0, 1]
    assert abs(in_time) < 0.03


@pytest.mark.parametrize("name", ["PMIN", "PMAX", "PRAND"])
def test_rear_sensors_never_fail(name: str) -> None:
    assert np.array_equal(watch(name).proximity[..., 5:], watch("NONE").proximity[..., 5:])


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [("NONE", 1.0, 1.0), ("LW-H", 0.5, 1.0), ("RW-H", 1.0, 0.5), ("BW-H", 0.5, 0.5)],
)
def test_wheel_faults_halve_what_is_asked(name: str, left: float, right: float) -> None:
    asked = (math.tanh(1.0) * 0.1, math.tanh(0.7) * 0.1)
    wheels = watch(name).wheels
    assert wheels[..., 0] == pytest.approx(left * asked[0], abs=1e-7)
    assert wheels[..., 1] == pytest.approx(right * asked[1], abs=1e-7)


def test_wheel_faults_leave_the_sensors_alone() -> None:
    still = qed.Controller([], [0.0, 0.0])
    healthy = watch("NONE", still)
    for name in ("LW-H", "RW-H", "BW-H"):
        assert np.array_equal(watch(name, still).proximity, healthy.proximity)
        assert np.array_equal(watch(name, still).rab, healthy.rab)


def test_misheard_neighbours_lie_off_by_three_quarters_to_one_metre() -> None:
    # Two robots 0.5 m apart: the heard distance d' satisfies |d' - 0.5| <= r <= d' + 0.5.
    start = qed.Start([[1.0, 2.0, 0.0], [1.5, 2.0, 1.0]])
    seen = qed.trace(
        qed.Controller([], [0.0, 0.0]),
        qed.Environment(robots=2),
        seconds=400.0,
        start=start,
        faults=qed.Faults(["ROFS", "NONE"]),
    )
    healthy, broken = seen.rab[:, 1], seen.rab[:, 0]
    assert (healthy[:, np.arange(8) != 3] == 1.0).all()
    assert healthy[:, 3] == pytest.approx(0.0, abs=1e-6)
    heard = (broken < 1.0).sum(1)
    assert heard.max() == 1
    distance = 0.5 * (broken.min(1) + 1.0)[heard == 1]
    assert distance.min() > 0.25 - 1e-6
    assert 0.3 < (heard == 1).mean() < 0.7
    # Straight ahead the sum is always beyond the range of 1 m.
    assert set(broken.argmin(1)[heard == 1].tolist()) == set(range(1, 8))
    assert len(set(distance.tolist())) > 500


def test_faults_stay_with_their_robot() -> None:
    names = ["PMIN", "LW-H", "PMAX", "NONE", "BW-H", "RW-H", "NONE", "PRAND", "ROFS", "NONE"]
    seen = qed.trace(qed.Controller([], [1.0, 1.0]), NORMAL, seconds=10.0, faults=qed.Faults(names))
    full = math.tanh(1.0) * 0.1
    for robot, name in enumerate(names):
        fault = FAULTS[name]
        assert seen.wheels[:, robot, 0] == pytest.approx(fault.left * full, abs=1e-7)
        assert seen.wheels[:, robot, 1] == pytest.approx(fault.right * full, abs=1e-7)
        stuck = len(np.unique(seen.proximity[:, robot, :5])) == 1
        assert stuck == (name in ("PMIN", "PMAX"))


def test_combined_faults_are_drawn_uniformly_from_a_seed() -> None:
    drawn = [qed.Faults.sample(10, seed) for seed in range(800)]
    assert drawn[5] == qed.Faults.sample(10, 5)
    assert len(set(drawn)) == 800
    counts = Counter(name for faults in drawn for name in faults)
    assert set(counts) == set(DRAWN)
    assert sum((n - 1000.0) ** 2 / 1000.0 for n in counts.values()) < 24.3  # 7 df, p = 0.001


def test_a_larger_swarm_begins_with_the_same_faults() -> None:
    assert qed.Faults.sample(20, 3).names[:10] == qed.Faults.sample(10, 3).names


def test_faults_read_like_a_list() -> None:
    faults = qed.Faults(["PMIN", "NONE"])
    assert list(faults) == ["PMIN", "NONE"]
    assert len(faults) == 2
    assert faults[0] == "PMIN"
    assert faults == qed.Faults("PMIN, NONE")
    assert hash(faults) == hash(qed.Faults("PMIN,NONE"))
    assert repr(faults) == "Faults('PMIN,NONE')"


@pytest.mark.parametrize(
    ("names", "words"),
    [(["PMID"], ["fault", "PMID", "PMIN"]), ([], ["faults", "none"]), ([3], ["fault", "3"])],
)
def test_unknown_faults_are_refused(names: list[str], words: list[str]) -> None:
    with pytest.raises(ValueError, match="fault") as caught:
        qed.Faults(names)
    for word in words:
        assert word in str(caught.value)


def test_kinds_of_faults_worked_by_hand():
    faults = qed.Faults("NONE,PMIN,PMAX,PRAND,LW-H,RW-H,BW-H,ROFS,ROFS,NONE")
    assert kinds(faults) == (3, 2, 3)


def heard(*faults: str | qed.Fault) -> np.ndarray:
    """Return what three robots in a row hear, 0.3 and 0.6 m apart, with these faults."""
    start = qed.Start([[1.0, 2.0, 0.0], [1.3, 2.0, 0.0], [1.9, 2.0, 0.0]])
    still = qed.Controller([], [0.0, 0.0])
    env = qed.Environment(robots=3)
    return qed.trace(still, env, seconds=0.2, start=start, faults=qed.Faults(faults)).rab[0]


def test_a_dead_robot_stands_still_and_is_not_heard() -> None:
    dead = qed.Fault("DEAD", "no power", dead=True)
    seen = watch(dead)
    assert (seen.wheels == 0.0).all()
    assert (np.diff(seen.x, axis=0) == 0.0).all()
    healthy, with_dead = heard("NONE", "NONE", "NONE"), heard("NONE", dead, "NONE")
    assert healthy[0, 0] == pytest.approx(-0.4, abs=1e-5)  # the one in the middle, at 0.3 m
    assert (with_dead[0] == 1.0).all()  # silent, and it hides the third
    assert with_dead[1] == pytest.approx(healthy[1], abs=1e-6)


def test_wheels_that_wear_slow_down_until_they_stand() -> None:
    """Straight ahead at v (1 - w t), the command of a cycle carried out in the next."""
    wear, speed, cycle = 0.01, 0.1, 0.2
    straight = qed.Controller([], [2.0, 2.0])
    env = qed.Environment(robots=1, arena=40.0)
    start = qed.Start([[2.0, 20.0, 0.0]])
    faults = qed.Faults([qed.Fault("WEAR", wear=wear)])
    seen = qed.trace(straight, env, seconds=150.0, start=start, faults=faults, noise=0.0)
    cycles = np.arange(1, 751)
    top = speed * np.tanh(2.0 * 1.0)
    asked = top * np.maximum(1 - wear * cycle * cycles, 0.0)
    assert seen.wheels[:, 0, 0] == pytest.approx(asked, abs=1e-5)
    assert (seen.wheels[500:] == 0.0).all()  # never backwards
    way = seen.x[-1, 0] - 2.0
    assert way == pytest.approx(top * 100.0 / 2, rel=0.01)  # top speed falls to 0 in 100 s
    assert np.ptp(seen.y) < 1e-3


def test_wear_changes_no_other_fault() -> None:
    assert qed.Fault("LIMP", left=0.1).digest == "351a35a4edf82fdc"
    assert qed.Fault("LIMP", left=0.1, wear=0.0) == qed.Fault("LIMP", left=0.1)
    assert qed.Fault("LIMP", left=0.1, wear=0.1).digest != qed.Fault("LIMP", left=0.1).digest
    worn = qed.Fault("WEAR", "wheels wear", wear=0.001)
    assert worn.hits_wheels
    assert pickle.loads(pickle.dumps(worn)) == worn
    assert worn.described()["wear"] == 0.001


def test_a_weak_ear_hears_only_what_is_near() -> None:
    weak, deaf = qed.Fault("WEAK", rab_range=0.5), qed.Fault("DEAF", rab_range=0.0)
    healthy = heard("NONE", "NONE", "NONE")
    middle = heard("NONE", weak, deaf)
    assert (middle[0] == healthy[0]).all()
    assert middle[1, 4] == healthy[1, 4] < 1.0  # at 0.3 m, behind
    assert healthy[1, 0] < 1.0  # at 0.6 m, ahead
    assert middle[1, 0] == 1.0
    assert (middle[2] == 1.0).all()


@pytest.mark.parametrize("sensor", range(7))
def test_a_fault_hits_the_sensors_it_names(sensor: int) -> None:
    stuck = qed.Fault("STUCK", gain=0.0, noise=0.0, offset=1.0, sensors=[sensor])
    seen, healthy = watch(stuck).proximity, watch("NONE").proximity
    assert (seen[..., sensor] == -1.0).all()
    others = np.arange(7) != sensor
    assert np.array_equal(seen[..., others], healthy[..., others])


def test_faults_of_a_users_own_go_with_those_of_the_paper() -> None:
    limping = qed.Fault("LIMP", "left wheel at a tenth", left=0.1)
    faults = qed.Faults([limping, "NONE", "ROFS"])
    assert list(faults) == ["LIMP", "NONE", "ROFS"]
    assert faults != qed.Faults([qed.Fault("LIMP", left=0.2), "NONE", "ROFS"])
    assert kinds(faults) == (0, 1, 1)
    seen = qed.trace(
        qed.Controller([], [1.0, 1.0]), qed.Environment(robots=3), seconds=2.0, faults=faults
    )
    full = math.tanh(1.0) * 0.1
    assert seen.wheels[:, 0, 0] == pytest.approx(0.1 * full, abs=1e-7)
    assert seen.wheels[:, 1:] == pytest.approx(full, abs=1e-7)


def test_faults_come_in_doses() -> None:
    limping = qed.Fault("LIMP", left=0.1)
    drawn = [qed.Faults.sample(10, k, among=["LW-H", limping], broken=4) for k in range(600)]
    assert drawn[3] == qed.Faults.sample(10, 3, among=["LW-H", limping], broken=4)
    assert all(faults.names.count("NONE") == 6 for faults in drawn)
    counts = Counter(name for faults in drawn for name in faults)
    assert set(counts) == {"LW-H", "LIMP", "NONE"}
    assert abs(counts["LIMP"] - 1200) < 4 * math.sqrt(2400 / 4)
    hits = np.array([[name != "NONE" for name in faults] for faults in drawn]).sum(0)
    assert np.abs(hits - 240).max() < 4 * math.sqrt(600 * 0.4 * 0.6)
    assert set(qed.Faults.sample(10, 1, broken=0)) == {"NONE"}
    assert "NONE" not in qed.Faults.sample(10, 1, broken=10).names


def test_any_number_of_kinds_is_drawn_uniformly() -> None:
    kinds_of_three = ["PMIN", "LW-H", "ROFS"]
    drawn = [name for k in range(900) for name in qed.Faults.sample(10, k, among=kinds_of_three)]
    counts = Counter(drawn)
    assert set(counts) == set(kinds_of_three)
    assert sum((n - 3000.0) ** 2 / 3000.0 for n in counts.values()) < 13.8  # 2 df, p = 0.001


def test_the_papers_draws_are_what_they_were() -> None:
    told = "PMIN,NONE,RW-H,PRAND,RW-H,LW-H,PMIN,BW-H,ROFS,PMIN"
    assert qed.Faults.sample(10, 7) == qed.Faults(told)
    assert qed.Faults.sample(10, 7, among=list(DRAWN)) == qed.Faults(told)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"broken": 11}, "broken must be a whole number from 0 to 10"),
        ({"among": []}, "none"),
        ({"among": ["NONE"], "broken": 1}, "other than NONE"),
        ({"among": ["PMIN", "PMIN"]}, "twice"),
        ({"among": ["PMIX"]}, "PMIX"),
    ],
)
def test_doses_that_cannot_be_are_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        qed.Faults.sample(10, 1, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"left": 1.5}, "fault X: left"),
        ({"noise": -0.1}, "fault X: noise"),
        ({"sensors": [16]}, "fault X: sensors"),
        ({"rab_range": 2.0}, "fault X: rab_range"),
        ({"wear": -0.1}, "fault X: wear"),
        ({"dead": "yes"}, "fault X: dead must be True or False"),
    ],
)
def test_faults_that_cannot_be_are_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        qed.Fault("X", **given)  # type: ignore[arg-type]


def test_a_name_of_the_papers_faults_is_taken() -> None:
    with pytest.raises(ValueError, match="'LW-H' comes with QED"):
        qed.Fault("LW-H", left=0.4)


def test_a_fault_of_a_sensor_that_a_robot_lacks_is_refused() -> None:
    rear = qed.Fault("REAR", gain=0.0, sensors=[7])
    one = qed.Environment(robots=1)
    with pytest.raises(qed.InputError, match="REAR hits the proximity sensor 7"):
        qed.World(one, faults=qed.Faults([rear]))
    qed.World(qed.Environment(robots=1, robot=qed.EPUCK), faults=qed.Faults([rear]))
