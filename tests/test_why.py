"""What is told of environments and size follows the file of numbers, whatever is in it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import why_page

FOUND = json.loads(why_page.NUMBERS.read_text("utf-8"))


def replicated(shift: dict[tuple[str, int], float]) -> dict[str, Any]:
    """Return numbers with a replicate for each shift, by which an arm's recoveries differ."""
    made = copy.deepcopy(FOUND)
    first = [one for one in made["archives"] if one["replicate"] == 1]
    made["archives"] = []
    for replicate in sorted({number for _, number in shift}):
        for one in copy.deepcopy(first):
            qed = next(o for o in first if (o["task"], o["arm"]) == (one["task"], "qed"))
            more = shift.get((one["arm"], replicate), 0.0)
            for name in why_page.JUDGED:
                recovered = qed["archive"][name]["recovered"]
                one["archive"][name]["recovered"] = [value + more for value in recovered]
            made["archives"].append({**one, "replicate": replicate})
    return made


def test_the_page_is_that_of_the_numbers() -> None:
    assert why_page.PAGE.read_text("utf-8") == why_page.page(FOUND), "run benchmarks/why_page.py"


def test_differences_are_from_qed_of_the_same_replicate() -> None:
    found = replicated({("niches", 1): 0.01, ("niches", 2): 0.03, ("niches", 3): 0.05})
    row = why_page.summed(why_page.rows(found)).set_index("arm").loc["niches"]
    assert row["faults less"] == pytest.approx(0.03)
    assert row["faults low"] < 0.03 < row["faults high"]
    # Five tasks of three archives each, 0.02 apart: 0.03 +- t(.975, 10) * 0.02 / sqrt(15).
    assert row["faults high"] - 0.03 == pytest.approx(2.228 * 0.02 / 15**0.5, rel=1e-3)
    assert "0.030 [" in why_page.verdict(found, why_page.rows(found))
    assert "(above QED's in 5 of 5 tasks)" in why_page.verdict(found, why_page.rows(found))


def test_one_replicate_has_no_intervals() -> None:
    one = replicated({("niches", 1): 0.02})
    words = why_page.page(one)
    assert "so nothing is sure" in words
    assert "there are no intervals" in words
    assert "nan" not in words
    several = why_page.page(replicated({("niches", k): 0.02 + k / 1000 for k in (1, 2)}))
    assert "so nothing is sure" not in several
    assert "95% intervals" in several
