"""E-pucks against recordings of the original simulator: bars of the project, on an excerpt."""

from typing import Any

import epucks
import pytest
import recordings


@pytest.fixture(scope="module")
def contacts() -> dict[str, Any]:
    return epucks.contacts(recordings.SMALL)


@pytest.mark.parametrize(
    ("where", "part", "far"),
    [
        ("in the open", "within_99", 0.1e-3),
        ("at cylinders", "within_99", 0.1e-3),
        ("at walls", "within_95", 0.5e-3),
        ("pairs in the open", "within_95", 1e-3),
    ],
)
def test_driven_robots_end_where_they_were_recorded(
    contacts: dict[str, Any], where: str, part: str, far: float
) -> None:
    assert contacts[where]["cases"] >= 14
    assert contacts[where][part] < far


def test_pairs_at_walls_differ_by_the_order_of_contacts_alone(contacts: dict[str, Any]) -> None:
    # With any fixed order of contacts 19 to 26 % of the original's own cases are off by 1 mm.
    assert contacts["pairs at walls"]["off_by_1_mm"] < 0.35
    assert contacts["pairs at walls"]["off_by_1_cm"] < 0.1


def test_sensors_read_what_was_recorded() -> None:
    found = epucks.scans(recordings.SMALL)
    assert max(one["largest"] for one in found.values()) < 1e-4
    # The original's rays pass just above bodies at some headings.
    assert found["swarms"]["cones_off"] < 0.002 * found["swarms"]["cones"]


def test_swarms_behave_as_recorded() -> None:
    found = epucks.swarms(recordings.SMALL)
    assert found["rms_z"] < 1.3
    assert found["largest_z"] < 3.0
