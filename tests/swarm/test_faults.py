"""The eight faults: what they do to inputs and wheels, seen on traces."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import qed
from qed.swarm.faults import FAULTS, kinds

NORMAL = qed.Environment()


def watch(name: str, swarm: qed.Controller | None = None, **more: object) -> qed.Trace:
    """Trace a swarm in which every robot has the fault; robots start near each other."""
    swarm = swarm or qed.Controller([], [1.0, 0.7])
    return qed.trace(swarm, NORMAL, seconds=40.0, seed=4, faults=qed.Faults([name] * 10), **more)  # type: ignore[arg-type]


def test_stuck_sensors_read_the_same_for_ever() -> None:
    assert (watch("PMIN").proximity[..., :5] == 1.0).all()
    assert (watch("PMAX").proximity[..., :5] == -1.0).all()


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
    sound = watch("NONE", still)
    for name in ("LW-H", "RW-H", "BW-H"):
        assert np.array_equal(watch(name, still).proximity, sound.proximity)
        assert np.array_equal(watch(name, still).rab, sound.rab)


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
    sound, broken = seen.rab[:, 1], seen.rab[:, 0]
    assert (sound[:, np.arange(8) != 3] == 1.0).all()
    assert sound[:, 3] == pytest.approx(0.0, abs=1e-6)
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
    assert set(counts) == set(FAULTS)
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
