"""The simulator against recordings of the original one."""

from __future__ import annotations

import fidelity
import numpy as np
import pytest

DATA = fidelity.SMALL


@pytest.fixture(scope="module")
def trajectories() -> dict[str, int]:
    return fidelity.trajectories(DATA)


def test_free_motion_is_exact() -> None:
    for case, error in fidelity.scripted(DATA, "a_motion").items():
        assert error["place"] < 0.05e-3, case
        assert error["heading"] < 2e-5, case


@pytest.mark.parametrize(("name", "bound"), [("b_wall", 6e-3), ("c_two", 5e-3)])
def test_contacts_stay_close(name: str, bound: float) -> None:
    errors = fidelity.scripted(DATA, name)
    assert len(errors) >= 15
    for case, error in errors.items():
        if case not in fidelity.LEFT_OUT:
            assert error["place"] < bound, case


def test_flush_contacts_with_a_cylinder_stay_close() -> None:
    errors = fidelity.scripted(DATA, "b_cylinder")
    for case in ("cyl_headon", "cyl_off2cm", "cyl_arc"):
        assert errors[case]["place"] < 5e-3, case


@pytest.mark.parametrize(
    "name",
    [
        "d_corner_r011",
        "d_wall_r011",
        "d_wall_r044",
        "d_robot_r011",
        "d_cyl_r022",
        "e_cyl_rab1",
        "e_three_rab1",
        "e_two_rab2",
    ],
)
def test_scans_are_exact_but_for_ties(name: str) -> None:
    result = fidelity.scan(DATA, name)
    off = result["error"] > 1e-4
    tied = np.array([is_tie(name, pose) for pose in result["pose"]])
    assert not off[~tied].any(), result["pose"][~tied][off[~tied].any((1, 2))]
    assert tied.mean() < 0.2


def is_tie(name: str, pose: str) -> bool:
    """Tell whether a pose puts a bearing on a cone's border or a ray along an edge."""
    kind, *numbers = pose.split("_")
    values = [float(number) for number in numbers]
    if name.startswith("e_two") and kind == "t":
        return abs(abs(values[0]) % 45.0 - 22.5) < 1e-9
    if name.startswith("e_three") and kind == "occ":
        # The blocker is square to the line of sight, which touches a corner of its body.
        edges = (0.05, 0.053, 0.055, 0.056)
        square = values[2] % 90.0 == 0.0
        return square and min(abs(abs(values[1]) - edge) for edge in edges) < 1e-9
    # A rear sensor looks along the edge of a body that is turned by a right angle.
    return name.startswith("d_robot") and values[1] == 0.17 and values[2] == 90.0


def test_noise_has_the_recorded_distribution() -> None:
    import qed

    table = fidelity.read(DATA / "d_noise005.csv.gz")
    for case, x, heading in (("free", 2.0, 0.0), ("wall10cm", 4.0 - 0.13, 0.0)):
        theirs = fidelity.stack(fidelity.pick(table, table["case"] == case), fidelity.PROXIMITY)
        seen = qed.trace(
            qed.Controller([], [0.0, 0.0]),
            qed.Environment(robots=1),
            seconds=400.0,
            start=qed.Start([[x, 2.0, heading]]),
        )
        ours = seen.proximity
        assert np.abs(ours.mean((0, 1)) - theirs.mean((0, 1))).max() < 0.005
        assert np.abs(ours.std((0, 1)) - theirs.std((0, 1))).max() < 0.004
        assert (np.abs((ours == 1.0).mean((0, 1)) - (theirs == 1.0).mean((0, 1))) < 0.05).all()


@pytest.mark.parametrize(
    ("name", "cycles"),
    [
        ("rand_ff3", 250),
        ("wall_right", 250),
        ("avoid_sym", 200),
        ("avoid_hidden", 200),
        ("avoid_turnright", 200),
    ],
)
def test_trajectories_stay_within_a_centimetre(
    name: str, cycles: int, trajectories: dict[str, int]
) -> None:
    assert trajectories[name] >= cycles


def test_median_trajectory_stays_within_a_centimetre(trajectories: dict[str, int]) -> None:
    assert len(trajectories) == 13
    assert np.median(list(trajectories.values())) >= 33


@pytest.mark.parametrize(
    ("compare", "bound"),
    [(fidelity.normal, 0.009), (fidelity.environments, 0.012), (fidelity.broken, 0.011)],
)
def test_fitness_agrees(compare: object, bound: float) -> None:
    verdict = fidelity.judge(compare(DATA))  # type: ignore[operator]
    assert verdict["mean_absolute_error"] <= bound
    assert verdict["rms_z"] <= 1.8
    for task in fidelity.TASKS:
        assert abs(verdict["bias"][task]) <= 0.008, task
        assert verdict["correlation"][task] >= (0.95 if task == "flocking" else 0.98), task
