"""Controllers evolved here, run in the original simulator: do fitness and recoveries hold?"""

from __future__ import annotations

import json
from typing import Any

import evolved
import fidelity
import fidelity_table
import numpy as np
import pytest
import readme
import recordings
import transfer

# Bars for the small part: 20 controllers and 15 recoveries, ten trials, two noise seeds each.
CORRELATION = 0.999
MEAN_ABSOLUTE_ERROR = 0.007
RMS_Z, RMS_Z_OF_A_TASK = 0.9, 1.4  # a task has only four: another rounding changes it by 0.3
BIAS = 0.005
RECOVERIES_THAT_HOLD = 12  # of 14, one of which is a matter of luck; 29 of 29 on the whole
CLEAR_ONLY_THERE = 1
MEAN_IMPACT_APART, MEAN_RESILIENCE_APART = 0.015, 0.02
RESILIENCE_CORRELATION = 0.99

ONCE = ((1, 2),)


@pytest.fixture(scope="module")
def healthy() -> dict[str, Any]:
    return evolved.healthy(recordings.SMALL, draws=ONCE)


@pytest.fixture(scope="module")
def recoveries() -> dict[str, Any]:
    return evolved.recoveries(recordings.SMALL, draws=ONCE)


def test_evolved_controllers_are_as_good_in_the_original(healthy: dict[str, Any]) -> None:
    found = healthy["all"]
    assert found["controllers"] == 20
    assert found["correlation"] >= CORRELATION
    assert found["mean_absolute_error"] <= MEAN_ABSOLUTE_ERROR
    assert abs(found["bias"]) <= BIAS
    assert found["rms_z"] <= RMS_Z
    for task, part in healthy["tasks"].items():
        assert part["rms_z"] <= RMS_Z_OF_A_TASK, task


def test_recoveries_hold_in_the_original(recoveries: dict[str, Any]) -> None:
    found = recoveries["all"]
    assert (found["pairs"], found["another_controller"]) == (15, 14)
    assert found["better_in_ours"] >= RECOVERIES_THAT_HOLD
    assert found["contradicted"] == 0
    assert found["significant_in_both"] >= found["significant_in_argos"] - CLEAR_ONLY_THERE
    for key, bar in (("impact", MEAN_IMPACT_APART), ("resilience", MEAN_RESILIENCE_APART)):
        assert abs(found[key]["ours"] - found[key]["argos"]) <= bar, key
    assert found["resilience"]["correlation"] >= RESILIENCE_CORRELATION


def test_outcome_of_a_recovery() -> None:
    whole, broken, recovered = np.array([0.4, 0.6]), np.array([0.2, 0.3]), np.array([0.3, 0.5])
    found = evolved.outcome_of(whole, broken, recovered)
    assert found["impact"] == pytest.approx(-0.5)
    assert found["resilience"] == pytest.approx(-0.2)
    assert found["gain"] == pytest.approx(0.3)
    assert found["gain_z"] == pytest.approx(found["gain"] / found["gain_error"])


def test_speed_is_the_median_of_the_repeats() -> None:
    found = evolved.speed(recordings.SMALL)["default"]["patrolling"]
    assert found["repeats"] == 6
    assert found["argos"] == pytest.approx((200050 + 199601) / 2)
    assert found["times_as_fast"] == pytest.approx(found["ours"] / found["argos"])


def test_the_page_tells_what_was_measured() -> None:
    known = json.loads((fidelity.RESULTS / "fidelity.json").read_text())
    assert set(known) == set(fidelity.PARTS)
    assert transfer.PAGE.read_text() == transfer.text(known), "run benchmarks/transfer.py"


def test_the_readme_tells_what_was_measured() -> None:
    there = readme.README.read_text("utf-8")
    assert there == readme.replaced(there, readme.numbers()), "run benchmarks/readme.py"


def test_numbers_that_bound_are_rounded_up() -> None:
    assert fidelity_table.at_most(0.0066087) == "0.0067"
    assert fidelity_table.at_most(104.7395, 4) == "104.8"
    assert fidelity_table.at_most(5.0, 2) == "5.0"
    assert fidelity_table.at_most(13.3648e-6) == "0.000014"


def test_enumerations() -> None:
    assert [fidelity_table.joined(list(word)) for word in ("", "a", "ab", "abc")] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_text_between_marks_is_replaced() -> None:
    page = "a\n<!-- numbers -->\nold\n<!-- /numbers -->\nb\n"
    assert readme.replaced(page, ["new", "lines"]) == (
        "a\n<!-- numbers -->\nnew\nlines\n<!-- /numbers -->\nb\n"
    )
    with pytest.raises(SystemExit, match="<!-- numbers -->"):
        readme.replaced("a\n", [])


def test_the_readme_is_one_page() -> None:
    assert len(readme.README.read_text("utf-8").splitlines()) <= 120
